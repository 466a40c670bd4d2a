# SPDX-License-Identifier: Apache-2.0
# orphans.rb COUNT MS - grandchildren of parents that exit at once, each in a method of its own name
# orphans.rb left NUMBER MS - one of them, as a program of its own
#
# Grandchild n spends MS milliseconds of its own CPU time in orphan_n (two forks, as a daemon is made) or
# twice as much in left_n (a shell's "command &": a Ruby that starts first).  One of each runs at a
# time; they hold a pipe open until they end, which is how the program knows.
require_relative "truth"
require "rbconfig"

def burning(name, number, milliseconds)
  eval("def #{name}_#{number}\n  i = 1\n" \
       "  i += 1 while i & 1023 != 0 || Truth.process_cpu_ns < #{milliseconds} * 1_000_000\nend",
       TOPLEVEL_BINDING, __FILE__, 1000 + 10 * number)
end

def double_fork(number, pipe)
  middle = fork do
    fork do
      send("orphan_#{number}")
      pipe.write("orphan_#{number} #{Process.pid}\n")
      exit!(0)
    end
    exit!(0)
  end
  Process.wait(middle)
end

def leave_with_shell(number, milliseconds, pipe)
  words = [RbConfig.ruby, "--disable-gems", File.expand_path(__FILE__), "left", number, milliseconds]
  system("#{words.join(" ")} &", out: pipe)
end

if ARGV[0] == "left"
  number = ARGV[1].to_i
  began = Truth.process_cpu_ns / 1_000_000
  burning("left", number, began + ARGV[2].to_i)
  send("left_#{number}")
  puts("left_#{number} #{Process.pid}")
  exit!(0)
end

COUNT, MS = ARGV.map(&:to_i)
COUNT.times { |number| burning("orphan", number, MS) }
Truth.ready(grandchildren: 2 * COUNT)
$stdin.read # begins when its input is closed
pids = {}
COUNT.times do |number|
  from, to = IO.pipe
  double_fork(number, to)
  leave_with_shell(number, 2 * MS, to)
  to.close
  from.read.lines { |line| pids[line.split[0]] = line.split[1].to_i }
end
Truth.finish(pids: pids)
