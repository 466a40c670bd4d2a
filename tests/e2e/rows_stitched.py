# SPDX-License-Identifier: Apache-2.0
"""rows_stitched.py - native and managed frames in their real order: C that calls back, deep stacks, threads that stand still."""
import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import compiled
import folded
import stats
from rows import Figure, Skip, at_least, at_most, enough, exactly, row
from rows_cost import throughput
from rows_kernel import KERNEL, is_whole, symbols
from rows_recording import wait_until
from sonde import Running
from target import Progress, Target, start

NATIVE = "tests/targets/native"


def own_order(stack, order):
    """The program's own functions, root first; of a function of C, which both know, one."""
    found = []
    for frame in stack.frames:
        name = folded.bare(frame.label)
        if name in order and not (found and found[-1] == name and (frame.path is None or not name.startswith("ruby"))):
            found.append(name)
    return found


def calls_back(run, language, env=None):
    inside, outside = run.interpreter.scratch("callback.so")
    source = f"{NATIVE}/callback_{language}.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(outside), source], check=True)
    with start(run.interpreter, f"callback.{'rb' if language == 'ruby' else 'py'}", inside, env=env) as target:
        order = target.facts["order"]
        recording = run.sonde.record(target.pid, rate=4_999, seconds=run.seconds(60, 1.5), threads=True, more=KERNEL)
    Path(f"{run.interpreter.root or ''}/tmp/perf-{target.pid}.map").unlink(missing_ok=True)
    wrong, depths, whole, cut = Counter(), Counter(), Counter(), Counter()
    for stack in recording.stacks:
        if stack.tid != target.pid:
            continue
        found = own_order(stack, order)
        cut[folded.TRUNCATED in symbols(stack)] += stack.count
        if found != order[:len(found)] and folded.TRUNCATED not in symbols(stack):
            wrong[";".join(found)] += stack.count
        depths[len(found)] += stack.count
        whole[is_whole(stack)] += stack.count
    yield Figure(f"stacks in another order {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)
    yield enough(f"samples in all {len(order)} of them", depths[len(order)], 100)
    yield at_most("stacks that say that they are cut", 100 * cut[True] / cut.total(), 0.1, " %")
    yield at_least("from the first function on", 100 * whole[True] / whole.total(), 99.5, " %",
                   stats.least_bar(99.5, whole.total()))
    yield at_most("leftover", 100 * recording.quality["leftover"] / recording.samples, 0.5, " %")
    return recording


@row("stitched-ruby", "a C extension that calls back, five deep: the exact order, every sample", language="ruby")
def ruby(run):
    yield from calls_back(run, "ruby")


@row("stitched-python", "C that calls back, with the GIL and by ctypes, five deep: the exact order, every sample", language="python")
def python(run):
    yield from calls_back(run, "python")


def without_its_name(stack):
    """The first frame of code made at run time that has none. A function of Python's is called by the piece that was made for it, and
    ctypes calls back by one of libffi's, of which no map says anything."""
    before = ""
    for frame in stack.frames:
        name = folded.method(frame.label)
        if frame.path and frame.path.endswith("callback.py") and not before.startswith(f"py::{name}:"):
            return f"{before};{name}"
        if name == "[unknown]" and before not in {"c_back1", "c_back2"}:
            return f"{before};{name}"
        before = name
    return None


@row("stitched-trampolines", "Python with -X perf, a piece of code made at run time for each function: the same, and these have their names",
     language="python")
def trampolines(run):
    if run.interpreter.version < (3, 12):
        raise Skip("it makes none")
    recording = yield from calls_back(run, "python", {"PYTHONPERFSUPPORT": "1"})
    nameless = Counter()
    for stack in recording.stacks:
        nameless[without_its_name(stack)] += stack.count
    named = nameless.pop(None, 0)
    yield at_least(f"with the names of its perf map {nameless.most_common(1) or ''}", 100 * named / recording.samples, 99, " %")


@row("stitched-jit", "Python with PYTHON_JIT=1, where it compiles at run time: the same, through code that keeps no frames (3.14)",
     language="python")
def jit(run):
    if not run.interpreter.runs("import sys; assert sys._jit.is_available()"):
        raise Skip("it has no JIT")
    recording = yield from calls_back(run, "python", {"PYTHON_JIT": "1"})
    made = sum(stack.count for stack in recording.stacks if "[unknown]" in symbols(stack))
    # 3.15 finds nothing to compile in it
    yield at_least("samples with code that it made", 100 * made / recording.samples, 50 if run.interpreter.version < (3, 15) else 0, " %")


def begins(stack):
    """Is it whole: from the first function of its thread or fiber on? Of a thread that ends there is the kernel's part alone."""
    user = [frame.label for frame in stack.frames if not frame.label.endswith(" [kernel]")]
    if not user:
        return any(frame.label == "do_exit [kernel]" for frame in stack.frames)
    in_fiber = any(folded.method(frame.label) == "each" for frame in stack.frames) and ("libruby" in user[0] or "fiber" in user[0])
    return folded.TRUNCATED not in user and (in_fiber or is_whole(stack))


def mixed(run, program):
    with start(run.interpreter, program) as target:
        recording = run.sonde.record(target.pid, rate=1_000, seconds=run.seconds(60, 1.5), more=KERNEL)
    whole = sum(stack.count for stack in recording.stacks if begins(stack))
    samples = recording.samples
    leftover = recording.quality["leftover"]
    yield enough("samples", samples, 300)
    # some few are a sample or two of a rehearsal
    yield at_most(f"of {samples} samples, those with frames that found no place", 100 * leftover / samples, 0.1, " %", 0.1 + 300 / samples)
    yield at_least("from the first function on", 100 * whole / samples, 99.5, " %", stats.least_bar(99.5, samples))


@row("hosted-python", "a host whose threads work in two interpreters by turns: each has its frames, shares within 2 points",
     language="python")
def hosted(run):
    inside, outside = run.interpreter.scratch("host.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-nodefaultlibs", "-o", str(outside), f"{NATIVE}/host_python.c"], check=True)
    for engine in ("reader", "kernel"):
        with start(run.interpreter, "hosted.py", inside) as target:
            recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(20, 1), threads=True, more=("-e", engine))
            target.close_input()
            spent = {int(tid): told for tid, told in target.read_line()["spent_ns"].items()}
        for tid, told in sorted(spent.items()):
            seen = Counter()
            for stack in recording.stacks:
                if stack.tid == tid:
                    names = {folded.bare(frame.label) for frame in stack.frames}
                    seen[next((part for part in told if f"spin_{part}" in names), "work" if "work" in names else "none")] += stack.count
            samples = max(1, seen["first"] + seen["second"])
            share = told["first"] / sum(told.values())
            yield at_most(f"{engine}: thread {tid}: samples without its frames", 100 * seen["none"] / max(1, seen.total()), 12, " %")
            yield at_most(f"{engine}: thread {tid}: share of the first interpreter off by", 100 * abs(seen["first"] / samples - share),
                          2, " points", stats.share_bar(2, share, samples))
    with start(run.interpreter, "hosted.py", inside) as target:
        recording = run.sonde.record(target.pid, seconds=run.seconds(20, 2), mode="offcpu", weights=True)
    napped = Counter()
    for stack in recording.stacks:
        napped.update({name: stack.count for name in ("nap_first", "nap_second")
                       if name in {folded.bare(frame.label) for frame in stack.frames}})
    yield at_most("off the CPU: share of the first interpreter's naps off by",
                  100 * abs(napped["nap_first"] / max(1, napped.total()) - 0.5), 2, " points", 5)


