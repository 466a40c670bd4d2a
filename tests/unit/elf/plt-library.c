/* SPDX-License-Identifier: Apache-2.0
 * plt-library.c - functions that call each other by way of the linkage table, and one that does not. */
int plt_called(int n);
int plt_calls(int n);
int plt_unused(int n);

int plt_called(int n)
{
	return n * 3;
}

int plt_calls(int n)
{
	return plt_called(n) + 1;
}

int plt_unused(int n)
{
	return n - 1;
}
