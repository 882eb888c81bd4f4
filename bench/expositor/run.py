"""The micro-benchmarks of section 4.4: run.py PARALLAX PYTHON OUT [RUNS]. Writes numbers, plots like Figs. 4.9 to 4.11, a table.

PYTHON is an interpreter that has the module parallax. Every variant is a process of its own; numbers are means over the runs.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import svg

HERE = pathlib.Path(__file__).resolve().parent
LAZINESS = ["lazy", "native", "strict"]
MAPS = ["edithamt", "rbtrees", "python_dict", "strict_edithamt"]


# So many times as many hits.
MANY = 16


def print_ratios(mean, per_hit):
    """What was aimed at: hits against GDB's, lazy against strict, memory against red-black trees."""

    def micros(rows):
        return sum(row["seconds"][-1] / row["hits"] for row in rows) / len(rows) * 1e6

    gdb = micros(per_hit["gdb"])
    print("| µs a hit | | times faster |\n| --- | ---: | ---: |")
    for name, rows in per_hit.items():
        print(f"| {name} hits | {micros(rows):.2f} | {gdb / micros(rows):.0f} |")
    print("\n| lazy, all items asked for, against strict | after | before |\n| --- | ---: | ---: |")
    for lazy, strict in (("laziness lazy", "laziness strict"), ("maps edithamt", "maps strict_edithamt")):
        row = []
        for direction in ("after", "before"):
            one, other = (mean[(*name.split(" "), direction)]["seconds"][-1] for name in (lazy, strict))
            row.append(f"{(one / other - 1) * 100:+.0f} %")
        print(f"| {lazy} | {row[0]} | {row[1]} |")
    for direction in ("after", "before"):
        ours, theirs = (mean["maps", name, direction]["bytes"][-1] for name in ("edithamt", "rbtrees"))
        print(f"\nEditHAMT {direction}: {(theirs - ours) / 1024:.0f} KiB below red-black trees")
    print()


def means(rows):
    return [sum(column) / len(column) for column in zip(*rows)]


def main(parallax, python, out, runs="3"):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    numbers = {}
    with tempfile.TemporaryDirectory() as folder:
        program, recording = f"{folder}/fig48", f"{folder}/fig48.rec"
        subprocess.run(["gcc", "-g", "-O0", "-w", "-o", program, HERE / "fig48.c"], check=True)
        subprocess.run([parallax, "record", "-o", recording, "--", program], check=True)

        def one(which, variant, direction, recording=recording):
            environment = {**os.environ, "PYTHONMALLOC": "malloc"}
            command = [python, HERE / "one.py", recording, which, variant, direction]
            ran = subprocess.run(command, env=environment, capture_output=True, text=True)
            if ran.returncode != 0:
                sys.exit(f"{which} {variant} {direction} ended with {ran.returncode}: {ran.stderr}")
            return json.loads(ran.stdout)

        def in_gdb(which):
            place = f"{folder}/gdb.json"
            environment = {**os.environ, "WHICH": which, "OUT": place}
            command = ["gdb", "-nx", "-batch", "-x", HERE / "in_gdb.py", program]
            subprocess.run(command, env=environment, check=True, capture_output=True)
            return json.loads(pathlib.Path(place).read_text())

        def of_many(times):
            """The same program with its loops made longer, recorded: for what a hit costs when there are many."""
            many = f"{folder}/fig48-{times}"
            subprocess.run(["gcc", "-g", "-O0", "-w", f"-DLOOP_I={16 * times}", "-o", many, HERE / "fig48.c"], check=True)
            subprocess.run([parallax, "record", "-o", f"{many}.rec", "--", many], check=True)
            return f"{many}.rec"

        recordings = {1: recording, MANY: of_many(MANY)}
        per_hit = {}
        # Round by round, so that what else the machine does meets all of them.
        for _ in range(int(runs)):
            per_hit.setdefault("gdb", []).append(in_gdb("hits"))
            for times in (1, MANY):
                for variant in ("native", "lambda"):
                    if times == 1 or variant == "native":
                        row = one("hits", variant, "after", recordings[times])
                        per_hit.setdefault(f"{variant} {row['hits']}", []).append(row)
            for which, variants in (("laziness", LAZINESS), ("maps", MAPS)):
                numbers.setdefault((which, "gdb_python", "after"), []).append(in_gdb(which))
                for direction in ("after", "before"):
                    for variant in variants:
                        numbers.setdefault((which, variant, direction), []).append(one(which, variant, direction))
    mean = {}
    for key, rows in numbers.items():
        mean[key] = {"seconds": means([row["seconds"] for row in rows]), "startup": means([[row["startup"]] for row in rows])[0]}
        if "bytes" in rows[0]:
            mean[key]["bytes"] = means([row["bytes"] for row in rows])
        if "hits" in rows[0]:
            mean[key]["hits"] = rows[0]["hits"]
    print_ratios(mean, per_hit)
    for which in ("laziness", "maps"):
        mean[which, "gdb_python", "before"] = mean[which, "gdb_python", "after"]
    (out / "numbers.json").write_text(json.dumps({" ".join(key): row for key, row in mean.items()}))

    def drawn(name, title, which, variants, direction, field, unit):
        lines = {variant: mean[which, variant, direction][field] for variant in variants if field in mean[which, variant, direction]}
        (out / f"{name}.svg").write_text(svg.plot(title, "action", unit, lines))

    for letter, direction in (("a", "after"), ("b", "before")):
        drawn(f"4.9{letter}", f"Getting all items of two traces, get_{direction}", "laziness", [*LAZINESS, "gdb_python"], direction, "seconds", "s")
        drawn(f"4.10{letter}", f"Looking up in maps, get_{direction}", "maps", [*MAPS, "gdb_python"], direction, "seconds", "s")
        drawn(f"4.11{letter}", f"Looking up in maps, get_{direction}", "maps", MAPS, direction, "bytes", "bytes")
    print("| what | after, s | before, s | after, KiB | before, KiB |\n| --- | ---: | ---: | ---: | ---: |")
    for which, variants in (("laziness", [*LAZINESS, "gdb_python"]), ("maps", [*MAPS, "gdb_python"])):
        for variant in variants:
            row = [mean[which, variant, direction] for direction in ("after", "before")]
            memory = [f"{one['bytes'][-1] / 1024:.0f}" if "bytes" in one else "" for one in row]
            print(f"| {which} {variant} | {row[0]['seconds'][-1]:.3f} | {row[1]['seconds'][-1]:.3f} | {memory[0]} | {memory[1]} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
