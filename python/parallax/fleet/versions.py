"""What decides an answer besides the unit: the command, this package, the compiler, the machine's headers and C library."""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping

from .store import digest


class NoCommand(Exception):
    """The command `parallax` is not there."""


def command() -> str:
    """Return the path of the command: `$PARALLAX`, or the one beside this module, or the one in PATH."""
    given = os.environ.get("PARALLAX")
    if given:
        if not os.access(given, os.X_OK):
            raise NoCommand(f"$PARALLAX names {given}, which is no program")
        return os.path.abspath(given)
    module = pathlib.Path(__file__).resolve().parent.parent
    # Built: target/debug/python/parallax. Installed: lib/parallax/python/parallax.
    for place in (module.parent.parent / "parallax", module.parent.parent.parent.parent / "bin" / "parallax"):
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    found = shutil.which("parallax")
    if found is None:
        raise NoCommand("the command parallax is not in PATH; PARALLAX names it")
    return os.path.abspath(found)


def _file(path: str) -> str:
    made = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            made.update(piece)
    return made.hexdigest()


@functools.lru_cache(maxsize=8)
def _file_once(path: str, _modified: int, _size: int) -> str:
    return _file(path)


def _first_line(*words: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return "none"
    return (done.stdout.splitlines() or ["none"])[0]


def _package() -> str:
    here = pathlib.Path(__file__).resolve().parent
    made = hashlib.sha256()
    for path in sorted(here.glob("*.py")):
        made.update(f"{path.name} {digest(path.read_bytes())}\n".encode())
    return made.hexdigest()[:16]


def _headers() -> str:
    """Return a digest of the names, sizes and times of the machine's headers: packages of one version agree in them."""
    made = hashlib.sha256()
    for top in ("/usr/include", "/usr/lib/llvm-19/lib/clang/19/include"):
        for folder, folders, files in os.walk(top):
            folders.sort()
            for name in sorted(files):
                status = os.lstat(os.path.join(folder, name))
                made.update(f"{folder}/{name} {status.st_size} {int(status.st_mtime)}\n".encode())
    return made.hexdigest()[:16]


def _libc() -> str:
    machine = os.uname().machine
    found = [path for path in (f"/lib/{machine}-linux-gnu/libc.so.6", f"/lib64/ld-linux-{machine.replace('_', '-')}.so.2") if os.path.exists(path)]
    return digest("".join(_file(path) for path in found).encode())[:16] if found else "none"


@functools.lru_cache(maxsize=8)
def _all(path: str, modified: int, size: int) -> Mapping[str, str]:
    return {
        "parallax": _first_line(path, "--version"),
        "command": _file_once(path, modified, size)[:16],
        "fleet": _package(),
        "clang": _first_line("clang-19", "--version"),
        "headers": _headers(),
        "libc": _libc(),
        "python": sys.version.split()[0],
    }


def here() -> dict[str, str]:
    """Return the versions of this machine; what is slow to find out is found out once a process."""
    path = command()
    status = os.stat(path)
    return dict(_all(path, status.st_mtime_ns, status.st_size))


def of(versions: Mapping[str, str], depends: Iterable[str]) -> dict[str, str]:
    """Return those versions that decide the answer of a kind."""
    return {name: versions[name] for name in depends}
