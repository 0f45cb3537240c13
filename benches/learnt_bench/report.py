"""From measurements to rows, and from rows to the table on the screen, the JSON and the Markdown file."""

import importlib.metadata
import json
import platform
import re
from datetime import datetime, timezone

from .workloads import OURS

PACKAGES = (
    "learnt",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "statsmodels",
    "mlpack",
    "faiss-cpu",
    "pandas",
    "polars",
    "pyarrow",
)
# Share of the machine other programs may use during a best turn before the row is called noisy.
NOISY = 0.1
HEADINGS = ("workload", "data", "fastest peer", "peer s", "ours s", "ratio", "quality", "ours", "best peer", "verdict")
LEFT = (0, 1, 2, 6, 9)


def processor():
    """The name of the processor."""
    try:
        with open("/proc/cpuinfo") as source:
            for line in source:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def file_name(processor):
    """The name of the files with a processor's results: `intel-xeon`, `amd-epyc`."""
    words = re.sub(r"\(\w+\)|@.*|\bCPU\b|\bProcessor\b|\b\d+-Core\b", " ", processor)
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or "unknown"


def version(package):
    """The installed version of a package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def machine(threads, cores):
    """What the numbers were measured on."""
    return {
        "processor": processor(),
        "cores": cores,
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {package: version(package) for package in PACKAGES},
    }


def judge(workload, sides, scale):
    """One row: ours against the fastest peer in time and the best peer in quality."""
    ours = next(side for side in sides if side["name"] == OURS)
    racing = [
        side
        for side in sides
        if side["name"] != OURS and side["name"] not in workload.informative and side["seconds"] is not None
    ]
    fastest = min(racing, key=lambda side: side["seconds"], default=None)
    best = (max if workload.higher else min)((side["quality"] for side in racing), default=None)
    row = {
        "workload": workload.name,
        "data": workload.shape if scale == 1 else f"{workload.shape}; rows x {scale:g}",
        "fastest_peer": fastest and fastest["name"],
        "peer_seconds": fastest and fastest["seconds"],
        "our_seconds": ours["seconds"],
        "ratio": None,
        "metric": workload.metric,
        "our_quality": ours["quality"],
        "best_peer_quality": best,
        "noisy": any((side.get("foreign") or 0) > NOISY for side in (ours, fastest) if side),
        "measured": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "sides": sides,
    }
    if ours["seconds"] is None:
        row["verdict"] = "ours not measured"
    elif fastest is None:
        row["verdict"] = "no peer measured"
    else:
        row["ratio"] = ours["seconds"] / fastest["seconds"]
        faults = ["slower"] if row["ratio"] > 1 else []
        faults += ["WORSE QUALITY"] if workload.worse(ours["quality"], best) else []
        row["verdict"] = ", ".join(faults) or "met"
    return row


def number(value, pattern):
    """A number, or a dash."""
    return "-" if value is None else format(value, pattern)


def cells(row):
    """The texts of one row of the table."""
    return (
        row["workload"],
        row["data"],
        row["fastest_peer"] or "-",
        number(row["peer_seconds"], ".3f"),
        number(row["our_seconds"], ".3f"),
        number(row["ratio"], ".2f"),
        row["metric"],
        number(row["our_quality"], ".6g"),
        number(row["best_peer_quality"], ".6g"),
        row["verdict"] + (" (noisy)" if row["noisy"] else ""),
    )


def notes(rows):
    """What went otherwise than planned, a line each; the same reason once."""
    found = {}
    for row in rows:
        for side in row["sides"]:
            if side["note"]:
                found.setdefault((side["name"], side["note"]), []).append(row["workload"])
    return [f"{name}: {note} ({', '.join(workloads)})" for (name, note), workloads in found.items()]


def plain(rows):
    """The table for the screen."""
    lines = [HEADINGS, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    text = [
        "  ".join(
            cell.ljust(width) if column in LEFT else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    ]
    text.insert(1, "-" * len(text[0]))
    return "\n".join(text + [""] * bool(notes(rows)) + notes(rows))


def side_text(side):
    """A side's time, or why there is none."""
    seconds = number(side["seconds"], ".3f")
    return f"{side['name']} {seconds}" if side["seconds"] is not None else f"{side['name']} ({side['note']})"


def markdown(document):
    """The report as Markdown."""
    facts, rows = document["machine"], document["rows"]
    versions = ", ".join(f"{name} {found}" for name, found in facts["versions"].items() if found)
    lines = [
        "# learnt beside its peers",
        "",
        f"{facts['processor']}, {facts['cores']} cores, {facts['threads']} threads, {facts['system']}, "
        f"Python {facts['python']}; {versions}.",
        "",
        "Best of the interleaved turns, in seconds; ratio = ours / fastest peer, below 1 is faster. A row is met when",
        "it is no slower than the fastest peer and its quality no worse than the best peer's beyond the tolerance.",
        "A noisy row had other programs on the machine during a best turn.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "| " + " | ".join("---" if column in LEFT else "---:" for column in range(len(HEADINGS))) + " |",
        *("| " + " | ".join(cells(row)) + " |" for row in rows),
        "",
        "## Every library",
        "",
        *(f"- {row['workload']}: " + "; ".join(side_text(side) for side in row["sides"]) for row in rows),
    ]
    if notes(rows):
        lines += ["", "## Notes", "", *(f"- {note}" for note in notes(rows))]
    return "\n".join(lines) + "\n"


def merge(path, facts, rows, order):
    """The new rows with the older ones of other workloads, if those were measured on the same machine and versions."""
    kept = {}
    try:
        older = json.loads(path.read_text())
    except (OSError, ValueError):
        older = {}
    if older.get("machine") == facts:
        kept = {row["workload"]: row for row in older["rows"]}
    kept |= {row["workload"]: row for row in rows}
    return {"machine": facts, "rows": [kept[name] for name in order if name in kept]}


def save(path, document):
    """Write the JSON file and the Markdown file beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")
    path.with_suffix(".md").write_text(markdown(document))
