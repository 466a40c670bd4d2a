# SPDX-License-Identifier: Apache-2.0
# deep.rb DEPTH busy|parked - recursion, and nothing in front of it or behind it
#
# <main>, DEPTH times down(), then bottom(). Wants RUBY_THREAD_VM_STACK_SIZE=33554432.
require_relative "truth"

DEPTH = ARGV.fetch(0).to_i
BUSY = ARGV.fetch(1) == "busy"

def bottom
  Truth.ready(depth: DEPTH, line: __LINE__ + 4)
  return Truth.park unless BUSY

  i = 0
  i += 1 until $stop
end

def down(left)
  left > 1 ? down(left - 1) : bottom
end

Thread.new { $stdin.read; $stop = true } if BUSY
down(DEPTH)
Truth.finish
