# SPDX-License-Identifier: Apache-2.0
# worded.rb LIBWORD - says in a word which of its methods it is in: see tests/targets/native/word.h.
require "fiddle"
require_relative "truth"

library = Fiddle.dlopen(ARGV[0])
begin
  SAY = Fiddle::Function.new(library["word_set"], [Fiddle::TYPE_INT], Fiddle::TYPE_VOID, need_gvl: true)
rescue ArgumentError # Ruby 2.7
  SAY = Fiddle::Function.new(library["word_set"], [Fiddle::TYPE_INT], Fiddle::TYPE_VOID)
end
RUN = 15

$seed = 1

def spin(left)
  left -= 1 while left > 0
end

15.times do |n|
  first, second = 2 * n + 1, 2 * n + 2
  calls = second < 15 ? <<~CALLS : ""
    $seed.odd? ? f#{first} : f#{second}
    SAY.call(#{n})
    spin($seed & 31)
    f#{second}
    SAY.call(#{n})
  CALLS
  Object.class_eval(<<~CODE, "worded-tree.rb", 1)
    def f#{n}
      SAY.call(#{n})
      spin($seed & 63)
      #{calls}
      $seed = ($seed * 1_103_515_245 + 12_345) & 0x7fffffff
    end
  CODE
end

def run
  until Truth.stop?
    f0
    SAY.call(RUN)
  end
end

Fiddle::Function.new(library["word_start"], [], Fiddle::TYPE_VOID).call
Truth.ready
run
Truth.finish
