"""Scripts over real recordings: the dissertation's examples, values against what the program printed, errors, Ctrl-C."""

import contextlib
import doctest
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

import parallax
from parallax import READ, WRITE, arg, edithamt, execution, memory, register, thread, var
from parallax.analyses import access_history, last_write, one_lock
from parallax.analyses.recordings import (
    accesses_of,
    allocations,
    count_calls,
    frees,
    stack_corruption,
    threads_at,
    wrong_frees,
)

# A shell that starts this in the background leaves Ctrl-C ignored, for us and for what we start.
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = pathlib.Path(__file__).resolve().parent
COMMAND = os.environ.get("PARALLAX", str(HERE.parent.parent / "target" / "debug" / "parallax"))


def compiled(folder, name, *flags):
    program = folder / name
    source = HERE / "programs" / f"{name}.c"
    compiler = "gcc"
    if not source.exists():
        source, compiler = source.with_suffix(".cc"), "g++"
    subprocess.run([compiler, "-g", "-w", *flags, "-o", program, source, "-lpthread"], check=True)
    return program


def recorded(folder, name, *flags, options=(), to=None):
    """Compile a program and record it; then the program goes."""
    program = compiled(folder, name, *flags)
    recording = folder / f"{to or name}.rec"
    subprocess.run([COMMAND, "record", *options, "-o", recording, "--", program], check=True, stdout=subprocess.DEVNULL)
    program.unlink()
    return recording


class Recordings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)


