# SPDX-License-Identifier: Apache-2.0
"""cpu.py - threads that use a CPU each in its own way, and one that sleeps.

    pure     Python all the time            napper   some ms of Python, some ms of sleep
    hasher   C code without the GIL         sleeper  never runs
"""
import hashlib
import threading
import time

import truth

BLOCK = bytes(bytearray(1 << 20))


def pure():
    while not truth.stop[0]:
        i = 1000
        while i: i -= 1


def napper():
    while not truth.stop[0]:
        until = truth.thread_cpu_ns() + 2000000
        while truth.thread_cpu_ns() < until: pass
        time.sleep(0.004)


def hasher():
    while not truth.stop[0]:
        hashlib.sha256(BLOCK).digest()


def sleeper():
    while not truth.stop[0]:
        time.sleep(0.5)


def main():
    tids = {}

    def run(work):
        tids[work.__name__] = truth.native_id()
        work()

    threads = [threading.Thread(target=run, args=(work,)) for work in (pure, napper, hasher, sleeper)]
    for thread in threads:
        thread.start()
    while len(tids) < len(threads):
        time.sleep(0.001)
    truth.ready({"tids": tids})
    for thread in threads:
        while thread.is_alive():
            thread.join(0.05)
    truth.finish()


if __name__ == "__main__":
    main()
