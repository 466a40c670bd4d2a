# SPDX-License-Identifier: Apache-2.0
# sleeper.rb - a program that sleeps for ever in is_asleep, called by calls_it
require_relative "truth"

def is_asleep
  $stdin.read
end

def calls_it
  is_asleep
end

Truth.ready(stack: %w[<main> calls_it is_asleep read])
calls_it
Truth.finish
