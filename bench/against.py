#!/usr/bin/env python3
"""Two checkouts measured in turns, in one run: python3 bench/against.py OLD NEW [OUT]

OLD and NEW are folders with the repository at two commits, set up by `scripts/setup`. The benchmarks that both have are built
there (release profile) and run alternately, ROUNDS times each (default 5); the best of each side counts, so that other work on the machine
disturbs both alike. Times are processor time. A row's `cost` is new over old: above 1 the new one is slower or larger.
With OUT, README.md and raw.csv are written there.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROUNDS = int(os.environ.get("ROUNDS", "5"))
TOLERANCE = 1.03
# Package, example. `growth` and `measure` print in ways of their own.
EXAMPLES = {
    "foundation": ("parallax-primitives", "bench-foundation"),
    "solvers": ("parallax-smt", "bench-solvers"),
    "c": ("parallax-cexplore", "bench-c"),
    "heap": ("parallax-javalite", "growth"),
    "emulator": ("parallax-process", "measure"),
}
KERNELS = ["hash", "sieve", "sort", "calls"]
# Units in which more is better; in all others less is.
RATES = {"M/s", "statements/s", "instructions/s", "paths/s", "ratio"}
# Of Z3 or of how much work there was: not a cost of ours.
NOT_A_COST = ("z3", "queries", "undecided", "paths", "complete", "most", "formula")


def output(*command, folder):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, cwd=folder).stdout


def build(folder, package, example):
    output("cargo", "build", "--release", "--quiet", "--package", package, "--example", example, folder=folder)
    return folder / "target/release/examples" / example


def lines(program, folder):
    """Numbers of a benchmark that prints `name value unit`."""
    for line in output(program, folder=folder).splitlines():
        if line.strip() and not line.startswith("#"):
            name, value, unit = line.split()
            yield name, float(value), unit


def growth(program, folder):
    """Seconds of each engine on each subject at each k that it finishes well within the limit."""
    rows = csv.DictReader(output(program, "4", folder=folder).splitlines())
    for row in rows:
        if row["finished"] == "true":
            name = f"{row['subject']}/{row['engine']}/k{row['k']}"
            yield name, float(row["seconds"]), "s"
            yield f"{name}/solver-calls", float(row["solver_calls"]), "calls"


def emulator(program, folder, kernels):
    for kernel, binary in kernels.items():
        for name, words in [(kernel, []), (f"{kernel}/watched", ["--watch"])]:
            answer = json.loads(output(program, *words, binary, folder=folder))
            yield name, answer["seconds"], "s"
        yield f"{kernel}/bytes-per-page", answer["bytes_per_page"], "bytes"


def better(unit):
    return max if unit in RATES else min


def main():
    old, new = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    out = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    wanted = sys.argv[4:] or list(EXAMPLES)
    best = {}
    with tempfile.TemporaryDirectory() as temporary:
        kernels = {}
        for kernel in KERNELS:
            kernels[kernel] = pathlib.Path(temporary) / kernel
            flags = ["-O2", "-static", "-nostdlib", "-fno-stack-protector", "-fcf-protection=none", f"-DKERNEL={kernel}"]
            output("gcc", *flags, new / "bench/emulator/kernels.c", "-o", kernels[kernel], folder=new)
        for name in wanted:
            programs = {side: build(folder, *EXAMPLES[name]) for side, folder in [("old", old), ("new", new)]}
            for round in range(ROUNDS):
                # The other one first each time: what the machine does next to us is then no advantage of one side.
                sides = [("old", old), ("new", new)]
                for side, folder in sides if round % 2 == 0 else reversed(sides):
                    print(f"{name}: {side}, round {round + 1} of {ROUNDS}", file=sys.stderr)
                    program = programs[side]
                    match name:
                        case "heap":
                            measured = growth(program, folder)
                        case "emulator":
                            measured = emulator(program, folder, kernels)
                        case _:
                            measured = lines(program, folder)
                    for row, value, unit in measured:
                        sides_of = best.setdefault((name, row, unit), {})
                        sides_of[side] = better(unit)(sides_of.get(side, value), value)
    report(best, old, new, out)


def report(best, old, new, out):
    rows, slower = [], []
    for (name, row, unit), sides in best.items():
        if len(sides) < 2:
            continue
        a, b = sides["old"], sides["new"]
        cost = None
        # Below a hundredth of a second the clock is what is measured.
        tiny = unit == "s" and max(a, b) < 0.01
        if a and b and not tiny and not any(part in row for part in NOT_A_COST):
            cost = a / b if unit in RATES else b / a
            if cost > TOLERANCE:
                slower.append(f"{name} {row}: {cost:.3f}")
        rows.append([name, row, unit, a, b, "" if cost is None else f"{cost:.3f}"])
    commits = [output("git", "rev-parse", "--short", "HEAD", folder=folder).strip() for folder in (old, new)]
    text = [
        f"# {commits[0]} against {commits[1]}",
        "",
        f"`ROUNDS={ROUNDS} python3 bench/against.py OLD NEW OUT`: both built with the release profile, run in turns, the best of {ROUNDS}",
        "rounds. `cost` is new over old: above 1 the new one is slower or larger. Rows without one say how much work it was,",
        "measure Z3, or are below a hundredth of a second.",
        "",
        f"More than 3 % worse: {'; '.join(slower) if slower else 'none'}.",
        "",
        "| benchmark | what | unit | old | new | cost |",
        "| --- | --- | --- | ---: | ---: | ---: |",
        *(f"| {name} | {row} | {unit} | {a:g} | {b:g} | {cost} |" for name, row, unit, a, b, cost in rows),
    ]
    print("\n".join(text))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "README.md").write_text("\n".join(text) + "\n")
        with open(out / "raw.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["benchmark", "what", "unit", "old", "new", "cost"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
