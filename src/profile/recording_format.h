/* SPDX-License-Identifier: Apache-2.0
 * recording_format.h - the bytes of a .sonde file, for its writer and its reader.
 *
 *	file   = signature block*
 *	block  = header payload            payload: raw, or one zstd frame
 *	chunk  = section*                  the payload of a BLOCK_CHUNK
 *	section= id length bytes           a table's new rows, column by column
 *
 * Both sides go by the tables below, so that what is written is what is read.  A reader skips the
 * blocks, sections and columns that it does not know; columns are added at the end only.
 * docs/FORMAT.md has it byte by byte. */
#pragma once
#include "base/cursor.h"
#include "base/out.h"
#include "profile/profile.h"

/* Text tools that change line ends or bit 7 are found out by it, as PNG does. */
#define RECORDING_SIGNATURE "\x89sonde\r\n"

enum {
	RECORDING_SIGNATURE_SIZE = 8,
	RECORDING_VERSION = 1, /* raised when an old reader would misread */
	RECORDING_COLUMNS_MAX = 8,
	/* What a reader has to take, and no more: a few bytes must not become a lot of work. */
	RECORDING_BLOCK_MAX = 64 << 20, /* bytes */
	RECORDING_PACKED_MOST = 256,    /* times the stored bytes, beyond the first megabyte */
	RECORDING_ROWS_MAX = 1 << 20,   /* of one section, and: */
	RECORDING_FEW_ROWS = 64,        /* more than these take a byte each */
	RECORDING_TABLE_MAX = 1 << 26,  /* rows of one table */
	RECORDING_GAP_MAX = 1 << 20,    /* of them, those that are not in the file */
};

enum recording_block_type {
	BLOCK_INFO = 1, /* pairs of texts; of equal names the last stands */
	BLOCK_CHUNK,    /* rows of tables and samples */
	BLOCK_END,      /* the recorder came to its end; behind it is nothing */
};

enum recording_encoding { BLOCK_RAW, BLOCK_ZSTD };

#define RECORDING_BLOCK_MAGIC 0x6b427e53u /* "S~Bk" */

struct recording_block {
	u32 magic;
	u32 stored; /* bytes that follow */
	u32 raw;    /* bytes of the payload when unpacked */
	u8 type, encoding;
	u16 version;
	u32 checksum; /* low half of XXH3-64 of the 16 bytes above and the stored bytes */
};
_Static_assert(sizeof(struct recording_block) == 20, "on disk");

enum recording_section {
	SECTION_STRINGS = 1,
	SECTION_FUNCTIONS,
	SECTION_LOCATIONS,
	SECTION_STACKS,
	SECTION_PROCESSES,
	SECTION_THREADS,
	SECTION_MAPPINGS,
	SECTION_SAMPLES,
	SECTION_SHARES,
	SECTION_QUALITY,
	SECTION_SOURCES,
	SECTION_LEAVES, /* the stacks that samples have, in the order of their first */
	SECTION_PARTS,  /* of locations, at the recording's end */
	SECTION_REPLACED,
	SECTION_COUNT,
};

enum column_coding {
	COLUMN_PLAIN, /* the value */
	COLUMN_DELTA, /* what was added to the row above, zig-zag */
};

enum column_form {
	FORM_CONSTANT, /* one code for all rows */
	FORM_LEB,      /* a LEB128 each */
};

struct recording_column {
	u16 offset, size; /* in the row's struct; 2, 4 or 8 bytes */
	u8 coding;
};

/* A table that only grows, or whose rows are written again when they change (row_index). */
struct recording_table {
	u8 section;
	u16 row_size, column_count;
	struct recording_column columns[RECORDING_COLUMNS_MAX];
};

struct recorded_process {
	u64 start_time;
	u32 number, pid, name;
};

struct recorded_thread {
	u32 number, process, tid, name;
};

struct recorded_leaf {
	u32 stack;
};

struct recorded_sample {
	u64 time;   /* units of the file since its start */
	u64 weight; /* nanoseconds; 0 with SAMPLE_UNPAID */
	u32 thread;
	u32 leaf;        /* what is sampled often is sampled early: a small number */
	u16 kind, flags; /* enum sample_kind, enum sample_flags */
	u32 more;        /* so many does it stand for, beside itself */
};

/* The samples of a thread before this one that had no weight yet share `weight`. */
struct recorded_share {
	u64 weight;
	u32 before; /* samples of this chunk */
	u32 thread;
};

/* By section; row_size is 0 for those that are no tables. */
extern const struct recording_table recording_tables[SECTION_COUNT];

/* Rows [0, count) of a table, all columns. */
void recording_put_rows(struct out *out, const struct recording_table *table, const void *rows,
			u32 count);
/* Into zeroed rows; what the bytes do not have stays zero. False when they are no such rows. */
bool recording_get_rows(struct cursor *cursor, const struct recording_table *table, void *rows,
			u32 count);

/* The numbers of the ledger that a recording keeps, by name. */
struct quality_field {
	const char *name;
	u16 offset; /* of a u64 in struct quality */
};
extern const struct quality_field quality_fields[];
extern const u32 quality_field_count;

/* Can a section of so many bytes have so many rows? Else it is hostile (FORMAT.md, Bounds). */
bool recording_may_have(u64 rows, u64 section_bytes);
/* Can so many stored bytes be `raw` when they are unpacked? */
bool recording_may_unpack(u64 stored, u64 raw);
/* Of the header but its last word, and the stored bytes. */
u32 recording_checksum(const struct recording_block *block, const void *payload);
void out_uleb(struct out *out, u64 value);
