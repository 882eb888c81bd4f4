"""A program that is recorded while it is looked at (section 4.1.4): it runs during cont(), and Ctrl-C stops it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Optional

from ._native import RecordingError, execution


class live:
    """The execution of a program that may go on. What has been recorded so far is asked like any execution.

        the_execution.cont()      # until Ctrl-C, or the program's end
        t = the_execution.get_time()
        the_execution.breakpoints("foo").get_before(t)

    Traces see what was recorded when they were made: after another cont(), make them again.
    """

    def __init__(self, command: str, recording: str, program: Sequence[str], stream: str = "0") -> None:
        self._command = [command, "record", "--output", recording, "--", *program]
        self._recording = recording
        self._stream = stream
        self._recorder: Optional[subprocess.Popen[bytes]] = None
        self._known: Optional[execution] = None

    def cont(self) -> int:
        """Let the program run until it ends or Ctrl-C is pressed, and return the time it has come to.

        The program does not hear of Ctrl-C.
        """
        if self._recorder is not None and self._recorder.poll() is not None:
            print(f"the program has ended, with status {self._recorder.returncode}", file=sys.stderr)
            return self.get_time()
        self._known = None
        # Ctrl-C may come as soon as the program goes on, before anybody waits for it.
        try:
            recorder = self._go_on()
            status = recorder.wait()
            print(f"the program has ended, with status {status}", file=sys.stderr)
        except KeyboardInterrupt:
            self._stop()
            print(file=sys.stderr)
        return self.get_time()

    def _go_on(self) -> subprocess.Popen[bytes]:
        if self._recorder is not None:
            self._recorder.send_signal(signal.SIGCONT)
            return self._recorder
        # Ctrl-C is the prompt's: what is ignored stays so in a program that is started.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self._recorder = subprocess.Popen(self._command)
        finally:
            signal.signal(signal.SIGINT, before)
        return self._recorder

    def _stop(self) -> None:
        recorder = self._recorder
        if recorder is None or recorder.poll() is not None:
            return
        recorder.send_signal(signal.SIGSTOP)
        # It stops at once, but not at the same time.
        for _ in range(1000):
            with open(f"/proc/{recorder.pid}/stat", encoding="ascii", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] in "Tt":
                    return
            time.sleep(0.001)

    def _now(self) -> execution:
        if self._recorder is None:
            raise RecordingError("nothing has run yet: the_execution.cont() starts the program")
        if self._known is None:
            self._known = execution(self._recording, stream=self._stream)
        return self._known

    def get_time(self) -> int:
        """Return the time after the last step that was recorded; 1 if nothing has run yet."""
        return 1 if self._recorder is None else self._now().get_time()

    def is_running(self) -> bool:
        """Return whether the program has not ended."""
        return self._recorder is not None and self._recorder.poll() is None

    def close(self) -> None:
        """End the program. What was recorded stays."""
        if self._recorder is not None and self._recorder.poll() is None:
            self._recorder.kill()
            self._recorder.wait()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._now(), name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(execution)})

    def __repr__(self) -> str:
        state = "not started" if self._recorder is None else "stopped" if self.is_running() else "ended"
        return f"<execution of {' '.join(self._command[5:])}, {state}, recorded into {os.path.basename(self._recording)}>"
