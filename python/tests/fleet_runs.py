"""Fleets on this machine: what is killed, damaged, refused, full or cut off changes no result.

scripts/test-python runs this with the interpreter that has distributed and pyarrow. Processes are killed when a number of
units is done, not after a time, so nothing here depends on how fast the machine is. Not made here: machines that hang
without closing their connections, file systems that reorder writes, clusters of several machines.
"""

import contextlib
import errno
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import duckdb
import pandas
import pyarrow.parquet

from parallax import fleet
from parallax.fleet import package, page, plan, store, versions
from parallax.fleet.kinds import KINDS
from parallax.fleet.local import Local

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
COMMAND = os.environ["PARALLAX"]
WARDEN = pathlib.Path(fleet.__file__).parent / "warden.py"


def shell(name, text, limits=fleet.Limits(), **inputs):
    return fleet.Unit("command", name, {"argv": ["sh", "-c", text]}, inputs, limits)


def counting(number):
    """Units whose answers differ, and of which each takes a moment."""
    return [shell(f"unit {at:02}", f"sleep 0.02; echo {at}; exit $(( {at} % 5 ))") for at in range(number)]


def expected(number):
    verdicts = ["clean", "findings", "bad input", "unsupported", "gave up"]
    return [(f"unit {at:02}", verdicts[at % 5], str(at)) for at in range(number)]


def answered(results):
    return [(row.name, row.verdict, row.summary) for row in results]


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


