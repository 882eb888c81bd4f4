"""Units for the questions that people have: files, packages, functions, reports, schedules, a recording, our own semantics."""

from __future__ import annotations

import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from . import package, versions
from .drive import Fleet, FleetError
from .results import Results, Row
from .unit import Limits, Unit

CLANG = "clang-19"


def _said(text: str) -> str:
    lines = text.strip().splitlines()
    return next((line for line in lines if "error:" in line), lines[-1] if lines else "it said nothing")


def unique(names: Sequence[str]) -> list[str]:
    """Return short names, no two alike: as much of the end of each path as tells it from the others."""
    made: dict[int, str] = {}
    for depth in range(1, 32):
        short = ["/".join(pathlib.PurePath(name).parts[-depth:]) for name in names]
        for number, name in enumerate(short):
            if number not in made and short.count(name) == 1:
                made[number] = name
        if len(made) == len(names):
            break
    return [made.get(number, f"{name} ({number})") for number, name in enumerate(names)]


class Source:
    """A C file as the compiler sees it: with everything that it includes."""

    def __init__(self, path: str, flags: Sequence[str] = (), folder: Optional[str] = None) -> None:
        """Preprocess the file."""
        self.path = path
        words = [CLANG, "-E", "-w", *flags, path]
        done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
        self.error = "" if done.returncode == 0 else _said(done.stderr.decode("utf-8", "replace"))
        self.text = done.stdout
        self.flags = [flag for flag in flags if flag.startswith(("-std=", "-m", "-f"))]
        self._folder = folder

    def functions(self) -> tuple[list[str], list[str]]:
        """Return the functions that it defines, and those of them that are external."""
        words = [CLANG, "-x", "cpp-output", "-S", "-emit-llvm", "-w", *package.LENIENT, *self.flags, "-", "-o", "-"]
        done = subprocess.run(words, input=self.text, capture_output=True, cwd=self._folder, check=False)
        if done.returncode != 0:
            self.error = _said(done.stderr.decode("utf-8", "replace"))
            return [], []
        found = re.findall(r'^define (.*?)@"?([\w.$]+)"?\(', done.stdout.decode("utf-8", "replace"), re.MULTILINE)
        return [name for _, name in found], [name for words, name in found if "internal" not in words.split()]


# Flags of a compilation database that say what a source means. Others name plug-ins, wrappers and files to write.
MEANING = re.compile(r"-(I|D|U|isystem|iquote|idirafter|include|std=|m32$|m64$|ansi$|nostdinc$|f(un)?signed-char$|fshort-enums$|fms-extensions$)")
# Of these the word that follows is part, where they stand alone.
TWO_WORDS = ("-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include")


def meaning(words: Sequence[str]) -> list[str]:
    """Return those flags of a compiler's command line that say what its source means."""
    kept: list[str] = []
    follows = False
    for word in words:
        if follows or MEANING.match(word):
            kept.append(word)
            follows = not follows and word in TWO_WORDS
        else:
            follows = False
    return kept


def sources(paths: Sequence[str], flags: Sequence[str] = ()) -> list[Source]:
    """Return the C files, and those of compilation databases, preprocessed."""
    made = []
    for path in paths:
        if os.path.basename(path) != "compile_commands.json":
            made.append(Source(path, flags))
            continue
        try:
            entries = json.loads(pathlib.Path(path).read_bytes())
        except (OSError, ValueError) as error:
            raise FleetError(f"{path}: {error}") from None
        for entry in entries:
            words = entry.get("arguments") or shlex.split(entry.get("command", ""))
            file = os.path.join(entry["directory"], entry["file"])
            made.append(Source(file, [*meaning(words[1:]), *flags], entry["directory"]))
    return made


def _refused(name: str, kind: str, error: str) -> Unit:
    # A unit that says why: what was asked for and could not be is part of the results.
    program = "import sys; sys.stderr.write(sys.argv[1] + '\\n'); sys.exit(2)"
    return Unit("command", name, {"argv": ["python3", "-S", "-E", "-c", program, f"{kind}: {error}"]})


def files(fleet: Fleet, paths: Sequence[str], *, flags: Sequence[str] = (), options: Sequence[str] = (), limits: Limits = Limits()) -> list[Unit]:
    """Return a unit for each C file: `check` from its main, or from each of its external functions."""
    found = sources(paths, flags)
    made = []
    for name, source in zip(unique([source.path for source in found]), found):
        _, external = source.functions() if not source.error else ([], [])
        if source.error:
            made.append(_refused(name, "does not compile", source.error))
            continue
        own = [*package.LENIENT, *source.flags]
        inputs, arguments = {"file.i": fleet.put(source.text)}, {"files": ["file.i"], "options": list(options), "flags": own}
        if "main" not in external:
            inputs["driver.c"] = fleet.put(package.driver(external).encode())
            arguments.update(files=["file.i", "driver.c"], options=["--entry", package.ENTRY, *options], flags=[*own, *package.DRIVER_FLAGS])
        made.append(Unit("check", name, arguments, inputs, limits))
    return made


