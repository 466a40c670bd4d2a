# SPDX-License-Identifier: Apache-2.0
"""rows_large.py - large profiles: what a recording weighs, what reading, exporting and opening it costs; and hostile ones.

The profiles are made up (bench/recording.c, bench/exports.c, tests/web/make_big_page.c), the same each time.
"""
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from compiled import words_of
from rows import Skip, at_least, at_most, enough, exactly, holds, row
from rows_kernel import KERNEL, is_whole

TREE = Path(__file__).resolve().parents[2]
STACKS = 30_000


def built(run, *parts):
    program = run.build.joinpath(*parts)
    if not program.exists():
        raise Skip(f"{'/'.join(parts)} is not built")
    return program


def made(run, path, samples, threads, rate):
    done = subprocess.run([built(run, "bench", "recording"), path, *map(str, (samples, STACKS, threads, rate))], check=True,
                          capture_output=True, text=True)
    return words_of(done.stdout)


@row("recording-size", "1 M samples, 30,000 stacks, 180,000 nodes: <= 4 bytes a sample", once=True, language="native", alone=True)
def recording_size(run):
    samples = run.count(1_000_000, 200_000)
    with tempfile.TemporaryDirectory(prefix="sonde-large-") as where:
        for threads, rate in ((1, 1_000), (8, 1_000), (50, 99)):
            found = made(run, Path(where) / "x.sonde", samples, threads, rate)
            what = f"{threads} threads at {rate} Hz, {found['nodes']} nodes"
            yield exactly(f"{what}: samples read back", found["samples"], samples)
            # The names and stacks are the same for fewer samples.
            yield at_most(f"{what}: bytes a sample", found["per_sample_milli"] / 1000, 4, "", None if run.full else 8)


