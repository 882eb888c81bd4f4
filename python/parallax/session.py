"""Scripts and the prompt over a recording: what `parallax script` and `parallax debug` run.

    python3 -m parallax.session script 0 server.rec find.py ARGUMENTS...
    python3 -m parallax.session debug 0 server.rec
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import parallax

BAD_INPUT = 2


def names(recording: str, stream: str = "0") -> dict[str, Any]:
    """Return what scripts and the prompt find under its name: the module's names, analyses, and the_execution."""
    from . import analyses

    found: dict[str, Any] = {name: getattr(parallax, name) for name in parallax.__all__}
    found.update(parallax=parallax, analyses=analyses, the_execution=parallax.execution(recording, stream=stream))
    return found


def _own_traceback(skipped: int) -> str:
    """Return the text of the current exception, without the frames of this module."""
    kind, error, where = sys.exc_info()
    for _ in range(skipped):
        where = where.tb_next if where is not None else None
    return "".join(traceback.format_exception(kind, error, where))


def script(recording: str, path: str, arguments: Sequence[str], stream: str = "0") -> int:
    """Run a script with the_execution, and return the exit status: its own, or 2 if it fails."""
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec")
    except (OSError, SyntaxError, ValueError) as error:
        print(f"error: {path}: {error}", file=sys.stderr)
        return BAD_INPUT
    try:
        found = names(recording, stream)
    except parallax.RecordingError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    found.update(__name__="__main__", __file__=path)
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
    return 0


def _history() -> str:
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "parallax", "history")


def debug(recording: str, stream: str = "0") -> int:
    """Give a prompt with the_execution, completion by Tab, and a history that is kept."""
    import code

    try:
        found = names(recording, stream)
    except parallax.RecordingError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
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
    end = found["the_execution"].get_time()
    banner = f"{recording}: times 1 to {end}. Try the_execution.<Tab>, help(trace); Ctrl-D ends."
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
    if len(arguments) == 3 and arguments[0] == "debug":
        return debug(arguments[2], stream=arguments[1])
    print("usage: python3 -m parallax.session script STREAM RECORDING FILE.py [ARGUMENTS...]", file=sys.stderr)
    print("       python3 -m parallax.session debug STREAM RECORDING", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
