# SPDX-License-Identifier: Apache-2.0
"""truth.py - how a target program says what is true of it.

    ready(facts)    the first line on stdout, JSON: "look at me now, and this is what is there"
    stop[0]         SIGTERM came (busy programs look)
    park()          waits for standard input to be closed (idle programs)
    finish(facts)   the last line on stdout, JSON: what was measured meanwhile
    Progress        work done so far, in a file that others read without asking
    work(progress)  does some

Runs on Python 2.7 and 3.6 to 3.15.
"""
from __future__ import division, print_function

import ctypes
import json
import os
import signal
import struct
import sys
import time

stop = [False]


def say(facts):
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def _on_term(_number, _frame):
    stop[0] = True


def ready(facts=None):
    signal.signal(signal.SIGTERM, _on_term)
    told = {"pid": os.getpid(), "version": list(sys.version_info[:3])}
    told.update(facts or {})
    say(told)


def park():
    sys.stdin.read()


def finish(facts=None):
    say(facts or {})


def native_id(_call=ctypes.CDLL(None).syscall):
    """The kernel's number of the calling thread."""
    return _call(186)


def label_of(code):
    """What sonde calls it."""
    return getattr(code, "co_qualname", code.co_name)


if hasattr(time, "thread_time_ns"):
    thread_cpu_ns = time.thread_time_ns
else:
    class _Timespec(ctypes.Structure):
        _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]

    _clock_gettime = ctypes.CDLL(None).clock_gettime

    def thread_cpu_ns():
        _time = _Timespec()  # one for all is another thread's: the call gives up the lock
        _clock_gettime(3, ctypes.byref(_time))
        return _time.seconds * 1000000000 + _time.nanoseconds


def now_ns():
    return int((time.monotonic() if hasattr(time, "monotonic") else time.time()) * 1e9)


class Progress(object):
    """Three 64-bit words at offset 0: work done, CPU ns of this thread, monotonic ns."""

    def __init__(self, path):
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        self.tick(0)

    def tick(self, done):
        os.lseek(self.file, 0, os.SEEK_SET)
        os.write(self.file, struct.pack("3q", done, thread_cpu_ns(), now_ns()))


def work(progress, turns):
    """Counts what it does until it is told to stop, so many turns of a loop at a time."""
    done = 0
    while not stop[0]:
        i = turns
        while i: i -= 1
        done += 1
        progress.tick(done)
    return done


# A tracer of earlier Pythons keeps what is deleted, and is not told of generators that end so.
TELLS_ENDS = sys.version_info >= (3, 11)


def stack_of(frame, until):
    """[label, line] of a frame and its callers, root first, from the first that is called `until`."""
    stack = []
    while frame:
        stack.append([label_of(frame.f_code), frame.f_lineno])
        if stack[-1][0] == until:
            return stack[::-1]
        frame = frame.f_back
    return None


def legal_in_child(turn, until):
    """Every stack of some turns of a function, as a tracer sees them in a forked child."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        seen = set()

        def trace(frame, _event, _arg):
            stack = stack_of(frame, until)
            if stack:
                seen.add(tuple(map(tuple, stack)))
            return trace

        sys.settrace(trace)
        turn()
        sys.settrace(None)
        with os.fdopen(writer, "w") as out:
            out.write(json.dumps(sorted(seen)))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        legal = json.loads(told.read())
    os.waitpid(child, 0)
    return legal
