# SPDX-License-Identifier: Apache-2.0
"""rows_symbols.py - what native code is called: lines and inlined functions, wherever debugging information is."""
import http.server
import json
import lzma
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import folded
import stats
from interpreters import TARGETS
from rows import Figure, at_least, enough, exactly, holds, row
from rows_kernel import KERNEL, is_whole, symbols
from target import Target, start

CHAIN = ["around", "outer", "middle", "innermost"]
INLINED = 32  # enum frame_flags


def call(*words):
    subprocess.run(list(map(str, words)), check=True, capture_output=True)


def built(run, directory):
    path = directory / "inlined"
    call(*run.interpreter.argv, "-O2", "-g", "-Wl,--build-id", "-o", path, TARGETS / "native/inlined.c")
    return path


def debug_file(path):
    out = path.with_suffix(".debug")
    call("objcopy", "--only-keep-debug", path, out)
    return out


def strip(path):
    call("strip", "--strip-all", path)


@contextmanager
def inside(path):
    yield {}


@contextmanager
def beside(path):
    debug = debug_file(path)
    strip(path)
    call("objcopy", f"--add-gnu-debuglink={debug}", path)
    yield {}


@contextmanager
def minimal(path):
    """.gnu_debugdata: a compressed table of symbols, and nothing else."""
    debug = debug_file(path)
    call("objcopy", "-S", "--remove-section", ".comment", "--keep-symbol=outer", "--keep-symbol=around", debug)
    packed = path.with_suffix(".xz")
    packed.write_bytes(lzma.compress(debug.read_bytes(), format=lzma.FORMAT_XZ))
    debug.unlink()
    strip(path)
    call("objcopy", "--add-section", f".gnu_debugdata={packed}", path)
    yield {}


@contextmanager
def served(path):
    """By a server of debuginfod, on loopback."""
    found = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", found)[1]
    content = debug_file(path).read_bytes()
    path.with_suffix(".debug").unlink()
    strip(path)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            known = self.path == f"/buildid/{build_id}/debuginfo"
            self.send_response(200 if known else 404)
            self.send_header("Content-Length", str(len(content) if known else 0))
            self.end_headers()
            self.wfile.write(content if known else b"")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, tempfile.TemporaryDirectory() as cache:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}", "DEBUGINFOD_CACHE_PATH": cache}
        server.shutdown()


PLACES = {"in the file": inside, "beside it": beside, "from a server": served}


def stacks_of(profile):
    """(root first [(name, line, is inlined)], count) of the json format."""
    tables = {name: value["rows"] for name, value in profile.items() if isinstance(value, dict) and "rows" in value}
    strings = profile["strings"]["rows"] if isinstance(profile["strings"], dict) else profile["strings"]
    for _, stack, count, _ in tables["entries"]:
        frames = []
        while stack:
            stack, location, _ = tables["stacks"][stack]
            function, line, _ = tables["locations"][location]
            frames.append((strings[tables["functions"][function][0]], line, bool(tables["functions"][function][4] & INLINED)))
        yield frames[::-1], count


def wrong_line(frames, lines):
    """The first own function that is not where it can be, called or calling."""
    own = [frame for frame in frames if frame[0] in lines]
    if [name for name, _, _ in own] != CHAIN[:len(own)] or len(own) < 2:
        return "order: " + ";".join(name for name, _, _ in own)
    for at, (name, line, is_inlined) in enumerate(own):
        low, high = lines[name]
        is_leaf = at + 1 == len(own)
        if is_inlined != (name in ("middle", "innermost")):
            return f"{name}: inlined {is_inlined}"
        if not (low <= line <= high) and (not is_leaf or name == "innermost" or abs(line - low) > 5):
            return f"{name}:{line} is not in {low}-{high}"
    return None


