"""EditHAMTs from Python: keys as a dict has them, histories against a list of bindings, laziness in traces."""

import random
import unittest

from parallax import edithamt, events


class Keys(unittest.TestCase):
    def test_keys_are_a_dicts(self):
        # -1 and -2 have one hash; 1, 1.0 and True are one key.
        self.assertEqual(hash(-1), hash(-2))
        both = edithamt.addkeyvalue(edithamt.addkeyvalue(None, -1, "a"), -2, "b")
        self.assertEqual((both.find(-1), both.find(-2)), ("a", "b"))
        self.assertEqual(edithamt.remove(both, -1).find(-2), "b")
        one = edithamt.addkeyvalue(None, 1, "x")
        self.assertEqual([one.find(1.0), one.find(True)], ["x", "x"])
        nan = float("nan")
        self.assertTrue(edithamt.add(None, nan).contains(nan))

    def test_unhashable_keys_fail_at_once(self):
        for build in (edithamt.add, edithamt.remove, edithamt.removeone):
            with self.assertRaises(TypeError):
                build(None, [])
        with self.assertRaises(TypeError):
            edithamt.empty().find([])

    def test_what_versions_are_made_of(self):
        self.assertIsNone(edithamt.empty().find(1))
        self.assertEqual(edithamt.empty().find(1, "default"), "default")
        self.assertIn(1, edithamt.add(None, 1))
        for wrong in (3, {}, "x"):
            with self.assertRaises(TypeError):
                edithamt.add(wrong, 1)
        # A lazy that yields something else is found out when it is looked into.
        foo = events({"foo": [10, 20]}).trace("foo")
        wrong = foo.scan(lambda acc, v: 3 if v == 10 else edithamt.add(acc, v))
        self.assertTrue(wrong.last().value.contains(20))
        with self.assertRaises(TypeError):
            wrong.last().value.contains(10)

    def test_an_equality_that_fails(self):
        class Odd:
            def __hash__(self):
                return 7

            def __eq__(self, other):
                raise ZeroDivisionError

        one = edithamt.add(None, Odd())
        with self.assertRaises(ZeroDivisionError):
            one.contains(Odd())
        self.assertFalse(one.contains(8))

    def test_the_book_example(self):
        """Section 4.3.1: a removal concatenated to an addition leaves nothing."""
        rem = edithamt.remove(None, "x")
        add = edithamt.addkeyvalue(None, "x", 42)
        self.assertFalse(edithamt.concat(add, rem).contains("x"))
        self.assertEqual(edithamt.concat(rem, add).find("x"), 42)


class Histories(unittest.TestCase):
    def test_random_histories(self):
        keys = [-1, -2, 1, 1.0, True, "a", (1, 2), None]
        for seed in range(300):
            rng = random.Random(seed)
            few = keys if seed % 3 else keys[:1]
            versions, states = [edithamt.empty()], [[]]
            for _ in range(25):
                at = rng.randrange(len(versions))
                k, v = rng.choice(few), rng.randrange(3)
                eh, state = versions[at], list(states[at])
                kind = rng.randrange(6)
                newest = [i for i in range(len(state)) if state[i][0] == k]
                if kind == 0:
                    eh, state = edithamt.add(eh, k), state + [(k, k)]
                elif kind == 1:
                    eh, state = edithamt.addkeyvalue(eh, k, v), state + [(k, v)]
                elif kind == 2:
                    eh, state = edithamt.remove(eh, k), [b for b in state if b[0] != k]
                elif kind == 3:
                    eh = edithamt.removeone(eh, k)
                    if newest:
                        del state[newest[-1]]
                else:
                    eh = edithamt.removekeyvalue(eh, k, v)
                    same = [i for i in newest if state[i][1] == v]
                    if same:
                        del state[same[-1]]
                versions.append(eh)
                states.append(state)
            for _ in range(20):
                at = rng.randrange(len(versions))
                k = rng.choice(few)
                expected = [v for key, v in reversed(states[at]) if key == k]
                self.assertEqual(list(versions[at].find_multi(k)), expected)
                self.assertEqual(versions[at].contains(k), bool(expected))
            self.assertEqual(set(versions[-1].keys()), {k for k, _ in states[-1]})

    def test_long_histories(self):
        eh = None
        for k in range(50_000):
            eh = edithamt.add(eh, k)
        self.assertTrue(eh.contains(0))
        self.assertFalse(eh.contains(-1))
        del eh


class InTraces(unittest.TestCase):
    def test_access_history(self):
        """Section 4.3.2: var1 written at 10 and 20, var2 read at 30, var1 read at 40."""
        log = events(
            {"access": {10: ("write", 1, "var1"), 20: ("write", 1, "var1"), 30: ("read", 2, "var2"), 40: ("read", 2, "var1")}},
            end=101,
            lazily=True,
        )

        def edit(access):
            kind, thread, variable = access
            before = edithamt.remove(None, variable) if kind == "write" else None
            return edithamt.addkeyvalue(before, variable, (kind, thread))

        history = log.trace("access").map(edit).scan(edithamt.concat)
        last = history.get_before("inf").value
        self.assertEqual(len(log.searches()), 1)
        self.assertEqual(last.find("var1"), ("read", 2))
        self.assertEqual(log.searches(), [])
        accesses = last.find_multi("var1")
        self.assertEqual(next(accesses), ("read", 2))
        self.assertEqual(log.searches(), [])
        self.assertEqual(next(accesses), ("write", 1))
        self.assertEqual(log.searches(), ["access<[1,40)", "access<[1,30)"])
        self.assertEqual(list(accesses), [])
        self.assertEqual(log.searches(), [])
        self.assertFalse(last.contains("var3"))
        self.assertEqual(len(log.searches()), 2)

    def test_scan_and_tscan_agree(self):
        rng = random.Random(5)
        log = events({"x": {t: (rng.randrange(4), rng.randrange(9)) for t in range(1, 60)}})
        edits = log.trace("x").map(lambda kv: edithamt.addkeyvalue(None, *kv))
        one, other = edits.scan(edithamt.concat), edits.tscan(edithamt.concat)
        for at in rng.sample(range(1, 60), 20):
            for k in range(4):
                self.assertEqual(
                    list(one.get_at(at).value.find_multi(k)), list(other.get_at(at).value.find_multi(k))
                )


if __name__ == "__main__":
    unittest.main()
