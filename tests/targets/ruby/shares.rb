# SPDX-License-Identifier: Apache-2.0
# shares.rb - three threads that share the GVL 50 : 30 : 20, and one in zlib without it
#
# The three pass a token, so that their shares are set by the program and not by the
# scheduler: half() works 5 units, third() 3, fifth() 2.  deflates() compresses large blocks, which
# zlib does without the GVL.  Each thread says its tid and, at the end, its own CPU time, and how much of
# it was spent inside of its method: passing the token costs, too.
require_relative "truth"
require "zlib"

UNIT = ARGV.fetch(0, "40000").to_i # loop turns: 1 to 2 ms, far more than a handover

def spin(units)
  i = 0
  i += 1 while i < units * UNIT
end

def half(units)
  spin(units)
end

def third(units)
  spin(units)
end

def fifth(units)
  spin(units)
end

def deflates(block)
  Zlib::Deflate.deflate(block, 6)
end

Worker = Struct.new(:name, :units, :thread, :tid, :cpu_ns, :begin_ns, :method_ns)
WORKERS = [Worker.new("half", 5), Worker.new("third", 3), Worker.new("fifth", 2)].freeze
TURN = WORKERS.map { Queue.new }
ZLIB = Worker.new("deflates", 0)

def begin_worker(worker)
  Thread.current.name = worker.name
  worker.begin_ns = Truth.thread_cpu_ns
  worker.method_ns = 0
  worker.tid = Truth.tid
end

def end_worker(worker)
  worker.cpu_ns = Truth.thread_cpu_ns - worker.begin_ns
end

def work(worker, what)
  begin_ns = Truth.thread_cpu_ns
  send(worker.name, what)
  worker.method_ns += Truth.thread_cpu_ns - begin_ns
end

WORKERS.each_with_index do |worker, index|
  worker.thread = Thread.new do
    begin_worker(worker)
    until Truth.stop?
      TURN[index].pop
      work(worker, worker.units)
      TURN[(index + 1) % TURN.size] << true
    end
    TURN.each { |turn| turn << true } # nobody waits for one that has gone
    end_worker(worker)
  end
end

ZLIB.thread = Thread.new do
  random = Random.new(1)
  block = Array.new(1 << 18) { random.rand(16) }.pack("C*")
  begin_worker(ZLIB)
  work(ZLIB, block) until Truth.stop?
  end_worker(ZLIB)
end

all = WORKERS + [ZLIB]
sleep 0.01 until all.all?(&:tid)
Truth.ready(threads: all.map { |worker| { name: worker.name, tid: worker.tid, units: worker.units } })
TURN[0] << true
all.each { |worker| worker.thread.join }
Truth.finish(threads: all.map do |worker|
  { name: worker.name, tid: worker.tid, cpu_ns: worker.cpu_ns, method_ns: worker.method_ns }
end)
