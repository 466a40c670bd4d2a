# SPDX-License-Identifier: Apache-2.0
"""interpreters.py - the Rubies and Pythons that the rows run on, and how to start a program under each.

The host's own, and real Debian ones in root directories that `./dev matrix` unpacks. One that
is not there is named, counted and skipped, never passed over in silence.

A program runs by chroot, so its files are copied to ROOT/tmp/sonde-tests first; the profiler
sees it from outside, as it would see a container.
"""
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import compiled

TARGETS = Path(__file__).resolve().parent.parent / "targets"
ROOTS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sonde" / "roots"
INSIDE = "/tmp/sonde-tests"
LANE = 0  # of those that use a root at the same time (lanes.py)

class Language(NamedTuple):
    name: str
    options: tuple  # of every program
    programs: str   # their names
    version: str    # a program that prints it


RUBY = Language("ruby", ("--disable-gems",), "*.rb", "print RUBY_VERSION")
NATIVE = Language("native", ("-pthread",), "*.c", None)
PYTHON = Language("python", (), "*.py", "import sys; sys.stdout.write('%d.%d.%d' % sys.version_info[:3])")

#    language  name    suite           argv                          version
TABLE = (
    (RUBY, "2.7", "bullseye", ("ruby2.7",), (2, 7)),
    (RUBY, "3.1", None, ("ruby3.1",), (3, 1)),
    (RUBY, "3.1-yjit", None, ("ruby3.1", "--yjit"), (3, 1)),
    (RUBY, "3.3", "trixie", ("ruby3.3",), (3, 3)),
    (RUBY, "3.4", "experimental", ("ruby3.4",), (3, 4)),
    (PYTHON, "py2.7", "bullseye", ("python2.7",), (2, 7)),
    (PYTHON, "py3.9", "bullseye", ("python3.9",), (3, 9)),
    (PYTHON, "py3.11", None, ("/usr/bin/python3.11",), (3, 11)),
    (PYTHON, "py3.13", "trixie", ("python3.13",), (3, 13)),
    (PYTHON, "py3.13t", None, (str(ROOTS / "python3.13t/bin/python3.13t"),), (3, 13)),
    (PYTHON, "py3.14", "sid", ("python3.14",), (3, 14)),
    (PYTHON, "py3.15", "sid", ("python3.15",), (3, 15)),
    (NATIVE, "gcc", None, ("gcc",), ()),
    (NATIVE, "clang", None, ("clang",), ()),
)


@dataclass(frozen=True)
class Interpreter:
    language: Language
    name: str
    root: Path | None
    argv: tuple
    version: tuple

    @property
    def jit(self):
        return "--yjit" in self.argv

    @property
    def free_threaded(self):
        return self.language is PYTHON and self.argv[0].endswith("t")

    @property
    def programs(self):
        """The directory of the target programs, as the interpreter sees it."""
        return INSIDE if self.root else str(TARGETS / self.language.name)

    def command(self, program, *args, wrap=()):
        """argv that runs a target program under this interpreter; wrap: a command in its root that runs it."""
        inner = [*wrap, *self.argv, *self.language.options, f"{self.programs}/{program}", *map(str, args)]
        return ["chroot", str(self.root), *inner] if self.root else inner

    def runs(self, text):
        """Does it run this without an exception?"""
        outside = ["chroot", str(self.root)] if self.root else []
        return not subprocess.run([*outside, *self.argv, "-c", text], capture_output=True).returncode

    def has_module(self, name):
        return self.runs(f"import {name}")

    def scratch(self, name):
        """A file for the program to write: (as it sees it, as we see it)."""
        inside = f"{INSIDE}/lane{LANE}"
        here = Path(inside if not self.root else f"{self.root}{inside}")
        here.mkdir(parents=True, exist_ok=True)
        return f"{inside}/{name}", here / name


class Compiler(Interpreter):
    """What runs native programs: it builds them first."""

    def command(self, program, *args, wrap=()):
        built = compiled.build(*self.argv, f"{self.programs}/{program}", *self.language.options)
        return [*wrap, built, *map(str, args)]


def _prepare(root, language):
    """Programs into the root, /proc mounted in it. Returns why not, or None."""
    inside = Path(f"{root}{INSIDE}")
    try:
        inside.mkdir(parents=True, exist_ok=True)
        for program in (TARGETS / language.name).glob(language.programs):
            shutil.copy(program, inside / program.name)
        if not (root / "proc" / "self").exists():
            subprocess.run(["mount", "-t", "proc", "proc", str(root / "proc")], check=True,
                           capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"cannot prepare {root.name}: {error}"
    return None


def _why_missing(language, suite, argv):
    if not suite:
        return None if shutil.which(argv[0]) else f"{argv[0]} is not installed"
    if os.geteuid() != 0:
        return "chroot needs root"
    root = ROOTS / suite
    if not (root / "usr/bin" / argv[0]).exists():
        return f"no {argv[0]} in {root} (./dev matrix)"
    return _prepare(root, language)


def at(command):
    """Any other Ruby or Python: "[ROOT:]PATH [OPTION...]", named by its version and where it lies."""
    first, *options = shlex.split(command)
    root, _, path = first.rpartition(":")
    argv = (path, *options)
    language = PYTHON if "python" in Path(path).name else RUBY
    if root and (why := _prepare(Path(root), language)):
        raise SystemExit(why)
    asks = "-c" if language is PYTHON else "-e"
    outside = ["chroot", root] if root else []
    said = subprocess.run([*outside, *argv, *language.options, asks, language.version],
                          capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, re.match(r"(\d+)\.(\d+)", said).groups()))
    where = Path(root) if root else Path(path).resolve().parents[1]
    return Interpreter(language, f"{said}@{where.name}{''.join(option.replace('--', '-') for option in options)}",
                       Path(root) if root else None, argv, version)


def find(wanted=None, language=None):
    """Those that can run, and {name: why not} of the others."""
    there, missing = [], {}
    for spoken, name, suite, argv, version in TABLE:
        if (wanted and name not in wanted) or language not in (None, spoken):
            continue
        why = _why_missing(spoken, suite, argv)
        if why:
            missing[name] = why
        else:
            kind = Compiler if spoken is NATIVE else Interpreter
            there.append(kind(spoken, name, ROOTS / suite if suite else None, argv, version))
    return there, missing
