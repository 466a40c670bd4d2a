/* SPDX-License-Identifier: Apache-2.0
 * profile.c - see profile.h.
 *
 * A thread is found by its life, another life by its name; a key whose row has changed since leads
 * nowhere.  A sample is one look-up: (thread, stack).  Paying is linear in the number of
 * distinct stacks that wait, not of samples: equal samples wait as one number. */
#include "profile/profile.h"

#include <stddef.h>
#include <string.h>

struct process_key {
	u64 start_time;
	u64 pid;
};

struct entry_key {
	u32 thread, stack;
};

static bool same_process(const void *owner, u32 item, const void *key)
{
	const struct profile_process *p = &((const struct profile *)owner)->processes.at[item];
	const struct process_key *wanted = key;

	return p->pid == wanted->pid && p->start_time == wanted->start_time;
}

static bool same_thread(const void *owner, u32 item, const void *key)
{
	return !memcmp(&((const struct profile *)owner)->thread_keys.at[item], key,
		       offsetof(struct profile_thread_key, row));
}

static bool same_entry(const void *owner, u32 item, const void *key)
{
	const struct profile_entry *e = &((const struct profile *)owner)->entries.at[item];
	const struct entry_key *wanted = key;

	return e->thread == wanted->thread && e->stack == wanted->stack;
}

/* Indexes the item that was just pushed and gives its number; takes it back when it cannot. */
static u32 keep(struct profile *profile, struct table *table, u64 hash, u32 *count, bool pushed)
{
	if (pushed && table_add(table, hash, *count - 1))
		return *count - 1;
	*count -= pushed;
	profile->bad = true;
	return PROFILE_NONE;
}

bool profile_init(struct profile *profile)
{
	*profile = (struct profile){ .mode = "cpu", .title = "", .command = "" };
	return names_init(&profile->names);
}

void profile_free(struct profile *profile)
{
	for (u32 i = 0; i < profile->threads.count; i++)
		vec_free(&profile->threads.at[i].unpaid);
	names_free(&profile->names);
	vec_free(&profile->processes);
	vec_free(&profile->threads);
	vec_free(&profile->thread_keys);
	vec_free(&profile->entries);
	vec_free(&profile->mappings);
	vec_free(&profile->parts);
	vec_free(&profile->sources);
	timeline_free(&profile->timeline);
	table_free(&profile->process_table);
	table_free(&profile->thread_table);
	table_free(&profile->entry_table);
	table_free(&profile->source_table);
	*profile = (struct profile){ 0 };
}

static bool is_named(const struct profile *profile, u32 string, const char *name)
{
	const struct name_string *text = &profile->names.strings.at[string];
	size_t length = strlen(name);

	return text->length == length && !memcmp(text->text, name, length);
}

/* Interns a name only when it is not the one that stands: this runs once a sample. */
static void rename_to(struct profile *profile, u32 *standing, const char *name)
{
	if (!*name || is_named(profile, *standing, name))
		return;
	u32 renamed = names_string(&profile->names, name, strlen(name));
	if (renamed)
		*standing = renamed;
}

u32 profile_process(struct profile *profile, u32 pid, u64 start_time, const char *comm)
{
	struct process_key key = { start_time, pid };
	u64 hash = table_hash(&key, sizeof key);
	u32 number = table_find(&profile->process_table, hash, same_process, profile, &key);

	if (number == TABLE_NONE) {
		struct profile_process process = { .pid = pid, .start_time = start_time };
		bool pushed = vec_push(&profile->processes, process);
		number = keep(profile, &profile->process_table, hash, &profile->processes.count,
			      pushed);
	}
	if (number != PROFILE_NONE)
		rename_to(profile, &profile->processes.at[number].name, comm ? comm : "");
	return number;
}

/* ---- threads ------------------------------------------------------------------------------ */

/* The row that a key led to last; whether it still does is the caller's to see. */
static u32 row_at(const struct profile *profile, const struct profile_thread_key *key)
{
	u64 hash = table_hash(key, offsetof(struct profile_thread_key, row));
	u32 found = table_find(&profile->thread_table, hash, same_thread, profile, key);

	return found == TABLE_NONE ? PROFILE_NONE : profile->thread_keys.at[found].row;
}