def between(frames, outer, inner):
    """The labels of the native frames between two."""
    return [frame.label for frame in frames[outer + 1:inner]]


def of_the_loop(label):
    return label in ("_PyEval_EvalFrameDefault [native]", "PyEval_EvalFrameEx [native]")


def misplaced(frames, number):
    """Of a stack of a greenlet: what is not where it is, or None. Root first."""
    own = [place for place, frame in enumerate(frames) if frame.path]
    if not own or frames[own[0]].label != f"start_{number}" or any(frame.is_mark for frame in frames):
        return None  # cut, or of the program itself
    inside = between(frames, own[0], own[-1])
    if any("greenlet" in label for label in inside):
        return "greenlet's frames are inside of its first function"
    if frames[own[-1]].label == f"spin_{number}":
        if own[-2] == own[-1] - 1:
            return "no native frame calls spin"
        if any("greenlet" in label for label in between(frames, own[-1], len(frames))):
            return "greenlet's frames are inside of spin"
    outside = list(reversed(between(frames, -1, own[0])))
    first = next((place for place, label in enumerate(outside) if "greenlet" in label), len(outside))
    if first == len(outside) or any(of_the_loop(label) for label in outside[:first]):
        return "its first function is not on greenlet's frames"
    return None


# of 2.0 and later: what is outside of it is not its stack
FIRST_OF_GREENLET = "greenlet::UserGreenlet::inner_bootstrap"


