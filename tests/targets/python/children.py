# SPDX-License-Identifier: Apache-2.0
"""children.py METHOD CHILDREN MS AT_ONCE - short-lived children of multiprocessing, each in a function of its own.

Child n spends MS milliseconds of CPU time in child_n and is gone.  METHOD: fork, spawn or forkserver.
"""
import multiprocessing
import sys

import truth

SOURCE = """
def child_{0}(ms):
    i, end = 1, clock() + ms * 1000000
    while i & 255 or clock() < end:
        i += 1
"""

# At import: a child that is spawned imports this, too.
functions = {"clock": truth.thread_cpu_ns}
for _number in range(200):
    exec(SOURCE.format(_number), functions)


def born(number, ms):
    functions["child_%d" % number](ms)


def main():
    method, count, ms, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    if hasattr(multiprocessing, "get_context"):
        multiprocessing.set_start_method(method)
    truth.ready()
    sys.stdin.read()  # begins when its input is closed
    running, pids = [], []
    for number in range(count):
        if len(running) >= at_once:
            running.pop(0).join()
        child = multiprocessing.Process(target=born, args=(number, ms))
        child.start()
        running.append(child)
        pids.append(child.pid)
    for child in running:
        child.join()
    truth.finish({"pids": pids})


if __name__ == "__main__":
    main()
