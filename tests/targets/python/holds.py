# SPDX-License-Identifier: Apache-2.0
"""holds.py - a thread that sleeps in C with the GIL, beside one that wants it.

What is true of it is said by the thread that sleeps, just before it does.  SIGTERM ends it at once.
"""
import ctypes
import signal
import threading
import time

import truth

sleep_with_the_lock = ctypes.PyDLL(None).usleep
tids = {}


def wants():
    tids["wants"] = truth.native_id()
    while True:
        pass


def holds():
    while "wants" not in tids:
        time.sleep(0.01)
    tids["holds"] = truth.native_id()
    truth.say({"tids": tids})
    sleep_with_the_lock(60 * 10 ** 6)


for function in (wants, holds):
    thread = threading.Thread(target=function)
    thread.daemon = True
    thread.start()
signal.signal(signal.SIGTERM, signal.SIG_DFL)
while True:
    time.sleep(60)
