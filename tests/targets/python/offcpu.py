# SPDX-License-Identifier: Apache-2.0
# offcpu.py - threads that sleep, wait for a lock, wait for bytes and sleep for good, beside two that compute.
#
# Facts: as those of ../ruby/offcpu.rb.
import os
import threading
import time

import truth

off_ns = dict(naps=0, takes=0, reads=0)
now_ns = getattr(time, "monotonic_ns", None) or (lambda: int(time.time() * 1e9))


# How long this thread has wanted to run and had no CPU.
def waited_ns():
    with open("/proc/thread-self/schedstat") as file: return int(file.read().split()[1])


def off(name, what):
    wall, cpu = now_ns(), truth.thread_cpu_ns()
    what()
    off_ns[name] += (now_ns() - wall) - (truth.thread_cpu_ns() - cpu)


def naps():
    off("naps", lambda: time.sleep(0.03))


def takes():
    with lock: pass


# The rest is not measured: a loop of locking alone would measure its own clocks.
def locks():
    off("takes", takes)
    time.sleep(0.004)


def reads():
    off("reads", lambda: os.read(reader, 1))


def forever():
    os.read(stop_reader, 1)


def spins():
    for _ in range(10000): pass


# Holds the lock, and writes: what the others wait for.
def feeds():
    with lock: time.sleep(0.02)
    os.write(writer, b"x")
    time.sleep(0.01)


def run(name, work):
    known.append((name, truth.native_id()))
    if name == "forever":
        work()
    waited = waited_ns()
    while not truth.stop[0] and name != "forever": work()
    name = "takes" if name == "locks" else name
    if name in off_ns: off_ns[name] -= waited_ns() - waited


lock = threading.Lock()
reader, writer = os.pipe()
stop_reader, stop_writer = os.pipe()
known = []
works = [("naps", naps), ("locks", locks), ("reads", reads), ("feeds", feeds), ("spins", spins), ("spins", spins),
         ("forever", forever)]
threads = [threading.Thread(target=run, args=work) for work in works]
for thread in threads: thread.start()
while len(known) < len(threads): time.sleep(0.001)
tids = {}
for name, tid in known: tids.setdefault(name, []).append(tid)
truth.ready(dict(tids=tids))
while not truth.stop[0]: time.sleep(0.01)
os.write(writer, b"x" * 10)
os.write(stop_writer, b"x")
for thread in threads: thread.join()
truth.finish(dict(off_ns=off_ns))
