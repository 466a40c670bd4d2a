# SPDX-License-Identifier: Apache-2.0
# names.rb - nine functions whose names or paths break careless formats, one after the other
#
# Prints the [label, path, line] of each; all take turns of equal CPU time for ever.
require_relative "truth"

SPIN = "limit = Truth.thread_cpu_ns + 2_000_000; nil while Truth.thread_cpu_ns < limit"

AWKWARD = [
  ["plain", "/made/up/plain.rb", 3],
  ["plain", "/made/up/same name, other path.rb", 3],
  ["plain", "/made/up/plain.rb", 30],
  ["größe_日本", "/made/up/ümlaut/日本.rb", 3],
  ["n" * 300, "/made/up/#{'p' * 291}", 3],
  ["semi_path", "/made;up/a;b.rb", 3],
  ["line_path", "/made\nup/new\nline.rb", 3],
  ["space_path", "/made up/(a:7) 12.rb", 3],
  ["ends?", "/made/up/quote\"back\\slash\ttab.rb", 3],
].freeze

RUNS = AWKWARD.map do |label, path, line|
  holder = Module.new
  holder.module_eval("def self.#{label}\n  #{SPIN}\nend", path, line)
  holder.method(label)
end

def each_in_turn
  RUNS.each(&:call) until Truth.stop?
end

Truth.ready(names: AWKWARD.map { |label, path, line| [label, path, line + 1] })
each_in_turn
Truth.finish
