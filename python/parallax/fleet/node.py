"""One process of a local cluster: python3 -m parallax.fleet.node scheduler|worker ADDRESS FOLDER"""

from __future__ import annotations

import asyncio
import ctypes
import os
import pathlib
import signal
import sys
from typing import Any

from . import needs

LOOPBACK = "127.0.0.1"


async def scheduler(folder: pathlib.Path) -> None:
    """Run a scheduler until it is ended, its address in a file."""
    made: Any = needs.distributed().Scheduler(host=LOOPBACK, port=0, dashboard=False, dashboard_address=f"{LOOPBACK}:0")
    async with made:
        (folder / "address.part").write_text(made.address)
        os.replace(folder / "address.part", folder / "address")
        await made.finished()


async def worker(address: str, folder: pathlib.Path) -> None:
    """Run a worker until its scheduler is gone."""
    made: Any = needs.distributed().Worker(
        address,
        nthreads=1,
        host=LOOPBACK,
        # The warden of each unit looks after memory.
        memory_limit=0,
        dashboard=False,
        dashboard_address=f"{LOOPBACK}:0",
        local_directory=str(folder),
        death_timeout=60,
    )
    async with made:
        await made.finished()


def main() -> int:
    """Do what the command line says."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    role, address, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    dask: Any = needs.distributed()
    import dask.config as config  # type: ignore[import-not-found, import-untyped, unused-ignore, no-redef]

    config.set(
        {
            # How often a unit may kill its worker is counted by the client, which knows which unit was at work.
            "distributed.scheduler.allowed-failures": 0,
            "distributed.scheduler.work-stealing": False,
            "distributed.admin.low-level-log-length": 10_000,
        }
    )
    del dask
    if os.getppid() != parent:
        return 1
    asyncio.run(scheduler(folder) if role == "scheduler" else worker(address, folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
