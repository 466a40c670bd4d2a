# SPDX-License-Identifier: Apache-2.0
"""idle.py THREADS PROGRESS - many threads that never run, and one that counts its work.

The idle ones wait for a lock inside idle_wait, the main thread works in truth.work.
"""
import os
import sys
import threading

import truth

lock = threading.Lock()
waiting = []


def idle_wait():
    waiting.append(1)
    lock.acquire()


def main():
    threads = int(sys.argv[1])
    progress = truth.Progress(sys.argv[2])
    lock.acquire()
    threading.stack_size(256 << 10)
    for _ in range(threads):
        thread = threading.Thread(target=idle_wait)
        thread.daemon = True
        thread.start()
    while len(waiting) < threads:
        pass
    truth.ready({"idle": threads})
    truth.finish({"done": truth.work(progress, 50000)})
    os._exit(0)


if __name__ == "__main__":
    main()
