"""The events that the analyses take, out of a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import READ, WRITE, edithamt, execution, lazy, snapshot, trace
from .accesses import access
from .calls import call, calls, entries, merged, nothing
from .heap import PIECE, bad_free, bad_frees, bad_use, block, heap_history, leaks
from .latest import with_latest
from .races import happens_before, race


def accesses_of(run: execution, *variables: Any) -> trace[access]:
    """Return the trace of reads and writes of variables; `where` is the snapshot after the access.

    A variable is what watchpoints take: the name of a global variable, an l-value, or (address, size). An access names an
    l-value by its address and size. An instruction that reads and writes is a write.
    """

    def of(variable: Any) -> trace[access]:
        watched = run.watchpoints(variable, rw=READ)
        # An l-value equals others of its value, so it is told by where it lies.
        name = variable if isinstance(variable, str) else watched.extent

        def as_access(kind: str) -> Any:
            return lambda snap: access(kind, snap.get_thread_id(), name, snap)

        reads = watched.map(as_access("read"))
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
    """Return the trace of return addresses found smashed at a call or return, as l-values (section 4.1.3).

    Each thread has a stack of its own. The unwinder of exceptions replaces a return address of its own on purpose, to land
    where one is caught: what changes while it runs does not count.
    """

    def shadow_of(snap: snapshot) -> edithamt:
        thread = snap.get_thread_id()
        shadow = {int(entry.addrof()): int(entry) for entry in snap.read_retaddrs()}
        return edithamt.addkeyvalue(edithamt.remove(None, thread), thread, shadow)

    def first_changed(snap: snapshot, before: lazy[Any]) -> Any:
        now = before.force()
        shadow: dict[int, int] = (now.find(snap.get_thread_id()) if now is not None else None) or {}
        for entry in snap.read_retaddrs():
            if shadow.get(int(entry.addrof()), int(entry)) != int(entry):
                return None if _is_unwinding(snap) else entry
        return None

    calls_and_returns = run.all_calls().merge(None, run.all_returns())
    # Another program has another stack.
    replaced = run.syscalls("execve").map(lambda snap: edithamt.remove(None, snap.get_thread_id()))
    shadows = calls_and_returns.map(shadow_of).merge(None, replaced).scan(edithamt.concat)
    return calls_and_returns.trailing_merge(first_changed, shadows).filter(lambda entry: entry is not None)


def _is_unwinding(snap: snapshot) -> bool:
    innermost = [frame.function or "" for frame, _ in zip(snap.backtrace(), range(2))]
    return any(function.startswith("_Unwind_") for function in innermost)


def _sized(address: int, size: int) -> list[tuple[int, int]]:
    return [(address, size)] if address else []


def _allocated(one: call) -> list[tuple[int, int]]:
    """What a call of an allocator gave: nothing, or a block."""
    function, given = one.function, one.given
    if function == "posix_memalign":
        place, _, size = given
        failed = one.result & 0xFFFFFFFF
        return [] if failed else _sized(int.from_bytes(one.returned.read_memory(place, 8), "little"), size)
    if function == "calloc":
        return _sized(one.result, given[0] * given[1])
    return _sized(one.result, given[-1])


# How many arguments tell what they give; the last of them is the size.
_ALLOCATORS = {
    "malloc": 1,
    "calloc": 2,
    "realloc": 2,
    "valloc": 1,
    "pvalloc": 1,
    "memalign": 2,
    "aligned_alloc": 2,
    "posix_memalign": 3,
}


def _arguments(count: int) -> Callable[[snapshot], tuple[int, ...]]:
    return lambda snap: tuple(int(snap.read_arg(n)) for n in range(count))


def allocations(run: execution) -> trace[tuple[int, int]]:
    """Return the trace of what malloc and its relatives give: (address, size), when they return.

    realloc gives a block, and frees the one that it was given at the same time.
    """
    parts = [calls(run, function, _arguments(count)) for function, count in _ALLOCATORS.items()]
    given: Any = merged(part.map(_allocated).filter(bool).map(lambda one: one[0]) for part in parts if part is not None)
    blocks: trace[tuple[int, int]] = given if given is not None else nothing(run)
    return blocks


def frees(run: execution) -> trace[int]:
    """Return the trace of the addresses that free and realloc are called with; a free of nothing is none.

    What realloc frees is freed when it returns, if it gives another block. To a size of zero it calls free itself.
    """

    def replaced(one: call) -> int:
        address, size = one.given
        return address if size and one.result else 0

    resized = calls(run, "realloc", _arguments(2))
    freed = entries(run, "free")
    found: Any = merged(
        [
            freed.map(lambda snap: int(snap.read_arg(0))) if freed is not None else None,
            resized.map(replaced) if resized is not None else None,
        ]
    )
    addresses: trace[int] = found.filter(lambda address: address != 0) if found is not None else nothing(run)
    return addresses


def wrong_frees(run: execution) -> trace[bad_free]:
    """Return the trace of frees of what is not allocated."""
    return bad_frees(allocations(run), frees(run))


def lost_blocks(run: execution) -> list[block]:
    """Return the blocks that are still allocated at the end."""
    return leaks(allocations(run), frees(run))


_ALLOCATOR = {"free", "cfree", "reallocarray", *_ALLOCATORS}
_MOST_WATCHED = 64


def freed_uses(run: execution) -> trace[bad_use]:
    """Return the trace of accesses to blocks that are no longer allocated; the allocator's own are left out.

    The blocks that were freed are watched, all of them in one search up to 64, which is the most that are looked at.
    """
    allocated, freed = allocations(run), frees(run)
    sizes: dict[int, int] = {}
    gone: dict[tuple[int, int], None] = {}
    both: trace[Any] = allocated.map(lambda what: [what]).merge(
        lambda given, freed: freed + given, freed.map(lambda address: [(address, None)])
    )
    for _, events in both:
        for address, size in events:
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

    def judge(use: tuple[int, snapshot], now: Any) -> Any:
        address, snap = use
        known = now.find(address // PIECE) if now is not None else None
        if known is None or known.live or any(frame.function in _ALLOCATOR for frame in snap.backtrace()):
            return None
        return bad_use(address, known, snap)

    judged = with_latest(uses, heap_history(allocated, freed), judge)
    found: trace[bad_use] = judged.filter(lambda use: use is not None)
    return found


def syncs(run: execution) -> trace[tuple[str, Any, Any]]:
    """Return the trace of what orders threads: mutexes, waiting for conditions, starting and joining threads.

    Threads are the system's, locks are addresses. A function that the program never calls and does not have is none.
    A lock is taken when the function that takes it returns, and a thread is joined when the wait for it is over.
    """

    def given_up(function: str, argument: int) -> Any:
        entered = entries(run, function)
        if entered is None:
            return None
        return entered.map(lambda snap: ("release", snap.get_thread_id(), int(snap.read_arg(argument))))

    def taken(function: str, argument: int, name: Any = lambda lock: lock, always: bool = False) -> Any:
        def acquired(one: call) -> Any:
            failed = one.result & 0xFFFFFFFF and not always
            return None if failed else ("acquire", one.returned.get_thread_id(), name(one.given))

        made = calls(run, function, lambda snap: int(snap.read_arg(argument)))
        return made.map(acquired).filter(lambda what: what is not None) if made is not None else None

    def started(snap: snapshot) -> tuple[str, Any, Any]:
        return ("fork", snap.get_thread_id(), int(snap.after().read_register("rax")))

    def ended(snap: snapshot) -> tuple[str, Any, Any]:
        # What pthread_join is given is where the thread's own data lies.
        return ("release", snap.get_thread_id(), ("thread", int(snap.read_register("fs_base"))))

    def of_thread(thread: Any) -> Any:
        return ("thread", thread)

    locks = ("pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock")
    waits = ("pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait")
    joins = ("pthread_join", "pthread_tryjoin_np", "pthread_timedjoin_np", "pthread_clockjoin_np")
    found: trace[tuple[str, Any, Any]] = merged(
        [
            *(taken(function, 0) for function in locks),
            given_up("pthread_mutex_unlock", 0),
            *(given_up(function, 1) for function in waits),
            # A wait that failed, or took too long, holds the mutex again.
            *(taken(function, 1, always=True) for function in waits),
            *(taken(function, 0, of_thread) for function in joins),
            run.syscalls("clone3").map(started),
            run.syscalls("clone").map(started),
            run.syscalls("exit").map(ended),
        ]
    )
    return found


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
