"""Traces as lanes over time, for viewers of the Chrome trace format such as Perfetto."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Union

from ._native import trace

PathLike = Union[str, "Any"]


def chrome_events(lanes: Mapping[str, trace[Any]]) -> list[dict[str, Any]]:
    """Return the events of the lanes: an instant per item, a counter where values are numbers.

    A microsecond of the format stands for an instruction.
    """
    events: list[dict[str, Any]] = []
    for number, (name, lane) in enumerate(lanes.items(), 1):
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": number, "args": {"name": name}})
        for time, value in lane:
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                events.append({"ph": "C", "name": name, "pid": 1, "tid": number, "ts": time, "args": {name: value}})
            else:
                label = value if isinstance(value, str) else repr(value)
                events.append({"ph": "i", "s": "t", "name": label, "pid": 1, "tid": number, "ts": time})
    return events


def write_chrome(path: PathLike, lanes: Mapping[str, trace[Any]]) -> None:
    """Write lanes to a file that ui.perfetto.dev and chrome://tracing open."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": chrome_events(lanes), "displayTimeUnit": "ns"}, file)
