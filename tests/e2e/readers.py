# SPDX-License-Identifier: Apache-2.0
"""readers.py - each format read back by its rules: what names, samples and weights are in it.

    readers.READERS["speedscope"](path) -> Content(names, samples, weight)

What breaks a rule of the format raises BadFormat. The programs that users open the formats with are
called by rows_formats.py; here are the rules that they do not say when they are broken.
"""
import json
import re
import subprocess
import xml.etree.ElementTree
from pathlib import Path
from typing import NamedTuple

import folded

PROTOS = Path(__file__).resolve().parents[1] / "unit" / "export"
SVG = "{http://www.w3.org/2000/svg}"


class BadFormat(Exception):
    pass


class Content(NamedTuple):
    names: set      # bytes, turned back from what is written
    samples: object  # None: the format holds one number, and that is the weight
    weight: object   # nanoseconds


def require(condition, what):
    if not condition:
        raise BadFormat(what)


def names_of(texts):
    return {folded.unescape(text).encode(errors="surrogateescape") for text in texts}


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


# ---- text formats ----

def read_folded(path):
    stacks = folded.parse(path.read_bytes())
    names = {frame.label.encode(errors="surrogateescape") for stack in stacks for frame in stack.frames}
    return Content(names, folded.total(stacks), None)


def read_callgrind(path):
    names, totals, sums, after_call = set(), None, [0, 0], False
    for line in path.read_text(encoding="utf-8").split("\n"):
        named = re.match(r"c?fn=\(\d+\)(?: (.*))?\Z", line)
        if named:
            names.add(named[1] or "")
        elif line.startswith("calls="):
            after_call = True
        elif line.startswith("totals: "):
            totals = list(map(int, line.split()[1:]))
        elif line[:1].isdigit():
            if not after_call:
                sums = [old + int(new) for old, new in zip(sums, line.split()[1:])]
            after_call = False
    require(totals == sums, f"totals {totals}, costs of lines {sums}")
    return Content(names_of(names), totals[1], totals[0])


def read_svg(path):
    root = xml.etree.ElementTree.fromstring(path.read_bytes())
    require(root.tag == SVG + "svg", "not an SVG")
    require(not [one for one in root.iter() if one.tag.endswith("script")], "a script")
    titles = [one.text for one in root.iter(SVG + "title")]
    whole = next(title for title in titles if title.startswith("all - "))
    samples = int(re.search(r", (\d+) samples", whole)[1])
    require(any("frames drawn" in (one.text or "") for one in root.iter(SVG + "text")), "no count of frames")
    return Content(names_of(title.rsplit(" - ", 1)[0] for title in titles), samples, None)


# ---- JSON ----

def read_json(path):
    data = load(path)
    require(data["format"] == "sonde profile" and data["version"] == 1, "another format")
    strings = data["strings"]["rows"]

    def rows(table):
        names = data[table]["columns"]
        return [dict(zip(names, row, strict=True)) for row in data[table]["rows"]]

    functions, locations, stacks, entries = map(rows, ("functions", "locations", "stacks", "entries"))
    require(all(stack["outer"] < number for number, stack in enumerate(stacks) if number), "an outer stack comes later")
    require(all(stack["location"] < len(locations) for stack in stacks), "no such location")
    require(all(one["function"] < len(functions) for one in locations), "no such function")
    require(all(entry["stack"] < len(stacks) for entry in entries), "no such stack")
    timed = sum(cell["count"] for cell in rows("timeline"))
    samples = sum(entry["count"] for entry in entries)
    require(timed in (0, samples), f"{timed} samples have times, of {samples}")
    require(samples == data["total_count"] == data["quality"]["samples"], "the ledger has other samples")
    return Content(names_of(strings[one["name"]] for one in functions), samples,
                   sum(entry["weight_ns"] for entry in entries))


