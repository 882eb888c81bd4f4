"""Units of work: what is asked, on which inputs, within which limits. A unit and a version have one key."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from .store import canonical, digest

# Part of every key: answers of another format are never taken for ours.
FORMAT = "parallax-fleet-unit 1"


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one unit may use. A unit at its limit is ended with all its processes, and its verdict says which limit it was."""

    # By the clock, for all commands of the unit together.
    seconds: float = 600.0
    # Resident memory of all its processes together.
    megabytes: int = 4096
    # One file that it writes.
    file_megabytes: int = 1024

    def document(self) -> dict[str, Any]:
        """Return the limits as JSON has them."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Unit:
    """One question. `name` is for people and unique in a run; `kind`, `arguments` and `inputs` are the question."""

    kind: str
    name: str
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    # Path in the folder where the unit runs, and the digest of the blob that stands there.
    inputs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        """Refuse paths that lead out of the unit's folder."""
        for path in self.inputs:
            pure = pathlib.PurePosixPath(path)
            if pure.is_absolute() or ".." in pure.parts or not pure.parts:
                raise ValueError(f"{self.name}: the input {path!r} would stand outside the unit's folder")

    def question(self) -> dict[str, Any]:
        """Return what decides the answer, version aside."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "arguments": dict(self.arguments),
            "inputs": dict(self.inputs),
            "limits": self.limits.document(),
        }

    def key(self, version: Mapping[str, str]) -> str:
        """Return the key of the answer that this version gives."""
        return digest(canonical({"question": self.question(), "version": dict(version)}))

    def document(self) -> dict[str, Any]:
        """Return the unit as JSON has it."""
        return {
            "kind": self.kind,
            "name": self.name,
            "arguments": dict(self.arguments),
            "inputs": dict(self.inputs),
            "limits": self.limits.document(),
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Unit:
        """Return the unit of a document."""
        return cls(document["kind"], document["name"], document["arguments"], document["inputs"], Limits(**document["limits"]))
