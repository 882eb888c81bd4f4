"""A content-addressed store: blobs by their SHA-256, answers by the key of their unit.

Every read is checked. A damaged entry counts as absent, is removed, and is counted, so that it is computed again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pathlib
import secrets
import tempfile
from typing import Any, Optional

FORMAT = "parallax-fleet-store 1"


class StoreError(Exception):
    """A store that cannot be used."""


class StoreFull(StoreError):
    """The disk of the store has no room left."""


def digest(content: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def canonical(document: Any) -> bytes:
    """Return JSON in which equal documents are equal bytes."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _is_digest(name: str) -> bool:
    return len(name) == 64 and all(digit in "0123456789abcdef" for digit in name)


class Store:
    """A folder of blobs and answers. Several processes may use it at once, and several machines over a shared file system."""

    def __init__(self, folder: os.PathLike[str] | str) -> None:
        """Open the store in this folder, or make one there."""
        self.folder = pathlib.Path(folder).absolute()
        self.damaged = 0
        # Modification time and size of blobs that were checked.
        self._checked: dict[str, tuple[int, int]] = {}
        marker = self.folder / "format"
        try:
            if not marker.exists():
                if self.folder.exists() and any(self.folder.iterdir()):
                    raise StoreError(f"{self.folder} is not empty and is no store of parallax.fleet")
                (self.folder / "blobs").mkdir(parents=True, exist_ok=True)
                (self.folder / "answers").mkdir(exist_ok=True)
                self._write(marker, f"{FORMAT}\n{secrets.token_hex(16)}\n".encode())
            text = marker.read_text().splitlines()
        except OSError as error:
            raise _told(error, self.folder) from None
        if len(text) != 2 or text[0] != FORMAT:
            raise StoreError(f"{self.folder} is a store of another version: this one writes `{FORMAT}`")
        self.identity = text[1]

    @classmethod
    def shared(cls, folder: str, identity: str) -> Optional[Store]:
        """Return the store of that identity if this machine sees it at that place too."""
        try:
            if not (pathlib.Path(folder) / "format").exists():
                return None
            store = cls(folder)
        except StoreError:
            return None
        return store if store.identity == identity else None

    def _write(self, path: pathlib.Path, content: bytes) -> None:
        """Write a file so that it is there as a whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            try:
                os.unlink(name)
            except OSError:
                pass  # It is only in the way.
            raise

    def _blob(self, name: str) -> pathlib.Path:
        if not _is_digest(name):
            raise StoreError(f"{name!r} is no SHA-256")
        return self.folder / "blobs" / name[:2] / name[2:]

    def _answer(self, key: str) -> pathlib.Path:
        if not _is_digest(key):
            raise StoreError(f"{key!r} is no key")
        return self.folder / "answers" / key[:2] / key[2:]

    def _forget(self, path: pathlib.Path) -> None:
        self.damaged += 1
        try:
            path.unlink()
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise _told(error, self.folder) from None

    def put(self, content: bytes) -> str:
        """Keep bytes, and return their digest."""
        name = digest(content)
        path = self._blob(name)
        try:
            # A file of another size was damaged; the same size is checked when it is read.
            if not (path.exists() and path.stat().st_size == len(content)):
                self._write(path, content)
        except OSError as error:
            raise _told(error, self.folder) from None
        return name

    def get(self, name: str) -> Optional[bytes]:
        """Return the bytes of a digest; None if they are not there, or are others now."""
        path = self._blob(name)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _told(error, self.folder) from None
        if digest(content) != name:
            self._forget(path)
            return None
        return content

    def path(self, name: str) -> Optional[pathlib.Path]:
        """Return the file of a digest, checked once in this process as long as it does not change; None as `get` does."""
        path = self._blob(name)
        try:
            status = path.stat()
            known = (status.st_mtime_ns, status.st_size)
            if self._checked.get(name) != known:
                made = hashlib.sha256()
                with open(path, "rb") as file:
                    while piece := file.read(1 << 20):
                        made.update(piece)
                if made.hexdigest() != name:
                    self._forget(path)
                    return None
                self._checked[name] = known
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _told(error, self.folder) from None
        return path

    def put_file(self, path: os.PathLike[str] | str) -> str:
        """Keep the content of a file, and return its digest."""
        try:
            with open(path, "rb") as file:
                return self.put(file.read())
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror or error}") from None

    def answer(self, key: str) -> Optional[dict[str, Any]]:
        """Return the answer of a unit; None if there is none, or if it or a file of it is damaged."""
        path = self._answer(key)
        try:
            head, _, body = path.read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _told(error, self.folder) from None
        try:
            if head.decode("ascii", "replace") != digest(body):
                raise ValueError("the checksum differs")
            document = json.loads(body)
            if document["key"] != key:
                raise ValueError("the answer of another unit")
            if any(self.path(name) is None for name in document["answer"]["files"].values()):
                raise ValueError("a file is damaged")
        except (ValueError, KeyError, TypeError):
            self._forget(path)
            return None
        answer: dict[str, Any] = document["answer"]
        return answer

    def keep(self, key: str, answer: dict[str, Any]) -> None:
        """Keep the answer of a unit; its files must have been put before."""
        body = canonical({"key": key, "answer": answer})
        try:
            self._write(self._answer(key), digest(body).encode() + b"\n" + body)
        except OSError as error:
            raise _told(error, self.folder) from None

    def forget(self, key: str) -> None:
        """Remove the answer of a unit, so that it is computed again."""
        try:
            self._answer(key).unlink(missing_ok=True)
        except OSError as error:
            raise _told(error, self.folder) from None


def _told(error: OSError, folder: pathlib.Path) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(f"the disk of the store {folder} is full")
    return StoreError(f"the store {folder}: {error.strerror or error}")
