"""A unit on a worker: its inputs are laid out, its commands run below the warden, its answer goes into the store."""

from __future__ import annotations

import errno
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Optional

from . import versions
from .kinds import KINDS, LIMITS, Judged, said
from .store import Store, StoreError, digest
from .unit import Unit

# Where workers write down which unit they start, before they start it.
TOPIC = "parallax-fleet-started"
# Inputs larger than this are linked into the unit's folder, not copied.
COPIED = 16 << 20
# Files that are text, by their endings.
TEXTS = (".sarif", ".json", ".txt", "stdout", "stderr")
HERE = pathlib.Path(__file__).resolve().parent


def worker_folder() -> str:
    """Return the folder of the worker that does this unit; it goes with the worker."""
    from distributed import get_worker

    return str(get_worker().local_directory)


def own_store(folder: str) -> Store:
    """Return the store of a worker for what came over the wire."""
    return Store(os.path.join(folder, "parallax-fleet-store"))


def receive(blobs: dict[str, bytes], dask_worker: Any = None) -> list[str]:
    """Take blobs that a unit here was missing; return those that arrived as other bytes. Dask says which worker it is."""
    store = own_store(str(dask_worker.local_directory))
    wrong = []
    for name, content in blobs.items():
        if digest(content) == name:
            store.put(content)
        else:
            wrong.append(name)
    return wrong


def announce(attempt: str) -> None:
    """Tell the scheduler that a unit starts, and wait until it knows."""
    from distributed import get_worker
    from distributed.utils import sync

    worker = get_worker()
    sync(worker.loop, worker.scheduler.log_event, topic=TOPIC, msg={"attempt": attempt, "worker": worker.address})


def lay_out(unit: Unit, stores: list[Store], folder: pathlib.Path) -> list[str]:
    """Put the inputs into the folder; return the digests of those that are missing here."""
    missing = []
    for name, blob in unit.inputs.items():
        source = next((path for store in stores for path in [store.path(blob)] if path is not None), None)
        if source is None:
            missing.append(blob)
            continue
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.stat().st_size > COPIED:
            target.symlink_to(source)
        else:
            shutil.copyfile(source, target)
    return missing


def guarded(task: dict[str, Any]) -> dict[str, Any]:
    """Run commands below the warden; `died` says how, if the warden itself was ended."""
    command = [sys.executable, "-S", "-E", str(HERE / "warden.py")]
    # A session of its own: Ctrl-C at a terminal is for the client to handle.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    out, _ = process.communicate(json.dumps(task).encode())
    try:
        done: dict[str, Any] = json.loads(out)
    except ValueError:
        return {"died": said(process.returncode)}
    return done


def judged(unit: Unit, folder: pathlib.Path, done: dict[str, Any]) -> Judged:
    """Return what the commands came to."""
    limits = unit.limits
    if done["stopped"] == "time":
        return Judged("time", f"ended after {limits.seconds:g} s", [f"time: {limits.seconds:g} s"])
    if done["stopped"] == "memory":
        return Judged("memory", f"ended at {limits.megabytes} MB", [f"memory: {limits.megabytes} MB"])
    if done["ends"][-1]["status"] == -signal.SIGXFSZ:
        return Judged("disk", f"ended at a file of {limits.file_megabytes} MB", [f"disk: {limits.file_megabytes} MB a file"])
    return KINDS[unit.kind].judge(unit, folder, done["ends"])


def perform(document: dict[str, Any], version: dict[str, str], place: Optional[tuple[str, str]], attempt: str) -> dict[str, Any]:
    """Do a unit. Returns its answer, or why there is none: refused, missing, died, trouble; and which worker says so."""
    from distributed import get_worker

    return {**_perform(document, version, place, attempt), "worker": get_worker().address}


def _perform(document: dict[str, Any], version: dict[str, str], place: Optional[tuple[str, str]], attempt: str) -> dict[str, Any]:
    unit = Unit.of(document)
    kind = KINDS[unit.kind]
    try:
        here = versions.here()
    except versions.NoCommand as error:
        return {"refused": str(error)}
    ours = versions.of(here, kind.depends)
    if ours != version:
        differing = [f"{name} is {ours.get(name)}, not {version[name]}" for name in version if ours.get(name) != version[name]]
        return {"refused": "; ".join(differing)}
    try:
        shared = Store.shared(*place) if place is not None else None
        stores = [shared] if shared is not None else [own_store(worker_folder())]
        # Beside the units' folders nothing of the worker's can be overwritten by name.
        folder = pathlib.Path(tempfile.mkdtemp(prefix="unit-", dir=worker_folder()))
    except (OSError, StoreError) as error:
        return {"trouble": str(error)}
    try:
        missing = lay_out(unit, stores, folder)
        if missing:
            return {"missing": missing}
        announce(attempt)
        commands = kind.commands(unit, versions.command())
        for command in commands:
            for stream in ("stdin", "stdout", "stderr"):
                if stream in command:
                    command[stream] = str(folder / command[stream])
        done = guarded({"commands": commands, "limits": unit.limits.document(), "folder": str(folder)})
        if "died" in done:
            return done
        answer, files = answered(unit, folder, done, here)
        if shared is None:
            return {"answer": answer, "files": files}
        for content in files.values():
            shared.put(content)
        shared.keep(unit.key(version), answer)
        return {"answer": answer}
    except (OSError, StoreError) as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        return {"trouble": f"the disk of {folder.parent} is full" if full else str(error)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def answered(unit: Unit, folder: pathlib.Path, done: dict[str, Any], here: dict[str, str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the answer of a unit that ran, and the files it keeps, by name."""
    try:
        says = judged(unit, folder, done)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        says = Judged("failed", f"what it printed is not of the expected form: {type(error).__name__}: {error}")
    contents: dict[str, bytes] = {}
    for name, path in says.files.items():
        if says.verdict not in LIMITS and (folder / path).is_file():
            content = (folder / path).read_bytes()
            # The folder has another name in each run. A recording is taken as it is: it has lengths and checksums.
            contents[name] = content.replace(str(folder).encode(), b".") if name.endswith(TEXTS) else content
    answer = {
        "verdict": says.verdict,
        "summary": says.summary.replace(str(folder), "."),
        "bounds": [bound.replace(str(folder), ".") for bound in says.bounds],
        "findings": json.loads(json.dumps(says.findings).replace(f"{folder}/", "").replace(str(folder), ".")),
        "counts": says.counts,
        "files": {name: digest(content) for name, content in contents.items()},
        "ran": {
            "seconds": round(done["seconds"], 3),
            "processor": round(done["processor"], 3),
            "megabytes": round(done["peak"] / 1e6, 1),
            "host": socket.gethostname(),
            "finished": round(time.time(), 3),
            "versions": here,
        },
    }
    return answer, contents
