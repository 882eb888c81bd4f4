"""The events that the analyses take, out of a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import READ, WRITE, UnknownName, edithamt, execution, lazy, snapshot, trace
from .accesses import access
from .heap import PIECE, bad_free, bad_frees, bad_use, block, heap_history, leaks
from .races import happens_before, race
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


def lost_blocks(run: execution) -> list[block]:
    """Return the blocks that are still allocated at the end."""
    return leaks(allocations(run), frees(run))


_ALLOCATOR = {"malloc", "calloc", "realloc", "free", "cfree", "memalign", "aligned_alloc", "posix_memalign"}
_MOST_WATCHED = 64


def freed_uses(run: execution) -> trace[bad_use]:
    """Return the trace of accesses to blocks that are no longer allocated; the allocator's own are left out.

    The blocks that were freed are watched, all of them in one search up to 64, which is the most that are looked at.
    """
    allocated, freed = allocations(run), frees(run)
    sizes: dict[int, int] = {}
    gone: dict[tuple[int, int], None] = {}
    events = allocated.map(lambda what: what).merge(freed.map(lambda address: (address, None)))
    for _, (address, size) in events:
        if size is not None:
            sizes[address] = size
        elif sizes.get(address):
            gone.setdefault((address, sizes[address]))
    if len(gone) > _MOST_WATCHED:
        raise ValueError(f"{len(gone)} blocks were freed; watch those of interest with uses_after_free")

    def used_at(address: int) -> Callable[[snapshot], tuple[int, snapshot]]:
        return lambda snap: (address, snap)

    uses: Any = None
    for extent in gone:
        own = run.watchpoints(extent, rw=READ | WRITE).map(used_at(extent[0]))
        uses = own if uses is None else uses.merge(lambda one, other: one, own)
    if uses is None:
        return frees(run).map(lambda address: bad_use(address, block(address, 0, False))).filter(lambda use: False)

    def judge(use: tuple[int, snapshot], before: lazy[Any]) -> Any:
        address, snap = use
        now = before.force()
        known = now.find(address // PIECE) if now is not None else None
        if known is None or known.live or any(frame.function in _ALLOCATOR for frame in snap.backtrace()):
            return None
        return bad_use(address, known, snap)

    judged = uses.trailing_merge(judge, heap_history(allocated, freed))
    found: trace[bad_use] = judged.filter(lambda use: use is not None)
    return found


def syncs(run: execution) -> trace[tuple[str, Any, Any]]:
    """Return the trace of what orders threads: mutexes, waiting for conditions, starting and joining threads.

    Threads are the system's, locks are addresses. A function that the program never calls and does not have is none.
    """

    def at(function: str, index: int = 0) -> Any:
        try:
            return run.breakpoints(function, index=index)
        except UnknownName:
            return None

    def given_up(argument: int) -> Any:
        return lambda snap: ("release", snap.get_thread_id(), int(snap.read_arg(argument)))

    def taken(function: str, argument: int, name: Any = lambda lock: lock) -> Any:
        """The lock that is taken when a function ends is the one it was entered with, by the same thread."""
        entries, ends = at(function), at(function, -1)
        if entries is None or ends is None:
            return None
        inside = entries.map(lambda snap: edithamt.addkeyvalue(None, snap.get_thread_id(), int(snap.read_arg(argument))))

        def acquired(snap: snapshot, before: lazy[Any]) -> tuple[str, Any, Any]:
            now, thread = before.force(), snap.get_thread_id()
            return ("acquire", thread, name(now.find(thread) if now is not None else None))

        return ends.trailing_merge(acquired, inside.scan(edithamt.concat))

    def started(snap: snapshot) -> tuple[str, Any, Any]:
        return ("fork", snap.get_thread_id(), int(snap.after().read_register("rax")))

    def ended(snap: snapshot) -> tuple[str, Any, Any]:
        # What pthread_join is given is where the thread's own data lies.
        return ("release", snap.get_thread_id(), ("thread", int(snap.read_register("fs_base"))))

    waits = at("pthread_cond_wait")
    unlocks = at("pthread_mutex_unlock")
    parts = [
        taken("pthread_mutex_lock", 0),
        unlocks.map(given_up(0)) if unlocks is not None else None,
        waits.map(given_up(1)) if waits is not None else None,
        taken("pthread_cond_wait", 1),
        taken("pthread_join", 0, lambda thread: ("thread", thread)),
        run.syscalls("clone3").map(started),
        run.syscalls("clone").map(started),
        run.syscalls("exit").map(ended),
    ]
    first, *rest = [part for part in parts if part is not None]
    merged: trace[tuple[str, Any, Any]] = first
    for more in rest:
        merged = merged.merge(lambda one, other: one, more)
    return merged


def races(run: execution, *variables: Any) -> trace[race]:
    """Return the trace of accesses to variables that no synchronisation orders after an earlier one (section 5.2)."""
    return happens_before(accesses_of(run, *variables), syncs(run))


def count_calls(run: execution, function: str) -> int:
    """Return how often a function is entered."""
    return len(run.breakpoints(function))


__all__ = [
    "accesses_of",
    "allocations",
    "count_calls",
    "freed_uses",
    "frees",
    "lost_blocks",
    "races",
    "stack_corruption",
    "syncs",
    "threads_at",
    "wrong_frees",
]
