"""Analyses of real programs, tests in the search against functions, live programs, timelines."""

import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import time
import unittest

import parallax
from parallax import READ, WRITE, arg, execution, thread, var
from parallax.analyses import allocations, freed_uses, lost_blocks, races, stack_corruption, syncs, wrong_frees
from parallax.collect import collect, lane, lanes_of
from parallax.page import render
from parallax.timeline import chrome_of

# A shell that starts this in the background leaves Ctrl-C ignored, for us and for what we start.
signal.signal(signal.SIGINT, signal.default_int_handler)

from test_recordings import COMMAND, HERE, Recordings, compiled, recorded


class Ordering(Recordings):
    """Section 5.2: races by what orders threads."""

    def test_starting_joining_and_conditions_order_accesses(self):
        for seed in ("1", "5", "9"):
            run = execution(recorded(self.folder, "ordered", "-O0", options=["--seed", seed], to=f"ordered-{seed}"))
            kinds = {kind for _, (kind, _, _) in syncs(run)}
            self.assertLessEqual({"acquire", "release", "fork"}, kinds)
            self.assertEqual(list(races(run, "handed")), [])
            self.assertEqual(list(races(run, "guarded")), [])
            found = races(run, "racing")
            self.assertGreater(len(found), 0)
            self.assertEqual({one.where.function for item in found for one in (item.value.later, *item.value.earlier)}, {"main", "helper"})

    def test_the_collector(self):
        run = execution(recorded(self.folder, "collector", "-O0", options=["--seed", "2"]))
        self.assertGreater(len(races(run, "chunks_waiting")), 0)
        self.assertEqual(len(races(run, "chunks_total")), 0)


class Freed(Recordings):
    def test_uses_after_free_and_leaks(self):
        run = execution(recorded(self.folder, "freed", "-O0"))
        uses = list(freed_uses(run))
        lines = (HERE / "programs" / "freed.c").read_text().split("\n")
        found = {(use.value.where.function, use.value.where.before().line[1]) for use in uses}
        wrong = {("main", number) for number, line in enumerate(lines, 1) if "second->pad[5]" in line}
        self.assertEqual(found, wrong)
        self.assertEqual({use.value.freed.size for use in uses}, {56})
        self.assertEqual([lost.size for lost in lost_blocks(run) if lost.size in (56, 200)], [56, 200])
        self.assertEqual(list(wrong_frees(run)), [])


class Sound(Recordings):
    """Programs without a mistake, and what must not be said of them."""

    def test_allocators(self):
        run = execution(recorded(self.folder, "allocators", "-O0"))
        self.assertEqual(list(wrong_frees(run)), [])
        # What the C library itself keeps, such as the buffer of its output, is lost too.
        self.assertIn(120, [lost.size for lost in lost_blocks(run)])
        for size in (200, 192, 300, 5000, 7, 24, 100, 500, 77, 32, 400000):
            self.assertNotIn(size, [lost.size for lost in lost_blocks(run)])
        self.assertLessEqual({(120,), (200,), (300,), (500,)}, {(size,) for _, (_, size) in allocations(run)})

    def test_threads(self):
        for seed in ("1", "2", "7"):
            run = execution(recorded(self.folder, "sound", "-O0", options=["--seed", seed], to=f"sound-{seed}"))
            last = run.get_at("inf")
            both = last.read_var("counts.left"), last.read_var("counts.right")
            self.assertEqual(*both)
            self.assertEqual(list(races(run, *both)), [])
            self.assertEqual(list(races(run, "result")), [])
            self.assertEqual(list(races(run, "shared")), [])
            self.assertEqual(list(stack_corruption(run)), [])

    def test_exceptions(self):
        run = execution(recorded(self.folder, "throws", "-O0"))
        self.assertEqual(list(stack_corruption(run)), [])


