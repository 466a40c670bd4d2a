# SPDX-License-Identifier: Apache-2.0
# starting.rb MS - a program that is over before a slow profiler has looked: no library, no file
#
# Its life is the start of Ruby, then MS of CPU time in brief_work.
def brief_work(limit)
  nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < limit
end

brief_work(Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + ARGV.fetch(0, "100").to_f / 1000)
