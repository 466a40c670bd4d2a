# SPDX-License-Identifier: Apache-2.0
# mixed.rb - a little of everything that programs do: blocks called by C, exceptions, fibers, threads, collections, files, sleep.
require "json"
require "stringio"
require "zlib"
require_relative "truth"

Pair = Struct.new(:left, :right) do
  include Comparable

  def <=>(other)
    left <=> other.left
  end
end

WORDS = Array.new(200) { |i| "word#{(i * 7919) % 211}" }.freeze
PAIRS = Array.new(60) { |i| Pair.new((i * 37) % 61, i) }.freeze
TEXT = (WORDS.join(" ") * 20).freeze

def sorts
  WORDS.sort_by { |word| word.reverse }.group_by { |word| word.length }.transform_values { |words| words.map(&:upcase).uniq }
  PAIRS.sort.minmax
end

def substitutes
  TEXT.gsub(/word(\d+)/) { |found| found.succ }.scan(/\d+/).sum { |digits| digits.to_i }
end

def packs
  Zlib::Inflate.inflate(Zlib::Deflate.deflate(TEXT))
end

def serializes
  JSON.parse(JSON.generate(WORDS.each_with_index.to_h))
end

def fails(depth)
  depth.zero? ? raise(ArgumentError, "the bottom") : fails(depth - 1)
ensure
  $failed = depth
end

def recovers
  20.times { |i| fails(i) rescue $!.backtrace.size }
  catch(:done) { 5.times { |i| throw :done, i if i == 3 } }
end

def enumerates
  numbers = Enumerator.new { |out| 30.times { |i| out << i * i } }
  30.times { numbers.next }
  (1..Float::INFINITY).lazy.map { |i| i * 2 }.select(&:even?).first(20)
end

def dispatches
  100.times { |i| WORDS[i].public_send(:length).yield_self { |n| [n, i].inject(:+) } }
  instance_eval { binding.local_variables }
end

def reads
  File.foreach(__FILE__).each_slice(10).count
  File.open("/dev/null", "w") { |file| 20.times { |i| file.syswrite(i.to_s) } }
  out = StringIO.new
  WORDS.each { |word| out.puts(word) }
end

def collects
  Array.new(2_000) { |i| "garbage #{i}" }
  GC.start(full_mark: false)
end

def threads
  queue = Queue.new
  2.times.map { |i| Thread.new { queue << WORDS.map(&:hash).sum + i } }.each(&:join)
end

def sleeps
  sleep(0.001)
end

KINDS = %i[sorts substitutes packs serializes recovers enumerates dispatches reads collects threads sleeps].freeze

Truth.ready
turn = 0
until Truth.stop?
  send(KINDS[turn % KINDS.size])
  turn += 1
end
Truth.finish
