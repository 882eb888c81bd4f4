"""What is in a set, over time."""

from __future__ import annotations

from typing import Any

from .. import edithamt, trace


def set_tracing(insertions: trace[Any], removals: trace[Any]) -> trace[edithamt]:
    """Return the trace of the set that the values of one trace enter and those of the other leave.

    The value at each insertion or removal is an edithamt: what is in the set from then on. At one time, what is
    inserted can be removed again.

        timers = set_tracing(created.map(timer_id), fired.map(timer_id))
        timers.get_before(t).value.contains(7)
    """
    entering = insertions.map(lambda key: edithamt.add(None, key))
    leaving = removals.map(lambda key: edithamt.remove(None, key))
    return entering.merge(edithamt.concat, leaving).scan(edithamt.concat)
