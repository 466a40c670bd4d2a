# SPDX-License-Identifier: Apache-2.0
"""lanes.py - several jobs at a time, each in one of a few processes; outcomes in the order of the jobs."""
import multiprocessing

import interpreters

_FORK = multiprocessing.get_context("fork")
_inherited = []  # by the lanes: (jobs, work)


def _begin(numbers):
    interpreters.LANE = numbers.get()


def _do(index):
    jobs, work = _inherited[-1]
    return work(jobs[index])


def outcomes(lanes, jobs, work):
    """Yields work(job) of each. Whoever ends this ends the lanes, and they what they have started."""
    if not jobs:
        return
    _inherited.append((jobs, work))
    numbers = _FORK.SimpleQueue()
    for number in range(lanes):
        numbers.put(number)
    with _FORK.Pool(lanes, _begin, (numbers,)) as pool:
        yield from pool.imap(_do, range(len(jobs)))
