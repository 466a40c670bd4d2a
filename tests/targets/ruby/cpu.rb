# SPDX-License-Identifier: Apache-2.0
# cpu.rb THREADS SECONDS - THREADS that work for SECONDS of CPU time in all, and one that sleeps
#
# Half of the workers hold the GVL, half are in zlib without it (one alone: with it). Prints what
# the process and each thread used.  sleeps() never works: its weight must be 0.
require_relative "truth"
require "zlib"

THREADS = ARGV.fetch(0).to_i
EACH_NS = (ARGV.fetch(1).to_f / THREADS * 1_000_000_000).to_i
RANDOM = Random.new(1)
BLOCK = Array.new(1 << 17) { RANDOM.rand(16) }.pack("C*")

def works_with_lock(limit)
  i = 1
  i += 1 while i & 1023 != 0 || Truth.thread_cpu_ns < limit
end

def works_without_lock(limit)
  Zlib::Deflate.deflate(BLOCK, 6) while Truth.thread_cpu_ns < limit
end

def sleeps
  sleep
end

sleeper = Thread.new do
  Thread.current.name = "sleeper"
  sleeps
end
sleep 0.01 until sleeper.stop? # it works until it sleeps
Truth.ready(threads: THREADS)
workers = Array.new(THREADS) do |n|
  Thread.new do
    n.odd? ? works_without_lock(EACH_NS) : works_with_lock(EACH_NS)
    { tid: Truth.tid, cpu_ns: Truth.thread_cpu_ns }
  end
end
facts = workers.map(&:value)
Truth.finish(threads: facts, process_cpu_ns: Truth.process_cpu_ns)
exit! # else the sleeper is woken to end, and works for that
