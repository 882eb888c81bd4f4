"""Analyses in the box: short functions over traces, to be read, changed and combined.

Each takes traces of what it needs to know and returns a trace of what it finds; nothing is searched until that is
asked. So they work on any execution, and on `parallax.events`; `recordings` takes those traces out of an execution.
"""

from .accesses import access, access_history
from .flows import last_write, sources, way, writers
from .heap import bad_frees, heap_history, leaks, uses_after_free
from .races import happens_before, one_lock
from .recordings import (
    accesses_of,
    allocations,
    count_calls,
    freed_uses,
    frees,
    lost_blocks,
    races,
    stack_corruption,
    syncs,
    threads_at,
    wrong_frees,
)
from .sets import set_tracing
from .stacks import corrupted_addresses

__all__ = [
    "access",
    "access_history",
    "accesses_of",
    "allocations",
    "bad_frees",
    "corrupted_addresses",
    "count_calls",
    "freed_uses",
    "frees",
    "happens_before",
    "heap_history",
    "last_write",
    "leaks",
    "lost_blocks",
    "one_lock",
    "races",
    "set_tracing",
    "sources",
    "stack_corruption",
    "syncs",
    "threads_at",
    "uses_after_free",
    "way",
    "writers",
    "wrong_frees",
]
