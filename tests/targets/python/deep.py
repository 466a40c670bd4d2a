# SPDX-License-Identifier: Apache-2.0
"""deep.py DEPTH [sleeps] - a thread that is DEPTH calls of down() deep, and a loop on top of them, or a long sleep."""
import sys
import threading
import time

import truth


sleeps = "sleeps" in sys.argv[2:]


def bottom():
    stop = truth.stop
    if sleeps: time.sleep(60)
    while not stop[0]: pass


def down(left):
    if left > 1:
        return down(left - 1)
    return bottom()


def main():
    depth = int(sys.argv[1])
    sys.setrecursionlimit(depth + 1000)
    threading.stack_size(512 << 20)  # up to 3.10 each call takes some of C's
    thread = threading.Thread(target=down, args=(depth,))
    thread.daemon = sleeps
    truth.ready()
    thread.start()
    while thread.is_alive() and not (sleeps and truth.stop[0]):
        thread.join(0.05)
    truth.finish()


if __name__ == "__main__":
    main()
