# SPDX-License-Identifier: Apache-2.0
# ractors.rb N - N ractors that compute, each in a method of its own name (Ruby 3.0 and later)
require_relative "truth"

N = ARGV.fetch(0, "3").to_i
Warning[:experimental] = false if defined?(Ractor)

N.times do |n|
  eval("def ractor_#{n}(limit)\n  i = 0\n  i += 1 while i < limit\n  i\nend", TOPLEVEL_BINDING, __FILE__, 1000 + 10 * n)
end

unless defined?(Ractor)
  Truth.ready(ractors: 0)
  exit
end

ractors = Array.new(N) do |n|
  Ractor.new(n) do |number|
    loop { __send__("ractor_#{number}", 1_000_000) } # plain send is Ractor#send here
  end
end
Truth.ready(ractors: ractors.size)
$stdin.read
Truth.finish
exit!(0) # ractors do not end when asked
