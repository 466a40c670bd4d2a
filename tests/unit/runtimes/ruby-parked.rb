# SPDX-License-Identifier: Apache-2.0
# ruby-parked.rb - threads that stand still on known stacks, and say which.
#
# Prints, for each thread but the one that prints:
#	T name                            hexadecimal
#	F path line label base qualifier  hexadecimal, but for the line; leaf first
# then END, and sleeps.  The qualifier is what stands before the method's name (base)
# in a qualified label ("Foo#"), "-" where the label has none; "A#|B#": one of these.
# Syntax of Ruby 2.5.

require "find"

QUALIFIERS = {}

# Remembers the class of a method of the program; names are unique.
def qualify(text, *names)
  names.each { |name| QUALIFIERS[name.to_s] = text }
end

def park
  sleep
end
qualify "Object#", :park, :stand

# Functions in C, or in Ruby inside of the interpreter.
qualify "Kernel#|Kernel.", :sleep, :loop, :eval, :send, :public_send, :catch
qualify "BasicObject#", :instance_eval
qualify "Array#|Hash#|Enumerator#|Enumerator::Generator#", :each
qualify "Array#", :map
qualify "Enumerable#", :sort_by, :each_with_index, :inject
qualify "Proc#|Method#", :call
qualify "Class#", :new, :initialize
qualify "Enumerator#", :next
qualify "Fiber#", :resume

THREADS = []
def stand(name, &block)
  thread = Thread.new do
    block.call
  end
  thread.name = name if name
  THREADS << thread
end

# The address is part of the text: as Ruby itself prints it.
def made_up(value)
  Kernel.instance_method(:to_s).bind(value).call
end

# ---- classes, modules, and what is neither

module Outer
  class Plain
    def plain
      yield
    end

    def self.single
      yield
    end

    class << self
      def opened
        yield
      end
    end

    def with_ensure
      begin
        1 + 1
      ensure
        yield
      end
    end

    def ensured_raise
      begin
        raise "x"
      ensure
        yield
      end
    rescue
      2
    end

    def with_rescue
      raise "x"
    rescue
      [
        1,
      ].each do |_|
        yield
      end
    end

    define_method(:defined_by_block) do |&block|
      block.call
    end

    def original
      yield
    end
    alias renamed original

    def evaluated(&block)
      instance_eval "\n\nblock.call", "evaluated.rb", 100
    end

    def matches(text)
      # $~ goes into the frame, and pushes the method entry aside
      text =~ /b(.)d/
      yield $1
    end

    def to_s
      "misleading"
    end
  end

  module Mixin
    def mixed
      yield
    end
  end

  module Functions
    module_function

    def functional
      yield
    end
  end

  class Plain
    include Mixin
  end

  class Child < Plain
    def plain
      super
    end
    alias child_alias plain
  end
end
qualify "Outer::Plain#|Outer::Child#", :plain
qualify "Outer::Plain#", :with_ensure, :ensured_raise, :with_rescue, :original, :evaluated, :matches
qualify "Outer::Plain.", :single, :opened
qualify "Outer::Mixin#", :mixed
qualify "Outer::Functions.", :functional

ANONYMOUS = Class.new do
  def nameless
    yield
  end
end
NAMELESS = Module.new do
  def self.in_module
    yield
  end
end
SPECIAL = Outer::Plain.new
class << SPECIAL
  def special
    yield
  end
end
# Class.new's constant names it: a class that stays without a name.
$hidden = Class.new do
  def hidden_one
    yield
  end
end
$hidden_module = Module.new do
  def hidden_mixed
    yield
  end
end
$hidden.include($hidden_module)

module Refines
  refine Outer::Plain do
    def refined
      yield
    end
  end
end
using Refines

class Wide
  eval <<-RUBY, binding, "größe.rb", 7
    def größe_日本語
      yield
    end
  RUBY
  LONG = "very_long_name_" + "x" * 285
  eval "def #{LONG}\n  yield\nend", binding, "p" * 300 + ".rb", 1
  define_method("odd;name\nwith <script>") do |&block|
    block.call
  end
end
qualify "Wide#", "größe_日本語", Wide::LONG
qualify "ANONYMOUS#", :nameless
qualify "NAMELESS.", :in_module
qualify made_up(SPECIAL) + ".", :special
qualify made_up($hidden) + "#", :hidden_one
qualify made_up($hidden_module) + "#", :hidden_mixed
if defined?(Refinement)
  refinement = ObjectSpace.each_object(Refinement).first
  qualify made_up(refinement) + "#", :refined
