# SPDX-License-Identifier: Apache-2.0
"""modules.py LASTS_US - modules are imported again and again, and each works for LASTS_US while it is.

The code of a module runs once and dies.  Module K works in line 10 * K.  At the end: spent_ns: {K: ns}, by this thread's clock.
"""
import importlib
import os
import shutil
import sys
import tempfile

import truth

KINDS = 20

SOURCE = """import truth
begin = now = truth.thread_cpu_ns()
{0}while now < begin + {1}: now = truth.thread_cpu_ns()
spent = now - begin
"""


def write(directory, lasts_ns):
    for number in range(1, KINDS + 1):
        with open(os.path.join(directory, "module_%d.py" % number), "w") as out:
            out.write(SOURCE.format("\n" * (10 * number - 3), lasts_ns))
    sys.path.insert(0, directory)


def import_all(spent):
    for number in range(1, KINDS + 1):
        name = "module_%d" % number
        spent[number] += importlib.import_module(name).spent
        del sys.modules[name]


def main():
    directory = tempfile.mkdtemp()
    spent = dict.fromkeys(range(1, KINDS + 1), 0)
    write(directory, int(float(sys.argv[1]) * 1000))
    import_all(dict(spent))  # compiled from now on
    truth.ready()
    while not truth.stop[0]:
        import_all(spent)
    shutil.rmtree(directory)
    truth.finish({"spent_ns": spent})


main()
