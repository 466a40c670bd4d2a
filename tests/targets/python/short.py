# SPDX-License-Identifier: Apache-2.0
"""short.py MS - works for so long of its CPU time, and ends: for those who start many."""
import sys
import time

clock = getattr(time, "process_time", None) or time.clock  # 2.7


def short_work(until):
    while clock() < until:
        i = 0
        while i < 1000:
            i += 1


short_work(clock() + float(sys.argv[1]) / 1000)
