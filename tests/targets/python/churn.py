# SPDX-License-Identifier: Apache-2.0
"""churn.py AT_ONCE US - threads that live for US of CPU time each, AT_ONCE of them at a time.

The thread of number k runs outer_k -> inner_k, on top of what starts a thread: a stack that names two numbers, or one of
these without the other, never was.
"""
import sys
import threading

import truth

KINDS = 50

SOURCE = """
def inner_{0}(limit):
    i = 0
    while clock() < limit:
        i += 1


def outer_{0}(limit):
    inner_{0}(clock() + limit)
"""


def make():
    space = {"clock": truth.thread_cpu_ns}
    for number in range(KINDS):
        exec(SOURCE.format(number), space)
    return [space["outer_%d" % number] for number in range(KINDS)]


def main():
    at_once, lasts_ns = int(sys.argv[1]), int(float(sys.argv[2]) * 1000)
    kinds = make()
    started = 0
    truth.ready()
    while not truth.stop[0]:
        threads = []
        for _ in range(at_once):
            threads.append(threading.Thread(target=kinds[started % KINDS], args=(lasts_ns,)))
            started += 1
            threads[-1].start()
        for thread in threads:
            thread.join()
    truth.finish({"threads": started, "lasts_ns": lasts_ns})


if __name__ == "__main__":
    main()
