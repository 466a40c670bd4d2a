/* SPDX-License-Identifier: Apache-2.0
 * steps.c PID STEPS - our unwinder at each instruction that the process's first thread runs, beside where its calls left their way back.
 *
 * The thread goes one instruction at a time (ptrace).  A call leaves a return address on the stack and asks for the registers that a
 * callee saves; until it is gone from there, the unwinder has to lead to just that place, address and registers from every instruction
 * of the callee.  Nothing else says what is right, so this judges the compilers' tables, too.  A callee may move its return address
 * (libffi does); then the unwinder has to follow.  Prints one line of JSON, and on stderr the first places that are wrong. */
#include "must.h"

#include "unwind/arch.h"
#include "unwind/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { DEPTH_MAX = 1 << 16, EXAMPLES = 12, MAPS_EVERY = 1000, SIGNAL_FRAME_LEAST = 512 };

/* A call that has not returned. */
struct call {
	u64 at, back; /* where its return address is, and which */
	u64 kept[UNWIND_REGISTERS];
};

struct counts {
	u64 steps, judged, elsewhere, registers, moved, ruleless;
	u32 examples;
};

static struct call calls[DEPTH_MAX];
static u32 depth;
/* The way back of the last call that was left, but not by ret: it may be elsewhere now. */
static u64 moved_to;

static void take_registers(const struct user_regs_struct *regs, u64 *out)
{
	const u64 values[] = { regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi,
			       regs->rbp, regs->rsp, regs->r8,  regs->r9,  regs->r10, regs->r11,
			       regs->r12, regs->r13, regs->r14, regs->r15 };

	_Static_assert(sizeof values == UNWIND_REGISTERS * sizeof *out, "DWARF's numbers");
	memcpy(out, values, sizeof values);
}

static bool is_return(const u8 *code)
{
	code += *code == 0xf3;
	return *code == 0xc3 || *code == 0xc2;
}

/* A call by an address or by what a register or a word holds, behind its prefixes. */
static bool is_call(const u8 *code)
{
	while (*code == 0xf2 || *code == 0x3e || *code == 0x66 || (*code & 0xf0) == 0x40)
		code++;
	return *code == 0xe8 || (*code == 0xff && (code[1] & 0x38) == 0x10);
}

static void tell(struct counts *counts, const struct unwind_space *space,
		 const struct unwind_walk *from, const char *what, u64 ours, u64 right)
{
	const struct mapping *mapping = target_mapping_at(space->target, from->pc);
	const char *path = mapping ? mapping_path(space->target, mapping) : "?";

	if (counts->examples++ < EXAMPLES)
		fprintf(stderr, "%s+%llx: %s %llx is %llx\n", path,
			(unsigned long long)(mapping ? from->pc - mapping->start + mapping->offset :
						       from->pc),
			what, (unsigned long long)ours, (unsigned long long)right);
}

static void judge_registers(struct counts *counts, const struct unwind_space *space,
			    const struct unwind_walk *from, const struct unwind_walk *to)
{
	const struct mem *mem = &space->target->mem.mem;
	const struct call *call = &calls[depth - 1];

	for (u32 reg = 0; reg < UNWIND_REGISTERS; reg++) {
		u64 value;
		if (!(UNWIND_KEPT >> reg & 1) || !unwind_register(mem, to, reg, &value) ||
		    value == call->kept[reg])
			continue;
		counts->registers++;
		tell(counts, space, from, "a register", value, call->kept[reg]);
		return;
	}
}

static void judge(struct counts *counts, struct unwind_space *space,
		  const struct user_regs_struct *regs)
{
	struct unwind_walk walk = { .pc = regs->rip,
				    .sp = regs->rsp,
				    .known = (1u << UNWIND_REGISTERS) - 1 };
	const struct call *call = &calls[depth - 1];

	take_registers(regs, walk.value);
	const struct unwind_walk from = walk;
	struct unwind_rule rule = unwind_space_rule(space, walk.pc);
	if (unwind_step(&space->target->mem.mem, &rule, &walk) != UNWIND_MORE || !walk.is_return) {
		counts->ruleless++;
		return;
	}
	counts->judged++;
	if (walk.pc == call->back && walk.sp == call->at + 8) {
		judge_registers(counts, space, &from, &walk);
	} else if (walk.pc == call->back || walk.pc == moved_to) {
		counts->moved++;
	} else {
		counts->elsewhere++;
		tell(counts, space, &from, "the caller", walk.pc, call->back);
	}
}

