# SPDX-License-Identifier: Apache-2.0
"""rows_recording.py - a .sonde file holds what was sampled, whatever ended the recorder."""
import json
import os
import random
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from rows import Skip, at_least, exactly, holds, row
from rows_world import tiny_disk
from target import Progress, start


def report(run, path, *more):
    """(the report as JSON or None, what was said)."""
    done = run.sonde.run("report", "--json", "-n", 100000, *more, path)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


def samples_in(run, path):
    found, _ = report(run, path)
    return found["samples"] if found else 0


def wait_until(holds_now, seconds=20):
    deadline = time.monotonic() + seconds
    while not holds_now():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.002)


class Witness:
    """bench/witness: a recorder that counts its samples where SIGKILL does not reach."""

    def __init__(self, run, pid, where, rate):
        program = run.build / "bench" / "witness"
        if not program.exists():
            raise Skip("bench/witness is not built")
        self.file, self.counter = where / "x.sonde", where / "taken"
        self.process = subprocess.Popen([str(program), str(pid), str(self.file), str(self.counter), str(rate)],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def taken(self):
        try:
            return struct.unpack("q", self.counter.read_bytes())[0]
        except (OSError, struct.error):
            return 0

    def kill(self):
        self.process.kill()
        self.process.communicate()


@row("recording-killed", "kill -9 of the recorder at random instants: >= 99 % of the samples taken are in the file", once=True)
def recording_killed(run):
    kills = run.count(200, 10)  # 1,000 over the five interpreters
    rng = random.Random(7)
    inside, outside = run.interpreter.scratch("progress")
    taken = kept = unread = silent = 0
    worst = 1.0
    with start(run.interpreter, "frames.rb", 12, inside) as target, \
            tempfile.TemporaryDirectory(prefix="sonde-e2e-") as name:
        Progress(outside).wait_for_more(0)
        for number in range(kills):
            where = Path(name) / str(number)
            where.mkdir()
            witness = Witness(run, target.pid, where, rng.choice((99, 1000)))
            wait_until(lambda one=witness: one.taken() > 0)
            time.sleep(rng.uniform(0, 3))  # the instant is the point
            witness.kill()
            taken += witness.taken()
            if witness.taken() == 1 and not witness.file.exists():
                continue  # it comes with the first sample's block, which was on its way
            found, said = report(run, witness.file)
            unread += found is None
            silent += "killed" not in said
            had = found["samples"] if found else 0
            kept += had
            worst = min(worst, (had + 1) / max(witness.taken(), 1))
    yield at_least(f"of {taken} samples in the files of {kills}", 100 * kept / taken, 99, " %")
    yield holds("worst file, give or take one sample", worst >= 0.98, f"{100 * worst:.2f} %", "printed (98 %)")
    yield exactly("files that do not read", unread, 0)
    yield exactly("files that do not say what is missing", silent, 0)


@row("recording-full", "a disk that fills up: >= 99 % of the samples are in the file, exit code 1, it reads", once=True)
def recording_full(run):
    if os.geteuid() != 0:
        raise Skip("needs root, to mount")
    rounds = run.count(20, 2)
    rng = random.Random(11)
    inside, outside = run.interpreter.scratch("progress")
    taken = kept = unread = 0
    codes = set()
    with start(run.interpreter, "frames.rb", 12, inside) as target:
        Progress(outside).wait_for_more(0)
        for _ in range(rounds):
            with tiny_disk("600k") as where, tempfile.TemporaryDirectory() as beside:
                file, quality = where / "x.sonde", Path(beside) / "q.json"
                process = subprocess.Popen(
                    [run.sonde.path, "record", "-e", "reader", "-p", str(target.pid), "-r", "1000", "-o", str(file),
                     "--quality", str(quality)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                wait_until(file.exists)
                time.sleep(rng.uniform(0, 1.5))
                fill(where / "other")
                said = process.communicate(timeout=60)[1]
                codes.add(process.returncode)
                found, _ = report(run, file)
                unread += found is None
                kept += found["samples"] if found else 0
                taken += json.loads(quality.read_text())["samples"]
                if "No space left" not in said:
                    raise AssertionError(f"it said: {said[-300:]}")
    yield at_least(f"of {taken} samples in the files of {rounds}", 100 * kept / taken, 99, " %")
    yield exactly("files that do not read", unread, 0)
    yield exactly("exit codes", sorted(codes), [1])


def fill(path):
    with open(path, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass


@row("recording", "one recording: by pipe, cut short, exported: the same samples everywhere", once=True)
def recording(run):
    inside, outside = run.interpreter.scratch("progress")
    with start(run.interpreter, "frames.rb", 12, inside) as target, \
            tempfile.TemporaryDirectory(prefix="sonde-e2e-") as name:
        where = Path(name)
        Progress(outside).wait_for_more(0)
        words = ["record", "-p", target.pid, "-r", 1000, "-d", "1s"]
        done = run.sonde.run(*words, "-o", where / "x.sonde", "--quality", where / "q.json")
        yield exactly("exit code", done.returncode, 0)
        quality = json.loads((where / "q.json").read_text())
        whole, said = report(run, where / "x.sonde")
        yield exactly("said of a whole file", said, "")
        yield exactly("samples in the file", whole["samples"], quality["samples"])
        folded = run.sonde.run("export", where / "x.sonde", "-f", "folded", "-o", "-").stdout
        yield exactly("samples in folded lines", sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()),
                      quality["samples"])
        piped = subprocess.run(f"'{run.sonde.path}' record -q -p {target.pid} -r 1000 -d 1s -f sonde -o - "
                               f"--quality '{where}/piped.json' | '{run.sonde.path}' report --json -",
                               shell=True, check=True, capture_output=True, text=True)
        yield exactly("samples by a pipe", json.loads(piped.stdout)["samples"],
                      json.loads((where / "piped.json").read_text())["samples"])
        early, _ = report(run, where / "x.sonde", "--to", "500ms")
        late, _ = report(run, where / "x.sonde", "--from", "500ms")
        yield exactly("two halves together", early["samples"] + late["samples"], whole["samples"])
        yield holds("a part in each", min(early["samples"], late["samples"]) > 0.05 * whole["samples"],
                    f"{early['samples']} and {late['samples']}", "some")
        data = (where / "x.sonde").read_bytes()
        before, falls = 0, 0
        for size in range(8, len(data), max(1, len(data) // 50)):
            (where / "cut.sonde").write_bytes(data[:size])
            now = samples_in(run, where / "cut.sonde")
            falls += now < before
            before = now
        yield exactly("cuts that read less than a shorter one", falls, 0)
