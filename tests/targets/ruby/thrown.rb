# SPDX-License-Identifier: Apache-2.0
# thrown.rb - methods, blocks and C functions that are left at once, by exceptions, throw, break and StopIteration, and calls that
# Ruby makes by itself, from lines that call one thing each
#
# `legal`: every stack that exists, with lines.
require_relative "legal"
require_relative "truth"

ONE = [1].freeze

module Before
  def name
    super
  end
end

class Thing
  prepend Before
  include Comparable
  attr_reader :size

  def initialize(size)
    @size = size
  end

  def name
    ONE.sum
  end

  def <=>(other)
    size <=> other.size
  end

  def method_missing(name, *args)
    args
  end

  def respond_to_missing?(*)
    true
  end

  def to_s
    "thing"
  end

  def each
    yield 1
    yield 2
  end
  include Enumerable

  def coerce(other)
    [other, size]
  end

  define_method(:defined) do |one|
    one
  end

  def [](key)
    key
  end

  def []=(key, value)
    value
  end

  def call(one)
    one
  end
end

module Thrown
  module_function

  def leaf
    1
  end

  def raises
    raise ArgumentError
  end

  def passes
    raises
  ensure
    leaf
  end

  def rescues
    passes
  rescue ArgumentError
    leaf
  else
    leaf
  ensure
    leaf
  end

  def retries
    turns = 0
    begin
      turns += 1
      raises if turns < 3
    rescue ArgumentError
      retry
    end
    leaf
  end

  def throws
    leaf
    throw :done
  end

  def deep(depth)
    return throws if depth.zero?
    deep(depth - 1)
  end

  def catches
    catch(:done) do
      deep(3)
    end
    leaf
  end

  def breaks(list)
    list.each do |one|
      leaf
      break
    end
    leaf
  end

  def finds(list)
    list.find do |one|
      one
    end
  end

  def given
    yield
  ensure
    leaf
  end

  def leaves
    given do
      leaf
      return 1
    end
  end

  def loops
    turns = 0
    loop do
      turns += 1
      raise StopIteration if turns > 2
    end
    leaf
  end

  def converts
    Integer("none")
  rescue ArgumentError
    leaf
  end

  def injects(list)
    list.inject do |one, two|
      one + two
    end
  end

  def lambdas
    one = lambda do |two|
      return leaf
    end
    one.call(1)
    one.(2)
  end

  def foo(thing, other)
    rescues
    retries
    catches
    breaks([1, 2])
    finds([nil, 1])
    leaves
    loops
    converts
    lambdas
    thing.name
    thing < other
    thing.missing(1)
    "#{thing}"
    thing.to_a
    thing.map do |one|
      leaf
    end
    thing.defined(1)
    thing[1]
    thing[1] = 2
    thing.(1)
    injects([1, 2, 3])
    [thing, other].min
    [1, 2].each_with_index do |one, two|
      leaf
    end
    [3, 1, 2].sort_by do |one|
      -one
    end
    [thing].map(&:size)
    thing.instance_exec(1) do |one|
      size
    end
    thing.public_send(:name)
    thing.method(:name).call
    Thing.new(3)
    2.times do
      leaf
    end
    { 1 => 2 }.each do |key, value|
      leaf
    end
  end

  RUN_LINE = __LINE__ + 2
  def run(thing, other)
    foo(thing, other) until Truth.stop?
  end
end

thing, other = Thing.new(1), Thing.new(2)
root = [["<main>", __LINE__ + 2], ["run", Thrown::RUN_LINE]]
Truth.ready(root: root, legal: Legal.in_child(:foo) { Thrown.foo(thing, other) })
Thrown.run(thing, other)
Truth.finish
