# SPDX-License-Identifier: Apache-2.0
"""frames.py DEPTH PROGRESS - a busy loop under exactly DEPTH frames, and no other.

<module>, DEPTH - 2 times level(), then work().  The work is counted in the file PROGRESS.
"""
import sys

import truth


def work(progress):
    done = 0
    stop = truth.stop
    while not stop[0]:
        i = 100000
        while i: i -= 1
        done += 1
        progress.tick(done)
    return done


def level(left, progress):
    return level(left - 1, progress) if left else work(progress)


progress = truth.Progress(sys.argv[2])
truth.ready()
truth.finish({"done": level(int(sys.argv[1]) - 3, progress)})
