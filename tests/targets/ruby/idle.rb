# SPDX-License-Identifier: Apache-2.0
# idle.rb THREADS PROGRESS - many threads that never run, and one that counts its work
#
# The idle ones wait in a queue inside idle_wait, the main thread works in busy_work. The file PROGRESS
# holds the work done so far: its slope with and without a profiler is the answer.
require_relative "truth"

QUEUE = Queue.new

def idle_wait
  QUEUE.pop
end

def busy_work(progress)
  done = 0
  until Truth.stop?
    i = 0
    i += 1 while i < 50_000
    progress.tick(done += 1)
  end
  done
end

progress = Truth::Progress.new(ARGV.fetch(1))
threads = Array.new(ARGV.fetch(0).to_i) { Thread.new { idle_wait } }
sleep 0.01 until threads.all?(&:stop?)
Truth.ready(tid: Truth.tid, idle: threads.size)
Truth.finish(done: busy_work(progress))
