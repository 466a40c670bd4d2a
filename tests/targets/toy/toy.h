/* SPDX-License-Identifier: Apache-2.0
 * toy.h - a toy VM (vm.c) as a child of a test, and what it said of itself.
 *
 *	struct toy toy;
 *	if (toy_start(&toy, program, "park", 4) && toy_read(&toy))
 *		look at toy.pid, compare with toy.stacks
 *	toy_end(&toy);
 *
 * The child ends when its standard input does, so it never outlives the test. */
#pragma once
#include "base/types.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOY_THREADS_MAX = 16, TOY_STACKS_MAX = 64, TOY_STACK_TEXT_MAX = 512 };

struct toy {
	pid_t pid;
	FILE *input;
	FILE *output;
	u32 thread_count;
	u32 tids[TOY_THREADS_MAX];
	/* park, hold: the stack of each of tids; spin: every legal stack. "leaf:1;...;main:3" */
	u32 stack_count;
	char stacks[TOY_STACKS_MAX][TOY_STACK_TEXT_MAX];
};

static inline bool toy_start(struct toy *toy, const char *program, const char *mode, u32 threads)
{
	int input[2], output[2];
	char count[16];

	*toy = (struct toy){ 0 };
	snprintf(count, sizeof count, "%u", threads);
	if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0)
		return false;
	toy->pid = fork();
	if (toy->pid == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execl(program, program, mode, count, NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	toy->input = fdopen(input[1], "w");
	toy->output = fdopen(output[0], "r");
	return toy->pid > 0 && toy->input && toy->output;
}

/* Up to "ready"; false when the toy ended before it. */
static inline bool toy_read(struct toy *toy)
{
	char line[TOY_STACK_TEXT_MAX];

	while (fgets(line, sizeof line, toy->output)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "ready"))
			return true;
		if (!strncmp(line, "thread ", 7) && toy->thread_count < TOY_THREADS_MAX) {
			toy->tids[toy->thread_count++] = (u32)strtoul(line + 7, NULL, 10);
			toy->stack_count = toy->thread_count;
		} else if (!strncmp(line, "stack ", 6) && toy->stack_count < TOY_STACKS_MAX) {
			strcpy(toy->stacks[toy->stack_count++], line + 6);
		} else if (toy->stack_count) {
			char *stack = toy->stacks[toy->stack_count - 1];
			size_t used = strlen(stack);
			snprintf(stack + used, TOY_STACK_TEXT_MAX - used, "%s%s", used ? ";" : "",
				 line);
		}
	}
	return false;
}

static inline void toy_end(struct toy *toy)
{
	if (toy->input)
		fclose(toy->input);
	if (toy->output)
		fclose(toy->output);
	if (toy->pid > 0)
		waitpid(toy->pid, NULL, 0);
}

static inline bool toy_is_legal(const struct toy *toy, const char *stack)
{
	for (u32 i = 0; i < toy->stack_count; i++)
		if (!strcmp(toy->stacks[i], stack))
			return true;
	return false;
}
