#!/usr/bin/env python3
"""What the jail costs: confirmations of `explore FILE.c` and runs of `explore -- PROGRAM`, with walls and without, in one run.

usage: bench/jail/compare.py [PARALLAX [ROUNDS [OUT]]]

With and without walls alternate, so that a busy machine disturbs both alike; what counts is processor time, children included. The best
of all rounds is printed. With OUT, all rounds go to OUT/raw.csv.
"""
import csv
import json
import os
import pathlib
import resource
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
        for number in range(rounds):
            for walls in [True, False]:
                word = [] if walls else ["--run-unjailed"]
                seconds, found = measured(
                    [parallax, "explore", "--stdin", "1", "--no-cache", "--json", *word, "crashes.c"], folder
                )
                confirmed = sum(one["native"] == "confirmed" for one in found["findings"])
                rows.append(["confirmations", walls, confirmed, seconds])
                for kind, words in [("runs that write nothing", []), ("runs half of which write", ["w"])]:
                    out = folder / f"out-{number}-{walls}-{len(words)}"
                    seconds, found = measured(
                        [parallax, "explore", "--stdin", "8", "--json", "--jobs", "1", "--out", out, *word, "--", "./ways", *words],
                        folder,
                    )
                    rows.append([kind, walls, len(found["tests"]), seconds])
                    (folder / "made").unlink(missing_ok=True)
    print(f"{'':28} {'count':>6} {'walls, s':>9} {'without, s':>10} {'ratio':>6}")
    for kind in dict.fromkeys(row[0] for row in rows):
        def best(walls):
            return min((row[3], row[2]) for row in rows if row[0] == kind and row[1] == walls)

        (with_walls, count), (without, other) = best(True), best(False)
        assert kind != "confirmations" or count == other == 16, (count, other)
        print(f"{kind:28} {count:6} {with_walls:9.2f} {without:10.2f} {with_walls / without:6.2f}")
    if len(sys.argv) > 3:
        out = pathlib.Path(sys.argv[3])
        os.makedirs(out, exist_ok=True)
        with open(out / "raw.csv", "w", newline="") as file:
            csv.writer(file).writerows([["what", "walls", "count", "processor seconds"], *rows])


main()
