# SPDX-License-Identifier: Apache-2.0
"""rows_exact.py - a command under sonde is the command: what it sees, says and ends with."""
import json
import subprocess
import tempfile
from pathlib import Path

from rows import Figure, exactly, row

WAYS = ("exit7", "raise", "kill15", "kill2", "abandon")


def run_once(words, told):
    """(what the program saw, its output, how it ended as a shell would say)."""
    told.unlink(missing_ok=True)
    done = subprocess.run(words, input="two\nlines\n", capture_output=True, text=True, timeout=60, check=False)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return json.loads(told.read_text()), done.stdout.strip(), done.stderr.strip(), code


def differences(plain, under):
    found = {key: (plain[key], under[key]) for key in plain if plain[key] != under[key]}
    if "status" in found:
        one, other = found["status"]
        found["status"] = {key: (one[key], other[key]) for key in one if one[key] != other[key]}
    return found


@row("py-exact", "record -- python: argv, path, stdin, files, limits, signals, exit codes as without", language="python", once=True)
def exact(run):
    inside, told = run.interpreter.scratch("exact.json")
    for way in WAYS:
        command = run.interpreter.command("exact.py", inside, way, "an argument", "--quiet", "-")
        with tempfile.TemporaryDirectory(prefix="sonde-e2e-") as directory:
            plain = run_once(command, told)
            under = run_once([run.sonde.path, "record", "-q", "-r", "1000", "-o", f"{directory}/x.sonde", "--", *command],
                             told)
            recorded = (Path(directory) / "x.sonde").exists()
        different = differences(plain[0], under[0])
        yield Figure(f"{way}: of {len(plain[0])} facts that differ: {str(different)[:300]}", len(different), "= 0",
                     not different)
        yield exactly(f"{way}: its output", under[1], plain[1])
        yield exactly(f"{way}: its exit code", under[3], plain[3])
        yield Figure(f"{way}: its errors", under[2].rpartition("\n")[2], "the same", under[2] == plain[2])
        yield exactly(f"{way}: recorded", recorded, True)
