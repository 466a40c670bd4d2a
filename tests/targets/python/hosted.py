# SPDX-License-Identifier: Apache-2.0
# hosted.py LIBRARY - two threads of C that work in two interpreters by turns, twice as long in the first: ../native/host_python.c
#
# Facts: {tid: {function: CPU ns}} of the threads, at the end.
import ctypes
import os
import sys

import truth

TEXT = """
import time

def nap_%(name)s():
    time.sleep(0.002)

def spin_%(name)s():
    i = %(turns)d
    while i: i -= 1

def work():
    spin_%(name)s()
    nap_%(name)s()
"""

with_gil, without_gil = ctypes.PyDLL(sys.argv[1]), ctypes.CDLL(sys.argv[1])
texts = [(TEXT % dict(name=name, turns=turns)).encode() for name, turns in (("first", 40000), ("second", 20000))]
if with_gil.host_start((ctypes.c_char_p * 2)(*texts)):
    sys.exit("the interpreters did not start")
with_gil.host_spent_ns.restype = with_gil.host_tid.restype = ctypes.c_long
truth.ready()
truth.park()
without_gil.host_stop()
truth.finish({"spent_ns": {with_gil.host_tid(thread): {"first": with_gil.host_spent_ns(thread, 0), "second": with_gil.host_spent_ns(thread, 1)}
                           for thread in (0, 1)}})
os._exit(0)  # the interpreters' threads have not been taken down, which Python does not forgive
