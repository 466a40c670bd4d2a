# SPDX-License-Identifier: Apache-2.0
# workers.rb - a server whose workers are there before anybody looks
#
# Two are forked by the server, one by a supervisor in between that only waits, and one is exec'd by that
# supervisor.  Worker n works in worker_n, a quarter of the time, until the server ends, however it ends.
# Before it says that it is there it has used (n + 1) * 100 ms.
require_relative "truth"

4.times do |n|
  eval("def worker_#{n}\n  i = 1\n  until_ns = Truth.process_cpu_ns + 2_000_000\n  i += 1 while i & 255 != 0 || Truth.process_cpu_ns < until_ns\nend",
       TOPLEVEL_BINDING, __FILE__, 1000 + 10 * n)
end

# `life` is readable when nobody holds its other end any more; `told` takes who we are.
def work(number, life, told)
  trap("TERM", "DEFAULT")
  send("worker_#{number}") until Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) > (number + 1) * 0.1
  told.syswrite("#{number} #{Process.pid}\n")
  told.close
  send("worker_#{number}") until IO.select([life], nil, nil, 0.006)
  exit!(0)
end

if ARGV[0] == "worker"
  number, life, told = ARGV[1..].map(&:to_i)
  work(number, IO.for_fd(life), IO.for_fd(told))
end

life, held = IO.pipe
told, tell = IO.pipe
forks = [0, 1].map { |n| fork { held.close; work(n, life, tell) } }
forks << fork do
  held.close
  exe = File.readlink("/proc/self/exe")
  exec_d = spawn(exe, "--disable-gems", __FILE__, "worker", "3", life.fileno.to_s, tell.fileno.to_s,
                 life => life, tell => tell)
  forked = fork { work(2, life, tell) }
  tell.close
  [exec_d, forked].each { |pid| Process.wait(pid) }
  exit!(0)
end
tell.close
life.close
pids = told.read.lines.to_h { |line| line.split.yield_self { |number, pid| ["worker_#{number}", pid.to_i] } }
Truth.ready(pids: pids)
Truth.park
held.close
forks.each { |pid| Process.wait(pid) }
Truth.finish
