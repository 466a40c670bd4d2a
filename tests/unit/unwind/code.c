/* SPDX-License-Identifier: Apache-2.0
 * code.c - rules from instructions: a program by hand, and what compilers say of this one. */
#include "check.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/image.h"
#include "unwind/arch.h"
#include "unwind/code.h"
#include "unwind/instruction.h"
#include "unwind/rows.h"
#include "unwind/rule.h"

enum { BASE = 0x1000, SIZE = 0x1f0, START = 0x40 };

/* Functions on lines of 16 bytes, and nops between them. */
static const u8 f[] = {
	0x53,                         /* 00 push %rbx */
	0x48, 0x83, 0xec, 0x10,       /* 01 sub $16, %rsp */
	0xe8, 0x16, 0x00, 0x00, 0x00, /* 05 call 20 */
	0x85, 0xc0,                   /* 0a test %eax, %eax */
	0x74, 0x06,                   /* 0c je 14 */
	0x48, 0x83, 0xc4, 0x10,       /* 0e add $16, %rsp */
	0x5b,                         /* 12 pop %rbx */
	0xc3,                         /* 13 ret */
	0xe8, 0xe7, 0x03, 0x00, 0x00, /* 14 call 400, which does not come back */
};
static const u8 g[] = {
	0x55,                   /* 20 push %rbp */
	0x48, 0x89, 0xe5,       /* 21 mov %rsp, %rbp */
	0x41, 0x54,             /* 24 push %r12 */
	0x48, 0x29, 0xc4,       /* 26 sub %rax, %rsp */
	0x90,                   /* 29 nop */
	0x48, 0x8d, 0x65, 0xf8, /* 2a lea -8(%rbp), %rsp */
	0x41, 0x5c,             /* 2e pop %r12 */
	0x5d,                   /* 30 pop %rbp */
	0xc3,                   /* 31 ret */
};
static const u8 start[] = { 0x48, 0x89, 0xe7, 0xe8, 0xb8, 0xff, 0xff, 0xff, 0xf4 }; /* 40: call 0 */
static const u8 restore[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };        /* 60 */
static const u8 thread[] = {
	0x31, 0xed, /* 80 xor %ebp, %ebp */
	0x5f,       /* 82 pop %rdi */
	0xff, 0xd0, /* 83 call *%rax */
	0xf4,       /* 85 hlt */
};
static const u8 realigned[] = {
	0x4c, 0x8d, 0x54, 0x24, 0x08, /* a0 lea 8(%rsp), %r10 */
	0x48, 0x83, 0xe4, 0xe0,       /* a5 and $-32, %rsp */
	0x41, 0xff, 0x72, 0xf8,       /* a9 push -8(%r10) */
	0x55,                         /* ad push %rbp */
	0x48, 0x89, 0xe5,             /* ae mov %rsp, %rbp */
	0x41, 0x52,                   /* b1 push %r10 */
	0x53,                         /* b3 push %rbx */
	0xff, 0xd0,                   /* b4 call *%rax */
	0xc3,                         /* b6 */
};
static const u8 jumps[] = {
	0x41, 0x54,             /* c0 push %r12 */
	0x48, 0x8b, 0x67, 0x30, /* c2 mov 48(%rdi), %rsp */
	0xff, 0x67, 0x38,       /* c6 jmp *56(%rdi) */
};
/* A switch of code that can be anywhere: its table's address is made far in front; words that lead elsewhere are no cases. */
static const u8 cases[] = {
	0x53,                                     /* d0 push %rbx */
	0x48, 0x8d, 0x15, 0x28, 0x00, 0x00, 0x00, /* d1 lea 100, %rdx */
	0x48, 0x8d, 0x1d, 0x29, 0x00, 0x00, 0x00, /* d8 lea 108, %rbx: what comes behind */
	0x48, 0x63, 0x04, 0x82,                   /* df movslq (%rdx,%rax,4), %rax */
	0x48, 0x01, 0xd0,                         /* e3 add %rdx, %rax */
	0x3e, 0xff, 0xe0,                         /* e6 notrack jmp *%rax */
	0x5b,                                     /* e9 pop %rbx: nothing leads here */
	0xc3,                                     /* ea ret */
	0x5b,                                     /* eb pop %rbx: a case */
	0xc3,                                     /* ec ret */
	0x90,                                     /* ed nop: another */
	0x5b,                                     /* ee pop %rbx */
	0xc3,                                     /* ef ret */
};
static const s32 distances[] = { 0xeb - 0x100, 0xed - 0x100, 0xe9 - 0x100 };
/* A switch of code with a fixed address. */
static const u8 fixed[] = {
	0x55,                                     /* 120 push %rbp */
	0xff, 0x24, 0xc5, 0x40, 0x11, 0x00, 0x00, /* 121 jmp *1140(,%rax,8) */
	0x5d,                                     /* 128 pop %rbp: a case */
	0xc3,                                     /* 129 ret */
};
static const u64 addresses[] = { BASE + 0x128, BASE + 0x20, 0 };

