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


def chrome_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a collected timeline in the Chrome format: turns and calls as spans by thread, lanes as instants.

    A microsecond of the format stands for a step of the recording.
    """
    events: list[dict[str, Any]] = []

    def named(process: int, thread: int, name: str) -> None:
        events.append({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}})

    for process, name in ((1, data["program"]), (2, "lanes"), (3, "turns")):
        events.append({"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}})
    for index, thread in enumerate(data["threads"]):
        name = f"T{index} {thread['name']}"
        named(1, index, name)
        named(3, index, name)
        at = 0
        for gap, length in zip(thread["turns"][::2], thread["turns"][1::2]):
            at += gap
            events.append({"ph": "X", "name": name, "pid": 3, "tid": index, "ts": at, "dur": length})
            at += length
    calls = data["calls"]
    for index, flat in enumerate(calls["byThread"]):
        at = 0
        for gap, length, _, name in zip(*[iter(flat)] * 4):
            at += gap
            events.append({"ph": "X", "name": calls["names"][name], "pid": 1, "tid": index, "ts": at, "dur": length})
    for index, row in enumerate(data["lanes"]):
        named(2, index, row["name"])
        at = 0
        for number, by in enumerate(row["times"]):
            at += by
            says = data["texts"][row["says"][number]] if "says" in row else ""
            events.append({"ph": "i", "s": "t", "name": says or row["name"], "pid": 2, "tid": index, "ts": at})
            value = row["numbers"][number] if "numbers" in row else None
            if value is not None:
                events.append({"ph": "C", "name": row["name"], "pid": 2, "tid": index, "ts": at, "args": {row["name"]: value}})
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"recording": data["recording"]}}
