# SPDX-License-Identifier: Apache-2.0
# gc.rb MS - methods that are made, used, thrown away and collected, while garbage piles up
#
# Generation g lives in work_g -> inner_g, in the file /made/up/gen-g.rb at lines that depend on g:
# a name kept for an address that was used again shows as a stack of two generations.
# Each generation lasts MS of CPU time, then GC.start (every third: GC.compact, where there is one).
#
#   work_g  line 10 * (g % 90) + 2      inner_g  lines 10 * (g % 90) + 6 .. + 8
require_relative "truth"

MS = ARGV.fetch(0, "5").to_i
COMPACT = GC.respond_to?(:compact)

def source(generation)
  <<~RUBY
    def work_#{generation}(limit)
      inner_#{generation}(limit)
    end

    def inner_#{generation}(limit)
      junk = nil
      junk = "garbage" * 3 while Truth.thread_cpu_ns < limit
      junk
    end
  RUBY
end

module Generations
  module_function

  def one(number)
    singleton = Class.new
    singleton.class_eval(source(number), "/made/up/gen-#{number}.rb", 10 * (number % 90) + 1)
    singleton.new.send("work_#{number}", Truth.thread_cpu_ns + MS * 1_000_000)
  end

  def run
    generation = 0
    until Truth.stop?
      one(generation += 1)
      generation % 3 == 0 && COMPACT ? GC.compact : GC.start
    end
    generation
  end
end

Truth.ready(ms: MS, compact: COMPACT)
last = Generations.run
Truth.finish(generations: last)
