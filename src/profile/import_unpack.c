/* SPDX-License-Identifier: Apache-2.0
 * import_unpack.c - see import_unpack.h. */
#include "profile/import_unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	BYTES_MOST = 512 << 20,
	UNPACKED_FREE = 128 << 20, /* whatever the file's size: folded stacks of a deep recursion */
	/* Profiles pack 4 to 20 to 1, the most repetitive tried 160 to 1; deflate can do 1032 to 1. */
	RATIO_MOST = 300,
	GZIP_WINDOW = 15 + 16,
};

struct unpacked {
	u8 *bytes;
	size_t size;
};

static bool is_gzip(struct in *in)
{
	return in_fill(in, 2) >= 2 && in_bytes(in)[0] == 0x1f && in_bytes(in)[1] == 0x8b;
}

static size_t allowed(size_t packed)
{
	size_t most = packed > BYTES_MOST / RATIO_MOST ? BYTES_MOST : packed * RATIO_MOST;

	return most + UNPACKED_FREE < BYTES_MOST ? most + UNPACKED_FREE : BYTES_MOST;
}

/* Room for more, twice as much; false: what is allowed is used up, or memory is. */
static bool grow(struct unpacked *out, size_t *room, size_t most, struct err *err)
{
	size_t next = *room ? *room * 2 : 1 << 16;

	if (*room >= most)
		return err_set(
			err, ERR_BAD_DATA,
			"its gzip data unpacks to more than %zu MiB, which no profile of this size does",
			most >> 20);
	next = next < most ? next : most;
	u8 *grown = realloc(out->bytes, next);
	if (!grown)
		return err_no_memory(err);
	out->bytes = grown;
	*room = next;
	return true;
}

/* One gzip member after the other, as gzip itself does; zeros behind the last are padding. */
static bool inflate_all(z_stream *stream, size_t packed, struct unpacked *out, struct err *err)
{
	size_t room = 0, most = allowed(packed);

	while (true) {
		if (out->size == room && !grow(out, &room, most, err))
			return false;
		stream->next_out = out->bytes + out->size;
		stream->avail_out = (uInt)(room - out->size);
		int status = inflate(stream, Z_NO_FLUSH);
		out->size = room - stream->avail_out;
		if (status == Z_STREAM_END) {
			if (stream->avail_in < 2 || stream->next_in[0] != 0x1f)
				return true;
			if (inflateReset(stream) != Z_OK)
				return err_no_memory(err);
		} else if (status == Z_MEM_ERROR) {
			return err_no_memory(err);
		} else if (status == Z_BUF_ERROR ||
			   (status == Z_OK && !stream->avail_in && stream->avail_out)) {
			return err_set(err, ERR_BAD_DATA,
				       "its gzip data is cut off after %zu bytes of profile",
				       out->size);
		} else if (status != Z_OK) {
			return err_set(err, ERR_BAD_DATA, "its gzip data is damaged: %s",
				       stream->msg ? stream->msg : "not deflate");
		}
	}
}

bool import_read_all(struct in *in, size_t *size, struct err *err)
{
	*size = in_fill(in, BYTES_MOST + 1);
	if (in->errnum)
		return err_sys(err, in->errnum, "reading");
	return *size <= BYTES_MOST ||
	       err_set(err, ERR_BAD_DATA, "it is larger than %d MiB", BYTES_MOST >> 20);
}

bool import_unpack(struct in *in, struct err *err)
{
	struct unpacked out = { 0 };
	size_t size;

	if (!is_gzip(in))
		return true;
	if (!import_read_all(in, &size, err))
		return false;
	z_stream stream = { .next_in = (Bytef *)in_bytes(in), .avail_in = (uInt)size };
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return err_no_memory(err);
	bool good = inflate_all(&stream, size, &out, err);
	inflateEnd(&stream);
	if (!good) {
		free(out.bytes);
		return false;
	}
	in_close(in);
	in_take_memory(in, out.bytes, out.size);
	return true;
}