class InTheSearch(Recordings):
    """Predicates that run where a search passes say what functions say, in any order of questions."""

    def test_walks_in_both_directions(self):
        run = execution(recorded(self.folder, "collector", "-O0", options=["--seed", "2"]))
        collect_calls, expires = run.breakpoints("collect"), run.breakpoints("expire")
        cases = [
            (collect_calls, var("chunks_waiting") > 3, lambda s: s.read_var("chunks_waiting") > 3),
            (expires, (arg(0) == 1) & (var("chunks_total % 2") == 0), lambda s: s.read_var("chunks_total % 2") == 0),
            (run.watchpoints("chunks_waiting", rw=READ | WRITE), thread() != 0, lambda s: True),
            (run.watchpoints("chunks_total"), var("chunks_total") > 20, lambda s: s.read_var("chunks_total") > 20),
        ]
        for source, predicate, function in cases:
            wanted = [item.time for item in source if function(item.value)]
            self.assertGreater(len(wanted), 1)
            tested = source.filter(predicate)
            self.assertEqual(tested.kind, source.kind)
            self.assertEqual(tested.get_before("inf").time, wanted[-1])
            self.assertEqual(tested.get_after(0).time, wanted[0])
            self.assertEqual([item.time for item in reversed(tested)], wanted[::-1])
            self.assertEqual(list(source.filter(predicate).times()), wanted)
            # One predicate after the other is both.
            twice = source.filter(predicate).filter(thread() != 0)
            self.assertEqual(list(twice.times()), wanted)
            # Items found in the search show what others show.
            self.assertEqual([s.get_thread_id() for _, s in tested], [source.get_at(t).value.get_thread_id() for t in wanted])

    def test_an_error_names_its_place_and_leaves_the_trace_usable(self):
        run = execution(recorded(self.folder, "foo", "-O0"))
        unknown = run.breakpoints("foo").filter(var("nonsense") == 1)
        for _ in range(2):
            with self.assertRaises(parallax.UnknownName) as caught:
                len(unknown)
            self.assertEqual((caught.exception.name, caught.exception.function), ("nonsense", "foo"))
            self.assertEqual(caught.exception.time, run.breakpoints("foo").first().time)
        self.assertEqual(len(run.breakpoints("foo").filter(var("x") == 1)), 10)

    def test_arguments_by_name(self):
        run = execution(recorded(self.folder, "foo", "-O0", to="named"))
        foo = run.breakpoints("foo")
        self.assertEqual([int(s.read_arg("x")) for _, s in foo], [int(s.read_arg(0)) for _, s in foo])

    def test_who_runs_when(self):
        run = execution(recorded(self.folder, "collector", "-O0", options=["--seed", "2"], to="turns"))
        turns = run.turns()
        self.assertEqual(turns[0][0], 1)
        self.assertEqual([t for t, _ in turns], sorted({t for t, _ in turns}))
        self.assertGreater(len(turns), 2)
        self.assertEqual(len({who for _, who in turns}), 2)
        for time, snap in run.breakpoints("expire"):
            at = max(index for index, (start, _) in enumerate(turns) if start <= time)
            self.assertEqual(turns[at][1], snap.get_thread_id())


RACES = '''waiting = the_execution.watchpoints("chunks_waiting", rw=READ | WRITE)
collections = the_execution.breakpoints("collect")
acquired = analyses.threads_at(the_execution.breakpoints("gc_lock", index=-1))
released = analyses.threads_at(the_execution.breakpoints("gc_unlock"))
unprotected = analyses.one_lock(analyses.accesses_of(the_execution, "chunks_waiting"), acquired, released)
'''


class Timeline(Recordings):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = recorded(cls.folder, "collector", "-O0", options=["--seed", "2"])

    def test_the_command_writes_a_page(self):
        script = self.folder / "races.py"
        script.write_text(RACES)
        page, chrome = self.folder / "page.html", self.folder / "chrome.json"
        environment = {**os.environ, "PARALLAX_PYTHON": sys.executable}
        command = [COMMAND, "timeline", self.recording, "--script", script, "-o", page, "--chrome", chrome, "--json"]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        data = json.loads(ran.stdout)
        self.assertEqual([row["name"] for row in data["lanes"]], ["chunks_waiting", "collections", "acquired", "released", "unprotected"])
        self.assertEqual([row["line"] for row in data["lanes"]], [1, 2, 3, 4, 5])
        run = execution(self.recording)
        waiting = run.watchpoints("chunks_waiting", rw=READ | WRITE)
        lane_of = {row["name"]: row for row in data["lanes"]}
        own, at = [], 0
        for by in lane_of["chunks_waiting"]["times"]:
            at += by
            own.append(at)
        self.assertEqual(own, list(waiting.times()))
        self.assertEqual(lane_of["chunks_waiting"]["numbers"], [int(s.read_var("chunks_waiting")) for _, s in waiting])
        self.assertEqual(sum(lane_of["chunks_waiting"]["writes"]), len(run.watchpoints("chunks_waiting")))
        self.assertTrue(lane_of["unprotected"]["finding"])
        self.assertEqual(len(data["threads"]), 2)
        self.assertEqual({one["name"] for one in data["threads"]}, {"main", "helper"})
        self.assertEqual(sum(sum(one["turns"][1::2]) for one in data["threads"]), data["end"] - 1)
        names = data["calls"]["names"]
        self.assertLessEqual({"collect", "expire"}, set(names))
        calls = sum(flat[3::4].count(names.index("expire")) for flat in data["calls"]["byThread"])
        self.assertEqual(calls, len(run.breakpoints("expire")))
        moments = {moment["t"]: moment for moment in data["moments"]}
        self.assertLessEqual(set(own), set(moments))
        text = page.read_text()
        self.assertIn("Content-Security-Policy", text)
        events = json.loads(chrome.read_text())["traceEvents"]
        self.assertEqual(sum(one["ph"] == "X" and one["name"] == "expire" for one in events), calls)
        self.assertEqual(sum(one["ph"] == "C" for one in events if one["name"] == "chunks_waiting"), len(own))

    def test_wrong_use(self):
        environment = {**os.environ, "PARALLAX_PYTHON": sys.executable}
        script = self.folder / "wrong.py"
        for text in ("def", "x = the_execution.breakpoints('no such')", "x = the_execution.breakpoints('collect').map(lambda s: 1 / 0)"):
            script.write_text(text)
            command = [COMMAND, "timeline", self.recording, "--script", script, "-o", self.folder / "wrong.html"]
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
            self.assertEqual(ran.returncode, 2, ran.stderr)
            self.assertNotEqual(ran.stderr, "")
            self.assertFalse((self.folder / "wrong.html").exists())

    def test_hostile_names_stay_text(self):
        run = execution(self.recording)
        evil = "</script><script>alert(1)</script>\u202e"
        lanes = [lane(evil, run.breakpoints("collect").map(lambda s: evil), 1)]
        data = collect(run, lanes, recording=evil, script=(evil, evil), moments=5)
        page = render(evil, data)
        self.assertNotIn("</script><script>alert", page)
        self.assertNotIn("\u202e", page)
        self.assertEqual(page.count("<script"), 2)
        chrome_of(data)

    def test_bounds_are_said(self):
        run = execution(self.recording)
        returns = run.all_returns()
        data = collect(run, [lane("returns", returns)], recording="r", moments=10)
        self.assertLessEqual(len(data["moments"]), 11)
        self.assertIn(f"{len(data['moments'])} of {len(returns)} moments kept", data["notes"][0])
        self.assertEqual(sum(data["lanes"][0]["times"]), returns.last().time)

    def test_lanes_are_the_traces_that_have_names(self):
        foo = parallax.events({"a": [1]}).trace("a")
        names = {"old": foo, "second": foo, "first": foo, "_own": foo, "number": 3}
        found = lanes_of(names, ["old"], "first = 1\n\nsecond = first\n_own = first\n")
        self.assertEqual([(one.name, one.line) for one in found], [("first", 1), ("second", 3)])


