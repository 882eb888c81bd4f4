"""Return addresses that changed behind a function's back (section 4.1.3 of the dissertation)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import lazy, trace


def corrupted_addresses(stacks: trace[Sequence[Any]]) -> trace[Any]:
    """Return the trace of return addresses found changed at a call or return.

    `stacks` holds, at every call and every return, the return addresses on the stack, outermost first. Between two of
    them only the top of the stack may come or go. The value found is the changed entry: where a recording gives
    l-values, what a watchpoint can be set on.
    """
    shadows = stacks.map(lambda stack: [int(address) for address in stack])

    def first_changed(stack: Sequence[Any], before: lazy[Any]) -> Any:
        shadow = before.force()
        if shadow is not None:
            for now, then in zip(stack, shadow):
                if int(now) != then:
                    return now
        return None

    return stacks.trailing_merge(first_changed, shadows).filter(lambda found: found is not None)
