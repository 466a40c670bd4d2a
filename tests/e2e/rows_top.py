# SPDX-License-Identifier: Apache-2.0
"""rows_top.py - sonde top on a terminal: what is on the screen, what keys do, and what it costs."""
import json
import os
import re
import signal
import time
from contextlib import ExitStack
from typing import NamedTuple

import interpreters
from rows import Figure, at_least, at_most, exactly, holds, row
from target import process_cpu_ns, start
from terminal import Terminal

COUNTS = re.compile(r"^\d+\.\d of \d+ Hz, [\d,]+ samples?, \d+ threads?( of \d+ processes)?$")
HEALTH = re.compile(r"^lost \d+\.\d %, moving \d+\.\d %; own CPU (\d+\.\d) %")
CAPTION = re.compile(r"^by (self|total|name); 100 % is [\d.,]+ \w+ of .* (in the last \d+ s|since the start)( of .*)?$")
HEADS = re.compile(r"^ *self% +(total%)? +self +(samples  )?(function|line|thread|process|language)", re.I)
ROW = re.compile(r"^ *(\d+\.\d)? +(\d+\.\d)? +(?:[\d.,]+ m?s|[\d,]+)? +(?:[\d,]+  )?(\S.*?)\s*$")


# What stands on the terminal behind sonde, and stays: its modes, its exit code.
BEHIND = ["sh", "-c", 'before=$(stty -g); "$@"; code=$?; [ "$before" = "$(stty -g)" ] && echo modes as before; '
          'echo "ended with $code"; exec sleep 1000', "sh"]


class Line(NamedTuple):
    own: float
    total: float
    name: str


def table(screen):
    """The rows of a screen or a printed table; [] when there is none."""
    lines = screen if isinstance(screen, list) else screen.lines
    heads = [index for index, line in enumerate(lines) if HEADS.match(line)]
    rows = []
    for line in lines[heads[-1] + 1:] if heads else []:
        found = ROW.match(line)
        if not found or not (found[1] or found[2]):
            break
        rows.append(Line(float(found[1] or 0), float(found[2] or 0), found[3]))
    return rows


def has_rows(least=1):
    return lambda screen: len(table(screen)) >= least


def head_faults(lines, tabs=True):
    """What of the head is not as it should be."""
    wanted = [("title", re.compile(r"^.*\(pid \d+\) .*(cpu|wall|gvl|exception), [\d.]+ (s|min)")), ("counts", COUNTS), ("health", HEALTH)]
    wanted += [("tabs", re.compile(r"1 functions.*2 lines.*3 threads.*4 processes.*5 languages"))] if tabs else []
    wanted += [("caption", CAPTION), ("heads", HEADS)]
    return [f"{what}: {line}" for (what, pattern), line in zip(wanted, lines) if not pattern.search(line)]


def above_whole(rows):
    """Rows with a share above 100, and whether all have themselves more than the whole."""
    wrong = [line for line in rows if max(line.own, line.total) > 100.0]
    return wrong + ([Line(sum(line.own for line in rows), 0, "all")] if sum(line.own for line in rows) > 100.5 else [])


def judge_screens(screens, where):
    """The figures that every screen must give."""
    wrapped = [line for screen in screens for line in screen.wrapped]
    faults = [fault for screen in screens for fault in head_faults(screen.lines)]
    wrong = [line for screen in screens for line in above_whole(table(screen))]
    first = [table(screen)[0].name for screen in screens if table(screen)]
    yield exactly(f"{where}: wrapped lines in {len(screens)} screens", len(wrapped), 0)
    yield Figure(f"{where}: faults of the head", len(faults), f"= 0 {faults[:1] or ''}", not faults)
    yield Figure(f"{where}: shares above 100 %", len(wrong), f"= 0 {wrong[:1] or ''}", not wrong)
    yield holds(f"{where}: the first row has a name", all("(un" not in name for name in first), first[0][:40])


def top(run, target, *more, width=80, height=24, around=(), **environment):
    return Terminal([*around, run.sonde.path, "top", "-p", target.pid, *more], width, height, **environment)


def wait_end(terminal, code):
    return terminal.wait(lambda screen: f"ended with {code}" in screen.text, f"ended with {code}")


@row("top-screen", "80x24 and 200x50: no wrapped line, no total above 100 %, head whole", once=True)
def top_screen(run):
    for program in ("names.rb", "shares.rb"):
        for width, height in ((80, 24), (200, 50)):
            with start(run.interpreter, program) as target, top(run, target, width=width, height=height) as terminal:
                screens = [terminal.wait(has_rows(2), "rows")]
                for key, noun in (("t", "TOTAL%"), ("2", "line"), ("a", "since the start"), ("1", "[1 functions]")):
                    terminal.type(key)
                    screens.append(terminal.wait(lambda screen, word=noun: word in screen.text and table(screen), noun))
                yield from judge_screens(screens, f"{program} {width}x{height}")


