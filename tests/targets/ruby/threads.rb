# SPDX-License-Identifier: Apache-2.0
# threads.rb N - N threads that wake, work a little and sleep again: each changes all the time
require_relative "truth"

N = ARGV.fetch(0, "50").to_i

def works_a_little
  i = 0
  i += 1 while i < 2_000
end

def wakes_and_sleeps(seconds)
  until Truth.stop?
    works_a_little
    sleep(seconds)
  end
end

threads = Array.new(N) { |n| Thread.new { wakes_and_sleeps(0.005 + n * 0.0005) } }
Truth.ready(threads: N)
threads.each(&:join)
Truth.finish
