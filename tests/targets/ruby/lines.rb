# SPDX-License-Identifier: Apache-2.0
# lines.rb - one thread in every awkward place of the language, standing still.
#
# Each place runs in a thread of its own and ends in Lines.park, which writes down what
# rb_profile_frames() says and then sleeps for ever.  When all stand still, the program prints
# Thread#backtrace_locations of every thread: the truth about label, path and line.
#
#   {"threads": [{"place", "tid", "name", "frames": [[label, path, line]...],
#                 "full": [[label, path, line]...] or null}]}          both leaf first
#
# A C function has its caller's path and line in Ruby's own backtraces; `c_labels` lists
# the names of those that may stand in these stacks.
require_relative "truth"
begin
  require_relative "profile_frames"
rescue LoadError
  nil # `full` is null then
end

module Lines
  PLACES = {}
  FULL = {}
  TIDS = {}

  def self.park
    TIDS[Thread.current] = Truth.tid
    FULL[Thread.current] = defined?(ProfileFrames) ? ProfileFrames.take : nil; sleep
  end

  def self.place(name, &body)
    PLACES[name] = body
  end
end

# --- one method of 402 lines, parked on four of them -----------------------------------------

LONG_PATH = "/made/up/long.rb"
long = ["def long_method(stop)", "  x = 0"]
(3..401).each { |line| long << ([3, 30, 90, 200, 398].include?(line) ? "  Lines.park if stop == #{line}" : "  x += #{line}") }
long << "end"
eval(long.join("\n"), TOPLEVEL_BINDING, LONG_PATH, 1)
[3, 30, 90, 200, 398].each { |line| Lines.place("long:#{line}") { long_method(line) } }

# --- blocks -------------------------------------------------------------------------------------

def nested
  [1].each do |a|
    { a => 2 }.each_pair do |b, _|
      [b].map do |_c|
        1.times { Lines.park }
      end
    end
  end
end
Lines.place("nested blocks") { nested }

def yielder
  yield 1,
        2
end

def passes_block(&block)
  yielder(
    &block
  )
end
# 20 levels: the method's class is looked for through all of them.
class Nest
  class_eval("def nest\n#{"1.times {\n" * 20}Lines.park\n#{"}\n" * 20}end", "/made/up/nest.rb", 1)
end
Lines.place("20 levels of blocks") { Nest.new.nest }
Lines.place("block argument") { passes_block { |_, _| Lines.park } }
Lines.place("lambda") { ->(x) { x; Lines.park }.call(1) }
Lines.place("proc from method") { [1].each(&method(:takes_one)) }
def takes_one(_)
  Lines.park
end
Lines.place("symbol to_proc") { [Parks.new].each(&:park) }
class Parks
  def park
    Lines.park
  end
end
Lines.place("instance_exec") { Parks.new.instance_exec(1) { |_| park } }
SINCE_27 = RUBY_VERSION >= "2.7"
Lines.place("numbered parameter") { [1].each { _1; Lines.park } } if SINCE_27

# --- rescue, ensure -----------------------------------------------------------------------------

def rescuer
  raise "on purpose"
rescue RuntimeError
  1
  Lines.park
end
Lines.place("rescue") { rescuer }

def ensurer
  1
ensure
  2
  Lines.park
end
Lines.place("ensure, no exception") { ensurer }

def ensurer_raised
  begin
    raise "on purpose"
  ensure
    2
    Lines.park
  end
end
Lines.place("ensure, exception") { ensurer_raised }

def rescue_in_block
  [1].each do
    begin
      Integer("x")
    rescue ArgumentError
      begin
        raise "again"
      rescue StandardError
        Lines.park
      end
    end
  end
end
Lines.place("rescue in block, nested") { rescue_in_block }
Lines.place("catch") { catch(:x) { Lines.park } }
Lines.place("retry") do
  tries = 0
  begin
    tries += 1
    raise "once" if tries == 1
    Lines.park
  rescue RuntimeError
    retry
  end
end

# --- ways to be a method ------------------------------------------------------------------------

class Ways
  define_method(:defined) do
    Lines.park
  end

  def self.class_method
    Lines.park
  end

  class << self
    def in_singleton_class
      Lines.park
    end
  end

  def original
    Lines.park
  end
  alias aliased original
  alias_method :aliased_too, :original

  def method_missing(name, *)
    return super unless name == :not_there

    Lines.park
  end

  def respond_to_missing?(*)
    true
  end

  def <=>(_other)
    Lines.park
  end

  def to_s
    Lines.park
    "x"
  end

  def coerce(_other)
    Lines.park
  end

  def each
    Lines.park
    yield 1
  end
  include Comparable
  include Enumerable

  def with_default(_a = Lines.park)
  end

  def with_keyword(_a: Lines.park)
  end

  private def hidden
    Lines.park
  end

  def calls_hidden
    hidden
  end