class Foo(Recordings):
    """Section 4.1.2, and what snapshots and values say."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = recorded(cls.folder, "foo", "-O0")
        cls.run_of = execution(cls.recording)

    def test_counting_foo(self):
        the_execution = self.run_of
        foo = the_execution.breakpoints("foo")
        self.assertEqual(len(foo), 30)
        foo_0 = foo.filter(lambda snap: snap.read_var("x") == 0)
        self.assertEqual(len(foo_0), 10)
        foo_1 = foo.filter(lambda snap: snap.read_var("x") == 1)
        foo_01 = foo_0.merge(None, foo_1)
        self.assertEqual(len(foo_01), 20)
        first_foo_01 = foo_01.get_after(0)
        self.assertEqual(first_foo_01, foo.first())
        self.assertEqual([int(snap.read_var("x")) for _, snap in foo], [i % 3 for i in range(30)])
        self.assertEqual(count_calls(the_execution, "foo"), 30)

    def test_predicates_agree_with_functions(self):
        foo = self.run_of.breakpoints("foo")
        cases = [
            (var("x") == 1, lambda snap: snap.read_var("x") == 1),
            ((var("x") > 0) & (var("counter") >= 10), lambda snap: snap.read_var("x") > 0 and snap.read_var("counter") >= 10),
            ((arg(0) == 0) | ~(var("counter % 2") == 1), lambda s: s.read_arg(0) == 0 or not s.read_var("counter % 2") == 1),
            (thread() != 0, lambda snap: snap.get_thread_id() != 0),
            # Terms reckon as Python does, on either side.
            ((var("x") - 2) % 3 == 1, lambda snap: (snap.read_var("x") - 2) % 3 == 1),
            ((var("x") - 5) // 2 == -2, lambda snap: (int(snap.read_var("x")) - 5) // 2 == -2),
            (7 - var("counter") > 3 * arg(0), lambda snap: 7 - snap.read_var("counter") > 3 * snap.read_arg(0)),
            (1 << var("x") == 4, lambda snap: 1 << int(snap.read_var("x")) == 4),
            (var("x") / 4 == 0.25, lambda snap: snap.read_var("x") / 4 == 0.25),
            (-var("x") < -1, lambda snap: -snap.read_var("x") < -1),
            (~var("x") & 3 == 1, lambda snap: ~int(snap.read_var("x")) & 3 == 1),
            (var("x") ^ 1, lambda snap: int(snap.read_var("x")) ^ 1),
            (var("x % 2 == 0"), lambda snap: snap.read_var("x % 2 == 0")),
            (register("rsp") % 16 == 0, lambda snap: snap.read_register("rsp") % 16 == 0),
            (register("zf") == 1, lambda snap: snap.read_register("zf") == 1),
            (register("rip") == register("pc"), lambda snap: True),
            (memory(var("&x"), 4, signed=True) == 1, lambda snap: snap.read_var("x") == 1),
            (memory(register("rbp") + 8, 8) > 0, lambda snap: snap.read_memory(snap.read_register("rbp") + 8, 8) > bytes(8)),
        ]
        for predicate, function in cases:
            wanted = list(foo.filter(function).times())
            self.assertEqual(list(foo.filter(predicate).times()), wanted, predicate)
            if not isinstance(predicate, parallax.term):
                self.assertEqual([item.time for item in foo if predicate(item.value)], wanted)
        means = self.run_of.breakpoints("mean")
        for predicate in (arg(2) == "mean", var("what") == "mean", var("sum") == 60, arg(0) / 2 == 30.0, var("list->next->value") == 10):
            self.assertEqual(len(means.filter(predicate)), 1)
        for predicate in (arg(2) == "median", var("sum") < 60, var("list->next->value * 2") != 20):
            self.assertEqual(len(means.filter(predicate)), 0)
        for predicate, error in (
            (var("x") % 0 == 1, ZeroDivisionError),
            (register("nonsense") == 1, KeyError),
            (memory(8, 8) == 1, parallax.MemoryUnreadable),
            (var("&x") + 1 == 2, TypeError),
        ):
            with self.assertRaises(error):
                len(foo.filter(predicate))
        with self.assertRaises(TypeError):
            var("x") + "text"
        with self.assertRaises(ValueError):
            memory(8, 3)
        self.assertEqual(repr((var("x") + 1) % 2), '((var("x") + 1) % 2)')
        with self.assertRaises(TypeError):
            bool(cases[0][0])
        with self.assertRaises(TypeError):
            len(foo.map(lambda snap: 1).filter(var("x") == 1))

    def test_values(self):
        mean = self.run_of.breakpoints("mean").last().value
        self.assertEqual((mean.read_var("sum"), mean.read_var("count"), mean.read_var("what")), (60.0, 30, "mean"))
        self.assertEqual((mean.read_arg(0), mean.read_arg(1), mean.read_arg(2).string()), (60.0, 30, "mean"))
        entry = self.run_of.breakpoints(int(mean.read_var("mean"))).first().value
        self.assertEqual((float(entry.read_arg(0)), int(entry.read_arg(1)), entry.read_arg(2)), (60.0, 30, "mean"))
        node = mean.read_var("list")
        self.assertEqual(node.type, "struct node *")
        self.assertEqual(node["value"], 20)
        self.assertEqual(node["next"].deref()["name"].string(), "n10")
        self.assertEqual(node["next"]["next"]["next"], 0)
        self.assertEqual(str(node["next"]["next"].deref()), '{value = 0, next = 0x0, name = "n0"}')
        self.assertEqual(mean.read_var("list->next->value") + 1, 11)
        self.assertEqual(int(node["value"].addrof()), int(node))
        self.assertEqual(node.deref().fields(), ["value", "next", "name"])
        self.assertEqual(len(node["name"]), 8)
        self.assertEqual(node["name"][1], ord("2"))
        self.assertEqual(mean.read_memory(int(node), 4), struct.pack("<i", 20))
        self.assertEqual([frame.function for frame in mean.backtrace()][:2], ["mean", "main"])
        self.assertIn("in main at foo.c:", str(mean.backtrace()))
        self.assertEqual(mean.backtrace()[1].read_var("total"), 60)
        self.assertEqual(set(mean.locals()), {"sum", "count", "what", "result"})
        self.assertEqual(mean.read_register("rip"), mean.pc)
        self.assertEqual((mean.function, mean.line[1]), ("mean", 23))

    def test_where_a_value_comes_from(self):
        mean = self.run_of.breakpoints("mean").last().value
        flow = mean.origin("count")
        self.assertEqual((flow[0].kind, flow.cut), ("asked", None))
        self.assertEqual(flow[0].made[0][1], struct.pack("<i", 30))
        # The caller counted: every step but the question is a write before it, and its sources come earlier.
        self.assertIn("main", {step.function for step in flow})
        for step in list(flow)[1:]:
            self.assertLess(step.time, mean.time)
            self.assertTrue(all(source.time <= step.time for source in step.sources))
        self.assertTrue(flow.ends() and all(step.is_end for step in flow.ends()))
        self.assertEqual([chain[-1] for chain in flow.chains()], [flow[0]] * len(flow.chains()))
        self.assertIn("count at ", str(flow))
        # By its place, by an l-value, and by the register that it was passed in, it is the same.
        count = mean.read_var("count")
        ends = lambda flow: [(step.time, step.text) for step in flow.ends()]
        self.assertEqual(ends(mean.origin(count)), ends(flow))
        self.assertEqual(ends(mean.origin((count.address, 4))), ends(flow))
        self.assertEqual(ends(flow[0].sources[0].snapshot.after().origin(count)), ends(flow))
        self.assertEqual(mean.origin_register("rip")[0].kind, "asked")
        self.assertEqual(mean.origin("count", most=1).cut is not None, True)
        # In the box: the last write is the first of the writers.
        writers = parallax.analyses.writers(mean, "count")
        last = last_write(self.run_of, count, mean.time)
        self.assertEqual((writers[0].time, writers[0].function), (last.time, "mean"))
        self.assertEqual([one.time for one in parallax.analyses.sources(mean, "count")], [step.time for step in flow.ends()])
        way = parallax.analyses.way(mean, "count")
        self.assertEqual((way[-1].function, way[-1].line[1]), ("mean", writers[0].line[1]))
        with self.assertRaises(KeyError):
            mean.origin_register("nonsense")
        with self.assertRaises(parallax.UnknownName):
            mean.origin("nonsense")
        with self.assertRaises(TypeError):
            mean.origin(1.5)

    def test_ends_of_functions(self):
        ends = self.run_of.breakpoints("foo", index=-1)
        self.assertEqual([snap.read_register("eax") for _, snap in ends], [2 * (i % 3) for i in range(30)])

    def test_watchpoints(self):
        writes = self.run_of.watchpoints("counter", rw=WRITE)
        self.assertEqual(len(writes), 30)
        self.assertEqual([int(snap.read_var("counter")) for _, snap in writes][-3:], [27, 28, 30])
        before = [int(snap.before().read_var("counter")) for _, snap in writes]
        self.assertEqual(before[-3:], [27, 27, 28])
        address = int(writes.last().value.read_var("&counter"))
        self.assertEqual(list(self.run_of.watchpoints((address, 4)).times()), list(writes.times()))
        self.assertEqual(len(self.run_of.watchpoints("counter", rw=READ)), 31)
        self.assertEqual(last_write(self.run_of, "counter").value.function, "foo")

    def test_lines_and_system_calls(self):
        self.assertEqual(len(self.run_of.breakpoints("foo.c:18")), 30)
        writes = self.run_of.syscalls("write")
        self.assertEqual([snap.read_memory(int(snap.read_register("rsi")), 6) for _, snap in writes], [b"mean 2"])
        self.assertEqual(writes.last().value.after().read_register("rax"), 7)
        self.assertGreater(len(self.run_of.syscalls()), 5)

    def test_heap(self):
        own = allocations(self.run_of).filter(lambda what: what[1] == 24)
        self.assertEqual(len(own), 3)
        self.assertEqual(list(frees(self.run_of))[-1].value, own.last().value[0])
        self.assertEqual(list(wrong_frees(self.run_of)), [])

    def test_errors_name_time_function_and_variable(self):
        snap = self.run_of.breakpoints("foo").first().value
        with self.assertRaises(parallax.UnknownName) as caught:
            snap.read_var("y")
        error = caught.exception
        self.assertEqual((error.name, error.function, error.time), ("y", "foo", snap.time))
        for words in ["y", "foo", str(snap.time)]:
            self.assertIn(words, str(error))
        with self.assertRaises(parallax.UnknownName):
            snap.read_var("list")["nothing"]
        with self.assertRaises(parallax.MemoryUnreadable):
            snap.read_memory(8, 4)
        with self.assertRaises(parallax.UnknownName):
            self.run_of.breakpoints("no_such_function")
        with self.assertRaises(parallax.UnknownName):
            self.run_of.syscalls("no_such_call")
        with self.assertRaises(ValueError):
            snap.read_var("x +")
        with self.assertRaises(ValueError):
            self.run_of.get_at(self.run_of.get_time() + 5)
        with self.assertRaises(parallax.RecordingError):
            execution(self.folder / "nothing.rec")
        # A function that raises leaves the trace usable.
        foo = self.run_of.breakpoints("foo")
        broken = foo.map(lambda snap: snap.read_var("nonsense"))
        with self.assertRaises(parallax.UnknownName):
            broken.first()
        self.assertEqual(len(broken), 30)

    def test_an_optimised_value_says_so(self):
        run_of = execution(recorded(self.folder, "foo", "-O2", "-fno-inline", to="optimised"))
        snap = run_of.breakpoints("mean").first().value
        self.assertEqual((snap.read_var("count"), snap.read_var("what").string()), (30, "mean"))
        main = snap.backtrace()[1]
        self.assertTrue(main.locals()["gone"].is_optimized_out)
        with self.assertRaises(parallax.OptimizedOut) as caught:
            main.read_var("gone")
        self.assertEqual((caught.exception.name, caught.exception.function), ("gone", "main"))


class Commands(Recordings):
    """`parallax script` and `parallax debug`."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = recorded(cls.folder, "foo", "-O0")

    def call(self, *arguments, **options):
        environment = {**os.environ, "PARALLAX_PYTHON": sys.executable, "XDG_STATE_HOME": str(self.folder / "state")}
        return subprocess.run(
            [COMMAND, *arguments], env=environment, capture_output=True, text=True, timeout=120, **options
        )

    def script(self, text, *arguments):
        path = self.folder / "script.py"
        path.write_text(text)
        return self.call("script", self.recording, path, *arguments)

    def test_scripts(self):
        ran = self.script("import sys\nfoo = the_execution.breakpoints('foo')\nprint(len(foo), sys.argv[1:])", "a", "-b")
        self.assertEqual((ran.returncode, ran.stdout), (0, "30 ['a', '-b']\n"), ran.stderr)
        self.assertEqual(self.script("import sys\nsys.exit(7)").returncode, 7)
        failed = self.script("the_execution.get_at(5).read_var('nonsense')")
        self.assertEqual(failed.returncode, 2)
        self.assertIn("UnknownName", failed.stderr)
        self.assertNotIn("session.py", failed.stderr)
        self.assertEqual(self.script("def").returncode, 2)
        self.assertEqual(self.call("script", self.folder / "no.rec", self.folder / "script.py").returncode, 2)

    def test_the_prompt(self):
        ran = self.call("debug", self.recording, input="len(the_execution.breakpoints('foo'))\nquit()\n")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("30", ran.stdout)

    def test_recording_first(self):
        program = compiled(self.folder, "foo", "-O0")
        recording = self.folder / "first.rec"
        text = "the_execution.cont() == the_execution.get_time()\n"
        ran = self.call("debug", recording, "--", program, input=text)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("True", ran.stdout)
        # What is there is not recorded over, nor taken for the new recording.
        again = self.call("debug", recording, "--", program, input=text)
        self.assertEqual((again.returncode, again.stdout), (2, ""))
        self.assertIn("already", again.stderr)

    def test_without_the_module_the_way_out_is_said(self):
        environment = {"PATH": os.environ["PATH"], "PARALLAX_PYTHON": "/bin/false"}
        ran = subprocess.run([COMMAND, "debug", self.recording], env=environment, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 3)
        self.assertIn("PARALLAX_PYTHON", ran.stderr)


