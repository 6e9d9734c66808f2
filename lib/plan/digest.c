// SPDX-License-Identifier: LGPL-2.1
#include <sodium.h>

#include "plan.h"

#define DIGEST_BYTES	((SRPOL_DIGEST_LEN - 1) / 2)

/**
 * srpol_digest() - BLAKE2b-256 of a text, in hexadecimal
 * @data: text
 * @len: length of @data in bytes
 * @digest: result
 */
void srpol_digest(const void *data, size_t len, char digest[SRPOL_DIGEST_LEN])
{
	unsigned char hash[DIGEST_BYTES];

	crypto_generichash(hash, sizeof(hash), data, len, NULL, 0);
	sodium_bin2hex(digest, SRPOL_DIGEST_LEN, hash, sizeof(hash));
}
