"""Who accessed a variable, and when (section 4.3.2 of the dissertation)."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import edithamt, trace


class access(NamedTuple):
    """A read or a write of a variable by a thread; `where` is whatever tells the place: a snapshot, a line."""

    kind: str
    thread: Any
    variable: Any
    where: Any = None


def edit_of(one: Any, what: access) -> edithamt:
    """Return the edit that an access makes to a history: a write forgets what was before it."""
    before = edithamt.remove(None, what.variable) if what.kind == "write" else None
    return edithamt.addkeyvalue(before, what.variable, one)


def access_history(accesses: trace[access]) -> trace[edithamt]:
    """Return the trace of histories: by variable, the accesses since and including its last write, newest first.

        history = access_history(accesses)
        list(history.get_before("inf").value.find_multi("var1"))
    """
    return accesses.map(lambda one: edit_of(one, one)).scan(edithamt.concat)
