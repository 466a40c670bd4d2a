# SPDX-License-Identifier: Apache-2.0
"""collecting.py - collects garbage for a known part of its time, among many objects."""
import gc

import truth

spent = {"works": 0, "collects": 0}


class Node(object):
    def __init__(self):
        self.me = self


kept = [Node() for _ in range(200000)]


def works():
    limit = truth.thread_cpu_ns() + 20000000
    while truth.thread_cpu_ns() < limit: pass


def collects():
    gc.collect()


def timed(function):
    begin = truth.thread_cpu_ns()
    function()
    spent[function.__name__] += truth.thread_cpu_ns() - begin


def main():
    gc.disable()
    gc.collect()
    truth.ready()
    while not truth.stop[0]:
        timed(works)
        timed(collects)
    truth.finish({"spent_ns": spent})


main()