/* From now on the key leads to key->row. */
static void lead(struct profile *profile, const struct profile_thread_key *key)
{
	u64 hash = table_hash(key, offsetof(struct profile_thread_key, row));
	u32 found = table_find(&profile->thread_table, hash, same_thread, profile, key);

	if (found != TABLE_NONE) {
		profile->thread_keys.at[found].row = key->row;
		return;
	}
	bool pushed = vec_push(&profile->thread_keys, *key);
	keep(profile, &profile->thread_table, hash, &profile->thread_keys.count, pushed);
}

/* A name that two rows have leads to the one that had it first. */
static void name_thread(struct profile *profile, u32 row, u32 name)
{
	struct profile_thread *thread = &profile->threads.at[row];
	struct profile_thread_key key = { thread->process, thread->tid, THREAD_BY_NAME, name, row };
	u32 other = row_at(profile, &key);

	thread->name = name;
	if (other == PROFILE_NONE || profile->threads.at[other].name != name)
		lead(profile, &key);
}

/* The row that stands for this life. One of several that share a row leaves it when it gets another
 * name. */
static u32 row_of_life(struct profile *profile, const struct profile_thread_key *key,
		       const char *name)
{
	u32 row = row_at(profile, key);
	struct profile_thread *thread = row != PROFILE_NONE ? &profile->threads.at[row] : NULL;

	if (!thread || thread->life != key->value)
		return PROFILE_NONE;
	if (!*name || is_named(profile, thread->name, name))
		return row;
	if (thread->shared) {
		thread->life = PROFILE_NONE;
		return PROFILE_NONE;
	}
	u32 string = names_text(&profile->names, name);
	if (string)
		name_thread(profile, row, string);
	return row;
}

static u32 add_thread(struct profile *profile, u32 process, u32 tid, u32 life)
{
	struct profile_thread_key key = { process, tid, THREAD_LAST, 0, profile->threads.count };
	struct profile_thread thread = { .process = process, .tid = tid, .life = life };
	u32 last = row_at(profile, &key);

	thread.nth = last == PROFILE_NONE ? 0 : profile->threads.at[last].nth + 1;
	if (!vec_push(&profile->threads, thread)) {
		profile->bad = true;
		return PROFILE_NONE;
	}
	lead(profile, &key);
	return key.row;
}

/* Another life's: the row of the same name, or a new one. */
static u32 row_of_name(struct profile *profile, const struct profile_thread_key *life,
		       const char *name)
{
	u32 string = names_text(&profile->names, name);
	struct profile_thread_key key = { life->process, life->tid, THREAD_BY_NAME, string, 0 };
	struct profile_thread_key now = *life;

	now.row = row_at(profile, &key);
	if (now.row != PROFILE_NONE && profile->threads.at[now.row].name == string) {
		struct profile_thread *thread = &profile->threads.at[now.row];
		thread->shared |= thread->life != life->value;
		thread->life = life->value;
	} else {
		now.row = add_thread(profile, life->process, life->tid, life->value);
		if (now.row == PROFILE_NONE)
			return PROFILE_NONE;
		name_thread(profile, now.row, string);
	}
	lead(profile, &now);
	return now.row;
}

u32 profile_thread(struct profile *profile, u32 process, u32 tid, u32 life, const char *name)
{
	struct profile_thread_key key = { process, tid, THREAD_BY_LIFE, life, 0 };

	if (process >= profile->processes.count)
		return PROFILE_NONE;
	name = name ? name : "";
	u32 row = row_of_life(profile, &key, name);
	return row != PROFILE_NONE ? row : row_of_name(profile, &key, name);
}

/* ---- entries ------------------------------------------------------------------------------ */

