# SPDX-License-Identifier: Apache-2.0
"""workers.py - a server whose workers are there before anybody looks.

Two are forked by the server, one by a supervisor in between that only waits, and one is exec'd by that
supervisor.  Worker n works in worker_n, a quarter of the time, until the server ends, however it ends.
Before it says that it is there it has used (n + 1) * 100 ms.
"""
import os
import select
import signal
import sys
import time

import truth

if hasattr(time, "process_time"):
    cpu_ns = lambda: int(time.process_time() * 1e9)
else:
    cpu_ns = lambda: int(time.clock() * 1e9)

for number in range(4):
    exec("""
def worker_%d():
    until = cpu_ns() + 2000000
    while cpu_ns() < until:
        i = 100
        while i: i -= 1
""" % number)


def work(number, life, told):
    """`life` is readable when nobody holds its other end any more; `told` takes who we are."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while cpu_ns() < (number + 1) * 100000000:
        globals()["worker_%d" % number]()
    os.write(told, ("%d %d\n" % (number, os.getpid())).encode())
    os.close(told)
    while not select.select([life], [], [], 0.006)[0]:
        globals()["worker_%d" % number]()
    os._exit(0)


def forked(begin):
    child = os.fork()
    if not child:
        begin()
        os._exit(0)
    return child


def supervise(life, told):
    for one in (life, told):
        if hasattr(os, "set_inheritable"):
            os.set_inheritable(one, True)
    words = [sys.executable, os.path.abspath(__file__), "worker", "3", str(life), str(told)]
    children = [forked(lambda: os.execv(sys.executable, words)), forked(lambda: work(2, life, told))]
    os.close(told)
    for child in children:
        os.waitpid(child, 0)


def main():
    life, held = os.pipe()
    reader, told = os.pipe()

    def child(begin):
        os.close(held)
        begin()

    children = [forked(lambda: child(lambda: work(0, life, told))), forked(lambda: child(lambda: work(1, life, told))),
                forked(lambda: child(lambda: supervise(life, told)))]
    os.close(told)
    os.close(life)
    with os.fdopen(reader) as lines:
        pids = {"worker_" + number: int(pid) for number, pid in (line.split() for line in lines)}
    truth.ready({"pids": pids})
    truth.park()
    os.close(held)
    for one in children:
        os.waitpid(one, 0)
    truth.finish()


if sys.argv[1:2] == ["worker"]:
    work(*map(int, sys.argv[2:]))
main()
