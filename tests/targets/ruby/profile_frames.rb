# SPDX-License-Identifier: Apache-2.0
# profile_frames.rb - rb_profile_frames() of the running Ruby itself, called through Fiddle.
#
# Thread::Backtrace has no class names before 3.4; rb_profile_frame_full_label() has, and is
# what sonde's labels are meant to equal.  So a parked program can say both.
#
# Fiddle of Ruby 2.7 calls without the GVL, where a label must not be made: LoadError.
raise LoadError, "Fiddle without need_gvl" if RUBY_VERSION < "3.0"

require "fiddle"

module ProfileFrames
  LIMIT = 512

  def self.function(name, arguments, result)
    address = Fiddle::Handle::DEFAULT[name]
    Fiddle::Function.new(address, arguments, result, need_gvl: true)
  end

  FRAMES = function("rb_profile_frames",
                    [Fiddle::TYPE_INT, Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP],
                    Fiddle::TYPE_INT)
  LABEL = function("rb_profile_frame_full_label", [Fiddle::TYPE_UINTPTR_T], Fiddle::TYPE_UINTPTR_T)
  PATH = function("rb_profile_frame_path", [Fiddle::TYPE_UINTPTR_T], Fiddle::TYPE_UINTPTR_T)

  def self.text(function, frame)
    value = Fiddle.dlunwrap(function.call(frame))
    value && value.dup.force_encoding("UTF-8")
  end

  # Leaf first: [full label, path or nil, line].
  def self.take
    frames = Fiddle::Pointer.malloc(8 * LIMIT, Fiddle::RUBY_FREE)
    lines = Fiddle::Pointer.malloc(4 * LIMIT, Fiddle::RUBY_FREE)
    count = FRAMES.call(0, LIMIT, frames, lines)
    addresses = frames[0, 8 * count].unpack("Q*")
    numbers = lines[0, 4 * count].unpack("l*")
    addresses.zip(numbers).map { |frame, line| [text(LABEL, frame), text(PATH, frame), line] }
  end
end
