#!/usr/bin/env python3
"""Speed of the emulator beside Unicorn and QEMU, on the same files, in one run.

Prints a table of million instructions per second and ratios; with a folder as argument, writes raw.csv there too.
Times are processor time, so that a busy machine disturbs them less. Unicorn comes from PyPI (third_party/unicorn).
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import starts
from starts import MEASURE, ROOT, ROUNDS, processor_time

HERE = ROOT / "bench/emulator"
UNICORN = ROOT / "third_party/unicorn"
KERNELS = ["hash", "sieve", "sort", "calls", "pages"]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **options)


def main():
    if not (UNICORN / "unicorn").exists():
        run(sys.executable, "-m", "pip", "install", "--quiet", "--target", UNICORN, "unicorn==2.1.4")
    library = next((UNICORN / "unicorn").rglob("libunicorn.so*"))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        driver = folder / "unicorn"
        headers = next((UNICORN / "unicorn").rglob("unicorn.h")).parent.parent
        run("gcc", "-O2", f"-I{headers}", HERE / "unicorn.c", "-o", driver, library, f"-Wl,-rpath,{library.parent}")
        for kernel in KERNELS:
            program = folder / kernel
            flags = ["-O2", "-static", "-nostdlib", "-fno-stack-protector", "-fcf-protection=none", f"-DKERNEL={kernel}"]
            run("gcc", *flags, HERE / "kernels.c", "-o", program)
            row = {"kernel": kernel}
            seconds, status = processor_time(program)
            row["native"] = seconds
            for name, words in [("parallax", []), ("parallax watched", ["--watch"])]:
                answers = [json.loads(run(MEASURE, *words, program).stdout) for _ in range(ROUNDS)]
                assert all(answer["status"] == status for answer in answers), (kernel, answers)
                row[name] = min(answer["seconds"] for answer in answers)
                row["instructions"] = answers[0]["instructions"]
                row["bytes per page"] = answers[0]["bytes_per_page"]
            for name, word in [("unicorn", "plain"), ("unicorn hooked", "hooked")]:
                answers = [json.loads(run(driver, word, program).stdout) for _ in range(ROUNDS)]
                assert all(answer["result"] == status for answer in answers), (kernel, answers, status)
                row[name] = min(answer["seconds"] for answer in answers)
            times = [processor_time("qemu-x86_64", program) for _ in range(ROUNDS)]
            assert all(found == status for _, found in times), (kernel, times)
            row["qemu"] = min(seconds for seconds, _ in times)
            rows.append(row)
    names = ["parallax", "parallax watched", "unicorn", "unicorn hooked", "qemu", "native"]
    print("million instructions per second (processor time)")
    print(f"{'kernel':8} {'instr.':>8}", *(f"{name:>16}" for name in names), f"{'watched/hooked':>15}")
    for row in rows[:-1]:
        speeds = [row["instructions"] / max(row[name], 1e-4) / 1e6 for name in names]
        ratio = row["unicorn hooked"] / row["parallax watched"]
        count = f"{row['instructions'] / 1e6:.0f}M"
        print(f"{row['kernel']:8} {count:>8}", *(f"{speed:16.0f}" for speed in speeds), f"{ratio:14.1f}x")
    print(f"memory per touched page: {rows[-1]['bytes per page']:.0f} bytes")
    if len(sys.argv) > 1:
        with open(os.path.join(sys.argv[1], "raw.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
    print()
    starts.report(sys.argv[1] if len(sys.argv) > 1 else None)


main()
