# SPDX-License-Identifier: Apache-2.0
# fibers.rb FIBERS - many fibers, each with frames of its own, take turns every few us
#
# Fiber n runs fiber_n -> deep_n -> work. A stack with two numbers in it never was.
require_relative "truth"

FIBERS = ARGV.fetch(0, "8").to_i

def work
  i = 0
  i += 1 while i < 500
end

FIBERS.times do |n|
  eval(<<~RUBY, TOPLEVEL_BINDING, __FILE__, 1000 + 10 * n)
    def fiber_#{n}
      deep_#{n}
    end

    def deep_#{n}
      loop do
        work
        Fiber.yield
      end
    end
  RUBY
end

def rounds(fibers)
  fibers.each(&:resume) until Truth.stop?
end

fibers = Array.new(FIBERS) { |n| Fiber.new { send("fiber_#{n}") } }
Truth.ready(fibers: FIBERS)
rounds(fibers)
Truth.finish
