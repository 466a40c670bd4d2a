# SPDX-License-Identifier: Apache-2.0
"""sonde.py - the program under test, called as a user calls it.

    sonde.record(pid, rate=1000, seconds=1) -> Recording: stacks, quality, rc, own costs
    sonde.dump(pid)                         -> {tid: Thread}
"""
import json
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import folded
import stats


class SondeError(Exception):
    pass


class Recording(NamedTuple):
    stacks: list
    quality: dict
    stderr: str
    rc: int
    begin_ns: int  # CLOCK_MONOTONIC around the whole command
    end_ns: int
    peak_rss_kb: int
    independent: float  # samples, less those of a target that waited for a CPU (one busy thread)

    @property
    def samples(self):
        return self.quality["samples"]

    @property
    def lost(self):
        return sum(self.quality["lost"].values())

    @property
    def own_us_per_sample(self):
        return self.quality["own_cpu_ns"] / 1000 / max(self.quality["samples"], 1)


class Thread(NamedTuple):
    tid: int
    name: str
    state: str
    frames: list  # leaf first, folded.Frame
    kinds: list


OTHERS = (" [native]", " [kernel]", " [inlined]")


def managed_part(stack):
    """For rows that know of no other engine than the reader. Of what has no frame of the language, all."""
    kept = [frame for frame in stack.frames if not frame.label.endswith(OTHERS)]
    return stack._replace(frames=kept or stack.frames)


def main_thread_waited_ns(pid):
    """For how long the main thread has wanted to run and had no CPU; 0 when it has gone."""
    try:
        return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1])
    except OSError:
        return 0


class Running:
    """A recording under way."""

    def __init__(self, argv, directory, wrap=(), environment=None):
        self.out, self.quality = directory / "out.folded", directory / "quality.json"
        self.begin_ns = time.monotonic_ns()
        self.process = subprocess.Popen([*wrap, *argv], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment)
        self.peak_rss_kb = 0
        self._directory = directory
        self._watch = threading.Thread(target=self._watch_rss, daemon=True)
        self._watch.start()

    def _watch_rss(self):
        """VmHWM: getrusage would tell the size of Python before the exec too."""
        status = Path(f"/proc/{self.process.pid}/status")
        while self.process.returncode is None:
            try:
                for line in status.read_text().splitlines():
                    if line.startswith("VmHWM:"):
                        self.peak_rss_kb = int(line.split()[1])
            except (OSError, ValueError):
                return
            time.sleep(0.05)

    def finish(self, seconds):
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise SondeError(f"did not end within {seconds} s") from None
        self.stdout = out
        return err.decode(errors="replace")


class Sonde:
    def __init__(self, path, engine="reader"):
        self.path = str(path)
        self.engine = engine  # of recordings that do not say

    def run(self, *words, seconds=60, wrap=(), **more):
        """Any command, to its end: CompletedProcess with text."""
        return subprocess.run([*wrap, self.path, *map(str, words)], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=seconds, check=False,
                              text=True, errors="replace", **more)

    def words(self, directory, pid=None, command=None, rate=1000, seconds=1.0, mode=None, pause=None,
              threads=False, weights=False, thread=None, events=(), more=()):
        """`events`: these are traced. `more` may name another engine."""
        words = [self.path, *(["trace", *events] if events else ["record", "-r", str(rate)]), "-f", "folded",
                 "-o", str(directory / "out.folded"), "--quality", str(directory / "quality.json")]
        words += ["-d", f"{seconds:g}s"] if seconds else []
        words += [f"--mode={mode}"] if mode else []
        words += [f"--pause={pause}"] if pause else []
        words += ["-T"] if threads else []
        words += ["--weights"] if weights else []
        words += ["-t", str(thread)] if thread else []
        words += list(map(str, more))
        is_free = not events and mode != "offcpu" and not {"-e", "-a", "--cgroup"} & set(map(str, more))
        words += ["-e", self.engine] if is_free and self.engine else []
        words += ["-p", str(pid)] if pid else []
        words += ["--", *map(str, command)] if command else []
        return words

    def record(self, pid=None, wrap=(), environment=None, rc=0, patience=60, **options):
        """Records to the end. rc: what it must exit with (None: anything)."""
        with tempfile.TemporaryDirectory(prefix="sonde-e2e-") as name:
            directory = Path(name)
            directory.chmod(0o777)  # `wrap` may make it somebody else
            waited_ns = main_thread_waited_ns(pid)
            running = Running(self.words(directory, pid=pid, **options), directory, wrap, environment)
            seconds = options.get("seconds", 1.0) or 0
            stderr = running.finish(seconds + patience)
            end_ns = time.monotonic_ns()
            waited = (main_thread_waited_ns(pid) - waited_ns) / (end_ns - running.begin_ns)
            code = running.process.returncode
            if rc is not None and code != rc:
                raise SondeError(f"exit {code}: {stderr[-400:].strip()}")
            stacks = folded.parse(running.out.read_bytes()) if running.out.exists() else []
            if self.engine not in ("reader", None) and "-e" not in options.get("more", ()):
                stacks = [managed_part(stack) for stack in stacks]
            quality = json.loads(running.quality.read_text()) if running.quality.exists() else {}
            independent = stats.effective(quality.get("samples", 0), options.get("rate", 1000), waited)
            return Recording(stacks, quality, stderr, code, running.begin_ns, end_ns,
                             running.peak_rss_kb, independent)

    def dump(self, pid, *more, wrap=()):
        done = self.run("dump", "-p", pid, "--json", *more, wrap=wrap)
        if done.returncode != 0:
            raise SondeError(f"dump: exit {done.returncode}: {done.stderr[-400:].strip()}")
        threads = {}
        for thread in json.loads(done.stdout)["threads"]:
            frames = [folded.Frame(frame["name"], frame["path"] if frame["kind"] != "cfunc" else None,
                                   frame["line"] if frame["kind"] != "cfunc" else None)
                      for frame in thread["frames"]]
            threads[thread["tid"]] = Thread(thread["tid"], thread["name"], thread["state"], frames,
                                            [frame["kind"] for frame in thread["frames"]])
        return threads


def own_cpu_of(argv, wrap=()):
    """CPU seconds of a command that ends by itself."""
    process = subprocess.Popen([*wrap, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime
