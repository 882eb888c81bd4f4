"""Random C programs, run in every way there is. A program of its own: python3 -S -E differ.py PARALLAX ARGUMENTS

csmith makes a program without undefined behaviour from a seed. gcc -O0 runs natively and is the judge where clang -O2
agrees; the C machine, and the emulator's two engines on gcc's program, must print the same. Not made: programs of several
threads or files, system calls but writing, floating point unless asked for, undefined behaviour.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any, Optional

# Of one native run: a program that takes longer is left out. Of one of ours.
NATIVE, OURS = 2, 60
CSMITH = ["--no-packed-struct", "--no-argc", "--max-funcs", "4", "--max-block-depth", "3", "--max-block-size", "3"]
CSMITH += ["--max-expr-complexity", "4", "--stop-by-stmt", "40"]


def printed(command: list[str], seconds: float) -> tuple[Optional[int], str]:
    """Return exit status and output of a command; no status if it takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        return None, ""
    words = done.stderr.strip().splitlines()
    return done.returncode, done.stdout.strip() or (words[-1] if words else "")


def main() -> int:
    """Run every seed and write answer.json."""
    parallax, given = sys.argv[1], json.loads(sys.argv[2])
    findings: list[dict[str, Any]] = []
    bounds: list[str] = []
    files: list[str] = []
    counts = {"programs": 0, "slow": 0, "compared": 0, "findings": 0}
    include = "-I/usr/include/csmith"
    for seed in given["seeds"]:
        source = f"{seed}.c"
        made, words = printed(["csmith", "--seed", str(seed), *CSMITH, "-o", source], 30)
        if made != 0:
            raise SystemExit(f"csmith (Debian package csmith): {words}")
        counts["programs"] += 1
        for compiler, to in ((["gcc", "-O0"], "gcc.out"), (["clang-19", "-O2"], "clang.out")):
            status, words = printed([*compiler, "-w", include, source, "-o", to], 60)
            if status != 0:
                raise SystemExit(f"{compiler[0]}: {words}")
        native, optimised = printed(["./gcc.out"], NATIVE), printed(["./clang.out"], NATIVE)
        if native[0] is None or optimised != native:
            # It takes long, or the compilers differ: no judge.
            counts["slow"] += 1
            continue
        ways = {
            "the C machine": [parallax, "run", "--no-cache", "--cflags", f"-w {include}", source],
            "the exact engine": [parallax, "run", "--", "./gcc.out"],
            "the native engine": [parallax, "run", "--engine", "native", "--", "./gcc.out"],
        }
        for way, command in ways.items():
            ours = printed(command, OURS)
            if ours[0] is None or ours[0] in (3, 4):
                bounds.append(f"seed {seed}, {way}: {ours[1] or 'no answer in time'}"[:300])
                continue
            counts["compared"] += 1
            if ours != native:
                message = f"seed {seed}, {way}: {ours[1]!r} (status {ours[0]}), natively {native[1]!r} (status {native[0]})"
                row = {"kind": "difference", "status": "differs", "file": source, "line": 0, "function": way, "message": message}
                findings.append({**row, "fingerprint": f"{seed}:{way}"})
                files.append(source)
    counts["findings"] = len(findings)
    verdict = "findings" if findings else ("gave up" if bounds else "clean")
    summary = f"{counts['programs']} programs, {counts['compared']} comparisons, {len(findings)} differences"
    answer = {"verdict": verdict, "summary": summary, "bounds": bounds, "findings": findings, "counts": counts}
    answer["files"] = sorted(set(files))
    pathlib.Path("answer.json").write_text(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
