# SPDX-License-Identifier: Apache-2.0
# legal.rb - every stack that a piece of a program has, as Ruby itself tells them.
#
# A forked child runs it under a TracePoint, so that nothing of that is left in the program.
require "json"

module Legal
  # That call something in turn: their own line is their caller's.
  NATIVE = /\A(\w+#)?(map|!=)\z/.freeze

  module_function

  # From the method `from` on, root first, as [label, line]; a C function has line null.
  def stacks(from)
    seen = {}
    trace = TracePoint.new(:line, :call, :return, :b_call, :b_return, :c_call) do |point|
      stack = caller_locations(1).reverse.map do |frame|
        [frame.label, frame.label =~ NATIVE ? nil : frame.lineno]
      end
      if point.event == :c_call
        owner = RUBY_VERSION >= "3.4" ? "#{point.defined_class}#" : ""
        stack << ["#{owner}#{point.method_id}", nil]
      end
      first = stack.index { |label, _| label =~ /\b#{from}\z/ }
      seen[stack.drop(first)] = true if first
    end
    trace.enable { 3.times { yield } }
    seen.keys
  end

  def in_child(from, &turn)
    reader, writer = IO.pipe
    child = fork do
      writer.write(JSON.generate(stacks(from, &turn)))
      exit!(0)
    end
    writer.close
    text = reader.read
    Process.wait(child)
    JSON.parse(text)
  end
end
