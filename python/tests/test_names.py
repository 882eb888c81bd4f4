"""Entries and ends of functions: what the source does, counted by a build without optimisation whose compiler calls a function at
each of them, beside what the command line, Python and GDB say of a recording of the program as people build it.

Not here: functions that optimisation makes others of (a recursion that becomes a loop has one entry), ends by exceptions and `longjmp`
(no end of the function's code), programs without debug information (nothing is known of inlined copies), other processors than x86-64."""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import warnings

from parallax import UnknownName, execution

HERE = pathlib.Path(__file__).resolve().parent / "programs" / "names"
COMMAND = os.environ.get("PARALLAX", str(HERE.parent.parent.parent.parent / "target" / "debug" / "parallax"))

O0, O1, O2, O3 = ["-O0"], ["-O1"], ["-O2"], ["-O3"]
WIDE = ["-O2", "-fno-reorder-blocks-and-partition", "-fcf-protection=none"]

# The other compiler.
CLANG = "clang-19"

# What a name stands for that is chosen when the program starts.
CHOSEN = {"chosen.c": {"take": ["quick", "slow"]}}

# Sources, flags, functions.
PROGRAMS = [
    (["inlined.c"], O1, ["take", "twice", "loops", "main"]),
    (["inlined.c"], O2, ["take", "twice", "loops", "main"]),
    (["pointer.c"], O1, ["take"]),
    (["pointer.c"], O2, ["take"]),
    (["tails.c"], O0, ["last", "other", "direct", "sometimes", "either", "computed"]),
    (["tails.c"], O2, ["last", "other", "direct", "sometimes", "either", "computed"]),
    (["tails.c"], WIDE, ["last", "other", "direct", "sometimes", "either", "computed"]),
    (["switched.c"], O0, ["take", "last", "labels"]),
    (["switched.c"], O2, ["take", "last", "labels"]),
    (["cold.c"], O1, ["take", "seldom"]),
    (["cold.c"], O2, ["take", "seldom"]),
    (["loops.c"], O0, ["down", "leaf", "forever", "inner", "bare"]),
    (["loops.c"], O1, ["down", "leaf", "forever", "inner", "bare"]),
    (["loops.c"], O2, ["down", "leaf", "forever", "inner", "bare"]),
    (["templates.cc"], O0, ["take", "put", "box::put", "mix", "get", "lost", "deep::er::lost", "say", "derived::say", "operator()"]),
    (["templates.cc"], O1, ["take", "put", "box::put", "mix", "lost"]),
    (["templates.cc"], O2, ["take", "put", "mix", "lost"]),
    (["clones.c"], O1, ["scale", "sum", "outer"]),
    (["clones.c"], O2, ["scale", "sum", "outer"]),
    (["clones.c"], O3, ["scale", "sum", "outer"]),
    (["partial.c"], O2, ["check", "first", "second", "third"]),
    (["nested.c"], O0, ["inmost", "middle", "outmost", "depth", "use"]),
    (["nested.c"], O1, ["inmost", "middle", "outmost", "use"]),
    (["nested.c"], O2, ["inmost", "middle", "outmost", "use"]),
    (["threads.c"], O0, ["take", "inner", "run"]),
    (["threads.c"], O2, ["take", "inner", "run"]),
    (["handlers.c"], O0, ["hear", "leaves", "large", "asks", "many"]),
    (["handlers.c"], O2, ["hear", "leaves", "large", "asks", "many"]),
    (["chosen.c"], O0, ["take"]),
    (["chosen.c"], O2, ["take"]),
    (["same.c", "same_more.c"], O2, ["take", "others"]),
    (["opener.c"], O0, ["first_name", "second_name", "use"]),
    (["opener.c"], O2, ["first_name", "second_name", "helper"]),
    (["starter.c"], O0, ["take"]),
    (["starter.c"], O2, ["take"]),
    (["unrolled.c"], O1, ["take", "many", "pairs"]),
    (["unrolled.c"], O3, ["take", "many", "pairs"]),
    (["unrolled.c"], [CLANG, "-O1"], ["take", "many", "pairs"]),
    (["unrolled.c"], [CLANG, "-O2"], ["take", "many", "pairs"]),
    (["inlined.c"], [CLANG, "-O2"], ["take", "twice", "loops", "main"]),
    (["tails.c"], [CLANG, "-O2"], ["last", "other", "direct", "sometimes", "either", "computed"]),
    (["loops.c"], [CLANG, "-O0"], ["down", "leaf", "forever", "inner", "bare"]),
    (["handlers.c"], [CLANG, "-O0"], ["hear", "leaves", "large", "asks", "many"]),
    (["nested.c"], [CLANG, "-O1"], ["inmost", "middle", "outmost", "use"]),
]


