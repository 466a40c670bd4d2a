# SPDX-License-Identifier: Apache-2.0
# truth.rb - how a target program says what is true of it.
#
#   Truth.ready(facts)   the first line on stdout, JSON: "look at me now, and this is what is there"
#   Truth.stop?          SIGTERM came, or standard input was closed (busy programs ask)
#   Truth.park           waits for standard input to be closed (idle programs)
#   Truth.finish(facts)  the last line on stdout, JSON: what was measured meanwhile
#   Truth::Progress      work done so far, in a file that others read without asking
#
# Runs on Ruby 2.7 to 3.4 with --disable-gems.
require "json"

$stdout.sync = true

module Truth
  @stop = false

  def self.say(facts)
    $stdout.write(JSON.generate(facts) << "\n")
  end

  def self.ready(facts = {})
    trap("TERM") { @stop = true }
    say({ pid: Process.pid, version: RUBY_VERSION }.merge(facts))
  end

  def self.stop?
    @stop
  end

  def self.park
    $stdin.read
  end

  def self.finish(facts = {})
    say(facts)
  end

  def self.thread_cpu_ns
    Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
  end

  def self.process_cpu_ns
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
  end

  def self.now_ns
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  end

  # The kernel's number of the calling thread: the only way that every version knows.
  def self.tid
    File.readlink("/proc/thread-self").split("/").last.to_i
  end

  # Three 64-bit words at offset 0: work done, CPU ns of this thread, monotonic ns.
  class Progress
    def initialize(path)
      @file = File.open(path, File::RDWR | File::CREAT | File::TRUNC)
      tick(0)
    end

    def tick(done)
      @file.pwrite([done, Truth.thread_cpu_ns, Truth.now_ns].pack("q3"), 0)
    end
  end
end