def read_speedscope(path):
    data = load(path)
    frames, weight = data["shared"]["frames"], 0
    require(0 <= data["activeProfileIndex"] < len(data["profiles"]), "activeProfileIndex")
    for profile in data["profiles"]:
        require(profile["type"] == "sampled" and profile["unit"] == "nanoseconds", "type or unit")
        require(re.search(r"\(pid \d+\).*\(tid \d+\)", profile["name"]), f"no pid and tid: {profile['name']}")
        require(len(profile["samples"]) == len(profile["weights"]), "as many samples as weights")
        require(profile["endValue"] - profile["startValue"] == sum(profile["weights"]), "endValue")
        require(all(0 <= frame < len(frames) for stack in profile["samples"] for frame in stack), "no such frame")
        weight += sum(profile["weights"])
    require(len({profile["name"] for profile in data["profiles"]}) == len(data["profiles"]), "two of one name")
    return Content(names_of(frame["name"] for frame in frames), None, weight)


def check_columns(table, name):
    for column, values in table.items():
        if column != "length":
            require(len(values) == table["length"], f"{name}.{column}: {len(values)} of {table['length']} rows")


def check_firefox_shared(shared):
    for name, table in shared.items():
        if name != "stringArray":
            check_columns(table, name)
    stacks, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    # profiler-cli never ends on a parent that follows its child.
    require(all(0 <= back <= row for row, back in enumerate(stacks["prefixOffset"])), "a parent behind its child")
    require(all(0 <= one < frames["length"] for one in stacks["frame"]), "no such frame")
    require(all(0 <= one < functions["length"] for one in frames["func"]), "no such function")
    require(all(0 <= one < len(shared["stringArray"]) for one in functions["name"]), "no such string")
    require(all(one is None or 0 <= one < shared["sources"]["length"] for one in functions["source"]), "no such source")


def read_firefox(path):
    data = load(path)
    shared, meta, weight = data["shared"], data["meta"], 0
    check_firefox_shared(shared)
    require(meta["preprocessedProfileVersion"] == 66, "version")
    require(meta["startTime"] > 1.7e12, f"it began at {meta['startTime']} ms after 1970")
    require(any(one["color"] == "grey" for one in meta["categories"]), "no grey category")
    known = {schema["name"] for schema in meta["markerSchema"]}
    ids = set()
    for thread in data["threads"]:
        samples, markers = thread["samples"], thread["markers"]
        require(all(len(values) == samples["length"] for values in samples.values() if isinstance(values, list)),
                "columns of samples")
        check_columns(markers, "markers")
        require(all(one["type"] in known for one in markers["data"]), "a marker without a schema")
        require(all(0 <= one < shared["stackTable"]["length"] for one in samples["stack"]), "no such stack")
        require(all(delta >= 0 for delta in samples["timeDeltas"]), "time runs backwards")
        require(sum(samples["timeDeltas"]) <= meta["profilingEndTime"] + 0.001, "samples after the end")
        require(samples["weightType"] == "tracing-ms", "weightType")
        weight += sum(round(one * 1e6) for one in samples["weight"])
        ids.add((thread["pid"], thread["tid"]))
    require(len(ids) == len(data["threads"]), "two threads of one id")
    return Content(names_of(shared["stringArray"][one] for one in shared["funcTable"]["name"]), None, weight)


# ---- protobuf, as protoc prints it ----

