# SPDX-License-Identifier: Apache-2.0
# exec.rb before MS COMMAND... | after MS - one pid, two Rubies
#
# Spends MS of CPU before it is ready, and MS in before_exec, then becomes COMMAND (another Ruby with this file and "after").
require_relative "truth"

def spin(milliseconds)
  limit = Truth.thread_cpu_ns + milliseconds * 1_000_000
  i = 1
  i += 1 while i & 1023 != 0 || Truth.thread_cpu_ns < limit
end

def before_exec(milliseconds, command)
  spin(milliseconds)
  exec(*command)
end

def after_exec(milliseconds)
  spin(milliseconds)
end

part, milliseconds, *command = ARGV
if part == "before"
  spin(milliseconds.to_i)
  Truth.ready
  $stdin.read # begins when its input is closed
  before_exec(milliseconds.to_i, command)
else
  Truth.say(pid: Process.pid, version: RUBY_VERSION)
  after_exec(milliseconds.to_i)
  Truth.finish(done: true)
end
