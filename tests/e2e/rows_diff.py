# SPDX-License-Identifier: Apache-2.0
"""rows_diff.py - two recordings compared: the same program shows no change, five points more are found.

compare.rb is a program whose shares are known, steady or in phases; the runs that are compared have
different lengths. What is judged is `sonde diff --json`.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import folded
from rows import Figure, Skip, exactly, holds, row
from target import Target, start

NATIVE = Path(__file__).resolve().parents[1] / "targets" / "native"
RATE = 5_000
SAMPLES = 10_000
FIVE_POINTS = 80 / 3 - 20  # part0 has 20 of 100: with so much more it has 25 %


def record(run, path, kind, extra, samples, least=0.95):
    """Runs the program until there are so many samples: on a busy machine it takes more CPU time than the rate
    says, because looks that are late are lost. `least`: the part that will do. Gives the shares that
    the program says that its parts had."""
    seconds = 1.05 * samples / RATE
    for _ in range(4):
        with start(run.interpreter, "compare.rb", kind, extra, seconds) as target:
            done = run.sonde.run("record", "-e", "reader", "-p", target.pid, "-r", RATE, "-f", "sonde", "-o", path, seconds=300)
            said = target.read_line()["part"]
        if done.returncode != 0:
            raise AssertionError(f"record: exit {done.returncode}: {done.stderr[-300:]}")
        taken = json.loads(run.sonde.run("report", path, "--json").stdout)["samples"]
        if taken >= samples * least:
            return [100 * one / sum(said) for one in said]
        seconds *= min(4, 1.1 * samples / taken)
    raise Skip(f"{taken} samples of {samples}: the machine is too busy")


def compare(run, before, after, *more):
    done = run.sonde.run("diff", before, after, "--json", "--all", "-n", 10_000, *more)
    if done.returncode != 0:
        raise AssertionError(f"diff: exit {done.returncode}: {done.stderr[-300:]}")
    return json.loads(done.stdout)


def part0(found):
    """The row of part0: its name has a class in front from Ruby 3.3 on."""
    rows = [one for one in found["functions"] if folded.bare(one["name"]) == "part0"]
    if len(rows) != 1:
        raise AssertionError(f"{len(rows)} rows of part0")
    return rows[0]["total"]


def changes(found, said):
    """What was called a change and is none of the program's own, and what is, in words. said: its shares by itself, twice."""
    none, own = [], []
    for one in found["functions"]:
        for part in ("self", "total"):
            if one[part]["verdict"] == "none":
                continue
            change, number = one[part]["change"], re.fullmatch(r"part(\d+)", folded.bare(one["name"]))
            truth = said[1][int(number[1])] - said[0][int(number[1])] if number else 0
            words = f"{one['name']} {part} {one[part]['before']:.2f} -> {one[part]['after']:.2f} +- {one[part]['noise']:.2f}"
            (own if truth / change > 0.5 else none).append(f"{words}, itself {truth:+.2f}")
    return none, own