def build(folder, sources, flags, to, counted):
    """Compile sources as people do, or for counting."""
    usual = "g++" if sources[0].endswith(".cc") else "gcc"
    compiler = CLANG if CLANG in flags and not counted else usual
    own = [HERE / source for source in sources]
    flags = [flag for flag in flags if flag != CLANG and not (counted and flag.startswith("-O"))]
    if counted:
        flags = [*flags, "-O0", "-finstrument-functions", folder / "counting.o", "-rdynamic"]
    subprocess.run([compiler, "-g", "-w", "-o", folder / to, *own, *flags, "-lpthread", "-ldl"], check=True)
    return folder / to


def libraries(folder, flags, counted):
    """What `opener.c` opens."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    flags = [*flags, "-shared", "-fPIC"]
    if counted:
        flags = ["-O0", "-finstrument-functions", "-shared", "-fPIC"]
    for name, more in (
        ("first", ["-DNAME=first_name"]),
        ("second", ["-DNAME=second_name"]),
        ("changing", ["-DNAME=first_name"]),
        ("after", ["-DNAME=first_name", "-DMORE"]),
    ):
        subprocess.run(["gcc", "-g", "-w", *flags, *more, "-o", folder / f"{name}.so", HERE / "plugin.c"], check=True)


def bare(name):
    """`put` of `int box<int, 2>::put<char>(char)`."""
    depth, kept = 0, ""
    for letter in name.replace("operator()", "operator\0"):
        if letter == "(" and depth == 0:
            break
        depth += (letter in "<{") - (letter in ">}")
        kept += letter if depth == 0 and letter not in ">}" else ""
    return kept.split(" ")[-1].replace("\0", "()")


def counts_of(file):
    """How often functions were entered and left, by their names."""
    entries, ends, names = collections.Counter(), collections.Counter(), {}
    for line in file.read_text().splitlines():
        path, name, offset, came, left = line.split()
        if path not in names:
            listed = subprocess.run(["nm", "-C", path], check=True, capture_output=True, text=True).stdout
            symbols = (re.match(r"([0-9a-f]+) [tTwWiI] (.*)", line) for line in listed.splitlines())
            names[path] = {int(symbol[1], 16): bare(symbol[2]) for symbol in symbols if symbol}
        # A template's name for the linker is no name of the source's.
        name = name if name != "-" and not name.startswith("_Z") else names[path][int(offset, 16)]
        for end in [name.split("::", at)[at] for at in range(name.count("::") + 1)]:
            entries[end] += int(came)
            ends[end] += int(left)
    return entries, ends


class Gdb:
    """What GDB says to `monitor find` of a recording."""

    def __init__(self, recording):
        command = [COMMAND, "gdbserver", "--once", "--port", "0", str(recording)]
        self.server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.address = self.server.stderr.readline().split()[-1]

    def ask(self, conditions):
        gdb = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-solib-add off"]
        commands = [f"monitor find {condition}" for condition in conditions]
        asked = [part for command in commands for part in ("-ex", f"echo >{command}\\n", "-ex", command)]
        ran = subprocess.run(
            [*gdb, "-ex", f"target remote {self.address}", *asked, "-ex", "detach"],
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )
        self.server.stderr.close()
        self.server.wait()
        return ran


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run(["gcc", "-c", "-o", cls.folder / "counting.o", HERE / "counting.c"], check=True)
        cls.given = {"LIBRARIES": str(cls.folder / "libraries"), "NEXT": str(cls.folder / "next"), "COUNTS": str(cls.folder / "counts")}

    def prepared(self, sources, flags, counted):
        if sources == ["opener.c"]:
            libraries(self.folder / "libraries", flags, counted)
        if sources == ["starter.c"]:
            build(self.folder, ["started.c"], flags, "next", counted)
        return build(self.folder, sources, flags, "program", counted)

    def counted(self, sources, flags):
        counts = self.folder / "counts"
        counts.unlink(missing_ok=True)
        program = self.prepared(sources, flags, True)
        subprocess.run([program], check=False, env={**os.environ, **self.given})
        return counts_of(counts)

    def found(self, recording, option, name):
        """Times, and whether something was left out."""
        ran = subprocess.run([COMMAND, "find", recording, option, name, "--times", "--max", "1000000"], capture_output=True, text=True)
        if ran.returncode == 2 and "known end" in ran.stderr:
            return None, True
        self.assertEqual(ran.returncode, 0, (name, ran.stderr))
        return [int(line) for line in ran.stdout.split()], "note: " in ran.stderr

    def scripted(self, run, name, index):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                return list(run.breakpoints(name, index=index).times()), bool(told)
            except UnknownName:
                return None, True

    def test_entries_and_ends(self):
        wrong, exact = [], 0
        for sources, flags, functions in PROGRAMS:
            label = f"{sources[0]} {' '.join(flags)}"
            entries, ends = self.counted(sources, flags)
            for name, ways in CHOSEN.get(sources[0], {}).items():
                entries[name], ends[name] = sum(entries[way] for way in ways), sum(ends[way] for way in ways)
            program = self.prepared(sources, flags, False)
            recording = self.folder / "this.rec"
            shutil.rmtree(recording, ignore_errors=True)
            given = {**os.environ, **self.given}
            subprocess.run([COMMAND, "record", "-o", recording, "--", program], check=False, env=given, stdout=subprocess.DEVNULL)
            program.unlink()
            run = execution(recording)
            gdb = Gdb(recording) if label in ("tails.c -O2", "inlined.c -O2", "opener.c -O2") else None
            listed = []
            for name in functions:
                for option, index, count, word in (("--function", 0, entries[name], "execute"), ("--end", -1, ends[name], "end")):
                    times, is_noted = self.found(recording, option, name)
                    others, is_warned = self.scripted(run, name, index)
                    if (times is None) != (others is None) or times is not None and len(times) != len(others) or is_noted != is_warned:
                        wrong.append(f"{label}: {word} {name}: {times} on the command line, {others} in Python")
                    # Ends stand at the same step; entries behind a prologue in Python, one for each.
                    elif times and (times != others if index == -1 else any(later < entry for entry, later in zip(times, others))):
                        wrong.append(f"{label}: {word} {name}: {times} on the command line, {others} in Python")
                    listed.append((word, name, times))
                    if is_noted:
                        continue
                    exact += 1
                    if len(times) != count:
                        wrong.append(f"{label}: {word} {name}: {len(times)} found, {count} in the source")
            if gdb:
                ran = gdb.ask([f"{word} {name}" for word, name, _ in listed])
                said = re.split(r"^>.*$", ran.stdout + ran.stderr, flags=re.M)
                times = [int(time) for time in re.findall(r"^(\d+)  thread ", ran.stdout + ran.stderr, flags=re.M)]
                self.assertEqual(times, [time for _, _, times in listed for time in (times or [])[:100]], (label, said))
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))
        self.assertGreater(exact, 150)


if __name__ == "__main__":
    unittest.main()
