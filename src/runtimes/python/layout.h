/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * layout.h - the numbers of one Python, and the state made of them.
 *
 * PYTHON_LAYOUT is the one list of what varies between versions: it generates the struct, the rows'
 * check against the table of offsets, the description for `sonde doctor` and the note where each number
 * came from.  Names are upstream's, cut short: a field is <struct>_<member>.  0 means "this Python has
 * none", except for members that stand first.
 *
 * From 3.13 on a process has these numbers itself (struct _Py_DebugOffsets, offsets.c). */
#pragma once
#include "base/types.h"

#define PYTHON_LAYOUT(X)                                                                           \
	X(runtime, interpreters) /* head of the list; 3.7+ */                                      \
	X(runtime, holder)       /* thread that holds the GIL, or NULL; 3.7 to 3.11 */             \
	X(runtime, collecting)   /* 3.7, 3.8 */                                                    \
	X(interp, next)                                                                            \
	X(interp, threads)                                                                         \
	X(interp, gil)        /* struct _gil_runtime_state *; 3.12+ */                             \
	X(interp, collecting) /* int: the garbage collector runs; 3.9+ */                          \
	X(interp, generation) /* of code objects: raised when one dies; 3.14+ */                   \
	X(interp, version)    /* int: the next that a code object gets; 3.12, 3.13 */              \
	X(interp, modules)    /* the dict sys.modules */                                           \
	X(gil, holder)        /* the last one */                                                   \
	X(gil, locked)        /* int */                                                            \
	X(thread, next)                                                                            \
	X(thread, interp)                                                                          \
	X(thread, frame)     /* the innermost frame, or what leads to it: cframe */                \
	X(thread, native)    /* pthread_t */                                                       \
	X(thread, tid)       /* 3.11+ */                                                           \
	X(thread, base)      /* leads to a frame outside of all others; 3.15 */                    \
	X(thread, wants)     /* int: the GIL; 3.15 */                                              \
	X(thread, top)       /* where its stack of frames ends; 3.11, 3.12 */                      \
	X(thread, raising)   /* the exception on its way to a handler, or its type */              \
	X(thread, handling)  /* what is handled: to 3.6 its type, then the innermost of a list */  \
	X(handled, previous) /* 3.7+ */                                                            \
	X(cframe, frame)     /* 3.11, 3.12 */                                                      \
	X(cframe, previous)  /* 3.11, 3.12 */                                                      \
	X(frame, previous)                                                                         \
	X(frame, code)                                                                             \
	X(frame, pc)     /* the instruction, or an offset to it */                                 \
	X(frame, owner)  /* a byte: who keeps it; 3.11+ */                                         \
	X(frame, entry)  /* a byte: a C function runs it; 3.11 */                                  \
	X(frame, locals) /* values of the variables, then the stack of the frame */                \
	X(frame, stack)  /* where that stack begins; 3.10 */                                       \
	X(frame,                                                                                   \
	  top) /* and ends: an address, or how many (3.10: int; 3.11 to 3.13: from locals) */      \
	X(frame, tlbc) /* which copy of the bytecode; free-threaded 3.14+ */                       \
	X(gen, frame) /* of generators and coroutines: a pointer to 3.10, then the frame itself */ \
	X(gen, handling) /* its place in the list of what is handled; 3.11, 3.12 */                \
	X(gen, state)    /* a byte: 0 if it runs; 3.11, 3.12 */                                    \
	X(code, stack)   /* int: words of its frame's stack; 3.11, 3.12 */                         \
	X(code, slots)   /* int: and of the variables in front of it; 3.11, 3.12 */                \
	X(code, flags)   /* int; to 3.12 */                                                        \
	X(code, filename)                                                                          \
	X(code, name)                                                                              \
	X(code, locals)    /* tuple of names: 3.11+ */                                             \
	X(code, variables) /* three tuples of names: to 3.10 */                                    \
	X(code, cells)                                                                             \
	X(code, free)                                                                              \
	X(code, qualname) /* 3.11+ */                                                              \
	X(code, first_line)                                                                        \
	X(code, lines)                                                                             \
	X(code, bytecode) /* 3.11+: in the object */                                               \
	X(code, begin)    /* int: number of the instruction with which it begins; 3.11+ */         \
	X(code, version)  /* int: no other code object had it before; 3.12+ */                     \
	X(code, tlbc)     /* copies of the bytecode, one for each thread; free-threaded 3.14+ */   \
	X(string, length)                                                                          \
	X(string, hash)                                                                            \
	X(string, state)                                                                           \
	X(string, ascii)   /* where the bytes of an ASCII string are */                            \
	X(string, compact) /* and of others */                                                     \
	X(bytes, length)                                                                           \
	X(bytes, data)

struct python_layout {
#define X(type, member) u32 type##_##member;
	PYTHON_LAYOUT(X)
#undef X
};

enum python_field {
#define X(type, member) PYTHON_##type##_##member,
	PYTHON_LAYOUT(X) PYTHON_FIELD_COUNT,
#undef X
};