ESCAPE = re.compile(rb"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.S)
LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


def unquote(text):
    def one(match):
        code = match[1]
        if code[:1].isdigit():
            return bytes([int(code, 8)])
        return LETTERS.get(code, code) if code[:1] != b"x" else bytes([int(code[1:], 16)])
    return ESCAPE.sub(one, text[1:-1].encode())


def parse_message(lines):
    """{field: [values]}: protobuf's text format up to the closing brace."""
    message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            name, value = line[:-2], parse_message(lines)
        else:
            name, value = line.split(": ", 1)
            value = unquote(value) if value.startswith('"') else int(value) if value.lstrip("-").isdigit() else value
        require(not name.isdigit(), f"field {name} is not in the specification")
        message.setdefault(name, []).append(value)
    return message


def decode(data, message, proto):
    done = subprocess.run(["protoc", "-I", str(PROTOS), f"--decode={message}", proto], input=data,
                          capture_output=True, check=False)
    require(done.returncode == 0, f"protoc: {done.stderr.decode()[-300:]}")
    return parse_message(iter(done.stdout.decode().splitlines()))


def first(message, field, default=0):
    return message.get(field, [default])[0]


def read_pprof(path):
    import gzip
    profile = decode(gzip.decompress(path.read_bytes()), "perftools.profiles.Profile", "profile.proto")
    strings = profile["string_table"]
    require(strings[0] == b"", "string 0")
    for table in ("location", "function", "mapping"):
        ids = [first(one, "id") for one in profile.get(table, [])]
        require(ids == list(range(1, len(ids) + 1)), f"ids of {table} are not 1..N in order")
    require(first(profile, "period") > 0 and "period_type" in profile, "no period")
    require(strings[first(profile, "default_sample_type")] in (b"cpu", b"wall", b"lock"), "default_sample_type")
    require(all(len(one.get("location_id", [])) and len(one["value"]) == 2 for one in profile["sample"]), "values")
    keys = [(tuple(one["location_id"]), str(one["label"])) for one in profile["sample"]]
    require(len(set(keys)) == len(keys), "equal stacks are not added up")
    names = {strings[first(one, "name")].decode() for one in profile["function"]}
    return Content(names_of(names), *(sum(one["value"][i] for one in profile["sample"]) for i in (0, 1)))


def check_dictionary(dictionary):
    for table in ("mapping", "location", "function", "attribute", "stack"):
        rows = dictionary[table + "_table"]
        require(rows[0] == {}, f"{table} 0 is not empty")
        require(len({str(row) for row in rows}) == len(rows), f"equal rows in {table}")
    require(dictionary["string_table"][0] == b"", "string 0")
    require(len(set(dictionary["string_table"])) == len(dictionary["string_table"]), "equal strings")
    link = dictionary["link_table"][0]
    require((len(link["trace_id"][0]), len(link["span_id"][0])) == (16, 8), "link 0")

    def refer(rows, field, table):
        used = {number for row in rows for number in row.get(field, [])}
        require(used <= set(range(len(dictionary[table]))), f"{field} out of {table}")
        return used

    used = refer(dictionary["stack_table"], "location_indices", "location_table")
    require(used == set(range(1, len(dictionary["location_table"]))), "locations that no stack has")
    lines = [line for one in dictionary["location_table"] for line in one.get("lines", [])]
    refer(lines, "function_index", "function_table")
    refer(dictionary["location_table"], "attribute_indices", "attribute_table")


def read_otlp(path):
    request = decode(path.read_bytes(), "opentelemetry.ExportProfilesServiceRequest", "otlp.proto")
    dictionary = request["dictionary"][0]
    strings = dictionary["string_table"]
    check_dictionary(dictionary)
    sums = {}
    for resource in request["resource_profiles"]:
        keys = [first(one, "key", b"") for one in resource["resource"][0]["attributes"]]
        require({b"service.name", b"process.pid"} <= set(keys), f"keys of the resource: {keys}")
        for profile in resource["scope_profiles"][0]["profiles"]:
            begin, span = first(profile, "time_unix_nano"), first(profile, "duration_nano")
            require(begin > 1.7e18 and span > 0 and first(profile, "period") > 0, "time, duration or period")
            kind = strings[first(profile["sample_type"][0], "type_strindex")]
            for sample in profile["samples"]:
                times = sample.get("timestamps_unix_nano", [])
                require(all(begin <= time <= begin + span for time in times), "a time out of the profile's")
                require(len(sample["attribute_indices"]) == 2, "thread.id and thread.name")
                require(0 < first(sample, "stack_index") < len(dictionary["stack_table"]), "no such stack")
                values = sample.get("values", [])
                require(not times or len(values) in (0, len(times)), "values and times that do not belong together")
                sums[kind] = sums.get(kind, 0) + (sum(values) or len(times))
    names = {strings[first(one, "name_strindex")].decode() for one in dictionary["function_table"]}
    return Content(names_of(names), sums[b"samples"], sums[b"cpu"])


READERS = {"folded": read_folded, "pprof": read_pprof, "speedscope": read_speedscope, "firefox": read_firefox,
           "callgrind": read_callgrind, "svg": read_svg, "json": read_json, "otlp": read_otlp}
