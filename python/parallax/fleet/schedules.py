"""Records one program under several seeds. A program of its own: python3 -S -E schedules.py PARALLAX ARGUMENTS

Clocks count instructions, so a seed decides a run. A run fails if the program ends by a signal, with a status other than
0, or at the bound of steps. What is to be done with each run is said by `keep`: nothing, the events of its threads, or
the whole recording.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

# Events of one run that are compared with those of others.
MOST_EVENTS = 2000
# The environment is an input too: it is the same everywhere.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C"}


def document(command: list[str]) -> Any:
    """Return the JSON document that a command prints."""
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SystemExit(f"{command[1]}: exit status {done.returncode}: {words[-1] if words else 'it said nothing'}") from None


def events(parallax: str, recording: str) -> list[list[Any]]:
    """Return thread and instruction of each system call, threads in the order of their first call."""
    found = document([parallax, "find", recording, "--system-call", "all", "--max", str(MOST_EVENTS), "--json"])
    numbers: dict[int, int] = {}
    return [[numbers.setdefault(hit["thread"], len(numbers)), hit["pc"]] for hit in found["steps"]]


def outcome(parallax: str, recording: str, status: int) -> tuple[str, bool]:
    """Return how the program ended, and whether Parallax itself gave up."""
    if status < 0:
        return f"signal {-status}", False
    if status not in (2, 3, 4):
        return f"exit status {status}", False
    # These statuses are both the program's and ours: the recording knows whose.
    ending = document([parallax, "info", recording, "--json"])["streams"][0]["ending"]
    words = ending if isinstance(ending, str) else json.dumps(ending, sort_keys=True)
    return words, "exit" not in words.lower()


def main() -> int:
    """Record under every seed and write answer.json."""
    parallax, given = sys.argv[1], json.loads(sys.argv[2])
    findings: list[dict[str, Any]] = []
    bounds: list[str] = []
    files: list[str] = []
    counts: dict[str, float] = {"runs": 0, "failing": 0, "findings": 0}
    os.chmod(given["program"], 0o755)
    program = [f"./{given['program']}", *given["arguments"]]
    for seed in given["seeds"]:
        recording = f"{seed}.rec"
        words = [parallax, "record", "--virtual-time", "--seed", str(seed), "--engine", given["engine"], "-o", recording]
        if given["keep"] != "recording":
            words.append("--lean")
        if given.get("steps"):
            words += ["--steps", str(given["steps"])]
        with open(given["stdin"] or "/dev/null", "rb") as stdin, open("said", "wb") as said:
            done = subprocess.run([*words, "--", *program], stdin=stdin, stdout=said, stderr=said, env=ENVIRONMENT, check=False)
        counts["runs"] += 1
        if done.returncode != 0:
            how, is_ours = outcome(parallax, recording, done.returncode)
            if is_ours:
                bounds.append(f"seed {seed}: {how}")
            counts["failing"] += 1
            last = pathlib.Path("said").read_bytes()[-300:].decode("utf-8", "replace").strip().splitlines()
            findings.append(
                {
                    "kind": "failing run",
                    "status": "gave up" if is_ours else "failed",
                    "file": given["program"],
                    "line": 0,
                    "function": "",
                    "message": f"seed {seed}: {how}{': ' + last[-1] if last else ''}",
                    "fingerprint": str(seed),
                }
            )
        if given["keep"] == "events":
            pathlib.Path(f"{seed}.events").write_text(json.dumps(events(parallax, recording)))
            files.append(f"{seed}.events")
        if given["keep"] == "recording":
            done = subprocess.run([parallax, "pack", recording, f"{seed}.plx"], stdout=subprocess.DEVNULL, check=False)
            if done.returncode != 0:
                raise SystemExit(f"pack: exit status {done.returncode}")
            files.append(f"{seed}.plx")
        shutil.rmtree(recording)
    counts["findings"] = len(findings)
    failing = sum(row["status"] == "failed" for row in findings)
    verdict = "findings" if failing else ("gave up" if findings else "clean")
    summary = f"{counts['failing']:.0f} of {counts['runs']:.0f} runs fail"
    answer = {"verdict": verdict, "summary": summary, "bounds": bounds, "findings": findings, "counts": counts, "files": files}
    pathlib.Path("answer.json").write_text(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
