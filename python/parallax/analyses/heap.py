"""Mistakes with allocated memory: frees of what is not allocated, uses after free, leaks.

An allocation is (address, size), a free is an address; of the two at one time, as realloc does them, the free is first. Blocks are remembered in pieces of 16 bytes, the alignment of
malloc, so an allocation costs an edit per piece.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import edithamt, lazy, trace
from .latest import with_latest

PIECE = 16


class block(NamedTuple):
    """What is known of an address: the block it lies in, and whether that is still allocated."""

    address: int
    size: int
    live: bool


class bad_free(NamedTuple):
    """A free of an address that is not the start of an allocated block; `freed` is the block it was, if any."""

    address: int
    freed: Any


class bad_use(NamedTuple):
    """An access to a block that was freed; `where` is the snapshot after it, if there is one."""

    address: int
    freed: block
    where: Any = None


def _marked(eh: Any, what: block) -> Any:
    for piece in range(what.address // PIECE, (what.address + max(what.size, 1) - 1) // PIECE + 1):
        eh = edithamt.addkeyvalue(edithamt.remove(eh, piece), piece, what)
    return eh


def heap_history(allocations: trace[tuple[int, int]], frees: trace[int]) -> trace[edithamt]:
    """Return the trace of the heap: by piece of memory, the block that it belongs or belonged to last."""

    def without(before: lazy[Any], address: int) -> Any:
        now = before.force()
        known = now.find(address // PIECE) if now is not None else None
        if known is None or not known.live or known.address != address:
            return now if now is not None else edithamt.empty()
        return _marked(now, known._replace(live=False))

    def change(before: lazy[Any], event: tuple[Any, Any]) -> Any:
        given, freed = event
        history = before if freed is None else without(before, freed)
        return history if given is None else _marked(history, block(given[0], given[1], True))

    allocated = allocations.map(lambda what: (what, None))
    freed = frees.map(lambda what: (None, what))
    return allocated.merge(lambda one, other: (one[0], other[1]), freed).scan(change)


def bad_frees(allocations: trace[tuple[int, int]], frees: trace[int]) -> trace[bad_free]:
    """Return the trace of frees of what is not allocated: a second free, or no block at all."""

    def judge(address: int, before: lazy[Any]) -> Any:
        now = before.force()
        known = now.find(address // PIECE) if now is not None else None
        if known is not None and known.address == address:
            return None if known.live else bad_free(address, known)
        return bad_free(address, None)

    judged = frees.trailing_merge(judge, heap_history(allocations, frees))
    return judged.filter(lambda found: found is not None)


def uses_after_free(
    allocations: trace[tuple[int, int]], frees: trace[int], accesses: trace[int]
) -> trace[bad_use]:
    """Return the trace of accesses to addresses in blocks that are no longer allocated."""

    def judge(address: int, now: Any) -> Any:
        known = now.find(address // PIECE) if now is not None else None
        return None if known is None or known.live else bad_use(address, known)

    judged = with_latest(accesses, heap_history(allocations, frees), judge)
    return judged.filter(lambda found: found is not None)


def leaks(allocations: trace[tuple[int, int]], frees: trace[int]) -> list[block]:
    """Return the blocks that are allocated at the end. Works through the whole history."""
    last = heap_history(allocations, frees).last()
    if last is None:
        return []
    live = {last.value.find(piece) for piece in last.value.keys()}
    return sorted(what for what in live if what.live)
