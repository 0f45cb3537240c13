"""The page about a model, opened in a browser: its size, its width, and that nothing goes wrong."""

import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from learnt import plot
from learnt.linear_model import LinearRegression, LogisticRegression
from learnt.tree import DecisionTreeClassifier

BROWSER = os.environ.get("LEARNT_CHROMIUM") or next(
    filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None
)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--enable-logging=stderr", "--virtual-time-budget=5000",
]  # fmt: skip

# Asks the page, inside a frame of a given width, for its sizes and its errors.
PROBE = """<!doctype html><meta charset="utf-8"><body>
<iframe id="page" src="report.html" style="width:{width}px;height:800px;border:0"></iframe>
<pre id="found"></pre>
<script>
const errors = [];
window.onerror = (message) => errors.push(message);
document.getElementById("page").onload = (event) => {{
  const inside = event.target.contentDocument;
  document.getElementById("found").textContent = JSON.stringify({{
    scroll: inside.documentElement.scrollWidth,
    client: inside.documentElement.clientWidth,
    figures: inside.querySelectorAll("figure svg").length,
    requests: event.target.contentWindow.performance.getEntriesByType("resource").length,
    headings: inside.querySelectorAll("h2").length,
    errors: errors,
  }});
}};
</script>"""


def report(rows, kind):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(rows, 4))
    noise = rng.normal(size=rows)
    if kind == "regression":
        y = x @ [1.0, -2.0, 0.5, 0.0] + noise
        return plot.report(LinearRegression().fit(x, y), x, y)
    y = np.where(x[:, 0] + 0.5 * noise > 0, "yes", "no")
    learner = LogisticRegression() if kind == "classification" else DecisionTreeClassifier(max_depth=6)
    return plot.report(learner.fit(x, y), x, y)


def open_page(folder, page, width):
    """What the browser finds in a page of this width."""
    (folder / "report.html").write_text(page, encoding="utf-8")
    (folder / "probe.html").write_text(PROBE.format(width=width), encoding="utf-8")
    profile = folder / f"profile{width}"
    address = (folder / "probe.html").as_uri()
    done = subprocess.run(
        [BROWSER, *FLAGS, "--allow-file-access-from-files", f"--user-data-dir={profile}",
         "--dump-dom", address],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    found = re.search(r'<pre id="found">(\{.*?\})</pre>', done.stdout, re.S)
    assert found, done.stdout[-2000:]
    return json.loads(found.group(1)), console


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH")
@pytest.mark.parametrize("kind", ["regression", "classification", "tree"])
def test_a_page_opens_without_errors_and_fits_a_phone(kind, tmp_path):
    page = report(1000, kind)
    assert len(page.encode()) < 1_000_000
    for width in [360, 1200]:
        found, console = open_page(tmp_path, page, width)
        assert console == [] and found["errors"] == []
        assert found["scroll"] <= found["client"] == width
        assert found["figures"] >= 3 and found["headings"] >= 4
        assert found["requests"] == 0


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_a_page_about_a_million_rows_is_as_small(kind):
    page = report(1_000_000, kind)
    assert len(page.encode()) < 1_000_000
    assert "1,000,000 points are drawn as cells" in page or kind == "classification"
