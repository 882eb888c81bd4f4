#!/usr/bin/env python3
"""How long small programs take from start to end, where starting and lifting is most of the work, beside QEMU.

With `BEFORE=FILE`, the measuring program of an older build runs in turn with the new one. With a folder as argument, writes
starts.csv there. Times are processor time, the least of `ROUNDS`.
"""

import csv
import json
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEASURE = ROOT / os.environ.get("MEASURE", "target/release/examples/measure")
BEFORE = os.environ.get("BEFORE")
ROUNDS = int(os.environ.get("ROUNDS", "3"))
PROGRAMS = [
    ["/bin/true"],
    ["/usr/bin/sort", "/etc/passwd"],
    ["/bin/bash", "-c", "true"],
    ["/usr/bin/perl", "-e", "1"],
    ["/usr/bin/python3", "-S", "-c", "pass"],
    ["/usr/bin/python3", "-c", "pass"],
]


def processor_time(*command):
    """Processor time of a command, whatever its exit status."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run([str(part) for part in command], capture_output=True).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, status


def start(command):
    """A small program, from its start to its end. `running` is without loading: lifting, translating and executing."""
    ways = {"parallax": [MEASURE], "qemu": ["qemu-x86_64"], "native": []}
    if BEFORE:
        ways["before"] = [BEFORE]
    # In turns, so that a busy moment hits all of them.
    times = [{name: processor_time(*way, *command)[0] for name, way in ways.items()} for _ in range(ROUNDS)]
    output = subprocess.run([str(MEASURE), *command], check=True, capture_output=True, text=True).stdout
    answer = json.loads(output.splitlines()[-1])
    least = {name: min(time[name] for time in times) for name in ways}
    return {"program": " ".join(command), **least, "lifted": answer["lifted"], "running": answer["seconds"]}


def report(folder):
    rows = [start(command) for command in PROGRAMS]
    names = [name for name in ["before", "parallax", "qemu", "native"] if name in rows[0]]
    print("small programs, milliseconds of processor time from start to end")
    print(f"{'program':28}", *(f"{name:>9}" for name in names), f"{'/qemu':>6} {'lifted':>8} {'us per lifted':>14}")
    for row in rows:
        times = " ".join(f"{row[name] * 1000:9.0f}" for name in names)
        each = row["running"] / row["lifted"] * 1e6
        ratio = row["parallax"] / row["qemu"]
        print(f"{row['program'][:28]:28} {times} {ratio:6.2f} {row['lifted']:8} {each:14.1f}")
    if folder:
        with open(os.path.join(folder, "starts.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    report(sys.argv[1] if len(sys.argv) > 1 else None)
