"""What a timeline page shows: the traces of a script as lanes, states at their items, calls, and who ran when.

Collected here as plain data, the form `parallax-timeline/1`; `page` makes a file of it, `timeline` other formats.
"""

from __future__ import annotations

import ast
import bisect
import os
import re
import signal
import sys
import time as clock
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple, Optional

from ._native import DebugError, WRITE, execution, gdb_value, snapshot, trace

MOST_ITEMS = 200_000
"""Items of a lane that are kept; a lane with more says so."""
MOST_VALUES = 20_000
"""A lane with more items has no values drawn or said."""
MOST_CALLS = 4_000
MOST_FUNCTIONS = 40
MOST_TURNS = 100_000
MOST_FRAMES = 40
MOST_LINES = 400
"""Lines of a function that are kept."""

_OUTSIDE = {"_start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl", "start_thread", "clone", "clone3", "thread_start"}


class lane(NamedTuple):
    """A trace with the name that a script gave it, and the line it did so on."""

    name: str
    items: trace[Any]
    line: Optional[int] = None


def lanes_of(names: dict[str, Any], given: Iterable[str], source: str) -> list[lane]:
    """Return the traces among a script's names, in the order of the lines that made them."""
    lines: dict[str, int] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines[node.id] = max(lines.get(node.id, 0), node.lineno)
    known = set(given)
    found = [
        lane(name, value, lines.get(name))
        for name, value in names.items()
        if isinstance(value, trace) and name not in known and not name.startswith("_")
    ]
    return sorted(found, key=lambda one: one.line or 0)


def _differences(times: Sequence[int]) -> list[int]:
    return [now - before for before, now in zip([0, *times], times)]


def _cut(text: str, most: int = 160) -> str:
    return text if len(text) <= most else text[: most - 1] + "\u2026"


