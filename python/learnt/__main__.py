"""`learnt`, as a script of the package and as `python -m learnt`: the command, without another install."""

import os
import sys

from . import _native


def main():
    """Runs the command with the arguments of this process, and ends it with its exit code."""
    # What the command lets Python do is done by this one.
    os.environ.setdefault("LEARNT_PYTHON", sys.executable or "python3")
    sys.exit(_native.command(["learnt", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
