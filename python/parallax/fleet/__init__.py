"""Many machines: an archive checked, reports triaged, schedules tried, a recording searched, our own semantics fuzzed.

Dask's `distributed` hands units out; each runs the command `parallax` in processes of its own, within limits. Answers are
kept by what was asked and by the version that answered, so that nothing is computed twice and a run that was broken off
goes on. `parallax fleet --help` has the same on the command line.

    from parallax import fleet

    with fleet.Fleet("archive.run", workers=2) as cluster:
        results = cluster.run(fleet.packages(cluster, ["hello_2.10.orig.tar.gz"]))
    results.table().to_pandas()
"""

from .drive import Fleet, FleetError, Progress
from .local import ClusterError
from .needs import Missing
from .plan import files, functions, fuzz, packages, reports, schedules, search
from .results import Results, Row
from .store import Store, StoreError, StoreFull
from .unit import Limits, Unit

__all__ = [
    "ClusterError",
    "Fleet",
    "FleetError",
    "Limits",
    "Missing",
    "Progress",
    "Results",
    "Row",
    "Store",
    "StoreError",
    "StoreFull",
    "Unit",
    "files",
    "functions",
    "fuzz",
    "packages",
    "reports",
    "schedules",
    "search",
]
