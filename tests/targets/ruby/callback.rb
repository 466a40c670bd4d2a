# SPDX-License-Identifier: Apache-2.0
# callback.rb LIBRARY - Ruby and C by turns, five deep: ruby_a > c_funcall > ruby_b > c_yield > ruby_c > c_ensure > ...
#
# Facts: order: of the functions, root first; every stack has the first so many of them.
require_relative "truth"
require ARGV.fetch(0)

def ruby_a
  c_funcall
end

def ruby_b
  c_yield { ruby_c }
end

def ruby_c
  c_ensure
end

def ruby_d
  c_without
end

def ruby_e
  n = 0
  n += 1 while n < 2_000
end

order = %w[ruby_a c_funcall ruby_b c_yield ruby_b ruby_c c_ensure ensured ruby_d c_without outside inside ruby_e]
Truth.ready(order: order)
ruby_a until Truth.stop?
Truth.finish
