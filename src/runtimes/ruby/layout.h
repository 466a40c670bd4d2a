/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * layout.h - the numbers of one Ruby, and the state made of them.
 *
 * RUBY_LAYOUT is the one list of what varies between versions: it generates the
 * struct, the rows' check against the table of offsets, the description for
 * `sonde doctor` and the note where each number came from.  Names are upstream's,
 * cut short: a field is <struct>_<member>.  0 means "this Ruby has none", except
 * for members that stand first.
 *
 * What has not changed from 2.5 to 4.0 is spelled once, in struct ruby_control_frame
 * and the enums below. */
#pragma once
#include "base/types.h"

#define RUBY_LAYOUT(X)                                                                     \
	X(ec, thread_ptr)                                                                  \
	X(thread, vm)                                                                      \
	X(thread, ractor)                                                                  \
	X(thread, ec)                                                                      \
	X(thread, nt)     /* struct rb_native_thread *, NULL while not scheduled; 3.2+ */  \
	X(thread, native) /* pthread_t; to 3.1 */                                          \
	X(thread, tid)    /* 3.1 */                                                        \
	X(thread, status) /* the two low bits */                                           \
	X(thread, ready)  /* list node, linked while the thread waits for the GVL; 2.6+ */ \
	X(thread, name)                                                                    \
	X(nt, native)                                                                      \
	X(nt, tid)                                                                         \
	X(ractor, threads) /* head of the list of threads */                               \
	X(ractor, node)    /* in the VM's list of ractors */                               \
	X(ractor, owner)   /* thread that holds the GVL, or NULL */                        \
	X(vm, ractors)     /* head of the list of ractors; 3.0+ */                         \
	X(vm, main_ractor)                                                                 \
	X(vm, main_thread)                                                                 \
	X(vm, threads)  /* head of the list of threads; to 2.7 */                          \
	X(vm, owner)    /* as ractor_owner; to 2.7 */                                      \
	X(vm, acquired) /* word that is 0 while vm_owner is out of date; 2.5 */            \
	X(vm, objspace)                                                                    \
	X(gc, flags)                                                                       \
	X(gc, count) /* decoded only: it moves with build options */                       \
	X(frame, size)                                                                     \
	X(body, insns) /* line table */                                                    \
	X(body, insns_size)                                                                \
	X(body, succinct)   /* which of its entries holds for a position; 2.6+ */          \
	X(body, local_iseq) /* the word before it is parent_iseq */                        \
	X(insn, size)                                                                      \
	X(insn, line)                                                                      \
	X(class, path)                                                                     \
	X(class, attached) /* what a singleton class is the class of */                    \
	X(class, super)                                                                    \
	X(class, singleton)  /* number of the flag bit */                                  \
	X(string, embedded)  /* bytes of a string that lies in its object */               \
	X(id, last_operator) /* tLAST_OP_ID */

struct ruby_layout {
#define X(type, member) u16 type##_##member;
	RUBY_LAYOUT(X)
#undef X
};

enum ruby_field {
#define X(type, member) RUBY_##type##_##member,
	RUBY_LAYOUT(X) RUBY_FIELD_COUNT,
#undef X
};

/* What a walker may ask; never a version. */
enum ruby_facts {
	/* Threads hang on ractors, and those on the VM: 3.0 on. */
	RUBY_HAS_RACTORS = 1 << 0,
	/* ec->cfp moves before the new frame is written: to 2.7. */
	RUBY_FILLS_LATE = 1 << 1,
	/* A class's name is a member of it, not a hidden instance variable: 3.3 on. */
	RUBY_HAS_CLASS_PATHS = 1 << 2,
	/* location.first_lineno is a VALUE: to 3.1. */
	RUBY_LINE_IS_FIXNUM = 1 << 3,
	/* The length of an embedded string is in its flags: to 3.1. */
	RUBY_SHORT_IN_FLAGS = 1 << 4,
	/* A control frame's last word is jit_return: 3.1 on. */
	RUBY_HAS_JIT_RETURN = 1 << 5,
	/* A call cache holds for three classes, and its method entry lies behind them: 2.7.  Before, for one. */
	RUBY_CACHES_CLASSES = 1 << 6,
	/* JIT code keeps arguments in registers, which are on no stack then: 3.4 on. */
	RUBY_JIT_KEEPS_ARGUMENTS = 1 << 7,
};

/* Where a number came from. */
enum ruby_source {
	RUBY_FROM_NOWHERE,   /* not known: what needs it is left out */
	RUBY_FROM_TABLE,     /* versions.c, for exactly this version */
	RUBY_FROM_NEIGHBOUR, /* versions.c, for the nearest version */
	RUBY_FROM_SYMBOL,    /* the image's symbol table */
	RUBY_FROM_CODE,      /* decoded from a small exported function */
	RUBY_FROM_MEMORY,    /* found by a closure in the live process */
};

