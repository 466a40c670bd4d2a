# SPDX-License-Identifier: Apache-2.0
# crossed.rb - six threads that call the same two methods, each for methods of its own: NAME_0 is the first one's
#
# Two run all the time, two now and then, two seldom: what the first do is a thousand times more often seen.
require_relative "truth"

CALLS = [2_000, 2_000, 200, 200, 20, 20].freeze
NAPS = [0, 0, 0.002, 0.002, 0.01, 0.05].freeze

def shared(count, method)
  i = 0
  i += send(method, 1) while i < count
end

def tight(value)
  yield value
end

CALLS.each_index do |n|
  eval <<~METHODS, binding, __FILE__, __LINE__ + 1
    def last_#{n}(value)
      value
    end

    def middle_#{n}(value)
      tight(value) { |same| last_#{n}(same) }
    end

    def first_#{n}
      until Truth.stop?
        shared(CALLS[#{n}], :middle_#{n})
        NAPS[#{n}].zero? ? Thread.pass : sleep(NAPS[#{n}])
      end
    end
  METHODS
end
threads = CALLS.each_index.map { |n| Thread.new { send("first_#{n}") } }
Truth.ready
threads.each(&:join)
Truth.finish
