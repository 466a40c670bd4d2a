# SPDX-License-Identifier: Apache-2.0
"""target.py - a running program that knows its own answer, and the kernel's view of it.

The protocol is that of tests/targets/ruby/truth.rb: one JSON line when ready, one when done. The program
ends when its standard input is closed or SIGTERM comes.
"""
import json
import os
import selectors
import signal
import struct
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

READY_SECONDS = 60

# Runs a command as somebody else, without rights.
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")


class TargetError(Exception):
    pass


class Target:
    def __init__(self, command, env=None, ready=True):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
        self.pid = self.process.pid
        self.command = command
        self._text = b""
        try:
            self.facts = self.read_line() if ready else {}
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def read_line(self, seconds=READY_SECONDS):
        """The next JSON line of the program."""
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._text:
                if not selector.select(max(0, deadline - time.monotonic())):
                    raise TargetError(f"silent for {seconds} s: {' '.join(self.command)}")
                chunk = os.read(self.process.stdout.fileno(), 1 << 20)
                if not chunk:
                    self.process.wait()
                    said = self.process.stderr.read().decode(errors="replace")
                    raise TargetError(f"ended with {self.process.returncode}: "
                                      f"{' '.join(self.command)}: {said[-500:]}")
                self._text += chunk
        line, self._text = self._text.split(b"\n", 1)
        return json.loads(line)

    def close_input(self):
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()

    def finish(self):
        """Asks the program to end, and returns what it measured."""
        self.process.send_signal(signal.SIGTERM)
        self.close_input()
        return self.read_line()

    def wait(self, seconds=READY_SECONDS):
        self.close_input()
        return self.process.wait(seconds)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream and not stream.closed:
                stream.close()

    def state(self, tid=None):
        """R, S, D, t, T, Z as /proc has it, of its first thread if of no other."""
        return Path(f"/proc/{self.pid}/task/{tid or self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def tids(self):
        return sorted(int(name) for name in os.listdir(f"/proc/{self.pid}/task"))


def start(interpreter, program, *args, env=None, ready=True):
    return Target(interpreter.command(program, *args), env=env, ready=ready)


@contextmanager
def hogs(count):
    """Programs that take every CPU they can get, meanwhile."""
    running = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def process_cpu_ns(pid):
    """CPU time of any process, by its clock (man 2 clock_getres)."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def with_children_cpu_ns(pid):
    """That of its children that have ended, too, in ticks of 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return process_cpu_ns(pid) + 10_000_000 * (int(fields[13]) + int(fields[14]))


def thread_cpu_ns(pid, tid):
    """CPU time of a thread of another process, at most one tick old (its clock is not for others)."""
    return int(Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()[0])


def child_of(pid):
    """The first child: `unshare --fork` stands in front of its program."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if children:
            return int(children[0])
        time.sleep(0.005)
    raise TargetError(f"{pid} has no child")


class Progress:
    """Reads what truth.rb's Progress writes: (work done, CPU ns of the worker, monotonic ns)."""

    def __init__(self, path):
        self.path = path

    def read(self):
        while True:
            first, second = self.path.read_bytes(), self.path.read_bytes()
            if first == second and len(first) == 24:
                return struct.unpack("3q", first)

    def wait_for_more(self, than, seconds=10):
        """True when work was done since `than`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.read()[0] > than:
                return True
            time.sleep(0.001)
        return False


class CpuSeries:
    """Writes down clocks every few ms, to answer later how much CPU time went by between two times."""

    def __init__(self, clocks, every=0.004):
        self.clocks = clocks  # {name: function returning ns}
        self.points = []
        self._every = every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _take(self):
        values = {}
        for name, clock in self.clocks.items():
            try:
                values[name] = clock()
            except OSError:
                return
        self.points.append((time.monotonic_ns(), values))

    def _run(self):
        while not self._stop.is_set():
            self._take()
            self._stop.wait(self._every)
        self._take()

    def stop(self):
        self._stop.set()
        self._thread.join()

    def at(self, name, when_ns):
        before = self.points[0]
        for point in self.points:
            if point[0] >= when_ns:
                span = point[0] - before[0]
                part = (when_ns - before[0]) / span if span else 0
                return before[1][name] + part * (point[1][name] - before[1][name])
            before = point
        return before[1][name]

    def between(self, name, begin_ns, end_ns):
        return self.at(name, end_ns) - self.at(name, begin_ns)
