"""One variant of the micro-benchmarks of section 4.4: one.py RECORDING VARIANT (after|before). Prints a JSON line.

Times are cumulative seconds after each action, memory the bytes that malloc has given out beyond those before action 0.
"""

import ctypes
import gc
import json
import sys
import time

import redblack
from parallax import edithamt, execution, var


class _Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


_libc = ctypes.CDLL(None)
_libc.mallinfo2.restype = _Info


def in_use() -> int:
    info = _libc.mallinfo2()
    return info.uordblks + info.hblkhd


class Clock:
    def __init__(self) -> None:
        gc.collect()
        self.seconds, self.bytes = [], []
        self.memory = in_use()
        self.spent = 0.0

    def action(self, act):
        begun = time.perf_counter()
        result = act()
        self.spent += time.perf_counter() - begun
        self.seconds.append(round(self.spent, 6))
        self.bytes.append(in_use() - self.memory)
        return result


def walk(clock, trace, direction):
    """Ask for all items, one by one."""
    if direction == "after":
        item = clock.action(lambda: trace.get_after(0))
        while item is not None:
            item = clock.action(lambda: trace.get_after(item.time))
    else:
        item = clock.action(lambda: trace.get_before("inf"))
        while item is not None:
            item = clock.action(lambda: trace.get_before(item.time))


def strict(trace):
    """The same trace with everything computed: what laziness disabled means."""
    for _ in trace:
        pass
    return trace


def laziness(run, variant, direction):
    clock = Clock()
    parity = {
        "native": lambda rest: var("x % 2") == rest,
    }.get(variant, lambda rest: lambda snap: int(snap.read_arg("x")) % 2 == rest)
    make = strict if variant == "strict" else lambda trace: trace

    def first():
        foo = make(run.breakpoints("foo"))
        return foo, make(foo.filter(parity(0)))

    foo, trace1 = clock.action(first)
    walk(clock, trace1, direction)
    trace2 = clock.action(lambda: make(foo.filter(parity(1))))
    walk(clock, trace2, direction)
    return clock


def maps(run, variant, direction):
    clock = Clock()
    make = strict if variant == "strict_edithamt" else lambda trace: trace

    def built():
        bars = run.breakpoints("bar")
        foos = make(run.breakpoints("foo"))
        if variant.endswith("edithamt"):
            bar_maps = make(bars.map(lambda s: edithamt.addkeyvalue(None, int(s.read_arg("z")), s)).scan(edithamt.concat))
            look = lambda s, m: m.force().find(int(s.read_arg("y")))
        elif variant == "rbtrees":
            pairs = bars.map(lambda s: (int(s.read_arg("z")), s))
            bar_maps = pairs.scan(lambda acc, pair: redblack.add(acc.force(), *pair))
            look = lambda s, m: redblack.find(m.force(), int(s.read_arg("y")))
        else:
            pairs = bars.map(lambda s: (int(s.read_arg("z")), s))
            bar_maps = pairs.scan(lambda acc, pair: {**(acc.force() or {}), pair[0]: pair[1]})
            look = lambda s, m: m.force().get(int(s.read_arg("y")))
        return bar_maps, make(foos.trailing_merge(look, bar_maps))

    bar_maps, bar_of_foos = clock.action(built)
    walk(clock, bar_of_foos, direction)
    return clock


def hits(run, variant, direction):
    """All calls of bar, filtered by their argument: what one hit costs."""
    clock = Clock()
    bars = run.breakpoints("bar")
    even = (var("z") % 2 == 0) if variant == "native" else (lambda snap: int(snap.read_arg("z")) % 2 == 0)
    found = clock.action(lambda: len(bars.filter(even)))
    assert found * 2 == len(bars), (found, len(bars))
    return clock


recording, which, variant, direction = sys.argv[1:5]
begun = time.perf_counter()
run = execution(recording)
run.get_at(1).pc  # The replay is there.
startup = time.perf_counter() - begun
clock = {"laziness": laziness, "maps": maps, "hits": hits}[which](run, variant, direction)
told = {"startup": round(startup, 6), "seconds": clock.seconds, "bytes": clock.bytes}
if which == "hits":
    told["hits"] = len(run.breakpoints("bar"))
print(json.dumps(told))
