/* SPDX-License-Identifier: Apache-2.0
 * tape.c - see tape.h. */
#include "mem/tape.h"

#include <stdlib.h>
#include <string.h>

enum { READ_MAX = 64 * 1024, TAPE_MAX = 16 * 1024 * 1024 };

void tape_clear(struct tape *tape)
{
	vec_clear(&tape->reads);
	vec_clear(&tape->bytes);
	tape->bad = false;
}

void tape_free(struct tape *tape)
{
	vec_free(&tape->reads);
	vec_free(&tape->bytes);
	tape->bad = false;
}

bool tape_add(struct tape *tape, u64 addr, const void *bytes, u32 len)
{
	if (tape->bytes.count > TAPE_MAX - len ||
	    !vec_grow(&tape->bytes, tape->bytes.count + len) ||
	    !vec_push(&tape->reads, (struct tape_read){ addr, len, tape->bytes.count })) {
		tape->bad = true;
		return false;
	}
	memcpy(tape->bytes.at + tape->bytes.count, bytes, len);
	tape->bytes.count += len;
	return true;
}

static bool record_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct mem_record *record = (const struct mem_record *)mem;

	if (!record->from->read(record->from, addr, dst, len, hold))
		return false;
	if (len <= READ_MAX)
		tape_add(record->tape, addr, dst, len);
	return true;
}

void mem_record_init(struct mem_record *record, const struct mem *from, struct tape *tape)
{
	*record = (struct mem_record){ .mem.read = record_read, .from = from, .tape = tape };
}

static bool replay_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct mem_replay *replay = (struct mem_replay *)mem; /* created non-const by its owner */
	const struct tape *tape = replay->tape;

	(void)hold;
	for (u32 i = 0; i < tape->reads.count; i++) {
		const struct tape_read *read = &tape->reads.at[i];
		if (addr >= read->addr && len <= read->len &&
		    addr - read->addr <= read->len - len) {
			memcpy(dst, tape->bytes.at + read->at + (addr - read->addr), len);
			return true;
		}
	}
	replay->missed++;
	return false;
}

void mem_replay_init(struct mem_replay *replay, const struct tape *tape)
{
	*replay = (struct mem_replay){ .mem.read = replay_read, .tape = tape };
}

static bool faulty_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct mem_faulty *faulty = (struct mem_faulty *)mem; /* created non-const by its owner */

	if (faulty->count++ == faulty->fail_at)
		return false;
	return faulty->from->read(faulty->from, addr, dst, len, hold);
}

void mem_faulty_init(struct mem_faulty *faulty, const struct mem *from, u64 fail_at)
{
	*faulty = (struct mem_faulty){ .mem.read = faulty_read, .from = from, .fail_at = fail_at };
}

void tape_write(const struct tape *tape, struct out *out)
{
	for (u32 i = 0; i < tape->reads.count; i++) {
		const struct tape_read *read = &tape->reads.at[i];
		outf(out, "read %llx ", (unsigned long long)read->addr);
		for (u32 k = 0; k < read->len; k++)
			outf(out, "%02x", tape->bytes.at[read->at + k]);
		out_text(out, "\n");
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool tape_parse_line(struct tape *tape, const char *line, size_t length)
{
	static const char word[] = "read ";
	size_t at = sizeof word - 1;
	u64 addr = 0;
	u32 digits = 0;

	if (length < at || memcmp(line, word, at))
		return false;
	for (; at < length && hex_digit(line[at]) >= 0; at++, digits++)
		addr = addr << 4 | (u64)hex_digit(line[at]);
	if (!digits || digits > 16 || at >= length || line[at++] != ' ')
		return false;
	size_t count = (length - at) / 2;
	if (!count || count > READ_MAX || (length - at) % 2)
		return false;
	u8 *bytes = malloc(count);
	if (!bytes)
		return false;
	bool good = true;
	for (size_t i = 0; i < count && good; i++) {
		int high = hex_digit(line[at + 2 * i]), low = hex_digit(line[at + 2 * i + 1]);
		good = high >= 0 && low >= 0;
		bytes[i] = (u8)(high << 4 | low);
	}
	good = good && tape_add(tape, addr, bytes, (u32)count);
	free(bytes);
	return good;
}