end

Lines.place("define_method") { Ways.new.defined }
Lines.place("class method") { Ways.class_method }
Lines.place("singleton class") { Ways.in_singleton_class }
Lines.place("alias") { Ways.new.aliased }
Lines.place("alias_method") { Ways.new.aliased_too }
Lines.place("method_missing") { Ways.new.not_there }
Lines.place("send") { Ways.new.public_send(:original) }
Lines.place("method object") { Ways.new.method(:original).call }
Lines.place("bind_call") { Ways.instance_method(:original).bind_call(Ways.new) } if SINCE_27
Lines.place("spaceship under sort") { [Ways.new, Ways.new].sort }
Lines.place("comparable") { Ways.new < Ways.new }
Lines.place("to_s by interpolation") { "#{Ways.new}" }
Lines.place("coerce") { 1 + Ways.new }
Lines.place("enumerable") { Ways.new.map { 1 } }
Lines.place("default argument") { Ways.new.with_default }
Lines.place("keyword default") { Ways.new.with_keyword }
Lines.place("private") { Ways.new.calls_hidden }

class Base
  def over(_)
    Lines.park
  end
end

module Between
  def over(_)
    super
  end
end

class Derived < Base
  prepend Between
  include Between
  def over(_)
    super
  end
end
Lines.place("super, prepend, include") { Derived.new.over(1) }

ANONYMOUS = [Class.new { def of_anonymous; Lines.park; end }]
Lines.place("anonymous class") { ANONYMOUS[0].new.of_anonymous }
ANONYMOUS_MODULE = [Module.new { def of_module; Lines.park; end }]
Lines.place("anonymous module") { Object.new.extend(ANONYMOUS_MODULE[0]).of_module }
SINGLE = Object.new
def SINGLE.of_singleton
  Lines.park
end
Lines.place("singleton method") { SINGLE.of_singleton }

module Functions
  module_function

  def as_function
    Lines.park
  end
end
Lines.place("module_function") { Functions.as_function }

module Refined
  refine Integer do
    def refined_here
      Lines.park
    end
  end
end
using Refined
Lines.place("refinement") { 1.refined_here }

module Outer
  module Inner
    class Deep
      def deep_name
        Lines.park
      end
    end
  end
end
Lines.place("nested names") { Outer::Inner::Deep.new.deep_name }

# --- bodies and evals ---------------------------------------------------------------------------

Lines.place("class body") do
  eval("class Body\n  1\n  Lines.park\nend", TOPLEVEL_BINDING, "/made/up/body.rb", 5)
end
Lines.place("module body") do
  eval("module BodyModule\n  class << self\n    Lines.park\n  end\nend", TOPLEVEL_BINDING, "/made/up/body.rb", 50)
end
Lines.place("eval") { eval("1\n\nLines.park", binding, "/made/up/eval.rb", 7) }
Lines.place("eval, no path") { eval("1\nLines.park") }
Lines.place("instance_eval text") { Ways.new.instance_eval("1\nLines.park", "/made/up/instance.rb", 9) }
Lines.place("class_eval text") do
  Ways.class_eval("def evaled\n  Lines.park\nend", "/made/up/class.rb", 1000)
  Ways.new.evaled
end
Lines.place("class_eval block") { Ways.class_eval { Lines.park } }
Lines.place("binding eval") { Ways.new.instance_eval { binding }.eval("Lines.park", "/made/up/binding.rb", 11) }
Lines.place("require") { require_relative "lines_required" }
Lines.place("line one") { eval("def line_one; Lines.park; end; line_one", TOPLEVEL_BINDING, "/made/up/one.rb", 1) }
Lines.place("far line") { eval("def far_line\nLines.park\nend; far_line", TOPLEVEL_BINDING, "/made/up/far.rb", 1_000_000) }

# --- names --------------------------------------------------------------------------------------

