/* SPDX-License-Identifier: Apache-2.0
 * main.c - sonde begins here. Tests link everything else of cli/ and bring a main() of their own. */
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/dispatch.h"
#include "cli/signals.h"

int main(int argc, char **argv)
{
	signals_begin();
	columns_begin();
	return dispatch(&root_command, argc, argv);
}
