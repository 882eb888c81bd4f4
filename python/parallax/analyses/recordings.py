"""The events that the analyses take, out of a recording."""

from __future__ import annotations

from typing import Any

from .. import READ, WRITE, execution, lazy, snapshot, trace
from .accesses import access
from .heap import bad_free, bad_frees
from .stacks import corrupted_addresses


def accesses_of(run: execution, *variables: Any) -> trace[access]:
    """Return the trace of reads and writes of variables; `where` is the snapshot after the access.

    A variable is what watchpoints take: the name of a global variable, an l-value, or (address, size). An instruction
    that reads and writes is a write.
    """

    def of(variable: Any) -> trace[access]:
        def as_access(kind: str) -> Any:
            return lambda snap: access(kind, snap.get_thread_id(), variable, snap)

        reads = run.watchpoints(variable, rw=READ).map(as_access("read"))
        writes = run.watchpoints(variable, rw=WRITE).map(as_access("write"))
        return reads.merge(lambda read, write: write, writes)

    first, *rest = [of(variable) for variable in variables]
    for more in rest:
        first = first.merge(lambda one, other: one, more)
    return first


def threads_at(places: trace[snapshot]) -> trace[int]:
    """Return the trace of the threads that come to places, such as the end of a function that takes a lock."""
    return places.map(lambda snap: snap.get_thread_id())


def stack_corruption(run: execution) -> trace[Any]:
    """Return the trace of return addresses found smashed at a call or return, as l-values (section 4.1.3)."""
    calls_and_returns = run.all_calls().merge(None, run.all_returns())
    return corrupted_addresses(calls_and_returns.map(lambda snap: snap.read_retaddrs()))


def allocations(run: execution) -> trace[tuple[int, int]]:
    """Return the trace of what malloc gives: (address, size), at its return."""

    def given(at_return: snapshot, entry: lazy[Any]) -> tuple[int, int]:
        entered = entry.force()
        size = int(entered.read_arg(0)) if entered is not None else 0
        return int(at_return.read_register("rax")), size

    return run.breakpoints("malloc", index=-1).trailing_merge(given, run.breakpoints("malloc"))


def frees(run: execution) -> trace[int]:
    """Return the trace of the addresses that free is called with; a free of nothing is none."""
    return run.breakpoints("free").map(lambda snap: int(snap.read_arg(0))).filter(lambda address: address != 0)


def wrong_frees(run: execution) -> trace[bad_free]:
    """Return the trace of frees of what is not allocated."""
    return bad_frees(allocations(run), frees(run))


def count_calls(run: execution, function: str) -> int:
    """Return how often a function is entered."""
    return len(run.breakpoints(function))


def last_write(run: execution, x: Any, before: Any = "inf") -> Any:
    """Return the item of the last write to x before a time: who wrote this value."""
    return run.watchpoints(x, rw=WRITE).get_before(before)


__all__ = [
    "accesses_of",
    "allocations",
    "count_calls",
    "frees",
    "last_write",
    "stack_corruption",
    "threads_at",
    "wrong_frees",
]
