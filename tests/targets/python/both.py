# SPDX-License-Identifier: Apache-2.0
"""both.py LIBRUBY - Python that runs Ruby in its own process, which spins by turns in the one and in the other.

Facts: stacks: [[label, ...], ...], root first: each sample's is one of them or the outer part of one.
"""
import ctypes
import sys

import truth

RUBY = b"""
def ruby_inner(n)
  n -= 1 while n > 0
end
def ruby_outer(n)
  ruby_inner(n)
end
"""

ruby = ctypes.PyDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
ruby.rb_eval_string.restype = ctypes.c_void_p


def python_inner(n):
    while n:
        n -= 1


def calls_ruby():
    ruby.rb_eval_string(b"ruby_outer(20_000)")


def turn():
    calls_ruby()
    python_inner(20000)


def main():
    ruby.ruby_setup()
    ruby.rb_eval_string(RUBY)
    truth.ready({"stacks": [["<module>", "main", "turn", "calls_ruby", "<main>", "ruby_outer", "ruby_inner"],
                            ["<module>", "main", "turn", "python_inner"]]})
    while not truth.stop[0]:
        turn()
    truth.finish()


main()
