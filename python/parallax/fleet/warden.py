"""Runs the commands of one unit under its limits, and ends all their processes with it.

A program of its own: `python3 -S -E warden.py`, with the standard library alone so that it starts at once. What to do is
one JSON document on standard input, what came of it one on standard output. It is the subreaper of what it starts, so
that a process that left its parent is found as well, and it is ended with its own parent, the worker.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import time
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# How often memory is looked at, in seconds.
PERIOD = 0.05
PAGE = os.sysconf("SC_PAGESIZE")
LISTED = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def _resident(process: int) -> int:
    with open(f"/proc/{process}/statm", "rb") as file:
        return int(file.read().split()[1]) * PAGE


def _children(process: int) -> list[int]:
    """Return the children of all threads of a process, as the kernel lists them."""
    found: list[int] = []
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/children", "rb") as file:
            found += map(int, file.read().split())
    return found


def _children_of_all() -> dict[int, list[int]]:
    """Return the children of every process: for kernels that do not list them."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue  # It has just ended.
            children.setdefault(parent, []).append(int(name))
    return children


def processes() -> dict[int, int]:
    """Return the processes below this one, with their resident bytes."""
    below: dict[int, int] = {}
    known = None if LISTED else _children_of_all()
    left = [os.getpid()]
    while left:
        process = left.pop()
        try:
            children = _children(process) if known is None else known.get(process, [])
        except OSError:
            continue  # It has just ended, and its children are this one's.
        for child in children:
            if child not in below:
                try:
                    below[child] = _resident(child)
                except (OSError, ValueError, IndexError):
                    below[child] = 0
                left.append(child)
    return below


def end_all() -> None:
    """End every process below this one."""
    while True:
        below = processes()
        for process in below:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _start(command: dict[str, Any], folder: str, limits: dict[str, Any]) -> int:
    """Start a command with its streams in files, and return its process."""
    process = os.fork()
    if process != 0:
        return process
    try:
        os.setsid()
        # Python ignores these, which programs would inherit.
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(ignored, signal.SIG_DFL)
        os.chdir(folder)
        streams = [("stdin", 0, os.O_RDONLY), ("stdout", 1, os.O_WRONLY | os.O_CREAT), ("stderr", 2, os.O_WRONLY | os.O_CREAT)]
        for name, number, how in streams:
            os.dup2(os.open(command.get(name) or "/dev/null", how, 0o644), number)
        size = int(limits["file_megabytes"]) << 20
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.environ.update(command.get("environment", {}))
        os.execvp(command["argv"][0], command["argv"])
    except OSError as error:
        os.write(2, f"{command['argv'][0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Run the commands one after the other, and return how each ended."""
    limits = task["limits"]
    started = time.monotonic()
    most = int(limits["megabytes"]) << 20
    peak, looked, stopped = 0, 0.0, ""
    ends: list[dict[str, Any]] = []
    for command in task["commands"]:
        begun = time.monotonic()
        process = _start(command, task["folder"], limits)
        status = None
        pause = 0.001
        while status is None:
            ended, code = os.waitpid(-1, os.WNOHANG)
            if ended == process:
                status = os.waitstatus_to_exitcode(code)
                break
            if ended != 0:
                continue  # A process that its own parent had left.
            now = time.monotonic()
            if now - started > float(limits["seconds"]):
                stopped = "time"
            elif now - looked >= PERIOD:
                looked = now
                used = sum(processes().values())
                peak = max(peak, used)
                if used > most:
                    stopped = "memory"
            if stopped:
                break
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        end_all()
        ends.append({"status": status, "seconds": time.monotonic() - begun})
        if stopped or (status != 0 and command.get("required")):
            break
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "ends": ends,
        "stopped": stopped,
        "seconds": time.monotonic() - started,
        "processor": usage.ru_utime + usage.ru_stime,
        # The largest single process is known exactly, the sum of all by looking.
        "peak": max(peak, usage.ru_maxrss * 1024),
    }


def main() -> int:
    """Do what standard input says."""
    parent = os.getppid()
    library = ctypes.CDLL(None)
    library.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def over(_signal: int, _frame: object) -> None:
        end_all()
        os._exit(1)

    signal.signal(signal.SIGTERM, over)
    library.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    task = json.load(sys.stdin)
    if os.getppid() != parent:
        return 1
    try:
        json.dump(run(task), sys.stdout)
    finally:
        end_all()
    return 0


if __name__ == "__main__":
    sys.exit(main())