@row("top-keys", "views, order, filter, pause, tree, one thread, report, help, quit", once=True)
def top_keys(run):
    with start(run.interpreter, "shares.rb") as target, top(run, target, "-r", 500, around=BEHIND) as terminal:
        def after(keys, condition, what):
            terminal.type(*keys)
            return terminal.wait(condition, what)

        terminal.wait(lambda screen: any(re.match(r"(Object#)?spin ", line.name) for line in table(screen)), "spin")
        by_total = after("t", lambda screen: "TOTAL%" in screen.text, "by total")
        totals = [line.total for line in table(by_total)]
        yield holds("t sorts by total", totals == sorted(totals, reverse=True), totals[:3])
        threads = after("3", lambda screen: "[3 threads]" in screen.text and len(table(screen)) >= 4, "threads")
        yield at_least("threads", len(table(threads)), 4)
        after(["1", "/", "s", "p", "i", "n"], lambda screen: "only names with: spin_" in screen.text, "typing")
        found = after(["Enter"], lambda screen: 'with "spin"' in screen.text, "filtered")
        yield holds("/spin leaves its rows", all("spin" in line.name for line in table(found)), len(table(found)))
        callers = ("half", "third", "fifth")
        tree = after(["Enter"], lambda screen: "called by" in screen.text and all(name in screen.text for name in callers), "tree")
        yield holds("Enter: three callers of spin", all(name in tree.text for name in callers))
        after(["Escape"], lambda screen: 'with "spin"' in screen.text, "back in the list")
        after(["Escape"], lambda screen: "with " not in screen.text, "without a filter")
        still = after(["Space"], lambda screen: "PAUSED" in screen.text, "paused")
        spent = process_cpu_ns(target.pid)
        while process_cpu_ns(target.pid) - spent < 1_500_000_000:  # it works on, for longer than a picture stays
            time.sleep(0.02)
        yield holds("Space holds the picture", terminal.screen().text == still.text)
        after(["Space"], lambda screen: "PAUSED" not in screen.text and table(screen), "going on")
        after(["3", "Enter"], lambda screen: " of thread " in screen.text and table(screen), "one thread")
        after(["Escape"], lambda screen: "[3 threads]" in screen.text, "all threads")
        for key, end in (("w", ".html"), ("W", ".folded")):
            said = after(key, lambda screen, end=end: re.search(rf"wrote \S+\{end} \(", screen.text), f"wrote {end}")
            path = terminal.directory / re.search(rf"wrote (\S+\{end})", said.text)[1]
            yield at_least(f"bytes of the {end[1:]} file", path.stat().st_size, 100)
        after("?", lambda screen: "recursion counts once" in screen.text, "help")
        after("?", lambda screen: "[3 threads]" in screen.text, "no help")
        terminal.type("q")
        yield holds("q ends it, the files are named", ".html" in wait_end(terminal, 0).text)
        yield exactly("the program goes on", target.process.poll(), None)


@row("top-resize", "resized while it runs: whole at every size", once=True)
def top_resize(run):
    with start(run.interpreter, "names.rb") as target, top(run, target) as terminal:
        terminal.wait(has_rows(2), "rows")
        screens = []
        for width, height in ((200, 50), (61, 20), (132, 43), (80, 24)):
            terminal.resize(width, height)
            screens.append(terminal.wait(
                lambda screen, height=height, width=width: re.search(r", [\d.]+ s$", screen.lines[0]) and
                len(screen.lines[0]) == width and screen.lines[height - 1].startswith("q quit") and table(screen),
                f"{width}x{height}"))
        yield from judge_screens(screens, "all sizes")
        for width, height in ((20, 5), (3, 2), (80, 24)):  # nothing useful fits, and nothing breaks
            terminal.resize(width, height)
        screen = terminal.wait(lambda screen: len(screen.lines[0]) == 80 and table(screen), "80x24 again")
        yield from judge_screens([screen], "after tiny ones")


PLAIN = (("TERM=dumb", 80, {"TERM": "dumb"}), ("TERM unset", 80, {"TERM": ""}), ("50 columns", 50, {}))


