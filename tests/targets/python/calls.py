# SPDX-License-Identifier: Apache-2.0
# calls.py - two threads that make system calls: z > y > x opens files and asks for pids, c > b > a writes.
#
# Facts: as those of ../ruby/calls.rb.
import os
import threading

import truth


def x():
    for _ in range(20): os.getppid()
    os.close(os.open("/dev/null", os.O_RDONLY))


def y():
    x()


def z():
    while not truth.stop[0]: y()


def a():
    for _ in range(20): os.write(quiet, b"x")
    os.getppid()


def b():
    a()


def c():
    while not truth.stop[0]: b()


def begin(name, work):
    tids[name] = truth.native_id()
    known[name].set()
    go.wait()
    work()


quiet = os.open("/dev/null", os.O_WRONLY)
tids, go = {}, threading.Event()
known = {"first": threading.Event(), "second": threading.Event()}
threads = [threading.Thread(target=begin, args=pair) for pair in (("first", z), ("second", c))]
for thread in threads: thread.start()
for event in known.values(): event.wait()
lines = {"x": [12, 13], "y": [17], "z": [21], "a": [25, 26], "b": [30], "c": [34]}
truth.ready(dict(tids, lines=lines))
go.set()
for thread in threads:
    while thread.is_alive(): thread.join(0.1)
truth.finish({})
