"""Calls of functions, from their entries to their returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .. import UnknownName, edithamt, execution, lazy, snapshot, trace


class call(NamedTuple):
    """A call that returned: what was taken down when the function was entered, and the snapshot behind its return."""

    function: str
    given: Any
    returned: snapshot

    @property
    def result(self) -> int:
        return int(self.returned.read_register("rax"))


def _frame(entered: snapshot) -> tuple[int, int]:
    """The address that a function returns to, and where on the stack it lies."""
    slot = entered.read_retaddrs()[-1]
    return int(slot), int(slot.addrof())


def entries(run: execution, function: str) -> Any:
    """Return the trace of the entries of a function; none if the program does not have it."""
    try:
        return run.breakpoints(function)
    except UnknownName:
        return None


def merged(parts: Iterable[Any]) -> Any:
    """Return the trace of all items of some traces, of which some may be none; none if all are."""
    whole = None
    for part in parts:
        if part is not None:
            whole = part if whole is None else whole.merge(lambda one, other: one, part)
    return whole


def nothing(run: execution) -> Any:
    """Return the trace of no items."""
    return run.signals(0)


def calls(run: execution, function: str, given: Callable[[snapshot], Any]) -> Any:
    """Return the trace of the calls of a function, each at its return; none if the program does not have the function.

    A function that ends by a jump to another returns where that one does. What it was called with is taken down by
    `given` when it is entered. All entries are looked at now: they tell where the function returns to.
    """
    entered = entries(run, function)
    if entered is None:
        return None
    returns = {_frame(item.value)[0] for item in entered}
    if not returns:
        return None
    back = merged(run.breakpoints(address) for address in sorted(returns))

    def opened(snap: snapshot) -> edithamt:
        key = (snap.get_thread_id(), _frame(snap)[1])
        return edithamt.addkeyvalue(edithamt.remove(None, key), key, (given(snap),))

    def key_of(snap: snapshot) -> tuple[int, int]:
        return snap.get_thread_id(), int(snap.read_register("rsp")) - 8

    closed = back.map(lambda snap: edithamt.remove(None, key_of(snap)))
    under_way = entered.map(opened).merge(lambda one, other: edithamt.concat(other, one), closed).scan(edithamt.concat)

    def returned(snap: snapshot, before: lazy[Any]) -> Any:
        now = before.force()
        known = now.find(key_of(snap)) if now is not None else None
        return None if known is None else call(function, known[0], snap)

    found: trace[call] = back.trailing_merge(returned, under_way).filter(lambda one: one is not None)
    return found
