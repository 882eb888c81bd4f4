"""Traces from Python: the same laziness as in Rust, with Python's functions, times and exceptions."""

import _thread
import gc
import pydoc
import signal
import threading
import time
import unittest
import weakref

import parallax
from parallax import CoincidenceError, SelfDependence, TraceError, edithamt, events, item

# A shell that starts this in the background leaves Ctrl-C ignored, for us and for what we start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def world(**more):
    lists = {"foo": [10, 20, 30, 40, 50], "bar": [15, 25, 30, 45]}
    return events({**lists, **more}, end=101, lazily=True)


class Queries(unittest.TestCase):
    def setUp(self):
        self.world = world()
        self.foo, self.bar = self.world.trace("foo"), self.world.trace("bar")

    def searches(self, *expected):
        self.assertEqual(self.world.searches(), list(expected))

    def test_building_asks_nothing(self):
        fail = lambda *arguments: self.fail("called")
        foo, bar = self.foo, self.bar
        foo.filter(fail).map(fail).slice(1, 5).merge(fail, bar).trailing_merge(fail, foo)
        foo.scan(fail).rev_scan(fail, 3).tscan(fail).rev_tscan(fail).rev_trailing_merge(fail, bar)
        repr(foo)
        self.searches()

    def test_queries(self):
        self.assertEqual(self.foo.get_before(100), self.foo.get_before(60))
        self.searches("foo<[1,100)")
        self.assertIsNone(self.foo.get_after(50))
        self.searches("foo>[100,101)")
        self.assertEqual(self.foo.get_at(20).value, 20)
        self.assertIsNone(self.foo.get_at(21))
        self.assertEqual(len(self.foo), 5)
        self.assertEqual(list(self.foo.times()), [10, 20, 30, 40, 50])
        self.assertEqual([time for time, _ in reversed(self.foo)], [50, 40, 30, 20, 10])
        self.assertEqual(self.foo.first().time, 10)
        self.assertEqual(self.foo.last().time, 50)

    def test_bool_is_one_search(self):
        self.assertTrue(self.foo)
        self.searches("foo>[1,101)")
        self.assertFalse(self.foo.slice(51, 90))

    def test_times(self):
        for never in (0, 1, -5, -(10**30), float("-inf")):
            self.assertIsNone(self.foo.get_before(never))
        for last in ("inf", float("inf"), 10**30, 1000):
            self.assertEqual(self.foo.get_before(last).time, 50)
            self.assertIsNone(self.foo.get_after(last))
        for wrong in (1.5, 2.0, "soon", None, [], float("nan")):
            with self.assertRaises(TypeError):
                self.foo.get_at(wrong)

    def test_items(self):
        one = self.foo.first()
        when, what = one
        self.assertEqual((when, what), (10, 10))
        self.assertEqual(one, self.foo.get_at(10))
        self.assertNotEqual(one, self.foo.get_at(20))
        self.assertNotEqual(one, (10, 10))
        self.assertEqual(hash(one), hash(self.foo.get_at(10)))
        self.assertEqual(repr(one), "item(10, 10)")
        self.assertEqual((one[0], one[-1], len(one)), (10, 10, 2))
        with self.assertRaises(IndexError):
            one[2]
        with self.assertRaises(AttributeError):
            one.time = 3


class Combinators(unittest.TestCase):
    def setUp(self):
        self.world = world()
        self.foo, self.bar = self.world.trace("foo"), self.world.trace("bar")

    def test_filter_runs_once(self):
        calls = []
        even = self.foo.filter(lambda t: calls.append(t) or t % 20 == 0)
        self.assertEqual(even.get_before("inf").time, 40)
        self.assertEqual(even.get_before(40).time, 20)
        self.assertEqual(len(even), 2)
        self.assertEqual(sorted(calls), [10, 20, 30, 40, 50])

    def test_none_is_a_value(self):
        self.assertEqual(list(self.foo.map(lambda t: None))[0], self.foo.map(lambda t: None).get_at(10))
        self.assertEqual(self.foo.map(lambda t: None).get_at(10).value, None)

    def test_merge(self):
        both = self.foo.merge(lambda a, b: (a, b), self.bar)
        self.assertEqual(both.get_at(30).value, (30, 30))
        self.assertEqual(len(both), 8)
        alone = self.foo.merge(self.bar)
        self.assertEqual(alone.get_before(30).time, 25)
        with self.assertRaises(CoincidenceError) as caught:
            alone.get_at(30)
        self.assertEqual(caught.exception.time, 30)
        self.assertIsInstance(caught.exception, TraceError)
        with self.assertRaises(CoincidenceError):
            len(self.foo.merge(None, self.bar))
        self.assertEqual(len(self.foo.slice(0, 30).merge(None, self.bar)), 6)

    def test_trailing(self):
        pairs = self.foo.trailing_merge(lambda v, bar: (v, bar.force()), self.bar)
        self.assertEqual([p.value for p in pairs], [(10, None), (20, 15), (30, 25), (40, 30), (50, 45)])
        later = self.foo.rev_trailing_merge(lambda v, bar: (v, bar.item()), self.bar)
        self.assertEqual(later.get_at(30).value, (30, self.bar.get_at(45)))
        self.assertEqual(later.get_at(50).value, (50, None))

    def test_scan(self):
        counts = self.foo.scan(lambda acc, v: acc.force() + 1, 0)
        self.assertEqual([c.value for c in counts], [1, 2, 3, 4, 5])
        counts = self.foo.rev_scan(lambda acc, v: (acc.force() or 0) + 1)
        self.assertEqual([c.value for c in counts], [5, 4, 3, 2, 1])

    def test_tscan(self):
        def append(left, right):
            return (left.force() or ()) + right.force()

        def prepend(left, right):
            return left.force() + (right.force() or ())

        ones = self.foo.map(lambda v: (v,))
        self.assertEqual(ones.tscan(append).get_at(40).value, (10, 20, 30, 40))
        self.assertEqual(ones.rev_tscan(prepend).get_at(40).value, (40, 50))

    def test_has_true(self):
        """Section 4.2.2: what is known already is looked at first."""

        def has_true(left, right):
            return (
                left.is_forced()
                and left.force()
                or right.is_forced()
                and right.force()
                or left.force()
                or right.force()
            )

        found = self.foo.map(lambda v: v == 50).tscan(has_true)
        self.assertTrue(found.get_before("inf").value)

    def test_a_lazy_outlives_its_call(self):
        kept = []
        self.foo.scan(lambda acc, v: kept.append(acc) or v).get_at(30)
        self.assertFalse(kept[0].is_forced())
        self.assertEqual(kept[0].force(), 20)
        self.assertEqual(kept[0].item(), item_of(self.foo, 20))

    def test_wrong_arguments(self):
        for wrong in (
            lambda: self.foo.map(3),
            lambda: self.foo.filter(None),
            lambda: self.foo.merge(lambda a, b: a, 3),
            lambda: self.foo.merge(3),
            lambda: self.foo.scan("f"),
            lambda: events(3),
            lambda: events({"a": ["x"]}),
        ):
            with self.assertRaises(TypeError):
                wrong()
        with self.assertRaises(ValueError):
            events({"a": [0]})
        with self.assertRaises(ValueError):
            events({"a": [10]}, end=5)
        with self.assertRaises(KeyError):
            self.world.trace("nothing")