class StackSmashing(Recordings):
    """Sections 4.1.3 and 4.1.4: the write that smashed the return address of a server's function."""

    @staticmethod
    def exploited(folder):
        program = compiled(folder, "httpd", "-O0", "-fno-stack-protector", "-no-pie", "-fcf-protection=none")
        symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        target = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" pwned"))
        recording = folder / "httpd.rec"
        server = subprocess.Popen([COMMAND, "record", "-o", recording, "--", program], stdout=subprocess.PIPE, text=True)
        try:
            port = int(server.stdout.readline().split()[-1])
            for _ in range(3):
                with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
                    client.sendall(b"GET /index.html HTTP/1.0\r\n\r\n")
                    assert b"This is /index.html" in client.makefile("rb").read()
            with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
                client.sendall(b"A" * 64 + struct.pack("<Q", target) * 8)
                printed = server.stdout.read()
            status = server.wait(timeout=60)
        except BaseException:
            # A server that waits for ever would keep our output open.
            server.kill()
            raise
        server.stdout.close()
        assert status == 0 and "Now I pwn your computer" in printed, (status, printed)
        return recording

    def test_the_write_is_found(self):
        the_execution = execution(self.exploited(self.folder))
        calls = the_execution.all_calls()
        rets = the_execution.all_returns()
        calls_rets = calls.merge(None, rets)
        shadow_stacks = calls_rets.map(lambda s: list(map(int, s.read_retaddrs())))

        def find_corrupted(ss, opt_shadow):
            if opt_shadow.force() is not None:
                for x, y in zip(ss.read_retaddrs(), opt_shadow.force()):
                    if int(x) != y:
                        return x  # l-value of return address on stack
            return None

        corrupted_addrs = calls_rets.trailing_merge(find_corrupted, shadow_stacks).filter(lambda x: x is not None)
        attacked = the_execution.breakpoints("pwned").first()
        last_corrupt = corrupted_addrs.get_before(attacked.time)
        self.assertIsNotNone(last_corrupt)
        bad_writes = the_execution.watchpoints(last_corrupt.value, rw=WRITE)
        last_bad_write = bad_writes.get_before(last_corrupt.time)
        stack = last_bad_write.value.before().backtrace()
        self.assertEqual([frame.function for frame in stack][:3], ["recv", "handle", "main"])
        frame = stack[1]
        line = (HERE / "programs" / "httpd.c").read_text().splitlines()[frame.line[1] - 1]
        self.assertIn("recv(client, request, 1024, 0)", line)
        # The same in the box.
        again = stack_corruption(the_execution).get_before(attacked.time)
        self.assertEqual((again.time, int(again.value)), (last_corrupt.time, int(last_corrupt.value)))


