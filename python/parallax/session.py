"""Scripts and the prompt over a recording: what `parallax script` and `parallax debug` run.

    python3 -m parallax.session script 0 server.rec find.py ARGUMENTS...
    python3 -m parallax.session debug 0 server.rec
    python3 -m parallax.session timeline 0 server.rec find.py -o page.html
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, Optional

import parallax

BAD_INPUT = 2


def names(the_execution: Any) -> dict[str, Any]:
    """Return what scripts and the prompt find under its name: the module's names, analyses, and the_execution."""
    from . import analyses

    found: dict[str, Any] = {name: getattr(parallax, name) for name in parallax.__all__}
    found.update(parallax=parallax, analyses=analyses, the_execution=the_execution)
    return found


def _own_traceback(skipped: int) -> str:
    """Return the text of the current exception, without the frames of this module."""
    kind, error, where = sys.exc_info()
    for _ in range(skipped):
        where = where.tb_next if where is not None else None
    return "".join(traceback.format_exception(kind, error, where))


def script(
    recording: str,
    path: str,
    arguments: Sequence[str],
    stream: str = "0",
    keep: Optional[dict[str, Any]] = None,
    known: Optional[set[str]] = None,
) -> int:
    """Run a script with the_execution, and return the exit status: its own, or 2 if it fails.

    `keep` gets the script's names, `known` those that it was given.
    """
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec")
    except (OSError, SyntaxError, ValueError) as error:
        print(f"error: {path}: {error}", file=sys.stderr)
        return BAD_INPUT
    try:
        found = names(parallax.execution(recording, stream=stream))
    except parallax.RecordingError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    found.update(__name__="__main__", __file__=path)
    if known is not None:
        known.update(found)
    try:
        exec(code, found)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except Exception:
        sys.stderr.write(_own_traceback(1))
        return BAD_INPUT
    finally:
        if keep is not None:
            keep.update(found)
    return 0


def timeline(arguments: Sequence[str], stream: str = "0") -> int:
    """Run a script and write its traces as lanes of a page, or for other viewers; return the exit status."""
    import argparse
    import json

    from .collect import collect, lanes_of, show_progress
    from .page import render
    from .timeline import chrome_of

    parser = argparse.ArgumentParser(prog="parallax timeline", add_help=False)
    parser.add_argument("recording")
    parser.add_argument("script")
    parser.add_argument("-o", dest="page")
    parser.add_argument("--chrome")
    parser.add_argument("--src", action="append", default=[])
    parser.add_argument("--moments", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {}
    known: set[str] = set()
    status = script(given.recording, given.script, [], stream, keep=found, known=known)
    if status != 0:
        return status
    with open(given.script, encoding="utf-8", errors="replace") as file:
        source = file.read()
    name = os.path.basename(os.path.normpath(given.recording))
    lanes = lanes_of(found, known, source)
    try:
        data = collect(
            found["the_execution"],
            lanes,
            recording=name,
            script=(given.script, source),
            moments=given.moments,
            folders=given.src,
            progress=show_progress,
        )
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except Exception:
        # A function of the script that fails when its values are asked for, or a recording that does not replay.
        sys.stderr.write(_own_traceback(1))
        return BAD_INPUT
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    try:
        if given.page:
            with open(given.page, "w", encoding="utf-8") as file:
                file.write(render(name, data))
        if given.chrome:
            with open(given.chrome, "w", encoding="utf-8") as file:
                json.dump(chrome_of(data), file)
        if given.json:
            json.dump(data, sys.stdout)
            print()
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return BAD_INPUT
    if not given.json:
        for row in data["lanes"]:
            print(f"{row['name']}: {len(row['times'])}{'+' if row.get('cut') else ''} items")
        if not lanes:
            print(f"{given.script} gives no trace a name, so the page has no lanes", file=sys.stderr)
    return 0


def _history() -> str:
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "parallax", "history")


def debug(recording: str, stream: str = "0") -> int:
    """Give a prompt over a recording."""
    try:
        run = parallax.execution(recording, stream=stream)
    except parallax.RecordingError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    return prompt(run, f"{recording}: times 1 to {run.get_time()}. Try the_execution.<Tab>, help(trace); Ctrl-D ends.")


def debug_live(command: str, recording: str, program: Sequence[str], stream: str = "0") -> int:
    """Give a prompt over a program that is recorded while it is looked at."""
    from .live import live

    run = live(command, recording, program, stream)
    try:
        return prompt(run, f"{program[0]} is recorded into {recording}: the_execution.cont() lets it run, Ctrl-C stops it.")
    finally:
        run.close()


def prompt(the_execution: Any, banner: str) -> int:
    """Give a prompt with the_execution, completion by Tab, and a history that is kept."""
    import code

    found = names(the_execution)
    found.update(__name__="__console__")
    try:
        import readline
        import rlcompleter

        readline.set_completer(rlcompleter.Completer(found).complete)
        readline.parse_and_bind("tab: complete")
        history = _history()
        try:
            readline.read_history_file(history)
        except OSError:
            pass  # There is none yet.
    except ImportError:
        readline = None  # type: ignore[assignment]
    if sys.stdin.isatty():
        sys.ps1, sys.ps2 = "(parallax) ", "       ... "
    console = code.InteractiveConsole(found)
    # quit() and exit() end the prompt, as everywhere.
    try:
        console.interact(banner=banner, exitmsg="")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    finally:
        if readline is not None:
            try:
                os.makedirs(os.path.dirname(history), exist_ok=True)
                readline.set_history_length(2000)
                readline.write_history_file(history)
            except OSError as error:
                print(f"the history is not kept: {error}", file=sys.stderr)
    return 0


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks."""
    if len(arguments) >= 4 and arguments[0] == "script":
        return script(arguments[2], arguments[3], arguments[4:], stream=arguments[1])
    if len(arguments) >= 4 and arguments[0] == "timeline":
        return timeline(arguments[2:], stream=arguments[1])
    if len(arguments) == 3 and arguments[0] == "debug":
        return debug(arguments[2], stream=arguments[1])
    if len(arguments) >= 5 and arguments[0] == "live":
        return debug_live(arguments[2], arguments[3], arguments[4:], stream=arguments[1])
    print("usage: python3 -m parallax.session script STREAM RECORDING FILE.py [ARGUMENTS...]", file=sys.stderr)
    print("       python3 -m parallax.session debug STREAM RECORDING", file=sys.stderr)
    print("       python3 -m parallax.session live STREAM COMMAND RECORDING PROGRAM [ARGUMENTS...]", file=sys.stderr)
    print("       python3 -m parallax.session timeline STREAM RECORDING FILE.py -o PAGE.html", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
