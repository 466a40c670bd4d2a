# SPDX-License-Identifier: Apache-2.0
"""frames.py DEPTH PROGRESS - a busy loop under exactly DEPTH frames, and no other.

<module>, DEPTH - 2 times level(), then truth.work().  The work is counted in the file PROGRESS.
"""
import sys

import truth


def level(left, progress):
    return level(left - 1, progress) if left else truth.work(progress, 100000)


progress = truth.Progress(sys.argv[2])
truth.ready()
truth.finish({"done": level(int(sys.argv[1]) - 3, progress)})
