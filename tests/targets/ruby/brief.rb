# SPDX-License-Identifier: Apache-2.0
# brief.rb - by turns 20 ms of work here, and 20 ms in a child that lives for it
#
# At the end: spent_ns: {lasting_work}, by this thread's clock.
require_relative "truth"

def work
  begun = now = Truth.thread_cpu_ns
  while now < begun + 20_000_000
    i = 1_000
    i -= 1 while i > 0
    now = Truth.thread_cpu_ns
  end
  now - begun
end

def lasting_work
  work
end

def brief_work
  work
end

spent = 0
Truth.ready
until Truth.stop?
  spent += lasting_work
  child = fork do
    brief_work
    exit!(0)
  end
  Process.wait(child)
end
Truth.finish(spent_ns: { lasting_work: spent })
