# SPDX-License-Identifier: Apache-2.0
"""several.py idle COUNT | names [threading] | turns - a program that has more than one interpreter.

    idle   the main thread works, and COUNT interpreters were made and run nothing
    names  threads of names work, one of them in another interpreter, which has imported threading or not
    turns  the main thread works in one interpreter and, called from there, in another

Facts of turns, at the end: CPU ns in each. Says "none" where there is no module for it.
"""
import sys
import threading
import time

import truth

try:
    import _interpreters as interpreters
    run_in = getattr(interpreters, "exec")  # a keyword of 2.7, which has neither module
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
        run_in = interpreters.run_string
    except ImportError:
        interpreters = None

IN_ANOTHER = """
%s
def works_inside():
    while True:
        i = 20000
        while i: i -= 1
works_inside()
"""
IN_TURN = """
import time
def spin_inside():
    i = 20000
    while i: i -= 1
limit = time.thread_time_ns() + %d
while time.thread_time_ns() < limit:
    spin_inside()
"""
TURN_NS = 150000000
tids = {}


def spin():
    i = 20000
    while i: i -= 1


def works():
    tids[truth.native_id()] = threading.current_thread().name
    while not truth.stop[0]:
        spin()
        time.sleep(0.005)


def works_in_another(interpreter, first):
    tids[truth.native_id()] = threading.current_thread().name
    run_in(interpreter, IN_ANOTHER % first)


def idle(count):
    kept = [interpreters.create() for _ in range(count)]
    truth.ready({"idle": len(kept)})
    while not truth.stop[0]:
        spin()


def names(first):
    inside = interpreters.create()
    threads = [threading.Thread(target=works, name="my-worker"),
               threading.Thread(target=works_in_another, name="my-runner", args=(inside, first))]
    for thread in threads:
        thread.daemon = True
        thread.start()
    while len(tids) < len(threads):
        time.sleep(0.001)
    time.sleep(0.3)  # its imports
    truth.ready({"names": sorted(tids.items())})
    while not truth.stop[0]:
        spin()
        time.sleep(0.005)
    sys.stdout.flush()


def turns():
    inside = interpreters.create()
    spent = {"spin": 0, "spin_inside": 0}
    truth.ready({"turn_ns": TURN_NS})
    while not truth.stop[0]:
        begun = truth.thread_cpu_ns()
        while truth.thread_cpu_ns() < begun + TURN_NS:
            spin()
        called = truth.thread_cpu_ns()
        run_in(inside, IN_TURN % TURN_NS)
        spent["spin"] += called - begun
        spent["spin_inside"] += truth.thread_cpu_ns() - called
    truth.finish({"spent_ns": spent})


def main():
    if not interpreters:
        truth.ready({"none": True})
    elif sys.argv[1] == "idle":
        idle(int(sys.argv[2]))
    elif sys.argv[1] == "turns":
        turns()
    else:
        names("import threading" if sys.argv[2:] else "")


if __name__ == "__main__":
    main()