def greenlets_in_order(run):
    """Each greenlet's functions stand on its own native frames; who has switched to it is outside."""
    with start(run.interpreter, "greenlets.py") as target:
        recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(20, 2), threads=True, more=KERNEL)
    wrong, spun, raw, named, cut, strange = Counter(), Counter(), 0, 0, 0, Counter()
    for stack in recording.stacks:
        labels = [frame.label for frame in stack.frames]
        if FIRST_OF_GREENLET in str(labels):
            named += stack.count
            cut += stack.count * ("[truncated]" in labels)
            strange[labels[0]] += stack.count * (FIRST_OF_GREENLET not in labels[0])
        frames = [frame for frame in stack.frames if not frame.label.endswith(" [kernel]")]
        last = next((frame.label for frame in reversed(frames) if frame.path), "")
        number = last.rpartition("_")[2]
        if number not in tuple("012"):
            continue
        spun[last.startswith("spin_")] += stack.count
        raw += stack.count * (last.startswith("spin_") and of_the_loop(frames[-1].label))
        if why := misplaced(frames, number):
            wrong[f"{why}: {';'.join(frame.label for frame in frames[-12:])}"] += stack.count
    few = 0.2 + 300 / max(1, spun.total())  # a sample or three in which a switch is under way
    yield enough("samples in a spin", spun[True], 200)
    yield at_most(f"frames in another place {wrong.most_common(2) or ''}", 100 * wrong.total() / spun.total(), 0.2, " %", few)
    yield at_most("in the loop itself, beside its function", 100 * raw / spun.total(), 0.5, " %", 0.5 + few)
    if run.interpreter.version >= (3, 11):  # greenlet is 2.0 or later
        yield enough("samples with a greenlet's first native frame", named, 200)
    yield at_most("of those, cut", 100 * cut / max(1, named), 0.5, " %", 0.5 + few)
    yield exactly(f"not from that frame on {+strange or ''}", strange.total(), 0)


@row("stitched-interpreters", "one interpreter called by another on its thread: the exact order, every sample", language="python")
def interpreters(run):
    if not any(run.interpreter.has_module(name) for name in ("_interpreters", "_xxsubinterpreters")):
        raise Skip("it has no module for interpreters")
    with start(run.interpreter, "interpreters.py") as target:
        order = target.facts["order"]
        recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(20, 2), threads=True, more=KERNEL)
    wrong, seen = Counter(), 0
    for stack in recording.stacks:
        frames = [frame for frame in stack.frames if not frame.label.endswith(" [kernel]")]
        own = [place for place, frame in enumerate(frames) if frame.path]
        names = [frames[place].label for place in own]
        if "sub_spin" not in names:
            continue
        seen += stack.count
        gaps = [between(frames, outer, inner) for outer, inner in zip(own, own[1:])]
        # each by C, and the module's (_interpreters, its interp_exec) between the two
        if names != order:
            wrong[";".join(names)] += stack.count
        elif not (gaps[1] and gaps[4] and any("interp" in label for label in gaps[2])) or \
                any("interp" in label for gap in gaps[:2] + gaps[3:] for label in gap) or \
                any(of_the_loop(label) for label in between(frames, -1, own[-1])):
            wrong[";".join(frame.label for frame in frames)] += stack.count
    yield enough("samples in its innermost function", seen, 200)
    yield at_most(f"in another order {wrong.most_common(1) or ''}", 100 * wrong.total() / max(1, seen), 0.2, " %", 0.2 + 300 / max(1, seen))
    yield at_most("leftover", 100 * recording.quality["leftover"] / recording.samples, 0.5, " %")


@row("leftover-ruby", "a mixed workload: frames of the VM without a place in < 0.1 % of the samples")
def mixed_ruby(run):
    yield from mixed(run, "mixed.rb")


@row("leftover-python", "a mixed workload: frames of the VM without a place in < 0.1 % of the samples", language="python")
def mixed_python(run):
    yield from mixed(run, "mixed.py")


