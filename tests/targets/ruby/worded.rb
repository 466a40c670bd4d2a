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

class Passing
  def method_missing(name)
    TOP.send(name)
  end

  def respond_to_missing?(*)
    true
  end
end

class Stop < StandardError; end

def yields
  yield
end

def ensures
  yield
ensure
  $seed += 0
end

TOP = self
PASSING = Passing.new
CALL = ->(name) { send(name) }
MADE = Hash.new { |_, name| send(name) }
Object.send(:define_method, :defined) { |name| send(name) }

# Ways to call a method: by the interpreter's loop, by C, in blocks of each, and through what unwinds.
WAYS = [
  "%s",
  "[0].each { %s }",
  "send(:%s)",
  "yields { %s }",
  "[0].map { %s }",
  "PASSING.%s",
  "1.times { %s }",
  "CALL.call(:%s)",
  "ensures { %s }",
  "catch(:none) { %s }",
  "MADE[:%s]",
  "begin; raise Stop; rescue Stop; %s; end",
  "defined(:%s)",
  "instance_eval { %s }",
  "[0, 1].sort { %s; 0 }",
]

15.times do |n|
  first, second = [2 * n + 1, 2 * n + 2].map { |callee| WAYS[callee % WAYS.size] % "f#{callee}" }
  calls = 2 * n + 2 < 15 ? <<~CALLS : ""
    if $seed.odd?
      #{first}
    else
      #{second}
    end
    SAY.call(#{n})
    spin($seed & 31)
    #{second}
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