eval("def größe_日本_é\n  Lines.park\nend", TOPLEVEL_BINDING, "/made/up/übergröße/日本.rb", 3)
Lines.place("utf-8") { größe_日本_é }
LONG_NAME = "n" * 300
eval("def #{LONG_NAME}\n  Lines.park\nend", TOPLEVEL_BINDING, "/made/up/" + "p" * 291, 3)
Lines.place("300 bytes") { send(LONG_NAME) }
eval("def odd_path\n  Lines.park\nend", TOPLEVEL_BINDING, "/made;up\n(odd:7) path.rb", 3)
Lines.place("odd path") { odd_path }
eval("def ends_in?; Lines.park; end; def bang!; Lines.park; end; def writer=(_); Lines.park; end",
     TOPLEVEL_BINDING, "/made/up/ends.rb", 1)
Lines.place("question mark") { ends_in? }
Lines.place("bang") { bang! }
Lines.place("writer") { self.send(:writer=, 1) }
class Ways
  def [](_)
    Lines.park
  end

  def -@
    Lines.park
  end
end
Lines.place("operator []") { Ways.new[1] }
Lines.place("operator -@") { -Ways.new }

# --- C functions that call back -----------------------------------------------------------------

Lines.place("inject") { [1, 2].inject { |_, _| Lines.park } }
Lines.place("each_with_index") { [1].each_with_index { |_, _| Lines.park } }
# Each of these enumerators adds frames without a name, more than four in a row.
class Chained
  include Enumerable

  def each
    yield 1
  end
end
Lines.place("chain of enumerators") do
  Chained.new.each_slice(1).with_index.each_with_object([]).with_index.each { Lines.park }
end
Lines.place("lazy chain") { Chained.new.lazy.map { |x| x }.each_slice(1).each_with_index.map { Lines.park }.to_a }
Lines.place("hash default") { Hash.new { |_, _| Lines.park }[1] }
Lines.place("gsub") { "a".gsub(/a/) { Lines.park } }
Lines.place("sort_by") { [1, 2].sort_by { |_| Lines.park } }
Lines.place("array new") { Array.new(1) { Lines.park } }
Lines.place("tap then loop") { 1.tap { loop { Lines.park } } }
Lines.place("upto step") { 1.upto(2) { 1.step(3, 2) { Lines.park } } }
Lines.place("const_missing") { Hooked::NOT_THERE }
class Hooked
  def self.const_missing(_name)
    Lines.park
  end

  def self.inherited(_by)
    Lines.park
    super
  end

  def initialize
    Lines.park
  end
end
Lines.place("inherited") { Class.new(Hooked) }
Lines.place("initialize") { Hooked.new }
Lines.place("fiber") { Fiber.new { [1].each { Lines.park } }.resume }
Lines.place("enumerator next") { Enumerator.new { |y| y << Lines.park }.next }
Lines.place("lazy") { (1..3).lazy.map { |x| x; Lines.park }.first(1) }
Lines.place("mutex") { Mutex.new.synchronize { Lines.park } }
Lines.place("dig") { { a: Digger.new }.dig(:a, :b) }
class Digger
  def dig(*)
    Lines.park
  end
end

# --- the wait ------------------------------------------------------------------------------------

C_LABELS = %w[
  sleep each each_pair map times call instance_exec raise Integer catch send public_send bind_call
  __send__ sort < > inspect to_s + coerce eval instance_eval class_eval module_eval require_relative require
  inject each_with_index new gsub sort_by tap loop upto step const_missing inherited
  initialize resume next lazy first synchronize dig each_entry yield << fetch [] method_missing
  _1 each_slice with_index each_with_object with_object to_a default join value
].freeze

threads = Lines::PLACES.map do |name, body|
  Thread.new do
    Thread.current.name = name[0, 15]
    body.call
  rescue Exception => e # rubocop:disable Lint/RescueException
    warn "#{name}: #{e.full_message}"
    exit!(1)
  end
end
sleep 0.01 until threads.all? { |thread| Lines::TIDS[thread] && thread.stop? }

def plain(location)
  [location.label, location.path, location.lineno]
end

# What stands above (nearer the leaf than) Lines.park is the measuring itself.
def from_park(frames)
  at = frames && frames.index { |label, _, _| label =~ /\bpark\z/ && label !~ /Parks/ }
  at && frames.drop(at)
end

facts = threads.zip(Lines::PLACES.keys).map do |thread, place|
  { place: place, tid: Lines::TIDS[thread], name: thread.name,
    frames: thread.backtrace_locations.map { |location| plain(location) },
    full: from_park(Lines::FULL[thread]) }
end
Truth.ready(threads: facts, c_labels: C_LABELS)
Truth.park
Truth.finish
