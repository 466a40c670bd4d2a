# SPDX-License-Identifier: Apache-2.0
# parked.rb N - N ractors that work and sleep by turns, each in methods of its own name (Ruby 3.0 and later)
#
# From Ruby 3.3 on they share native threads: one that sleeps is on none, and what it was on runs another.
require_relative "truth"

N = ARGV.fetch(0, "6").to_i
Warning[:experimental] = false if defined?(Ractor)

N.times do |n|
  eval(<<~RUBY, TOPLEVEL_BINDING, __FILE__, 1000 + 10 * n)
    def work_#{n}(limit)
      i = 0
      i += 1 while i < limit
    end

    def ractor_#{n}
      loop do
        work_#{n}(200_000)
        sleep(0.005)
      end
    end
  RUBY
end

unless defined?(Ractor)
  Truth.ready(ractors: 0)
  exit
end

N.times { |n| Ractor.new(n) { |number| __send__("ractor_#{number}") } } # plain send is Ractor#send here
Truth.ready(ractors: N)
Truth.park
Truth.finish
exit!(0) # ractors do not end when asked
