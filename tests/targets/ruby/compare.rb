# SPDX-License-Identifier: Apache-2.0
# compare.rb KIND EXTRA SECONDS - a program to be compared with itself, for about SECONDS of CPU time
#
# Its methods part0 to part16 work in random order, each in proportion to its share of 100; part0, which has 20,
# works EXTRA more.  KIND "steady": all of the time the same; "phases": for some
# 10 to 60 ms the first half of them does ten times as much, then the second.  At its end it says what a turn of each
# took: where memory happens to lie, one of them may be half as fast again, or slower, in one run of thirty.
require_relative "truth"

KIND = ARGV.fetch(0)
UNITS = [20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 2, 2, 1, 1, 1, 1].map(&:to_f)
UNITS[0] += ARGV.fetch(1).to_f
TURNS = 200 # of the loop, for a unit: some 10 us
RANDOM = Random.new

UNITS.each_index do |number|
  eval("def part#{number}(turns)\n  i = 0\n  i += 1 while i < turns\nend", binding, __FILE__, 100 + 10 * number)
end

def turns_in(phase)
  UNITS.each_with_index.map do |units, number|
    favoured = KIND == "phases" && (number < UNITS.size / 2) == (phase == 0)
    (units * TURNS * (favoured ? 10 : 1)).round
  end
end

TURNS_IN = [turns_in(0), turns_in(1)].freeze
METHODS = UNITS.each_index.map { |number| :"part#{number}" }.freeze

TOOK = METHODS.map { [] } # ns a turn, of each call

def work(turns)
  number = RANDOM.rand(METHODS.size)
  from = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  send(METHODS[number], turns[number])
  TOOK[number] << (Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - from).to_f / turns[number]
end

# By count and not by a clock: a thread that has to wait for its CPU does so in a system call, and on a busy
# machine that call is then what has changed.
CALLS_A_SECOND = 100_000 # of steady work, about
Truth.ready
calls = (ARGV.fetch(2).to_f * CALLS_A_SECOND).to_i
phase = RANDOM.rand(2)
while calls > 0
  now = [200 + RANDOM.rand(1000), calls].min
  now.times { work(TURNS_IN[phase]) }
  calls -= KIND == "phases" ? 5 * now : now
  phase = 1 - phase
end

turn_ns = TOOK.map { |each| each.sort[each.size / 2] || 0 }
Truth.finish(part: UNITS.zip(turn_ns).map { |units, ns| units * ns })
