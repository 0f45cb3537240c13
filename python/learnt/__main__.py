"""`python -m learnt`: the version, and the learners."""

import argparse

from . import __version__, registry


def main():
    """Parses the arguments and prints what they ask for."""
    parser = argparse.ArgumentParser(prog="learnt", description=__doc__)
    parser.add_argument("--version", action="version", version=f"learnt {__version__}")
    parser.add_argument("--list", action="store_true", help="list the learners")
    if parser.parse_args().list:
        print("\n".join(registry()))
    else:
        parser.print_help()


if __name__ == "__main__":
    main()
