# SPDX-License-Identifier: Apache-2.0
"""exact.py OUT HOW [ARGUMENT]... - what a program can see of how it was started, as JSON in OUT; then it ends in a way.

HOW: exit7, raise, kill15, kill2 (by that signal), or abandon (a thread that is still at work).
"""
import json
import os
import signal
import sys
import threading
import time


def open_files():
    """{number: kind} of those that are open: pipes and sockets have other numbers each time."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[name] = os.readlink("/proc/self/fd/" + name).split(":")[0]
        except OSError:
            pass  # the directory's own
    return found


def from_status():
    wanted = ("SigBlk", "SigIgn", "SigCgt", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Uid", "Gid", "Groups", "Umask",
              "Cpus_allowed", "Threads")  # not TracerPid: a micro-stop can be seen while it lasts
    with open("/proc/self/status") as status:
        return dict((line.split(":")[0], line.split(":")[1].strip()) for line in status if line.split(":")[0] in wanted)


def read(path):
    with open(path) as file:
        return file.read().strip()


facts = {
    "argv": sys.argv,
    "path": sys.path,
    "executable": sys.executable,
    "flags": str(sys.flags),
    "main": sorted(sys.modules["__main__"].__dict__),
    "modules": sorted(name for name in sys.modules),
    "stdin": sys.stdin.read(),
    "environment": dict(os.environ),
    "directory": os.getcwd(),
    "files": open_files(),
    "status": from_status(),
    "limits": read("/proc/self/limits").replace(" ", ""),
    "oom": read("/proc/self/oom_score_adj"),
    "nice": os.nice(0),
    "leads": [os.getpid() == os.getpgrp(), os.getpid() == os.getsid(0)],
    "policy": read("/proc/self/sched").split("policy")[1].split()[1] if os.path.exists("/proc/self/sched") else "",
    "handlers": [str(signal.getsignal(number)) for number in range(1, 32) if number not in (9, 19)],
    "tty": [os.isatty(number) for number in range(3)],
}
with open(sys.argv[1], "w") as out:
    json.dump(facts, out)
sys.stdout.write("said\n")
sys.stdout.flush()
end = time.time() + 0.1
while time.time() < end:
    pass
how = sys.argv[2]
if how == "exit7":
    sys.exit(7)
if how == "raise":
    raise KeyError("on purpose")
if how.startswith("kill"):
    os.kill(os.getpid(), int(how[4:]))
worker = threading.Thread(target=threading.Event().wait)
worker.daemon = True
worker.start()
