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


def once(function):
    """A generator that calls it."""
    yield function()


def twice_removed(function):
    for value in once(function):
        yield value


COROUTINES = """
class Pause:
    def __await__(self):
        yield

async def pauses(function):
    await Pause()
    return function()

async def waits(function):
    return await pauses(function)
"""


def driven(coroutine):
    for _ in range(2):
        try:
            coroutine.send(None)
        except StopIteration:
            pass


def in_turns(function):
    if sys.version_info < (3, 5):
        return list(twice_removed(function))
    return driven(waits(function))  # noqa: F821


if sys.version_info >= (3, 5):
    exec(compile(COROUTINES, "worded-coroutines.py", "exec"), globals())

# Ways to call a function: by the interpreter's loop, by C, in a generator or a coroutine that either of them enters.
WAYS = (
    "{0}()",
    "list(map({0}, (0,)))",
    "in_turns({0})",
    "max((0,), key={0})",
    "list(once({0}))",
    "[value for value in once({0})]",
    "list(twice_removed({0}))",
    "{0}()",
)
CALLS = """
    if seed[0] & 1:
        {first}
    else:
        {second}
    say({n})
    spin(seed[0] & 31)
    {second}
    say({n})"""
FUNCTION = """
def f{n}(_=None):
    say({n})
    spin(seed[0] & 63){calls}
    seed[0] = (seed[0] * 1103515245 + 12345) & 0x7fffffff
"""


def call_of(n):
    return WAYS[n % len(WAYS)].format("f%d" % n)


for n in range(15):
    calls = CALLS.format(n=n, first=call_of(2 * n + 1), second=call_of(2 * n + 2)) if 2 * n + 2 < 15 else ""
    exec(compile(FUNCTION.format(n=n, calls=calls), "worded-tree.py", "exec"), globals())


def run():
    while not truth.stop[0]:
        f0()  # noqa: F821
        say(RUN)


LIBRARY.word_start()
truth.ready()
run()
truth.finish()