/* As V8's: a loop that pushes, and whoever is called pops what was pushed for it. */
static const u8 pushes[] = {
	0x55,             /* 160 push %rbp */
	0x48, 0x89, 0xe5, /* 161 mov %rsp, %rbp */
	0x50,             /* 164 push %rax */
	0xff, 0xc9,       /* 165 dec %ecx */
	0x75, 0xfb,       /* 167 jne 164 */
	0xff, 0xd0,       /* 169 call *%rax */
	0x85, 0xc0,       /* 16b test %eax, %eax */
	0x48, 0x89, 0xec, /* 16d mov %rbp, %rsp */
	0x5d,             /* 170 pop %rbp */
	0xc3,             /* 171 ret */
};
/* Where fp is used for something else in between. */
static const u8 reuses[] = {
	0x55,             /* 180 push %rbp */
	0x48, 0x89, 0xe5, /* 181 mov %rsp, %rbp */
	0x48, 0x8b, 0x2f, /* 184 mov (%rdi), %rbp */
	0x90,             /* 187 nop */
	0x5d,             /* 188 pop %rbp */
	0xc3,             /* 189 ret */
};

/* As OpenBLAS's: what a callee saves is stored, and a register leads back behind a realignment. */
static const u8 holds[] = {
	0x48, 0x83, 0xec, 0x20,       /* 190 sub $0x20, %rsp */
	0x48, 0x89, 0x1c, 0x24,       /* 194 mov %rbx, (%rsp) */
	0x48, 0x89, 0x6c, 0x24, 0x08, /* 198 mov %rbp, 8(%rsp) */
	0x48, 0x89, 0xe3,             /* 19d mov %rsp, %rbx */
	0x48, 0x83, 0xe4, 0xc0,       /* 1a0 and $-64, %rsp */
	0x31, 0xed,                   /* 1a4 xor %ebp, %ebp */
	0xff, 0xd0,                   /* 1a6 call *%rax */
	0x48, 0x89, 0xdc,             /* 1a8 mov %rbx, %rsp */
	0x48, 0x8b, 0x1c, 0x24,       /* 1ab mov (%rsp), %rbx */
	0x48, 0x83, 0xc4, 0x20,       /* 1af add $0x20, %rsp */
	0xc3,                         /* 1b3 ret */
};

/* As libffi's trampolines go on: who jumps here has put two words on the stack. */
static const u8 goes_on[] = {
	0xf3, 0x0f, 0x1e, 0xfa,       /* 1c0 endbr64 */
	0x4c, 0x8b, 0x54, 0x24, 0x08, /* 1c4 mov 8(%rsp), %r10 */
	0x48, 0x83, 0xc4, 0x10,       /* 1c9 add $16, %rsp */
	0xff, 0xe0,                   /* 1cd jmp *%rax */
};

