"""The client of a fleet: which units are still to be done, what came of each, and what to do when something ends.

Dask's scheduler decides which worker does what. Here stands what it does not know: answers that the store has, workers of
another version, how often a unit killed its worker, and how to go on after the scheduler or the client was killed.
"""

from __future__ import annotations

import collections
import dataclasses
import fcntl
import json
import os
import pathlib
import queue
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Optional

from . import needs, versions
from .kinds import KINDS
from .local import ClusterError, Local
from .perform import TOPIC, perform, receive
from .results import Results, Row
from .store import Store, StoreError
from .unit import Unit

# So often a unit may kill its worker.
KILLINGS = 3
# So often the scheduler may be lost without one unit finished between.
LOSSES = 5
# So many seconds another worker is waited for where each that is there was refused.
REFUSAL = 3.0
# Bytes that are sent to a worker in one message.
MESSAGE = 32 << 20


class FleetError(Exception):
    """A run that cannot go on; what was finished is kept."""


@dataclasses.dataclass
class _Attempt:
    unit: Unit
    key: str
    name: str
    future: Any
    since: float


@dataclasses.dataclass
class Progress:
    """Where a run stands."""

    total: int = 0
    done: int = 0
    from_store: int = 0
    verdicts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    running: list[tuple[str, float]] = dataclasses.field(default_factory=list)
    workers: int = 0
    killed: int = 0
    notes: list[str] = dataclasses.field(default_factory=list)
    started: float = 0.0
    finished: bool = False

    def left(self) -> Optional[float]:
        """Return the seconds that the rest takes at the pace so far; None as long as nothing is known."""
        computed = self.done - self.from_store
        if self.finished or computed <= 0:
            return None
        return (self.total - self.done) * (time.time() - self.started) / computed