static u32 find_or_add_entry(struct profile *profile, u32 thread, u32 stack)
{
	struct entry_key key = { thread, stack };
	u64 hash = table_hash(&key, sizeof key);
	u32 number = table_find(&profile->entry_table, hash, same_entry, profile, &key);

	if (number != TABLE_NONE)
		return number;
	struct profile_entry entry = { .thread = thread, .stack = stack };
	bool pushed = vec_push(&profile->entries, entry);
	return keep(profile, &profile->entry_table, hash, &profile->entries.count, pushed);
}

u32 profile_add(struct profile *profile, u32 thread, u32 stack, u64 weight, u16 flags)
{
	if (thread >= profile->threads.count)
		return PROFILE_NONE;
	u32 number = find_or_add_entry(profile, thread, stack);
	if (number == PROFILE_NONE)
		return PROFILE_NONE;
	struct profile_entry *entry = &profile->entries.at[number];
	struct profile_thread *owner = &profile->threads.at[thread];
	entry->count++;
	entry->count_squares++;
	if (!(flags & SAMPLE_UNPAID)) {
		entry->weight += weight;
		entry->weight_squares += (double)weight * (double)weight;
		return number;
	}
	if (!entry->unpaid && !vec_push(&owner->unpaid, number)) {
		profile->bad = true; /* it will not be paid: its share goes to the others */
		return number;
	}
	entry->unpaid++;
	owner->unpaid_samples++;
	return number;
}

void profile_add_more(struct profile *profile, u32 entry, u64 more)
{
	if (entry == PROFILE_NONE)
		return;
	profile->entries.at[entry].count += more;
	profile->entries.at[entry].count_squares += (double)more * (double)(more + 2);
}

u32 profile_add_counted(struct profile *profile, u32 thread, u32 stack, u64 count, u64 weight)
{
	if (thread >= profile->threads.count)
		return PROFILE_NONE;
	u32 number = find_or_add_entry(profile, thread, stack);
	if (number == PROFILE_NONE)
		return number;
	struct profile_entry *entry = &profile->entries.at[number];
	entry->count += count;
	entry->count_squares += (double)count;
	entry->weight += weight;
	entry->weight_squares += (double)weight * (double)weight / (double)(count ? count : 1);
	return number;
}

/* Each entry gets the difference of two rounded-down running sums, so the parts sum to the whole
 * and none is a nanosecond off its exact share. */
bool profile_share(struct profile *profile, u32 thread, u64 weight)
{
	if (thread >= profile->threads.count)
		return false;
	struct profile_thread *owner = &profile->threads.at[thread];
	if (!owner->unpaid_samples)
		return false;
	u64 samples = 0, paid = 0;
	double each = (double)weight / (double)owner->unpaid_samples;
	for (u32 i = 0; i < owner->unpaid.count; i++) {
		struct profile_entry *entry = &profile->entries.at[owner->unpaid.at[i]];
		samples += entry->unpaid;
		entry->weight_squares += (double)entry->unpaid * each * each;
		u64 due = (u64)((unsigned __int128)weight * samples / owner->unpaid_samples);
		entry->weight += due - paid;
		entry->unpaid = 0;
		paid = due;
	}
	vec_clear(&owner->unpaid);
	owner->unpaid_samples = 0;
	return true;
}

static bool same_source(const void *owner, u32 item, const void *key)
{
	return ((const struct profile *)owner)->sources.at[item].path == *(const u32 *)key;
}

void profile_add_source(struct profile *profile, u32 path, u32 text)
{
	struct profile_source source = { path, text };
	u64 hash = table_hash(&path, sizeof path);

	if (table_find(&profile->source_table, hash, same_source, profile, &path) != TABLE_NONE)
		return;
	bool pushed = vec_push(&profile->sources, source);
	keep(profile, &profile->source_table, hash, &profile->sources.count, pushed);
}

u64 profile_total_count(const struct profile *profile)
{
	u64 sum = 0;

	for (u32 i = 0; i < profile->entries.count; i++)
		sum += profile->entries.at[i].count;
	return sum;
}

u64 profile_total_weight(const struct profile *profile)
{
	u64 sum = 0;

	for (u32 i = 0; i < profile->entries.count; i++)
		sum += profile->entries.at[i].weight;
	return sum;
}