/* A frame so large that nobody believes it: the function is still one. */
static const u8 is_huge[] = {
	0x53,                                     /* 1e0 push %rbx */
	0x48, 0x81, 0xec, 0x00, 0x00, 0x00, 0x10, /* 1e1 sub $0x10000000, %rsp */
	0x90,                                     /* 1e8 nop */
};

static struct unwind_table compile(void)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr code;
		u8 room[BASE - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr)];
		u8 bytes[SIZE];
	} file = { .header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					    ELFDATA2LSB, EV_CURRENT },
			       .e_type = ET_DYN,
			       .e_machine = EM_X86_64,
			       .e_version = EV_CURRENT,
			       .e_entry = BASE + START,
			       .e_phoff = sizeof(Elf64_Ehdr),
			       .e_ehsize = sizeof(Elf64_Ehdr),
			       .e_phentsize = sizeof(Elf64_Phdr),
			       .e_phnum = 1 },
		   .code = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_offset = BASE,
			     .p_vaddr = BASE,
			     .p_filesz = SIZE,
			     .p_memsz = SIZE } };
	int fd = memfd_create("code", MFD_CLOEXEC);
	struct unwind_report report;
	struct unwind_table table;
	struct err err = { 0 };

	memset(file.bytes, 0x90, sizeof file.bytes);
#define PUT(at, part) memcpy(file.bytes + (at), part, sizeof(part))
	PUT(0x00, f);
	PUT(0x20, g);
	PUT(START, start);
	PUT(0x60, restore);
	PUT(0x80, thread);
	PUT(0xa0, realigned);
	PUT(0xc0, jumps);
	PUT(0xd0, cases);
	PUT(0x100, distances);
	PUT(0x120, fixed);
	PUT(0x140, addresses);
	PUT(0x160, pushes);
	PUT(0x180, reuses);
	PUT(0x190, holds);
	PUT(0x1c0, goes_on);
	PUT(0x1e0, is_huge);
#undef PUT
	assert_int_equal(write(fd, &file, sizeof file), sizeof file);
	struct image *image = image_open(fd, "code", &err);
	assert_non_null(image);
	assert_true(unwind_compile(image, &table, &report, &err));
	assert_non_null(table.words);
	image_close(image);
	return table;
}

static void assert_rule(const struct unwind_table *table, u64 at, enum unwind_kind kind, u8 reg,
			s32 offset)
{
	struct unwind_rule rule = { 0 };

	unwind_find_rule(table, BASE + at, &rule);
	if (rule.kind != kind || (kind >= UNWIND_PLUS && kind != UNWIND_SIGNAL &&
				  (rule.reg != reg || rule.offset != offset)))
		fail_msg("at %llx: kind %u, %u + %d", (unsigned long long)at, rule.kind, rule.reg,
			 rule.offset);
}

static void assert_saved(const struct unwind_table *table, u64 at, u32 place, s8 words)
{
	struct unwind_rule rule = { 0 };

	unwind_find_rule(table, BASE + at, &rule);
	assert_int_equal(rule.saved[place], words);
}

static void each_way_is_followed(void **unused)
{
	struct unwind_table table = compile();

	(void)unused;
	assert_rule(&table, 0x00, UNWIND_PLUS, UNWIND_SP, 8);
	assert_saved(&table, 0x00, 0, UNWIND_SAVED_SAME);
	assert_rule(&table, 0x01, UNWIND_PLUS, UNWIND_SP, 16);
	assert_saved(&table, 0x01, 0, -2);
	assert_rule(&table, 0x0a, UNWIND_PLUS, UNWIND_SP, 32);
	assert_rule(&table, 0x12, UNWIND_PLUS, UNWIND_SP, 16);
	assert_rule(&table, 0x13, UNWIND_PLUS, UNWIND_SP, 8);
	assert_saved(&table, 0x13, 0, UNWIND_SAVED_SAME);
	assert_rule(&table, 0x14, UNWIND_PLUS, UNWIND_SP, 32); /* by the branch */
	unwind_table_free(&table);
}

