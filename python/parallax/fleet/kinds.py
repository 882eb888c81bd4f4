"""What a unit of each kind runs, and what its answer says.

A kind is two functions: `commands` lists what runs in the unit's folder, `judge` reads what came of it. Both run on the
worker; the commands themselves run below the warden, so nothing in them can hurt the worker.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import signal
import sys
from collections.abc import Mapping
from typing import Any

from .unit import Unit

# What the exit statuses of the command mean.
STATUS = {0: "clean", 1: "findings", 2: "bad input", 3: "unsupported", 4: "gave up"}
# Verdicts that are no answer to the question: the unit's limits, or a failure, came first.
LIMITS = ("time", "memory", "disk")
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Judged:
    """What the answer of a unit says."""

    verdict: str
    summary: str = ""
    # What bounds the answer: a clean verdict with bounds is no proof.
    bounds: list[str] = dataclasses.field(default_factory=list)
    findings: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    # What else is known, as numbers by name.
    counts: dict[str, float] = dataclasses.field(default_factory=dict)
    # Name, and path in the unit's folder, of files to keep.
    files: dict[str, str] = dataclasses.field(default_factory=dict)


def python(program: str, *arguments: str) -> list[str]:
    """Return the command line of a program of this package that needs the standard library alone."""
    return [sys.executable, "-S", "-E", str(HERE / program), *arguments]


def _text(folder: pathlib.Path, name: str, most: int = 2000) -> str:
    try:
        with open(folder / name, "rb") as file:
            return file.read(most).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _json(folder: pathlib.Path, name: str) -> Any:
    try:
        return json.loads((folder / name).read_bytes())
    except (OSError, ValueError):
        return None


def said(status: int) -> str:
    """Return an exit status in words."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


class Kind:
    """A kind of unit."""

    # Which parts of a worker's version decide the answer.
    depends: tuple[str, ...] = ("parallax", "command", "fleet")

    def commands(self, unit: Unit, parallax: str) -> list[dict[str, Any]]:
        """Return what runs, in order."""
        raise NotImplementedError

    def judge(self, unit: Unit, folder: pathlib.Path, ends: list[dict[str, Any]]) -> Judged:
        """Return what the answer says; the unit ended within its limits."""
        raise NotImplementedError


class Command(Kind):
    """A command line; `{parallax}` stands for the command. Its exit status is read as one of ours."""

    depends: tuple[str, ...] = ("fleet",)

    def commands(self, unit: Unit, parallax: str) -> list[dict[str, Any]]:
        """Return the one command."""
        argv = [parallax if word == "{parallax}" else word for word in unit.arguments["argv"]]
        return [{"argv": argv, "stdout": "stdout", "stderr": "stderr"}]

    def judge(self, unit: Unit, folder: pathlib.Path, ends: list[dict[str, Any]]) -> Judged:
        """Read the exit status; standard output is kept."""
        status = ends[-1]["status"]
        verdict = STATUS.get(status, "failed")
        words = (_text(folder, "stderr") or _text(folder, "stdout")).splitlines()
        summary = said(status) if verdict == "failed" else (words[-1] if words else "")
        return Judged(verdict, summary, files={"stdout": "stdout", "stderr": "stderr"})


class OwnCommand(Command):
    """A command line of `parallax` itself."""

    depends = ("parallax", "command", "fleet", "clang", "headers")


def _document(folder: pathlib.Path, ends: list[dict[str, Any]]) -> tuple[int, Any, Judged | None]:
    """Return exit status and JSON document of a verb; or, where there is none, what that means."""
    status = ends[-1]["status"]
    document = _json(folder, "stdout")
    if status not in STATUS or not isinstance(document, dict):
        words = _text(folder, "stderr").splitlines()
        return status, None, Judged("failed", f"{said(status)}, no document: {words[-1] if words else 'it said nothing'}")
    if "error" in document:
        first = str(document["error"]).strip().splitlines() or [""]
        errors = [line for line in str(document["error"]).splitlines() if "error:" in line]
        return status, None, Judged(STATUS[status], (errors or first)[0][:500])
    return status, document, None


class Check(Kind):
    """Null errors of one preprocessed file, or of files that make one program."""

    depends = ("parallax", "command", "fleet", "clang", "headers")

    def commands(self, unit: Unit, parallax: str) -> list[dict[str, Any]]:
        """Return the call of `parallax check`."""
        words = [parallax, "check", "--no-cache", "--json", "--report", "report.sarif", *unit.arguments.get("options", [])]
        flags = unit.arguments.get("flags", [])
        if flags:
            words += ["--cflags", " ".join(flags)]
        return [{"argv": [*words, *unit.arguments["files"]], "stdout": "stdout", "stderr": "stderr"}]

    def judge(self, unit: Unit, folder: pathlib.Path, ends: list[dict[str, Any]]) -> Judged:
        """Read the document of `check`."""
        status, document, wrong = _document(folder, ends)
        if wrong is not None:
            return wrong
        return checked(STATUS[status], document, {"report.sarif": "report.sarif"})


