# SPDX-License-Identifier: Apache-2.0
"""lanes.py - several jobs at a time, each in one of a few processes; outcomes in the order of the jobs."""
import multiprocessing
import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor

import interpreters

_FORK = multiprocessing.get_context("fork")
_inherited = []  # by the lanes: (jobs, work)


def _begin(numbers):
    interpreters.LANE = numbers.get()
    _end_at_once()


def _end_at_once():
    """Between jobs. A handler in Python would not be called while it waits for the next one."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _do(index):
    jobs, work = _inherited[-1]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # its `with` blocks end what it has started
    try:
        return work(jobs[index])
    except SystemExit:
        os._exit(1)
    finally:
        _end_at_once()


def outcomes(lanes, jobs, work):
    """Yields work(job) of each. Whoever ends this ends the lanes, and they what they have started."""
    if not jobs:
        return
    _inherited.append((jobs, work))
    numbers = _FORK.SimpleQueue()
    for number in range(lanes):
        numbers.put(number)
    with ProcessPoolExecutor(lanes, _FORK, _begin, (numbers,)) as pool:
        try:
            yield from pool.map(_do, range(len(jobs)))
        except BaseException:
            for lane in multiprocessing.active_children():
                lane.terminate()
            raise
