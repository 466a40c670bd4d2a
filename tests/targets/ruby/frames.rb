# SPDX-License-Identifier: Apache-2.0
# frames.rb DEPTH PROGRESS - a busy loop under exactly DEPTH frames, and no other
#
# <main>, DEPTH - 2 times level(), then work().  The work is counted in the file PROGRESS.
require_relative "truth"

DEPTH = ARGV.fetch(0).to_i
PROGRESS = Truth::Progress.new(ARGV.fetch(1))

def work
  done = 0
  until Truth.stop?
    i = 0
    i += 1 while i < 200_000
    PROGRESS.tick(done += 1)
  end
  done
end

def level(left)
  left.zero? ? work : level(left - 1)
end

Truth.ready(depth: DEPTH, tid: Truth.tid)
Truth.finish(done: level(DEPTH - 3))
