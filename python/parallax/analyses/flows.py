"""Who wrote a value last, and where it comes from."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from .. import WRITE, execution, flow_step, snapshot


class write(NamedTuple):
    """A step on the way of a value: when, where in the source, what it did."""

    time: int
    function: Optional[str]
    line: Optional[tuple[str, int]]
    text: str


def _write(step: flow_step) -> write:
    return write(step.time, step.function, step.line, step.text)


def last_write(run: execution, x: Any, before: Any = "inf") -> Any:
    """Return the item of the last write to x before a time: who wrote this value."""
    return run.watchpoints(x, rw=WRITE).get_before(before)


def writers(snap: snapshot, x: Any) -> list[write]:
    """Return the steps that wrote the bytes of x as they are at a snapshot, latest first.

    x is a variable or an expression, an l-value, or (address, size). A variable in a register is followed too.
    """
    return [_write(step) for step in snap.origin(x)[0].sources]


def sources(snap: snapshot, x: Any) -> list[write]:
    """Return where the value of x comes from in the end: system calls, constants, files, the program's start."""
    return [_write(step) for step in snap.origin(x).ends()]


def way(snap: snapshot, x: Any) -> list[write]:
    """Return the way of a value from its latest source through the program, one entry for each line that it passes."""
    flow = snap.origin(x)
    chains = sorted(flow.chains(), key=lambda chain: chain[0].time)
    lines: list[write] = []
    for step in chains[-1][:-1] if chains else []:
        if not lines or (step.function, step.line) != (lines[-1].function, lines[-1].line):
            lines.append(_write(step))
    return lines


__all__ = ["last_write", "sources", "way", "write", "writers"]
