# SPDX-License-Identifier: Apache-2.0
# pool.rb THREADS - by turns 2 ms of CPU time in the first thread, and 2 ms in one of many that are there all the time
#
# At the end: spent_ns: {lasting, brief}, by the clocks of the threads.
require_relative "truth"

def work
  begun = Truth.thread_cpu_ns
  nil while Truth.thread_cpu_ns < begun + 2_000_000
  Truth.thread_cpu_ns - begun
end

done = Queue.new
turns = Array.new(ARGV.fetch(0).to_i) { Queue.new }
turns.each { |turn| Thread.new { loop { turn.pop; done << work } } }
spent = { lasting: 0, brief: 0 }
Truth.ready
turns.cycle do |turn|
  break if Truth.stop?

  spent[:lasting] += work
  turn << true
  spent[:brief] += done.pop
end
Truth.finish(spent_ns: spent)
