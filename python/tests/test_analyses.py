"""The analyses on lists of events, against answers worked out the slow way."""

import json
import pathlib
import random
import tempfile
import unittest

from parallax import events, timeline
from parallax.analyses import (
    access,
    access_history,
    bad_frees,
    corrupted_addresses,
    happens_before,
    leaks,
    one_lock,
    set_tracing,
    uses_after_free,
)


class Sets(unittest.TestCase):
    def test_set_tracing(self):
        log = events({"create": {10: "a", 20: "b", 30: "c"}, "fire": {15: "a", 30: "c", 40: "b"}})
        timers = set_tracing(log.trace("create"), log.trace("fire"))
        content = {when: set(now.keys()) for when, now in timers}
        self.assertEqual(content, {10: {"a"}, 15: set(), 20: {"b"}, 30: {"b"}, 40: set()})


def random_run(rng, length):
    """Threads that fork, join, lock and access; and every event as (time, kind, thread, what)."""
    run, alive, holder = [], {0}, {}
    for when in range(1, length + 1):
        thread = rng.choice(sorted(alive))
        kind = rng.choice(["read", "write", "read", "write", "lock", "fork", "join"])
        what = None
        if kind in ("read", "write"):
            what = rng.choice("xy")
        elif kind == "lock":
            what = rng.choice("mn")
            owner, depth = holder.get(what, (None, 0))
            if owner not in (None, thread):
                continue
            # A thread may take a lock that it has.
            kind = "release" if owner is not None and rng.random() < 0.7 else "acquire"
            depth += 1 if kind == "acquire" else -1
            holder[what] = (thread, depth) if depth else (None, 0)
        elif kind == "fork":
            what = max(alive | {e[3] for e in run if e[1] == "fork"}) + 1
            if what > 4:
                continue
            alive.add(what)
        else:
            others = sorted(alive - {0, thread} - {owner for owner, _ in holder.values()})
            if thread != 0 or not others:
                continue
            what = rng.choice(others)
            alive.discard(what)
        run.append((when, kind, thread, what))
    return run


def ordered_pairs(run):
    """Which events happen before which, as the transitive closure of what synchronises."""
    n = len(run)
    before = [[False] * n for _ in range(n)]
    for j in range(n):
        for i in range(j):
            (_, ki, ti, wi), (_, kj, tj, wj) = run[i], run[j]
            direct = ti == tj
            direct |= ki == "release" and kj == "acquire" and wi == wj
            direct |= ki == "fork" and (wi == tj or kj == "join" and wi == wj)
            direct |= kj == "join" and wj == ti
            if direct:
                before[i][j] = True
                for k in range(i):
                    before[k][j] |= before[k][i]
    return before


def compared(run, j):
    """The accesses that access j is held against: back to and including the last write of the variable."""
    for i in reversed(range(j)):
        if run[i][3] == run[j][3] and run[i][1] in ("read", "write"):
            yield i
            if run[i][1] == "write":
                return


def coinciding(rng, run):
    """The same run, where a thread's access may come at the time of what it did before: the instruction that a call returns to."""
    for i in range(1, len(run)):
        (time, kind, who, _), (_, access_kind, accessing, what) = run[i - 1], run[i]
        if kind in ("acquire", "release", "fork", "join") and access_kind in ("read", "write") and accessing == who:
            if rng.random() < 0.5:
                run[i] = (time, access_kind, accessing, what)
    return run


def as_events(run):
    accesses = {when: access(kind, who, what, when) for when, kind, who, what in run if kind in ("read", "write")}
    syncs = {when: (kind, who, what) for when, kind, who, what in run if kind not in ("read", "write")}
    acquired = {when: who for when, kind, who, what in run if kind == "acquire" and what == "m"}
    released = {when: who for when, kind, who, what in run if kind == "release" and what == "m"}
    return events({"access": accesses, "sync": syncs, "acquired": acquired, "released": released})