def item_of(trace, at):
    return trace.get_at(at)


class Failures(unittest.TestCase):
    def test_exceptions_pass_unchanged_and_are_not_remembered(self):
        foo = world().trace("foo")
        broken = [True]

        class Own(Exception):
            pass

        def f(v):
            if v == 30 and broken:
                raise Own(v)
            return -v

        negated = foo.map(f)
        self.assertEqual(negated.get_at(20).value, -20)
        with self.assertRaises(Own) as caught:
            negated.get_at(30)
        self.assertEqual(caught.exception.args, (30,))
        self.assertEqual(len(negated), 5)
        broken.clear()
        self.assertEqual(negated.get_at(30).value, -30)

    def test_deep_scans(self):
        n = 5000
        many = events({"x": range(1, n + 1)}).trace("x")
        self.assertEqual(many.scan(lambda acc, v: acc.force() + v, 0).last().value, n * (n + 1) // 2)

        def handled(acc, v):
            if v == n // 2:
                raise ValueError
            try:
                return acc.force() + 1
            except ValueError:
                return 0

        self.assertEqual(many.scan(handled, 0).last().value, n - n // 2 - 1)

        def swallowing(acc, v):
            try:
                return acc.force() + 1
            except:
                return 0

        counts = many.scan(swallowing, 0)
        with self.assertRaises(RuntimeError):
            counts.last()
        self.assertEqual(counts.get_at(5).value, 5)

    def test_a_value_that_needs_itself(self):
        foo = world().trace("foo")
        knot = []
        knot.append(foo.map(lambda v: knot[0].get_at(v).value))
        with self.assertRaises(SelfDependence) as caught:
            knot[0].get_at(20)
        self.assertEqual(caught.exception.time, 20)

    def test_too_many_combinators(self):
        tower = world().trace("foo")
        for _ in range(3000):
            tower = tower.slice(1, 90)
        with self.assertRaises(RecursionError):
            tower.last()

    def test_keyboard_interrupt_loses_nothing(self):
        many = events({"x": range(1, 2001)}).trace("x")
        seen = []

        def slow(v):
            seen.append(v)
            if v == 500 and len(seen) == 500:
                _thread.interrupt_main()
                time.sleep(0.01)
            return v

        mapped = many.map(slow)
        with self.assertRaises(KeyboardInterrupt):
            for _ in mapped:
                pass
        before = len(seen)
        self.assertLess(before, 520)
        self.assertEqual(sum(1 for _ in mapped), 2000)
        self.assertLessEqual(len(seen), 2001)


class Concurrency(unittest.TestCase):
    def test_threads_share_values(self):
        many = events({"x": range(1, 301)}).trace("x")
        calls = []
        sums = many.map(lambda v: calls.append(v) or v).scan(lambda acc, v: acc.force() + v, 0)
        results = []
        threads = [threading.Thread(target=lambda: results.append(sums.last().value)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [300 * 301 // 2] * 4)
        self.assertEqual(len(calls), 300)

    def test_dropping_a_trace_frees_it(self):
        class Value:
            def __init__(self, before):
                self.before = before

        many = events({"x": range(1, 1001)}).trace("x")
        chain = many.scan(lambda acc, v: Value(acc))
        alive = [weakref.ref(each.value) for each in chain]
        self.assertEqual(len(alive), 1000)
        del chain
        gc.collect()
        self.assertLess(sum(1 for ref in alive if ref() is not None), 2)


class Help(unittest.TestCase):
    def test_help_reads_well(self):
        text = pydoc.plain(pydoc.render_doc(parallax.trace))
        for name in ("get_before", "trailing_merge", "rev_tscan", "Return the last item earlier than time t"):
            self.assertIn(name, text)
        for name in parallax.__all__:
            self.assertTrue(getattr(parallax, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
