# SPDX-License-Identifier: Apache-2.0
# script-name.rb - names that would run in a careless page
#
# A C function, a file, a thread and the program itself are called </script><script>...; the method
# made by define_method has it as its name too, although Ruby labels it by its block.
require_relative "truth"
require "fiddle"

EVIL = "</script><script>window.pwned=1</script>"
EVIL_IMAGE = "\"><img src=x onerror=window.pwned=1>"

# rb_ary_each under a name that no parser would allow.
define = Fiddle::Function.new(Fiddle::Handle::DEFAULT["rb_define_method"],
                              [Fiddle::TYPE_UINTPTR_T, Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT],
                              Fiddle::TYPE_VOID)
define.call(Fiddle.dlwrap(Array), EVIL, Fiddle::Handle::DEFAULT["rb_ary_each"], 0)

holder = Class.new
holder.send(:define_method, EVIL) { [1].public_send(EVIL) { spin_here } }
holder.class_eval("def spin_here\n  limit = Truth.thread_cpu_ns + 2_000_000\n  nil while Truth.thread_cpu_ns < limit\nend",
                  "/made/up/#{EVIL}#{EVIL_IMAGE}.rb", 1)
$0 = EVIL_IMAGE
Thread.current.name = EVIL[0, 15]

def evil_loop(object)
  object.send(EVIL) until Truth.stop?
end

Truth.ready(name: EVIL, path: "/made/up/#{EVIL}#{EVIL_IMAGE}.rb")
evil_loop(holder.new)
Truth.finish
