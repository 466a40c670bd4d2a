# SPDX-License-Identifier: Apache-2.0
# legal.rb - every stack that a piece of a program has, as Ruby itself tells them.
#
# A forked child runs it under a TracePoint, so that nothing of that is left in the program.
require "json"

module Legal
  module_function

  # Ruby gives a C function the line of its caller, and what it has in Ruby, too, one of its own or that.  A method that calls
  # itself, and blocks, may be on one line with who calls them.
  def native?(frame, caller)
    frame.path.start_with?("<internal:") ||
      (caller && frame.lineno == caller.lineno && frame.path == caller.path && frame.label != caller.label &&
       !frame.label.include?(" in "))
  end

  # From the method `from` on, root first, as [label, line]; a C function has line null.
  def stacks(from)
    seen = {}
    trace = TracePoint.new(:line, :call, :return, :b_call, :b_return, :c_call) do |point|
      frames = caller_locations(1).reverse
      stack = frames.each_with_index.map do |frame, i|
        [frame.label, native?(frame, i.positive? ? frames[i - 1] : nil) ? nil : frame.lineno]
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
