# SPDX-License-Identifier: Apache-2.0
"""awaiting.py - coroutines, asynchronous generators, iterators and managers, driven by turns by a loop of their own, from lines that
call one thing each.

A turn of torn.py; Python 2 cannot read it.
"""
import types

ONE = [1]


def leaf():
    return ONE


@types.coroutine
def pause():
    leaf()
    yield ONE
    leaf()


class Ready:
    def __await__(self):
        leaf()
        yield ONE
        return leaf()


class Manager:
    async def __aenter__(self):
        await pause()
        return self

    async def __aexit__(self, *why):
        leaf()
        await pause()
        return True


class Each:
    def __init__(self, count):
        self.count = count

    def __aiter__(self):
        leaf()
        return self

    async def __anext__(self):
        if not self.count:
            raise StopAsyncIteration
        self.count -= 1
        await pause()
        return leaf()


async def numbers(count):
    try:
        while count:
            count -= 1
            await pause()
            yield count
    finally:
        leaf()


async def squares(source):
    async for number in source:
        leaf()
        yield number


async def nothing():
    return ONE


async def inner(depth):
    if depth:
        return await inner(depth - 1)
    await pause()
    return leaf()


async def failing():
    await pause()
    raise KeyError


async def catches():
    try:
        await failing()
    except KeyError:
        leaf()
    finally:
        await pause()


async def manages():
    async with Manager():
        await nothing()
        raise KeyError


async def iterates():
    async for one in Each(2):
        leaf()
    async for one in squares(numbers(2)):
        leaf()


async def breaks():
    source = numbers(3)
    async for one in source:
        leaf()
        break
    await source.aclose()


async def sends():
    source = numbers(3)
    await source.__anext__()
    await source.asend(None)
    try:
        await source.athrow(KeyError())
    except KeyError:
        leaf()


async def comprehends():
    return [one async for one in squares(numbers(2))]


async def readies():
    return await Ready()


async def short():
    await nothing()
    await nothing()


def plain():
    yield from pause()
    leaf()


def delegates():
    yield from plain()
    leaf()


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        leaf()


def by_turns(coroutines):
    while coroutines:
        coroutine = coroutines.pop(0)
        try:
            coroutine.send(None)
        except StopIteration:
            continue
        coroutines.append(coroutine)


def abandons():
    coroutine = readies()
    coroutine.send(None)
    coroutine.close()


def throws():
    coroutine = readies()
    coroutine.send(None)
    try:
        coroutine.throw(ValueError())
    except ValueError:
        leaf()
    except StopIteration:
        leaf()
    return ONE


def awaiting():
    drive(inner(4))
    drive(catches())
    drive(manages())
    drive(iterates())
    drive(breaks())
    drive(sends())
    drive(comprehends())
    drive(readies())
    drive(short())
    drive(delegates())
    by_turns([inner(2), catches(), iterates(), delegates(), readies()])
    by_turns([inner(3), inner(3), inner(3)])
    abandons()
    throws()