static void a_frame_pointer_is_used_where_there_is_one(void **unused)
{
	struct unwind_table table = compile();

	(void)unused;
	assert_rule(&table, 0x20, UNWIND_PLUS, UNWIND_SP,
		    8); /* and not what a call that never returns would leave */
	assert_rule(&table, 0x21, UNWIND_PLUS, UNWIND_SP, 16);
	assert_rule(&table, 0x26, UNWIND_PLUS, UNWIND_FP, 16);
	assert_rule(&table, 0x29, UNWIND_PLUS, UNWIND_FP, 16);
	assert_saved(&table, 0x29, 1, -2);
	assert_saved(&table, 0x29, 2, -3);
	assert_rule(&table, 0x2e, UNWIND_PLUS, UNWIND_FP, 16);
	assert_rule(&table, 0x31, UNWIND_PLUS, UNWIND_SP, 8);
	unwind_table_free(&table);
}

static void what_is_pushed_in_a_loop_moves_no_frame(void **unused)
{
	struct unwind_table table = compile();

	(void)unused;
	for (u64 at = 0x164; at <= 0x170; at++)
		assert_rule(&table, at, UNWIND_PLUS, UNWIND_FP, 16);
	assert_saved(&table, 0x16b, 1, -2);
	assert_rule(&table, 0x171, UNWIND_PLUS, UNWIND_SP, 8);
	unwind_table_free(&table);
}

static void a_frame_pointer_may_become_something_else(void **unused)
{
	struct unwind_table table = compile();

	(void)unused;
	assert_rule(&table, 0x184, UNWIND_PLUS, UNWIND_FP, 16);
	assert_rule(&table, 0x187, UNWIND_PLUS, UNWIND_SP, 16);
	assert_rule(&table, 0x189, UNWIND_PLUS, UNWIND_SP, 8);
	unwind_table_free(&table);
}

static void what_has_no_caller_is_an_end(void **unused)
{
	struct unwind_table table = compile();

	(void)unused;
	assert_rule(&table, START, UNWIND_END, 0, 0);
	assert_rule(&table, START + 8, UNWIND_END, 0, 0);
	assert_rule(&table, 0x83, UNWIND_END, 0, 0);
	assert_rule(&table, 0x5f, UNWIND_SIGNAL, 0, 0);
	assert_rule(&table, 0x60, UNWIND_SIGNAL, 0, 0);
	unwind_table_free(&table);
}

static void a_realigned_stack_is_found_again(void **unused)
{
	struct unwind_table table = compile();
	struct unwind_rule rule = { 0 };

	(void)unused;
	assert_rule(&table, 0xa5, UNWIND_PLUS, UNWIND_SP, 8);
	assert_rule(&table, 0xa9, UNWIND_PLUS, X86_R10, 0);
	assert_rule(&table, 0xb6, UNWIND_DEREF, UNWIND_FP, -8);
	unwind_find_rule(&table, BASE + 0xb6, &rule);
	assert_int_equal(rule.base, UNWIND_BASE_FP);
	assert_int_equal(rule.saved[1], 0);
	assert_int_equal(rule.saved[0], -2);
	unwind_table_free(&table);
}

static void a_register_leads_back_behind_a_realignment(void **unused)
{
	struct unwind_table table = compile();

	(void)unused;
	assert_rule(&table, 0x19d, UNWIND_PLUS, UNWIND_SP, 0x28);
	assert_saved(&table, 0x19d, 0, -5);
	assert_saved(&table, 0x19d, 1, -4);
	for (u64 at = 0x1a4; at <= 0x1a8; at++)
		assert_rule(&table, at, UNWIND_PLUS, X86_RBX, 0x28);
	assert_saved(&table, 0x1a8, 1, -4);
	assert_rule(&table, 0x1ab, UNWIND_PLUS, UNWIND_SP, 0x28);
	assert_rule(&table, 0x1b3, UNWIND_PLUS, UNWIND_SP, 8);
	unwind_table_free(&table);
}

