// SPDX-License-Identifier: LGPL-2.1
#include "alg.h"

/**
 * srpol_mix() - hash a number
 * @x: number
 *
 * The finalizer of splitmix64. It maps different numbers to different results.
 */
uint64_t srpol_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/**
 * srpol_gcd() - greatest common divisor
 * @a: a number
 * @b: another number
 *
 * Return: the divisor; if one number is 0, the other one.
 */
uint64_t srpol_gcd(uint64_t a, uint64_t b)
{
	uint64_t t;

	while (b) {
		t = a % b;
		a = b;
		b = t;
	}
	return a;
}
