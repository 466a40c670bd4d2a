# SPDX-License-Identifier: Apache-2.0
"""brief.py - by turns 20 ms of work here, and 20 ms in a child that lives for it.

At the end: spent_ns: {lasting_work}, by this thread's clock.
"""
import os

import truth


def work():
    begin = now = truth.thread_cpu_ns()
    while now < begin + 20000000:
        i = 1000
        while i: i -= 1
        now = truth.thread_cpu_ns()
    return now - begin


def lasting_work():
    return work()


def brief_work():
    return work()


def wait(child):
    while True:
        try:
            return os.waitpid(child, 0)
        except OSError:  # 2.7: SIGTERM came
            pass


def main():
    spent = 0
    truth.ready()
    while not truth.stop[0]:
        spent += lasting_work()
        child = os.fork()
        if not child:
            brief_work()
            os._exit(0)
        wait(child)
    truth.finish({"spent_ns": {"lasting_work": spent}})


main()
