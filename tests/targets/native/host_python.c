/* SPDX-License-Identifier: Apache-2.0
 * host_python.c - what a host of several interpreters does (a web server's module): each of its threads has a thread state in
 * both of them, and works in one and the other by turns.
 *
 * No headers of Python's: these functions are the same in all versions. */
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern void *Py_NewInterpreter(void);
extern void *PyInterpreterState_Head(void);
extern void *PyThreadState_New(void *interpreter);
extern void *PyThreadState_Swap(void *thread);
extern void PyEval_RestoreThread(void *thread);
extern void *PyEval_SaveThread(void);
extern int PyRun_SimpleString(const char *text);
extern void *PyImport_AddModule(const char *name);
extern void *PyObject_GetAttrString(void *object, const char *name);
extern void *PyObject_CallObject(void *callable, void *args);

enum { PARTS = 2, THREADS = 2 };

static struct part {
	void *interpreter, *work;
} parts[PARTS];

static struct {
	long tid;
	long spent_ns[PARTS];
} hosted[THREADS];

static pthread_t threads[THREADS];
static volatile int stop;

#define APART __attribute__((noinline, visibility("default")))

static long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void *host(void *arg)
{
	long number = (long)arg;
	void *states[PARTS];

	hosted[number].tid = syscall(SYS_gettid);
	for (int i = 0; i < PARTS; i++)
		states[i] = PyThreadState_New(parts[i].interpreter);
	for (int turn = 0; !stop; turn = (turn + 1) % PARTS) {
		PyEval_RestoreThread(states[turn]);
		long begun = cpu_ns();
		PyObject_CallObject(parts[turn].work, 0);
		hosted[number].spent_ns[turn] += cpu_ns() - begun;
		PyEval_SaveThread();
		usleep(50); /* or the other one starves */
	}
	return 0;
}

/* With the GIL. `texts` define work() for each of the interpreters. */
APART int host_start(const char *const texts[PARTS])
{
	void *own = PyThreadState_Swap(0);

	PyThreadState_Swap(own);
	for (int i = 0; i < PARTS; i++) {
		if (!Py_NewInterpreter() || PyRun_SimpleString(texts[i]) != 0)
			return -1;
		parts[i].interpreter = PyInterpreterState_Head(); /* the newest */
		parts[i].work = PyObject_GetAttrString(PyImport_AddModule("__main__"), "work");
	}
	PyThreadState_Swap(own);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], 0, host, (void *)i) != 0)
			return -1;
	return 0;
}

/* Without it. */
APART void host_stop(void)
{
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], 0);
}

APART long host_tid(int thread)
{
	return hosted[thread].tid;
}

APART long host_spent_ns(int thread, int part)
{
	return hosted[thread].spent_ns[part];
}
