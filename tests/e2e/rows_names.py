# SPDX-License-Identifier: Apache-2.0
"""rows_names.py - what frames are called: path, line and label as Ruby itself says, in every format."""
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import folded
from judge import without_rescue
from rows import Figure, exactly, holds, row
from target import start

OPENER = Path(__file__).resolve().parent / "open_page.mjs"
NPM = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sonde" / "npm"


def without_internal(frames, version):
    """Documented exception: since 4.0 a method that Ruby itself has in Ruby (<internal:numeric>) is told
    like a C function, at the place of its caller, and what it calls is left out as long as that is
    internal too (Feature #20968); 3.4 does so with what is there for YJIT's sake, as Array#each. sonde
    shows what runs."""
    kept = []
    told_so = "<internal:" if version >= (4, 0) else "<internal:array>"
    for number, frame in enumerate(frames):
        internal = (frame.path or "").startswith(told_so)
        outer = frames[number + 1] if number + 1 < len(frames) else None
        if internal and outer and (outer.path or "").startswith(told_so):
            continue
        kept.append(frame._replace(path=None) if internal else frame)
    return kept


def full_label(label, full):
    """What a label is with its class, told from rb_profile_frame_full_label, which knows the
    method's name only: blocks have no "block in" there."""
    return folded.split_label(label)[0] + folded.split_label(full)[1]


def frame_error(ours, theirs, c_labels):
    """Why a frame differs from (label, path, line) of a backtrace, or None."""
    label, path, line = theirs
    if ours.path is None:  # a C function: Ruby gives it the place of its caller
        known = folded.method(label) in c_labels or ours.line is not None  # internal: see above
        return None if known and folded.same_label(ours.label, label) else f"{ours.label} for C {label}"
    if not folded.same_label(ours.label, label):
        return f"label {ours.label} for {label}"
    if ours.path != path:
        return f"path {ours.path!r} for {path!r}"
    return None if ours.line == line else f"{label}: line {ours.line} for {line}"


def stack_errors(ours, theirs, c_labels):
    if len(ours) != len(theirs):
        names = [frame.label for frame in ours]
        return [f"{len(ours)} frames for {len(theirs)}: {names} for {[frame[0] for frame in theirs]}"]
    pairs = zip(ours, theirs)
    return [error for error in (frame_error(one, other, c_labels) for one, other in pairs) if error]


def class_errors(ours, thread):
    """Frames whose class differs from rb_profile_frame_full_label."""
    full = [(label, path, line) for label, path, line in thread["full"] or [] if path]
    at = next((i for i, frame in enumerate(ours) if folded.method(frame.label) == "park"), None)
    ruby = [frame for frame in ours[at:] if frame.path is not None] if at is not None else []
    if not full or len(full) != len(ruby):
        return []  # IFUNC frames stand in one list only; names and lines were compared above
    return [f"{frame.label} for {full_label(frame.label, label)}" for frame, (label, _, _) in zip(ruby, full)
            if folded.method(frame.label) == folded.method(label)  # 3.4 calls eval <compiled> there
            and frame.label != full_label(frame.label, label)]


def compare_parked(threads, facts, version, tid_of=lambda tid: tid):
    """(frames compared, wrong, wrong classes, first errors) of a dump of lines.rb."""
    frames, wrong, classes, errors = 0, 0, 0, []
    c_labels = set(facts["c_labels"])
    for thread in facts["threads"]:
        theirs = thread["frames"]
        frames += len(theirs)
        if tid_of(thread["tid"]) not in threads:
            wrong += len(theirs)
            errors.append(f"{thread['place']}: no thread {thread['tid']}")
            continue
        ours = threads[tid_of(thread["tid"])].frames
        plain = without_internal(without_rescue(ours), version) if version >= (3, 4) else ours
        found = stack_errors(plain, theirs, c_labels)
        wrong += len(found)
        errors += [f"{thread['place']}: {error}" for error in found]
        if version >= (3, 3):  # class names before 3.3 live in hidden ivars: not read
            found = class_errors(ours, thread)
            classes += len(found)
            errors += [f"{thread['place']}: {error}" for error in found]
    return frames, wrong, classes, errors


