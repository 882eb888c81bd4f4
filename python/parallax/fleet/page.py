"""The page of a run: what runs, what is done, what failed and why, what the rest will take. It loads itself anew."""

from __future__ import annotations

import html
import os
import pathlib
import time
from typing import TYPE_CHECKING

from .results import VERDICTS, rows_as_html

if TYPE_CHECKING:
    from .drive import Fleet

STYLE = """
:root { color-scheme: light dark; --line: #d0d7de; --bar: #2f6feb; --soft: #6e7781; }
@media (prefers-color-scheme: dark) { :root { --line: #30363d; --soft: #9198a1; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .2rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p { margin: .3rem 0; } .soft { color: var(--soft); }
.bar { height: .7rem; background: var(--line); border-radius: .35rem; overflow: hidden; margin: .8rem 0; }
.bar div { height: 100%; background: var(--bar); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .6rem; vertical-align: top; }
tbody tr { border-top: 1px solid var(--line); } td:nth-child(n+4) { text-align: right; font-variant-numeric: tabular-nums; }
th:nth-child(n+4) { text-align: right; } td { overflow-wrap: anywhere; } td:nth-child(4) { white-space: nowrap; }
.v-findings, .v-set-aside, .v-failed { color: #cf222e; font-weight: 600; } .v-clean { color: #1a7f37; }
.counts { display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; } .counts b { font-size: 1.15rem; }
details { color: var(--soft); font-size: .9em; }
"""


def duration(seconds: float) -> str:
    """Return a duration as people write it."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def line(fleet: Fleet) -> str:
    """Return where the run stands, in one line."""
    progress = fleet.progress
    words = [f"{progress.done} of {progress.total}"]
    words += [f"{progress.verdicts[verdict]} {verdict}" for verdict in VERDICTS if progress.verdicts[verdict]]
    if progress.from_store:
        words.append(f"{progress.from_store} from the store")
    if progress.killed:
        words.append(f"{progress.killed} tried again")
    left = progress.left()
    if left is not None:
        words.append(f"about {duration(left)} left")
    return ", ".join(words)


def render(fleet: Fleet) -> str:
    """Return the page."""
    say, progress, now = html.escape, fleet.progress, time.time()
    title = fleet.folder.name
    share = 100 * progress.done / progress.total if progress.total else 0
    counts = [f"<span><b>{progress.verdicts[verdict]}</b> {verdict}</span>" for verdict in VERDICTS if progress.verdicts[verdict]]
    left = progress.left()
    state = "finished" if progress.finished else f"{len(progress.running)} handed out to {progress.workers} workers"
    if left is not None:
        state += f", about {duration(left)} left"
    extra = [f"{progress.from_store} answered from the store" if progress.from_store else "", f"{progress.killed} tried again" if progress.killed else ""]
    out = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        "" if progress.finished else "<meta http-equiv='refresh' content='2'>",
        "<meta name='viewport' content='width=device-width'>",
        f"<title>{progress.done}/{progress.total} {say(title)}</title><style>{STYLE}</style>",
        f"<h1>{say(title)}</h1><p>{progress.done} of {progress.total} units done; {say(state)}.</p>",
        f"<div class='bar' role='progressbar' aria-valuenow='{share:.0f}'><div style='width:{share:.1f}%'></div></div>",
        f"<p class='counts'>{''.join(counts)}</p>",
        f"<p class='soft'>{say('; '.join(word for word in extra if word))}</p>",
    ]
    if progress.running:
        rows = "".join(f"<tr><td>{say(name)}</td><td>{duration(now - since)}</td></tr>" for name, since in progress.running[:50])
        out.append(f"<h2>Handed out</h2><table><thead><tr><th>unit</th><th>since</th></tr></thead><tbody>{rows}</tbody></table>")
    if progress.notes:
        out.append(f"<h2>What happened</h2>{''.join(f'<p>{say(note)}</p>' for note in progress.notes[-20:])}")
    if len(fleet.results):
        out.append(f"<h2>Done</h2>{rows_as_html(fleet.results.rows, limit=1000)}")
    versions = ", ".join(f"{name} {value}" for name, value in fleet.version.items())
    out.append(f"<p class='soft'>Versions: {say(versions)}</p></html>")
    return "\n".join(part for part in out if part)


def write(fleet: Fleet) -> None:
    """Write the page into the run's folder."""
    path = pathlib.Path(fleet.folder) / "page.html"
    part = path.with_suffix(".part")
    part.write_text(render(fleet), encoding="utf-8")
    os.replace(part, path)
