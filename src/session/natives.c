/* SPDX-License-Identifier: Apache-2.0
 * natives.c - see natives.h. */
#include "session/natives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "elf/image.h"
#include "symbols/debug_info.h"
#include "symbols/perf_map.h"
#include "symbols/symbols.h"
#include "target/target.h"

/* Of the time, not more than a tenth is spent on reading. */
enum { REST = 10 };
static const u64 READ_AGAIN_NS = NS_PER_S, MISSED_LEAST_NS = 10 * NS_PER_MS;

void natives_init(struct natives *natives, struct names *names, bool by_function)
{
	*natives = (struct natives){ .names = names, .by_function = by_function };
}

static void *read_kernel(void *arg)
{
	struct natives *natives = arg;

	natives->kernel = symbols_of_kernel(NULL);
	return NULL;
}

void natives_prepare(struct natives *natives)
{
	if (natives->is_reading || natives->kernel)
		return;
	natives->is_reading = thread_start(&natives->reader, read_kernel, natives);
	if (!natives->is_reading)
		read_kernel(natives);
}

static const struct symbols *kernel_symbols(struct natives *natives)
{
	if (natives->is_reading)
		pthread_join(natives->reader, NULL);
	natives->is_reading = false;
	return natives->kernel;
}

void natives_free(struct natives *natives)
{
	for (u32 i = 0; i < natives->files.count; i++)
		symbols_free(natives->files.at[i].symbols);
	vec_free(&natives->files);
	for (u32 i = 0; i < natives->jits.count; i++)
		perf_map_free(natives->jits.at[i].map);
	vec_free(&natives->jits);
	vec_free(&natives->places);
	kernel_symbols(natives);
	symbols_free(natives->kernel);
}

/* A string: its name as its author wrote it. */
static u32 symbol_name(struct natives *natives, const struct symbol *symbol)
{
	char *plain = symbol_demangle(symbol->name);
	u32 name = plain ? names_text(natives->names, plain) :
			   names_string(natives->names, symbol->name, symbol->length);

	free(plain);
	return name;
}

static u32 name_of(struct natives *natives, const struct symbols *symbols, u64 address, u32 unknown)
{
	struct symbol symbol;

	return symbols && symbols_find(symbols, address, &symbol) ? symbol_name(natives, &symbol) :
								    unknown;
}

static u32 file_name(struct names *names, const char *path)
{
	const char *slash = strrchr(path, '/');
	char text[512];

	snprintf(text, sizeof text, "[%s]", slash ? slash + 1 : path);
	return names_text(names, text);
}

static struct native_file *file_of(struct natives *natives, u64 owner,
				   const struct sample_source *source)
{
	if (owner > UINT32_MAX - 1 || !vec_reach(&natives->files, (u32)owner))
		return NULL;
	struct native_file *file = &natives->files.at[owner];
	if (file->unknown)
		return file;
	file->image = source->image_of(source, owner);
	if (!file->image)
		return NULL;
	file->symbols = symbols_of_image(file->image);
	file->path = names_text(natives->names, image_name(file->image));
	file->unknown = file_name(natives->names, image_name(file->image));
	return file;
}

/* A map that belongs neither to the process's user nor to root is ignored. */
static void read_perf_map(struct native_jit *jit, const struct target *target)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/tmp/perf-%u.map", target->inner_pid);
	AUTO_CLOSE int fd = target_open_named(target, path);
	if (fd < 0 || fstat(fd, &st) != 0 || (st.st_uid != target->uid && st.st_uid != 0))
		return;
	if (!jit->map)
		jit->map = perf_map_new();
	if (jit->map && !perf_map_read(jit->map, fd)) {
		perf_map_free(jit->map);
		jit->map = NULL;
	}
}

static struct native_jit *jit_of(struct natives *natives, u64 incarnation)
{
	for (u32 i = natives->jits.count; i-- > 0;)
		if (natives->jits.at[i].incarnation == incarnation)
			return &natives->jits.at[i];
	if (!vec_push(&natives->jits, (struct native_jit){ .incarnation = incarnation }))
		return NULL;
	return &natives->jits.at[natives->jits.count - 1];
}

static bool look_up(const struct native_jit *jit, u64 address, struct symbol *out)
{
	return jit->map && perf_map_find(jit->map, address, out);
}

