/* SPDX-License-Identifier: Apache-2.0
 * loader.c OBJECT FUNCTION - loads an object file as compilers at run time do, tells debuggers of it (GDB manual, "JIT Compilation
 * Interface"), and calls the function of it all the time. A second copy comes after a while. */
#define _GNU_SOURCE
#include "truth.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define APART __attribute__((noinline))

enum { ROOM = 4096, ENOUGH = 20000 /* turns */ };

struct entry {
	struct entry *next, *previous;
	const char *object;
	uint64_t size;
};

static struct {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor __attribute__((used)) = { .version = 1 };

APART static void __jit_debug_register_code(void)
{
	__asm__ volatile("");
}

struct loaded {
	char *object;
	uint64_t size;
	Elf64_Shdr *sections;
	uint32_t count;
	const char *names;
};

static struct loaded read_object(const char *path)
{
	struct loaded out = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) != 0 || !(out.object = malloc((size_t)st.st_size)) ||
	    read(fd, out.object, (size_t)st.st_size) != st.st_size)
		exit(2);
	close(fd);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)out.object;
	out.size = (uint64_t)st.st_size;
	out.sections = (Elf64_Shdr *)(out.object + header->e_shoff);
	out.count = header->e_shnum;
	out.names = out.object + out.sections[header->e_shstrndx].sh_offset;
	return out;
}

/* Where they are loaded is what debuggers are told, in the copy. */
static void load_sections(struct loaded *loaded)
{
	char *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		exit(1);
	for (uint32_t i = 0; i < loaded->count; i++) {
		Elf64_Shdr *section = &loaded->sections[i];
		if (!(section->sh_flags & SHF_ALLOC) || section->sh_type == SHT_NOBITS ||
		    !section->sh_size)
			continue;
		memcpy(room, loaded->object + section->sh_offset, section->sh_size);
		section->sh_addr = (uintptr_t)room;
		room += (section->sh_size + 63) & ~63ull; /* sections share pages */
	}
}

/* Of .eh_frame against the code, and of code against other code, directly. */
static void relocate(const struct loaded *loaded)
{
	for (uint32_t i = 0; i < loaded->count; i++) {
		const Elf64_Shdr *section = &loaded->sections[i],
				 *to = &loaded->sections[section->sh_info];
		const Elf64_Rela *all = (const Elf64_Rela *)(loaded->object + section->sh_offset);
		const Elf64_Sym *symbols =
			(const Elf64_Sym *)(loaded->object +
					    loaded->sections[section->sh_link].sh_offset);
		for (uint64_t j = 0; section->sh_type == SHT_RELA && to->sh_addr &&
				     j < section->sh_size / sizeof *all;
		     j++) {
			const Elf64_Sym *symbol = &symbols[ELF64_R_SYM(all[j].r_info)];
			uint64_t at = to->sh_addr + all[j].r_offset;
			uint64_t value = loaded->sections[symbol->st_shndx].sh_addr +
					 symbol->st_value;
			uint64_t type = ELF64_R_TYPE(all[j].r_info);
			if (type != R_X86_64_PC32 && type != R_X86_64_PLT32)
				exit(3);
			*(uint32_t *)(uintptr_t)at = (uint32_t)(value + (uint64_t)all[j].r_addend -
								at);
		}
	}
}

static void *find(const struct loaded *loaded, const char *name)
{
	for (uint32_t i = 0; i < loaded->count; i++) {
		const Elf64_Shdr *section = &loaded->sections[i];
		const Elf64_Sym *symbols = (const Elf64_Sym *)(loaded->object + section->sh_offset);
		const char *names = loaded->object + loaded->sections[section->sh_link].sh_offset;
		for (uint64_t j = 0;
		     section->sh_type == SHT_SYMTAB && j < section->sh_size / sizeof *symbols; j++)
			if (!strcmp(names + symbols[j].st_name, name))
				return (void *)(uintptr_t)(loaded->sections[symbols[j].st_shndx]
								   .sh_addr +
							   symbols[j].st_value);
	}
	exit(4);
}

static uint64_t (*load(const char *path, const char *name))(uint64_t)
{
	static struct entry entries[2];
	static unsigned count;
	struct loaded loaded = read_object(path);
	struct entry *entry = &entries[count++ % 2];

	load_sections(&loaded);
	relocate(&loaded);
	*entry = (struct entry){ __jit_debug_descriptor.first, NULL, loaded.object, loaded.size };
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = entry;
	__jit_debug_descriptor.action = 1;
	__jit_debug_register_code();
	return (uint64_t(*)(uint64_t))(uintptr_t)find(&loaded, name);
}

APART static uint64_t work(uint64_t (*made)(uint64_t))
{
	uint64_t end = truth_ns(CLOCK_MONOTONIC) + 400000000ull, sum = 0;

	while (truth_ns(CLOCK_MONOTONIC) < end && !truth_stop)
		sum += made(ENOUGH);
	return sum;
}

int main(int argc, char **argv)
{
	volatile uint64_t sum = 0;

	if (argc < 3)
		return 2;
	uint64_t (*first)(uint64_t) = load(argv[1], argv[2]);
	truth_ready("");
	sum += work(first);
	uint64_t (*second)(uint64_t) = load(argv[1], argv[2]);
	while (!truth_stop)
		sum += work(second);
	printf("{\"sum\": %llu}\n", (unsigned long long)sum);
	return 0;
}
