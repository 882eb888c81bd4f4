"""Executions as lazy lists: scripts over a whole run of a program, forwards and backwards in time.

A trace is a list of what happened and when. Making one costs nothing; asking it searches the execution for exactly
what the answer needs. See help(parallax.execution), help(parallax.trace), help(parallax.edithamt), and
parallax.analyses.
"""

from ._native import (
    READ,
    WRITE,
    CoincidenceError,
    DebugError,
    MemoryUnreadable,
    OptimizedOut,
    RecordingError,
    SelfDependence,
    TraceError,
    UnknownName,
    arg,
    edithamt,
    events,
    execution,
    flow,
    flow_step,
    frame,
    gdb_value,
    item,
    lazy,
    memory,
    predicate,
    register,
    snapshot,
    stack,
    term,
    thread,
    trace,
    var,
)

from . import timeline
from ._native import VERSION as __version__

__all__ = [
    "READ",
    "WRITE",
    "CoincidenceError",
    "DebugError",
    "MemoryUnreadable",
    "OptimizedOut",
    "RecordingError",
    "SelfDependence",
    "TraceError",
    "UnknownName",
    "arg",
    "edithamt",
    "events",
    "execution",
    "flow",
    "flow_step",
    "frame",
    "gdb_value",
    "item",
    "lazy",
    "memory",
    "predicate",
    "register",
    "snapshot",
    "stack",
    "term",
    "thread",
    "timeline",
    "trace",
    "var",
]
