# SPDX-License-Identifier: Apache-2.0
# demo.rb - a small service that never stops, for a profiler to look at: one thread parses,
# one sorts, one counts words, one compresses (without the GVL), one sleeps.
# Prints "ready PID" once all of them run.  Ruby 2.7 to 3.4, no gems.
require "zlib"

# Numbers, strings, arrays and objects: enough of JSON to be a plausible hot spot.
class Parser
  def initialize(text)
    @text = text
    @at = 0
  end

  def value
    skip_space
    case @text[@at]
    when "{" then object
    when "[" then array
    when '"' then string
    else number
    end
  end

  private

  def skip_space
    @at += 1 while @text[@at] == " "
  end

  def object
    pairs = {}
    sequence("}") do
      key = string
      skip_space
      @at += 1 # the colon
      pairs[key] = value
    end
    pairs
  end

  def array
    items = []
    sequence("]") { items << value }
    items
  end

  def sequence(close)
    @at += 1
    loop do
      skip_space
      break if @text[@at] == close
      yield
      skip_space
      @at += 1 if @text[@at] == ","
    end
    @at += 1
  end

  def string
    close = @text.index('"', @at + 1)
    text = @text[@at + 1...close]
    @at = close + 1
    text
  end

  def number
    digits = @text[@at..-1][/\A-?\d+(\.\d+)?/] or raise "not a value at #{@at}: #{@text[@at, 8]}"
    @at += digits.length
    digits.include?(".") ? digits.to_f : digits.to_i
  end
end

class Sorter
  def initialize(random)
    @items = Array.new(2_000) { random.rand(1_000_000) }
  end

  def run
    quicksort(@items.shuffle)
  end

  private

  def quicksort(items)
    return items if items.length < 2
    pivot = items[items.length / 2]
    low, rest = items.partition { |item| item < pivot }
    same, high = rest.partition { |item| item == pivot }
    quicksort(low) + same + quicksort(high)
  end
end

module WordCount
  TEXT = ("the quick brown fox jumps over the lazy dog and then the dog sleeps " * 40).freeze

  def self.run
    counts = Hash.new(0)
    TEXT.scan(/\w+/) { |word| counts[word.capitalize] += 1 }
    counts.max_by { |_, count| count }
  end
end

DOCUMENT = '{"users": [' + (['{"id": 17, "name": "Ada", "scores": [1, 2.5, 30]}'] * 20).join(", ") + "]}"
NOISE = Random.new(1).bytes(4 << 20)

JOBS = {
  "parser" => -> { Parser.new(DOCUMENT).value },
  "sorter" => Sorter.new(Random.new(2)).method(:run),
  "word counter" => -> { WordCount.run },
  "compressor" => -> { Zlib.deflate(NOISE) },
  "heartbeat" => -> { sleep 0.5 },
}.freeze

started = Queue.new
JOBS.each do |name, job|
  Thread.new do
    Thread.current.name = name
    started << name
    loop { job.call }
  end
end
JOBS.each { started.pop }

Signal.trap("TERM") { exit!(0) }
puts "ready #{Process.pid}"
$stdout.flush
sleep
