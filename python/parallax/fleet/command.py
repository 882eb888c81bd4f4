"""`parallax fleet`: the command line."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any, NoReturn, Optional

from . import needs, page, plan, versions
from .drive import Fleet, FleetError
from .results import Results, order
from .store import StoreError
from .unit import Limits

CLEAN, FINDINGS, BAD_INPUT, UNSUPPORTED, GAVE_UP = range(5)

EXAMPLES = """\
examples:
  parallax fleet check sources/*.orig.tar.gz -o archive.run
  parallax fleet explore src/*.c --functions 500 -o functions.run
  parallax fleet schedules --seeds 0:1000 -o race.run -- ./server
  parallax fleet find long.plx --function parse --max 1 -o search.run
  parallax fleet report archive.run -o archive.sarif

Without --cluster it runs on this machine, one worker for each processor. The same command in the same folder goes on
where it was broken off. Exit status: 0 nothing found, 1 findings, 2 wrong use or a run that cannot go on,
3 something that is needed is not installed, 4 nothing found, but some units gave up or failed.
"""


class Parser(argparse.ArgumentParser):
    """Arguments; wrong use ends with status 2, and with --json as a document."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong."""
        told(message, BAD_INPUT)
        self.print_usage(sys.stderr)
        raise SystemExit(BAD_INPUT)


def told(message: str, status: int) -> None:
    """Print an error, and as the one document if --json was asked for."""
    if "--json" in sys.argv:
        print(json.dumps({"error": message, "status": status}, indent=2))
    print(f"error: {message}", file=sys.stderr)


def seeds(text: str) -> range:
    """Return the seeds FIRST:END."""
    first, colon, end = text.partition(":")
    made = range(int(first), int(end)) if colon else range(int(first))
    if not made or made[0] < 0:
        raise argparse.ArgumentTypeError("FIRST:END with at least one seed")
    return made


def parser() -> Parser:
    """Return the command line's grammar."""
    top = Parser(
        prog="parallax fleet",
        description="Ask many questions at once: on this machine, or on a cluster of Dask's.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="WHAT", parser_class=Parser)
    common = Parser(add_help=False)
    group = common.add_argument_group("every run")
    group.add_argument("-o", "--output", metavar="FOLDER", default="fleet.run", help="the folder of the run [default: fleet.run]")
    group.add_argument("--store", metavar="FOLDER", help="where answers are kept; runs may share it [default: FOLDER/store]")
    group.add_argument("--workers", type=int, default=0, metavar="N", help="workers on this machine [default: one a processor]")
    group.add_argument("--cluster", metavar="ADDRESS", help="the address of a scheduler, such as tcp://10.0.0.1:8786")
    group.add_argument("--time", type=float, default=600, metavar="SECONDS", help="for one unit, by the clock [default: 600]")
    group.add_argument("--memory", type=int, default=4096, metavar="MB", help="for one unit, all its processes [default: 4096]")
    group.add_argument("--patience", type=float, default=60, metavar="SECONDS", help="to wait for a scheduler or a worker [default: 60]")
    group.add_argument("--again", action="append", default=[], metavar="VERDICT", help="compute units with this verdict again; repeat for more")
    group.add_argument("--json", action="store_true", help="print one JSON document")

    def verb(name: str, about: str, *, options: bool = False) -> Any:
        made = verbs.add_parser(name, help=about, description=about, parents=[common])
        if options:
            made.add_argument("--options", default="", metavar="FLAGS", help="further flags of the verb that each unit runs, split at blanks")
        return made

    one = verb("check", "null errors: source packages (tar files, folders), C files, compile_commands.json", options=True)
    one.add_argument("inputs", nargs="+", metavar="INPUT")
    one.add_argument("--cflags", default="", metavar="FLAGS", help="flags for the compiler (C files), split at blanks")
    one.add_argument("--programs", type=int, default=1000, metavar="N", help="programs of one package at most [default: 1000]")
    one = verb("explore", "every function of C files, explored by itself", options=True)
    one.add_argument("inputs", nargs="+", metavar="FILE")
    one.add_argument("--cflags", default="", metavar="FLAGS", help="flags for the compiler, split at blanks")
    one.add_argument("--functions", type=int, metavar="N", help="how many at most")
    one = verb("triage", "reports of any tool, read into one table")
    one.add_argument("inputs", nargs="+", metavar="REPORT")
    one = verb("schedules", "one program under many schedules; a failing run and the nearest passing one are kept")
    one.add_argument("--seeds", type=seeds, required=True, metavar="FIRST:END", help="which seeds")
    one.add_argument("--stdin", metavar="FILE", help="what the program reads")
    one.add_argument("--engine", choices=("exact", "native"), default="exact", help="what runs the program [default: exact]")
    one.add_argument("--steps", type=int, metavar="N", help="instructions of one run at most")
    one.add_argument("--chunk", type=int, default=20, metavar="N", help="runs in one unit [default: 20]")
    one.add_argument("--near", type=int, default=50, metavar="N", help="passing runs that are compared [default: 50]")
    one.add_argument("--first", action="store_true", help="end with the first unit that has a failing run")
    one.add_argument("program", nargs=argparse.REMAINDER, metavar="-- PROGRAM ARGUMENTS")
    one = verb("find", "one search over a packed recording, interval by interval")
    one.add_argument("recording", metavar="RECORDING")
    for name, value in (("execute", "ADDRESS[:LENGTH]"), ("function", "NAME"), ("read", "ADDRESS[:LENGTH]"), ("write", "ADDRESS[:LENGTH]")):
        one.add_argument(f"--{name}", action="append", default=[], metavar=value, help="as for `parallax find`")
    one.add_argument("--call", action="append", default=[], metavar="ADDRESS[:LENGTH]", help="as for `parallax find`")
    one.add_argument("--system-call", action="append", default=[], metavar="NAME", help="as for `parallax find`")
    for name in ("calls", "returns", "signals"):
        one.add_argument(f"--{name}", action="store_true", help="as for `parallax find`")
    one.add_argument("--stream", default="0", metavar="NAME", help="the process [default: 0]")
    one.add_argument("--backward", action="store_true", help="from late to early")
    one.add_argument("--max", type=int, default=100, metavar="COUNT", help="how many to find at most [default: 100]")
    one.add_argument("--intervals", type=int, default=0, metavar="N", help="how many parts [default: four for each worker]")
    one = verb("fuzz", "random C programs, natively and in every engine of ours")
    one.add_argument("--seeds", type=seeds, required=True, metavar="FIRST:END", help="which seeds")
    one.add_argument("--chunk", type=int, default=10, metavar="N", help="programs in one unit [default: 10]")
    one = verbs.add_parser("report", help="the findings of a run as one report", description="The findings of a run as one report.")
    one.add_argument("folder", metavar="FOLDER", help="the folder of the run")
    one.add_argument("--store", metavar="FOLDER", help="where its answers are kept [default: FOLDER/store]")
    one.add_argument("-o", "--output", required=True, metavar="FILE", help="SARIF (.sarif), pathreport XML (.xml), JSON (.json) or a page (.html)")
    one.add_argument("--json", action="store_true", help="print one JSON document")
    return top


class Watch:
    """Keeps the page of a run, and a line at a terminal, up to date."""

    PERIOD = 1.0

    def __init__(self) -> None:
        """Start without having shown anything."""
        self._shown = 0.0

    def __call__(self, fleet: Fleet) -> None:
        """Show where the run stands, once a second and at its end."""
        now = time.monotonic()
        if now - self._shown < self.PERIOD and not fleet.progress.finished:
            return
        self._shown = now
        page.write(fleet)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{page.line(fleet)}")
            sys.stderr.flush()


def is_file(path: str) -> bool:
    """Return whether an input is a C file or a database of them, and no package."""
    return path.endswith((".c", ".i")) or os.path.basename(path) == "compile_commands.json"


def limits_of(given: argparse.Namespace) -> Limits:
    """Return the limits of each unit."""
    return Limits(seconds=given.time, megabytes=given.memory)


def conditions_of(given: argparse.Namespace) -> list[str]:
    """Return the conditions of a search, as `parallax find` takes them."""
    words: list[str] = []
    for name in ("execute", "function", "read", "write", "call", "system_call"):
        for value in getattr(given, name):
            words += ["--" + name.replace("_", "-"), value]
    return words + [f"--{name}" for name in ("calls", "returns", "signals") if getattr(given, name)]


def work(given: argparse.Namespace, fleet: Fleet) -> tuple[Results, dict[str, Any]]:
    """Do what the command line asks, and return the results and what else there is to say."""
    limits = limits_of(given)
    if given.verb == "check":
        asked = [path for path in given.inputs if is_file(path)]
        rest = [path for path in given.inputs if not is_file(path)]
        options = given.options.split()
        units = plan.packages(fleet, rest, options=options, limits=limits, most=given.programs) if rest else []
        units += plan.files(fleet, asked, flags=given.cflags.split(), options=options, limits=limits) if asked else []
        return fleet.run(units, again=given.again), {}
    if given.verb == "explore":
        options = given.options.split()
        units = plan.functions(fleet, given.inputs, flags=given.cflags.split(), options=options, limits=limits, most=given.functions)
        return fleet.run(units, again=given.again), {}
    if given.verb == "triage":
        return fleet.run(plan.reports(fleet, given.inputs, limits=limits), again=given.again), {}
    if given.verb == "fuzz":
        return fleet.run(plan.fuzz(given.seeds, chunk=given.chunk, limits=limits), again=given.again), {}
    if given.verb == "schedules":
        program = given.program[1:] if given.program[:1] == ["--"] else given.program
        if not program or not os.path.isfile(program[0]):
            raise FleetError(f"{program[0]} is not there" if program else "the program stands behind --")
        results = plan.schedules(
            fleet,
            program[0],
            program[1:],
            given.seeds,
            stdin=given.stdin,
            engine=given.engine,
            steps=given.steps,
            chunk=given.chunk,
            near=given.near,
            limits=limits,
            until_failing=given.first,
        )
        nearest = fleet.folder / "nearest.json"
        return results, {"nearest": json.loads(nearest.read_text()) if nearest.exists() else None}
    conditions = conditions_of(given)
    if not conditions:
        raise FleetError("say what to find: --function, --write, --system-call and others, see --help")
    hits, bounds = plan.search(
        fleet, given.recording, conditions, stream=given.stream, intervals=given.intervals, most=given.max, backward=given.backward, limits=limits
    )
    return fleet.results, {"hits": hits, "bounds": bounds}


def show(given: argparse.Namespace, fleet: Fleet, results: Results, more: dict[str, Any]) -> None:
    """Print what a run came to."""
    if given.json:
        answers = [{**row.answer(), "seconds": row.seconds, "from_store": row.from_store} for row in results]
        document = {"verdicts": results.verdicts(), "units": answers, "notes": fleet.progress.notes, "folder": str(fleet.folder), **more}
        print(json.dumps(document, indent=2))
        return
    if given.verb == "find":
        for hit in more["hits"]:
            print(f"{hit['time']}  {hit['where']}")
        for bound in more["bounds"]:
            print(f"left out: {bound}")
    else:
        for row in sorted(results, key=order)[:40]:
            print(f"{row.verdict:<12} {row.name}: {row.summary}" + (f" ({len(row.bounds)} bounds)" if row.bounds else ""))
        if len(results) > 40:
            print(f"... {len(results) - 40} more units; all are in {os.path.relpath(fleet.folder)}/results.parquet")
    nearest = more.get("nearest")
    if nearest:
        where = os.path.relpath(fleet.folder)
        print(f"seed {nearest['failing']} fails: {where}/failing.plx")
        if nearest["passing"] is not None:
            agree = f"the first {nearest['agree']} system calls are the same"
            print(f"seed {nearest['passing']} passes: {where}/passing.plx, the nearest of {nearest['compared']} ({agree})")
    for note in fleet.progress.notes:
        print(f"note: {note}")
    print(page.line(fleet))
    print(f"results.parquet, findings.parquet and page.html are in {os.path.relpath(fleet.folder)}")


def status_of(results: Results) -> int:
    """Return the exit status of results."""
    verdicts = set(results.verdicts())
    if "findings" in verdicts:
        return FINDINGS
    return CLEAN if verdicts <= {"clean"} else GAVE_UP


def report(given: argparse.Namespace) -> int:
    """Join the reports of a run, read from its table and its store."""
    from .store import Store

    folder = pathlib.Path(given.folder)
    path = folder / "results.parquet"
    if not path.exists():
        raise FleetError(f"{path} is not there: the run has written no results")
    table = needs.parquet().read_table(path, columns=["name", "files"]).to_pylist()
    store = Store(given.store or folder / "store")
    missing = 0
    command = versions.command()
    with tempfile.TemporaryDirectory() as place:
        kept: list[str] = []
        for row in table:
            for file in row["files"]:
                if file["name"].endswith(".sarif"):
                    content = store.get(file["sha256"])
                    if content is None:
                        missing += 1
                        continue
                    kept.append(os.path.join(place, f"{len(kept):06}.sarif"))
                    pathlib.Path(kept[-1]).write_bytes(content)
        if not kept:
            raise FleetError(f"no unit of {folder} has a report" + (f"; {missing} are damaged or gone" if missing else ""))
        output = os.path.abspath(given.output)
        verb = ["view"] if output.endswith(".html") else ["convert"]
        done = subprocess.run([command, *verb, *kept, "-o", output], cwd=place, capture_output=True, text=True, check=False)
    if done.returncode not in (CLEAN, FINDINGS):
        raise FleetError(f"parallax {verb[0]}: {done.stderr.strip() or done.stdout.strip()}")
    if missing:
        print(f"{missing} reports are damaged or gone; the same run again makes them anew", file=sys.stderr)
    said = {"reports": len(kept), "missing": missing, "output": given.output}
    print(json.dumps(said, indent=2) if given.json else f"{given.output}: the reports of {len(kept)} units")
    return GAVE_UP if missing else CLEAN


def interrupted(_signal: int, _frame: object) -> NoReturn:
    """End the run as Ctrl-C does."""
    raise KeyboardInterrupt


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Do what the command line asks, and return the exit status."""
    given = parser().parse_args(arguments)
    try:
        needs.distributed()
        needs.parquet()
        if given.verb == "report":
            return report(given)
        # A terminal that is closed, or `kill`, ends a run as Ctrl-C does: what is finished is written.
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, interrupted)
        watch = Watch()
        where = {"store": given.store, "workers": given.workers, "cluster": given.cluster, "patience": given.patience, "watch": watch}
        with Fleet(given.output, **where) as fleet:
            try:
                results, more = work(given, fleet)
            except KeyboardInterrupt:
                print(f"\ninterrupted: {fleet.progress.done} of {fleet.progress.total} units are finished and kept; the same command goes on", file=sys.stderr)
                return 130
            if sys.stderr.isatty():
                sys.stderr.write("\r\x1b[K")
            show(given, fleet, results, more)
        return status_of(results)
    except KeyboardInterrupt:
        print("interrupted before a unit was handed out", file=sys.stderr)
        return 130
    except needs.Missing as error:
        told(str(error), UNSUPPORTED)
        return UNSUPPORTED
    except (FleetError, StoreError, versions.NoCommand, ValueError) as error:
        told(str(error), BAD_INPUT)
        return BAD_INPUT
