# SPDX-License-Identifier: Apache-2.0
# hooked.rb - methods and blocks that C calls because of what they are: of classes that are made, keys, orders, conversions, matches and
# bound methods, from lines that call one thing each
#
# `legal`: every stack that exists, with lines.
require_relative "legal"
require_relative "truth"

ONE = [1].freeze
TEXT = "abc"

module Told
  def inherited(other)
    1.pred
  end

  def method_added(name)
    1.pred
  end

  def const_missing(name)
    name
  end
end

class Base
  extend Told
  attr_accessor :kept

  def initialize_copy(other)
    1.pred
  end

  def marshal_dump
    ONE
  end

  def marshal_load(data)
    data
  end

  def to_str
    TEXT
  end

  def to_ary
    ONE
  end

  def to_proc
    proc do |one|
      one
    end
  end

  def ===(other)
    1.pred
  end

  def =~(other)
    other
  end

  def hash
    1
  end

  def eql?(other)
    other
  end

  def <=>(other)
    1
  end

  def succ
    self
  end

  def -@
    1.pred
  end

  def !
    1.pred
  end

  def inspect
    "base"
  end

  def each
    return enum_for(:each) unless block_given?
    yield 1
    yield 2
  end
  include Enumerable

  def plain(one)
    one
  end

  def renamed(one)
    one.pred
  end
  alias again renamed

  private def hidden
    1.pred
  end
end

module Over
  def plain(one)
    super
  end
end

class Derived < Base
  prepend Over

  def plain(one)
    super(one)
  end

  def method_missing(name, *rest)
    return super unless name == :absent
    yield
  end

  def respond_to_missing?(*)
    1.pred
  end
end

Pair = Struct.new(:one, :two) do
  def sum
    one + two
  end
end

module Refined
  refine Integer do
    def half
      self / 2
    end
  end
end
using Refined

module Hooked
  module_function

  HASH = Hash.new do |hash, key|
    key
  end
  BOUND = 1.method(:pred)
  UNBOUND = Base.instance_method(:renamed)
  COUNTED = Enumerable.instance_method(:count)
  MISSED = Told.instance_method(:const_missing)
  ADD = lambda do |one, two|
    one
  end
  LESS = lambda do |one|
    one.pred
  end
  BOTH = LESS >> LESS

  def leaf
    1
  end

  def optional(one = leaf)
    one
  end

  def keyed(one: leaf)
    one
  end

  def with_block(&block)
    passed(&block)
  end

  def passed
    yield 1
  end

  def cases(one)
    case 1
    when one
      leaf
    end
  end

  def ensured
    leaf
  ensure
    with_block do |one|
      one
    end
  end

  def redone
    turns = 0
    ONE.each do |one|
      turns += 1
      redo if turns < 2
    end
  end

  def numbered(list)
    list.each_with_index do |one, i|
      leaf
    end
  end

  def nested(list)
    list.each do |one|
      list.map do |two|
        list.select do |three|
          leaf
        end
      end
    end
  end

  def foo(base, derived, pair)
    Class.new(Base)
    base.dup
    Marshal.dump(base)
    cases(base)
    HASH.values_at(1)
    HASH.fetch(2) do |key|
      key
    end
    BOUND.call
    UNBOUND.bind(base).call(1)
    COUNTED.bind_call(base)
    MISSED.bind_call(Base, :Name)
    base.method(:entries).call
    ADD.call(1, 2)
    BOTH.call(2)
    ONE.each(&base)
    ONE.map(&:pred)
    TEXT + base
    TEXT.gsub(/b/) do |found|
      leaf
    end
    TEXT.each_char do |char|
      leaf
    end
    [].concat(base)
    one, two = base
    { base => 1 }
    base.eql?(base)
    base.again(1)
    base.send(:hidden)
    base.public_send(:plain, 1)
    base.kept = 1
    base.kept
    -base
    !base
    base.min_by do |one|
      -one
    end
    base.each_slice(1) do |one|
      leaf
    end
    base.each_with_object(1) do |one, two|
      leaf
    end
    base.sort
    base.include?(2)
    base.first
    base.inspect
    [base, derived].max
    derived.plain(1)
    derived.absent do
      leaf
    end
    derived.respond_to?(:absent)
    derived.instance_eval do
      leaf = 1
      leaf.pred
    end
    Base.class_eval do
      1.pred
    end
    derived.instance_exec(1) do |one|
      one.pred
    end
    pair.sum
    pair.each do |one|
      leaf
    end
    4.half
    Base::Missing
    optional
    keyed
    with_block do |one|
      leaf
    end
    ensured
    redone
    numbered([1, 2])
    nested([1])
    3.times do |i|
      leaf
    end
    1.upto(2) do |i|
      leaf
    end
    (1..2).each do |i|
      leaf
    end
    1.step(2) do |i|
      leaf
    end
    Array.new(1) do |i|
      leaf
    end
    ONE.sort_by do |one|
      -one
    end
    ONE.each_with_index.map do |one, i|
      leaf
    end
    ONE.sum do |one|
      leaf
    end
    [2, 1].sort do |one, two|
      one <=> two
    end
    ONE.tap do |one|
      leaf
    end
    Integer.sqrt(4)
    Comparable.instance_method(:clamp)
    binding.local_variables
  end

  RUN_LINE = __LINE__ + 2
  def run(base, derived, pair)
    foo(base, derived, pair) until Truth.stop?
  end
end

base, derived, pair = Base.new, Derived.new, Pair.new(1, 2)
root = [["<main>", __LINE__ + 2], ["run", Hooked::RUN_LINE]]
Truth.ready(root: root, legal: Legal.in_child(:foo) { Hooked.foo(base, derived, pair) })
Hooked.run(base, derived, pair)
Truth.finish