class Races(unittest.TestCase):
    def found(self, races):
        return {(one.value.later.where, other.where) for one in races for other in one.value.earlier}

    def test_happens_before_agrees_with_the_closure(self):
        total = 0
        for seed in range(200):
            rng = random.Random(seed)
            run = coinciding(rng, random_run(rng, 40))
            before = ordered_pairs(run)
            expected = {
                (run[j][0], run[i][0])
                for j in range(len(run))
                if run[j][1] in ("read", "write")
                for i in compared(run, j)
                if run[i][2] != run[j][2] and "write" in (run[i][1], run[j][1]) and not before[i][j]
            }
            log = as_events(run)
            races = happens_before(log.trace("access"), log.trace("sync"))
            self.assertEqual(self.found(reversed(races) if seed % 2 else races), expected, f"seed {seed}")
            total += len(expected)
        self.assertGreater(total, 100)

    def test_one_lock_agrees_with_the_slow_way(self):
        for seed in range(100):
            run = random_run(random.Random(seed), 40)
            held, holder, depth = [], None, 0
            for _, kind, who, what in run:
                if what == "m" and kind in ("acquire", "release"):
                    holder, depth = who, depth + (1 if kind == "acquire" else -1)
                held.append(holder == who and depth > 0)
            expected = {
                (run[j][0], run[i][0])
                for j in range(len(run))
                if run[j][1] in ("read", "write")
                for i in compared(run, j)
                if run[i][2] != run[j][2] and "write" in (run[i][1], run[j][1]) and not (held[i] and held[j])
            }
            log = as_events(run)
            races = one_lock(log.trace("access"), log.trace("acquired"), log.trace("released"))
            self.assertEqual(self.found(races), expected, f"seed {seed}")

    def test_a_lock_that_is_taken_twice_is_held_until_it_is_given_up_twice(self):
        for writes, races in ((5, []), (7, [9])):
            accesses = {writes: access("write", 1, "x"), 9: access("write", 2, "x")}
            log = events({"access": accesses, "acquired": {1: 1, 2: 1, 8: 2}, "released": {3: 1, 6: 1, 10: 2}})
            found = one_lock(log.trace("access"), log.trace("acquired"), log.trace("released"))
            self.assertEqual(list(found.times()), races)

    def test_a_race_is_found_from_the_end_without_the_beginning(self):
        quiet = {when: access("write", 1, "x", when) for when in range(10, 1000, 10)}
        late = {1000: access("write", 1, "x", 1000), 1010: access("write", 2, "x", 1010)}
        log = events({"access": {**quiet, **late}, "sync": {}}, end=2000, lazily=True)
        races = happens_before(log.trace("access"), log.trace("sync"))
        last = races.get_before("inf")
        self.assertEqual((last.time, [other.where for other in last.value.earlier]), (1010, [1000]))
        self.assertLess(len(log.searches()), 6)

    def test_access_history(self):
        log = events({"access": {1: access("write", 1, "x"), 2: access("read", 2, "x"), 3: access("read", 1, "y")}})
        last = access_history(log.trace("access")).last().value
        self.assertEqual([one.kind for one in last.find_multi("x")], ["read", "write"])


class Heap(unittest.TestCase):
    def test_against_a_plain_heap(self):
        for seed in range(60):
            rng = random.Random(seed)
            malloc, free, use = {}, {}, {}
            blocks, double, after = {}, set(), set()
            for when in range(1, 60):
                address = 16 * rng.randrange(1, 12)
                kind = rng.randrange(3)
                state = blocks.get(address)
                if kind == 0:
                    free_run = [blocks.get(a, [None, False])[1] for a in (address, address + 16)]
                    if any(free_run):
                        continue
                    malloc[when] = (address, 32)
                    for a in (address, address + 16):
                        blocks[a] = [address, True]
                elif kind == 1:
                    free[when] = address
                    if state and state[0] == address and state[1]:
                        for a in (address, address + 16):
                            if blocks[a][0] == address:
                                blocks[a] = [address, False]
                    else:
                        double.add(when)
                else:
                    use[when] = address + rng.randrange(16)
                    if state and not state[1]:
                        after.add(when)
            log = events({"malloc": malloc, "free": free, "use": use})
            traces = [log.trace(name) for name in ("malloc", "free", "use")]
            self.assertEqual(set(bad_frees(*traces[:2]).times()), double, f"seed {seed}")
            self.assertEqual(set(uses_after_free(*traces).times()), after, f"seed {seed}")
            live = {state[0] for state in blocks.values() if state[1]}
            self.assertEqual({what.address for what in leaks(*traces[:2])}, live, f"seed {seed}")

    def test_a_double_free_says_what_it_was(self):
        log = events({"malloc": {1: (64, 10)}, "free": {2: 64, 3: 64, 4: 128}})
        found = [one.value for one in bad_frees(log.trace("malloc"), log.trace("free"))]
        self.assertEqual([(one.address, one.freed and one.freed.size) for one in found], [(64, 10), (128, None)])


class Stacks(unittest.TestCase):
    def test_a_smashed_stack_is_found_from_the_end(self):
        good = {10 * n: list(range(n)) for n in range(1, 50)}
        log = events({"stack": {**good, 500: [0, 1, 666, 3], 510: [0, 1]}}, lazily=True)
        corrupted = corrupted_addresses(log.trace("stack"))
        found = corrupted.get_before("inf")
        self.assertEqual((found.time, found.value), (500, 666))
        self.assertLess(len(log.searches()), 5)
        self.assertIsNone(corrupted.get_before(500))


class Timeline(unittest.TestCase):
    def test_chrome_format(self):
        log = events({"open": {10: "a", 20: ("b", 1)}, "count": {10: 1, 30: 2.5}})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lanes.json"
            timeline.write_chrome(path, {"open": log.trace("open"), "count": log.trace("count")})
            written = json.loads(path.read_text())["traceEvents"]
        self.assertEqual([e["name"] for e in written if e["ph"] == "i"], ["a", "('b', 1)"])
        self.assertEqual([(e["ts"], e["args"]["count"]) for e in written if e["ph"] == "C"], [(10, 1), (30, 2.5)])
        self.assertEqual([e["args"]["name"] for e in written if e["ph"] == "M"], ["open", "count"])


if __name__ == "__main__":
    unittest.main()