end

# ---- lines: a method of 402 lines, called back at some of them

LINES = [2, 3, 17, 100, 101, 140, 301, 399]
source = "def long_method\n"
(2..401).each { |n| source << (LINES.include?(n) ? "  yield #{n}\n" : "  a#{n} = #{n}\n") }
source << "end\n"
eval source, binding, "long.rb", 1
qualify "Object#", :long_method

def empty_then_tail
  yield
end
qualify "Object#", :empty_then_tail

LINES.each do |line|
  stand("line #{line}") { long_method { |at| park if at == line } }
end

# ---- the stacks

plain = Outer::Plain.new
stand("nested") do
  plain.plain do
    [1, 2].each do |_|
      [3].map do |_|
        plain.plain { { 1 => 2 }.each { |_, _| Outer::Plain.single { park } } }
      end
    end
  end
end
stand("opened") { Outer::Plain.opened { park } }
stand("ensure") { plain.with_ensure { park } }
stand("ensured raise") { plain.ensured_raise { park } }
stand("rescue") { plain.with_rescue { park } }
stand("block method") { plain.defined_by_block { park } }
stand("alias") { plain.renamed { park } }
stand("eval") { plain.evaluated { park } }
stand("special variables") { plain.matches("abide") { |_| park } }
stand("mixin") { plain.mixed { park } }
stand("module function") { Outer::Functions.functional { park } }
stand("super") { Outer::Child.new.plain { park } }
stand("super by alias") { Outer::Child.new.child_alias { park } }
stand("anonymous class") { ANONYMOUS.new.nameless { park } }
stand("anonymous module") { NAMELESS.in_module { park } }
stand("singleton") { SPECIAL.special { park } }
stand("hidden") { $hidden.new.hidden_one { $hidden.new.hidden_mixed { park } } }
stand("refinement") { plain.refined { park } }
stand("umlaut ü, semicolon ;") { Wide.new.größe_日本語 { park } }
stand("long") { Wide.new.send(Wide::LONG) { park } }
stand("odd") { Wide.new.send("odd;name\nwith <script>") { park } }
stand("C to Ruby") do
  [2, 1].sort_by { |x| [x].each_with_index { |_, _| [1].inject(0) { |_, _| park } } }
end
stand("send") { plain.send(:plain) { plain.public_send(:plain) { plain.method(:plain).call { park } } } }
stand("lambda") { lambda { |x| [x].each(&->(_) { park }) }.call(1) }
stand("enumerator") do
  inner = Enumerator.new { |y| y << 1; park }
  inner.next
  inner.next
end
stand("fiber") do
  outer = Fiber.new { plain.plain { Fiber.new { plain.single_in_fiber { park } }.resume } }
  def plain.single_in_fiber
    yield
  end
  QUALIFIERS["single_in_fiber"] = made_up(plain) + "."
  outer.resume
end
stand("proc") { proc { |&b| b.call }.call { park } }
stand("class body") { Class.new { park } }
stand("constant body") { eval "class Outer::Body\n  park\nend", binding, "body.rb", 10 }
stand("recursion") do
  def recurse(n)
    n.zero? ? park : recurse(n - 1)
  end
  QUALIFIERS["recurse"] = "Object#"
  recurse(200)
end
stand("method missing") do
  missing = Class.new(BasicObject) do
    def method_missing(name)
      ::Kernel.send(:sleep)
    end
  end
  qualify missing.inspect + "#", :method_missing
  missing.new.anything
end
stand("library") { Find.find(".") { park } }
qualify "Find.", :find
stand(nil) { park }

# ---- the printer

def hex(text)
  text.to_s.b.unpack("H*")[0].sub(/\A\z/, "-")
end

Thread.main.name = "main"
printer = Thread.new do
  Thread.current.name = "printer"
  others = THREADS + [Thread.main]
  # A status of "sleep" is not enough: a thread that waits for a file has it, too.
  Thread.pass until others.all? do |thread|
    leaf = thread.backtrace_locations&.first
    thread.status == "sleep" && leaf && leaf.label.end_with?("sleep")
  end
  others.each do |thread|
    puts "T #{hex thread.name}"
    thread.backtrace_locations.each do |frame|
      base = frame.base_label
      puts "F #{hex frame.path} #{frame.lineno} #{hex frame.label} #{hex base} #{hex QUALIFIERS[base]}"
    end
  end
  puts "END"
  $stdout.flush
  sleep
end
empty_then_tail { plain.plain { park } }