/* The map grows while the program runs: who is not in it may be by now, and who is may have been replaced. */
static u32 jit_name(struct natives *natives, const struct sample_source *source, u64 address,
		    u32 unknown)
{
	struct native_jit *jit = jit_of(natives, source->incarnation);
	u64 now = clock_now_ns();
	struct symbol symbol;

	if (!jit)
		return unknown;
	bool is_old = now > jit->read_ns + READ_AGAIN_NS;
	bool found = !is_old && look_up(jit, address, &symbol);
	if (is_old || (!found && backoff_is_due(&jit->again, now))) {
		read_perf_map(jit, source->target);
		jit->read_ns = now;
		found = look_up(jit, address, &symbol);
		u64 after = clock_now_ns();
		if (found)
			jit->again = (struct backoff){ .next_ns = after + REST * (after - now) };
		else
			backoff_miss(&jit->again, after, MISSED_LEAST_NS, READ_AGAIN_NS);
	}
	return found ? symbol_name(natives, &symbol) : unknown;
}

/* For natives_find_parts(). */
static void note_place(struct natives *natives, u32 location, u32 file, u64 address)
{
	if (vec_reach(&natives->places, location))
		natives->places.at[location] = (struct native_place){ file, address };
}

u32 natives_location(struct natives *natives, const struct frame *frame,
		     const struct sample_source *source)
{
	struct names *names = natives->names;
	struct name_function function = { 0 };
	struct name_location location = { 0 };
	bool has_address = false;
	u32 unknown = names_text(names, "[unknown]");
	u64 left;

	if (frame->kind == FRAME_KERNEL) {
		function.language = names_text(names, "kernel");
		function.name = name_of(natives, kernel_symbols(natives), frame->id, unknown);
	} else {
		struct native_file *file = frame->owner ? file_of(natives, frame->owner, source) :
							  NULL;
		function.language = names_text(names, "native");
		function.name = file ? name_of(natives, file->symbols, frame->id, file->unknown) :
				frame->owner ? unknown :
					       jit_name(natives, source, frame->id, unknown);
		function.image = file ? file->path : 0;
		has_address = file && image_offset_of_address(file->image, frame->id,
							      &location.address, &left);
	}
	location.function = names_function(names, &function);
	u32 number = names_location(names, &location);
	if (has_address)
		note_place(natives, number, (u32)frame->owner, frame->id);
	return number;
}

/* ---- what debugging information knows ------------------------------------------------------ */

/* One function of those that an address is in. The one that is called has the name that it has. */
static u32 part_location(struct natives *natives, u32 of, const struct debug_place *place)
{
	struct names *names = natives->names;
	struct name_location location = names->locations.at[of];
	struct name_function function = names->functions.at[location.function];
	const struct native_file *file = &natives->files.at[natives->places.at[of].file];
	bool is_named = !place->is_inlined && function.name != file->unknown;

	if (!is_named && place->name) {
		char *plain = symbol_demangle(place->name);
		function.name = names_string(names, plain ? plain : place->name,
					     strnlen(plain ? plain : place->name, SYMBOL_NAME_MAX));
		free(plain);
	} else if (!is_named) {
		function.name = file->unknown;
	}
	function.path = place->path ? names_text(names, place->path) : 0;
	function.first_line = place->first_line;
	function.flags = place->is_inlined ? FRAME_INLINED : 0;
	location.function = names_function(names, &function);
	location.line = natives->by_function ? 0 : place->line;
	location.address = natives->by_function ? 0 : location.address;
	return names_location(names, &location);
}

static bool add_whole(struct natives *natives, struct profile *profile, u32 location)
{
	struct name_location whole = natives->names->locations.at[location];

	whole.address = 0;
	u32 part = names_location(natives->names, &whole);
	return vec_push(&profile->parts, (struct profile_part){ location, part });
}

/* `info`: NULL if there is none. */
static bool add_parts(struct natives *natives, struct profile *profile, u32 location,
		      struct debug_info *info)
{
	struct debug_place places[DEBUG_PLACES_MAX];
	u64 address = natives->places.at[location].address;
	u32 count = info ? debug_info_find(info, address, places) : 0;

	if (!count && natives->by_function)
		return add_whole(natives, profile, location);
	for (u32 i = count; i-- > 0;) {
		u32 part = part_location(natives, location, &places[i]);
		if (count == 1 && part == location)
			break; /* nothing new */
		if (!vec_push(&profile->parts, (struct profile_part){ location, part }))
			return false;
	}
	return true;
}

void natives_find_parts(struct natives *natives, struct profile *profile)
{
	for (u32 file = 1; file < natives->files.count; file++) {
		const struct image *image = natives->files.at[file].image;
		struct debug_info *info = image ? debug_info_open(image) : NULL;
		bool has_parts = info || natives->by_function;
		for (u32 i = 0; has_parts && i < natives->places.count; i++)
			if (natives->places.at[i].file == file &&
			    !add_parts(natives, profile, i, info))
				profile->bad = true;
		debug_info_close(info);
	}
}
