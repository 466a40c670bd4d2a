# SPDX-License-Identifier: Apache-2.0
# called.rb - calls of every kind in the same places of the stack, from lines that call one thing each
#
# C functions after methods and methods after C functions, methods that leave early or are thrown out of, super, a != that
# calls a user's ==, send; and call sites that two threads use for objects of different classes.  `legal`: every stack of
# the main thread that exists, with lines.
require_relative "legal"
require_relative "truth"

ONE = [1].freeze
TEXT = "text"

class Animal
  def name
    ONE.sum
  end

  def hash
    1.pred
  end

  def ==(other)
    other
  end
end

class Dog < Animal
  def name
    leaf
    super
  end

  def leaf
    1
  end
end

# Lets the other threads run, in the midst of its call.
class Polite
  def hash
    Thread.pass
  end
end

module Called
  module_function

  def leaf
    1
  end

  def early(leaves)
    return leaf if leaves
    2
  end

  def many(one, two, three, four)
    five = four
    six = five
    leaf
    six
  end

  def named(one, two: 2, three: 3)
    three
  end

  def rest(one, *rest)
    rest
  end

  def given(one, two)
    yield one
  end

  def thrown(list)
    list.map do |one|
      return one
    end
  end

  def any(one)
    one.hash
    leaf
    ONE.sum
    leaf
  end

  def foo(dog, things)
    TEXT.hash
    leaf
    ONE.sum
    early(true)
    thrown(ONE)
    leaf
    dog.name
    TEXT.hash
    dog != dog
    early(false)
    many(1, 2, 3, 4)
    leaf
    named(1, three: 2)
    rest(1)
    rest(1, 2, 3)
    TEXT.start_with?("t", "e", "x")
    given(1, 2) do |one|
      one
    end
    send(:leaf)
    things.map do |one|
      any(one)
    end
  end

  RUN_LINE = __LINE__ + 2
  def run(dog, things)
    foo(dog, things) until Truth.stop?
  end
end

dog, things = Dog.new, [TEXT, Animal.new, :it]
root = [["<main>", __LINE__ + 3], ["run", Called::RUN_LINE]]
Truth.ready(root: root, legal: Legal.in_child(:foo) { Called.foo(dog, things) })
Thread.new { Called.run(Animal.new, [Animal.new, Polite.new, 1.0, TEXT]) }
Called.run(dog, things)
Truth.finish
