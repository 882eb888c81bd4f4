"""Rows of a run: in memory, as Parquet, and drawn in a notebook."""

from __future__ import annotations

import dataclasses
import datetime
import html
import json
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import needs
from .unit import Unit

# The order in which verdicts are shown: what needs a look comes first.
VERDICTS = ("findings", "set aside", "failed", "time", "memory", "disk", "gave up", "unsupported", "bad input", "clean")


@dataclasses.dataclass(frozen=True)
class Row:
    """What came of one unit."""

    name: str
    kind: str
    key: str
    verdict: str
    summary: str
    bounds: tuple[str, ...]
    findings: tuple[Mapping[str, Any], ...]
    counts: Mapping[str, float]
    # Name and digest of what the store keeps of it.
    files: Mapping[str, str]
    arguments: Mapping[str, Any]
    inputs: Mapping[str, str]
    limits: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float
    processor: float
    megabytes: float
    finished: float
    host: str
    worker: str
    from_store: bool
    # How often a worker was killed while this unit ran there.
    killed: int

    @classmethod
    def of(cls, unit: Unit, key: str, answer: Mapping[str, Any], *, from_store: bool, worker: str, killed: int) -> Row:
        """Return the row of a unit and its answer."""
        ran = answer["ran"]
        return cls(
            name=unit.name,
            kind=unit.kind,
            key=key,
            verdict=answer["verdict"],
            summary=answer["summary"],
            bounds=tuple(answer["bounds"]),
            findings=tuple(answer["findings"]),
            counts=dict(answer["counts"]),
            files=dict(answer["files"]),
            arguments=dict(unit.arguments),
            inputs=dict(unit.inputs),
            limits=unit.limits.document(),
            versions=dict(ran["versions"]),
            seconds=ran["seconds"],
            processor=ran["processor"],
            megabytes=ran["megabytes"],
            finished=ran["finished"],
            host=ran["host"],
            worker=worker,
            from_store=from_store,
            killed=killed,
        )

    def answer(self) -> dict[str, Any]:
        """Return what the unit's question decides: two runs of one version agree in it, whatever happened to them."""
        return {
            "name": self.name,
            "kind": self.kind,
            "key": self.key,
            "verdict": self.verdict,
            "summary": self.summary,
            "bounds": list(self.bounds),
            "findings": [dict(finding) for finding in self.findings],
            "counts": dict(self.counts),
        }


