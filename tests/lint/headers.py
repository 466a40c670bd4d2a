#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, under every compiler named: headers.py JOBS gcc clang.

A header without `#pragma once` has to be an X-list: nothing but calls of one macro."""
import concurrent.futures
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wundef",
         "-Wstrict-prototypes", "-Wno-unused-function", "-fsyntax-only", "-Isrc",
         "-Itests", "-Itests/unit", "-Itests/targets", "-xc", "-"]
# As meson.build has them.
BPF_FLAGS = ["-target", "bpf", "-D__TARGET_ARCH_x86", "-O2", "-g", "-Wno-unused",
             f"-I/usr/include/{platform.machine()}-linux-gnu"]
X_LIST_LINE = re.compile(r"[A-Z]+\(.*\)$")


def is_x_list(text):
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S).split("\n")
    return all(X_LIST_LINE.match(line) for line in code if line.strip())


def check(compiler, path):
    text = (ROOT / path).read_text()
    if "#pragma once" not in text:
        return "" if is_x_list(text) else f"{path}: neither #pragma once nor an X-list\n"
    if path.name.endswith(".bpf.h"):
        if compiler != "clang":
            return ""  # it has no such target
        flags = [*FLAGS, *BPF_FLAGS]
    else:
        flags = FLAGS
    # Twice: a header that only compiles once has lost its guard.
    source = f'#include "{path}"\n' * 2
    done = subprocess.run([compiler, "-I.", *flags], cwd=ROOT, input=source, text=True,
                          capture_output=True, check=False)
    return f"{path} does not compile alone:\n{done.stderr}" if done.returncode else ""


def main():
    jobs, *compilers = sys.argv[1:]
    headers = sorted(path.relative_to(ROOT) for folder in ("src", "include", "tests")
                     for path in (ROOT / folder).rglob("*.h"))
    work = [(compiler, path) for compiler in compilers for path in headers]
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        faults = list(pool.map(lambda item: check(*item), work))
    print("".join(faults), end="")
    sys.exit(any(faults) or not headers)


main()
