# SPDX-License-Identifier: Apache-2.0
# calls.rb - two threads that make system calls: z > y > x opens files and asks for pids, c > b > a writes.
#
# Facts: first, second: their tids; lines: of each method, those that a sample of it can be on; it returns on its `end`.
require_relative "truth"

def x
  20.times { Process.ppid }
  File.open("/dev/null") { |file| file.fileno }
end

def y
  x
end

def z
  y until Truth.stop?
end

def a
  20.times { $quiet.syswrite("") }
  Process.ppid
end

def b
  a
end

def c
  b until Truth.stop?
end

$quiet = File.open("/dev/null", "w")
tids = Queue.new
go = Queue.new
first = Thread.new { tids << [:first, Truth.tid]; go.pop; z }
second = Thread.new { tids << [:second, Truth.tid]; go.pop; c }
facts = [tids.pop, tids.pop].to_h
lines = { x: [8, 9, 10], y: [13, 14], z: [17, 18], a: [21, 22, 23], b: [26, 27], c: [30, 31] }
Truth.ready(facts.merge(lines: lines))
2.times { go << true }
[first, second].each(&:join)
Truth.finish
