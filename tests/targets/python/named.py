# SPDX-License-Identifier: Apache-2.0
"""named.py - threads with names of many kinds, each of which works a little again and again, and says its tid."""
import threading
import time

import truth

UNUSUAL = u"semi;colon \u00e9\u4e16 (7)\nline"
if str is bytes:  # Python 2
    UNUSUAL = UNUSUAL.encode("utf-8")
tids = {}


class WithMore(threading.Thread):
    """Has strings in front of what Thread.__init__ sets, and a name that is set later."""

    def __init__(self, name):
        self.label = "not-the-name"
        self.first = {"name": "nor-this"}
        threading.Thread.__init__(self, target=works)
        self.last = "nor-this-one"
        self.name = name


def works():
    tids[truth.native_id()] = threading.current_thread().name
    while not truth.stop[0]:
        limit = truth.thread_cpu_ns() + 5000000
        while truth.thread_cpu_ns() < limit:
            pass
        time.sleep(0.01)


def works_a_while():
    limit = truth.thread_cpu_ns() + 60000000
    while truth.thread_cpu_ns() < limit:
        pass


def main():
    threads = [threading.Thread(target=works), threading.Thread(target=works, name=UNUSUAL),
               threading.Thread(target=works, name="long" * 60), WithMore("with-more")]
    for thread in threads:
        thread.daemon = True
        thread.start()
    while len(tids) < len(threads):
        time.sleep(0.001)
    truth.ready({"names": sorted(tids.items())})
    late = 0
    while not truth.stop[0]:  # and some that begin later, and end
        late += 1
        thread = threading.Thread(target=works_a_while, name="late-%d" % late)
        thread.start()
        thread.join()
        works_a_while()
    truth.finish()


if __name__ == "__main__":
    main()
