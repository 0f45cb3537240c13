"""`learnt`, as a script of the package and as `python -m learnt`: the command, without another install."""

import sys

from . import _native


def main():
    """Runs the command with the arguments of this process, and ends it with its exit code."""
    sys.exit(_native.command(["learnt", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
