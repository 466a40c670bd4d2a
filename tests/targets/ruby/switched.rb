# SPDX-License-Identifier: Apache-2.0
# switched.rb - fibers, enumerators that are asked from outside, and lazy ones, from lines that call one thing each
#
# `legal`: every stack of the thread's own that exists, and `apart`: of its fibers, which begin at their block, with lines.
require_relative "legal"
require_relative "truth"
require "fiber"

ONE = [1].freeze

module Switched
  module_function

  def leaf
    1
  end

  def numbers(yielder)
    leaf
    yielder << 1
    leaf
    yielder << ONE.sum
  end

  def source
    Enumerator.new do |yielder|
      numbers(yielder)
    end
  end

  def kept
    Fiber.new do
      loop do
        leaf
        Fiber.yield 1
      end
    end
  end

  def nexts(source)
    source.next
    leaf
    source.next
    begin
      source.next
    rescue StopIteration
      leaf
    end
    source.rewind
  end

  def deep(depth)
    if depth.zero?
      Fiber.yield leaf
    else
      deep(depth - 1)
    end
    leaf
  end

  def resumes
    fiber = Fiber.new do
      deep(3)
      leaf
    end
    fiber.resume
    leaf
    fiber.resume
  end

  def raises
    fiber = Fiber.new do
      leaf
      raise KeyError
    end
    begin
      fiber.resume
    rescue KeyError
      leaf
    end
  end

  def lazy
    numbers = ONE.lazy
    numbers = numbers.map do |one|
      leaf
    end
    numbers.first
  end

  def goes_on(fiber)
    fiber.resume
    leaf
  end

  def foo(source, kept)
    nexts(source)
    resumes
    raises
    lazy
    goes_on(kept)
    source.first
    source.each do |one|
      leaf
    end
  end

  RUN_LINE = __LINE__ + 2
  def run(source, kept)
    foo(source, kept) until Truth.stop?
  end
end

root = [["<main>", __LINE__ + 3], ["run", Switched::RUN_LINE]]
legal, apart = Legal.in_child(:foo) { Switched.foo(Switched.source, ($kept ||= Switched.kept)) }.partition { |stack| stack[0][0] =~ /foo\z/ }
Truth.ready(root: root, legal: legal, apart: apart)
Switched.run(Switched.source, Switched.kept)
Truth.finish
