# SPDX-License-Identifier: Apache-2.0
"""renamed.py US - code objects that differ in what they are called only, by strings that nobody has looked up yet.

Each lasts US of CPU time and gives way to the next, which lies where it lay: as code is that was pickled, or made by code.
Generation g is work_g -> inner_g in the file /made/up/g/by-the-end-of-its-path-it-is-one-file.py.
"""
import sys
import types

import truth


def work(limit):
    inner_now(limit)


def inner(limit):
    i = 0
    while clock() < limit:
        i += 1


def fresh(text):
    """A string that has no hash yet, and is not interned."""
    return "".join((text[:3], text[3:]))


def renamed(code, name, path):
    if hasattr(code, "replace"):
        names = {"co_name": fresh(name), "co_filename": fresh(path)}
        if hasattr(code, "co_qualname"):
            names["co_qualname"] = fresh(name)
        return code.replace(**names)
    counts = [code.co_argcount, code.co_nlocals, code.co_stacksize, code.co_flags]
    if hasattr(code, "co_kwonlyargcount"):
        counts.insert(1, code.co_kwonlyargcount)
    return types.CodeType(*(counts + [code.co_code, code.co_consts, code.co_names, code.co_varnames, fresh(path), fresh(name),
                                      code.co_firstlineno, code.co_lnotab, code.co_freevars, code.co_cellvars]))


def one(generation, lasts_ns):
    path = "/made/up/%06d/by-the-end-of-its-path-it-is-one-file.py" % generation
    space = {"clock": truth.thread_cpu_ns}
    space["inner_now"] = types.FunctionType(renamed(inner.__code__, "inner_%06d" % generation, path), space)
    types.FunctionType(renamed(work.__code__, "work_%06d" % generation, path), space)(truth.thread_cpu_ns() + lasts_ns)
    space.clear()


def main():
    generation, lasts_ns = 0, int(float(sys.argv[1]) * 1000)
    truth.ready()
    while not truth.stop[0]:
        generation += 1
        one(generation, lasts_ns)
    truth.finish({"generations": generation})


if __name__ == "__main__":
    main()
