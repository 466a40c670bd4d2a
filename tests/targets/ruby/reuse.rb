# SPDX-License-Identifier: Apache-2.0
# reuse.rb - a thread for each request, one after the other: Ruby gives them all one native thread
#
# Request n runs in method work_<n % 4>, under the thread name worker-<n % 4> that it gives itself when
# it has begun. What each method used is said at the end.
require_relative "truth"

KINDS = 4
SLICE_NS = 15_000_000

KINDS.times do |n|
  eval(<<~RUBY, TOPLEVEL_BINDING, __FILE__, 1000 + 10 * n)
    def work_#{n}(until_ns)
      nil while Truth.thread_cpu_ns < until_ns
    end
  RUBY
end

spent = Hash.new(0)
request = lambda do |n|
  Thread.current.name = "worker-#{n}"
  begin_ns = Truth.thread_cpu_ns
  send("work_#{n}", begin_ns + SLICE_NS * (n + 1))
  spent[n] += Truth.thread_cpu_ns - begin_ns
end

Truth.ready
served = 0
until Truth.stop?
  Thread.new { request.call(served % KINDS) }.join
  served += 1
  sleep 0.003
end
Truth.finish(spent_ns: spent, served: served)
