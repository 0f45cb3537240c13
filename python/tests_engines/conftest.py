import os
import sys

here = os.path.dirname(__file__)
for place in (here, os.path.join(here, "..", "tests"), os.path.join(here, "..")):
    sys.path.insert(0, os.path.abspath(place))
# Workers are other processes, and find the package and the tests there.
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:3] + [os.environ.get("PYTHONPATH", "")])
os.environ["PYSPARK_PYTHON"] = sys.executable

import signal  # noqa: E402

import pytest  # noqa: E402
import streaming  # noqa: E402
from shared import LIMIT  # noqa: E402


@pytest.fixture(autouse=True)
def time_limit():
    """Nothing hangs: a test that takes too long fails."""

    def late(*_):
        raise TimeoutError(f"more than {LIMIT} seconds")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)


@pytest.fixture(scope="session")
def parts(tmp_path_factory):
    return streaming.write(tmp_path_factory.mktemp("rows") / "parts")
