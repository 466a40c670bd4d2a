# SPDX-License-Identifier: Apache-2.0
# ./dev demo: a bundled Ruby program, profiled from outside without a pause.  Sourced by ./dev.

# Folded stacks on standard input: the ten lines of code that were running most, and in what
# when that has no line of its own (a function written in C, a collection).
hottest_lines() {
	awk '
	{
		count = $NF
		sub(/ [0-9]+$/, "")
		sub(/;\[moving\]$/, "") # what it called was changing: the time is still this line
		depth = split($0, frame, ";")
		for (i = depth; i > 1 && frame[i] !~ /:[0-9]+\)$/; i--)
			;
		line = i == depth ? frame[i] : frame[i] "  in " frame[depth]
		samples[line] += count
		total += count
	}
	END {
		for (line in samples)
			printf "%5.1f %%  %s\n", 100 * samples[line] / total, line | "sort -rn | head -n 10"
	}'
}

# Sets demo_pid, which the script ends on its way out, whatever happens.
dev_demo() {
	local line others=()

	say "starting tests/targets/ruby/demo.rb, a Ruby program with five threads"
	exec {demo_output}< <(exec ruby tests/targets/ruby/demo.rb)
	demo_pid=$!
	read -r -t 60 line <&"$demo_output" || die "the demo program did not start"
	[[ $line == ready* ]] || die "the demo program said: $line"

	say "profiling process $demo_pid for 5 seconds, never pausing it"
	build/sonde record -p "$demo_pid" --pause=never -d 5 --silent -o demo.pb.gz &
	others+=($!)
	build/sonde record -p "$demo_pid" --pause=never -d 5 --silent -f folded \
		-o "$scratch/demo.folded" &
	others+=($!)
	build/sonde record -p "$demo_pid" --pause=never -d 5 -o demo.html ||
		die "sonde record failed"
	for line in "${others[@]}"; do
		wait "$line" || die "sonde record failed"
	done

	say "the hottest lines, share of samples:"
	hottest_lines <"$scratch/demo.folded"
	kill "$demo_pid"
	wait "$demo_pid" || true
	demo_pid=
	[[ -s demo.html && -s demo.pb.gz ]] || die "demo.html or demo.pb.gz is missing"
	say "the flame graph: $PWD/demo.html (open it in any browser, it is one offline file)"
	say "for pprof:       $PWD/demo.pb.gz"
}
