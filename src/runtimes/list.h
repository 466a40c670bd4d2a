/* SPDX-License-Identifier: Apache-2.0
 * list.h - the runtimes, one line each; the order is the order of frame kinds. */
R(toy)
R(ruby)
R(python)
