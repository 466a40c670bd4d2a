/* SPDX-License-Identifier: Apache-2.0
 * recorder.c - see recorder.h.
 *
 *	recorder_sample() -> rows -> recorder_write(): sections -> one block -> write(2)
 *
 * What the file has already is known by counts: tables of names only grow. Rows of threads
 * and processes can change their name and are written again then. */
#include "profile/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/clock.h"

enum {
	SHARE_OF_AGE = 200,
	WAIT_MOST_MS = 1000,
	ROWS_MAX = 1 << 18, /* a block's samples: a reader holds one block */
	PACK_LEAST = 256,   /* bytes: less is not worth a frame */
	PACK_LEVEL = 3,
	UNITS_PER_PERIOD = 20, /* so that what is between two samples is one byte */
	RESERVE_BLOCKS = 4,
	RESERVE_LEAST = 64 * 1024,
};

/* The names of the rows that the file has, by number. */
struct written_names {
	VEC(u32) names;
};

struct recorder {
	const struct profile *profile;
	struct out out;
	u64 begin_ns, due_ns, unit_ns;
	VEC(struct recorded_sample) samples;
	VEC(struct recorded_share) shares;
	VEC(struct recorded_leaf) leaves;
	VEC(u32) leaf_of; /* by stack: its leaf + 1, or 0 */
	/* rows that the file has */
	u32 strings, functions, locations, stacks, mappings, sources, parts, replaced,
		leaves_written;
	struct written_names processes, threads;
	VEC(u64) quality;
	u64 info;                  /* hash of what it says of itself */
	struct out chunk, section; /* memory */
	VEC(u8) packed;
	ZSTD_CCtx *packer;
	u64 reserved; /* bytes of the file that are sure to find room */
	u64 samples_written;
	int full; /* errno of the reservation that failed */
	bool can_reserve;
};

/* ---- blocks ------------------------------------------------------------------------------- */

static void fail(struct recorder *recorder, int errnum)
{
	if (!recorder->out.errnum)
		recorder->out.errnum = errnum;
}

static void out_reset(struct out *memory)
{
	memory->used = 0;
	memory->written = 0;
}

/* Room for what comes next is asked for while there is room for this. */
static void reserve(struct recorder *recorder, u64 block)
{
	u64 ahead = block * RESERVE_BLOCKS > RESERVE_LEAST ? block * RESERVE_BLOCKS : RESERVE_LEAST;
	u64 end = recorder->out.written + ahead;

	if (!recorder->can_reserve || recorder->reserved >= recorder->out.written + ahead / 2)
		return;
	if (fallocate(recorder->out.fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)end) == 0)
		recorder->reserved = end;
	else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
		recorder->full = errno;
	else
		recorder->can_reserve = false; /* this file system does not know how */
}

static const void *pack(struct recorder *recorder, struct recording_block *block,
			const struct out *raw)
{
	size_t bound = ZSTD_compressBound(raw->used);

	block->stored = (u32)raw->used;
	if (raw->used < PACK_LEAST || bound > UINT32_MAX ||
	    !vec_grow(&recorder->packed, (u32)bound))
		return raw->buffer;
	size_t size = ZSTD_compressCCtx(recorder->packer, recorder->packed.at, bound, raw->buffer,
					raw->used, PACK_LEVEL);
	if (ZSTD_isError(size) || size >= raw->used || !recording_may_unpack(size, raw->used))
		return raw->buffer;
	block->encoding = BLOCK_ZSTD;
	block->stored = (u32)size;
	return recorder->packed.at;
}

static void put_block(struct recorder *recorder, enum recording_block_type type)
{
	const struct out *raw = &recorder->chunk;
	struct recording_block block = { .magic = RECORDING_BLOCK_MAGIC,
					 .type = (u8)type,
					 .encoding = BLOCK_RAW,
					 .version = RECORDING_VERSION,
					 .raw = (u32)raw->used };

	if (raw->errnum) {
		fail(recorder, raw->errnum);
		return;
	}
	const void *payload = pack(recorder, &block, raw);
	block.checksum = recording_checksum(&block, payload);
	out_bytes(&recorder->out, &block, sizeof block);
	out_bytes(&recorder->out, payload, block.stored);
	out_flush(&recorder->out);
	reserve(recorder, sizeof block + block.stored);
	out_reset(&recorder->chunk);
}

/* ---- sections ----------------------------------------------------------------------------- */

