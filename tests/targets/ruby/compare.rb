# SPDX-License-Identifier: Apache-2.0
# compare.rb KIND EXTRA SECONDS - a program to be compared with itself, for SECONDS of CPU time
#
# Its methods part0 to part16 work in random order, each in proportion to its share of 100; part0, which has 20,
# works EXTRA more.  KIND "steady": all of the time the same; "phases": for 50 to 300 ms
# of CPU time the first half of them does ten times as much, then the second.
require_relative "truth"

KIND = ARGV.fetch(0)
LIMIT_NS = (ARGV.fetch(2).to_f * 1_000_000_000).to_i
UNITS = [20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 2, 2, 1, 1, 1, 1].map(&:to_f)
UNITS[0] += ARGV.fetch(1).to_f
TURNS = 300 # of the loop, for a unit: some 10 us
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

# A clock is a system call, and what that costs is the machine's affair: it is seldom read.
def work(turns)
  50.times do
    number = RANDOM.rand(METHODS.size)
    send(METHODS[number], turns[number])
  end
end

Truth.ready
end_ns = Truth.thread_cpu_ns + LIMIT_NS
phase = RANDOM.rand(2)
while (now = Truth.thread_cpu_ns) < end_ns
  phase_end_ns = [now + 50_000_000 + RANDOM.rand(250_000_000), end_ns].min
  work(TURNS_IN[phase]) while Truth.thread_cpu_ns < phase_end_ns
  phase = 1 - phase
end