class Keys(unittest.TestCase):
    def test_everything_that_decides_an_answer_decides_the_key(self):
        plain = dict(kind="check", name="a", arguments={"files": ["x"]}, inputs={"x": "0" * 64}, limits=fleet.Limits())
        version = {"parallax": "1", "command": "2"}
        key = fleet.Unit(**plain).key(version)
        self.assertEqual(fleet.Unit(**{**plain, "name": "b"}).key(version), key, "the name is for people")
        others = [
            ({"kind": "explore"}, version),
            ({"arguments": {"files": ["y"]}}, version),
            ({"arguments": {"files": ["x"], "options": []}}, version),
            ({"inputs": {"x": "1" * 64}}, version),
            ({"inputs": {"y": "0" * 64}}, version),
            ({"limits": fleet.Limits(seconds=601)}, version),
            ({"limits": fleet.Limits(megabytes=4097)}, version),
            ({"limits": fleet.Limits(file_megabytes=1025)}, version),
            ({}, {**version, "command": "3"}),
            ({}, {"parallax": "1"}),
        ]
        keys = [fleet.Unit(**{**plain, **more}).key(other) for more, other in others]
        self.assertEqual(len({key, *keys}), len(others) + 1)

    def test_inputs_stay_in_the_folder(self):
        for path in ["../x", "/etc/x", "a/../../x", ""]:
            with self.assertRaises(ValueError):
                fleet.Unit("command", "a", {}, {path: "0" * 64})

    def test_every_kind_names_versions_that_there_are(self):
        here = versions.here()
        for name, kind in KINDS.items():
            self.assertTrue(versions.of(here, kind.depends), name)

    def test_tar_files_of_equal_folders_are_equal(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            for folder, names in ((one, "ab"), (other, "ba")):
                for name in names:
                    pathlib.Path(folder, name).write_text(name)
            os.utime(pathlib.Path(other, "a"), (0, 0))
            self.assertEqual(plan.tar_of(one), plan.tar_of(other))

    def test_short_names_are_unique(self):
        self.assertEqual(plan.unique(["a/x.c", "b/x.c", "y.c", "y.c"])[:3], ["a/x.c", "b/x.c", "y.c (2)"])
        self.assertEqual(len(set(plan.unique(["a/x.c", "b/x.c", "y.c", "y.c"]))), 4)


class Plans(unittest.TestCase):
    def test_flags_that_run_something_are_not_taken(self):
        words = "cc -Iinclude -I sub -DX=1 -fplugin=evil.so -Xclang -load -Xclang evil.so -std=c99 -wrapper x -o out -c a.c @more -include b.h".split()
        self.assertEqual(plan.meaning(words), "-Iinclude -I sub -DX=1 -std=c99 -include b.h".split())

    def test_files_with_a_main(self):
        for text in ["int main(void) { }", "main(argc, argv)\nint argc; char *argv[];\n{ }", "int\nmain (int c, char **v)\n{"]:
            self.assertTrue(package.MAIN.search(text.encode()), text)
        for text in ["int main(void);\nint f(void) { }", "int domain(void) { }", "/* main */ int f(void) { main(); }"]:
            self.assertFalse(package.MAIN.search(text.encode()), text)

    def test_runs_agree_from_the_start(self):
        self.assertEqual([plan.agreement(one, other) for one, other in [("abc", "abd"), ("abc", "ab"), ("", "a"), ("x", "y")]], [2, 2, 0, 0])


class Stores(Folder):
    def kept(self):
        kept = fleet.Store(self.folder / "store")
        blob = kept.put(b"content")
        kept.keep("a" * 64, {"verdict": "clean", "files": {"out": blob}})
        return kept, blob

    def test_what_was_put_is_there(self):
        kept, blob = self.kept()
        again = fleet.Store(self.folder / "store")
        self.assertEqual(again.identity, kept.identity)
        self.assertEqual(again.get(blob), b"content")
        self.assertEqual(again.answer("a" * 64)["verdict"], "clean")
        self.assertIsNone(again.answer("b" * 64))
        self.assertIsNone(again.get("b" * 64))

    def test_every_changed_byte_is_noticed(self):
        kept, blob = self.kept()
        for name in ("answers/aa/" + "a" * 62, f"blobs/{blob[:2]}/{blob[2:]}"):
            path = self.folder / "store" / name
            whole = path.read_bytes()
            changed = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
            for damaged in [*changed, whole[:-1], whole + b" ", b""]:
                path.write_bytes(damaged)
                again = fleet.Store(self.folder / "store")
                self.assertIsNone(again.answer("a" * 64), damaged)
                self.assertGreater(again.damaged, 0)
                again.put(b"content")
                again.keep("a" * 64, {"verdict": "clean", "files": {"out": blob}})
                self.assertEqual(again.answer("a" * 64)["verdict"], "clean")

    def test_an_answer_under_another_key_is_none(self):
        kept, _ = self.kept()
        path = self.folder / "store/answers/bb" / ("b" * 62)
        path.parent.mkdir()
        shutil.copy(self.folder / "store/answers/aa" / ("a" * 62), path)
        self.assertIsNone(kept.answer("b" * 64))

    def test_other_folders_are_refused(self):
        (self.folder / "own").write_text("mine")
        with self.assertRaisesRegex(fleet.StoreError, "no store"):
            fleet.Store(self.folder)
        (self.folder / "format").write_text("parallax-fleet-store 0\n" + "0" * 32 + "\n")
        with self.assertRaisesRegex(fleet.StoreError, "another version"):
            fleet.Store(self.folder)

    def test_a_full_disk_is_said_and_leaves_nothing_behind(self):
        kept, _ = self.kept()
        before = sorted(self.folder.rglob("*"))

        def full(_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        real, os.fsync = os.fsync, full
        try:
            with self.assertRaisesRegex(fleet.StoreFull, "the disk of the store .* is full"):
                kept.put(b"more")
            with self.assertRaises(fleet.StoreFull):
                kept.keep("c" * 64, {})
        finally:
            os.fsync = real
        self.assertEqual([path for path in sorted(self.folder.rglob("*")) if path.is_file()], [path for path in before if path.is_file()])


class Warden(Folder):
    def warded(self, *commands, **limits):
        limits = {"seconds": 60, "megabytes": 1000, "file_megabytes": 10, **limits}
        commands = [{"argv": ["sh", "-c", text], "stdout": str(self.folder / "out")} for text in commands]
        task = {"commands": commands, "limits": limits, "folder": str(self.folder)}
        done = subprocess.run([sys.executable, "-S", "-E", WARDEN], input=json.dumps(task).encode(), capture_output=True, check=True)
        return json.loads(done.stdout)

    def test_statuses(self):
        done = self.warded("exit 3", "kill -9 $$", "no-such-command", "echo x")
        self.assertEqual([end["status"] for end in done["ends"]], [3, -9, 127, 0])
        self.assertEqual((self.folder / "out").read_text(), "x\n")

    def test_time(self):
        done = self.warded("sleep 1000 & sleep 1000", "echo never", seconds=0.3)
        self.assertEqual((done["stopped"], len(done["ends"])), ("time", 1))

    def test_memory_of_all_processes_together(self):
        takes = f"{sys.executable} -S -E -c 'import time; x = bytearray(60 << 20); time.sleep(1000)'"
        done = self.warded(f"{takes} & {takes} & {takes}", megabytes=150)
        self.assertEqual(done["stopped"], "memory")
        self.assertGreater(done["peak"], 150 << 20)

    def test_a_large_file(self):
        done = self.warded("exec head -c 20000000 /dev/zero > large", file_megabytes=10)
        self.assertEqual(done["ends"][0]["status"], -signal.SIGXFSZ)

    def test_no_process_is_left(self):
        # One that left its parent, its session and its group.
        self.warded("(setsid sh -c 'echo $$ > left; exec sleep 1000' &) ; while [ ! -s left ]; do sleep 0.01; done")
        self.assert_gone(int((self.folder / "left").read_text()))

    def assert_gone(self, process):
        for _ in range(1000):
            if not pathlib.Path(f"/proc/{process}").exists() or " Z " in pathlib.Path(f"/proc/{process}/stat").read_text():
                return
            time.sleep(0.02)
        self.fail(f"process {process} is still there")

    def test_they_end_with_the_worker(self):
        task = {"commands": [{"argv": ["sh", "-c", "setsid sleep 1000 & echo $! > left; sleep 1000"]}], "folder": str(self.folder)}
        task["limits"] = {"seconds": 1000, "megabytes": 1000, "file_megabytes": 10}
        parent = f"import subprocess; subprocess.run([{sys.executable!r}, '-S', '-E', {str(WARDEN)!r}], input={json.dumps(task).encode()!r})"
        with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.DEVNULL) as worker:
            left = self.folder / "left"
            while not (left.exists() and left.read_text().strip()):
                time.sleep(0.02)
            worker.kill()
        self.assert_gone(int(left.read_text()))


class OneCluster(Folder):
    """Questions to a cluster that is there already."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Local(2, {"PARALLAX": COMMAND})
        cls.addClassCleanup(cls.cluster.close)

    def fleet(self, name="run", **more):
        return fleet.Fleet(self.folder / name, **{"cluster": self.cluster.address, **more})

    def test_answers_and_limits(self):
        with self.fleet() as run:
            blob = run.put(b"from the store\n")
            many = "for i in 1 2 3 4; do sh -c 'while :; do :; done' & done; wait"
            units = [
                *counting(5),
                shell("reads", "cat below/it", **{"below/it": blob}),
                shell("loops", many, fleet.Limits(seconds=0.5)),
                shell("dies", "kill -SEGV $$"),
            ]
            results = run.run(units)
        says = {row.name: (row.verdict, row.summary) for row in results}
        self.assertEqual(answered(results)[3:8][:0] + [(f"unit {at:02}", *says[f"unit {at:02}"]) for at in range(5)], expected(5))
        self.assertEqual(says["reads"], ("clean", "from the store"))
        self.assertEqual(says["loops"], ("time", "ended after 0.5 s"))
        self.assertEqual(says["dies"], ("failed", "SIGSEGV"))
        self.assertEqual(results["loops"].bounds, ("time: 0.5 s",))
        with self.fleet() as run:
            again = run.run(units)
            self.assertEqual(run.progress.from_store, len(units))
        self.assertEqual(again.answers(), results.answers())

    def test_tables_that_others_read(self):
        with self.fleet() as run:
            results = run.run([*counting(5), shell("ha'm\"l<b>ü", "exit 1", x=run.put(b"x"))])
            page.write(run)
        path = str(self.folder / "run/results.parquet")
        frame = pandas.read_parquet(path)
        self.assertEqual(list(frame["name"]), [row.name for row in results])
        self.assertEqual(frame.set_index("name").loc["ha'm\"l<b>ü", "inputs"][0]["name"], "x")
        asked = "select verdict, count(*) from read_parquet(?) group by verdict order by verdict"
        self.assertEqual(dict(duckdb.execute(asked, [path]).fetchall()), results.verdicts())
        table = pyarrow.parquet.read_table(path).to_pylist()
        self.assertEqual({row["version_fleet"] for row in table}, {versions.here()["fleet"]})
        self.assertTrue(all(row["finished"].timestamp() > 1e9 and row["seconds"] >= 0 and row["limit_seconds"] == 600 for row in table))
        self.assertEqual(pyarrow.parquet.read_table(self.folder / "run/findings.parquet").num_rows, 0)
        text = (self.folder / "run/page.html").read_text()
        self.assertIn("6 of 6 units done; finished", text)
        self.assertIn("ha&#x27;m&quot;l&lt;b&gt;ü", text)
        self.assertNotIn("<b>ü", text)
        self.assertNotIn("http-equiv", text, "a page of a finished run is not loaded again")

    def test_over_the_wire_inputs_are_sent_once(self):
        with self.fleet() as whole, self.fleet("wire", shared=False) as wire:
            content = random.Random(1).randbytes(1 << 20)
            for run in (whole, wire):
                blob = run.put(content)
                run.results_of = run.run([shell(f"unit {at}", f"echo {at}; sha256sum < it; cat it > copy", it=blob) for at in range(8)])
            sent = []
            original = wire._send
            wire._send = lambda *given: (sent.append(given[1]), original(*given))
            wire.run([shell(f"more {at}", f"echo {at}; sha256sum < it", it=blob) for at in range(8)])
            self.assertEqual(sent, [], "each worker has it from the first call")
        own = [row for row in wire.results_of.answers() if row["name"].startswith("unit")]
        self.assertEqual(own, whole.results_of.answers())
        self.assertEqual(own[0]["summary"].split()[0], store.digest(content))

    def test_an_input_that_was_damaged_in_the_store_is_not_used(self):
        for shared in (True, False):
            with self.fleet(f"run {shared}", shared=shared) as run:
                blob = run.put(os.urandom(100))
                run.store._blob(blob).write_bytes(b"other")
                with self.assertRaisesRegex(fleet.FleetError, "not in the store, or was damaged"):
                    run.run([shell("reads", "cat it", it=blob)])

    def test_a_damaged_answer_is_computed_again_and_said(self):
        with self.fleet() as run:
            before = run.run(counting(3)).answers()
            path = run.store._answer(run.key(counting(3)[1]))
        path.write_bytes(path.read_bytes().replace(b'"findings"', b'"clean"', 1))
        with self.fleet() as run:
            self.assertEqual(run.run(counting(3)).answers(), before)
            self.assertEqual(run.progress.from_store, 2)
            self.assertEqual(run.progress.notes, ["1 damaged entries of the store were computed again"])

    def test_again(self):
        mark = self.folder / "mark"
        flaky = shell("flaky", f"test -e {mark} || exit 4")
        with self.fleet() as run:
            self.assertEqual(run.run([flaky])["flaky"].verdict, "gave up")
        mark.touch()
        with self.fleet() as run:
            self.assertEqual(run.run([flaky])["flaky"].verdict, "gave up", "answered from the store")
        with self.fleet() as run:
            self.assertEqual(run.run([flaky], again=["gave up"])["flaky"].verdict, "clean")

    def test_one_run_a_folder_and_one_name_a_unit(self):
        with self.fleet() as run:
            with self.assertRaisesRegex(fleet.FleetError, "another run"):
                self.fleet()
            with self.assertRaisesRegex(fleet.FleetError, "two units"):
                run.run([shell("a", "true"), shell("a", "false")])
            with self.assertRaisesRegex(fleet.FleetError, "no kind"):
                run.run([fleet.Unit("nonsense", "a")])

    def test_a_full_disk_of_the_client(self):
        with self.fleet(shared=False) as run:
            def full(_):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            run._connected()
            real, os.fsync = os.fsync, full
            try:
                with self.assertRaisesRegex(fleet.FleetError, "the disk of the store .* is full; 0 of 1 units are finished and kept"):
                    run.run([shell("a", "echo a")])
            finally:
                os.fsync = real
        with self.fleet(shared=False) as run:
            self.assertEqual(run.run([shell("a", "echo a")])["a"].verdict, "clean")

    def test_a_wire_that_breaks(self):
        with Wire(self.cluster.address) as wire, self.fleet(cluster=wire.address, shared=False) as run:
            cuts = iter([3, 9])
            cut_at = [next(cuts)]

            def watch(_):
                if cut_at[0] is not None and run.progress.done >= cut_at[0]:
                    cut_at[0] = next(cuts, None)
                    wire.cut()

            run._watch = watch
            results = run.run(counting(15))
            self.assertEqual(wire.cuts, 2)
        self.assertEqual(answered(results), expected(15))
        self.assertTrue(any("the scheduler was lost" in note for note in run.progress.notes))

    def test_a_scheduler_that_is_not_there(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        with self.fleet(cluster=f"tcp://127.0.0.1:{port}", patience=0.5) as run:
            with self.assertRaisesRegex(fleet.FleetError, f"the scheduler tcp://127.0.0.1:{port} does not answer.*0 of 1 units"):
                run.run([shell("a", "true")])


class Wire:
    """A stretch of wire to a scheduler that can be cut."""

    def __init__(self, to):
        self.to = to.removeprefix("tcp://").split(":")
        self.server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self.server.getsockname()[1]}"
        self.open, self.cuts = [], 0

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.close()
        self.cut()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.server.accept()
                far = socket.create_connection((self.to[0], int(self.to[1])))
                self.open += [near, far]
                for here, there in ((near, far), (far, near)):
                    threading.Thread(target=self.carry, args=(here, there), daemon=True).start()

    @staticmethod
    def carry(here, there):
        with contextlib.suppress(OSError):
            while piece := here.recv(1 << 16):
                there.sendall(piece)
        for end in (here, there):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        self.cuts += 1
        for end in self.open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.open.clear()


class Killed(Folder):
    def test_workers_and_the_scheduler(self):
        kills = random.Random(47)
        plan_of = {4: "worker", 9: "scheduler", 14: "worker"}
        done = []

        def watch(run):
            what = plan_of.pop(run.progress.done, None) if run.progress.done not in done else None
            if what is not None:
                done.append(run.progress.done)
                local = run._local
                victim = local.scheduler if what == "scheduler" else kills.choice(local.workers)
                victim.send_signal(signal.SIGKILL)

        with fleet.Fleet(self.folder / "run", workers=2, watch=watch) as run:
            results = run.run(counting(20))
        self.assertEqual(done, [4, 9, 14])
        self.assertEqual(answered(results), expected(20))
        self.assertEqual(pyarrow.parquet.read_table(self.folder / "run/results.parquet").num_rows, 20)

    def test_the_client(self):
        program = textwrap.dedent(f"""
            import os, signal, sys
            sys.path.insert(0, {str(HERE)!r})
            from fleet_runs import counting, fleet
            def watch(run):
                if run.progress.done == 7:
                    os.kill(os.getpid(), signal.SIGKILL)
            with fleet.Fleet({str(self.folder / "run")!r}, workers=1, watch=watch) as run:
                run.run(counting(12))
        """)
        ended = subprocess.run([sys.executable, "-c", program], check=False)
        self.assertEqual(ended.returncode, -signal.SIGKILL)
        with fleet.Fleet(self.folder / "run", workers=1) as run:
            results = run.run(counting(12))
            self.assertGreaterEqual(run.progress.from_store, 7)
        self.assertEqual(answered(results), expected(12))

    def test_a_unit_that_kills_its_worker_is_set_aside(self):
        # sh, the warden, the worker.
        killer = "kill -9 $(sed 's/.*) . //; s/ .*//' /proc/$PPID/stat)"
        units = [*counting(3), shell("killer", killer)]
        with fleet.Fleet(self.folder / "run", workers=1) as run:
            results = run.run(units)
            self.assertEqual(run.progress.killed, 3)
        row = results["killer"]
        self.assertEqual((row.verdict, row.summary, row.killed), ("set aside", "its worker was killed 3 times", 3))
        self.assertEqual(answered(results)[1:], expected(3))
        with fleet.Fleet(self.folder / "run", workers=1) as run:
            self.assertEqual(run.run(units)["killer"].verdict, "set aside", "the next run knows of it without a worker")
            self.assertIsNone(run._local)

    def test_a_worker_of_another_version(self):
        other = self.folder / "parallax"
        other.write_text("#!/bin/sh\necho parallax 9.9.9\n")
        other.chmod(0o755)
        local = Local(1, {"PARALLAX": str(other)})
        self.addCleanup(local.close)
        with fleet.Fleet(self.folder / "run", cluster=local.address) as run:
            asked = fleet.Unit("parallax", "version", {"argv": ["{parallax}", "--version"]})
            with self.assertRaisesRegex(fleet.FleetError, "is refused: parallax is parallax 9.9.9, not parallax"):
                run.run([asked])
            self.assertEqual(len(run.results), 0)


if __name__ == "__main__":
    unittest.main()
