# SPDX-License-Identifier: Apache-2.0
# lines_required.rb - loaded by lines.rb: a frame called <top (required)>, and one of a class body.
class LinesRequired
  Lines.park
end
