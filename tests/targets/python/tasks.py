# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0
"""tasks.py [COUNT] - asyncio tasks that wait in every kind of coroutine, and say where; or COUNT of one kind.

Facts: tasks: [{name, frames: [[path, line, label]], waiters: [name]}], leaf first; those that no other task
waits for by way of are leaves, and only these are there.  From 3.14 on Python itself tells who waits for whom
(asyncio.capture_call_graph); before, it is known by name.  Standard input closed ends it.
"""
import asyncio
import gc
import os
import sys

import truth

NAMED = sys.version_info >= (3, 8)
CHAINS = sys.version_info >= (3, 14)


def start(coroutine, name=None):
    if name and NAMED:
        return asyncio.get_event_loop().create_task(coroutine, name=name)
    return asyncio.get_event_loop().create_task(coroutine)


# ---- shapes: each waits for `gate` in its own way ----

class Awaitable(object):
    def __init__(self, gate):
        self.gate = gate

    def __await__(self):
        return (yield from self.gate)


class Manager(object):
    def __init__(self, gate):
        self.gate = gate

    async def __aenter__(self):
        await self.gate

    async def __aexit__(self, *_):
        pass


async def plain(gate):
    await gate


async def chain(gate, depth=5):
    if depth:
        return await chain(gate, depth - 1)
    await plain(gate)


async def awaitable(gate):
    await Awaitable(gate)


async def manager(gate):
    async with Manager(gate):
        pass


async def numbers(gate):
    yield 1
    await plain(gate)
    yield 2


async def generator(gate):
    async for _ in numbers(gate):
        pass


async def comprehension(gate):
    return [number async for number in numbers(gate)]


async def multi_line(gate):
    return max(
        1,
        (await
         plain(gate)) or 2,
        3)


async def timed(gate):
    await asyncio.wait_for(asyncio.shield(gate), 1000)


async def gathered(gate):
    await asyncio.gather(start(plain(gate), "first of two"), start(chain(gate, 1), "second of two"))


async def direct(gate):
    await start(start_named(gate), "inner")


async def start_named(gate):
    await plain(gate)


kept = set()


async def watched(gate):
    task = start(start_named(gate), "watched inner")
    kept.add(task)
    task.add_done_callback(lambda _: None)
    task.add_done_callback(kept.discard)
    await task


async def deep(gate):
    await chain(gate, 700)


async def group(gate):
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(plain(gate), name="in a group")
        tasks.create_task(chain(gate, 2), name=u"gr\u00fc\u00dfe")


AWAITED = {"first of two": "gathered", "second of two": "gathered", "inner": "direct", "watched inner": "watched", "in a group": "group",
           u"gr\u00fc\u00dfe": "group"}
SHAPES = [plain, chain, awaitable, manager, generator, comprehension, multi_line, timed, gathered, direct, watched,
          deep]
if hasattr(asyncio, "TaskGroup"):
    SHAPES.append(group)


# ---- what is so ----

def awaited(coroutine):
    for name in ("cr_await", "gi_yieldfrom", "ag_await"):
        if hasattr(coroutine, name):
            return getattr(coroutine, name)
    return None


def behind(thing):
    """The generator that an opaque awaitable runs, which Python does not show: found among what it refers to."""
    for other in gc.get_referents(thing):
        if hasattr(other, "ag_frame") or hasattr(other, "cr_frame"):
            return other
    return None


def frames_of(task):
    """Innermost first."""
    frames, thing = [], task.get_coro() if hasattr(task, "get_coro") else task._coro
    while thing is not None:
        frame = next((getattr(thing, name) for name in ("cr_frame", "gi_frame", "ag_frame") if hasattr(thing, name)),
                     None)
        if frame is None:
            thing = behind(thing)
            if thing is None:
                break
            continue
        frames.append([frame.f_code.co_filename, frame.f_lineno, truth.label_of(frame.f_code)])
        thing = awaited(thing)
    return frames[::-1]


def name_of(task):
    return task.get_name() if NAMED else "Task"


def waiters_of(task):
    """Names of the tasks that wait for it, the next one first."""
    if not CHAINS:
        return [name for name in (AWAITED.get(name_of(task)),) if name]
    names = []
    graph = asyncio.capture_call_graph(task)
    while graph and graph.awaited_by:
        graph = graph.awaited_by[0]
        if isinstance(graph.future, asyncio.Task):
            names.append(name_of(graph.future))
    return names


def facts():
    tasks = [task for task in asyncio.all_tasks() if not task.done()]
    told = [{"name": name_of(task), "frames": frames_of(task), "waiters": waiters_of(task)} for task in tasks]
    waiting = {name for one in told for name in one["waiters"]}
    if not NAMED:  # which of them wait for others cannot be told
        return [one for one in told if one["frames"][-1][2] not in ("gathered", "direct", "watched")]
    return [one for one in told if one["name"] not in waiting]


async def many(count, gate):
    for number in range(count):
        start(chain(gate, 1), "worker %d" % number)


async def main():
    loop = asyncio.get_event_loop()
    gate = loop.create_future()
    if len(sys.argv) > 1:
        await many(int(sys.argv[1]), gate)
    else:
        for shape in SHAPES:
            start(shape(gate), shape.__name__)
    ended = loop.create_future()
    loop.add_reader(0, lambda: ended.done() or ended.set_result(None))
    # No task runs when this is called, and each of them waits.
    loop.call_later(0.2, lambda: truth.ready({"tasks": facts()}))
    await ended
    truth.finish()
    os._exit(0)


asyncio.run(main())
