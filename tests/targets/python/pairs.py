# SPDX-License-Identifier: Apache-2.0
"""pairs.py - calls within calls whose variables are alike, and the next time others."""
import truth


def inner(number, depth=12):
    first = number
    if depth:
        inner(first, depth - 1)


def main():
    truth.ready()
    number = 1000
    while not truth.stop[0]:
        number += 1
        inner(number)
    truth.finish()


main()
