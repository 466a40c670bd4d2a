# SPDX-License-Identifier: Apache-2.0
"""rows_world.py - wrong words, missing rights, full disks, bare machines: one clear error, nothing lost."""
import gzip
import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from rows import Figure, Skip, at_most, exactly, holds, row
from target import NOBODY, Target, start

TREE = Path(__file__).resolve().parents[2]
USAGE, GONE, NO_ACCESS, FAILED = 2, 3, 4, 1


class Cases:
    """Each case: what was done, the exit code it must have, words that its error must hold."""

    def __init__(self, run):
        self.run = run
        self.wrong = []
        self.count = 0

    def expect(self, what, done, code, *patterns, error_lines=1):
        self.count += 1
        said = done.stderr.strip()
        lines = [line for line in said.splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"sonde: (?!warning|stopped|try)", line)]
        problems = []
        if done.returncode != code:
            problems.append(f"exit {done.returncode} for {code}")
        if not lines or len(lines) > 4:
            problems.append(f"{len(lines)} lines")
        if len(errors) != error_lines:
            problems.append(f"{len(errors)} errors")
        if re.search(r"(?i)assert|segmentation|sanitizer|\(null\)|errno \d", said):
            problems.append("a crash or an internal")
        problems += [f"no {pattern!r}" for pattern in patterns if not re.search(pattern, said)]
        if problems:
            self.wrong.append(f"{what}: {', '.join(problems)}: {said[:160]!r}")

    def figure(self, what):
        return Figure(f"{what}: wrong of {self.count}", len(self.wrong),
                      "= 0" + "".join(f"\n      {one}" for one in self.wrong), not self.wrong)


@contextmanager
def tiny_disk(size, *options):
    """A tmpfs of `size` bytes."""
    with tempfile.TemporaryDirectory(prefix="sonde-disk-") as where:
        subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", "mode=0777", *options]),
                        "tmpfs", where], check=True)
        try:
            yield Path(where)
        finally:
            subprocess.run(["umount", where], check=True)