def functions(
    fleet: Fleet, paths: Sequence[str], *, flags: Sequence[str] = (), options: Sequence[str] = (), limits: Limits = Limits(), most: Optional[int] = None
) -> list[Unit]:
    """Return a unit for each function of the C files: `explore --entry`."""
    made: list[Unit] = []
    found = sources(paths, flags)
    for name, source in zip(unique([source.path for source in found]), found):
        all_of_it, _ = source.functions() if not source.error else ([], [])
        if source.error:
            made.append(_refused(name, "does not compile", source.error))
            continue
        blob = fleet.put(source.text)
        for function in all_of_it:
            if most is not None and len(made) >= most:
                return made
            arguments = {"files": ["file.i"], "entry": function, "options": list(options), "flags": [*package.LENIENT, *source.flags]}
            made.append(Unit("explore", f"{name}:{function}", arguments, {"file.i": blob}, limits))
    return made


def tar_of(folder: str) -> bytes:
    """Return a folder as a tar file: equal folders are equal bytes, whatever their times and owners."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_file() and not path.is_symlink():
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                content = path.read_bytes()
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def packages(fleet: Fleet, paths: Sequence[str], *, options: Sequence[str] = (), limits: Limits = Limits(), most: int = 1000) -> list[Unit]:
    """Return a unit for each source package, a tar file or a folder: all its programs through `check`."""
    made = []
    # A tenth of the time is left for the compiler and for writing the answer.
    arguments = {"options": list(options), "seconds": limits.seconds * 0.9, "most": most}
    for name, path in zip(unique(list(paths)), paths):
        if not os.path.exists(path):
            raise FleetError(f"{path} is not there")
        blob = fleet.put(tar_of(path)) if os.path.isdir(path) else fleet.put_file(path)
        made.append(Unit("package", name, arguments, {"sources": blob}, limits))
    return made


def reports(fleet: Fleet, paths: Sequence[str], *, limits: Limits = Limits()) -> list[Unit]:
    """Return a unit for each report of a tool, of any format that `convert` knows."""
    made = []
    for name, path in zip(unique(list(paths)), paths):
        # The name says nothing of the format, but messages have it.
        file = "report" + pathlib.PurePath(path).suffix
        made.append(Unit("triage", name, {"report": file}, {file: fleet.put_file(path)}, limits))
    return made


def fuzz(seeds: range, *, chunk: int = 10, limits: Limits = Limits()) -> list[Unit]:
    """Return units of random C programs, some seeds each."""
    return [
        Unit("fuzz", f"seeds {part[0]} to {part[-1]}", {"seeds": list(part)}, {}, limits)
        for part in (seeds[at : at + chunk] for at in range(0, len(seeds), chunk))
    ]


def agreement(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return how many events two runs have in common from the start."""
    for number, (left, right) in enumerate(zip(one, other)):
        if left != right:
            return number
    return min(len(one), len(other))