@row("lines", "every frame's path:line:label equals Thread#backtrace_locations")
def lines(run):
    with start(run.interpreter, "lines.rb") as target:
        facts = target.facts
        threads = run.sonde.dump(target.pid)
        recording = run.sonde.record(target.pid, rate=20, seconds=0.5, mode="wall", threads=True)
    frames, wrong, classes, errors = compare_parked(threads, facts, run.interpreter.version)
    yield Figure(f"wrong of {frames} frames in {len(facts['threads'])} places", wrong,
                 f"= 0 {'; '.join(errors[:4])}", wrong == 0)
    if run.interpreter.version >= (3, 3):
        yield exactly("wrong classes in front of methods", classes, 0)
    sampled = {stack.tid: tuple(reversed(stack.frames)) for stack in recording.stacks}
    different = [thread["place"] for thread in facts["threads"]
                 if [frame.label for frame in sampled.get(thread["tid"], ())]
                 != [frame.label for frame in threads.get(thread["tid"], threads[min(threads)]).frames]]
    yield Figure("places where record and dump differ", len(different), f"= 0 {different[:3] or ''}",
                 not different)


@row("names", "nine awkward names told apart, every folded line well formed")
def names(run):
    with start(run.interpreter, "names.rb") as target:
        wanted = [tuple(name) for name in target.facts["names"]]
        recording = run.sonde.record(target.pid, rate=1_000, seconds=run.seconds(10, 1))
    seen = {(folded.method(frame.label), frame.path, frame.line)
            for stack in recording.stacks for frame in stack.frames}
    missing = [name for name in wanted if name not in seen]
    yield Figure("told apart", len(wanted) - len(missing), f"= 9 {missing[:2] or ''}", not missing)
    yield exactly("frames without a name", recording.quality["unnamed"], 0)


def check_page(page):
    """(is it safe in a browser, what was seen); None: there is no browser here."""
    node = shutil.which("node")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not node or not browser or not (NPM / "node_modules" / "puppeteer-core").exists():
        return None, "no node, chromium or puppeteer-core (tests/web/run.sh says how)"
    done = subprocess.run([node, str(OPENER), str(NPM), browser, str(page)], capture_output=True, text=True,
                          timeout=120, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).strip()[-200:]


@row("html-safe", "<script> as a method's name does not run in the page", once=True)
def html_safe(run):
    with start(run.interpreter, "script-name.rb") as target, tempfile.TemporaryDirectory() as where:
        evil = target.facts["name"]
        page = Path(where) / "page.html"
        done = run.sonde.run("record", "-p", target.pid, "-r", 500, "-d", "0.6s", "-f", "html", "-o", page)
        if done.returncode:
            raise AssertionError(done.stderr[-300:])
        text = page.read_bytes()
        recording = run.sonde.record(target.pid, rate=500, seconds=0.6)
        checked, said = check_page(page)
    labels = {frame.label for stack in recording.stacks for frame in stack.frames}
    paths = {frame.path for stack in recording.stacks for frame in stack.frames}
    yield holds("the C function keeps its name", any(label.endswith(evil) for label in labels))
    yield holds("the path too", any(path == target.facts["path"] for path in paths))
    yield exactly("its bytes in the page as they are", text.count(evil.encode()), 0)
    yield exactly("the other's", text.count(b"<img src=x onerror"), 0)
    yield exactly("foreign addresses in the page",
                  len(re.findall(rb"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", text)), 0)
    if checked is None:
        yield holds("in a browser", True, f"not checked: {said}", "printed")
    else:
        yield holds("in a browser", checked, said, "safe")
