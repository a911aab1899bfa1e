#include "support/vectors.h"

#include "core/hash.h"

static void digest_of_known_texts(void **state)
{
	struct hash h;
	hash_of("abc", 3, &h);
	char *hex = hash_hex(&h);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	free(hex);
}

static void digest_in_pieces(void **state)
{
	struct hasher one;
	struct hash pieces, whole;
	char text[1000];
	memset(text, 'x', sizeof text);
	hash_begin(&one);
	for (size_t at = 0, n = 1; at < sizeof text; at += n, n = n * 3 % 97 + 1)
		hash_update(&one, text + at, at + n > sizeof text ? sizeof text - at : n);
	hash_end(&one, &pieces);
	hash_of(text, sizeof text, &whole);
	assert_true(hash_eq(&pieces, &whole));
}

static void text_forms_of_the_vectors(void **state)
{
	vectors_or_skip("nix/hashes.tsv");
	struct vectors v = vectors_load("nix/hashes.tsv");
	size_t seen = 0;
	for (size_t i = 0; i < v.count; i++) {
		const struct vectors_cell *c = v.rows[i].cells;
		struct hash h, parsed;
		if (strcmp(c[0].data, "sha256") != 0)
			continue;
		seen++;
		hash_of(c[1].data, c[1].len, &h);
		void (*const forms[])(const struct hash *, struct buf *) = { hash_base16, hash_base32, NULL, hash_sri };
		for (int k = 0; k < 4; k++) {
			_cleanup_buf_ struct buf out = BUF_INIT;
			if (forms[k])
				forms[k](&h, &out);
			else
				enc_base64(h.bytes, HASH_SIZE, &out);
			assert_string_equal(out.data, c[2 + k].data);
			assert_int_equal(hash_parse(slice_of(out.data), &parsed, NULL), 0);
			assert_true(hash_eq(&h, &parsed));
		}
	}
	assert_int_equal(seen, 3);
	vectors_free(&v);
}

static void decoders_of_the_vectors(void **state)
{
	vectors_or_skip("nix/encodings.tsv");
	struct vectors v = vectors_load("nix/encodings.tsv");
	size_t seen = 0;
	for (size_t i = 0; i < v.count; i++) {
		const struct vectors_cell *c = v.rows[i].cells;
		struct slice input = { c[1].data ? c[1].data : "", c[1].len };
		_cleanup_buf_ struct buf out = BUF_INIT, hex = BUF_INIT;
		struct hash h;
		int rc;
		if (strcmp(c[0].data, "base64") == 0) {
			rc = dec_base64(input, &out, NULL);
		} else if (strcmp(c[0].data, "sha256 base16") == 0 || strcmp(c[0].data, "sri") == 0) {
			rc = hash_parse(input, &h, NULL);
			buf_add(&out, h.bytes, HASH_SIZE);
		} else if (strcmp(c[0].data, "sha256 nix32") == 0) {
			rc = input.n == 52 ? hash_parse(input, &h, NULL) : -1;
		} else {
			continue;
		}
		seen++;
		if (strcmp(c[3].data, "nix-accepts") == 0)
			continue; /* lax in Nix; forge refuses what it would not write */
		assert_int_equal(rc, strcmp(c[3].data, "accept") == 0 ? 0 : -1);
		if (rc == 0) {
			enc_base16(out.data, out.len, &hex);
			assert_string_equal(hex.data ? hex.data : "", c[2].data ? c[2].data : "");
		}
	}
	assert_true(seen >= 12);
	vectors_free(&v);
}

static void encodings_round_trip_every_length(void **state)
{
	uint8_t bytes[70];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 37 + 11);
	for (size_t n = 0; n <= sizeof bytes; n++) {
		_cleanup_buf_ struct buf text = BUF_INIT, back = BUF_INIT;
		enc_base32(bytes, n, &text);
		assert_int_equal(dec_base32((struct slice){ text.data, text.len }, &back, NULL), 0);
		assert_int_equal(back.len, n);
		assert_memory_equal(back.data ? back.data : "", bytes, n);
		buf_clear(&text);
		buf_clear(&back);
		enc_base64(bytes, n, &text);
		assert_int_equal(dec_base64((struct slice){ text.data, text.len }, &back, NULL), 0);
		assert_int_equal(back.len, n);
	}
}

static void malformed_text_is_refused(void **state)
{
	static const char *const bad[] = { "", "sha256:", "sha256-", "abc", "md5:d41d8cd98f00b204e9800998ecf8427e",
		"e000000000000000000000000000000000000000000000000000", /* "e" is no base-32 digit of Nix */
		"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", /* more bits than 32 bytes hold */
		"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1=" }; /* bits set that no byte has */
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct hash h;
		assert_int_equal(hash_parse(slice_of(bad[i]), &h, &err), -1);
		assert_int_equal(err.code, ERR_INPUT);
		assert_non_null(strstr(err.msg, "is not a SHA-256 hash"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digest_of_known_texts), cmocka_unit_test(digest_in_pieces),
		cmocka_unit_test(text_forms_of_the_vectors), cmocka_unit_test(decoders_of_the_vectors),
		cmocka_unit_test(encodings_round_trip_every_length), cmocka_unit_test(malformed_text_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
