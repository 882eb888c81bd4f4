"""How values, snapshots, backtraces, origins, paths and timelines show themselves in a notebook.

Each function returns HTML that needs nothing else: no script, no style from elsewhere. Everything that a program or a
report says is escaped. Where something is cut, the number of what is left is shown.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional

from ._native import DebugError, TraceError, flow as Flow, gdb_value, snapshot as Snapshot, stack as Stack, trace

# Rows of one table, and levels of a structure inside another.
MOST_ROWS, MOST_LEVELS = 60, 3
# Items of one lane of a timeline.
MOST_ITEMS = 2000
TABLE = "border-collapse:collapse;font-family:monospace;font-size:13px"
CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top"
SOFT = "color:#6e7781"


def _row(cells: Iterable[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f'<{tag} style="{CELL}">{cell}</{tag}>' for cell in cells) + "</tr>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 0) -> str:
    body = "".join(_row(cells) for cells in rows)
    more = f'<div style="{SOFT}">{left} more</div>' if left else ""
    return f'<table style="{TABLE}"><thead>{_row(map(html.escape, head), "th")}</thead><tbody>{body}</tbody></table>{more}'


def _place(line: Optional[tuple[str, int]]) -> str:
    if line is None:
        return f'<span style="{SOFT}">no line</span>'
    file, number = line
    return f'<span title="{html.escape(file)}">{html.escape(file.rsplit("/", 1)[-1])}:{number}</span>'


def _fields(shown: gdb_value, level: int) -> str:
    say = html.escape
    try:
        names = shown.fields() if level < MOST_LEVELS else []
    except (TypeError, TraceError):
        names = []
    if not names:
        return say(str(shown))
    rows = []
    for name in names[:MOST_ROWS]:
        try:
            member = shown[name]
            rows.append([say(name), f'<span style="{SOFT}">{say(member.type)}</span>', _fields(member, level + 1)])
        except TraceError as error:
            rows.append([say(name), "", f'<span style="{SOFT}">{say(str(error))}</span>'])
    body = "".join(_row(cells) for cells in rows)
    left = f'<div style="{SOFT}">{len(names) - MOST_ROWS} more</div>' if len(names) > MOST_ROWS else ""
    return f'<details {"open" if level == 0 else ""}><summary>{say(shown.type)}</summary><table style="{TABLE}">{body}</table>{left}</details>'


def value(shown: gdb_value) -> str:
    """Return a value: its type, where it lies, its members."""
    say = html.escape
    where = f" at {shown.address:#x}" if shown.address is not None else ""
    return f'<div style="font-family:monospace"><span style="{SOFT}">{say(shown.type)}{where}</span> {_fields(shown, 0)}</div>'


def stack(shown: Stack) -> str:
    """Return a backtrace, innermost frame first, with the variables of each frame."""
    say = html.escape
    rows = []
    for frame in list(shown)[:MOST_ROWS]:
        try:
            held = ", ".join(f"{name} = {held}" for name, held in frame.locals().items())
        except DebugError as error:
            held = str(error)
        held = held if len(held) <= 200 else held[:200] + "…"
        inlined = f' <span style="{SOFT}">inlined</span>' if frame.is_inlined else ""
        rows.append([f"#{frame.level}", say(frame.function or hex(frame.pc)) + inlined, _place(frame.line), say(held)])
    return _table(["", "function", "line", "variables"], rows, max(0, len(shown) - MOST_ROWS))


def snapshot(shown: Snapshot) -> str:
    """Return where the program stands, with its backtrace."""
    say = html.escape
    when = f"{'after' if shown.is_after else 'before'} step {shown.time}"
    where = f"{say(shown.function or hex(shown.pc))} {_place(shown.line)}"
    return f'<div style="font-family:monospace">{when}, thread {shown.get_thread_id()}: {where}</div>{stack(shown.backtrace())}'


def flow(shown: Flow) -> str:
    """Return where a value comes from: its steps, latest first, and the ends marked."""
    say = html.escape
    rows = []
    count = len(shown)
    for number in range(min(count, MOST_ROWS)):
        step = shown[number]
        end = "<b>comes from here</b>" if step.is_end else ""
        rows.append([str(step.time), say(step.function or ""), _place(step.line), say(step.text), end])
    cut = f'<div style="{SOFT}">followed {count} steps; {shown.cut} were cut off</div>' if shown.cut else ""
    return _table(["step", "function", "line", "does", ""], rows, max(0, count - MOST_ROWS)) + cut


class Path:
    """One way of one result of a SARIF document."""

    def __init__(self, message: str, steps: Sequence[Mapping[str, Any]]) -> None:
        """Take what goes wrong, and the steps that lead there: file, line, message."""
        self.message = message
        self.steps = list(steps)

    def __repr__(self) -> str:
        """Return the path in one line."""
        return f"<path of {len(self.steps)} steps: {self.message}>"

    def _repr_html_(self) -> str:
        say = html.escape
        rows = [[str(number), _place((step["file"], step["line"])), say(step["message"])] for number, step in enumerate(self.steps[:MOST_ROWS], 1)]
        head = f'<div style="font-family:monospace"><b>{say(self.message)}</b></div>'
        return head + _table(["", "line", "what happens"], rows, max(0, len(self.steps) - MOST_ROWS))


def paths(document: Mapping[str, Any]) -> list[Path]:
    """Return the paths of a SARIF document, of each result the first; a result without one is a path of one step."""

    def step(location: Mapping[str, Any], otherwise: str) -> dict[str, Any]:
        place = location.get("physicalLocation", {})
        file = place.get("artifactLocation", {}).get("uri", "")
        line = place.get("region", {}).get("startLine", 0)
        return {"file": file, "line": line, "message": location.get("message", {}).get("text", otherwise)}

    found = []
    for run in document["runs"]:
        for result in run.get("results", []):
            message = result.get("message", {}).get("text", "")
            flows = result.get("codeFlows") or []
            threads = flows[0].get("threadFlows", []) if flows else []
            places = [place.get("location", {}) for place in threads[0].get("locations", [])] if threads else result.get("locations", [])
            found.append(Path(message, [step(place, "" if threads else message) for place in places]))
    return found


class Timeline:
    """Traces as lanes over time: a mark for each item, its value where the pointer rests."""

    WIDTH, HEIGHT, LEFT = 900, 26, 150

    def __init__(self, lanes: Mapping[str, trace[Any]]) -> None:
        """Ask each trace for its items; at most MOST_ITEMS of each are drawn."""
        self.lanes: dict[str, list[tuple[int, str]]] = {}
        self.cut: list[str] = []
        for name, lane in lanes.items():
            items: list[tuple[int, str]] = []
            for time, held in lane:
                if len(items) == MOST_ITEMS:
                    self.cut.append(name)
                    break
                items.append((time, held if isinstance(held, str) else repr(held)))
            self.lanes[name] = items

    def __repr__(self) -> str:
        """Return the names of the lanes and how many items each has."""
        return f"<timeline of {', '.join(f'{name}: {len(items)}' for name, items in self.lanes.items())}>"

    def _repr_html_(self) -> str:
        say = html.escape
        times = [time for items in self.lanes.values() for time, _ in items]
        first, last = min(times, default=0), max(times, default=1)
        scale = (self.WIDTH - self.LEFT - 20) / max(1, last - first)
        height = self.HEIGHT * len(self.lanes) + 24
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{self.WIDTH}" height="{height}" style="font:12px monospace">']
        for row, (name, items) in enumerate(self.lanes.items()):
            y = row * self.HEIGHT
            out.append(f'<text x="0" y="{y + 17}" fill="currentColor">{say(name[:20])}</text>')
            out.append(f'<line x1="{self.LEFT}" x2="{self.WIDTH - 20}" y1="{y + 13}" y2="{y + 13}" stroke="#8886"/>')
            for time, text in items:
                x = self.LEFT + (time - first) * scale
                out.append(f'<rect x="{x - 1:.1f}" y="{y + 5}" width="2.5" height="16" fill="#2f6feb"><title>{time}: {say(text[:200])}</title></rect>')
        y = self.HEIGHT * len(self.lanes) + 14
        out.append(f'<text x="{self.LEFT}" y="{y}" fill="#6e7781">{first}</text>')
        out.append(f'<text x="{self.WIDTH - 20}" y="{y}" text-anchor="end" fill="#6e7781">{last}</text></svg>')
        if self.cut:
            out.append(f'<div style="{SOFT}">only the first {MOST_ITEMS} items of {say(", ".join(self.cut))}</div>')
        return "".join(out)
