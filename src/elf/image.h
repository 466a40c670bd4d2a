/* SPDX-License-Identifier: Apache-2.0
 * image.h - facts about an ELF file: build-id, sections, symbols.
 *
 * Our own reader, libc only, because libsonde carries it into other people's
 * processes.  The file is foreign input: every offset is checked against the
 * file's size, every count against what can fit, strings are bounded. 64-bit
 * little-endian ELF (x86-64, aarch64). */
#pragma once
#include "base/err.h"
#include "base/types.h"

enum { BUILD_ID_MAX = 32 };

struct image; /* opaque */

struct image_symbol {
	const char *name; /* into the image, NUL-terminated */
	u64 value;        /* as linked: add the load bias */
	u64 size;
	u8 type;     /* STT_FUNC, STT_OBJECT, STT_TLS ... */
	u16 section; /* 0: undefined here */
	bool is_old; /* a version that what is linked today does not get (memcpy@GLIBC_2.2.5) */
};

struct image_section {
	const char *name;
	u64 address; /* as linked; 0 if not loaded */
	u64 offset;  /* in the file */
	u64 size;    /* in memory; for SHT_NOBITS nothing is in the file */
	u32 type;
	u64 flags;
};

struct image_segment {
	u64 address, memory_size; /* as linked */
	u64 offset, file_size;
	u32 type, flags; /* PT_*, PF_* */
};

/* Takes the descriptor (closed by image_close, also on failure). `name` is for messages. */
struct image *image_open(int fd, const char *name, struct err *err);
void image_close(struct image *image);

const char *image_name(const struct image *image);
int image_fd(const struct image *image); /* borrowed */
/* What mappings of its file say of it; /proc/PID/maps may have another device than stat(). */
void image_set_mapped(struct image *image, u32 device, u64 inode);
/* Could a mapping that says this be of this file?  Any could where it was not told. */
bool image_is_mapped(const struct image *image, u32 device, u64 inode);
u16 image_machine(const struct image *image);         /* EM_X86_64, EM_AARCH64 */
u64 image_entry(const struct image *image);           /* as linked; 0: none */
bool image_is_relocatable(const struct image *image); /* ET_DYN: has a load bias */
/* Length in bytes; 0 when there is none. */
u32 image_build_id(const struct image *image, u8 out[BUILD_ID_MAX]);
/* The same, if it is in memory when the file is loaded: from that address on, as linked. */
u32 image_loaded_build_id(const struct image *image, u8 out[BUILD_ID_MAX], u64 *address);

u32 image_section_count(const struct image *image);
bool image_section(const struct image *image, u32 index, struct image_section *out);
bool image_section_named(const struct image *image, const char *name, struct image_section *out);
u32 image_segment_count(const struct image *image);
bool image_segment(const struct image *image, u32 index, struct image_segment *out);

/* Symbol tables are read at the first question about them, so an image serves one thread. This
 * reads them now: false, with the reason, when one is there that cannot be read. Asked without it,
 * such a table is an empty one. */
bool image_read_symbols(const struct image *image, struct err *err);
/* .dynsym first, then .symtab; defined ones only. */
bool image_symbol_named(const struct image *image, const char *name, struct image_symbol *out);
/* Symbols of both tables, in file order; false past the end. */
bool image_symbol(const struct image *image, u32 index, struct image_symbol *out);
/* Where the image's own calls of an exported function lead first: a stub of its linkage table. 0: there is none. */
u64 image_stub_of(const struct image *image, u64 function);
/* A stub of the linkage table. */
struct image_stub {
	u64 address, end;
	u64 function;     /* that it calls, if it is in this image; 0: elsewhere */
	const char *name; /* its; into the image */
};
/* All of them, in any order; to be freed. NULL, and a count of 0: there are none, or no memory. */
struct image_stub *image_stubs(const struct image *image, u32 *count);
/* The bytes at a linked address, as the file has them; false when the file has none there. */
bool image_bytes(const struct image *image, u64 address, void *out, u32 length);
/* Where in the file the byte at a linked address is; `left`: how many bytes follow in its segment. */
bool image_offset_of_address(const struct image *image, u64 address, u64 *offset, u64 *left);