static void what_only_a_run_can_tell_has_no_rule(void **unused)
{
	struct unwind_table table = compile();

	(void)unused;
	assert_rule(&table, 0xc2, UNWIND_PLUS, UNWIND_SP, 16);
	assert_rule(&table, 0xc6, UNWIND_NONE, 0, 0);
	for (u64 at = 0x1c0; at < 0x1c0 + sizeof goes_on; at++)
		assert_rule(&table, at, UNWIND_NONE, 0, 0);
	assert_rule(&table, 0x1e0, UNWIND_PLUS, UNWIND_SP, 8);
	assert_rule(&table, 0x1e1, UNWIND_PLUS, UNWIND_SP, 16);
	assert_rule(&table, 0x1e8, UNWIND_NONE, 0, 0);
	unwind_table_free(&table);
}

static void cases_are_where_the_table_says(void **unused)
{
	struct unwind_table table = compile();

	(void)unused;
	assert_rule(&table, 0xe6, UNWIND_PLUS, UNWIND_SP, 16);
	assert_rule(&table, 0xe9, UNWIND_NONE, 0, 0);
	assert_rule(&table, 0xeb, UNWIND_PLUS, UNWIND_SP, 16);
	assert_rule(&table, 0xec, UNWIND_PLUS, UNWIND_SP, 8);
	assert_rule(&table, 0xed, UNWIND_PLUS, UNWIND_SP, 16);
	assert_rule(&table, 0xef, UNWIND_PLUS, UNWIND_SP, 8);
	assert_rule(&table, 0x128, UNWIND_PLUS, UNWIND_SP, 16);
	assert_rule(&table, 0x20, UNWIND_PLUS, UNWIND_SP, 8); /* another function's */
	unwind_table_free(&table);
}

/* ---- this program -------------------------------------------------------------------------- */

struct comparison {
	const struct image *image;
	struct unwind_table table; /* the compiler's */
	u64 same, other;
};

static bool compare(void *arg, u64 begin, u64 end, const struct unwind_rule *ours)
{
	struct comparison *comparison = arg;
	struct instruction instruction;
	struct unwind_rule theirs;
	u8 bytes[15];

	for (u64 at = begin; at < end; at += instruction.length) {
		if (!image_bytes(comparison->image, at, bytes, sizeof bytes) ||
		    !instruction_read(bytes, sizeof bytes, at, &instruction))
			return true;
		if (!unwind_find_rule(&comparison->table, at, &theirs) ||
		    theirs.kind != UNWIND_PLUS || ours->kind != UNWIND_PLUS ||
		    theirs.reg != ours->reg)
			continue;
		if (theirs.offset == ours->offset)
			comparison->same++;
		else
			comparison->other++;
	}
	return true;
}

/* Of code with tables, as though it had none. */
static void compilers_say_the_same(void **unused)
{
	struct err err = { 0 };
	struct comparison comparison = {
		.image = image_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self", &err)
	};
	struct unwind_report report;

	(void)unused;
	assert_non_null(comparison.image);
	assert_true(unwind_compile(comparison.image, &comparison.table, &report, &err));
	assert_true(unwind_code_spans(comparison.image, NULL, 0, compare, &comparison));
	assert_true(comparison.same > 500);
	assert_true(comparison.other * 50 <= comparison.same);
	unwind_table_free(&comparison.table);
	image_close((struct image *)comparison.image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_is_followed),
		cmocka_unit_test(a_frame_pointer_is_used_where_there_is_one),
		cmocka_unit_test(what_is_pushed_in_a_loop_moves_no_frame),
		cmocka_unit_test(a_frame_pointer_may_become_something_else),
		cmocka_unit_test(what_has_no_caller_is_an_end),
		cmocka_unit_test(a_realigned_stack_is_found_again),
		cmocka_unit_test(a_register_leads_back_behind_a_realignment),
		cmocka_unit_test(what_only_a_run_can_tell_has_no_rule),
		cmocka_unit_test(cases_are_where_the_table_says),
		cmocka_unit_test(compilers_say_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