@row("native-lines", "lines and inlined functions of C: in the file, by debuglink, from a debuginfod server", language="native")
def lines(run):
    for what, prepare in PLACES.items():
        with tempfile.TemporaryDirectory() as name:
            path = built(run, Path(name))
            out = Path(name) / "out.json"
            with prepare(path) as environment, Target([str(path)]) as target:
                known = target.facts["lines"]
                done = run.sonde.run("record", "-e", "kernel", "-f", "json", "-o", out, "-r", "999", "-d", f"{run.seconds(10, 0.6)}s", "-p", target.pid,
                                     env={**os.environ, **environment})
            if done.returncode:
                raise AssertionError(f"{what}: exit {done.returncode}: {done.stderr[-300:]}")
            wrong, depths = Counter(), Counter()
            for frames, count in stacks_of(json.loads(out.read_text())):
                wrong[wrong_line(frames, known)] += count
                depths[sum(name in known for name, _, _ in frames)] += count
        del wrong[None]
        yield Figure(f"{what}: wrong {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)
        yield at_least(f"{what}: all four, of {depths.total()} samples", 100 * depths[4] / max(depths.total(), 1), 95, " %")


@row("native-functions", "record --function: inlined functions too, each once, without its lines", language="native")
def functions(run):
    with tempfile.TemporaryDirectory() as name:
        path = built(run, Path(name))
        out = Path(name) / "out.json"
        with Target([str(path)]) as target:
            known = target.facts["lines"]
            run.sonde.run("record", "-e", "kernel", "-F", "-f", "json", "-o", out, "-r", "999", "-d", f"{run.seconds(10, 0.6)}s", "-p", target.pid)
        written = json.loads(out.read_text())
    seen, depths = Counter(), Counter()
    for frames, count in stacks_of(written):
        own = {frame for frame in frames if frame[0] in known}
        seen.update(own)
        depths[len({name for name, _, _ in own})] += count
    yield at_least(f"all four, of {depths.total()} samples", 100 * depths[4] / max(depths.total(), 1), 95, " %")
    yield exactly("ways in which the four are told", len(seen), 4)
    yield exactly("of these with a line", sum(1 for _, line, _ in seen if line), 0)


@row("native-stripped", "what is stripped is named by .gnu_debugdata", language="native", once=True)
def stripped(run):
    with tempfile.TemporaryDirectory() as name:
        path = built(run, Path(name))
        with minimal(path), Target([str(path)]) as target:
            recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(10, 0.6), more=("-e", "kernel"))
    found = Counter()
    for stack in recording.stacks:
        names = [folded.method(frame.label) for frame in stack.frames]
        found[[name for name in names if name in CHAIN] == ["around", "outer"]] += stack.count
    yield at_least(f"of {found.total()} samples, in around and outer", 100 * found[True] / max(found.total(), 1), 99, " %")


NAMELESS = "(nameless)"  # a native frame of which nothing is known, or its file alone


def churn_figures(run, words, plugs, length):
    """Of turns of that length, in ms."""
    with start(run.interpreter, "churn.c", length * 1_000_000, *words) as target:
        recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(60, 2), more=KERNEL)
        said = target.finish()
    # what has gone before it is asked for a name has none: a frame, and in its place
    legal = {("main", "turn", plug, "spin")[:depth] for plug in (*plugs, NAMELESS) for depth in range(1, 5)}
    wrong, whole, inside = Counter(), Counter(), Counter()
    for stack in recording.stacks:
        names = [NAMELESS if frame.is_native and frame.label.startswith("[") else folded.method(frame.label) for frame in stack.frames]
        own = tuple(found for found in names if found in {"main", "turn", "spin", *plugs, NAMELESS})
        whole[is_whole(stack)] += stack.count
        if "[truncated]" in names:
            wrong[";".join(own)] += stack.count * (not any(one[-len(own):] == own for one in legal) and bool(own))
        else:
            wrong[";".join(own)] += stack.count * (bool(own) and own not in legal)
            inside[own[2] if len(own) > 2 else ""] += stack.count
    turns = f"turns of {length} ms: "
    yield Figure(f"{turns}stacks that cannot be {wrong.most_common(1) if wrong.total() else ''}", wrong.total(), "= 0", not wrong.total())
    yield at_least(f"{turns}from the first function on", 100 * whole[True] / whole.total(), 99.5, " %",
                   stats.least_bar(99.5, whole.total()))
    yield at_least(f"{turns}libraries loaded, of these in the other's place", said["in_place"], said["loads"] / 2)
    yield holds(f"{turns}samples in a plug without a name", True, inside[NAMELESS], "printed")
    for plug in plugs:
        yield at_least(f"{turns}samples in {plug}", inside[plug], recording.samples / 4)