class Accesses(Recordings):
    """Section 4.3.2: the accesses of two variables by two threads."""

    def test_access_history(self):
        the_execution = execution(recorded(self.folder, "accesses", "-O0"))

        def access_events(v):
            reads = the_execution.watchpoints(v, rw=READ).map(
                lambda s: edithamt.addkeyvalue(None, v, ("read", s.get_thread_id()))
            )
            writes = the_execution.watchpoints(v, rw=WRITE).map(
                lambda s: edithamt.addkeyvalue(edithamt.remove(None, v), v, ("write", s.get_thread_id()))
            )
            return reads.merge(None, writes)

        history = access_events("var1").merge(access_events("var2")).scan(edithamt.concat)
        last = history.get_before("inf").value
        self.assertEqual(last.find("var1")[0], "read")
        found = list(last.find_multi("var1"))
        self.assertEqual([kind for kind, _ in found], ["read", "write"])
        self.assertNotEqual(found[0][1], found[1][1])
        boxed = access_history(accesses_of(the_execution, "var1", "var2")).last().value
        self.assertEqual([(one.kind, one.thread) for one in boxed.find_multi("var1")], found)


class Collector(Recordings):
    """Section 4.5 in small: a counter that the lock does not protect."""

    def test_one_lock_finds_the_race(self):
        the_execution = execution(recorded(self.folder, "collector", "-O0", options=["--seed", "2"]))
        acquired = threads_at(the_execution.breakpoints("gc_lock", index=-1))
        released = threads_at(the_execution.breakpoints("gc_unlock"))
        races = one_lock(accesses_of(the_execution, "chunks_waiting"), acquired, released)
        last = races.last()
        self.assertIsNotNone(last)
        self.assertEqual(last.value.later.variable, "chunks_waiting")
        functions = {one.where.function for item in races for one in (item.value.later, *item.value.earlier)}
        self.assertEqual(functions, {"collect", "expire"})
        # What the lock protects does not race.
        protected = one_lock(accesses_of(the_execution, "chunks_total"), acquired, released)
        self.assertEqual(len(protected), 0)


