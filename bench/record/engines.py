#!/usr/bin/env python3
"""What recording costs with each engine, beside tools that translate: python3 bench/record/engines.py [OUT]

Processor time (user and system, of the program and what it starts) over that of the program alone; the best of ROUNDS (default 3), the
ways in turns, so that other work on the machine disturbs all alike. BUILT is the folder with `parallax`, by default that of a release build.
WAYS chooses among native, exact, replay-native, replay-exact, valgrind, qemu; NAMES among the programs. With OUT, README.md and raw.csv are
written there. Programs and tools that are not installed are left out, and named.
"""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILT = pathlib.Path(os.environ.get("BUILT", TOP / "target/release"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
PARALLAX = BUILT / "parallax"
WAYS = os.environ.get("WAYS", "native,exact,replay-native,replay-exact,valgrind,qemu").split(",")

SQL = (
    "create table t(a integer, b text); with recursive c(x) as (select 1 union all select x + 1 from c where x < 600000) "
    "insert into t select x, hex(x * 7919) from c; create index i on t(b); select count(*), max(b) from t where b > '3';"
)
PYTHON = "d = {}\nfor i in range(3000000): d[i % 997] = d.get(i % 997, 0) + i * 3\nprint(sum(d.values()))"
PERL = "my %h; for my $i (1..1500000) { $h{$i % 9973} .= chr(97 + $i % 26); } my $n = 0; $n += length for values %h; print $n;"
C_PROGRAMS = {"hash": "hash.c", "sort": "sort.c", "matrix": "matrix.c", "threads": "threads.c"}


def programs(work):
    text = work / "text"
    text.write_bytes(b"".join(b"%d squared is %d, and halved %x\n" % (i, i * i, i // 2) for i in range(900000)))
    made = {
        "gzip -9 of 32 MB": ["gzip", "-9", "-c", str(text)],
        "sqlite3, 600,000 rows": ["sqlite3", ":memory:", SQL],
        "python3, 3,000,000 rounds": ["python3", "-S", "-c", PYTHON],
        "perl": ["perl", "-e", PERL],
        "python3 -S -c pass": ["python3", "-S", "-c", "pass"],
    }
    for name, source in C_PROGRAMS.items():
        built = work / name
        subprocess.run(["gcc", "-O2", "-pthread", "-o", built, TOP / "bench/record" / source], check=True)
        made[name] = [str(built)]
    return made


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(command, recording):
    def record(engine):
        shutil.rmtree(recording, ignore_errors=True)
        return processor_time([PARALLAX, "record", "--engine", engine, "-o", recording, "--", *command])

    ways = {
        "native": lambda: record("native"),
        "replay-native": lambda: processor_time([PARALLAX, "replay", "--engine", "native", "--quiet", recording]),
        "replay-exact": lambda: processor_time([PARALLAX, "replay", "--engine", "exact", "--quiet", recording]),
        "exact": lambda: record("exact"),
        "valgrind": lambda: processor_time(["valgrind", "--tool=none", "-q", *command]),
        "qemu": lambda: processor_time(["qemu-x86_64", *command]),
    }
    best = {}
    for _ in range(ROUNDS):
        best["alone"] = min(best.get("alone", float("inf")), processor_time(command))
        for way in (way for way in ways if way in WAYS):
            best[way] = min(best.get(way, float("inf")), ways[way]())
    return best


def main():
    rows = []
    shown = WAYS
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        wanted = os.environ.get("NAMES", "").split(";") if "NAMES" in os.environ else None
        for name, command in programs(work).items():
            found = shutil.which(command[0])
            if wanted is not None and name not in wanted:
                continue
            if not found:
                print(f"{name}: left out, {command[0]} is not installed")
                continue
            best = measure([found, *command[1:]], work / "recording")
            rows.append((name, best))
            print(f"{name:28} alone {best['alone']:7.2f} s", *(f"{way} {best[way] / best['alone']:.2f}" for way in shown), flush=True)
    if len(sys.argv) > 1:
        out = pathlib.Path(sys.argv[1])
        out.mkdir(parents=True, exist_ok=True)
        lines = ["name,way,seconds", *(f'"{name}",{way},{took:.4f}' for name, best in rows for way, took in best.items())]
        (out / "raw.csv").write_text("\n".join(lines) + "\n")
        table = ["| program | alone, s | " + " | ".join(shown) + " |", "| --- | ---: |" + " ---: |" * len(shown)]
        for name, best in rows:
            table.append(f"| {name} | {best['alone']:.2f} | " + " | ".join(f"{best[way] / best['alone']:.2f}" for way in shown) + " |")
        command = "BUILT=... " if "BUILT" in os.environ else ""
        text = ["# Recording, by engine", "", f"`{command}bench/record/engines.py`: processor time over that of the program alone, the best of {ROUNDS}.", ""]
        text.append(f"- machine: {os.cpu_count()} processors; load average at the end: {os.getloadavg()[0]:.1f}")
        (out / "README.md").write_text("\n".join(text + [""] + table) + "\n")


main()
