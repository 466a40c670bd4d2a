# SPDX-License-Identifier: Apache-2.0
# offcpu.rb - threads that sleep, wait for a lock, wait for bytes and sleep for good, beside two that compute.
#
# Facts: tids. At the end: off_ns, the wall time that each method took, less the time that it ran or waited for a CPU.
require_relative "truth"

$off_ns = Hash.new(0)
$waited_ns = Hash.new(0)

def off(name)
  wall, cpu = Truth.now_ns, Truth.thread_cpu_ns
  yield
  $off_ns[name] += (Truth.now_ns - wall) - (Truth.thread_cpu_ns - cpu)
end

# How long this thread has wanted to run and had no CPU.
def waited_ns
  File.read("/proc/thread-self/schedstat").split[1].to_i
end

def naps
  off(:naps) { sleep(0.03) }
end

# The rest is not measured: a loop of locking alone would measure its own clocks.
def locks
  takes
  sleep(0.004)
end

def takes
  off(:takes) { $lock.synchronize { nil } }
end

def reads
  off(:reads) { $reader.read(1) }
end

def forever
  $stop_reader.read(1)
end

def spins
  n = 0
  n += 1 while n < 10_000
end

# Holds the lock, and writes: what the others wait for.
def feeds
  $lock.synchronize { sleep(0.02) }
  $writer.write("x")
  sleep(0.01)
end

$lock = Mutex.new
$reader, $writer = IO.pipe
$stop_reader, $stop_writer = IO.pipe
tids = Queue.new
works = { naps: 1, locks: 1, reads: 1, feeds: 1, spins: 2 }
threads = works.flat_map do |name, count|
  Array.new(count) do
    Thread.new do
      tids << [name, Truth.tid]
      waited = waited_ns
      send(name) until Truth.stop?
      $waited_ns[name] = waited_ns - waited
    end
  end
end
threads << Thread.new { tids << [:forever, Truth.tid]; forever }
facts = Hash.new { |hash, name| hash[name] = [] }
threads.size.times { tids.pop.yield_self { |name, tid| facts[name] << tid } }
Truth.ready(tids: facts)
sleep(0.01) until Truth.stop?
$writer.write("x" * 10)
$stop_writer.write("x")
threads.each(&:join)
$off_ns.each_key { |name| $off_ns[name] -= $waited_ns[name == :takes ? :locks : name] }
Truth.finish(off_ns: $off_ns)