class Docs(Recordings):
    """What docs/expositor.md shows is what happens."""

    def test_the_page(self):
        recorded(self.folder, "foo", "-O0")
        recorded(self.folder, "accesses", "-O0")
        recorded(self.folder, "ordered", "-O0", options=["--seed", "2"])
        recorded(self.folder, "freed", "-O0")
        recorded(self.folder, "collector", "-O0", options=["--seed", "2"])
        StackSmashing.exploited(self.folder)
        page = HERE.parent.parent / "docs" / "expositor.md"
        before = os.getcwd()
        with contextlib.ExitStack() as stack:
            os.chdir(self.folder)
            stack.callback(os.chdir, before)
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=flags, verbose=False)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 30)


class Interruption(Recordings):
    def test_ctrl_c_stops_a_query_and_loses_nothing(self):
        the_execution = execution(recorded(self.folder, "collector", "-O0", options=["--seed", "2"]))
        returns = the_execution.all_returns()
        stacks = returns.map(lambda snap: len(snap.read_retaddrs()))
        done = []

        def slow(snap):
            done.append(snap)
            if len(done) == 20:
                signal.raise_signal(signal.SIGINT)
            return True

        with self.assertRaises(KeyboardInterrupt):
            len(returns.filter(slow))
        self.assertEqual(len(done), 20)
        self.assertIsNotNone(stacks.first())


if __name__ == "__main__":
    unittest.main()