def peak_mb(*command):
    """(its standard output, the most memory that it had)"""
    with tempfile.TemporaryFile() as out:
        pid = os.posix_spawn(str(command[0]), [*map(str, command)], os.environ,
                             file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1),
                                           (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
        _, status, usage = os.wait4(pid, 0)
        out.seek(0)
        if status:
            raise AssertionError(f"{command}: status {status}")
        return out.read().decode(errors="replace"), usage.ru_maxrss / 1024


@row("recording-large", "a recording of 100 M samples: read with <= 1 GB of memory", once=True, language="native", alone=True)
def recording_large(run):
    samples = run.count(100_000_000, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="sonde-large-") as where:
        recording = Path(where) / "x.sonde"
        made(run, recording, samples, 50, 1_000)
        text, most = peak_mb(run.sonde.path, "report", "--json", recording)
        yield exactly("report: samples", json.loads(text)["samples"], samples)
        yield at_most("report: memory", most, 1024, " MB")
        for format_ in ("html", "pprof", "folded"):
            _, most = peak_mb(run.sonde.path, "export", recording, "-f", format_, "-o", Path(where) / "out")
            yield at_most(f"export -f {format_}: memory", most, 1024, " MB")


@row("formats-speed", "1 M samples, 30,000 stacks: written to every format in <= 2 s each", once=True, language="native", alone=True)
def formats_speed(run):
    done = subprocess.run([built(run, "bench", "exports"), str(run.count(1_000_000, 100_000))], check=True, capture_output=True,
                          text=True)
    lines = [line.split() for line in done.stdout.splitlines()[2:]]
    yield at_least("formats", len(lines), 9)
    for name, wall, _, size, _, above in lines:
        yield at_least(f"{name}: bytes", int(size), 100_000)
        yield at_most(f"{name}: seconds", float(wall), 2, " s", None if run.full else 60)
        yield holds(f"{name}: memory above the profile's", True, f"{above} MB", "printed")


def page_figures(run):
    """[(what, {name: number})] of tests/web/bench.mjs; numbers of texts without their commas."""
    done = subprocess.run([TREE / "tests" / "web" / "run.sh", built(run, "tests", "web", "make-big-page"), "bench.mjs"],
                          capture_output=True, text=True, check=False, timeout=900)
    if done.returncode == 77:
        raise Skip(done.stderr.strip())
    if done.returncode:
        raise AssertionError(done.stderr[-300:])
    for part in done.stdout.strip().split("\n\n"):
        head, *lines = part.splitlines()
        facts = re.fullmatch(r"(.*): ([\d.]+) MB, written in .* s; (\d+) samples, (\d+) stacks, (\d+) nodes", head)
        numbers = {line.split()[0]: float(line.split()[1].replace(",", "")) for line in lines}
        yield facts[1], numbers | {"mb": float(facts[2]), "nodes": int(facts[5])}


@row("page-large", "a page of 180,000 nodes: <= 2 MB, 4.5 MB with time; interactive <= 0.6 s, search <= 100 ms, <= 250 MB",
     once=True, full_only=True, language="native", alone=True)
def page_large(run):
    for what, found in page_figures(run):
        if "source" not in what:
            yield at_most(f"{what}: size", found["mb"], 4.5 if "time" in what else 2, " MB")
        yield at_least(f"{what}: frames, by line", found["all_frames"], found["nodes"])
        yield at_most(f"{what}: interactive", found["interactive_ms"], 600, " ms")
        yield at_most(f"{what}: search", found["search_ms"], 100, " ms")
        yield at_most(f"{what}: memory", found["used_mb"], 250, " MB")


@row("fuzz", "every parser, 10 minutes: no crash, no hang, bounded memory", once=True, full_only=True, language="native")
def fuzz(run):
    if run.interpreter.name != "gcc":
        raise Skip("the compiler of the targets does not matter")
    done = subprocess.run([TREE / "dev", "fuzz", "600"], capture_output=True, text=True, check=False)
    rounds = re.findall(r"fuzzing (\w+) for 600 seconds.*?number_of_executed_units: *(\d+).*?peak_rss_mb: *(\d+)",
                        done.stdout + done.stderr, re.DOTALL)
    yield exactly("exit code", done.returncode, 0)
    harnesses = [path.stem for path in (TREE / "tests" / "fuzz").glob("*.c") if path.stem != "replay"]
    yield exactly("parsers", sorted(name for name, _, _ in rounds), sorted(harnesses))
    for name, units, most in rounds:
        yield at_most(f"{name}: memory, of {units} inputs", int(most), 512, " MB")


CPP = "#include <iostream>\n#include <map>\n#include <regex>\n" \
      'int main() { std::map<std::string, std::regex> all; std::cout << all.emplace("a", "a|b").second; }\n'


def compiling(run, name):
    """clang, which maps 170 MB of code, on a source of its own: the share of its stacks that are whole, samples, seconds behind its end."""
    source, end = Path(name) / "large.cpp", Path(name) / "end"
    source.write_text(CPP)
    command = ["sh", "-c", f'"$@"; date +%s.%N > {end}', "sh", "clang++", "-O1", "-c", "-o", f"{name}/large.o", str(source)]
    recording = run.sonde.record(command=command, rate=997, seconds=None, threads=True, more=KERNEL,
                                 environment={**os.environ, "XDG_CACHE_HOME": name})
    behind = time.time() - float(end.read_text())
    inside = [stack for stack in recording.stacks if any(frame.label.startswith(("clang::", "llvm::")) for frame in stack.frames)]
    count = sum(stack.count for stack in inside)
    return 100 * sum(stack.count * is_whole(stack) for stack in inside) / max(count, 1), count, behind


@row("large-program", "a compiler: stacks from the first function on, also while its libraries' tables are made, named soon after its end",
     language="native", once=True)
def large_program(run):
    with tempfile.TemporaryDirectory() as name:
        first, count, _ = compiling(run, name)
        second, again, behind = compiling(run, name)
    yield enough("samples in its libraries", min(count, again), 300)
    few = None if run.full else 90  # on a busy machine
    yield at_least("the first time: from the first function on", first, 98, " %", few)
    yield at_least("then: from the first function on", second, 98, " %", few)
    yield at_most("seconds from its end to the names", behind, 2, " s", None if run.full else 6)