def checked(verdict: str, document: Mapping[str, Any], files: dict[str, str]) -> Judged:
    """Read a document of `check`: of one program, or of several."""
    programs = document.get("programs", [document])
    findings = [
        {
            "kind": finding["kind"],
            "status": finding["status"],
            "file": finding["file"],
            "line": finding["line"],
            "function": finding["function"],
            "message": finding["message"],
            "fingerprint": finding["fingerprint"],
        }
        for program in programs
        for finding in program["findings"]
    ]
    confirmed = sum(finding["status"] == "confirmed" for finding in findings)
    left_out = [gap for program in programs for gap in program.get("gaps", [])]
    gaps = [gap if isinstance(gap, str) else json.dumps(gap, sort_keys=True) for gap in left_out]
    summary = f"{len(findings)} findings, {confirmed} confirmed" if findings else "nothing found"
    return Judged(verdict, summary, gaps, findings, {"findings": len(findings), "confirmed": confirmed}, files)


class Package(Kind):
    """Every program of one source package through `check`; see package.py for what is compiled, and how."""

    depends = ("parallax", "command", "fleet", "clang", "headers")

    def commands(self, unit: Unit, parallax: str) -> list[dict[str, Any]]:
        """Return the call of package.py."""
        words = python("package.py", parallax, "sources", json.dumps(dict(unit.arguments), sort_keys=True))
        return [{"argv": words, "stdout": "stdout", "stderr": "stderr"}]

    def judge(self, unit: Unit, folder: pathlib.Path, ends: list[dict[str, Any]]) -> Judged:
        """Read what package.py wrote."""
        answer = _json(folder, "answer.json")
        if ends[-1]["status"] != 0 or not isinstance(answer, dict):
            words = _text(folder, "stderr").splitlines()
            return Judged("failed", f"{said(ends[-1]['status'])}: {words[-1] if words else 'it said nothing'}")
        files = {path.name: path.name for path in sorted(folder.glob("report-*.sarif"))}
        return Judged(answer["verdict"], answer["summary"], answer["bounds"], answer["findings"], answer["counts"], files)


class Explore(Kind):
    """One function of one preprocessed file, or one program from its start."""

    depends = ("parallax", "command", "fleet", "clang", "headers")

    def commands(self, unit: Unit, parallax: str) -> list[dict[str, Any]]:
        """Return the call of `parallax explore`."""
        words = [parallax, "explore", "--no-cache", "--json", "--report", "report.sarif", *unit.arguments.get("options", [])]
        if unit.arguments.get("entry"):
            words += ["--entry", unit.arguments["entry"]]
        flags = unit.arguments.get("flags", [])
        if flags:
            words += ["--cflags", " ".join(flags)]
        return [{"argv": [*words, *unit.arguments["files"]], "stdout": "stdout", "stderr": "stderr"}]

    def judge(self, unit: Unit, folder: pathlib.Path, ends: list[dict[str, Any]]) -> Judged:
        """Read the document of `explore`."""
        status, document, wrong = _document(folder, ends)
        if wrong is not None:
            return wrong
        findings = [
            {
                "kind": finding["kind"],
                "status": finding["verdict"],
                "file": finding["file"],
                "line": finding["line"],
                "function": finding["function"],
                "message": finding["message"],
                "fingerprint": f"{finding['kind']}:{pathlib.PurePath(finding['file']).name}:{finding['function']}:{finding['line']}",
            }
            for finding in document["findings"]
        ]
        bounds = [bound["name"] for bound in document["bounds"]]
        counts = {
            "findings": len(findings),
            "confirmed": sum(finding["status"] == "confirmed" for finding in findings),
            "paths": document["paths"],
            "contracts": len(document["contracts"]),
            "lines": document["coverage"]["lines"],
            "lines_covered": document["coverage"]["lines_covered"],
        }
        covered = f"{counts['lines_covered']} of {counts['lines']} lines"
        what = f"{len(findings)} findings" if findings else "nothing found"
        complete = "every path" if document["complete"] else "incomplete"
        return Judged(STATUS[status], f"{what}, {complete}, {covered}", bounds, findings, counts, {"report.sarif": "report.sarif"})


class Triage(Kind):
    """One report of any tool, read into the common form."""

    def commands(self, unit: Unit, parallax: str) -> list[dict[str, Any]]:
        """Return the call of `parallax convert`."""
        report = unit.arguments["report"]
        return [{"argv": [parallax, "convert", report, "-o", "report.sarif"], "stdout": "stdout", "stderr": "stderr"}]

    def judge(self, unit: Unit, folder: pathlib.Path, ends: list[dict[str, Any]]) -> Judged:
        """Read the SARIF that was written."""
        status = ends[-1]["status"]
        document = _json(folder, "report.sarif")
        if status != 0 or not isinstance(document, dict):
            words = _text(folder, "stderr").splitlines()
            return Judged(STATUS.get(status, "failed"), (words or [said(status)])[-1])
        findings = []
        for run in document["runs"]:
            tool = run["tool"]["driver"]["name"]
            for result in run.get("results", []):
                place = ((result.get("locations") or [{}])[0]).get("physicalLocation", {})
                file = place.get("artifactLocation", {}).get("uri", "")
                line = place.get("region", {}).get("startLine", 0)
                prints = result.get("partialFingerprints") or result.get("fingerprints") or {}
                own = f"{result.get('ruleId', '')}:{file}:{line}"
                findings.append(
                    {
                        "kind": result.get("ruleId", ""),
                        "status": result.get("kind", "") if result.get("kind") not in (None, "fail") else result.get("level", ""),
                        "file": file,
                        "line": line,
                        "function": "",
                        "message": f"{tool}: {result.get('message', {}).get('text', '')}",
                        "fingerprint": str(next(iter(sorted(prints.values())), own)),
                    }
                )
        verdict = "findings" if findings else "clean"
        summary = f"{len(findings)} reports" if findings else "no reports"
        return Judged(verdict, summary, [], findings, {"findings": len(findings)}, {"report.sarif": "report.sarif"})


