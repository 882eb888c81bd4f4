"""A cluster on this machine: a scheduler and workers, each a process, all on the loopback interface.

A worker that ends is started again, and so are all of them with the scheduler. They end with the process that made them.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import Optional

# So long a process may take to come up, on a machine with much else to do.
PATIENCE = 600.0


class ClusterError(Exception):
    """A cluster that cannot be used."""


class Local:
    """A scheduler and workers of one thread each, watched by a thread of this process."""

    def __init__(self, workers: int, environment: Optional[Mapping[str, str]] = None) -> None:
        """Start them."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="parallax-fleet-"))
        self.environment = {**os.environ, **(environment or {})}
        self.address = ""
        self.restarts = 0
        self._count = workers
        self._lock = threading.Lock()
        self._closed = False
        self.scheduler: Optional[subprocess.Popen[bytes]] = None
        self.workers: list[subprocess.Popen[bytes]] = []
        ready = threading.Event()
        # Children are ended with the thread that made them: this one lives until the end.
        self._thread = threading.Thread(target=self._watch, args=(ready,), daemon=True, name="parallax-fleet-local")
        self._thread.start()
        if not ready.wait(PATIENCE) or not self.address:
            words = self._said()
            self.close()
            raise ClusterError(f"the local cluster does not start{': ' + words if words else ''}")

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with open(self.folder / "log", "ab") as log:
            command = [sys.executable, "-m", "parallax.fleet.node", *arguments, str(self.folder)]
            return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def _said(self) -> str:
        try:
            lines = (self.folder / "log").read_text("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def _start_scheduler(self) -> None:
        file = self.folder / "address"
        file.unlink(missing_ok=True)
        self.scheduler = self._start("scheduler", "-")
        ends = time.monotonic() + PATIENCE
        while not file.exists() and self.scheduler.poll() is None and time.monotonic() < ends and not self._closed:
            time.sleep(0.02)
        self.address = file.read_text() if file.exists() else ""

    def _watch(self, ready: threading.Event) -> None:
        while not self._closed:
            with self._lock:
                if self._closed:
                    break
                if self.scheduler is None or self.scheduler.poll() is not None:
                    if self.scheduler is not None:
                        self.restarts += 1
                    self._end(self.workers)
                    self.workers = []
                    self._start_scheduler()
                    if not self.address:
                        ready.set()
                        return
                for number, worker in enumerate(self.workers):
                    if worker.poll() is not None:
                        self.restarts += 1
                        self.workers[number] = self._start("worker", self.address)
                while len(self.workers) < self._count:
                    self.workers.append(self._start("worker", self.address))
            ready.set()
            time.sleep(0.05)

    @staticmethod
    def _end(processes: list[subprocess.Popen[bytes]]) -> None:
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
        for process in processes:
            process.wait()

    def close(self) -> None:
        """End all of them, and remove what they wrote."""
        self._closed = True
        with self._lock:
            self._end([*self.workers, *([self.scheduler] if self.scheduler is not None else [])])
        self._thread.join(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)
