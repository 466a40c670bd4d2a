# SPDX-License-Identifier: Apache-2.0
"""rows_formats.py - every format of a recording, judged by its rules and by the program that reads it.

What comes from npm is installed once into ${XDG_CACHE_HOME:-~/.cache}/sonde/formats; what cannot be had
is a skip that says so.
"""
import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from readers import READERS
from rows import Figure, Skip, at_least, exactly, holds, row
from rows_names import NPM
from target import start

CACHE = NPM.parent / "formats"
SPEEDSCOPE = Path(__file__).resolve().parent / "read_speedscope.mjs"
ENDS = {"folded": "folded", "pprof": "pb.gz", "speedscope": "speedscope.json", "firefox": "firefox.json",
        "callgrind": "callgrind.out", "svg": "svg", "json": "json", "otlp": "otlp"}
NODE_LEAST = 24  # of profiler-cli


@contextlib.contextmanager
def exported(run, *formats):
    """({format: path}, names that were running) of one recording of formats.rb."""
    with tempfile.TemporaryDirectory(prefix="sonde-formats-") as name:
        recording = Path(name) / "x.sonde"
        with start(run.interpreter, "formats.rb") as target:
            names = [bytes.fromhex(one) for one in target.facts["names"]]
            done = run.sonde.run("record", "-p", target.pid, "-r", 1000, "-d", f"{run.seconds(20, 4):g}s",
                                 "--with-source", "-o", recording)
        if done.returncode:
            raise AssertionError(done.stderr[-300:])
        files = {}
        for one in formats:
            files[one] = Path(name) / f"x.{ENDS[one]}"
            done = run.sonde.run("export", recording, "-f", one, "-o", files[one])
            if done.returncode:
                raise AssertionError(done.stderr[-300:])
        yield files, names


def output_of(*command, seconds=120, **more):
    """What a reader prints; it must accept the file."""
    done = subprocess.run([*map(str, command)], capture_output=True, timeout=seconds, check=False, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, **more)
    if done.returncode:
        raise AssertionError(f"{command[0]}: {(done.stderr + done.stdout)[-300:]}")
    return done.stdout


def needs(program):
    if not shutil.which(program):
        raise Skip(f"{program} is not installed")
    return program


@functools.cache
def packages():
    """The directory with the npm packages, or why there is none (a str)."""
    wanted = ("speedscope@1.25", "ajv@8", "@firefox-devtools/profiler-cli@0.10", f"node@{NODE_LEAST}")
    if (CACHE / "installed").exists():
        return CACHE
    if not shutil.which("npm"):
        return "no npm (apt-get install npm)"
    CACHE.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["npm", "install", "--prefix", str(CACHE), "--no-save", "--no-audit", "--no-fund", *wanted],
                          capture_output=True, text=True, timeout=600, check=False)
    (CACHE / "install.log").write_text(done.stdout + done.stderr)
    if done.returncode:
        return f"npm could not install {' '.join(wanted)} ({CACHE}/install.log says why)"
    (CACHE / "installed").touch()
    return CACHE


def needs_packages():
    there = packages()
    if isinstance(there, str):
        raise Skip(there)
    return there


def new_node(where):
    """A node that profiler-cli runs in."""
    found = shutil.which("node")
    candidates = [found] if found else []
    candidates += sorted(map(str, where.glob("node_modules/**/bin/node")))
    for one in candidates:
        done = subprocess.run([one, "--version"], capture_output=True, text=True, check=False)
        match = re.match(r"v(\d+)\.", done.stdout)
        if match and int(match[1]) >= NODE_LEAST:
            return one
    raise Skip(f"no node of version {NODE_LEAST} or later, which profiler-cli needs")


def lacking(names, content):
    """Names that the format does not hold; the class stands in front of them from Ruby 3.3 on."""
    return [name for name in names
            if not any(one == name or one.endswith(b"#" + name) for one in content.names)]


@row("formats", "every format keeps the names and sums up to the same", once=True)
def formats(run):
    needs("protoc")
    with exported(run, *READERS) as (files, names):
        contents = {one: read(files[one]) for one, read in READERS.items()}
    whole = contents["json"]
    for one, content in contents.items():
        missing = lacking(names, content)
        yield Figure(f"names in {one}", len(names) - len(missing), f"= {len(names)} {missing[:2] or ''}", not missing)
        if content.samples is not None:
            yield exactly(f"samples in {one}", content.samples, whole.samples)
        if content.weight is not None:
            yield exactly(f"nanoseconds in {one}", content.weight, whole.weight)
    yield holds("they were recorded", whole.samples > 20 and whole.weight > 0, whole.samples, "> 20")


