# SPDX-License-Identifier: Apache-2.0
"""early.py CHILDREN MS - forks before anything else; child n spends MS milliseconds of CPU time in early_n."""
import os
import sys
import time

clock = getattr(time, "process_time", None) or time.clock  # 2.7

SOURCE = """
def early_{0}(ms):
    end = clock() + ms / 1000.0
    while clock() < end:
        for _ in range(1000): pass
"""

functions = {"clock": clock}
pids = []
for number in range(int(sys.argv[1])):
    exec(SOURCE.format(number), functions)
    pids.append(os.fork())
    if not pids[-1]:
        functions["early_%d" % number](int(sys.argv[2]))
        os._exit(0)
for pid in pids:
    os.waitpid(pid, 0)
