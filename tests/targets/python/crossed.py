# SPDX-License-Identifier: Apache-2.0
"""crossed.py - six threads that call the same two functions, each for functions of its own: NAME_0 is the first one's

Two run all the time, two now and then, two seldom: what the first do is a thousand times more often seen.
"""
import threading
import time

import truth

CALLS = (2000, 2000, 200, 200, 20, 20)
NAPS = (0, 0, 0.002, 0.002, 0.01, 0.05)
FUNCTIONS = """
def last_{n}(value):
    return value

def middle_{n}(value):
    return tight(last_{n}, value)

def first_{n}():
    while not truth.stop[0]:
        shared(CALLS[{n}], middle_{n})
        if NAPS[{n}]:
            time.sleep(NAPS[{n}])
"""


def shared(count, function):
    i = 0
    while i < count:
        i += function(1)


def tight(function, value):
    return function(value)


for n in range(len(CALLS)):
    exec(compile(FUNCTIONS.format(n=n), __file__, "exec"))
threads = [threading.Thread(target=globals()["first_%d" % n]) for n in range(len(CALLS))]
for thread in threads:
    thread.start()
truth.ready()
while not truth.stop[0]:  # only here are signals heard
    time.sleep(0.01)
for thread in threads:
    thread.join()
truth.finish()