@row("format-pprof", "go tool pprof reads it", once=True)
def format_pprof(run):
    needs("go")
    with exported(run, "pprof", "json") as (files, names):
        raw = output_of("go", "tool", "pprof", "-raw", files["pprof"])
        top = output_of("go", "tool", "pprof", "-top", "-sample_index=samples", files["pprof"])
        samples = READERS["json"](files["json"]).samples
    yield holds("a period and its type", "PeriodType: cpu nanoseconds" in raw and "Period: 1000000" in raw)
    yield holds("weights are shown first", "cpu/nanoseconds[dflt]" in raw)
    yield holds("every sample", f"of {samples} total" in top, re.search(r"of (\S+) total", top)[1], f"= {samples}")
    yield holds("a name as it is", "größe_日本" in raw and "\\xff\\xfe;\\x80" in raw)


@row("format-callgrind", "callgrind_annotate reads it, recursion counts once", once=True)
def format_callgrind(run):
    needs("callgrind_annotate")
    with exported(run, "callgrind", "json") as (files, names):
        report = output_of("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no",
                           files["callgrind"])
        whole = READERS["json"](files["json"])
    rows = re.findall(r"^ *([\d,.]+) \([^)]*\) +([\d,.]+) \([^)]*\)  (.*)$", report, re.M)
    # from 3.3 on a name has its class
    costs = {name.rsplit(":", 1)[-1].removeprefix("Object#"): int(weight.replace(",", "")) for weight, _, name in rows}
    yield exactly("warnings", report.count("WARNING"), 0)
    yield exactly("nanoseconds of all", costs.get("PROGRAM TOTALS"), whole.weight)
    yield exactly("functions that cost more than all", [one for one, cost in costs.items() if cost > whole.weight], [])
    # All but the garbage collector's stays below `turns`, and below `again`, which calls itself.
    yield holds("again, which recurses", costs["again"] >= 0.9 * whole.weight, f"{costs['again'] / whole.weight:.3f}",
                "0.9 to 1 of all")


@row("format-speedscope", "speedscope's schema and speedscope itself take it", once=True)
def format_speedscope(run):
    needs("node")
    where = needs_packages()
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    has_browser = browser and (NPM / "node_modules" / "puppeteer-core").exists()
    with exported(run, "speedscope") as (files, names):
        more = [NPM, browser] if has_browser else []
        said = output_of("node", SPEEDSCOPE, where, files["speedscope"], *more, seconds=240)
        profiles = json.loads(files["speedscope"].read_text())["profiles"]
    yield holds("accepted by", "schema" in said, said.strip() if has_browser else "schema (no chromium or puppeteer-core)",
                "printed")
    yield at_least("threads", len({one["name"] for one in profiles}), 2)


@row("format-firefox", "profiler-cli shows the threads, the sums and the sources", once=True)
def format_firefox(run):
    where = needs_packages()
    node = new_node(where)
    command = [node, where / "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"]
    with exported(run, "firefox", "json") as (files, names), tempfile.TemporaryDirectory(prefix="s-") as session:
        READERS["firefox"](files["firefox"])  # it never ends on what is broken
        whole = READERS["json"](files["json"])
        more = {"env": {**os.environ, "PROFILER_CLI_SESSION_DIR": session}, "cwd": session}
        output_of(*command, "load", files["firefox"], **more)
        try:
            sums, labels, spin = 0, set(), None
            for thread in (f"t-{n}" for n in range(len(json.loads(files["firefox"].read_text())["threads"]))):
                output_of(*command, "thread", "select", thread, **more)
                functions = json.loads(output_of(*command, "thread", "functions", "--json", "--limit", "0", "--include-idle", **more))
                sums += sum(one["selfSamples"] for one in functions["functions"])
                labels |= {one["name"] for one in functions["functions"]}
                if any(one["name"] in ("spin", "Object#spin") for one in functions["functions"]):
                    busiest = thread
                spin = next((one["functionHandle"] for one in functions["functions"] if one["name"] in ("spin", "Object#spin")), spin)
            output_of(*command, "thread", "select", busiest, **more)
            source = output_of(*command, "function", "annotate", spin, "--mode", "src", **more)
            markers = output_of(*command, "thread", "markers", "--thread", "t-0", **more)
        finally:
            output_of(*command, "stop", **more)
    yield Figure("milliseconds", f"{sums:.6f}", f"= {whole.weight / 1e6:.6f}", abs(sums - whole.weight / 1e6) < 1e-3)
    yield holds("names as they are", any(one.endswith("größe_日本") for one in labels)
                and any(one.endswith("\\xff\\xfe;\\x80") for one in labels))
    yield holds("a line of the source", "nil while Truth.thread_cpu_ns < limit" in source)
    yield holds("the recording as a marker", "sonde recording" in markers)