/* What the stack pointer has passed is over: by a return, by longjmp(), or because the return address is elsewhere now. */
static void leave_calls(u64 sp, bool by_return)
{
	u32 before = depth;

	while (depth && calls[depth - 1].at < sp)
		depth--;
	if (depth < before && !by_return)
		moved_to = calls[depth].back;
}

/* `at`: where its return address is. */
static void enter(const struct mem *mem, const struct user_regs_struct *regs, u64 at)
{
	struct call call = { .at = at };

	take_registers(regs, call.kept);
	if (depth < DEPTH_MAX && mem_read(mem, call.at, &call.back, 8))
		calls[depth++] = call;
}

static bool step_with(u32 pid, int signal, int *stop)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, 0, signal) != 0 ||
	    waitpid((pid_t)pid, &status, __WALL) < 0 || !WIFSTOPPED(status))
		return false;
	*stop = WSTOPSIG(status);
	return true;
}

/* A signal's handler is called by the kernel, which leaves its frame below the red zone, or on another stack: then the instruction
 * has not run. */
static bool step_once(const struct mem *mem, u32 pid, bool *has_run)
{
	struct user_regs_struct before, behind;
	int signal = 0, stop;

	*has_run = true;
	do {
		if (ptrace(PTRACE_GETREGS, pid, 0, &before) != 0 ||
		    !step_with(pid, signal, &stop) || ptrace(PTRACE_GETREGS, pid, 0, &behind) != 0)
			return false;
		if (signal && behind.rdi == (u64)signal &&
		    before.rsp - behind.rsp > SIGNAL_FRAME_LEAST) {
			enter(mem, &behind, behind.rsp);
			*has_run = false;
		}
		signal = stop;
	} while (stop != SIGTRAP);
	return true;
}

static void follow(struct counts *counts, struct unwind_space *space, u64 steps)
{
	const struct mem *mem = &space->target->mem.mem;
	u32 pid = space->target->pid;
	struct user_regs_struct regs;
	struct err err = { 0 };
	bool by_return = false, has_run;
	u8 code[16];

	for (; counts->steps < steps; counts->steps++) {
		must(ptrace(PTRACE_GETREGS, pid, 0, &regs) == 0, "registers");
		leave_calls(regs.rsp, by_return);
		if (!unwind_space_at(space, regs.rip) && counts->steps % MAPS_EVERY == 0) {
			unwind_space_clear(space);
			must(target_read_maps(space->target, &err), err.text);
		}
		if (depth)
			judge(counts, space, &regs);
		memset(code, 0, sizeof code);
		mem_read(mem, regs.rip, code, sizeof code);
		must(step_once(mem, pid, &has_run), "a step");
		by_return = has_run && is_return(code);
		if (has_run && is_call(code))
			enter(mem, &regs, regs.rsp - 8);
	}
}

int main(int argc, char **argv)
{
	struct unwind_files files = { 0 };
	struct counts counts = { 0 };
	struct unwind_space space;
	struct target target;
	struct err err = { 0 };
	int status;

	if (argc != 3) {
		fprintf(stderr, "usage: steps PID STEPS\n");
		return 2;
	}
	u32 pid = (u32)strtoul(argv[1], NULL, 10);
	must(target_open(&target, pid, &err) && target_read_maps(&target, &err), err.text);
	unwind_space_init(&space, &target, &files);
	must(ptrace(PTRACE_SEIZE, pid, 0, 0) == 0 && ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0 &&
		     waitpid((pid_t)pid, &status, __WALL) > 0,
	     "to stop it");
	follow(&counts, &space, strtoull(argv[2], NULL, 10));
	ptrace(PTRACE_DETACH, pid, 0, 0);
	printf("{\"steps\": %llu, \"judged\": %llu, \"elsewhere\": %llu, \"registers\": %llu, \"moved\": %llu, \"ruleless\": %llu}\n",
	       (unsigned long long)counts.steps, (unsigned long long)counts.judged,
	       (unsigned long long)counts.elsewhere, (unsigned long long)counts.registers,
	       (unsigned long long)counts.moved, (unsigned long long)counts.ruleless);
	unwind_space_free(&space);
	unwind_files_free(&files);
	target_close(&target);
	return 0;
}
