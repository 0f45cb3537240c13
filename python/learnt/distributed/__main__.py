"""`python -m learnt.distributed DIR --engine ray`: runs a job that `learnt plan` made, on an engine."""

import argparse
import sys
from pathlib import Path

from ..errors import LearntError
from ._drive import Kept, drive, write
from ._engines import NAMES, choose


def main():
    """Parses the arguments, runs the job and writes the model."""
    parser = argparse.ArgumentParser(prog="learnt.distributed", description=__doc__)
    parser.add_argument("job", help="the folder that `learnt plan` made")
    parser.add_argument("--engine", default="threads", choices=NAMES)
    parser.add_argument("--address", help="of a cluster that is running")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--tasks", type=int)
    parser.add_argument("--memory", type=int, default=1_000_000_000)
    parser.add_argument("--out", help="the model [default: DIR/model.learnt]")
    parser.add_argument("--quiet", action="store_true")
    given = parser.parse_args()
    folder = Path(given.job)
    job = (folder / "job").read_bytes()
    kept = Kept(folder, job, True, folder / "log.ndjson", None if given.quiet else True)
    kept.remove = lambda: None
    with choose(given.engine, given.address, given.workers) as runner:
        options = {"keep": given.memory, "threads": runner.threads}
        model = drive(runner, job, options, given.tasks, kept)
    write(given.out or folder / "model.learnt", model.to_bytes())


if __name__ == "__main__":
    try:
        main()
    except LearntError as error:
        sys.exit(f"error[{error.code}]: {error}")
