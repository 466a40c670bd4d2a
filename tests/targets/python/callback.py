# SPDX-License-Identifier: Apache-2.0
# callback.py LIBRARY - Python and C by turns, five deep: python_a > c_call1 > python_b > c_back1 > python_c > ...
#
# Facts: as those of ../ruby/callback.rb.
import ctypes
import sys

import truth


def python_a():
    with_gil.c_call1(python_b)


def python_b():
    without_gil.c_back1(back_c)


def python_c(_):
    with_gil.c_call2(python_d)
    return 1


def python_d():
    without_gil.c_back2(back_e)


def python_e(_):
    for _ in range(2000): pass
    return 1


with_gil, without_gil = ctypes.PyDLL(sys.argv[1]), ctypes.CDLL(sys.argv[1])
for call in (with_gil.c_call1, with_gil.c_call2):
    call.argtypes, call.restype = [ctypes.py_object], ctypes.py_object
made = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
back_c, back_e = made(python_c), made(python_e)
truth.ready(dict(order=["python_a", "c_call1", "python_b", "c_back1", "python_c", "c_call2", "python_d", "c_back2", "python_e"]))
while not truth.stop[0]: python_a()
truth.finish({})
