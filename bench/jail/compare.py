#!/usr/bin/env python3
"""What the jail costs: confirmations of `explore FILE.c` and runs of `explore -- PROGRAM`, with walls and without, in one run.

usage: bench/jail/compare.py [PARALLAX [ROUNDS [OUT]]]

With and without walls alternate, each first in every other round, so that a busy machine disturbs both alike; what counts is processor
time, children included. Printed are medians of the rounds, their ratio, the ratio of the best rounds, and the median of the rounds' own
ratios. With OUT, all rounds go to OUT/raw.csv.
"""
import csv
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Sixteen places that crash, each for an input of its own: sixteen confirmations.
CRASHES = "#include <stdio.h>\n" + "".join(
    f"static void f{n}(int c) {{ int *p = 0; if (c == {n}) *p = {n}; }}\n" for n in range(16)
) + "int main(void) { int c = getchar();\n" + "".join(f"f{n}(c);\n" for n in range(16)) + "return 0; }\n"

# 256 ways, each of which writes a file or not.
WAYS = """#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char b[8];
    if (read(0, b, 8) != 8) return 1;
    int n = 0;
    for (int i = 0; i < 8; i++) if (b[i] == 'x') n++;
    if (argc > 1 && n % 2) { int f = open("made", O_CREAT | O_WRONLY, 0600); write(f, b, 8); }
    return n;
}
"""


def measured(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 1), done.stderr
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(done.stdout)


def main():
    parallax = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/parallax").resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "crashes.c").write_text(CRASHES)
        (folder / "ways.c").write_text(WAYS)
        subprocess.run(["gcc", "-O0", "-fno-builtin", "-o", "ways", "ways.c"], cwd=folder, check=True)
        kinds = {
            "confirmations": ["--stdin", "1", "--no-cache", "crashes.c"],
            "runs that write nothing": ["--stdin", "8", "--jobs", "1", "--", "./ways"],
            "runs half of which write": ["--stdin", "8", "--jobs", "1", "--", "./ways", "w"],
        }
        for number in range(rounds):
            for kind, words in kinds.items():
                # Confirmations take longest and are disturbed least.
                if kind == "confirmations" and number % 3:
                    continue
                for walls in [number % 2 == 0, number % 2 != 0]:
                    word = [] if walls else ["--run-unjailed"]
                    word += ["--out", folder / f"out-{number}-{walls}-{len(words)}"] if "--" in words else []
                    seconds, found = measured([parallax, "explore", "--json", *word, *words], folder)
                    confirmed = sum(one["native"] == "confirmed" for one in found["findings"]) if "findings" in found else 0
                    count = confirmed if kind == "confirmations" else len(found["tests"])
                    assert count == (16 if kind == "confirmations" else 256), (kind, count)
                    rows.append([kind, walls, count, seconds])
                    (folder / "made").unlink(missing_ok=True)
    print(f"{'':28} {'walls, s':>9} {'without, s':>10} {'medians':>8} {'bests':>6} {'pairs':>6}")
    for kind in kinds:
        with_walls, without = ([row[3] for row in rows if row[0] == kind and row[1] == walls] for walls in [True, False])
        medians = statistics.median(with_walls), statistics.median(without)
        pairs = statistics.median(one / other for one, other in zip(with_walls, without))
        bests = min(with_walls) / min(without)
        print(f"{kind:28} {medians[0]:9.2f} {medians[1]:10.2f} {medians[0] / medians[1]:8.2f} {bests:6.2f} {pairs:6.2f}")
    if len(sys.argv) > 3:
        out = pathlib.Path(sys.argv[3])
        os.makedirs(out, exist_ok=True)
        with open(out / "raw.csv", "w", newline="") as file:
            csv.writer(file).writerows([["what", "walls", "count", "processor seconds"], *rows])


main()
