# SPDX-License-Identifier: Apache-2.0
"""worded.py LIBWORD - says in a word which of its functions it is in: see tests/targets/native/word.h."""
import ctypes
import sys

import truth

LIBRARY = ctypes.PyDLL(sys.argv[1])  # it keeps the GIL
say = LIBRARY.word_set
RUN = 15
seed = [1]


def spin(left):
    while left > 0:
        left -= 1


CALLS = """
    f{first}() if seed[0] & 1 else f{second}()
    say({n})
    spin(seed[0] & 31)
    f{second}()
    say({n})"""
FUNCTION = """
def f{n}():
    say({n})
    spin(seed[0] & 63){calls}
    seed[0] = (seed[0] * 1103515245 + 12345) & 0x7fffffff
"""
for n in range(15):
    calls = CALLS.format(n=n, first=2 * n + 1, second=2 * n + 2) if 2 * n + 2 < 15 else ""
    exec(compile(FUNCTION.format(n=n, calls=calls), "worded-tree.py", "exec"), globals())


def run():
    while not truth.stop[0]:
        f0()  # noqa: F821
        say(RUN)


LIBRARY.word_start()
truth.ready()
run()
truth.finish()
