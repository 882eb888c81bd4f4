"""What a fleet needs besides `parallax`: imported when it is used, with one command that installs what is missing."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import sysconfig
from typing import Any

# The versions that the tests run with. Scheduler, workers and client of one cluster need the same version of distributed.
REQUIREMENTS = ("distributed==2026.8.0", "pyarrow==26.0.1")


class Missing(Exception):
    """A package that is not installed, with the command that installs it."""


def install() -> str:
    """Return the command that installs what a fleet needs."""
    packages = " ".join(REQUIREMENTS)
    if os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")) and sys.prefix == sys.base_prefix:
        # A distribution's own interpreter refuses what its packages did not install.
        return f"{sys.executable} -m venv ~/.parallax-fleet && ~/.parallax-fleet/bin/pip install {packages}\nand with PARALLAX_PYTHON=~/.parallax-fleet/bin/python that one is used"
    return f"{sys.executable} -m pip install {packages}"


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"parallax.fleet needs the Python package {name.partition('.')[0]} ({error}). To install it:\n  {install()}") from None


def distributed() -> Any:
    """Return Dask's module `distributed`; lost connections are told by us, not by its log."""
    module = _imported("distributed")
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    return module


def arrow() -> Any:
    """Return the module `pyarrow`."""
    return _imported("pyarrow")


def parquet() -> Any:
    """Return the module `pyarrow.parquet`."""
    return _imported("pyarrow.parquet")
