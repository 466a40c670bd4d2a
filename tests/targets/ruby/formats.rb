# SPDX-License-Identifier: Apache-2.0
# formats.rb - functions whose names each format has to carry, as they are or escaped
#
# C functions, because no parser allows such names; two threads take turns of equal CPU time in
# them, and one recurses. Prints the names as hex: one is not UTF-8, so JSON cannot hold it.
require_relative "truth"
require "fiddle"

NAMES = [
  "größe_日本",
  "n" * 300,
  "semi;colon; 7",
  "new\nline",
  "</script><script>window.pwned=1</script>",
  "\xff\xfe;\x80".b,
  "tab\tand \"quote\" \\x41 & ]]>",
].freeze

def c_function(name, result, arguments)
  Fiddle::Function.new(Fiddle::Handle::DEFAULT[name], arguments, result)
end

# rb_ary_each under each of them, by symbol: rb_define_method takes ASCII names alone.
WORD = Fiddle::TYPE_UINTPTR_T
SYM2ID = c_function("rb_sym2id", WORD, [WORD])
DEFINE = c_function("rb_define_method_id", Fiddle::TYPE_VOID, [WORD, WORD, WORD, Fiddle::TYPE_INT])
NAMES.each do |name|
  DEFINE.call(Fiddle.dlwrap(Array), SYM2ID.call(Fiddle.dlwrap(name.to_sym)), Fiddle::Handle::DEFAULT["rb_ary_each"], 0)
end

def spin
  limit = Truth.thread_cpu_ns + 2_000_000
  nil while Truth.thread_cpu_ns < limit
end

def again(depth, name)
  return again(depth - 1, name) if depth > 0
  [1].public_send(name) { spin }
end

def turns(depth)
  NAMES.each { |name| again(depth, name) } until Truth.stop?
end

Thread.new { turns(3) }.name = "two;threads"
Truth.ready(names: NAMES.map { |name| name.b.unpack1("H*") })
turns(0)
Truth.finish
