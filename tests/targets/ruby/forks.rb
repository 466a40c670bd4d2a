# SPDX-License-Identifier: Apache-2.0
# forks.rb CHILDREN MS AT_A_TIME - short-lived children, each in a method of its own name
#
# Child n spends MS milliseconds of its own CPU time in child_n and is gone.
require_relative "truth"

CHILDREN, MS, AT_A_TIME = ARGV.map(&:to_i)


CHILDREN.times do |n|
  eval("def child_#{n}\n  i = 1\n  i += 1 while i & 1023 != 0 || Truth.process_cpu_ns < #{MS} * 1_000_000\nend",
       TOPLEVEL_BINDING, __FILE__, 1000 + 10 * n)
end

def born(number)
  fork do
    send("child_#{number}")
    exit!(0)
  end
end

Truth.ready(children: CHILDREN)
$stdin.read # begins when its input is closed
running = []
pids = []
CHILDREN.times do |number|
  Process.wait(running.shift) if running.size >= AT_A_TIME
  running << born(number)
  pids << running.last
end
running.each { |pid| Process.wait(pid) }
Truth.finish(pids: pids)