/* Where asyncio keeps its tasks (tasks.h). All 0: not imported, or not looked for. */
struct python_tasks {
	/* of a task, and of a future: */
	u32 coro, name;
	u32 waiter;  /* who awaits it, 0: nobody; or a set of them: 3.14+ */
	u32 is_set;  /* a byte: it is one */
	u32 is_task; /* a byte */
	u32 node;    /* its place in a list */
	/* 3.14+: what runs on a thread, and where lists hang */
	u32 thread_running, thread_list, interp_list;
	u64 set;     /* to 3.13: of weak references to all tasks */
	u64 current; /* and the dict of those that run, by loop */
};

/* What a walker may ask; never a version. */
enum python_facts {
	/* A frame is an object on the heap, run by a C function of its own: to 3.10. */
	PYTHON_FRAME_IS_OBJECT = 1 << 0,
	/* The thread leads to its frame by way of a struct on the C stack: 3.11, 3.12. */
	PYTHON_HAS_CFRAME = 1 << 1,
	/* C functions that run frames have one of their own below these, without a name: 3.12 on. */
	PYTHON_HAS_SHIMS = 1 << 2,
	/* frame.pc is an offset in bytes (to 3.9), or in words of two (3.10); else an address. */
	PYTHON_PC_IS_BYTES = 1 << 3,
	PYTHON_PC_IS_WORDS = 1 << 4,
	/* frame.code is tagged in its low bits: 3.14 on. */
	PYTHON_CODE_IS_TAGGED = 1 << 5,
	/* The line table has pairs without columns: lnotab to 3.9 (unsigned in 2.7), 3.10 its own. */
	PYTHON_LINES_UNSIGNED = 1 << 6,
	PYTHON_LINES_LNOTAB = 1 << 7,
	PYTHON_LINES_PAIRS = 1 << 8,
	/* Names are byte strings: 2.7. */
	PYTHON_NAMES_ARE_BYTES = 1 << 9,
	/* No GIL, and objects have a larger head. */
	PYTHON_FREE_THREADED = 1 << 10,
	/* There is no runtime: what leads to the interpreters is a variable of its own; to 3.6. */
	PYTHON_HAS_NO_RUNTIME = 1 << 11,
};

/* Where a number came from. */
enum python_source {
	PYTHON_FROM_NOWHERE, /* not known: what needs it is left out */
	PYTHON_FROM_TABLE,   /* versions.c, for exactly this version */
	PYTHON_FROM_PROCESS, /* _Py_DebugOffsets of the process */
	PYTHON_FROM_SECTION, /* .PyRuntime */
	PYTHON_FROM_SYMBOL,  /* the image's symbol table */
	PYTHON_FROM_CODE,    /* decoded from a small exported function */
	PYTHON_FROM_MEMORY,  /* found by a closure in the live process */
};

/* Plain data, copied as it is to forked children and into BPF maps. */
struct python_state {
	struct python_layout at;
	u32 version;      /* PY_VERSION_HEX: 0x030d12f0 is 3.13.18 */
	u32 facts;        /* enum python_facts */
	u64 runtime;      /* address of _PyRuntime; 0: none */
	u64 interpreters; /* address of the word that leads to the first */
	u64 main;         /* the interpreter that the process began with; 0: not known */
	u64 gil;    /* its GIL, from 3.12 on; in 2.7 the variable that leads to it; 0: not known */
	u64 none;   /* address of None; 0: unknown */
	u64 holder; /* address of the word that says who holds the GIL; 0: ask the interpreter */
	u64 interned; /* the dict of all interned strings, to 3.11; 0: not found */
	u64 active;   /* the dict threading._active; 0: not imported, or not looked for */
	struct python_tasks tasks;
	u16 pthread_tid;               /* where struct pthread holds the tid; 0 unknown */
	u8 string_kind_shift;          /* in string.state */
	u8 source[PYTHON_FIELD_COUNT]; /* enum python_source of each number of `at` */
	u8 runtime_source, pthread_source;
};

/* The 3 of 3.12.1, the 12 and the 1. */
static inline u32 python_major(const struct python_state *state)
{
	return state->version >> 24;
}

static inline u32 python_minor(const struct python_state *state)
{
	return state->version >> 16 & 0xff;
}

static inline u32 python_micro(const struct python_state *state)
{
	return state->version >> 8 & 0xff;
}

/* How far the release was when it was made, as PY_VERSION_HEX has it: alpha, beta, candidate, final.  From the first
 * candidate on the structures stay as they are. */
enum {
	PYTHON_ALPHA = 0xa0,
	PYTHON_BETA = 0xb0,
	PYTHON_CANDIDATE = 0xc0,
	PYTHON_FINAL = 0xf0,
};

static inline u32 python_level(const struct python_state *state)
{
	return state->version & 0xf0;
}

/* frame.owner from 3.11 on: who keeps it.  3.14 put INTERPRETER before CSTACK, 3.15 dropped this again:
 * what is no thread's, generator's or object's is a shim. */
enum python_owner {
	PYTHON_OWNED_BY_THREAD = 0,
	PYTHON_OWNED_BY_GENERATOR = 1,
	PYTHON_OWNED_BY_OBJECT = 2,
	PYTHON_OWNED_BY_C = 3, /* and more */
};