def schedules(
    fleet: Fleet,
    program: str,
    arguments: Sequence[str],
    seeds: range,
    *,
    stdin: Optional[str] = None,
    engine: str = "exact",
    steps: Optional[int] = None,
    chunk: int = 20,
    near: int = 50,
    limits: Limits = Limits(),
    until_failing: bool = False,
) -> Results:
    """Try a program under each seed; keep a failing run and, of `near` passing ones, that which agrees with it longest.

    Runs are compared by the system calls of their threads, in order, from the start. The two recordings are written into
    the fleet's folder as failing.plx and passing.plx.
    """
    inputs = {os.path.basename(program): fleet.put_file(program)}
    if stdin is not None:
        inputs["stdin.txt"] = fleet.put_file(stdin)
    common = {
        "program": os.path.basename(program),
        "arguments": list(arguments),
        "stdin": "stdin.txt" if stdin is not None else None,
        "engine": engine,
        "steps": steps,
    }

    def unit(name: str, part: Sequence[int], keep: str) -> Unit:
        return Unit("schedules", name, {**common, "seeds": list(part), "keep": keep}, inputs, limits)

    parts = [seeds[at : at + chunk] for at in range(0, len(seeds), chunk)]
    tried = [unit(f"seeds {part[0]} to {part[-1]}", part, "nothing") for part in parts]
    found = (lambda rows: any(row.verdict == "findings" for row in rows.values())) if until_failing else None
    fleet.run(tried, until=found)
    rows = [row for row in fleet.results if row.kind == "schedules"]
    failed = sorted(int(finding["fingerprint"]) for row in rows for finding in row.findings if finding["status"] == "failed")
    others = {int(finding["fingerprint"]) for row in rows for finding in row.findings}
    answered = {seed for row in rows if row.verdict in ("findings", "clean", "gave up") for seed in row.arguments["seeds"]}
    passed = [seed for seed in sorted(answered) if seed not in others]
    if not failed:
        return fleet.results
    failing = failed[0]
    compared = sorted(passed, key=lambda seed: (abs(seed - failing), seed))[:near]
    chosen = [failing, *compared]
    looked = [unit(f"events of seeds {part[0]} to {part[-1]}", part, "events") for part in (chosen[at : at + chunk] for at in range(0, len(chosen), chunk))]
    fleet.run(looked)
    events: dict[int, Any] = {}
    for asked in looked:
        for name, blob in fleet.results[asked.name].files.items():
            content = fleet.store.get(blob)
            if content is not None:
                events[int(name.partition(".")[0])] = json.loads(content)
    kept = [failing]
    if failing in events:
        near_ones = [seed for seed in compared if seed in events]
        if near_ones:
            kept.append(max(near_ones, key=lambda seed: (agreement(events[failing], events[seed]), -seed)))
    keeper = unit(f"recordings of seeds {' and '.join(map(str, kept))}", kept, "recording")
    fleet.run([keeper])
    row = fleet.results[keeper.name]
    for seed, name in zip(kept, ("failing.plx", "passing.plx")):
        content = fleet.store.get(row.files.get(f"{seed}.plx", "0" * 64))
        if content is not None:
            (fleet.folder / name).write_bytes(content)
    said = {"failing": failing, "passing": kept[1] if len(kept) > 1 else None, "compared": len(compared)}
    if len(kept) > 1:
        said["agree"] = agreement(events[failing], events[kept[1]])
    (fleet.folder / "nearest.json").write_text(json.dumps(said))
    return fleet.results


def search(
    fleet: Fleet,
    recording: str,
    conditions: Sequence[str],
    *,
    stream: str = "0",
    intervals: int = 0,
    most: int = 100,
    backward: bool = False,
    limits: Limits = Limits(),
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Search a packed recording interval by interval, and return the first `most` hits in order, with what bounds them.

    One unit replays the recording and makes its index, unless that stands beside it; the others search an interval each.
    """
    command = versions.command()
    done = subprocess.run([command, "info", recording, "--json"], capture_output=True, check=False)
    try:
        streams = json.loads(done.stdout)["streams"]
        first, end = next(row for row in streams if row["stream"] == stream)["time"]
        # No step is made at the time of the end.
        last = end - 1
    except (ValueError, KeyError, StopIteration):
        raise FleetError(f"{recording}: {_said(done.stderr.decode('utf-8', 'replace'))}") from None
    if not os.path.isfile(recording):
        raise FleetError(f"{recording} is a folder: `parallax pack` makes one file of it")
    inputs = {"recording.plx": fleet.put_file(recording)}
    beside = f"{recording}.{stream}.index"
    if os.path.exists(beside):
        inputs[f"recording.plx.{stream}.index"] = fleet.put_file(beside)
    else:
        asked = {"conditions": ["--signals"], "from": last, "to": last, "most": 1, "stream": stream, "keep_index": True}
        fleet.run([Unit("find", "index", asked, inputs, limits)])
        index = fleet.results["index"]
        if "index" in index.files:
            inputs[f"recording.plx.{stream}.index"] = index.files["index"]
    count = intervals or 4 * fleet.workers
    length = max(1, -(-(last - first + 1) // count))
    starts = list(range(first, last + 1, length))
    units = []
    for start in reversed(starts) if backward else starts:
        end = min(last, start + length - 1)
        given = {"conditions": list(conditions), "from": start, "to": end, "most": most, "stream": stream, "backward": backward}
        units.append(Unit("find", f"{start} to {end}", given, inputs, limits))

    def enough(rows: Mapping[str, Row]) -> bool:
        hits = 0
        for unit in units:
            if unit.name not in rows:
                return False
            hits += len(rows[unit.name].findings)
            if hits >= most:
                return True
        return True

    fleet.run(units, until=enough)
    hits: list[Mapping[str, Any]] = []
    bounds: list[str] = []
    names = {row.name: row for row in fleet.results}
    for unit in units:
        if len(hits) >= most:
            break
        row = names.get(unit.name)
        if row is None or row.verdict not in ("findings", "clean"):
            why = "not looked at" if row is None else f"{row.verdict}: {row.summary}"
            bounds.append(f"times {unit.name}: {why}")
        if row is not None:
            hits += [{"time": int(finding["fingerprint"]), "where": finding["message"]} for finding in row.findings]
    return hits[:most], bounds
