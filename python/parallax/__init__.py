"""Executions as lazy lists: scripts over a whole run of a program, forwards and backwards in time.

A trace is a list of what happened and when. Making one costs nothing; asking it searches the execution for exactly
what the answer needs. See help(parallax.trace), help(parallax.edithamt), and parallax.analyses.
"""

from ._native import (
    CoincidenceError,
    SelfDependence,
    TraceError,
    edithamt,
    events,
    item,
    lazy,
    trace,
)

from . import timeline

__all__ = [
    "CoincidenceError",
    "SelfDependence",
    "TraceError",
    "edithamt",
    "events",
    "item",
    "lazy",
    "timeline",
    "trace",
]
