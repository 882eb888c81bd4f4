"""Analyses in the box: short functions over traces, to be read, changed and combined.

Each takes traces of what it needs to know and returns a trace of what it finds; nothing is searched until that is
asked. So they work on any execution, and on `parallax.events`.
"""

from .accesses import access, access_history
from .heap import bad_frees, heap_history, leaks, uses_after_free
from .races import happens_before, one_lock
from .sets import set_tracing
from .stacks import corrupted_addresses

__all__ = [
    "access",
    "access_history",
    "bad_frees",
    "corrupted_addresses",
    "happens_before",
    "heap_history",
    "leaks",
    "one_lock",
    "set_tracing",
    "uses_after_free",
]
