# SPDX-License-Identifier: Apache-2.0
"""tasks_early.py MS - asyncio from the first instant: a task works for so long of its CPU time, and the program ends."""
import asyncio
import sys
import time


def early_work(until):
    while time.process_time() < until:
        for _ in range(1000): pass


async def early_inner(seconds):
    early_work(time.process_time() + seconds)


async def early_task(seconds):
    await early_inner(seconds)


asyncio.run(early_task(float(sys.argv[1]) / 1000))
