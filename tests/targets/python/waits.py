# SPDX-License-Identifier: Apache-2.0
"""waits.py SECONDS - threads that wait in wait_here from the program's first instant on, while its main thread sleeps."""
import sys
import threading
import time

never = threading.Event()


def wait_here():
    never.wait()


for number in range(3):
    thread = threading.Thread(target=wait_here, name="waiter-%d" % number)
    thread.daemon = True
    thread.start()
time.sleep(float(sys.argv[1]))