@row("top-plain", "TERM=dumb, a pipe, 50 columns: text, no escapes, no wrapped line", once=True)
def top_plain(run):
    with start(run.interpreter, "names.rb") as target, ExitStack() as stack:
        terminals = [stack.enter_context(top(run, target, "-d", "4s", "-n", "5", width=width, height=40, around=BEHIND, **environment))
                     for _, width, environment in PLAIN]
        for (where, *_), terminal in zip(PLAIN, terminals):
            screen = terminal.wait(lambda screen: sum(map(bool, map(HEADS.match, screen.lines))) >= 2, "two tables")
            # tmux may say that a pane is dead and never with what status
            yield holds(f"{where}: ends with 0", wait_end(terminal, 0))
            yield exactly(f"{where}: wrapped lines", len(screen.wrapped), 0)
            yield exactly(f"{where}: rows of the last table", len(table(screen)), 5)
        done = run.sonde.run("top", "-p", target.pid, "-d", "4s", "-n", "5")
    yield exactly("a pipe: ends with", done.returncode, 0)
    yield exactly("a pipe: control characters", len(re.findall(r"[\x00-\x09\x0b-\x1f\x7f]", done.stdout)), 0)
    faults = head_faults(done.stdout.split("\n"), tabs=False)
    yield Figure("a pipe: faults of the head", len(faults), f"= 0 {faults[:1] or ''}", not faults)
    yield exactly("a pipe: tables", len(re.findall(r"100 % is", done.stdout)), 2)


@row("top-once", "--once as text and as JSON: sums that agree, exit 0", once=True)
def top_once(run):
    with start(run.interpreter, "shares.rb") as target:
        text = run.sonde.run("top", "--once", "-p", target.pid)
        done = run.sonde.run("top", "--once", "--json", "-p", target.pid, "-r", 500, "-d", "1.5s")
    report = json.loads(done.stdout)
    yield exactly("exit codes", (text.returncode, done.returncode), (0, 0))
    yield holds("the text names a function and the denominator", "spin" in text.stdout and "100 % is" in text.stdout)
    worst = max(line["total"] for line in report["functions"])
    yield holds("no total above the whole", worst <= report["total"], f"{worst} of {report['total']}")
    by_thread = sum(thread["self"] for thread in report["threads"])
    yield exactly("threads less the whole", by_thread - report["total"], 0)
    yield at_least("samples", report["samples"], 100)
    wrong = run.sonde.run("top", "--json", "-p", target.pid)
    yield exactly("--json without --once", wrong.returncode, 2)


@row("top-cost", "99 Hz, 50 threads, 200x50: own CPU <= 3 % of a core", once=True, alone=True)
def top_cost(run):
    seconds = run.seconds(60, 10)
    with start(run.interpreter, "threads.rb", 50) as target, top(run, target, width=200, height=50) as terminal:
        terminal.wait(has_rows(1), "rows")
        pid = int(terminal.fact("pane_pid"))
        # until attaching is no part of the ten seconds that it shows
        terminal.wait(lambda screen: "in the last 10 s" in screen.text or "in the last 9 s" in screen.text, "ten seconds", 30)
        def spent_in(length):
            begin, spent = time.monotonic_ns(), process_cpu_ns(pid)
            time.sleep(length)  # what is measured is this time
            return 100 * (process_cpu_ns(pid) - spent) / (time.monotonic_ns() - begin)

        own = spent_in(seconds)
        lately = spent_in(10) if run.full else own
        threads = len(os.listdir(f"/proc/{target.pid}/task"))
        screen = terminal.screen()
        shown = float(HEALTH.match(screen.lines[2])[1])
    yield at_most("own CPU of a core", own, 3, " %", None if run.full else 4.5)  # on a busy machine
    yield holds("it says of itself", abs(shown - lately) <= 1.5, f"{shown:.1f} % ({lately:.1f} %)", "the same")
    # it counts those with a sample, and the least busy thread has one in some seconds
    yield at_least("threads that it sampled", int(re.search(r"(\d+) threads", screen.lines[1])[1]), 25)
    yield at_least("threads that there were", threads, 50)


def child_of_shell(terminal):
    pid = terminal.fact("pane_pid")
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return int(file.read().split()[-1])


@row("top-ends", "however it ends: the terminal as before, one line that says why", once=True)
def top_ends(run):
    ends = (
        ("the process has ended", 0, lambda target, _: target.kill()),
        ("stopped: SIGTERM", 0, lambda _, pid: os.kill(pid, signal.SIGTERM)),
        ("Segmentation fault", 139, lambda _, pid: os.kill(pid, signal.SIGSEGV)),
    )
    for wanted, code, end in ends:
        with start(run.interpreter, "shares.rb") as target, top(run, target, around=BEHIND) as terminal:
            terminal.wait(has_rows(1), "rows")
            end(target, child_of_shell(terminal))
            screen = wait_end(terminal, code)
            said = [line for line in screen.lines if line]
            yield holds(wanted, wanted in screen.text and "modes as before" in screen.text and len(said) == 3, len(said),
                        "in 1 of 3 lines")
            yield exactly("the other screen is left", terminal.fact("alternate_on"), "0")