class Results:
    """The rows of a run, by `for row in results`, `results["name"]`, or as tables of Arrow."""

    def __init__(self, folder: os.PathLike[str] | str) -> None:
        """Start without rows; `write` puts tables into the folder."""
        self.folder = pathlib.Path(folder)
        self.rows: list[Row] = []
        self._names: dict[str, Row] = {}

    def add(self, row: Row) -> None:
        """Add a row; a unit has one."""
        if row.name in self._names:
            raise ValueError(f"{row.name} has a result already")
        self.rows.append(row)
        self._names[row.name] = row

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        """Return the rows in the order of their names."""
        return iter(sorted(self.rows, key=lambda row: row.name))

    def __getitem__(self, name: str) -> Row:
        """Return the row of a unit."""
        return self._names[name]

    def verdicts(self) -> dict[str, int]:
        """Return how many units have each verdict."""
        counted = {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in VERDICTS}
        return {verdict: count for verdict, count in counted.items() if count}

    def answers(self) -> list[dict[str, Any]]:
        """Return what the questions alone decide, in the order of the units' names."""
        return [row.answer() for row in self]

    def table(self) -> Any:
        """Return one row a unit as a table of Arrow."""
        arrow = needs.arrow()
        text, number, real = arrow.string(), arrow.int64(), arrow.float64()
        pairs = arrow.list_(arrow.struct([("name", text), ("sha256", text)]))
        versions = ("parallax", "command", "fleet", "clang", "headers", "libc", "python")
        schema = arrow.schema(
            [("name", text), ("kind", text), ("verdict", text), ("summary", text), ("findings", number), ("bounds", arrow.list_(text))]
            + [("counts", text), ("arguments", text), ("inputs", pairs), ("files", pairs)]
            + [("limit_seconds", real), ("limit_megabytes", number), ("seconds", real), ("processor", real), ("megabytes", real)]
            + [("finished", arrow.timestamp("ms", tz="UTC")), ("host", text), ("worker", text), ("from_store", arrow.bool_())]
            + [("killed", number), ("key", text)]
            + [(f"version_{name}", text) for name in versions]
        )
        rows = [
            {
                "name": row.name,
                "kind": row.kind,
                "verdict": row.verdict,
                "summary": row.summary,
                "findings": len(row.findings),
                "bounds": list(row.bounds),
                "counts": json.dumps(row.counts, sort_keys=True),
                "arguments": json.dumps(row.arguments, sort_keys=True),
                "inputs": [{"name": name, "sha256": blob} for name, blob in sorted(row.inputs.items())],
                "files": [{"name": name, "sha256": blob} for name, blob in sorted(row.files.items())],
                "limit_seconds": row.limits["seconds"],
                "limit_megabytes": row.limits["megabytes"],
                "seconds": row.seconds,
                "processor": row.processor,
                "megabytes": row.megabytes,
                "finished": datetime.datetime.fromtimestamp(row.finished, datetime.timezone.utc),
                "host": row.host,
                "worker": row.worker,
                "from_store": row.from_store,
                "killed": row.killed,
                "key": row.key,
                **{f"version_{name}": row.versions.get(name) for name in versions},
            }
            for row in self
        ]
        return arrow.Table.from_pylist(rows, schema=schema)

    def findings(self) -> Any:
        """Return one row a finding as a table of Arrow."""
        arrow = needs.arrow()
        text, number = arrow.string(), arrow.int64()
        names = ("kind", "status", "file", "line", "function", "message", "fingerprint")
        schema = arrow.schema([("unit", text)] + [(name, number if name == "line" else text) for name in names])
        rows = [{"unit": row.name, **{name: finding[name] for name in names}} for row in self for finding in row.findings]
        return arrow.Table.from_pylist(rows, schema=schema)

    def write(self) -> None:
        """Write results.parquet and findings.parquet into the folder, each as a whole or not at all."""
        parquet = needs.parquet()
        for name, table in (("results", self.table()), ("findings", self.findings())):
            part = self.folder / f".{name}.parquet.part"
            parquet.write_table(table, part, compression="zstd")
            os.replace(part, self.folder / f"{name}.parquet")

    def _repr_html_(self) -> str:
        return rows_as_html(self.rows, limit=200)


def order(row: Row) -> tuple[int, str]:
    """Return the place of a row where what needs a look comes first."""
    return (VERDICTS.index(row.verdict) if row.verdict in VERDICTS else 0, row.name)


def rows_as_html(rows: Sequence[Row], limit: int) -> str:
    """Return a table of rows, what needs a look first."""
    say = html.escape
    shown = sorted(rows, key=order)[:limit]
    out = ["<table class='parallax-fleet'><thead><tr><th>unit</th><th>verdict</th><th>what</th><th>s</th><th>MB</th></tr></thead><tbody>"]
    for row in shown:
        bounds = f"<details><summary>{len(row.bounds)} bounds</summary>{'<br>'.join(map(say, row.bounds[:50]))}</details>" if row.bounds else ""
        seconds = f"{row.seconds:.1f}" + (" (store)" if row.from_store else "")
        out.append(
            f"<tr><td>{say(row.name)}</td><td class='v-{say(row.verdict.replace(' ', '-'))}'>{say(row.verdict)}</td>"
            f"<td>{say(row.summary)}{bounds}</td><td>{seconds}</td><td>{row.megabytes:.0f}</td></tr>"
        )
    out.append("</tbody></table>")
    if len(rows) > len(shown):
        out.append(f"<p>{len(rows) - len(shown)} more units are not shown</p>")
    return "".join(out)
