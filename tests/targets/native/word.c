/* SPDX-License-Identifier: Apache-2.0
 * word.c - word.h as a library, for programs in other languages. */
#include "word.h"

void word_start(void)
{
	word_begin();
}

void word_set(int number)
{
	word_say(number);
}
