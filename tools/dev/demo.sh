# SPDX-License-Identifier: Apache-2.0
# ./dev demo: a bundled Ruby program, profiled without a pause.  Sourced by ./dev.

# Sets demo_pid, which the script ends on its way out, whatever happens.
dev_demo() {
	local line

	say "starting tests/targets/ruby/demo.rb, a Ruby program with five threads"
	exec {demo_output}< <(exec ruby tests/targets/ruby/demo.rb)
	demo_pid=$!
	read -r -t 60 line <&"$demo_output" || die "the demo program did not start"
	[[ $line == ready* ]] || die "the demo program said: $line"

	say "profiling process $demo_pid for 5 seconds, never pausing it"
	build/sonde record -p "$demo_pid" --pause=never -d 5 --with-source -o demo.sonde ||
		die "sonde record failed"
	kill "$demo_pid"
	wait "$demo_pid" || true
	demo_pid=

	say "the hottest lines (build/sonde report demo.sonde --lines has more):"
	build/sonde report demo.sonde --lines --limit 10 --tree 100 | sed -n '/ self /,/^$/p' | head -n 11
	build/sonde export demo.sonde -o demo.html || die "sonde export failed"
	build/sonde export demo.sonde -o demo.pb.gz || die "sonde export failed"
	say "the flame graph: $PWD/demo.html (open it in any browser, it is one offline file)"
	say "for pprof:       $PWD/demo.pb.gz"
}
