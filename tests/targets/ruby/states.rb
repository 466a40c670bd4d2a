# SPDX-License-Identifier: Apache-2.0
# states.rb - a thread in every state that a dump can name, each in a method that says so
#
#   holds_lock (two of them: one holds the GVL, the other waits for it), is_blocked (asleep),
#   is_native (in zlib: runs without the GVL)
require_relative "truth"
require "zlib"

RANDOM = Random.new(1)
BLOCK = Array.new(1 << 20) { RANDOM.rand(16) }.pack("C*")

def holds_lock
  i = 0
  i += 1 until Truth.stop?
end

def is_blocked
  sleep
end

def is_native
  Zlib::Deflate.deflate(BLOCK, 9) until Truth.stop?
end

tids = {}
start = lambda do |name, &body|
  Thread.new do
    Thread.current.name = name
    Thread.current.report_on_exception = false # zlib complains when it is cut off at the end
    tids[name] = Truth.tid
    body.call
  end
end
start.call("blocked") { is_blocked }
start.call("native") { is_native }
start.call("lock-1") { holds_lock }
start.call("lock-2") { holds_lock }
sleep 0.01 until tids.size == 4
Truth.ready(tids: tids)
Truth.park
Truth.finish