class Live(Recordings):
    """Section 4.1.4: a program that runs while it is looked at, at a terminal."""

    def read_until(self, terminal, wanted, seconds=60):
        seen, end = "", time.monotonic() + seconds
        while not re.search(wanted, seen):
            self.assertGreater(end, time.monotonic(), f"waited for {wanted!r} in ...{seen[-400:]!r}")
            if select.select([terminal], [], [], 0.2)[0]:
                seen += os.read(terminal, 65536).decode(errors="replace")
        return seen

    def end_of(self, child, seconds=60):
        end = time.monotonic() + seconds
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return status
            self.assertGreater(end, time.monotonic(), "the prompt does not end")
            time.sleep(0.05)

    def test_ctrl_c_stops_and_cont_goes_on(self):
        program = compiled(self.folder, "ticking", "-O0")
        environment = {**os.environ, "PARALLAX_PYTHON": sys.executable, "XDG_STATE_HOME": str(self.folder), "TERM": "dumb"}
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe(COMMAND, [COMMAND, "debug", "live.rec", "--", str(program)], environment)
        try:
            self.read_until(terminal, r"\(parallax\) ")
            os.write(terminal, b"the_execution.get_time()\n")
            self.read_until(terminal, r"\n1\r")
            os.write(terminal, b"the_execution.cont()\n")
            self.read_until(terminal, r"tick 2\b")
            os.write(terminal, b"\x03")
            first = self.read_until(terminal, r"\n(\d+)\r\n\(parallax\) ")
            stopped = int(re.search(r"\n(\d+)\r\n\(parallax\) ", first).group(1))
            os.write(terminal, b"len(the_execution.breakpoints('tick')), the_execution.is_running()\n")
            counted = self.read_until(terminal, r"\((\d+), True\)")
            count = int(re.search(r"\((\d+), True\)", counted).group(1))
            self.assertGreaterEqual(count, 2)
            # It stands still.
            os.write(terminal, b"import time; time.sleep(0.5); len(the_execution.breakpoints('tick'))\n")
            self.read_until(terminal, rf"(\n|\x1b\[K){count}\r")
            os.write(terminal, b"the_execution.cont()\n")
            self.read_until(terminal, rf"tick {count + 1}\b")
            os.write(terminal, b"\x03")
            later = self.read_until(terminal, r"\n(\d+)\r\n\(parallax\) ")
            self.assertGreater(int(re.search(r"\n(\d+)\r\n\(parallax\) ", later).group(1)), stopped)
            os.write(terminal, b"the_execution.breakpoints('tick').last().value.read_var('number') > 2\n")
            # The end of input counts only at a prompt: before it, the terminal would swallow it.
            self.read_until(terminal, r"True\r\n\(parallax\) ")
            os.write(terminal, b"\x04")
            status = self.end_of(child)
            child = 0
            self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        finally:
            if child:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
            os.close(terminal)
        # What was recorded stays.
        self.assertGreater(len(execution(self.folder / "live.rec").breakpoints("tick")), 2)


class FromPlainPython(unittest.TestCase):
    def test_help_reads_well(self):
        ran = subprocess.run([sys.executable, "-c", "import parallax; help(parallax.trace)"], capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for wanted in ("A lazy list over an execution", "Return the first item later than time t", "scan(self, /, f, acc=None)"):
            self.assertIn(wanted, ran.stdout)


if __name__ == "__main__":
    unittest.main()
