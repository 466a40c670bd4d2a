/* SPDX-License-Identifier: Apache-2.0
 * instruction.c - lengths, and what is done to the stack.
 *
 * (Of 1,900,000 instructions of libc, CPython, libgmp, musl and sonde the lengths are objdump's.) */
#include "check.h"

#include <string.h>

#include "unwind/arch.h"
#include "unwind/instruction.h"

enum { AT = 0x1000 };

struct row {
	const char *text;
	u8 bytes[15];
	u8 length;
	enum instruction_kind kind;
	s32 amount;
	u8 reg, other;
	u64 target;
};

static const struct row rows[] = {
	{ "push %rbx", { 0x53 }, 1, .kind = INSTRUCTION_PUSH, .reg = X86_RBX },
	{ "push %r12", { 0x41, 0x54 }, 2, .kind = INSTRUCTION_PUSH, .reg = X86_R12 },
	{ "push $1", { 0x6a, 1 }, 2, .kind = INSTRUCTION_PUSH, .reg = UNWIND_PC },
	{ "push -8(%r10)",
	  { 0x41, 0xff, 0x72, 0xf8 },
	  4,
	  .kind = INSTRUCTION_PUSH,
	  .reg = UNWIND_PC },
	{ "pop %rbp", { 0x5d }, 1, .kind = INSTRUCTION_POP, .reg = X86_RBP },
	{ "pop %rsp", { 0x5c }, 1, .kind = INSTRUCTION_LOSE, .reg = X86_RSP },
	{ "sub $16, %rsp", { 0x48, 0x83, 0xec, 0x10 }, 4, .kind = INSTRUCTION_ADD, .amount = -16 },
	{ "add $0x1000, %rsp",
	  { 0x48, 0x81, 0xc4, 0, 0x10, 0, 0 },
	  7,
	  .kind = INSTRUCTION_ADD,
	  .amount = 0x1000 },
	{ "lea -8(%rsp), %rsp",
	  { 0x48, 0x8d, 0x64, 0x24, 0xf8 },
	  5,
	  .kind = INSTRUCTION_ADD,
	  .amount = -8,
	  .reg = X86_RSP },
	{ "lea -16(%rbp), %rsp",
	  { 0x48, 0x8d, 0x65, 0xf0 },
	  4,
	  .kind = INSTRUCTION_UNFRAME,
	  .amount = -16,
	  .reg = X86_RSP },
	{ "lea 8(%rsp), %r10",
	  { 0x4c, 0x8d, 0x54, 0x24, 8 },
	  5,
	  .kind = INSTRUCTION_COPY,
	  .amount = 8,
	  .reg = X86_R10 },
	{ "lea 8(%rsp,%rax), %rsp",
	  { 0x48, 0x8d, 0x64, 0x04, 8 },
	  5,
	  .kind = INSTRUCTION_LOSE,
	  .amount = 8,
	  .reg = X86_RSP },
	{ "and $-32, %rsp", { 0x48, 0x83, 0xe4, 0xe0 }, 4, .kind = INSTRUCTION_LOSE },
	{ "sub %rax, %rsp", { 0x48, 0x29, 0xc4 }, 3, .kind = INSTRUCTION_LOSE },
	{ "cmp %rax, %rsp", { 0x48, 0x39, 0xc4 }, 3, .kind = INSTRUCTION_OTHER },
	{ "test %rsp, %rsp", { 0x48, 0x85, 0xe4 }, 3, .kind = INSTRUCTION_OTHER },
	{ "mov %rsp, %rax", { 0x48, 0x89, 0xe0 }, 3, .kind = INSTRUCTION_COPY, .reg = X86_RAX },
	{ "mov %rsp, 8(%rdi)", { 0x48, 0x89, 0x67, 8 }, 4, .kind = INSTRUCTION_OTHER },
	{ "mov 48(%rdi), %rsp", { 0x48, 0x8b, 0x67, 48 }, 4, .kind = INSTRUCTION_LOSE },
	{ "mov %rsp, %rbp", { 0x48, 0x89, 0xe5 }, 3, .kind = INSTRUCTION_FRAME },
	{ "mov %rbp, %rsp", { 0x48, 0x89, 0xec }, 3, .kind = INSTRUCTION_UNFRAME },
	{ "mov %r12, %rsp", { 0x4c, 0x89, 0xe4 }, 3, .kind = INSTRUCTION_UNCOPY, .reg = X86_R12 },
	{ "mov %esp, %eax", { 0x89, 0xe0 }, 2, .kind = INSTRUCTION_OTHER },
	{ "lea 0x60(%rbx), %rsp",
	  { 0x48, 0x8d, 0x63, 0x60 },
	  4,
	  .kind = INSTRUCTION_UNCOPY,
	  .amount = 0x60,
	  .reg = X86_RBX },
	{ "lea 0x10(%rip), %rsp",
	  { 0x48, 0x8d, 0x25, 0x10, 0, 0, 0 },
	  7,
	  .kind = INSTRUCTION_LOSE,
	  .amount = 0x10,
	  .reg = X86_RSP },
	{ "mov %r14, 0x20(%rsp)",
	  { 0x4c, 0x89, 0x74, 0x24, 0x20 },
	  5,
	  .kind = INSTRUCTION_STORE,
	  .amount = 0x20,
	  .reg = X86_R14 },
	{ "mov %rbx, (%rsp)",
	  { 0x48, 0x89, 0x1c, 0x24 },
	  4,
	  .kind = INSTRUCTION_STORE,
	  .reg = X86_RBX },
	{ "mov %ebx, (%rsp)", { 0x89, 0x1c, 0x24 }, 3, .kind = INSTRUCTION_OTHER },
	{ "mov %rbx, (%rsp,%rax)", { 0x48, 0x89, 0x1c, 0x04 }, 4, .kind = INSTRUCTION_OTHER },
	{ "mov %rax, %rbp", { 0x48, 0x89, 0xc5 }, 3, .kind = INSTRUCTION_LOSE_FP },
	{ "mov (%rdi), %rbp", { 0x48, 0x8b, 0x2f }, 3, .kind = INSTRUCTION_LOSE_FP },
	{ "mov $1, %ebp", { 0xbd, 1, 0, 0, 0 }, 5, .kind = INSTRUCTION_LOSE_FP },
	{ "lea (%rax,%rcx), %rbp", { 0x48, 0x8d, 0x2c, 0x08 }, 4, .kind = INSTRUCTION_LOSE_FP },
	{ "add $8, %rbp", { 0x48, 0x83, 0xc5, 8 }, 4, .kind = INSTRUCTION_LOSE_FP },
	{ "xchg %rax, %rbp", { 0x48, 0x95 }, 2, .kind = INSTRUCTION_LOSE_FP },
	{ "movzbl (%rdi), %ebp", { 0x0f, 0xb6, 0x2f }, 3, .kind = INSTRUCTION_LOSE_FP },
	{ "cmove %rax, %rbp", { 0x48, 0x0f, 0x44, 0xe8 }, 4, .kind = INSTRUCTION_LOSE_FP },
	{ "imul %rax, %rbp", { 0x48, 0x0f, 0xaf, 0xe8 }, 4, .kind = INSTRUCTION_LOSE_FP },
	{ "cmove %rbp, %rax", { 0x48, 0x0f, 0x44, 0xc5 }, 4, .kind = INSTRUCTION_OTHER },
	{ "mov %r13, %rax", { 0x4c, 0x89, 0xe8 }, 3, .kind = INSTRUCTION_OTHER },
	{ "cmp $8, %rbp", { 0x48, 0x83, 0xfd, 8 }, 4, .kind = INSTRUCTION_OTHER },
	{ "mov %rbp, 8(%rdi)", { 0x48, 0x89, 0x6f, 8 }, 4, .kind = INSTRUCTION_OTHER },
	{ "mov %rax, 8(%rbp)", { 0x48, 0x89, 0x45, 8 }, 4, .kind = INSTRUCTION_OTHER },
	{ "movd %ebp, %xmm0", { 0x66, 0x0f, 0x6e, 0xc5 }, 4, .kind = INSTRUCTION_OTHER },
	{ "mov %rsp, %r12", { 0x49, 0x89, 0xe4 }, 3, .kind = INSTRUCTION_COPY, .reg = X86_R12 },
	{ "leave", { 0xc9 }, 1, .kind = INSTRUCTION_LEAVE },
	{ "xor %ebp, %ebp", { 0x31, 0xed }, 2, .kind = INSTRUCTION_CLEAR },
	{ "xor %r13d, %r13d", { 0x45, 0x31, 0xed }, 3, .kind = INSTRUCTION_OTHER },
	{ "call +0x10", { 0xe8, 0x0b, 0, 0, 0 }, 5, .kind = INSTRUCTION_CALL, .target = AT + 0x10 },
	{ "call *%rax", { 0xff, 0xd0 }, 2, .kind = INSTRUCTION_CALL, .reg = X86_RAX },
	{ "jmp -2", { 0xeb, 0xfc }, 2, .kind = INSTRUCTION_JUMP, .target = AT - 2 },
	{ "jmp *(%rax,%rcx,8)",
	  { 0xff, 0x24, 0xc8 },
	  3,
	  .kind = INSTRUCTION_JUMP,
	  .reg = UNWIND_PC },
	{ "jmp *0x1000(,%rax,8)",
	  { 0xff, 0x24, 0xc5, 0, 0x10, 0, 0 },
	  7,
	  .kind = INSTRUCTION_JUMP,
	  .reg = UNWIND_PC,
	  .amount = 0x1000 },
	{ "jmp *0x1000(%rip)",
	  { 0xff, 0x25, 0, 0x10, 0, 0 },
	  6,
	  .kind = INSTRUCTION_JUMP,
	  .reg = UNWIND_PC },
	{ "notrack jmp *%r10",
	  { 0x3e, 0x41, 0xff, 0xe2 },
	  4,
	  .kind = INSTRUCTION_JUMP,
	  .reg = X86_R10 },
	{ "add %rdx, %rax",
	  { 0x48, 0x01, 0xd0 },
	  3,
	  .kind = INSTRUCTION_SUM,
	  .reg = X86_RAX,
	  .other = X86_RDX },
	{ "add %r9, %rdx, the other way",
	  { 0x49, 0x03, 0xd1 },
	  3,
	  .kind = INSTRUCTION_SUM,
	  .reg = X86_RDX,
	  .other = X86_R9 },
	{ "add %rax, %rsp", { 0x48, 0x01, 0xc4 }, 3, .kind = INSTRUCTION_LOSE },
	{ "add (%rdx), %rax", { 0x48, 0x03, 0x02 }, 3, .kind = INSTRUCTION_OTHER },
	{ "jne +0x106",
	  { 0x0f, 0x85, 0, 1, 0, 0 },
	  6,
	  .kind = INSTRUCTION_BRANCH,
	  .target = AT + 0x106 },
	{ "ret", { 0xc3 }, 1, .kind = INSTRUCTION_RETURN },
	{ "repz ret", { 0xf3, 0xc3 }, 2, .kind = INSTRUCTION_RETURN },
	{ "ud2", { 0x0f, 0x0b }, 2, .kind = INSTRUCTION_RETURN },
	{ "hlt", { 0xf4 }, 1, .kind = INSTRUCTION_RETURN },
	{ "lea 0x10(%rip), %rdi",
	  { 0x48, 0x8d, 0x3d, 0x10, 0, 0, 0 },
	  7,
	  .kind = INSTRUCTION_ADDRESS,
	  .reg = X86_RDI,
	  .target = AT + 0x17 },
	{ "movabs $1, %rax", { 0x48, 0xb8, 1 }, 10, .kind = INSTRUCTION_OTHER },
	{ "mov $1, %eax", { 0xb8, 1 }, 5, .kind = INSTRUCTION_OTHER },
	{ "movw $1, 8(%rsp)", { 0x66, 0xc7, 0x44, 0x24, 8, 1, 0 }, 7, .kind = INSTRUCTION_OTHER },
	{ "testb $1, (%rax)", { 0xf6, 0, 1 }, 3, .kind = INSTRUCTION_OTHER },
	{ "notb (%rax)", { 0xf6, 0x10 }, 2, .kind = INSTRUCTION_OTHER },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, 4, .kind = INSTRUCTION_OTHER },
	{ "syscall", { 0x0f, 0x05 }, 2, .kind = INSTRUCTION_OTHER },
	{ "nopw cs:0(%rax,%rax)", { 0x66, 0x2e, 0x0f, 0x1f, 0x84 }, 10, .kind = INSTRUCTION_OTHER },
	{ "vpxor %ymm4, %ymm4, %ymm4", { 0xc5, 0xdd, 0xef, 0xe4 }, 4, .kind = INSTRUCTION_OTHER },
	{ "vpalignr $8, %xmm4, %xmm4, %xmm4",
	  { 0xc4, 0xe3, 0x59, 0x0f, 0xe4, 8 },
	  6,
	  .kind = INSTRUCTION_OTHER },
	{ "vmovdqu64 64(%rsi), %zmm4",
	  { 0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x66, 1 },
	  7,
	  .kind = INSTRUCTION_OTHER },
	{ "pshufd $1, %xmm4, %xmm4", { 0x66, 0x0f, 0x70, 0xe4, 1 }, 5, .kind = INSTRUCTION_OTHER },
};
static void each_is_what_it_is(void **unused)
{
	struct instruction got;

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		const struct row *row = &rows[i];
		if (!instruction_read(row->bytes, sizeof row->bytes, AT, &got) ||
		    got.length != row->length || got.kind != row->kind ||
		    got.amount != row->amount || got.reg != row->reg || got.other != row->other ||
		    got.target != row->target)
			fail_msg("%s: %u bytes, kind %d, amount %d, register %u, target %llx",
				 row->text, got.length, got.kind, got.amount, got.reg,
				 (unsigned long long)got.target);
	}
}

