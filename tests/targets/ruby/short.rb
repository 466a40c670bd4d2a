# SPDX-License-Identifier: Apache-2.0
# short.rb MS - works for so long of its CPU time, and ends: for those who start many.
def cpu_ms
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond)
end

def short_work(until_ms)
  i = 0
  1000.times { i += 1 } while cpu_ms < until_ms
end

short_work(cpu_ms + ARGV[0].to_f)
