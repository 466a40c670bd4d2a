/* SPDX-License-Identifier: Apache-2.0
 * debug_info.c - see debug_info.h.
 *
 * Units are found by their own ranges: not every compiler writes .debug_aranges (clang and rustc do not). */
#include "symbols/debug_info.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "elf/image.h"
#include "symbols/packed.h"
#include "symbols/parts.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	NESTED_MAX = 64, /* scopes in one another: foreign input has an end, too */
};

/* Addresses of a unit of compilation, or of a function of it, as libdw counts them. */
struct range {
	u64 start, end;
	u32 unit;      /* of those of units: its number */
	Dwarf_Die die; /* of those of functions */
};

typedef VEC(struct range) ranges;

struct unit {
	Dwarf_Die die;
	ranges functions;
	bool is_read; /* they are */
};

struct debug_info {
	Dwfl *dwfl;
	Dwfl_Module *module;
	u64 bias; /* of what libdw calls an address */
	VEC(struct unit) units;
	ranges ranges;  /* of them */
	bool has_units; /* they were looked at */
	struct symbols *symbols;
	bool has_symbols; /* they were read */
};

/* ---- opening ------------------------------------------------------------------------------- */

static bool report(struct debug_info *info, const struct image *image)
{
	int fd = fcntl(image_fd(image), F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return false;
	dwfl_report_begin(info->dwfl);
	info->module = dwfl_report_elf(info->dwfl, image_name(image), image_name(image), fd, 0,
				       true);
	if (!info->module)
		close(fd);
	return dwfl_report_end(info->dwfl, NULL, NULL) == 0 && info->module;
}

/* libdw unpacks it whole, whatever that is. */
static bool is_small(const struct image *image)
{
	struct image_section section;

	if (!image_section_named(image, ".gnu_debugdata", &section))
		return true;
	if (section.size > PACKED_MAX)
		return false;
	AUTO_FREE u8 *bytes = malloc(section.size + 1);
	ssize_t got = bytes ? pread(image_fd(image), bytes, section.size, (off_t)section.offset) :
			      -1;
	return got == (ssize_t)section.size && packed_size(bytes, (size_t)got) <= UNPACKED_MAX;
}

struct debug_info *debug_info_open(const struct image *image)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	struct debug_info *info = is_small(image) ? calloc(1, sizeof *info) : NULL;

	if (info && (info->dwfl = dwfl_begin(&callbacks)) && report(info, image))
		return info;
	debug_info_close(info);
	return NULL;
}

void debug_info_close(struct debug_info *info)
{
	if (!info)
		return;
	if (info->dwfl)
		dwfl_end(info->dwfl);
	for (u32 i = 0; i < info->units.count; i++)
		vec_free(&info->units.at[i].functions);
	vec_free(&info->units);
	vec_free(&info->ranges);
	symbols_free(info->symbols);
	free(info);
}

/* ---- units and functions ------------------------------------------------------------------- */

static int by_start(const void *left_, const void *right_)
{
	const struct range *left = left_, *right = right_;

	return (left->start > right->start) - (left->start < right->start);
}

static void sort(ranges *all)
{
	if (all->count)
		qsort(all->at, all->count, sizeof all->at[0], by_start);
}

static const struct range *range_at(const ranges *all, u64 place)
{
	u32 at = vec_first_not(all, one, one->end <= place);

	return at < all->count && place >= all->at[at].start ? &all->at[at] : NULL;
}

static void add_ranges(ranges *all, Dwarf_Die *die, u32 unit)
{
	Dwarf_Addr base, start, end;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;)
		/* what the linker threw away, it left at 0 */
		if (start && end > start &&
		    !vec_push(all, (struct range){ start, end, unit, *die }))
			return;
}

/* The part of a split unit that is in a file of its own, if there is one. */
static Dwarf_Die whole_unit(Dwarf_Die unit)
{
	Dwarf_Die split;
	u8 type = 0;

	if (dwarf_cu_info(unit.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
	    type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid)
		return split;
	return unit;
}

static void read_units(struct debug_info *info)
{
	Dwarf_Die *unit = NULL;

	info->has_units = true;
	while ((unit = dwfl_module_nextcu(info->module, unit, &info->bias))) {
		add_ranges(&info->ranges, unit, info->units.count);
		if (!vec_push(&info->units, (struct unit){ .die = whole_unit(*unit) }))
			return;
	}
	sort(&info->ranges);
}

static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		return true;
	default:
		return false;
	}
}

/* Those that are in a unit or in something that it holds: rustc puts each into its namespace, where dwarf_getscopes() does not
 * look. */