#define R(name) (1 << X86_##name)

static const struct {
	const char *text;
	u8 bytes[15];
	u16 written;
} writers[] = {
	{ "mov %rax, %rbx", { 0x48, 0x89, 0xc3 }, R(RBX) },
	{ "mov %rax, (%rbx)", { 0x48, 0x89, 0x03 }, 0 },
	{ "mov (%rbx), %rax", { 0x48, 0x8b, 0x03 }, R(RAX) },
	{ "cmp %rax, %rbx", { 0x48, 0x39, 0xc3 }, 0 },
	{ "cmp $1, %rbx", { 0x48, 0x83, 0xfb, 1 }, 0 },
	{ "test %rbx, %rbx", { 0x48, 0x85, 0xdb }, 0 },
	{ "xchg %rax, %rbx", { 0x48, 0x87, 0xc3 }, R(RAX) | R(RBX) },
	{ "inc %r12", { 0x49, 0xff, 0xc4 }, R(R12) },
	{ "call *%rbx", { 0xff, 0xd3 }, 0 },
	{ "push %rbx", { 0x53 }, 0 },
	{ "pop %rbx", { 0x5b }, R(RBX) },
	{ "mov $1, %r13d", { 0x41, 0xbd, 1 }, R(R13) },
	{ "shl $3, %rbx", { 0x48, 0xc1, 0xe3, 3 }, R(RBX) },
	{ "not %rbx", { 0x48, 0xf7, 0xd3 }, R(RBX) },
	{ "imul $3, %rax, %rbx", { 0x48, 0x6b, 0xd8, 3 }, R(RBX) },
	{ "cmovne %rax, %rbx", { 0x48, 0x0f, 0x45, 0xd8 }, R(RBX) },
	{ "bswap %r14", { 0x49, 0x0f, 0xce }, R(R14) },
	{ "bt %rax, %rbx", { 0x48, 0x0f, 0xa3, 0xc3 }, 0 },
	{ "bts %rax, %rbx", { 0x48, 0x0f, 0xab, 0xc3 }, R(RBX) },
	{ "bt $3, %rbx", { 0x48, 0x0f, 0xba, 0xe3, 3 }, 0 },
	{ "btr $3, %rbx", { 0x48, 0x0f, 0xba, 0xf3, 3 }, R(RBX) },
	{ "shld $3, %rax, %rbx", { 0x48, 0x0f, 0xa4, 0xc3, 3 }, R(RBX) },
	{ "shrd %cl, %rax, %rbx", { 0x48, 0x0f, 0xad, 0xc3 }, R(RBX) },
	{ "lock cmpxchg %rbx, (%rdi)", { 0xf0, 0x48, 0x0f, 0xb1, 0x1f }, 0 },
	{ "lock xadd %rbx, (%rdi)", { 0xf0, 0x48, 0x0f, 0xc1, 0x1f }, R(RBX) },
	{ "cpuid", { 0x0f, 0xa2 }, R(RBX) },
	{ "rdrand %rbx", { 0x48, 0x0f, 0xc7, 0xf3 }, R(RBX) },
	{ "movbe (%rdi), %rbx", { 0x48, 0x0f, 0x38, 0xf0, 0x1f }, R(RBX) },
	{ "movdqa %xmm3, %xmm5", { 0x66, 0x0f, 0x6f, 0xeb }, 0 },
	{ "movq %xmm3, %rbx", { 0x66, 0x48, 0x0f, 0x7e, 0xdb }, R(RBX) },
	{ "movq %xmm3, %xmm5", { 0xf3, 0x0f, 0x7e, 0xeb }, 0 },
	{ "cvttsd2si %xmm3, %rbx", { 0xf2, 0x48, 0x0f, 0x2c, 0xdb }, R(RBX) },
	{ "pmovmskb %xmm3, %ebx", { 0x66, 0x0f, 0xd7, 0xdb }, R(RBX) },
	{ "pextrd $1, %xmm0, %ebx", { 0x66, 0x0f, 0x3a, 0x16, 0xc3, 1 }, R(RBX) },
	{ "vaddpd (%rbp), %ymm6, %ymm3", { 0xc5, 0xcd, 0x58, 0x5d, 0 }, 0 },
	{ "vmovq %xmm3, %rbx", { 0xc4, 0xe1, 0xf9, 0x7e, 0xdb }, R(RBX) },
	{ "vmovq %xmm3, %xmm5", { 0xc5, 0xfa, 0x7e, 0xeb }, 0 },
	{ "andn %rax, %rcx, %rbx", { 0xc4, 0xe2, 0xf0, 0xf2, 0xd8 }, R(RBX) },
	{ "blsr %rax, %rbx", { 0xc4, 0xe2, 0xe0, 0xf3, 0xc8 }, R(RBX) },
	{ "mulx %rax, %r12, %rbx", { 0xc4, 0xe2, 0x9b, 0xf6, 0xd8 }, R(RBX) | R(R12) },
	{ "rorx $3, %rax, %rbx", { 0xc4, 0xe3, 0xfb, 0xf0, 0xd8, 3 }, R(RBX) },
	{ "kmovq %k1, %rbx", { 0xc4, 0xe1, 0xfb, 0x93, 0xd9 }, R(RBX) },
};

static void what_is_written_is_told(void **unused)
{
	struct instruction got;

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(writers); i++)
		if (!instruction_read(writers[i].bytes, sizeof writers[i].bytes, AT, &got) ||
		    got.written != writers[i].written)
			fail_msg("%s: %x", writers[i].text, got.written);
}

static void what_is_cut_is_none(void **unused)
{
	struct instruction got;

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(rows); i++)
		for (u32 left = 0; left < rows[i].length; left++)
			assert_false(instruction_read(rows[i].bytes, left, AT, &got));
}

static void what_does_not_exist_is_none(void **unused)
{
	static const u8 push_es[] = { 0x06, 0 },
			prefixes[15] = { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
					 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66 };
	struct instruction got;

	(void)unused;
	assert_false(instruction_read(push_es, sizeof push_es, AT, &got));
	assert_false(instruction_read(prefixes, sizeof prefixes, AT, &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_what_it_is),
		cmocka_unit_test(what_is_written_is_told),
		cmocka_unit_test(what_is_cut_is_none),
		cmocka_unit_test(what_does_not_exist_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