static void end_section(struct recorder *recorder, enum recording_section id)
{
	u8 byte = (u8)id;

	out_bytes(&recorder->chunk, &byte, 1);
	out_uleb(&recorder->chunk, recorder->section.used);
	out_bytes(&recorder->chunk, recorder->section.buffer, recorder->section.used);
	if (recorder->section.errnum)
		fail(recorder, recorder->section.errnum);
	out_reset(&recorder->section);
}

/* Rows [first, first + count) of a table that only grows. */
static void put_table(struct recorder *recorder, enum recording_section id, u32 first,
		      const void *rows, u32 count)
{
	const struct recording_table *table = &recording_tables[id];

	for (u32 done = 0, part; done < count; done += part) {
		part = count - done < RECORDING_ROWS_MAX ? count - done : RECORDING_ROWS_MAX;
		out_uleb(&recorder->section, first + done);
		out_uleb(&recorder->section, part);
		recording_put_rows(&recorder->section, table,
				   (const u8 *)rows + (size_t)done * table->row_size, part);
		end_section(recorder, id);
	}
}

#define PUT_NEW(recorder, id, vec, done)                                      \
	do {                                                                  \
		if ((vec)->count > *(done))                                   \
			put_table(recorder, id, *(done), (vec)->at + *(done), \
				  (vec)->count - *(done));                    \
		*(done) = (vec)->count;                                       \
	} while (0)

static void put_strings(struct recorder *recorder)
{
	const struct names *names = &recorder->profile->names;
	u32 first = recorder->strings, end = names->strings.count;

	if (first == end)
		return;
	out_uleb(&recorder->section, first);
	out_uleb(&recorder->section, end - first);
	for (u32 i = first; i < end; i++)
		out_uleb(&recorder->section, names->strings.at[i].length);
	for (u32 i = first; i < end; i++)
		out_bytes(&recorder->section, names->strings.at[i].text,
			  names->strings.at[i].length);
	end_section(recorder, SECTION_STRINGS);
	recorder->strings = end;
}

/* Has the file no row of this number yet, or one with another name? */
static bool is_news(struct recorder *recorder, struct written_names *written, u32 number, u32 name)
{
	if (number < written->names.count && written->names.at[number] == name)
		return false;
	if (number < written->names.count)
		written->names.at[number] = name;
	else if (number > written->names.count || !vec_push(&written->names, name))
		fail(recorder, ENOMEM);
	return true;
}

static void put_processes(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;
	VEC(struct recorded_process) rows = { 0 };

	for (u32 i = 0; i < profile->processes.count; i++) {
		const struct profile_process *process = &profile->processes.at[i];
		struct recorded_process row = { process->start_time, i, process->pid,
						process->name };
		if (is_news(recorder, &recorder->processes, i, process->name) &&
		    !vec_push(&rows, row))
			fail(recorder, ENOMEM);
	}
	put_table(recorder, SECTION_PROCESSES, 0, rows.at, rows.count);
	vec_free(&rows);
}

static void put_threads(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;
	VEC(struct recorded_thread) rows = { 0 };

	for (u32 i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.at[i];
		struct recorded_thread row = { i, thread->process, thread->tid, thread->name };
		if (is_news(recorder, &recorder->threads, i, thread->name) && !vec_push(&rows, row))
			fail(recorder, ENOMEM);
	}
	put_table(recorder, SECTION_THREADS, 0, rows.at, rows.count);
	vec_free(&rows);
}

static u64 quality_at(const struct quality *quality, u32 field)
{
	u64 value;

	memcpy(&value, (const u8 *)quality + quality_fields[field].offset, sizeof value);
	return value;
}

/* What has changed, as pairs of a field's number and its value. */
static void put_quality(struct recorder *recorder)
{
	u32 changed = 0;

	for (u32 i = 0; i < quality_field_count; i++)
		changed += quality_at(&recorder->profile->quality, i) != recorder->quality.at[i];
	if (!changed)
		return;
	out_uleb(&recorder->section, changed);
	for (u32 i = 0; i < quality_field_count; i++) {
		u64 value = quality_at(&recorder->profile->quality, i);
		if (value == recorder->quality.at[i])
			continue;
		out_uleb(&recorder->section, i);
		out_uleb(&recorder->section, value);
		recorder->quality.at[i] = value;
	}
	end_section(recorder, SECTION_QUALITY);
}

