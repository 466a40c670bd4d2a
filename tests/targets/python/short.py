# SPDX-License-Identifier: Apache-2.0
"""short.py MS - works for so long of its CPU time, and ends: for those who start many."""
import os
import sys


def cpu_ms():
    times = os.times()
    return 1000 * (times[0] + times[1])


def short_work(until_ms):
    while cpu_ms() < until_ms:
        i = 0
        while i < 1000:
            i += 1


short_work(cpu_ms() + float(sys.argv[1]))
