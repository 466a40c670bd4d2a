# SPDX-License-Identifier: Apache-2.0
"""rows_both.py - Ruby and Python in one process: each thread's stack is one."""
from collections import Counter
from pathlib import Path

import folded
from rows import Figure, Skip, at_least, at_most, row
from rows_kernel import KERNEL
from target import start

LIBRARIES = {"ruby": "libpython3*.so.1.0", "python": "libruby-*.so.?.?"}


def library(run):
    """The other language's, where the interpreter has one beside it: as it sees it."""
    root = run.interpreter.root or Path("/")
    found = sorted(root.glob(f"usr/lib/x86_64-linux-gnu/{LIBRARIES[run.interpreter.language.name]}"))
    if not found:
        raise Skip(f"no {LIBRARIES[run.interpreter.language.name]} there")
    return f"/{found[-1].relative_to(root)}"


def judge(run, program, inner, engine=()):
    with start(run.interpreter, program, library(run)) as target:
        legal = [tuple(stack) for stack in target.facts["stacks"]]
        recording = run.sonde.record(target.pid, rate=1_000, seconds=run.seconds(30, 2), more=engine)
    seen, wrong = Counter(), Counter()
    for stack in recording.stacks:
        names = tuple(folded.method(frame.label) for frame in folded.strip_marks(stack.frames)
                      if not frame.is_mark and not frame.is_native)
        names = tuple(name.rpartition("#")[2] for name in names)
        # code that was gone before its name was read has none
        if any(all(mine in (theirs, "(unnamed)") for mine, theirs in zip(names, one)) and len(names) <= len(one)
               for one in legal) or names[-1:] == ("stop?",):
            seen[names[-1] if names else ""] += stack.count
        else:
            wrong[";".join(names)] += stack.count
    yield Figure(f"stacks that cannot be {str(wrong.most_common(1))[:300] if wrong else ''}", wrong.total(), "= 0", not wrong)
    for name in inner:
        yield at_least(f"samples in {name}", 100 * seen[name] / recording.samples, 5, " %")
    yield at_most("moving", 100 * recording.quality["moving"] / recording.samples, 5, " %")


@row("both-ruby", "Ruby that runs Python: the stacks of both are one")
def both_ruby(run):
    yield from judge(run, "both.rb", ("ruby_inner", "python_inner"))


@row("both-python", "Python that runs Ruby: the stacks of both are one", language="python")
def both_python(run):
    yield from judge(run, "both.py", ("ruby_inner", "python_inner"))


@row("kernel-both-ruby", "the same in the kernel engine: each VM's frames where its own loop is")
def kernel_both_ruby(run):
    yield from judge(run, "both.rb", ("ruby_inner", "python_inner"), KERNEL)


@row("kernel-both-python", "the same in the kernel engine: each VM's frames where its own loop is", language="python")
def kernel_both_python(run):
    yield from judge(run, "both.py", ("ruby_inner", "python_inner"), KERNEL)
