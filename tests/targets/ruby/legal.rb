# SPDX-License-Identifier: Apache-2.0
# legal.rb - every stack that a piece of a program has, as Ruby itself tells them.
#
# A forked child runs it under a TracePoint, so that nothing of that is left in the program.
require "json"

module Legal
  module_function

  # Ruby gives a C function the line of its caller, and so it does, or not, with what it has in Ruby itself.  `called`: names of
  # such that were.
  def native?(frame, caller, called)
    frame.path.nil? || frame.path.start_with?("<internal:") ||
      (caller && frame.lineno == caller.lineno && frame.path == caller.path && called[frame.label[/[^#.]+\z/]])
  end

  # From the method `from` on, and all of a fiber's, root first, as [label, line]; a C function has line null.
  def stacks(from)
    seen, called = {}, {}
    trace = TracePoint.new(:line, :call, :return, :b_call, :b_return, :c_call) do |point|
      frames = caller_locations(1).reverse
      stack = frames.each_with_index.map do |frame, i|
        [frame.label, native?(frame, i.positive? ? frames[i - 1] : nil, called) ? nil : frame.lineno]
      end
      called[point.method_id.to_s] = true if point.event == :call && point.path.start_with?("<internal:")
      if point.event == :c_call
        called[point.method_id.to_s] = true
        owner = RUBY_VERSION >= "3.4" ? "#{point.defined_class}#" : ""
        stack << ["#{owner}#{point.method_id}", nil]
      end
      first = stack.index { |label, _| label =~ /\b#{from}\z/ && !label.include?(" in ") }
      seen[stack.drop(first || 0)] = true if first || stack[0][0] != "<main>"
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
