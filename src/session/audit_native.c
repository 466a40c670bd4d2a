/* SPDX-License-Identifier: Apache-2.0
 * audit_native.c - see audit_native.h. */
#include "session/audit_native.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "elf/image.h"
#include "symbols/symbols.h"

static bool is_same_pc(const void *owner, u32 item, const void *key)
{
	return ((const struct audit_pcs *)owner)->all.at[item].pc == *(const u64 *)key;
}

static bool read_pc(u32 tid, u64 *out)
{
	struct user_regs_struct registers;
	struct iovec where = { &registers, sizeof registers };

	if (ptrace(PTRACE_GETREGSET, (pid_t)tid, (void *)NT_PRSTATUS, &where) != 0)
		return false;
#if defined(__x86_64__)
	*out = registers.rip;
#elif defined(__aarch64__)
	*out = registers.pc;
#else
#error "which register is the program counter?"
#endif
	return true;
}

static void add_pc(struct audit_pcs *pcs, u64 pc)
{
	u64 hash = table_hash(&pc, sizeof pc);
	u32 item = table_find(&pcs->table, hash, is_same_pc, pcs, &pc);

	if (item != TABLE_NONE)
		pcs->all.at[item].count++;
	else if (vec_push(&pcs->all, (struct audit_pc){ pc, 1 }))
		table_add(&pcs->table, hash, pcs->all.count - 1);
}

void audit_pcs_note(struct audit_pcs *pcs, u32 tid)
{
	int signal = 0;
	u64 pc;

	pause_settle(&pcs->pause);
	if (pause_take(&pcs->pause, tid, &signal) != PAUSE_STOPPED)
		return;
	bool known = read_pc(tid, &pc);
	pause_release(&pcs->pause, tid, signal);
	if (known)
		add_pc(pcs, pc);
}

/* The function around a linked address; in a stripped image, whose static functions have no symbols, the last one before
 * it: "(after rb_vm_exec)". */
static void name_function(const struct symbols *symbols, u64 address, char *name, size_t room)
{
	struct symbol symbol;

	if (symbols_find(symbols, address, &symbol))
		snprintf(name, room, "%.*s", (int)symbol.length, symbol.name);
	else if (symbols_before(symbols, address, &symbol))
		snprintf(name, room, "(after %.*s)", (int)symbol.length, symbol.name);
}

static void add_native(struct audit_result *out, u32 name, u32 image, u64 count)
{
	for (u32 i = 0; i < out->natives.count; i++) {
		struct audit_native *native = &out->natives.at[i];

		if (native->name == name && native->image == image) {
			native->count += count;
			return;
		}
	}
	if (!vec_push(&out->natives, (struct audit_native){ name, image, count }))
		out->names.bad = true;
}

/* All program counters within one mapping. */
static void name_mapping(const struct audit_pcs *pcs, const struct target *target,
			 const struct mapping *mapping, struct audit_result *out)
{
	u32 file = names_text(&out->names, mapping_path(target, mapping));
	struct image *image = NULL;
	struct symbols *symbols = NULL;
	u64 bias = 0;

	for (u32 i = 0; i < pcs->all.count; i++) {
		const struct audit_pc *at = &pcs->all.at[i];
		char name[256] = "(no symbol)";

		if (at->pc < mapping->start || at->pc >= mapping->end)
			continue;
		if (!image && (image = target_open_image(target, mapping, NULL)))
			symbols = symbols_of_image(image);
		if (symbols && target_load_bias(target, mapping, image, &bias))
			name_function(symbols, at->pc - bias, name, sizeof name);
		add_native(out, names_text(&out->names, name), file, at->count);
	}
	symbols_free(symbols);
	image_close(image);
}

static int by_count(const void *a, const void *b)
{
	u64 x = ((const struct audit_native *)a)->count,
	    y = ((const struct audit_native *)b)->count;

	return (x < y) - (x > y);
}

bool audit_pcs_name(const struct audit_pcs *pcs, const struct target *target,
		    struct audit_result *out)
{
	for (u32 i = 0; i < target->maps.all.count; i++)
		if (target->maps.all.at[i].executable)
			name_mapping(pcs, target, &target->maps.all.at[i], out);
	if (out->natives.count)
		qsort(out->natives.at, out->natives.count, sizeof out->natives.at[0], by_count);
	return !out->names.bad;
}

void audit_pcs_free(struct audit_pcs *pcs)
{
	pause_settle(&pcs->pause);
	vec_free(&pcs->all);
	table_free(&pcs->table);
}
