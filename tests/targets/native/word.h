/* SPDX-License-Identifier: Apache-2.0
 * word.h - one word that says which function a program is in, to be read in the same interrupt as its stack.
 *
 * It is the only frame of the only thread of a toy VM (src/runtimes/toy/layout.h, version 1.0). The functions are a tree: f0
 * calls f1 and f2, which call f3 to f6, which call f7 to f14; `run` calls f0. Each says its number when it begins and when
 * one that it has called has returned. So the word is at any moment that of the innermost function, of the one that called it,
 * or of one that it has called. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORD_FUNCTIONS = 15, WORD_RUN = WORD_FUNCTIONS };

struct word_code {
	char name[32];
};
struct word_frame {
	struct word_frame *prev;
	const struct word_code *volatile code;
	uint32_t line;
};
struct word_thread {
	struct word_thread *next;
	uint32_t tid;
	struct word_frame *root, *frame;
};
extern struct toy_vm {
	uint64_t magic;
	uint32_t version, unused;
	struct word_thread *threads;
} toy_vm;
struct toy_vm toy_vm;

static struct word_code word_codes[WORD_FUNCTIONS + 1];
static struct word_frame word_frame;
static struct word_thread word_thread;

static inline void word_say(int number)
{
	word_frame.code = &word_codes[number];
}

/* For the calling thread. */
static inline void word_begin(void)
{
	for (int i = 0; i < WORD_FUNCTIONS; i++)
		snprintf(word_codes[i].name, sizeof word_codes[i].name, "f%d", i);
	snprintf(word_codes[WORD_RUN].name, sizeof word_codes[WORD_RUN].name, "run");
	word_say(WORD_RUN);
	word_thread.tid = (uint32_t)syscall(SYS_gettid);
	word_thread.root = word_thread.frame = &word_frame;
	toy_vm.threads = &word_thread;
	toy_vm.version = 0x100;
	__atomic_store_n(&toy_vm.magic, 0x315f6d765f796f74 /* "toy_vm_1" */, __ATOMIC_RELEASE);
}