static void put_names(struct recorder *recorder)
{
	const struct names *names = &recorder->profile->names;

	put_strings(recorder);
	PUT_NEW(recorder, SECTION_FUNCTIONS, &names->functions, &recorder->functions);
	PUT_NEW(recorder, SECTION_LOCATIONS, &names->locations, &recorder->locations);
	PUT_NEW(recorder, SECTION_REPLACED, &names->replaced, &recorder->replaced);
	PUT_NEW(recorder, SECTION_STACKS, &names->stacks, &recorder->stacks);
	PUT_NEW(recorder, SECTION_LEAVES, &recorder->leaves, &recorder->leaves_written);
	PUT_NEW(recorder, SECTION_PARTS, &recorder->profile->parts, &recorder->parts);
	PUT_NEW(recorder, SECTION_SOURCES, &recorder->profile->sources, &recorder->sources);
}

/* ---- what the file says of itself --------------------------------------------------------- */

static void put_pair(struct recorder *recorder, const char *name, const char *value)
{
	out_uleb(&recorder->chunk, strlen(name));
	out_text(&recorder->chunk, name);
	out_uleb(&recorder->chunk, strlen(value));
	out_text(&recorder->chunk, value);
}

static void put_number(struct recorder *recorder, const char *name, u64 value)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	put_pair(recorder, name, text);
}

static void put_ledger_names(struct recorder *recorder)
{
	struct out *list = &recorder->section;

	for (u32 i = 0; i < quality_field_count; i++)
		outf(list, "%s%s", i ? " " : "", quality_fields[i].name);
	out_bytes(list, "", 1);
	if (!list->errnum)
		put_pair(recorder, "ledger", (const char *)list->buffer);
	out_reset(list);
}

static void put_info(struct recorder *recorder)
{
	const struct profile *profile = recorder->profile;

	put_pair(recorder, "writer", "sonde " SONDE_VERSION);
	put_pair(recorder, "title", profile->title);
	put_pair(recorder, "command", profile->command ? profile->command : "");
	put_pair(recorder, "mode", profile->mode);
	put_pair(recorder, "engine", profile->quality.engine);
	put_pair(recorder, "warning", profile->quality.warning);
	put_number(recorder, "hz", profile->hz);
	put_number(recorder, "start_unix_ns", profile->start_unix_ns);
	put_number(recorder, "unit_ns", recorder->unit_ns);
	put_ledger_names(recorder);
	put_block(recorder, BLOCK_INFO);
}

/* The title changes at an exec, a warning may come late. */
static u64 info_hash(const struct profile *profile)
{
	u64 title = table_hash(profile->title, strlen(profile->title));

	return title ^ table_hash(profile->quality.warning, strlen(profile->quality.warning)) * 3;
}

/* A power of two, so that a period is 20 to 40 of them; a millisecond where there is none (events). */
static u64 unit_for(u32 hz)
{
	u64 unit = 1;

	for (u64 period = NS_PER_S / (hz ? hz : 1000); unit * 2 * UNITS_PER_PERIOD <= period;)
		unit *= 2;
	return unit;
}

/* ---- life --------------------------------------------------------------------------------- */

struct recorder *recorder_open(const char *path, struct err *err)
{
	struct recorder *recorder = calloc(1, sizeof *recorder);

	if (!recorder) {
		err_no_memory(err);
		return NULL;
	}
	out_open_memory(&recorder->out);
	out_open_memory(&recorder->chunk);
	out_open_memory(&recorder->section);
	recorder->packer = ZSTD_createCCtx();
	if (!recorder->packer || !vec_grow(&recorder->quality, quality_field_count)) {
		recorder_abandon(recorder);
		err_no_memory(err);
		return NULL;
	}
	memset(recorder->quality.at, 0, quality_field_count * sizeof(u64));
	bool opened = out_open_file(&recorder->out, path, err);
	recorder->can_reserve = recorder->out.atomic;
	if (opened)
		reserve(recorder, 0);
	if (!opened || !recorder_check(recorder, err)) {
		recorder_abandon(recorder);
		return NULL;
	}
	return recorder;
}

const char *recorder_temporary(const struct recorder *recorder)
{
	return recorder->out.temporary;
}

bool recorder_begin(struct recorder *recorder, const struct profile *profile, struct err *err)
{
	recorder->profile = profile;
	recorder->begin_ns = clock_now_ns();
	recorder->due_ns = 0; /* with the first sample, which may be older than we are */
	recorder->unit_ns = unit_for(profile->hz);
	out_bytes(&recorder->out, RECORDING_SIGNATURE, RECORDING_SIGNATURE_SIZE);
	put_info(recorder);
	recorder->info = info_hash(profile);
	return recorder_check(recorder, err);
}