@row("kernel-deep", "10,000 Ruby frames: 4,096 from the leaf, a mark, and the outermost 100", language="ruby", once=True)
def deep(run):
    environment = {"RUBY_THREAD_VM_STACK_SIZE": "33554432"}
    with start(run.interpreter, "deep.rb", 10_000, "busy", env=environment) as target:
        recording = run.sonde.record(target.pid, rate=99, seconds=run.seconds(10, 1), threads=True, more=KERNEL)
        yield from deep_cost(run, target)
    stacks = [stack for stack in recording.stacks if stack.tid == target.pid and any(frame.path for frame in stack.frames)]
    samples = sum(stack.count for stack in stacks)
    wrong = Counter()
    for stack in stacks:
        names = [folded.method(frame.label) for frame in stack.frames if frame.path or frame.label == folded.TRUNCATED]
        cut = names.index(folded.TRUNCATED) if folded.TRUNCATED in names else -1
        if names[0] != "<main>" or cut != 100 or len(names) not in range(4_150, 4_200 + 1) or names[-1] not in ("bottom", "down"):
            wrong[f"{names[0]} {cut} {len(names)} {names[-1]}"] += stack.count
    yield enough("samples", samples, 20)
    yield Figure(f"of another shape {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)
    yield exactly("from the first function on", sum(stack.count for stack in stacks if is_whole(stack)), samples)


@row("kernel-deep-python", "10,000 Python frames: 4,096 from the leaf, and a mark", language="python", once=True)
def deep_python(run):
    with start(run.interpreter, "deep.py", 10_000) as target:
        recording = run.sonde.record(target.pid, rate=99, seconds=run.seconds(10, 1), more=KERNEL)
        yield from deep_cost(run, target)
    stacks = [[frame.label for frame in stack.frames if frame.path or frame.label == folded.TRUNCATED] for stack in recording.stacks
              for _ in range(stack.count) if any(frame.label.endswith("down") for frame in stack.frames)]
    # to 3.10 the native frames are as many, and are cut, too
    wrong = Counter(f"{names[0]} {len(names)} {names[-1]}" for names in stacks
                    if names[0] != folded.TRUNCATED or len(names) - names.count(folded.TRUNCATED) != 4_096 or names[-1] not in ("bottom", "down"))
    yield enough("samples", len(stacks), 20)
    yield Figure(f"of another shape {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)


def deep_cost(run, target, rate=499):
    """Of one thread that runs all the time."""
    seconds = run.seconds(10, 1)
    found, _ = interrupts(run, target, rate, seconds)
    took = found["ns"] / 1000 / (rate * seconds)
    yield at_most("the interrupt", took, 400, " us", 400 if run.full else 600)


def interrupt_numbers(recording, ms):
    """Of the program in the interrupt that this recording has: its runs, and their nanoseconds."""
    return compiled.numbers("interrupt", recording.process.pid, "on_clock", ms)


def wait_for_walks(recording):
    """Until the program in the interrupt runs."""
    wait_until(lambda: interrupt_numbers(recording, 20)["runs"])


def interrupts(run, target, rate, seconds):
    """(runs of the interrupt's program and how long they took, the stacks) of a target, for so long."""
    with tempfile.TemporaryDirectory() as name:
        words = run.sonde.words(Path(name), pid=target.pid, rate=rate, seconds=seconds + 1.5, more=KERNEL)
        recording = Running(words, Path(name))
        wait_for_walks(recording)
        time.sleep(0.4)  # the first stacks are cold
        found = interrupt_numbers(recording, int(1000 * seconds))
        recording.finish(30)
        return found, folded.parse(recording.out.read_bytes())


def interrupt_us(run, rate, program, *args):
    """(microseconds of the interrupt's program, its runs, frames of a stack) while a target runs."""
    with start(run.interpreter, program, *args) as target:
        found, stacks = interrupts(run, target, rate, run.seconds(10, 1))
    depth = stats.median([len(stack.frames) for stack in stacks for _ in range(stack.count)])
    # cpu-clock does not tick where nothing runs, and what else runs is over at once
    return found["ns"] / max(found["runs"], 1) / 1000, found["runs"], depth


@row("kernel-cost", "the interrupt of a 135-frame Ruby stack <= 25 us; 50 frames at 999 Hz <= 1.6 % above an empty probe", language="ruby", once=True, alone=True)
def cost_ruby(run):
    yield from cost(run, "frames.rb")


@row("kernel-cost-python", "the same of Python: <= 25 us; <= 1.6 % above an empty probe", language="python", once=True, alone=True)
def cost_python(run):
    yield from cost(run, "frames.py")


def work_for_a_cpu_second(progress, seconds, probe):
    """Of a target, while the probe is at work."""
    with probe:
        time.sleep(0.3)  # the first stacks are cold
        return throughput(progress, seconds)[1]


@contextmanager
def empty_probe(rate, seconds):
    with subprocess.Popen([compiled.program("emptyprobe"), str(rate), str(seconds + 1)], stdout=subprocess.DEVNULL) as process:
        yield
    if process.returncode:
        raise AssertionError("bench/emptyprobe could not")


@contextmanager
def walks(run, pid, rate, seconds):
    with tempfile.TemporaryDirectory() as name:
        recording = Running(run.sonde.words(Path(name), pid=pid, rate=rate, seconds=seconds + 1, more=KERNEL), Path(name))
        wait_for_walks(recording)
        yield
        recording.finish(30)


def lost_to_walks(run, program, rate=999):
    """Percent of its work for a CPU-second that a program of 50 frames loses to the walks, beyond what it loses to an empty probe."""
    inside, outside = run.interpreter.scratch("progress")
    seconds, lost = run.seconds(3, 0.5), []
    with start(run.interpreter, program, 50, inside) as target:
        progress = Progress(outside)
        progress.wait_for_more(0)
        for number in range(run.count(20, 3)):
            done = {}
            for walked in (False, True) if number % 2 else (True, False):
                probe = walks(run, target.pid, rate, seconds) if walked else empty_probe(rate, seconds)
                done[walked] = work_for_a_cpu_second(progress, seconds, probe)
            lost.append(100 * (1 - done[True] / done[False]))
    return lost


def cost(run, program):
    took = {}
    for frames in (8, 50, 125):
        inside, _ = run.interpreter.scratch("progress")
        took[frames] = interrupt_us(run, 4_999, program, frames, inside)
    lost = lost_to_walks(run, program)
    for frames, (_, runs, depth) in took.items():
        yield at_least(f"{frames} frames, {depth} in all: runs", runs, 100)
    each = 1000 * (took[125][0] - took[8][0]) / (took[125][2] - took[8][2])
    # on a busy machine it is the neighbours that are measured
    yield at_most(f"{took[125][2]} frames, warm", took[125][0], 25, " us", 25 if run.full else 50)
    what = "50 frames at 999 Hz: of the program's work, beyond an empty probe"
    yield (at_most(what, stats.median(lost), 1.6, " %", 1.6 + stats.SIGMAS * stats.median_error(lost)) if run.full else
           Figure(what, f"{stats.median(lost):.1f} %", "printed (1.6 %)", True))
    yield Figure("a frame, ns", round(each), "printed", True)


@row("kernel-cost-native", "the interrupt: what a native frame takes", language="native", alone=True)
def cost_native(run):
    few, many = (interrupt_us(run, 4_999, "depth.c", depth) for depth in (5, 125))
    yield Figure(f"{few[2]} frames, {few[0]:.1f} us; {many[2]} frames, {many[0]:.1f} us; a native frame, ns",
                 round(1000 * (many[0] - few[0]) / (many[2] - few[2])), "printed", True)
    yield at_most(f"{many[2]} frames, us", many[0], 25, " us", 25 if run.full else 50)


def parked(run, program):
    """Threads that stand still, as the kernel engine and as the reader sees them; that is what the program says (rows lines and py-exact)."""
    with start(run.interpreter, program) as target:
        threads = run.sonde.dump(target.pid)
        recording = run.sonde.record(target.pid, rate=20, seconds=1, mode="wall", threads=True, more=KERNEL)
    told = {thread["tid"] for thread in target.facts["threads"]}
    ours = {}
    for stack in recording.stacks:
        if stack.tid in told:
            frames = [frame for frame in reversed(stack.frames) if not frame.is_native and not frame.label.startswith("(waiting")]
            ours.setdefault(stack.tid, set()).add(tuple(frames))
    wrong = [(tid, ours.get(tid)) for tid in told if ours.get(tid) != {tuple(threads[tid].frames)}]
    example = ""
    if wrong:
        tid, stacks = wrong[0]
        mine = [str(frame) for frame in sorted(stacks)[0]] if stacks else []
        example = f"{tid}: {len(stacks or ())} stacks, {mine[:3]} not {[str(frame) for frame in threads[tid].frames[:3]]}"
    yield Figure(f"threads of {len(told)} that differ {example}", len(wrong), "= 0", not wrong)
    yield at_least("threads", len(told), 3)


@row("kernel-parked-ruby", "parked threads: the kernel engine's frames are the reader's", language="ruby")
def parked_ruby(run):
    yield from parked(run, "lines.rb")


@row("kernel-parked-python", "parked threads: the kernel engine's frames are the reader's", language="python")
def parked_python(run):
    yield from parked(run, "parked.py")


def first_stitched_ms(run, recording):
    """In how many milliseconds of a recording there is a stack from the first function on with frames of the language; None: in 300 not."""
    for ms in (5, 10, 20, 50, 100, 300):
        early = run.sonde.run("export", recording, "--to", f"{ms / 1000}s", "-f", "folded", "-o", "-").stdout
        if any(is_whole(stack) and any(frame.path for frame in stack.frames) for stack in folded.parse(early.encode())):
            return ms
    return None


@row("kernel-attach", "from the command to the first stitched sample <= 300 ms with everything in caches, <= 1.5 s without", language="ruby",
     once=True, alone=True)
def attach(run):
    inside, _ = run.interpreter.scratch("progress")
    took, never = [], 0
    with start(run.interpreter, "frames.rb", 50, inside) as target, tempfile.TemporaryDirectory() as name:
        recording, quality = Path(name) / "x.sonde", Path(name) / "q.json"
        for number in range(run.count(20, 3)):
            if number == 0 and os.geteuid() == 0:
                Path("/proc/sys/vm/drop_caches").write_text("1", encoding="ascii")  # the pages of files
            begin_ns = time.monotonic_ns()
            done = run.sonde.run("record", *KERNEL, "-p", target.pid, "-r", 999, "-d", "0.3s", "-o", recording, "--quality", quality)
            if done.returncode:
                raise AssertionError(done.stderr[-300:])
            attached_ms = (json.loads(quality.read_text())["begin_ns"] - begin_ns) / 1e6
            stitched_ms = first_stitched_ms(run, recording)
            never += stitched_ms is None
            took.append(attached_ms + (stitched_ms or 0))
    yield exactly(f"recordings of {len(took)} without a stitched sample", never, 0)
    yield at_most("without caches", took[0], 1_500, " ms")
    # on a busy machine it is the neighbours that are measured
    yield at_most("with, median", stats.median(took[1:]), 300, " ms", 300 if run.full else 1_500)


@contextmanager
def in_cgroup(name):
    """A command in front of another, which then runs in a cgroup of its own; None where there are none of version 2."""
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        if Path(root, "cgroup.controllers").exists():
            break
    else:
        yield None
        return
    group = Path(root, name)
    group.mkdir(exist_ok=True)
    try:
        yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    finally:
        group.rmdir()


@row("kernel-all", "-a and --cgroup: whoever runs, by the name of its own functions, and nobody else", language="native", once=True, alone=True)
def everybody(run):
    seconds = run.seconds(20, 1.5)
    command = run.interpreter.command("depth.c", 20)
    with in_cgroup(f"sonde-e2e-{os.getpid()}") as prefix:
        with Target(command) as one, Target([*(prefix or []), *command]) as two:
            recording = run.sonde.record(rate=999, seconds=seconds, more=("-a",))
            inside = run.sonde.record(rate=999, seconds=seconds, more=("--cgroup", f"sonde-e2e-{os.getpid()}")) if prefix else None
    for target in (one, two):
        own = [stack for stack in recording.stacks if stack.pid == target.pid]
        whole = sum(stack.count for stack in own if is_whole(stack) and symbols(stack).count("down") == 20)
        yield at_least(f"-a: samples of process {target.pid - one.pid}", sum(stack.count for stack in own), 200)
        yield at_least("of these, all 20 of its frames", 100 * whole / max(sum(stack.count for stack in own), 1), 99, " %")
    yield exactly("ledger: expected - taken - lost",
                  recording.quality["expected"] - recording.quality["taken"] - recording.lost, 0)
    if inside:
        # one process alone has no name in front of its stacks
        pids = {stack.pid for stack in inside.stacks}
        yield Figure("--cgroup: its process alone", pids, "the one in it", pids <= {two.pid, None})
        yield at_least("--cgroup: samples", inside.samples, 200)
