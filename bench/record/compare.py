#!/usr/bin/env python3
"""Recording, replaying and searching beside other tools, in one run: python3 bench/record/compare.py [OUT]

Programs are run natively, in Parallax (plainly, recorded, replayed), and under `valgrind --tool=none` and qemu-user, in turns, ROUNDS times each
(default 3); the best counts, so that other work on the machine disturbs all alike. GDB's `record full` runs a short loop, since
it keeps every instruction in memory. Then travel in a recording of SEARCH rounds of `calls.c` (default 11000, a hundred million
steps) and seeks in one of SEEK rounds (default 110000, a thousand million). BUILT is the folder with `parallax` and
`examples/measure-travel`, by default that of a release build. With OUT, README.md and raw.csv are written there. Tools that are not
installed are left out, and named.
"""

import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILT = pathlib.Path(os.environ.get("BUILT", TOP / "target/release"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SEARCH = os.environ.get("SEARCH", "11000")
SEEK = os.environ.get("SEEK", "110000")
SEEKS = os.environ.get("SEEKS", "400")
# Rounds of the loop that GDB records, and whose calls it counts.
GDB_RECORDED, GDB_CALLED = os.environ.get("GDB_RECORDED", "8"), os.environ.get("GDB_CALLED", "2000")
PARALLAX = BUILT / "parallax"

PYTHON = "d = {}\nfor i in range(60000): d[i % 997] = d.get(i % 997, 0) + i * 3\nprint(sum(d.values()))"
SQL = (
    "create table t(a integer, b text); with recursive c(x) as (select 1 union all select x + 1 from c where x < 6000) "
    "insert into t select x, hex(x * 7919) from c; create index i on t(b); select count(*), max(b) from t where b > '3';"
)

rows = []
missing = []


def row(name, value, unit):
    rows.append((name, value, unit))
    print(f"{name:42} {value:14.4f} {unit}", flush=True)


def seconds(command, **more):
    started = time.monotonic()
    done = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)
    took = time.monotonic() - started
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
    return took


def has(tool):
    if shutil.which(tool):
        return True
    if tool not in missing:
        missing.append(tool)
    return False


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def programs(work):
    text = work / "text"
    text.write_bytes(b"".join(b"%d squared is %d\n" % (i, i * i) for i in range(60000)))
    return {
        "gzip": ["gzip", "-c", str(text)],
        "sqlite3": ["sqlite3", ":memory:", SQL],
        "python3": ["python3", "-S", "-c", PYTHON],
    }


def slowdowns(work):
    for name, command in programs(work).items():
        if not has(command[0]):
            continue
        command = [shutil.which(command[0]), *command[1:]]
        recording = work / f"{name}.rec"

        def record():
            shutil.rmtree(recording, ignore_errors=True)
            return seconds([PARALLAX, "record", "-o", recording, "--", *command])

        ways = {
            "native": lambda: seconds(command),
            "plain": lambda: seconds([PARALLAX, "run", "--", *command]),
            "record": record,
            "replay": lambda: seconds([PARALLAX, "replay", "--quiet", recording]),
        }
        if has("valgrind"):
            ways["valgrind-none"] = lambda: seconds(["valgrind", "--tool=none", "-q", *command])
        if has("qemu-x86_64"):
            ways["qemu-user"] = lambda: seconds(["qemu-x86_64", *command])
        best = {}
        for _ in range(ROUNDS):
            for way, run in ways.items():
                best[way] = min(best.get(way, float("inf")), run())
        info = subprocess.run([PARALLAX, "replay", "--quiet", "--json", recording], check=True, capture_output=True)
        steps = json.loads(info.stdout)["steps"]
        row(f"{name}/steps", steps, "steps")
        row(f"{name}/native", best["native"], "s")
        for way in list(ways)[1:]:
            row(f"{name}/{way}", best[way], "s")
            row(f"{name}/{way}-over-native", best[way] / best["native"], "ratio")
        row(f"{name}/record-over-plain", best["record"] / best["plain"], "ratio")
        row(f"{name}/replay-rate-over-plain", best["plain"] / best["replay"], "ratio")
        row(f"{name}/record-rate", steps / best["record"] / 1e6, "M/s")
        row(f"{name}/replay-rate", steps / best["replay"] / 1e6, "M/s")
        streams = sum(path.stat().st_size for path in recording.glob("*.stream"))
        row(f"{name}/log-per-million", streams / steps * 1e6, "B")
        row(f"{name}/files", size(recording / "files"), "B")


GDB_RECORD = """
import gdb, time
gdb.execute("set pagination off"); gdb.execute("set record full insn-number-max unlimited")
gdb.execute("break main"); gdb.execute("break done"); gdb.execute("run")
gdb.execute("record full")
start = time.monotonic(); gdb.execute("continue"); record = time.monotonic() - start
text = gdb.execute("info record", to_string=True)
count = int([line for line in text.splitlines() if line.startswith("Log contains")][0].split()[2])
gdb.execute("delete"); start = time.monotonic()
try: gdb.execute("reverse-continue")
except gdb.error: pass
back = time.monotonic() - start
print("RATES", count, record, back)
"""

GDB_CALLS = """
import gdb, time
gdb.execute("set pagination off")
class Count(gdb.Breakpoint):
    hits = 0
    def stop(self):
        Count.hits += 1
        gdb.selected_frame().read_register("rdi")
        return False
gdb.execute("break main"); gdb.execute("run")
Count("rare"); gdb.execute("break done")
start = time.monotonic(); gdb.execute("continue"); took = time.monotonic() - start
print("CALLS", Count.hits, took)
"""


def in_gdb(work, script, word, *command):
    path = work / "script.py"
    path.write_text(script)
    gdb = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-x", path, "--args", *command]
    output = subprocess.run([str(part) for part in gdb], capture_output=True, text=True).stdout
    found = [line.split()[1:] for line in output.splitlines() if line.startswith(word)]
    return [float(part) for part in found[0]] if found else None


def beside_gdb(work, binary):
    if not has("gdb"):
        return
    rates = in_gdb(work, GDB_RECORD, "RATES", binary, GDB_RECORDED)
    if rates:
        count, record, back = rates
        row("gdb-record-full/record-rate", count / record / 1e6, "M/s")
        row("gdb-record-full/reverse-rate", count / back / 1e6, "M/s")
    else:
        print("gdb record full did not finish", flush=True)
    calls = in_gdb(work, GDB_CALLS, "CALLS", binary, GDB_CALLED)
    if calls:
        row("gdb-breakpoint-callback/per-hit", calls[1] / calls[0] * 1e6, "us")


def recorded(work, binary, rounds):
    recording = work / f"calls-{rounds}.rec"
    seconds([PARALLAX, "record", "-o", recording, "--", binary, rounds])
    return recording


def symbols(binary):
    listed = subprocess.run(["nm", binary], check=True, capture_output=True, text=True).stdout
    return {line.split()[2]: line.split()[0] for line in listed.splitlines() if len(line.split()) == 3}


def travel(work, binary):
    names = symbols(binary)
    watched = [f"{int(names['parts'], 16) + part * 4096:x}" for part in range(3)]
    recording = recorded(work, binary, SEARCH)
    for workers in ("1", "2"):
        command = [BUILT / "examples/measure-travel", recording, names["rare"], workers, SEEKS, *watched]
        printed = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout
        found = json.loads(printed)
        steps = found["steps"]
        for name, value in found.items():
            unit = "s" if name.endswith("_s") else "ms" if name.endswith("_ms") else "B" if name.endswith("_bytes") else ""
            row(f"search/{workers}-workers/{name}", value, unit)
        row(f"search/{workers}-workers/armed-rate", steps / found["armed_watch_s"] / 1e6, "M/s")
        row(f"search/{workers}-workers/armed-over-replay", found["armed_watch_s"] / found["replay_s"], "ratio")
        row(f"search/{workers}-workers/first-per-hit", found["first_s"] / found["hits"] * 1e6, "us")
        row(f"search/{workers}-workers/indexed-per-hit", found["indexed_s"] / found["hits"] * 1e6, "us")
    shutil.rmtree(recording)
    recording = recorded(work, binary, SEEK)
    command = [BUILT / "examples/measure-travel", recording, names["done"], "2", SEEKS]
    found = json.loads(subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout)
    for name in ("steps", "seek_median_ms", "seek_p99_ms", "first_s", "indexed_s", "index_bytes"):
        row(f"seek/{name}", found[name], "ms" if name.endswith("ms") else "s" if name.endswith("_s") else "")


def main():
    with tempfile.TemporaryDirectory(prefix="parallax-bench-record-") as folder:
        work = pathlib.Path(folder)
        binary = work / "calls"
        subprocess.run(["gcc", "-O1", "-static", "-o", binary, TOP / "bench/record/calls.c"], check=True)
        slowdowns(work)
        beside_gdb(work, binary)
        travel(work, binary)
    for tool in missing:
        print(f"{tool} is not installed: left out")
    if len(sys.argv) > 1:
        out = pathlib.Path(sys.argv[1])
        out.mkdir(parents=True, exist_ok=True)
        lines = [f"{name},{value:.6g},{unit}" for name, value, unit in rows]
        (out / "raw.csv").write_text("\n".join(["what,value,unit", *lines]) + "\n")
        table = [f"| {name} | {value:.4g} | {unit} |" for name, value, unit in rows]
        load = os.getloadavg()[0]
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=TOP, capture_output=True, text=True).stdout.strip()
        head = [
            "# record",
            "",
            "Recording, replaying and searching beside other tools, in one run: `bench/record/compare.py`.",
            "",
            f"- machine: {os.cpu_count()} processors, {platform.system()} {platform.release()}; load average at the end: {load:.1f}",
            f"- rounds: {ROUNDS}, the best counts; searches in {SEARCH} rounds of calls.c, seeks in {SEEK}, {SEEKS} of them",
            f"- build: {'release' if BUILT.name == 'release' else 'development'}; commit {commit}",
            *([f"- not installed: {', '.join(missing)}"] if missing else []),
            "",
            "| what | value | unit |",
            "| --- | ---: | --- |",
        ]
        (out / "README.md").write_text("\n".join([*head, *table]) + "\n")


main()