static u32 leaf_of(struct recorder *recorder, u32 stack)
{
	if (!vec_reach(&recorder->leaf_of, stack)) {
		fail(recorder, ENOMEM);
		return 0;
	}
	u32 *leaf = &recorder->leaf_of.at[stack];
	if (!*leaf && vec_push(&recorder->leaves, (struct recorded_leaf){ stack }))
		*leaf = recorder->leaves.count;
	else if (!*leaf)
		fail(recorder, ENOMEM);
	return *leaf ? *leaf - 1 : 0;
}

void recorder_sample(struct recorder *recorder, u32 thread, u32 stack, const struct sample *sample)
{
	bool paid = !(sample->flags & SAMPLE_UNPAID);
	u64 since = sample->time_ns > recorder->begin_ns ? sample->time_ns - recorder->begin_ns : 0;
	struct recorded_sample row = { .time = since / recorder->unit_ns,
				       .weight = paid ? sample->weight : 0,
				       .thread = thread,
				       .leaf = leaf_of(recorder, stack),
				       .kind = sample->kind,
				       .flags = sample->flags,
				       .more = sample->more };

	if (!vec_push(&recorder->samples, row))
		fail(recorder, ENOMEM);
}

void recorder_share(struct recorder *recorder, u32 thread, u64 weight)
{
	struct recorded_share row = { weight, recorder->samples.count, thread };

	if (!vec_push(&recorder->shares, row))
		fail(recorder, ENOMEM);
}

bool recorder_is_due(const struct recorder *recorder, u64 now_ns)
{
	return now_ns >= recorder->due_ns || recorder->samples.count >= ROWS_MAX;
}

void recorder_write(struct recorder *recorder, u64 now_ns)
{
	u64 age = now_ns > recorder->begin_ns ? now_ns - recorder->begin_ns : 0;
	u64 wait = age / SHARE_OF_AGE, most = WAIT_MOST_MS * NS_PER_MS;

	recorder->due_ns = now_ns + (wait < most ? wait : most);
	if (recorder->out.errnum)
		return;
	u64 info = info_hash(recorder->profile);
	if (info != recorder->info)
		put_info(recorder);
	recorder->info = info;
	put_names(recorder);
	put_processes(recorder);
	put_threads(recorder);
	PUT_NEW(recorder, SECTION_MAPPINGS, &recorder->profile->mappings, &recorder->mappings);
	put_table(recorder, SECTION_SAMPLES, 0, recorder->samples.at, recorder->samples.count);
	put_table(recorder, SECTION_SHARES, 0, recorder->shares.at, recorder->shares.count);
	put_quality(recorder);
	if (recorder->chunk.used)
		put_block(recorder, BLOCK_CHUNK);
	if (!recorder->out.errnum)
		recorder->samples_written += recorder->samples.count;
	if (recorder->samples_written)
		out_publish(&recorder->out);
	vec_clear(&recorder->samples);
	vec_clear(&recorder->shares);
}

bool recorder_check(const struct recorder *recorder, struct err *err)
{
	int errnum = recorder->out.errnum ? recorder->out.errnum : recorder->full;

	return !errnum || err_sys(err, errnum, "cannot write %s", recorder->out.path);
}

u64 recorder_samples(const struct recorder *recorder)
{
	return recorder->samples_written;
}

static void recorder_free(struct recorder *recorder)
{
	vec_free(&recorder->samples);
	vec_free(&recorder->shares);
	vec_free(&recorder->leaves);
	vec_free(&recorder->leaf_of);
	vec_free(&recorder->processes.names);
	vec_free(&recorder->threads.names);
	vec_free(&recorder->quality);
	vec_free(&recorder->packed);
	out_close(&recorder->chunk, NULL);
	out_close(&recorder->section, NULL);
	ZSTD_freeCCtx(recorder->packer);
	free(recorder);
}

bool recorder_close(struct recorder *recorder, u64 *size, struct err *err)
{
	recorder_write(recorder, clock_now_ns());
	out_uleb(&recorder->chunk, recorder->samples_written);
	put_block(recorder, BLOCK_END);
	if (recorder->reserved)
		(void)!ftruncate(recorder->out.fd,
				 (off_t)recorder->out.written); /* gives it back */
	*size = recorder->out.written;
	bool written = recorder_check(recorder, err);
	written &= out_close(&recorder->out, written ? err : NULL);
	recorder_free(recorder);
	return written;
}

void recorder_abandon(struct recorder *recorder)
{
	if (!recorder)
		return;
	out_abandon(&recorder->out);
	recorder_free(recorder);
}