def unused_pid():
    """A number that was a process's a moment ago."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@row("bad-input", "each wrong word, pid or rate: one clear error, its exit code", once=True)
def bad_input(run):
    sonde, cases = run.sonde, Cases(run)
    gone = unused_pid()
    for command in ("record", "dump"):
        cases.expect(f"{command}: no such pid", sonde.run(command, "-p", gone), GONE, str(gone), "(?i)no ")
    with Target(["sleep", "60"], ready=False) as sleeper:
        time.sleep(0.05)
        cases.expect("record: not a Ruby", sonde.run("record", "-e", "reader", "-p", sleeper.pid), FAILED, "sleep")
        cases.expect("dump: not a Ruby", sonde.run("dump", "-p", sleeper.pid), FAILED, "sleep")
    cases.expect("no pid at all", sonde.run("record"), USAGE, "-p")
    cases.expect("a word for a pid", sonde.run("record", "-p", "ruby"), USAGE, "ruby")
    cases.expect("no such option", sonde.run("record", "--raet", "9"), USAGE, "--raet")
    cases.expect("no such command", sonde.run("recrod"), USAGE, "record")
    with start(run.interpreter, "sleeper.rb") as target:
        for rate in ("0", "1000000000", "-1", "99x", "nan"):
            cases.expect(f"rate {rate}", sonde.run("record", "-p", target.pid, "-r", rate), USAGE, "rate")
        for length in ("0", "-1", "1e99", "soon"):
            cases.expect(f"duration {length}", sonde.run("record", "-p", target.pid, "-d", length),
                         USAGE, "duration")
        cases.expect("format", sonde.run("record", "-p", target.pid, "-f", "flmegraph"), USAGE, "flmegraph")
        cases.expect("swapped -f and -o",
                     sonde.run("record", "-p", target.pid, "-f", "out.txt", "-o", "folded"), USAGE, "-o")
        cases.expect("no such thread", sonde.run("dump", "-p", target.pid, "-t", "nobody"), FAILED, "nobody")
        cases.expect("a thread's name forgotten", sonde.run("record", "-p", target.pid, "-t", "-o", "x.svg"), USAGE, "-t")
        cases.expect("py-spy's words for a dump",
                     sonde.run("dump", "-p", target.pid, "--subprocesses", "--native", "--full-filenames"), 0,
                     "native frames", error_lines=0)
        for thread in ("nobody", "999999"):
            cases.expect(f"record -t {thread}",
                         sonde.run("record", "-p", target.pid, "-t", thread, "-d", "0.3s", "-f", "folded", "-o",
                                   "/dev/null"), FAILED, f"\"{thread}\" was seen", rf"\({target.pid}\)", "give -t",
                         error_lines=0)  # a warning
    cases.expect("an end that names no format", sonde.run("diff", "a.sonde", "b.sonde", "-o", "c.pdf"), USAGE, "c.pdf", "-f")
    cases.expect("command not found", sonde.run("record", "--", "/nonexistent/ruby"), 127, "nonexistent")
    cases.expect("command without a name", sonde.run("record", "--", ""), USAGE, "empty command name")
    cases.expect("command not runnable", sonde.run("record", "--", "/etc/passwd"), 126, "passwd")
    yield cases.figure("words")


@row("no-access", "another user's process: names the capability or the sysctl", once=True)
def no_access(run):
    if os.geteuid() != 0:
        raise Skip("needs root, to become somebody else")
    cases = Cases(run)
    with start(run.interpreter, "sleeper.rb") as target, tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o755)
        path = shutil.copy(run.sonde.path, where)
        other = type(run.sonde)(path)
        for command in ("record", "dump"):
            cases.expect(f"{command} as nobody", other.run(command, "-p", target.pid, wrap=NOBODY, cwd="/tmp"),
                         NO_ACCESS, "CAP_SYS_PTRACE|ptrace_scope")
        done = other.run("doctor", wrap=NOBODY)
        yield holds("doctor as nobody says how to grant", "CAP_SYS_PTRACE" in done.stdout + done.stderr)
    yield cases.figure("rights")


@row("disk", "a full and a read-only disk: one error, no broken file", once=True)
def disk(run):
    if os.geteuid() != 0:
        raise Skip("needs root, to mount")
    cases = Cases(run)
    with start(run.interpreter, "names.rb") as target:
        def record(path, form):
            return run.sonde.run("record", "-p", target.pid, "-r", 1000, "-d", "0.5s", "-f", form, "-o", path)

        for form in ("folded", "pprof", "html"):
            with tiny_disk("4k") as where:
                done = record(where / "out", form)
                if form == "folded" and done.returncode == 0:
                    continue  # it fitted
                cases.expect(f"{form} on a full disk", done, FAILED, "(?i)no space|disk is full|full")
                left = [file.name for file in where.iterdir() if file.stat().st_size]
                if left:
                    cases.wrong.append(f"{form} on a full disk left {left}")
        with tiny_disk("1m", "ro") as where:
            cases.expect("read-only", record(where / "out", "folded"), FAILED, "(?i)read-only")
        cases.expect("no such directory", record("/nonexistent/out", "folded"), FAILED, "nonexistent")
        begin = time.monotonic()
        cases.expect("--quality in no directory",
                     run.sonde.run("record", "-p", target.pid, "-d", "20s", "-f", "folded", "-o", "/dev/null",
                                   "--quality", "/nonexistent/q.json"), FAILED, "--quality", "directory first")
        if time.monotonic() - begin > 10:
            cases.wrong.append("--quality was not looked at before the run")
        cases.expect("/dev/full", record("/dev/full", "folded"), FAILED, "(?i)no space")
    yield cases.figure("disks")


def patched_library(where, said):
    """A copy of the host's libruby that says it is another version."""
    found = sorted(Path("/usr/lib").glob("*-linux-gnu/libruby-3.1.so.3.1"))
    if not found:
        raise Skip("no libruby-3.1.so.3.1 to patch")
    data = found[0].read_bytes()
    version = re.search(rb"\x003\.1\.(\d)\x00", data)
    if not version:
        raise Skip("its version string was not found")
    (where / found[0].name).write_bytes(data.replace(version[0], b"\0%s\0" % said.encode()))