@row("top-jobs", "Ctrl-Z, bg and fg in a shell: the screen goes and comes back, nothing is drawn from the background", once=True)
def top_jobs(run):
    with start(run.interpreter, "shares.rb") as target, \
            Terminal(["bash", "--norc", "--noprofile", "-i"], 100, 24, PS1="prompt> ") as shell:
        shell.type(f"{run.sonde.path} top -p {target.pid}", "Enter")
        shell.wait(has_rows(1), "rows")
        shell.type("C-z")
        screen = shell.wait(lambda screen: "Stopped" in screen.text, "stopped")
        yield exactly("Ctrl-Z: the other screen is left", shell.fact("alternate_on"), "0")
        yield exactly("Ctrl-Z: rows of the table", len(table(screen)), 0)
        shell.type("bg; sleep 1; jobs; echo seen $((1 + 1))", "Enter")
        screen = shell.wait(lambda screen: "seen 2" in screen.text, "the shell's prompt again")
        yield exactly("bg: rows of the table", len(table(screen)), 0)
        yield at_least("bg: it is stopped again, as the shell says", screen.text.count("Stopped"), 2)
        shell.type("fg", "Enter")
        shell.wait(has_rows(1), "rows again")
        yield exactly("fg: the other screen", shell.fact("alternate_on"), "1")
        shell.type("q")
        shell.wait(lambda screen: screen.text.rstrip().endswith("prompt>"), "the prompt")


@row("top-command", "a command: its exit code, its output not on the screen, ended by q", once=True)
def top_command(run):
    chroot = ["chroot", str(run.interpreter.root)] if run.interpreter.root else []
    ruby = [*chroot, *run.interpreter.argv, "--disable-gems", "-e"]
    with Terminal([*BEHIND, run.sonde.path, "top", "--", *ruby, "puts 1; exit 7"], 80, 24) as terminal:
        yield holds("it says why", "has ended with exit code 7" in wait_end(terminal, 7).text)
    endless = "loop { puts 'OUTPUT'; i = 0; i += 1 while i < 1_000_000 }"
    with Terminal([*BEHIND, run.sonde.path, "top", "--", *ruby, endless], 80, 24) as terminal:
        screen = terminal.wait(has_rows(1), "rows")
        yield exactly("its output on the screen", len(re.findall("^OUTPUT", screen.text, re.M)), 0)
        with open(f"/proc/{child_of_shell(terminal)}/task/{child_of_shell(terminal)}/children", encoding="ascii") as file:
            pid = int(file.read().split()[0])
        terminal.type("q")
        wait_end(terminal, 0)
        yield holds("it does not outlive q", not os.path.exists(f"/proc/{pid}"))


@row("top-all", "-a: every Ruby that runs, each once, new ones too", once=True, alone=True)
def top_all(run):
    with start(run.interpreter, "shares.rb") as first, \
            Terminal([*BEHIND, run.sonde.path, "top", "-a"], 120, 50) as terminal:
        terminal.wait(has_rows(1), "rows")
        terminal.type("4")
        terminal.wait(lambda screen: f"({first.pid})" in screen.text, "the first process")
        with start(run.interpreter, "names.rb") as second:
            screen = terminal.wait(lambda screen: f"({second.pid})" in screen.text, "a process that came later")
            yield exactly("rows of the first", screen.text.count(f"({first.pid})"), 1)
            yield exactly("rows of the second", screen.text.count(f"({second.pid})"), 1)
            wrong = above_whole(table(screen))
            yield Figure("shares above 100 %", len(wrong), f"= 0 {wrong[:1] or ''}", not wrong)
        terminal.type("q")
        yield holds("q ends it with 0", wait_end(terminal, 0))
    (native, *_), _ = interpreters.find(language=interpreters.NATIVE)
    with start(run.interpreter, "shares.rb") as first, start(native, "shapes.c", 1) as other:
        whole = json.loads(run.sonde.run("top", "-a", "--once", "--json", "-r", 500, "-d", "1.5s").stdout)
        yield holds("a program in C is there, too", other.pid in [thread["pid"] for thread in whole["threads"]])
        languages = json.loads(run.sonde.run("top", "-a", "-e", "reader", "--once", "--json", "-r", 500, "-d", "1.5s").stdout)
        yield holds("with readers: the program in Ruby", first.pid in [thread["pid"] for thread in languages["threads"]])
