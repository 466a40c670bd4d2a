/* SPDX-License-Identifier: Apache-2.0
 * callback_python.c - what a C library does that calls back, with the GIL (PyObject_CallObject) and by a pointer to a
 * function that ctypes made.
 *
 * No headers of Python's: this function is the same in all versions. */
extern void *PyObject_CallObject(void *callable, void *args);

#define APART __attribute__((noinline, visibility("default")))

/* Behind each call: no call is the last thing a function does. */
static volatile unsigned long turns;

static void spin(void)
{
	for (unsigned i = 0; i < 20000; i++)
		turns++;
}

#define CALL(name)                                               \
	APART void *name(void *callable);                        \
	APART void *name(void *callable)                         \
	{                                                        \
		void *result = PyObject_CallObject(callable, 0); \
		turns++;                                         \
		return result;                                   \
	}

#define BACK(name)                      \
	APART int name(int (*fn)(int)); \
	APART int name(int (*fn)(int))  \
	{                               \
		spin();                 \
		int result = fn(1);     \
		turns++;                \
		return result;          \
	}

CALL(c_call1)
CALL(c_call2)
BACK(c_back1)
BACK(c_back2)
