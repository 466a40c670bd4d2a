# SPDX-License-Identifier: Apache-2.0
# torn.rb tight | twin SLICE_US - the call graph that tears in the hands of a careless reader
#
#   run -> foo -> bar -> { baz -> map -> block -> pred,  bob }
#
# tight: nothing but calls.  `legal`: every stack that exists, with lines.
# twin:  the same graph with work in each method, SLICE_US long in the mean, that reads its thread's
#        CPU clock at every change of method: the program knows the share of each frame.
require_relative "legal"
require_relative "truth"

ONE = [1].freeze

module Tight
  module_function

  def bob
    ONE
  end

  def baz
    ONE.map { |x| x.pred }
  end

  def bar
    baz
    bob
  end

  def foo
    bar
  end

  RUN_LINE = __LINE__ + 2
  def run
    foo until Truth.stop?
  end
end

# A method's frame stands while it calls the clock, too.  So each change of method is read on both sides,
# by the caller and by the callee, and what lies between the two readings is halved: only the difference
# between the end of one call of the clock and the beginning of the next is charged wrongly.
module Twin
  STATES = %w[foo bar baz block bob].freeze
  WEIGHT = { "foo" => 0.10, "bar" => 0.15, "baz" => 0.20, "block" => 0.30, "bob" => 0.25 }.freeze
  FOO, BAR, BAZ, BLOCK, BOB = 0, 1, 2, 3, 4
  SPENT = Array.new(5, 0)
  CLOCK = "now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)"

  # These three are texts and not methods: a call would be one more frame.
  def self.leaves(state)
    "#{CLOCK}; SPENT[#{state}] += now - $last; $last = now"
  end

  def self.crosses(from, to)
    "#{CLOCK}; half = (now - $last) / 2; SPENT[#{from}] += half; SPENT[#{to}] += half; $last = now"
  end

  def self.works(count)
    "i = 0; i += 1 while i < $count_#{count}"
  end

  module_eval <<~RUBY, __FILE__, 1000
    def self.bob
      #{crosses(BAR, BOB)}
      #{works("bob")}
      #{leaves(BOB)}
    end

    def self.baz
      #{crosses(BAR, BAZ)}
      #{works("baz")}
      #{leaves(BAZ)}
      ONE.map do
        #{crosses(BAZ, BLOCK)}
        #{works("block")}
        #{leaves(BLOCK)}
      end
      #{crosses(BLOCK, BAZ)}
      #{works("baz")}
      #{leaves(BAZ)}
    end

    def self.bar
      #{crosses(FOO, BAR)}
      #{works("bar")}
      #{leaves(BAR)}
      baz
      #{crosses(BAZ, BAR)}
      #{works("bar")}
      #{leaves(BAR)}
      bob
      #{crosses(BOB, BAR)}
      #{leaves(BAR)}
    end

    def self.foo
      #{works("foo")}
      #{leaves(FOO)}
      bar
      #{crosses(BAR, FOO)}
      #{works("foo")}
      #{leaves(FOO)}
    end
  RUBY

  module_function

  def spin(count)
    i = 0
    i += 1 while i < count
  end

  # Turns of the loop for each state: half a share where a method works twice in a round.
  def calibrate(slice_us)
    spin(300_000)
    before = Truth.thread_cpu_ns
    spin(300_000)
    per_us = 300_000_000.0 / (Truth.thread_cpu_ns - before)
    STATES.map { |state| (per_us * slice_us * 5 * WEIGHT[state] / 2).ceil }
  end

  COUNTS = %w[$count_foo $count_bar $count_baz $count_block $count_bob].freeze

  # By now the methods are compiled, where there is a JIT, and several times faster than when they began: at
  # their 30th call, if not before.
  def measured(slice_us)
    $last = Truth.thread_cpu_ns
    50.times { foo }
    SPENT.fill(0)
    20.times { foo }
    STATES.each_index.map { |state| slice_us * 5_000 * WEIGHT[STATES[state]] * 20 / [SPENT[state], 1].max }
  end

  def prepare(slice_us)
    $count_foo, $count_bar, $count_baz, block, bob = calibrate(slice_us)
    $count_block, $count_bob = block * 2, bob * 2
    COUNTS.zip(measured(slice_us)) { |count, by| eval("#{count} = (#{count} * #{by}).ceil") }
    SPENT.fill(0)
  end

  def run
    $last = Truth.thread_cpu_ns
    foo until Truth.stop?
  end

  def truth
    STATES.zip(SPENT).to_h
  end
end

case ARGV[0]
when "tight"
  root = [["<main>", __LINE__ + 2], ["run", Tight::RUN_LINE]]
  Truth.ready(root: root, legal: Legal.in_child(:foo) { Tight.foo })
  Tight.run
  Truth.finish
when "twin"
  Twin.prepare(ARGV.fetch(1, "20").to_f)
  Truth.ready(states: Twin::STATES)
  Twin.run
  Truth.finish(spent_ns: Twin.truth)
else
  abort "torn.rb tight | twin SLICE_US"
end
