# SPDX-License-Identifier: Apache-2.0
# named.rb - threads with names, longer than the kernel's can be, each in its own method; and one that sleeps.
require_relative "truth"

def first_work
  loop { 1000.times { |n| n * n } }
end

def second_work
  loop { 1000.times { |n| n * n } }
end

NAMES = { "the first of the workers" => :first_work, "z2" => :second_work }.freeze
NAMES.each { |name, work| Thread.new { send(work) }.name = name }
Thread.new { sleep }.name = "one that sleeps all day long"
Truth.ready("names" => NAMES)
sleep
