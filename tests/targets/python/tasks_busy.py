# SPDX-License-Identifier: Apache-2.0
"""tasks_busy.py - two asyncio tasks that take turns, three parts of the CPU to one, and time themselves.

Facts: stacks: {task: [label, ...]}, root first, of each sample in spin(), with the task that waits for it.  The last line says what each task used: spent_ns.
"""
import asyncio
import sys

import truth

NAMED = sys.version_info >= (3, 8)
spent = {"three": 0, "one": 0}


def spin(name, turns):
    began = truth.thread_cpu_ns()
    while turns:
        turns -= 1
    spent[name] += truth.thread_cpu_ns() - began


async def inner(name, turns):
    spin(name, turns)
    await asyncio.sleep(0)


async def outer(name, turns):
    while not truth.stop[0]:
        await inner(name, turns)


def start(name, turns):
    coroutine = outer(name, turns)
    loop = asyncio.get_event_loop()
    return loop.create_task(coroutine, name=name) if NAMED else loop.create_task(coroutine)


async def main():
    tasks = [start("three", 30000), start("one", 10000)]
    above = ["Task-1" if NAMED else "Task", "main"]
    truth.ready({"stacks": {name: above + [name if NAMED else "Task", "outer", "inner", "spin"] for name in spent}})
    await asyncio.gather(*tasks)
    truth.finish({"spent_ns": spent})


asyncio.run(main())