/* Plain data, copied as it is to forked children and into BPF maps. */
struct ruby_state {
	struct ruby_layout at;
	u16 major, minor, patch;
	u16 pthread_tid; /* where struct pthread holds the tid; 0 unknown */
	u32 facts;       /* enum ruby_facts */
	u64 vm;
	u64 objspace;    /* 0 unknown */
	u64 ids;         /* address of the word that leads to the names of IDs; 0 unknown */
	u64 vm_variable; /* ruby_current_vm_ptr */
	u8 source[RUBY_FIELD_COUNT]; /* enum ruby_source of each number of `at` */
	u8 vm_source, ids_source, pthread_source;
};

/* ---- constant from 2.5 to 4.0 -------------------------------------------------------------- */

/* The beginning of rb_control_frame_t.  Its size varies. */
struct ruby_control_frame {
	u64 pc, sp, iseq, self, ep;
};

/* ep[-2], ep[-1], ep[0]. */
struct ruby_env {
	u64 me_cref; /* method entry, cref or svar */
	u64 specval; /* block handler, or the environment outside of it, tagged with 1 */
	u64 flags;   /* type of the frame, and the two enums below */
};

enum ruby_frame_type {
	RUBY_TYPE_MASK = 0x7fff0001,
	RUBY_TYPE_METHOD = 0x11110001,
	RUBY_TYPE_BLOCK = 0x22220001,
	RUBY_TYPE_TOP = 0x44440001,
	RUBY_TYPE_CFUNC = 0x55550001,
	RUBY_TYPE_IFUNC = 0x66660001,  /* its iseq slot holds no iseq */
	RUBY_TYPE_RESCUE = 0x78880001, /* or ensure */
};

enum ruby_frame_flags {
	RUBY_FRAME_FINISH = 0x20, /* a C-level vm_exec returns here */
	RUBY_FRAME_BMETHOD = 0x40,
	RUBY_ENV_LOCAL = 0x2,
	RUBY_ENV_ESCAPED = 0x4, /* lives on the heap */
};

/* The beginning of struct rb_iseq_constant_body. */
struct ruby_body {
	u32 type;    /* enum ruby_iseq_type */
	u32 size;    /* words */
	u64 encoded; /* the instructions */
};

/* RBasic.flags: the type, for an imemo its own type, and where user flags begin. */
enum ruby_value {
	RUBY_T_MASK = 0x1f,
	RUBY_T_CLASS = 0x02,
	RUBY_T_MODULE = 0x03,
	RUBY_T_STRING = 0x05,
	RUBY_T_ARRAY = 0x07,
	RUBY_T_DATA = 0x0c,
	RUBY_T_IMEMO = 0x1a,
	RUBY_T_ICLASS = 0x1c,
	RUBY_FL_USER1 = 1 << 13, /* a string's bytes are elsewhere; an array's are within */
	RUBY_IMEMO_SHIFT = 12,
	RUBY_IMEMO_MASK = 0xf,
	RUBY_IMEMO_ENV = 0,
	RUBY_IMEMO_SVAR = 2,
	RUBY_IMEMO_IFUNC = 4,
	RUBY_IMEMO_MENT = 6,
	RUBY_IMEMO_ISEQ = 7,
};

enum ruby_def {
	RUBY_DEF_ISEQ = 0, /* written in Ruby */
	RUBY_DEF_CFUNC = 1,
};

enum ruby_iseq_type {
	RUBY_ISEQ_TYPE_METHOD = 1,
	RUBY_ISEQ_TYPE_EVAL = 6,
};

enum ruby_offset {
	RUBY_EC_VM_STACK = 0, /* then vm_stack_size, in words, and cfp */
	RUBY_THREAD_NODE = 0, /* in the list of threads */
	RUBY_SVAR_ME_CREF = 8,
	RUBY_BASIC_CLASS = 8,
	RUBY_ISEQ_BODY = 16,
	RUBY_BODY_TYPE = 0,     /* then iseq_size (u32), iseq_encoded */
	RUBY_BODY_PATHOBJ = 64, /* then base_label, label, first_lineno */
	RUBY_METHOD_CLASS = 8,  /* defined_class */
	RUBY_METHOD_DEF = 16,
	RUBY_DEF_TYPE = 0, /* the lowest four bits: enum ruby_def; then, at 8, its iseq */
	RUBY_DEF_TYPE_MASK = 15,
	RUBY_DEF_ORIGINAL_ID = 32,
	RUBY_STRING_LENGTH = 16,
	RUBY_STRING_POINTER = 24,
	RUBY_ARRAY_EMBEDDED = 16,
	RUBY_ARRAY_LENGTH = 16,
	RUBY_ARRAY_POINTER = 32,
	RUBY_DATA_POINTER = 32, /* in struct RTypedData */
	RUBY_SYMBOLS_IDS = 16,  /* in struct rb_symbols_t */
};