class Schedules(Kind):
    """A program recorded under some seeds; each run that fails is kept by its seed, and the first as a recording."""

    depends = ("parallax", "command", "fleet", "libc")

    def commands(self, unit: Unit, parallax: str) -> list[dict[str, Any]]:
        """Return the call of schedules.py."""
        words = python("schedules.py", parallax, json.dumps(dict(unit.arguments), sort_keys=True))
        return [{"argv": words, "stdout": "stdout", "stderr": "stderr"}]

    def judge(self, unit: Unit, folder: pathlib.Path, ends: list[dict[str, Any]]) -> Judged:
        """Read what schedules.py wrote."""
        answer = _json(folder, "answer.json")
        if ends[-1]["status"] != 0 or not isinstance(answer, dict):
            words = _text(folder, "stderr").splitlines()
            return Judged("failed", f"{said(ends[-1]['status'])}: {words[-1] if words else 'it said nothing'}")
        files = {name: name for name in answer["files"]}
        return Judged(answer["verdict"], answer["summary"], answer["bounds"], answer["findings"], answer["counts"], files)


class Find(Kind):
    """One interval of a recording, searched."""

    depends = ("parallax", "command", "fleet")

    def commands(self, unit: Unit, parallax: str) -> list[dict[str, Any]]:
        """Return the call of `parallax find`."""
        given = unit.arguments
        words = [parallax, "find", "recording.plx", "--json", "--max", str(given["most"]), *given["conditions"]]
        words += ["--from", str(given["from"]), "--to", str(given["to"])]
        words += ["--stream", given["stream"]]
        if given.get("backward"):
            words.append("--backward")
        return [{"argv": words, "stdout": "stdout", "stderr": "stderr"}]

    def judge(self, unit: Unit, folder: pathlib.Path, ends: list[dict[str, Any]]) -> Judged:
        """Read the hits."""
        status, document, wrong = _document(folder, ends)
        if wrong is not None:
            return wrong
        hits = document["steps"]
        findings = [
            {
                "kind": "step",
                "status": "hit",
                "file": "",
                "line": 0,
                "function": "",
                "message": f"thread {hit.get('thread')} at {hit.get('pc')}",
                "fingerprint": str(hit["time"]),
            }
            for hit in hits
        ]
        given, decided, bounds = unit.arguments, document["decided"], []
        if decided["from"] > given["from"] or decided["to"] < given["to"]:
            bounds.append(f"only times {decided['from']} to {decided['to']} were looked at")
        index = f"recording.plx.{given['stream']}.index"
        files = {"index": index} if given.get("keep_index") and (folder / index).exists() else {}
        verdict = "findings" if hits else ("gave up" if bounds else "clean")
        return Judged(verdict, f"{len(hits)} steps", bounds, findings, {"findings": len(hits)}, files)


class Fuzz(Kind):
    """Random C programs of some seeds, run natively, by the C machine and by both engines; all must say the same."""

    depends = ("parallax", "command", "fleet", "clang", "headers", "libc")

    def commands(self, unit: Unit, parallax: str) -> list[dict[str, Any]]:
        """Return the call of differ.py."""
        words = python("differ.py", parallax, json.dumps(dict(unit.arguments), sort_keys=True))
        return [{"argv": words, "stdout": "stdout", "stderr": "stderr"}]

    def judge(self, unit: Unit, folder: pathlib.Path, ends: list[dict[str, Any]]) -> Judged:
        """Read what differ.py wrote."""
        answer = _json(folder, "answer.json")
        if ends[-1]["status"] != 0 or not isinstance(answer, dict):
            words = _text(folder, "stderr").splitlines()
            return Judged("failed", f"{said(ends[-1]['status'])}: {words[-1] if words else 'it said nothing'}")
        files = {name: name for name in answer["files"]}
        return Judged(answer["verdict"], answer["summary"], answer["bounds"], answer["findings"], answer["counts"], files)


KINDS: dict[str, Kind] = {
    "command": Command(),
    "parallax": OwnCommand(),
    "check": Check(),
    "package": Package(),
    "explore": Explore(),
    "triage": Triage(),
    "schedules": Schedules(),
    "find": Find(),
    "fuzz": Fuzz(),
}