@row("kernel-jit-objects", "code made at run time without frames, of which debuggers are told, as LLVM's: >= 99 % whole, in order and named",
     language="native")
def jit_objects(run):
    order = ["main", "work", "made_outer", "made_middle", "made_inner"]
    with tempfile.TemporaryDirectory() as name:
        made = Path(name) / "made.o"
        call(*run.interpreter.argv, "-O2", "-c", "-fomit-frame-pointer", "-fasynchronous-unwind-tables", "-fcf-protection=none",
             "-fno-pic", "-o", made, TARGETS / "native/made.c")
        with start(run.interpreter, "loader.c", made, "made_outer") as target:
            recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(20, 1.5), more=KERNEL)
            target.finish()
    inside = Counter()
    for stack in recording.stacks:
        names = [label for label in symbols(stack) if label in order or label.startswith("[")]
        inside[is_whole(stack) and names == order] += stack.count
    yield enough("samples", inside.total(), 500)
    # the others are of the program itself, which asks what time it is
    yield at_least("whole, in order, named, and in the innermost", 100 * inside[True] / inside.total(), 97, " %")


def loads_figures(run, what, libraries, each_ns):
    """Of so many that are each mapped for the first time."""
    good = Counter()
    with tempfile.TemporaryDirectory() as name:
        first, *others = (Path(name) / f"plug_{number}.so" for number in range(libraries))
        call(*run.interpreter.argv, "-O2", "-shared", "-fPIC", "-DNAME=plugged", "-DBYTES=64", "-o", first, TARGETS / "native/plug.c")
        for other in others:
            shutil.copy(first, other)
        command = run.interpreter.command("loads.c", what, each_ns, "plugged", first, *others)
        for _ in range(run.count(10, 1)):
            recording = run.sonde.record(command=command, rate=997, seconds=0, more=KERNEL)
            for stack in recording.stacks:
                if "spin" in symbols(stack):
                    good[is_whole(stack) and "plugged" in symbols(stack)] += stack.count
    yield enough(f"{what}: samples in libraries", good.total(), 100)
    yield at_least(f"{what}: from the first function on, and named", 100 * good[True] / max(1, good.total()), 98, " %")


@row("kernel-loads", "libraries that run as soon as they are loaded, 40 kB deep, and stay or are left in a ms: >= 98 % from the first function on",
     language="native", alone=True)
def loads(run):
    yield from loads_figures(run, "keep", 60, 4_000_000)
    # the first one that lies in another's place is walked by that one's table until that is told
    yield from loads_figures(run, "leave", 1_200, 1_000_000)


@row("kernel-churn", "dlclose and dlopen of another library at the same address: 0 wrong neighbours, >= 99.5 % from the first function on; "
     "a thousand times a second, too", language="native", alone=True)
def churn(run):
    plugs = {"first_plug": 64, "second_plug": 1_024}
    with tempfile.TemporaryDirectory() as name:
        words = []
        for plug, size in plugs.items():
            path = Path(name) / f"{plug}.so"
            call(*run.interpreter.argv, "-O2", "-shared", "-fPIC", f"-DNAME={plug}", f"-DBYTES={size}", "-o", path, TARGETS / "native/plug.c")
            words += [path, plug]
        for length in 100, 1:
            yield from churn_figures(run, words, plugs, length)