class Fleet:
    """A folder of results, a store, and a cluster that fills them.

        with Fleet("archive.run", workers=2) as fleet:
            results = fleet.run([Unit("command", "one", {"argv": ["true"]})])

    The same units again in the same folder are answered from the store, so that a run that was broken off goes on.
    """

    def __init__(
        self,
        folder: os.PathLike[str] | str,
        *,
        store: Optional[os.PathLike[str] | str] = None,
        workers: int = 0,
        cluster: Optional[str] = None,
        shared: bool = True,
        patience: float = 60.0,
        watch: Optional[Callable[[Fleet], None]] = None,
    ) -> None:
        """Open a folder; `cluster` is the address of a scheduler, without it there is one on this machine.

        With `shared=False` workers do not use the store's folder, even if they see it. `patience` is for how many
        seconds a scheduler, or a worker of the right version, is waited for. `watch` is called whenever something changed.
        """
        self.folder = pathlib.Path(folder).absolute()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = open(self.folder / "lock", "w")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FleetError(f"another run is at work in {self.folder}") from None
        except OSError as error:
            raise FleetError(f"{self.folder}: {error.strerror or error}") from None
        self.store = Store(store if store is not None else self.folder / "store")
        self.workers = workers or os.cpu_count() or 1
        self.cluster = cluster
        self.shared = shared
        self.patience = patience
        self.version = versions.here()
        self.progress = Progress(started=time.time())
        self.results = Results(self.folder)
        self._watch = watch
        self._local: Optional[Local] = None
        self._client: Any = None
        self._events: queue.Queue[_Attempt] = queue.Queue()
        self._deaths: collections.Counter[str] = collections.Counter()
        self._tries = 0
        self._losses = 0
        self._refused: dict[str, str] = {}
        self._unsent: collections.Counter[str] = collections.Counter()
        self._waiting_since: Optional[float] = None
        self._read_journal()

    def __enter__(self) -> Fleet:
        """Return the fleet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the cluster of this machine."""
        self.close()

    def close(self) -> None:
        """Leave the cluster; the one of this machine ends."""
        self._disconnect()
        if self._local is not None:
            self._local.close()
            self._local = None
        self._lock.close()

    # The journal: what happened, one JSON document a line.

    def _read_journal(self) -> None:
        try:
            lines = (self.folder / "journal.jsonl").read_bytes().splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # The last line of a client that was killed.
            if event.get("event") == "killed":
                self._deaths[event["key"]] += 1
            if event.get("event") == "again":
                self._deaths.pop(event["key"], None)

    def _note(self, event: str, **more: Any) -> None:
        line = json.dumps({"time": round(time.time(), 3), "event": event, **more})
        try:
            with open(self.folder / "journal.jsonl", "a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise FleetError(f"{self.folder}: {error.strerror or error}; {self._kept()}") from None

    def _kept(self) -> str:
        return f"{self.progress.done} of {self.progress.total} units are finished and kept, and the same command goes on from there"

    # The cluster.

    def _connected(self) -> Any:
        """Return a client that is connected, connecting anew if need be."""
        if self._client is not None and self._client.status == "running":
            return self._client
        self._disconnect()
        distributed = needs.distributed()
        ends = time.monotonic() + self.patience
        why = ""
        while time.monotonic() < ends:
            address = self._address()
            try:
                self._client = distributed.Client(address, timeout=min(10, self.patience), set_as_default=False, name="parallax-fleet")
                return self._client
            except (OSError, TimeoutError, ValueError) as error:
                why = str(error) or type(error).__name__
                time.sleep(0.2)
        raise FleetError(f"the scheduler {self._address()} does not answer ({why}); {self._kept()}")

    def _address(self) -> str:
        if self.cluster is not None:
            return self.cluster
        if self._local is None:
            try:
                self._local = Local(self.workers, {"PARALLAX": versions.command()})
            except ClusterError as error:
                raise FleetError(f"{error}; {self._kept()}") from None
        return self._local.address

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            try:
                client.close(timeout=2)
            except Exception:  # Whatever is wrong with a connection that is given up.
                pass

    def _threads(self) -> dict[str, int]:
        """Return the threads of each worker of the right version."""
        try:
            known = self._client.ncores()
        except Exception:  # The scheduler is gone: the next look at the connection tells.
            return {}
        self._refused = {address: why for address, why in self._refused.items() if address in known}
        return {address: threads for address, threads in known.items() if address not in self._refused}

    # Units.

    def put(self, content: bytes) -> str:
        """Keep an input, and return its digest."""
        return self.store.put(content)

    def put_file(self, path: os.PathLike[str] | str) -> str:
        """Keep a file as an input, and return its digest."""
        return self.store.put_file(path)

    def key(self, unit: Unit) -> str:
        """Return the key under which the store has the answer of a unit."""
        return unit.key(versions.of(self.version, KINDS[unit.kind].depends))

    def run(self, units: Iterable[Unit], *, until: Optional[Callable[[Mapping[str, Row]], bool]] = None, again: Sequence[str] = ()) -> Results:
        """Do the units, and return all results of this fleet so far.

        `until` gets the rows of this call by name after each unit, and ends it with True: what is running then is left.
        Units whose verdict is in `again` are computed again; `set aside` is one of those.
        """
        units = list(units)
        names = collections.Counter(unit.name for unit in units)
        names.update(row.name for row in self.results.rows)
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise FleetError(f"two units are called {twice[0]!r}")
        for unit in units:
            if unit.kind not in KINDS:
                raise FleetError(f"{unit.name}: there is no kind {unit.kind!r}")
        self.progress.total += len(units)
        self.progress.finished = False
        self._losses = 0
        mine: dict[str, Row] = {}
        pending: collections.deque[tuple[Unit, str]] = collections.deque()
        for unit in units:
            key = self.key(unit)
            answer = self.store.answer(key)
            if answer is not None and answer["verdict"] in again:
                self.store.forget(key)
                answer = None
            if "set aside" in again and self._deaths[key]:
                self._note("again", key=key)
                del self._deaths[key]
            if answer is not None:
                mine[unit.name] = self._finish(unit, key, answer, from_store=True)
            elif self._deaths[key] >= KILLINGS:
                mine[unit.name] = self._set_aside(unit, key)
            else:
                pending.append((unit, key))
        flying: dict[str, _Attempt] = {}
        try:
            while (pending or flying) and not (until is not None and until(mine)):
                self._step(pending, flying, mine)
        except StoreError as error:
            raise FleetError(f"{error}; {self._kept()}") from None
        finally:
            self._drop(flying)
            self.progress.running = []
            if self.store.damaged:
                self._say(f"{self.store.damaged} damaged entries of the store were computed again")
                self.store.damaged = 0
            self.progress.finished = not pending and not flying
            self._changed()
            self.results.write()
        return self.results

    def _drop(self, flying: dict[str, _Attempt]) -> None:
        for attempt in flying.values():
            try:
                attempt.future.cancel()
            except Exception:  # The scheduler is gone, and with it the future.
                pass
        flying.clear()

    def _changed(self) -> None:
        if self._watch is not None:
            self._watch(self)

    def _say(self, note: str) -> None:
        self.progress.notes.append(note)
        self._note("note", note=note)

    def _finish(self, unit: Unit, key: str, answer: dict[str, Any], *, from_store: bool, worker: str = "") -> Row:
        row = Row.of(unit, key, answer, from_store=from_store, worker=worker, killed=self._deaths[key])
        self.results.add(row)
        self.progress.done += 1
        self.progress.from_store += from_store
        self.progress.verdicts[row.verdict] += 1
        self._losses = 0
        self._changed()
        return row

    def _set_aside(self, unit: Unit, key: str) -> Row:
        self._note("set aside", key=key, unit=unit.name)
        answer = {
            "verdict": "set aside",
            "summary": f"its worker was killed {self._deaths[key]} times",
            "bounds": [f"set aside after {self._deaths[key]} killed workers"],
            "findings": [],
            "counts": {},
            "files": {},
            "ran": {"seconds": 0.0, "processor": 0.0, "megabytes": 0.0, "host": "", "finished": time.time(), "versions": self.version},
        }
        return self._finish(unit, key, answer, from_store=False)

    def _step(self, pending: collections.deque[tuple[Unit, str]], flying: dict[str, _Attempt], mine: dict[str, Row]) -> None:
        """Hand out what there is room for, and take what came back."""
        client = self._connected()
        threads = self._threads()
        self.progress.workers = sum(threads.values())
        if not threads and not flying:
            self._wait_for_workers()
            return
        if threads:
            self._waiting_since = None
        # One more for each worker than it does at once, so that none waits for us.
        room = 2 * sum(threads.values()) - len(flying)
        while pending and room > 0:
            unit, key = pending.popleft()
            self._hand_out(client, unit, key, threads, flying)
            room -= 1
        self.progress.running = [(attempt.unit.name, attempt.since) for attempt in flying.values()]
        try:
            first: Optional[_Attempt] = self._events.get(timeout=0.1)
        except queue.Empty:
            first = None
            self._changed()
        while first is not None:
            if flying.get(first.name) is first:
                del flying[first.name]
                self._take(client, first, pending, mine)
            try:
                first = self._events.get_nowait()
            except queue.Empty:
                first = None
        if client.status != "running":
            self._lost(flying, pending)

    def _lost(self, flying: dict[str, _Attempt], pending: collections.deque[tuple[Unit, str]]) -> None:
        """Take back what the scheduler had when it was lost; what finished in a shared store is found there."""
        self._losses += 1
        names = [attempt.unit.name for attempt in flying.values()]
        self._say("the scheduler was lost, and with it what was running")
        for attempt in reversed(flying.values()):
            pending.appendleft((attempt.unit, attempt.key))
        flying.clear()
        self._disconnect()
        if self._losses >= LOSSES:
            raise FleetError(f"the scheduler was lost {self._losses} times without a unit finished; at work were {', '.join(names[:6])}; {self._kept()}")

    def _wait_for_workers(self) -> None:
        now = time.monotonic()
        self._waiting_since = self._waiting_since or now
        # Where every worker is refused, another one is not waited for as long.
        patience = min(self.patience, REFUSAL) if self._refused else self.patience
        if now - self._waiting_since > patience:
            refused = "".join(f"\n  {address} is refused: {why}" for address, why in sorted(self._refused.items()))
            raise FleetError(f"no worker of this version within {patience:g} s{refused}\n{self._kept()}")
        time.sleep(0.05)

    def _hand_out(self, client: Any, unit: Unit, key: str, threads: Mapping[str, int], flying: dict[str, _Attempt], at: Optional[str] = None) -> None:
        self._tries += 1
        name = f"{key[:16]}-{os.getpid()}-{self._tries}"
        place = (str(self.store.folder), self.store.identity) if self.shared else None
        version = versions.of(self.version, KINDS[unit.kind].depends)
        more: dict[str, Any] = {}
        if self._refused:
            more = {"workers": list(threads)}
        if at is not None:
            more = {"workers": [at], "allow_other_workers": True}
        future = client.submit(perform, unit.document(), version, place, name, key=name, pure=False, **more)
        attempt = _Attempt(unit, key, name, future, time.time())
        flying[name] = attempt
        events = self._events
        future.add_done_callback(lambda _: events.put(attempt))

    def _take(self, client: Any, attempt: _Attempt, pending: collections.deque[tuple[Unit, str]], mine: dict[str, Row]) -> None:
        """Look at what came of an attempt."""
        unit, key, future = attempt.unit, attempt.key, attempt.future
        status = future.status
        if status in ("cancelled", "lost"):
            # With the scheduler; `_lost` counts that.
            pending.appendleft((unit, key))
            if client.status == "running":
                client.close(timeout=2)
            return
        if status == "error":
            self._failed(client, attempt, pending, mine)
            return
        try:
            came, worker = future.result(timeout=self.patience), ""
            worker = came.get("worker", "")
        except Exception:  # The worker that had the result, or the scheduler, ended meanwhile: once more.
            pending.appendleft((unit, key))
            return
        if "refused" in came:
            self._refused[worker] = came["refused"]
            self._say(f"worker {worker} is refused: {came['refused']}")
            pending.appendleft((unit, key))
        elif "missing" in came:
            self._send(client, worker, came["missing"], unit)
            pending.appendleft((unit, key))
        elif "died" in came:
            self._killed(unit, key, worker, f"the unit's processes were ended from outside ({came['died']})", pending, mine)
        elif "trouble" in came:
            self._refused[worker] = came["trouble"]
            self._say(f"worker {worker} is not used any more: {came['trouble']}")
            pending.appendleft((unit, key))
        else:
            self._keep(unit, key, came)
            mine[unit.name] = self._finish(unit, key, came["answer"], from_store=False, worker=worker)

    def _keep(self, unit: Unit, key: str, came: Mapping[str, Any]) -> None:
        files = came.get("files")
        if files is None:
            return  # The worker has put it into the store that both see.
        for content in files.values():
            self.store.put(content)
        self.store.keep(key, came["answer"])

    def _failed(self, client: Any, attempt: _Attempt, pending: collections.deque[tuple[Unit, str]], mine: dict[str, Row]) -> None:
        unit, key = attempt.unit, attempt.key
        error = attempt.future.exception()
        if type(error).__name__ != "KilledWorker":
            raise FleetError(f"{unit.name}: {type(error).__name__}: {error}\n{self._kept()}")
        try:
            events = client.get_events(TOPIC)
        except Exception:  # The scheduler ended as well: nobody is blamed.
            events = ()
        workers = [event["worker"] for _, event in events if event["attempt"] == attempt.name]
        if not workers:
            # It waited in line behind the one that was at work.
            pending.appendleft((unit, key))
            return
        for worker in workers[:-1]:
            self._deaths[key] += 1
            self._note("killed", key=key, unit=unit.name, worker=worker)
        self._killed(unit, key, workers[-1], "the worker was killed", pending, mine)

    def _killed(self, unit: Unit, key: str, worker: str, why: str, pending: collections.deque[tuple[Unit, str]], mine: dict[str, Row]) -> None:
        self._deaths[key] += 1
        self.progress.killed += 1
        self._note("killed", key=key, unit=unit.name, worker=worker, why=why)
        answer = self.store.answer(key)
        if answer is not None:
            # It had finished, and its worker was killed before that was told.
            mine[unit.name] = self._finish(unit, key, answer, from_store=False, worker=worker)
        elif self._deaths[key] >= KILLINGS:
            mine[unit.name] = self._set_aside(unit, key)
        else:
            # At the end of the line: whatever kills here shall not keep the others waiting.
            pending.append((unit, key))

    def _send(self, client: Any, worker: str, missing: Sequence[str], unit: Unit) -> None:
        """Send a worker the inputs that it lacks, once, whatever number of units use them."""
        message: dict[str, bytes] = {}
        for number, name in enumerate(missing, 1):
            content = self.store.get(name)
            if content is None:
                raise FleetError(f"{unit.name}: its input {name[:16]} is not in the store, or was damaged there; {self._kept()}")
            message[name] = content
            if number == len(missing) or sum(map(len, message.values())) > MESSAGE:
                try:
                    wrong = client.run(receive, message, workers=[worker]).get(worker, [])
                except Exception as error:  # The worker or the wire ended: the unit is handed out again.
                    self._not_taken(worker, f"it did not take its inputs ({type(error).__name__}: {error})")
                    return
                if wrong:
                    self._not_taken(worker, f"{len(wrong)} inputs arrived there as other bytes")
                    return
                message = {}

    def _not_taken(self, worker: str, why: str) -> None:
        """Count what a worker did not take; it is sent again some times, then that worker is left."""
        self._unsent[worker] += 1
        self._note("not taken", worker=worker, why=why)
        if self._unsent[worker] >= LOSSES:
            self._refused[worker] = why
            self._say(f"worker {worker} is not used any more: {why}")
