"""What is known when something happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import trace


def with_latest(items: trace[Any], states: trace[Any], f: Callable[[Any, Any], Any]) -> trace[Any]:
    """Return the trace of f(item, state), with the latest state up to the item's time; that is None before the first.

    A state of the same time counts: what a call gives is there for the instruction that it returns to.
    """
    both = items.map(lambda one: (True, one, ())).merge(
        lambda item, state: (True, item[1], state[2]), states.map(lambda now: (False, None, (now,)))
    )
    return both.filter(lambda one: one[0]).trailing_merge(
        lambda one, before: f(one[1], one[2][0] if one[2] else before.force()), states
    )
