# SPDX-License-Identifier: Apache-2.0
"""terminal.py - a program on a terminal that tests can look at and type into: tmux, without anybody's settings.

    with Terminal(["sonde", "top", "-p", "42"], 80, 24) as terminal:
        terminal.wait(lambda screen: "self" in screen.text)
        terminal.type("/", "Escape")
"""
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from rows import Skip

SETTINGS = """set -g remain-on-exit on
set -g status off
set -g default-terminal screen-256color
set -g escape-time 0
"""


class Screen(NamedTuple):
    lines: list
    text: str
    wrapped: list  # lines that did not fit, and went on in the next


class Terminal:
    number = 0

    def __init__(self, command, width, height, **environment):
        if not shutil.which("tmux"):
            raise Skip("tmux is not installed (./dev test installs it)")
        Terminal.number += 1
        self._where = tempfile.TemporaryDirectory(prefix="sonde-tmux-")
        self.directory = Path(self._where.name)
        settings = self.directory / "tmux.conf"
        settings.write_text(SETTINGS)
        self._tmux = ["tmux", "-f", str(settings), "-S", str(self.directory / "socket")]
        words = ["env", "-u", "NO_COLOR", "LC_ALL=C.UTF-8", *(f"{key}={value}" for key, value in environment.items()),
                 *map(str, command)]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("TMUX")}
        subprocess.run([*self._tmux, "new-session", "-d", "-x", str(width), "-y", str(height), "-c",
                        str(self.directory), *words], check=True, env=clean, timeout=20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True, timeout=20)
        self._where.cleanup()

    def _ask(self, *words):
        return subprocess.run([*self._tmux, *words], check=True, capture_output=True, timeout=20).stdout.decode()

    def screen(self):
        mark = "=== as it was written ==="  # one request: nothing is printed between the two
        text, joined = self._ask("capture-pane", "-p", ";", "display-message", "-p", mark, ";", "capture-pane", "-p",
                                 "-J").split(mark + "\n")
        lines = text.split("\n")
        shown = set(map(str.rstrip, lines))
        return Screen(lines, text, [line for line in joined.split("\n") if line.rstrip() not in shown])

    def fact(self, name):
        """What tmux knows: pane_pid, pane_dead, pane_dead_status, alternate_on, pane_width, ..."""
        return self._ask("display-message", "-p", f"#{{{name}}}").strip()

    def type(self, *keys):
        """Names of keys as tmux has them ("Enter", "Space"), or characters."""
        self._ask("send-keys", *keys)

    def resize(self, width, height):
        self._ask("resize-window", "-x", str(width), "-y", str(height))

    def wait(self, condition, what, seconds=20):
        """The first screen for which it holds; AssertionError when none comes."""
        deadline = time.monotonic() + seconds
        while True:
            screen = self.screen()
            if condition(screen):
                return screen
            if time.monotonic() > deadline:
                raise AssertionError(f"never {what}: {screen.text.strip()[-600:]}")
            time.sleep(0.05)