class _Sources:
    """The text of source files, as far as they are found, and which lines of them are wanted."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = folders
        self.numbers: dict[str, int] = {}
        self.texts: list[Optional[list[str]]] = []
        self.names: list[str] = []
        self.wanted: list[set[int]] = []
        self.ranges: dict[tuple[int, str, int], tuple[int, int]] = {}

    def number(self, name: str) -> int:
        if name not in self.numbers:
            self.numbers[name] = len(self.names)
            self.names.append(name)
            self.texts.append(self._read(name))
            self.wanted.append(set())
        return self.numbers[name]

    def _read(self, name: str) -> Optional[list[str]]:
        tail = name.split("/")
        places = [name] + [os.path.join(folder, *tail[at:]) for folder in self.folders for at in range(len(tail))]
        for place in places:
            try:
                with open(place, encoding="utf-8", errors="replace") as file:
                    return file.read().split("\n")
            except OSError:
                continue
        return None

    def function(self, file: int, name: str, line: int) -> Optional[tuple[int, int]]:
        """Return the first and last line of the function around a line, by how C is written, or a few lines."""
        text = self.texts[file]
        if text is None or not 0 < line <= len(text):
            return None
        key = (file, name, line)
        if key not in self.ranges:
            head = re.compile(r"\b%s\s*\(" % re.escape(name.split("::")[-1].split("(")[0]))
            first = next((at for at in range(line, max(0, line - MOST_LINES), -1) if head.search(text[at - 1]) and not text[at - 1][:1].isspace() and not text[at - 1].rstrip().endswith(";")), None)
            last = next((at for at in range(line, min(len(text), line + MOST_LINES) + 1) if text[at - 1].startswith("}")), None)
            one_line = first == line and text[line - 1].rstrip().endswith("}")
            if first is not None and (one_line or last is not None):
                self.ranges[key] = (first, line if one_line else last or line)
            else:
                self.ranges[key] = (max(1, line - 4), min(len(text), line + 3))
        first, last = self.ranges[key]
        self.wanted[file].update(range(first, last + 1))
        return first, last

    def files(self) -> list[dict[str, Any]]:
        files = []
        for name, text, wanted in zip(self.names, self.texts, self.wanted):
            file: dict[str, Any] = {"name": name, "chunks": []}
            if text is None:
                file["missing"] = "the source is not there"
            else:
                start: Optional[int] = None
                last = 0
                for line in sorted(wanted) + [-1]:
                    if start is not None and line != last + 1:
                        file["chunks"].append([start, [_cut(one, 400) for one in text[start - 1 : last]]])
                        start = None
                    if start is None:
                        start = line
                    last = line
            files.append(file)
        return files


def _values(names: Iterable[tuple[str, Any]]) -> list[list[str]]:
    values = []
    for name, value in names:
        try:
            values.append([_cut(name, 60), _cut(str(value), 120)])
        except DebugError as error:
            values.append([_cut(name, 60), f"<{type(error).__name__}>"])
    return values


def moment_of(snap: snapshot, thread: int, sources: _Sources, watched: Sequence[str]) -> dict[str, Any]:
    """Return the state at a snapshot: its stack, innermost frame first, with the values of the inner frames."""
    frames: list[dict[str, Any]] = []
    stack = snap.backtrace()
    for level in range(min(len(stack), MOST_FRAMES)):
        frame = stack[level]
        one: dict[str, Any] = {"fn": frame.function or "", "file": -1, "line": 0, "values": []}
        if frame.line is not None:
            one["file"], one["line"] = sources.number(frame.line[0]), frame.line[1]
            lines = sources.function(one["file"], one["fn"], one["line"])
            if lines is not None:
                one["lines"] = list(lines)
        if frame.is_inlined:
            one["inlined"] = True
        if level < 3 and frame.line is not None:
            try:
                one["values"] = _values(list(frame.locals().items())[:12])
            except DebugError:
                pass  # The frame's variables cannot be told; the stack can.
        frames.append(one)
    if frames:
        for name in watched:
            try:
                frames[0]["values"].insert(0, [name, _cut(str(snap.read_var(name)), 120)])
            except DebugError:
                pass  # Not in scope there.
    moment: dict[str, Any] = {"t": snap.time, "thread": thread, "frames": frames}
    if snap.is_after:
        moment["after"] = True
    return moment


def _signal_name(number: Optional[int]) -> Optional[str]:
    if number is None:
        return None
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _number(value: Any) -> Optional[float]:
    if isinstance(value, gdb_value):
        try:
            value = int(value)
        except (TypeError, ValueError, DebugError):
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) < 2**53 else float(value)


def _chosen(times: Sequence[Sequence[int]], most: int) -> set[int]:
    """Return the times at which states are taken: all of short lanes, an even choice of long ones."""
    chosen: set[int] = set()
    order = sorted(range(len(times)), key=lambda index: len(times[index]))
    for done, index in enumerate(order):
        own = times[index]
        share = max(2, (most - len(chosen)) // (len(order) - done))
        if len(own) <= share:
            chosen.update(own)
        else:
            chosen.update(own[at * (len(own) - 1) // (share - 1)] for at in range(share))
    return chosen


class _Threads:
    """Who runs when."""

    def __init__(self, run: execution) -> None:
        turns = run.turns()
        self.cut = len(turns) > MOST_TURNS
        turns = turns[:MOST_TURNS]
        self.starts = [time for time, _ in turns]
        self.ids = [thread for _, thread in turns]
        self.all = list(dict.fromkeys(self.ids))
        self.end = run.get_time()

    def at(self, time: int) -> int:
        """Return the index of the thread that makes a step."""
        turn = max(0, bisect.bisect_right(self.starts, time) - 1)
        return self.all.index(self.ids[turn]) if self.ids else 0

    def data(self, run: execution, program: str) -> list[dict[str, Any]]:
        ends = [*self.starts[1:], self.end]
        found = []
        for thread in self.all:
            turns, last, name = [], 0, ""
            for start, end, who in zip(self.starts, ends, self.ids):
                if who == thread:
                    turns += [start - last, end - start]
                    last = end
            own = [start for start, who in zip(self.starts, self.ids) if who == thread]
            for start in reversed(own[-3:]):
                functions = [frame.function for frame in run.get_at(start).backtrace() if frame.function]
                name = next((one for one in reversed(functions) if one.split("@")[0] not in _OUTSIDE), "")
                if name:
                    break
            found.append({"id": thread, "name": name or program, "turns": turns})
        return found


def _calls(run: execution, functions: Sequence[str], threads: _Threads) -> dict[str, Any]:
    """Return the calls of functions, by thread, as far as there are not too many."""
    events: list[tuple[int, int, int]] = []
    names: list[str] = []
    without: list[str] = []
    for name in functions:
        try:
            entries, ends = run.breakpoints(name), run.breakpoints(name, index=-1)
        except DebugError:
            continue
        times = []
        for time in entries.times():
            times.append(time)
            if len(events) + len(times) > MOST_CALLS:
                break
        if len(events) + len(times) > MOST_CALLS:
            without.append(name)
            continue
        names.append(name)
        events += [(time, 0, len(names) - 1) for time in times]
        events += [(time, 1, len(names) - 1) for time in ends.times()]
    open_calls: list[list[tuple[int, int]]] = [[] for _ in threads.all]
    spans: list[list[tuple[int, int, int, int]]] = [[] for _ in threads.all]

    def close(thread: int, time: int) -> int:
        start, number = open_calls[thread].pop()
        spans[thread].append((start, time + 1 - start, len(open_calls[thread]), number))
        return number

    for time, kind, number in sorted(events):
        thread = threads.at(time)
        if kind == 0:
            open_calls[thread].append((time, number))
        elif any(one == number for _, one in open_calls[thread]):
            while close(thread, time) != number:
                pass
    for thread in range(len(threads.all)):
        while open_calls[thread]:
            close(thread, threads.end - 1)
    flat = []
    for own in spans:
        row, last = [], 0
        for start, length, depth, number in sorted(own, key=lambda one: (one[0], one[2])):
            row += [start - last, length, depth, number]
            last = start
        flat.append(row)
    calls: dict[str, Any] = {"names": names, "byThread": flat}
    if without:
        calls["without"] = ", ".join(without[:4]) + (" and others" if len(without) > 4 else "")
    return calls


def collect(
    run: execution,
    lanes: Sequence[lane],
    *,
    recording: str,
    script: tuple[str, str] = ("", ""),
    moments: int = 1000,
    folders: Sequence[str] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Return the data of a timeline page: everything that it shows, taken out of the recording now."""
    begun = clock.monotonic()
    notes: list[str] = []
    texts: dict[str, int] = {}
    sources = _Sources([*folders, os.path.dirname(os.path.abspath(script[0])) if script[0] else "."])
    modules = run.modules()
    program = os.path.basename(modules[0][0]) if modules else recording
    progress("threads")
    threads = _Threads(run)
    if threads.cut:
        notes.append(f"threads are drawn for the first {MOST_TURNS} turns")
    rows, all_times, snapshots, watched = [], [], {}, []
    for one in lanes:
        progress(f"lane {one.name}")
        kind, about = one.items.kind, one.items.about
        row: dict[str, Any] = {"name": about if kind == "watchpoints" and about else one.name, "kind": kind, "sub": os.path.basename(script[0]) or kind}
        if kind != "script" and about:
            row["sub"] = f"{kind}, {os.path.basename(script[0])}" if script[0] else kind
        if one.line:
            row["line"] = one.line
        times: list[int] = []
        for time in one.items.times():
            if len(times) == MOST_ITEMS:
                row["cut"] = True
                break
            times.append(time)
        row["times"] = _differences(times)
        if kind == "watchpoints" and one.items.extent is not None:
            written = set(run.watchpoints(one.items.extent, rw=WRITE).times())
            row["writes"] = [int(time in written) for time in times]
            if about:
                watched.append(about)
        if len(times) <= MOST_VALUES:
            numbers: list[Optional[float]] = []
            says: list[int] = []
            for _, value in one.items:
                if isinstance(value, snapshot):
                    snapshots[value.time] = value
                    if kind == "watchpoints" and about:
                        try:
                            value = value.read_var(about)
                        except DebugError:
                            value = None
                    else:
                        value = None
                number = _number(value)
                numbers.append(number)
                text = "" if value is None or number is not None else _cut(str(value) if isinstance(value, (str, gdb_value)) else repr(value))
                says.append(texts.setdefault(text, len(texts)))
                if type(value).__module__.startswith("parallax.analyses"):
                    row["finding"] = True
            if any(number is not None for number in numbers):
                row["numbers"] = numbers
            if any(index != texts.get("", -1) for index in says):
                row["says"] = says
        else:
            notes.append(f"{row['name']} has too many items for their values")
        rows.append(row)
        all_times.append(times)
    killer = run.get_signal()
    kept = _chosen(all_times, moments)
    if killer is not None:
        # The first thing that people ask of a crash is where it was: that state is kept whatever the script looks for.
        kept.add(run.get_time())
    chosen = sorted(kept)
    taken = []
    for done, time in enumerate(chosen):
        if done % 50 == 0:
            progress(f"states {done} of {len(chosen)}")
        snap = snapshots.get(time) or run.get_at(time)
        taken.append(moment_of(snap, threads.at(time), sources, watched))
    total = len(set().union(*all_times)) if all_times else 0
    items = len(set(chosen).intersection(*[set().union(*all_times)])) if all_times else 0
    notes.insert(0, f"{items} of {total} moments kept")
    seen: dict[str, None] = {}
    for moment in taken:
        for frame in moment["frames"]:
            if frame["file"] >= 0 and frame["fn"]:
                seen.setdefault(frame["fn"])
    progress("calls")
    return {
        "format": "parallax-timeline/1",
        "recording": recording,
        "program": program,
        "end": run.get_time(),
        "ending": {"words": run.get_ending() or "cut", "signal": _signal_name(killer)},
        "threads": threads.data(run, program),
        "calls": _calls(run, list(seen)[:MOST_FUNCTIONS], threads),
        "lanes": rows,
        "texts": list(texts),
        "moments": taken,
        "files": sources.files(),
        "script": {"name": os.path.basename(script[0]), "lines": script[1].rstrip("\n").split("\n")[:2000], "seconds": round(clock.monotonic() - begun, 3)},
        "notes": notes,
    }


def show_progress(text: str) -> None:
    """Say on a terminal what is being done."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
