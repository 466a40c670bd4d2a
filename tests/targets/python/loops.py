# SPDX-License-Identifier: Apache-2.0
"""loops.py - three threads, each of which runs an asyncio loop with a task that waits, and says whose it is.

Facts: tids: {function in which a task waits: the tid of the thread of its loop}.
"""
import asyncio
import threading
import time

import truth

tids = {}


async def waits_in_first():
    await asyncio.sleep(3600)


async def waits_in_second():
    await asyncio.sleep(3600)


async def waits_in_main():
    await asyncio.sleep(3600)


async def waits(function):
    tids[function.__name__] = truth.native_id()
    await function()


def main():
    for function in (waits_in_first, waits_in_second):
        thread = threading.Thread(target=lambda function=function: asyncio.run(waits(function)))
        thread.daemon = True
        thread.start()
    while len(tids) < 2:
        time.sleep(0.001)
    tids["waits_in_main"] = truth.native_id()
    time.sleep(0.1)
    truth.ready({"tids": tids})
    asyncio.run(waits(waits_in_main))


main()