static void read_functions(ranges *functions, Dwarf_Die *in, u32 depth)
{
	Dwarf_Die die;

	if (depth == NESTED_MAX || dwarf_child(in, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram)
			add_ranges(functions, &die, 0);
		else if (holds_functions(tag))
			read_functions(functions, &die, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static struct unit *unit_at(struct debug_info *info, u64 place)
{
	if (!info->has_units)
		read_units(info);
	const struct range *range = range_at(&info->ranges, place);
	if (!range || range->unit >= info->units.count)
		return NULL;
	struct unit *unit = &info->units.at[range->unit];
	if (!unit->is_read) {
		read_functions(&unit->functions, &unit->die, 0);
		sort(&unit->functions);
	}
	unit->is_read = true;
	return unit;
}

/* ---- functions ----------------------------------------------------------------------------- */

static u64 number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &value);
	return value;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(
		dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	return name ? name : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

/* The file that a DIE names by its number. */
static const char *file_of(Dwarf_Die *unit, u64 number)
{
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

/* Where the instruction stands, in the innermost function. */
static void line_of(Dwarf_Die *unit, u64 place, struct debug_place *out)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, place);
	int number = 0;

	if (!line || dwarf_lineno(line, &number) != 0)
		return;
	out->line = number > 0 ? (u32)number : 0;
	out->path = dwarf_linesrc(line, NULL, NULL);
}

/* The function, and what is inlined in it there, in it in turn: the outermost first. How many. */
static u32 find_scopes(Dwarf_Die function, u64 place, Dwarf_Die scopes[DEBUG_PLACES_MAX])
{
	Dwarf_Die in = function, die;
	u32 count = 0;

	scopes[count++] = function;
	for (u32 depth = 0; depth < NESTED_MAX && count < DEBUG_PLACES_MAX; depth++) {
		bool found = false;
		if (dwarf_child(&in, &die) != 0)
			break;
		do {
			int tag = dwarf_tag(&die);
			found = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
				dwarf_haspc(&die, place) > 0;
		} while (!found && dwarf_siblingof(&die, &die) == 0);
		if (!found)
			break;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			scopes[count++] = die;
		in = die;
	}
	return count;
}

static u32 find_places(struct unit *unit, u64 place, struct debug_place *places)
{
	const struct range *function = range_at(&unit->functions, place);
	struct debug_place at = { 0 };
	Dwarf_Die scopes[DEBUG_PLACES_MAX];
	u32 count = function ? find_scopes(function->die, place, scopes) : 0;

	line_of(&unit->die, place, &at);
	for (u32 i = 0; i < count; i++) {
		Dwarf_Die *scope = &scopes[count - 1 - i];
		at.name = name_of(scope);
		at.first_line = (u32)number_of(scope, DW_AT_decl_line);
		at.is_inlined = i + 1 < count;
		places[i] = at;
		at = (struct debug_place){ .line = (u32)number_of(scope, DW_AT_call_line) };
		at.path = file_of(&unit->die, number_of(scope, DW_AT_call_file));
	}
	if (!count && at.line) /* and no function around it: assembler */
		places[count++] = at;
	return count;
}

/* ---- symbol tables, of which there may be more beside the file than in it ------------------- */

static bool is_function(const GElf_Sym *symbol, GElf_Word section)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return section != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* Where one ends at the latest whose size is not told, as a function of an assembler file may have none. */
static u64 reach_of(Elf *elf, GElf_Word section, const GElf_Sym *symbol)
{
	GElf_Shdr header;

	if (!gelf_getshdr(elf_getscn(elf, section), &header) || symbol->st_value < header.sh_addr ||
	    symbol->st_value - header.sh_addr >= header.sh_size)
		return SYMBOL_REACH_MAX;
	u64 left = header.sh_addr + header.sh_size - symbol->st_value;
	return left < SYMBOL_REACH_MAX ? left : SYMBOL_REACH_MAX;
}

/* Once, and sorted: libdw goes through all of them for each address (8 to 13 s for 6 s of clang). */
static struct symbols *read_symbols(const struct debug_info *info)
{
	struct symbols *symbols = symbols_new();
	int count = dwfl_module_getsymtab(info->module);
	GElf_Sym symbol;
	GElf_Addr start;
	GElf_Word section;
	Elf *elf;

	for (int i = 1; symbols && i < count; i++) {
		const char *name = dwfl_module_getsym_info(info->module, i, &symbol, &start,
							   &section, &elf, NULL);
		if (!name || !name[0] || !is_function(&symbol, section))
			continue;
		bool is_open = !symbol.st_size;
		u64 size = is_open ? reach_of(elf, section, &symbol) : symbol.st_size;
		if (!symbols_add(symbols, (struct symbol){ .name = name,
							   .start = start,
							   .end = start + size,
							   .is_open = is_open }))
			break;
	}
	if (symbols)
		symbols_settle(symbols);
	return symbols;
}

static const char *symbol_at(struct debug_info *info, u64 address)
{
	struct symbol symbol;

	if (!info->has_symbols)
		info->symbols = read_symbols(info);
	info->has_symbols = true;
	return info->symbols && symbols_find(info->symbols, address, &symbol) ? symbol.name : NULL;
}

/* ---- all of it ----------------------------------------------------------------------------- */

u32 debug_info_find(struct debug_info *info, u64 address,
		    struct debug_place places[DEBUG_PLACES_MAX])
{
	struct unit *unit = unit_at(info, address - info->bias);
	u32 count = unit ? find_places(unit, address - info->bias, places) : 0;
	const char *symbol = symbol_at(info, address);

	if (!count && symbol)
		places[count++] = (struct debug_place){ 0 };
	if (count && symbol)
		places[count - 1].name = symbol;
	return count;
}
