"""Data races: by one lock that should be held (section 4.5), and by the order of synchronisation (section 5.2).

Threads run one at a time in a recording, so it is enough to hold a read against the last write, and a write against
the last write and the reads since.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from .. import edithamt, lazy, trace
from .accesses import access, edit_of
from .latest import with_latest


class race(NamedTuple):
    """An access and the earlier ones that it races with, newest first."""

    later: access
    earlier: tuple[access, ...]


def _races(stamped: trace[Any], ordered: Callable[[Any, Any], bool]) -> trace[race]:
    """Find conflicting accesses that are not ordered. `stamped` holds pairs of an access and what is known of it."""
    history = stamped.map(lambda one: edit_of(one, one[0])).scan(edithamt.concat)

    def against(one: Any, before: lazy[Any]) -> race:
        what = one[0]
        known = before.force()
        earlier = known.find_multi(what.variable) if known is not None else ()
        conflicting = [
            other[0]
            for other in earlier
            if other[0].thread != what.thread and "write" in (other[0].kind, what.kind) and not ordered(other, one)
        ]
        return race(what, tuple(conflicting))

    return stamped.trailing_merge(against, history).filter(lambda found: found.earlier)


def one_lock(accesses: trace[access], acquired: trace[Any], released: trace[Any]) -> trace[race]:
    """Return the trace of accesses that race with an earlier one because a lock was not held at both.

    `acquired` and `released` hold the threads that take and give up the lock. A thread that takes it several times, as it may with
    a recursive one, holds it until it has given it up as often.
    """
    taking = acquired.map(lambda thread: edithamt.add(None, thread))
    giving = released.map(lambda thread: edithamt.removeone(None, thread))
    holders = taking.merge(edithamt.concat, giving).scan(edithamt.concat)

    def held(one: access, before: lazy[Any]) -> tuple[access, bool]:
        now = before.force()
        return one, now is not None and now.contains(one.thread)

    return _races(accesses.trailing_merge(held, holders), lambda earlier, later: earlier[1] and later[1])


Clock = dict[Any, int]


def _joined(one: Clock, other: Clock) -> Clock:
    return {who: max(one.get(who, 0), other.get(who, 0)) for who in {**one, **other}}


class _Clocks(NamedTuple):
    """Vector clocks of threads, and of the locks that carry them from one to another."""

    threads: dict[Any, Clock]
    locks: dict[Any, Clock]

    def of(self, thread: Any) -> Clock:
        return self.threads.get(thread, {thread: 1})

    def given(self, giver: Any, to: dict[Any, Clock], key: Any) -> _Clocks:
        """Hand the clock of a thread on; what it does afterwards is later."""
        mine = self.of(giver)
        changed = {**to, key: _joined(to.get(key, {}), mine)}
        threads = changed if to is self.threads else self.threads
        locks = self.locks if to is self.threads else changed
        return _Clocks({**threads, giver: {**mine, giver: mine.get(giver, 0) + 1}}, locks)

    def after(self, event: tuple[str, Any, Any]) -> _Clocks:
        kind, thread, other = event
        if kind == "release":
            return self.given(thread, self.locks, other)
        if kind == "acquire":
            return _Clocks({**self.threads, thread: _joined(self.of(thread), self.locks.get(other, {}))}, self.locks)
        if kind == "fork":
            child = _joined(self.of(other), self.of(thread))
            return self._replace(threads={**self.threads, other: child}).given(thread, {}, None)._replace(locks=self.locks)
        if kind == "join":
            return _Clocks({**self.threads, thread: _joined(self.of(thread), self.of(other))}, self.locks)
        raise ValueError(f"a synchronisation is release, acquire, fork or join, not {kind}")


def happens_before(accesses: trace[access], syncs: trace[tuple[str, Any, Any]]) -> trace[race]:
    """Return the trace of accesses that race with an earlier one: no synchronisation orders the two.

    `syncs` holds ("release", thread, lock), ("acquire", thread, lock), ("fork", thread, child) and
    ("join", thread, child).
    """
    start = _Clocks({}, {})
    clocks = syncs.scan(lambda before, event: before.force().after(event), start)

    def stamp(one: access, now: Any) -> tuple[access, Clock]:
        return one, (now or start).of(one.thread)

    def ordered(earlier: tuple[access, Clock], later: tuple[access, Clock]) -> bool:
        who = earlier[0].thread
        return earlier[1].get(who, 0) <= later[1].get(who, 0)

    return _races(with_latest(accesses, clocks, stamp), ordered)
