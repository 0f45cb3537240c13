#!/usr/bin/env python3
"""Time learnt and its peers on the same arrays with the same number of threads, and measure their quality.

Every library of a workload has a process of its own, so that thread pools and patches never mix. All of them load
the same arrays and warm up; then they take turns, one at a time, and the best turn of each counts. Results go to
the screen and to files of results/ that are named after the processor (a quick run: quick.json and quick.md).

    python benches/peers.py                     everything
    python benches/peers.py --only 'k-means'    workloads whose name matches
    python benches/peers.py --quick             a tenth of the rows
"""

import argparse
import re
import sys
from pathlib import Path

from learnt_bench import data, report, runner, worker
from learnt_bench.table import WORKLOADS

HERE = Path(__file__).resolve().parent


def arguments_of(words):
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="REGEX", default="", help="workloads whose name matches")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--list", action="store_true", help="show workloads and libraries, run nothing")
    parser.add_argument("--threads", type=int, default=runner.available_cores(), help="default: all cores")
    parser.add_argument("--repeat", type=int, default=3, help="least number of turns (default: 3)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds a turn may take (default: 300)")
    parser.add_argument("--cache", type=Path, default=HERE.parent / "target" / "bench-data", help="where data is kept")
    parser.add_argument("--scale", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    if arguments.threads < 1 or arguments.repeat < 1:
        parser.error("--threads and --repeat must be at least 1")
    arguments.scale = arguments.scale or (0.1 if arguments.quick else 1.0)
    return arguments


def main(words=None):
    """Run the program, as the parent or as a child."""
    arguments = arguments_of(words)
    if arguments.worker:
        return worker.serve(arguments)
    if arguments.make:
        return data.make(arguments.cache, arguments.make, arguments.scale)
    chosen = [workload for workload in WORKLOADS if re.search(arguments.only, workload.name)]
    if arguments.list:
        for workload in chosen:
            print(f"{workload.name} ({workload.shape}): {', '.join(workload.sides)}")
        return None
    if not chosen:
        return f"no workload matches {arguments.only!r}; --list shows them"
    facts = report.machine(arguments.threads, runner.available_cores())
    runner.restrict(arguments.threads)
    name = "quick" if arguments.quick else report.file_name(facts["processor"])
    path = HERE / "results" / f"{name}.json"
    rows = []
    for count, workload in enumerate(chosen, start=1):
        print(f"{count}/{len(chosen)} {workload.name}", file=sys.stderr, flush=True)
        rows.append(report.judge(workload, runner.run(workload, arguments), arguments.scale))
        order = [entry.name for entry in WORKLOADS]
        report.save(path, report.merge(path, facts, rows, order))
    print(report.plain(rows))
    return None


if __name__ == "__main__":
    sys.exit(main())
