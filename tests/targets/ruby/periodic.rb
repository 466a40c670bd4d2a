# SPDX-License-Identifier: Apache-2.0
# periodic.rb PERIOD_MS wall|cpu - two functions that take turns exactly, for ever
#
# even_half and odd_half have half of each period, on a grid that never drifts: what a profiler
# with a round rate gets totally wrong.  Says at the end how much CPU time each had.
require_relative "truth"

PERIOD_NS = (ARGV.fetch(0).to_f * 1_000_000).to_i
CLOCK = ARGV.fetch(1, "wall") == "cpu" ? Process::CLOCK_THREAD_CPUTIME_ID : Process::CLOCK_MONOTONIC

def even_half(limit)
  nil while Process.clock_gettime(CLOCK, :nanosecond) < limit
end

def odd_half(limit)
  nil while Process.clock_gettime(CLOCK, :nanosecond) < limit
end

def take_turns
  spent = [0, 0]
  limit = Process.clock_gettime(CLOCK, :nanosecond)
  last = Truth.thread_cpu_ns
  until Truth.stop?
    even_half(limit += PERIOD_NS / 2)
    now = Truth.thread_cpu_ns
    spent[0] += now - last
    odd_half(limit += PERIOD_NS / 2)
    last = Truth.thread_cpu_ns
    spent[1] += last - now
  end
  spent
end

Truth.ready(period_ns: PERIOD_NS)
even, odd = take_turns
Truth.finish(spent_ns: { even_half: even, odd_half: odd })
