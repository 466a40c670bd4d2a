# SPDX-License-Identifier: Apache-2.0
# torn.rb - the program of the question "should I pause a Ruby process to read its stack?":
# methods so short that a reader which does not stop it sees frames that were never together.
# With an argument it is its own twin: it measures by itself which part of the time foo, bar and
# baz are on the stack, by running them with and without the rest, and prints it.
def foo
  bar
end

def bar
  baz
  bob
end

def baz
  [1, 2, 3].map(&:succ)
end

def bob
  [1, 2, 3]
end

def cpu
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end

# Seconds of CPU a call, the cheapest of several rounds: noise only ever adds.
def cost(calls = 200_000)
  Array.new(7) do
    from = cpu
    i = 0
    while i < calls
      yield
      i += 1
    end
    (cpu - from) / calls
  end.min
end

if ARGV[0] == "time"
  empty = cost { nil }
  whole = cost { foo }
  baz_part = cost { baz } - empty
  bob_part = cost { bob } - empty
  printf("one turn %.0f ns: baz %.1f %%, bob %.1f %% of foo\n", whole * 1e9,
         100 * baz_part / (whole - empty), 100 * bob_part / (whole - empty))
  exit
end

$stdout.puts Process.pid
$stdout.flush
loop do
  foo
end
