# SPDX-License-Identifier: Apache-2.0
# both.rb LIBPYTHON - Ruby that runs Python in its own process, which spins by turns in the one and in the other.
#
# Facts: stacks: [[label, ...], ...], root first: each sample's is one of them or the outer part of one.
require "fiddle"
require_relative "truth"

PYTHON = <<~CODE
  def python_inner(n):
      while n:
          n -= 1

  def python_outer(n):
      python_inner(n)
CODE

library = Fiddle.dlopen(ARGV[0])
RUN = Fiddle::Function.new(library["PyRun_SimpleString"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_INT, need_gvl: true)
Fiddle::Function.new(library["Py_InitializeEx"], [Fiddle::TYPE_INT], Fiddle::TYPE_VOID).call(0)
RUN.call(PYTHON)

def ruby_inner(n)
  n -= 1 while n > 0
end

def calls_python
  RUN.call("python_outer(20000)")
end

def turn
  calls_python
  ruby_inner(20_000)
end

def run
  turn until Truth.stop?
end

# Fiddle makes a Pointer of the string, an Integer of that, and keeps errno for the thread.
CALL = ["<main>", "run", "turn", "calls_python", "call"].freeze
Truth.ready(stacks: [[*CALL, "<module>", "python_outer", "python_inner"], [*CALL, "last_error=", "[]="],
                     [*CALL, "last_error=", "current"], [*CALL, "[]"], [*CALL, "to_int"],
                     ["<main>", "run", "turn", "ruby_inner"]])
run
Truth.finish