@row("diff-same", "two recordings of the same program: no change in 95 of 100 pairs", once=True)
def diff_same(run):
    pairs, samples_of_one = run.count(100, 3), run.count(SAMPLES, 4000)
    for kind in ("steady", "phases"):
        with tempfile.TemporaryDirectory(prefix="sonde-diff-") as name:
            seen, own = [], []
            for _ in range(pairs):
                files = [Path(name) / f"{side}.sonde" for side in range(2)]
                said = [record(run, file, kind, 0, samples, least=0.5)
                        for file, samples in zip(files, (samples_of_one, samples_of_one // 2))]
                none, real = changes(compare(run, *files), said)
                seen += [", ".join(none)] if none else []
                own += [", ".join(real)] if real and not none else []
        most = pairs * 5 // 100 + (not run.full)  # of few, one more is chance
        yield Figure(f"{kind}: of {pairs} pairs with a change", len(seen), f"<= {most}"
                     + "".join(f"\n      {one}" for one in seen), len(seen) <= most, True)
        yield Figure(f"{kind}: others in which the program was another by its own clock", len(own), "printed"
                     + "".join(f"\n      {one}" for one in own), True)


@row("diff-change", "five points more at 10,000 samples: found in 99 of 100 pairs", once=True)
def diff_change(run):
    pairs = run.count(100, 2)
    found, covered, as_pprof, points = 0, 0, 0, []
    with tempfile.TemporaryDirectory(prefix="sonde-diff-") as name:
        for _ in range(pairs):
            files = [Path(name) / f"{side}.sonde" for side in range(2)]
            for file, extra in zip(files, (0, FIVE_POINTS)):
                record(run, file, "steady", extra, SAMPLES)
            one = part0(compare(run, *files))
            found += one["verdict"] == "more"
            covered += abs(one["change"] - 5) <= one["noise"]
            points.append(one["change"])
            exported = files[0].with_suffix(".pb.gz")
            run.sonde.run("export", files[0], "-o", exported)
            as_pprof += part0(compare(run, exported, files[1]))["verdict"] == "more"
    least = pairs * 99 // 100
    said = f"{found}, {min(points):+.2f} to {max(points):+.2f} points"
    yield Figure(f"of {pairs} pairs found", said, f">= {least}", found >= least, True)
    yield Figure("their noise holds the truth", covered, f">= {least}", covered >= least, True)
    # without times the noise is assumed to be larger: found more often than not
    yield Figure("found with one as pprof", as_pprof, f">= {pairs * 8 // 10}", as_pprof >= pairs * 8 // 10, True)


@row("diff-files", "text, page, folded and JSON say the same; other profilers' files are read", once=True)
def diff_files(run):
    with tempfile.TemporaryDirectory(prefix="sonde-diff-") as name:
        where = Path(name)
        before, after = where / "a.sonde", where / "b.sonde"
        record(run, before, "steady", 0, SAMPLES // 2, 0.5)
        record(run, after, "steady", 40, SAMPLES // 2, 0.5)
        found = part0(compare(run, before, after))
        yield exactly("verdict", found["verdict"], "more")
        text = run.sonde.run("diff", before, after).stdout
        yield holds("text names it", "part0" in text and "more" in text and "points to be told from chance" in text)
        page = where / "diff.html"
        run.sonde.run("diff", before, after, "-f", "html", "-o", page)
        facts = json.loads(re.search(r'id="facts">(.*?)</script>', page.read_text(), re.S)[1])["diff"]
        whole = compare(run, before, after)
        yield exactly("page: changed, compared, samples of both",
                      (facts["changed"], facts["compared"], facts["before"]["samples"], facts["after"]["samples"]),
                      (whole["changed"], whole["compared"], whole["before"]["samples"], whole["after"]["samples"]))
        lines = run.sonde.run("diff", before, after, "-f", "folded", "--all").stdout.splitlines()
        sums = [sum(int(line.rsplit(" ", 2)[column]) for line in lines) for column in (1, 2)]
        # each number is rounded
        yield holds("folded: both columns have the same sum", abs(sums[0] - sums[1]) <= len(lines),
                    f"{sums[0]}, {sums[1]}, {len(lines)} stacks")
        for form, suffix in (("folded", "folded"), ("pprof", "pb.gz")):
            other = where / f"b.{suffix}"
            run.sonde.run("export", after, "-f", form, "-o", other)
            same = compare(run, after, other)
            yield exactly(f"changes against its own {form}", same["changed"], 0)
            yield exactly(f"samples of its {form}", same["after"]["samples"], same["before"]["samples"])


@row("diff-native", "C built twice, in two places: no function is gone or new", language="native", once=True)
def diff_native(run):
    if os.geteuid() != 0:
        raise Skip("needs root, for native frames")
    with tempfile.TemporaryDirectory(prefix="sonde-diff-") as name:
        files = []
        for side in ("a", "b"):
            where = Path(name) / side
            where.mkdir()
            source, program, file = shutil.copy(NATIVE / "inlined.c", where), where / "inlined", where / "x.sonde"
            subprocess.run([run.interpreter.name, "-O2", "-g", "-std=gnu11", "-D_GNU_SOURCE", f"-I{NATIVE}",
                            "-o", program, source, "-lpthread"], check=True)
            with Target([str(program)]) as target:
                done = run.sonde.run("record", "-e", "kernel", "-p", target.pid, "-r", 2000, "-d", "1s", "-o", file)
            if done.returncode != 0:
                raise AssertionError(f"record: exit {done.returncode}: {done.stderr[-300:]}")
            files.append(file)
        found = compare(run, *files)
        lost = [one["name"] for one in found["functions"] if one["total"]["verdict"] in ("gone", "new")]
        yield holds("compared: the program's own functions", {"outer", "innermost"} <= {one["name"] for one in found["functions"]})
        yield exactly("functions that are gone or new", lost, [])
        folded_file = files[0].with_suffix(".folded")
        run.sonde.run("export", files[0], "-o", folded_file)
        yield exactly("changes against its own folded", compare(run, files[0], folded_file)["changed"], 0)