@row("unknown-ruby", "an unknown patch level works, with a warning; one whose numbers fit nowhere: both engines say so", once=True)
def unknown_ruby(run):
    if run.interpreter.root or run.interpreter.version != (3, 1):
        raise Skip("patches the host's libruby 3.1")
    with tempfile.TemporaryDirectory() as name:
        patched_library(Path(name), "3.1.9")
        with start(run.interpreter, "sleeper.rb", env={"LD_LIBRARY_PATH": name}) as target:
            done = run.sonde.run("dump", "-p", target.pid, "--json")
    yield exactly("exit code", done.returncode, 0)
    yield holds("it says so", "3.1.9" in done.stderr, done.stderr.strip()[:80], "a warning with 3.1.9")
    yield holds("and works", "calls_it" in done.stdout)
    with tempfile.TemporaryDirectory() as name:
        patched_library(Path(name), "9.1.9")
        with start(run.interpreter, "torn.rb", "tight", env={"LD_LIBRARY_PATH": name}) as target:
            for engine in ("reader", "kernel"):
                done = run.sonde.run("record", "-e", engine, "-p", target.pid, "-d", "1.1s", "-f", "folded", "-o", "/dev/null")
                yield exactly(f"{engine}: exit code", done.returncode, 0)
                yield holds(f"{engine}: it says why there are no frames", "9.1.9 is newer than" in done.stderr, done.stderr.strip()[:120])
                done = run.sonde.run("top", "--once", "-e", engine, "-p", target.pid, "-d", "1.5s")
                yield holds(f"{engine}: top does, too", done.stderr.count("9.1.9 is newer than") == 1, done.stderr.strip()[:120])


FAULT_TESTS = re.compile(r"fault|fuzz|hostile")


@row("faults", "every read fails in turn; random bytes; fuzzed ELF: no crash, no hang", once=True)
def faults(run):
    if not (run.build / "meson-info" / "intro-tests.json").exists():
        raise Skip(f"{run.build} has no tests (./dev test)")
    listed = subprocess.run(["meson", "test", "-C", str(run.build), "--list", "--no-rebuild"],
                            capture_output=True, text=True, check=False).stdout.splitlines()
    wanted = [line.split("/")[-1].strip() for line in listed if FAULT_TESTS.search(line)]
    if not wanted:
        raise Skip("there are no such tests")
    if not list(run.build.glob(f"**/test-{wanted[0]}")):
        raise Skip("the tests are not built (./dev test)")
    done = subprocess.run(["meson", "test", "-C", str(run.build), "--no-rebuild", *wanted],
                          capture_output=True, text=True, check=False, timeout=900)
    yield Figure(f"unit tests of faults ({', '.join(wanted)[:80]})", f"exit {done.returncode}", "exit 0",
                 done.returncode == 0)


@row("audit", "audit says: failed, moving, impossible, distance of shares, cost", once=True)
def audit(run):
    with start(run.interpreter, "torn.rb", "tight") as target:
        done = run.sonde.run("audit", "-p", target.pid, "-d", f"{run.seconds(30, 2):g}s")
    text = done.stdout + done.stderr
    yield exactly("exit code", done.returncode, 0)
    for word in ("moving", "impossible", "share", "failed"):
        yield holds(f"says {word}", word in text.lower(), "" if word in text.lower() else text[-200:])


@row("demo", "a bare Debian 12 root: ./dev demo, 0 errors, no (unknown), < 3 minutes", full_only=True, alone=True)
def demo(run):
    if not shutil.which("mmdebstrap"):
        raise Skip("no mmdebstrap")
    if run.interpreter.name != "3.1":
        raise Skip("Debian 12 has Ruby 3.1")
    with tempfile.TemporaryDirectory(prefix="sonde-bare-") as name:
        root = Path(name) / "root"
        subprocess.run(["mmdebstrap", "--variant=minbase", "bookworm", str(root)], check=True,
                       capture_output=True)
        clone_into(root / "sonde")
        begin = time.monotonic()
        done = subprocess.run(["unshare", "--fork", "--pid", "--kill-child", f"--mount-proc={root}/proc",
                               "chroot", str(root), "sh", "-c", "cd /sonde && ./dev demo"],
                              capture_output=True, text=True, check=False, timeout=1200)
        took = time.monotonic() - begin
        text = done.stdout + done.stderr
        page = root / "sonde" / "demo.html"
        yield exactly("exit code", done.returncode, 0)
        yield at_most("installing, building, profiling", took, 180, " s")
        yield exactly("lines that begin with error", len(re.findall(r"(?mi)^(?:E:|error|.*: error)", text)), 0)
        yield holds("demo.html", page.exists() and page.stat().st_size > 10_000)
        packed = root / "sonde" / "demo.pb.gz"
        yield holds("demo.pb.gz", packed.exists())
        names = gzip.decompress(packed.read_bytes()) if packed.exists() else b""
        yield holds("the program's own names in it", b"quicksort" in names)
        for none in (b"(unknown)", b"(unnamed)"):
            yield exactly(f"{none.decode()} in it", names.count(none), 0)


def clone_into(directory):
    """What git knows of the tree, as a clone would have it."""
    listed = subprocess.run(["git", "-C", str(TREE), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], check=True, capture_output=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (TREE / name).is_file():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, directory / name)
