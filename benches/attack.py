"""What a hostile or unlucky user does, many times over, with the command and the Python package.

    PYTHONPATH=python python3 benches/attack.py target/release/learnt
    PYTHONPATH=python python3 benches/attack.py target/release/learnt csv models --seed 7 --times 5

Prints attempts and failures of each class of attack, and the first failures of each. A failure is a crash, an
answer where there is none, a number that is not finite, a file that is lost, a byte that a terminal or a shell
would obey, or memory far above the limit. Linux only. Takes some minutes; `--times` makes classes that draw
their attempts longer. The exit code is 1 if anything failed.
"""

import argparse
import csv
import hashlib
import html
import importlib
import io
import json
import math
import os
import pathlib
import pickle
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

import learnt
from learnt._base import build, registry
from learnt.compose import ColumnTransformer
from learnt.dummy import DummyClassifier
from learnt.errors import LearntError
from learnt.pipeline import Pipeline
from learnt.preprocessing import StandardScaler

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benches"))
from limits import peak  # noqa: E402

# Exit codes that say what was wrong; 1 is a defect of the program.
REFUSALS = range(2, 10)
PARTS = {
    "pipeline.Pipeline": lambda: Pipeline([("scale", StandardScaler()), ("classify", DummyClassifier())]),
    "compose.ColumnTransformer": lambda: ColumnTransformer([("scale", StandardScaler(), slice(None))]),
}


class Attack:
    """The command, a folder of its own, and the count of attempts and failures."""

    def __init__(self, command, folder, seed, times):
        self.command, self.folder, self.times = command, pathlib.Path(folder), times
        self.draw = random.Random(seed)
        self.attempts, self.failures = 0, []

    def run(self, *words, source=None, out=None):
        """Exit code and texts of a call; a crash counts as a failure."""
        words = [self.command, *map(str, words)]
        pipe = subprocess.PIPE
        done = subprocess.run(words, cwd=self.folder, input=source, stdout=out or pipe, stderr=pipe, timeout=120)
        said = done.stderr.decode(errors="replace")
        self.told = (done.stdout or b"").decode(errors="replace"), said
        if done.returncode < 0 and done.returncode != -signal.SIGPIPE or "panicked" in said or "E900" in said:
            self.failures.append(f"crash {done.returncode}: {words[1:]}: {said[:200]}")
        return done.returncode

    def expect(self, good, what):
        self.attempts += 1
        if not good:
            self.failures.append(str(what)[:300])

    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path


def make(path):
    return PARTS[path]() if path in PARTS else build(path, registry()[path]["check_with"])


def learners():
    return [path for path in registry() if not registry()[path]["accepts"]["sequences"]]


def small_table(kind, rows=48):
    """Rows without holes and a target for a learner."""
    rng = np.random.default_rng(1)
    x = np.abs(rng.normal(size=(rows, 3))) + 0.1
    numbers = x @ [1.0, 2.0, 0.5] + rng.uniform(0.1, 0.3, rows)
    return x, {"numbers": numbers, "classes": (x[:, 0] > np.median(x[:, 0])).astype(int), "none": None}[kind]


def answers(learner, x):
    """Everything that a fitted learner says about rows, by method."""
    for method in ("predict", "transform", "predict_proba", "decision_function", "score_samples"):
        call = getattr(learner, method, None)
        if call is not None:
            yield method, call


def holes(attack):
    """Missing and infinite values at prediction, for every learner."""
    for path in learners():
        facts, (x, y) = registry()[path], small_table(registry()[path]["target"])
        learner = make(path)
        try:
            learner.fit(x) if y is None else learner.fit(x, y)
        except LearntError:
            continue
        takes = path in PARTS or facts["accepts"]["missing"]
        for value in (math.nan, math.inf, -math.inf):
            bad = x[:4].copy()
            bad[2, 1] = value
            for method, call in answers(learner, bad):
                try:
                    call(bad)
                    # Infinities are numbers to learners that only compare, and missing values to those that take them.
                    good = takes or bool(facts["accepts"]["missing"])
                except (LearntError, AttributeError, NotImplementedError) as error:
                    said = str(error)
                    good = not isinstance(error, LearntError) or "row 3" in said or "x1" in said or "new rows" in said
                attack.expect(good, f"{path}.{method} with {value}")
    holes_of_the_command(attack)


def holes_of_the_command(attack):
    x, y = small_table("numbers")
    lines = [f"{a:.3f},{b:.3f},{c:.3f},{t:.3f},{'uv'[int(t > 3)]}" for (a, b, c), t in zip(x, y)]
    attack.file("whole.csv", "a,b,c,y,k\n" + "\n".join(lines) + "\n")
    attack.file("hole.csv", "a,b,c,y,k\n" + "\n".join([lines[0], ",1,2,3,u", lines[1]]) + "\n")
    for path in learners():
        facts = registry()[path]
        target = {"numbers": ["-t", "y", "--ignore", "k"], "classes": ["-t", "k", "--ignore", "y"]}
        words = ["fit", facts["command"], "whole.csv", "-o", "m.learnt", "-f", "-q", "--no-prepare"]
        words += target.get(facts["target"], ["--ignore", "y,k"])
        if path in PARTS or attack.run(*words) != 0:
            continue
        code = attack.run("predict", "m.learnt", "hole.csv")
        if facts["accepts"]["missing"]:
            attack.expect(code in (0, *REFUSALS), f"{path}: exit {code}")
            continue
        named = "row 2" in attack.told[1] and "'a'" in attack.told[1]
        attack.expect(code in REFUSALS and (named or "new rows" in attack.told[1]), f"{path}: exit {code}: {attack.told[1]}")
        for policy, rows in (("skip", 3), ("impute", 3)):
            code = attack.run("predict", "m.learnt", "hole.csv", "--missing", policy)
            lines = attack.told[0].splitlines()[1:]
            attack.expect(code in REFUSALS or len(lines) == rows, f"{path} --missing {policy}: {code}, {lines}")
            attack.expect("nan" not in attack.told[0].lower(), f"{path} --missing {policy}: {lines}")


def random_csv(draw):
    """A header and rows of texts that CSV finds hard, and the rows as Python's csv module reads them."""
    width = draw.randint(1, 4)
    words = ["", "a", "x y", '"', ",", "\n", "\r", "\r\n", "ü", "0", "1.5", "-3", "NA", "'", ";", " b", "c ", "\t"]
    end = draw.choice(["\n", "\r\n", "\n", "\n"])

    def field():
        text = "".join(draw.choice(words) for _ in range(draw.randint(0, 3)))
        plain = not set(text) & set('",\r\n')
        return text if plain and draw.random() < 0.7 else '"' + text.replace('"', '""') + '"'

    lines = [",".join(f"c{j}" for j in range(width))]
    lines += [",".join(field() for _ in range(width)) for _ in range(draw.randint(1, 6))]
    if draw.random() < 0.2:
        lines.insert(draw.randint(1, len(lines)), "")
    text = end.join(lines) + (end if draw.random() < 0.8 else "")
    rows = list(csv.reader(io.StringIO(text, newline="")))[1:]
    kept = []
    for row in rows:
        if row or width == 1:
            kept.append([cell or None for cell in row] or [None])
    # Empty lines at the end of one column are no rows.
    return text, width, kept


def tables(attack):
    """Random CSV beside Python's csv module."""
    for i in range(400 * attack.times):
        text, width, expected = random_csv(attack.draw)
        attack.file("t.csv", text)
        types = [word for j in range(width) for word in ("--type", f"c{j}=cat")]
        code = attack.run("convert", "t.csv", "t.ndjson", "-f", "-q", "--header", "yes", "--delimiter", ",", *types)
        if code != 0:
            # Whatever is refused says why; texts of one column that are all empty hold nothing.
            attack.expect(code in REFUSALS and "error[" in attack.told[1], f"{text!r}: {attack.told[1]}")
            continue
        found = [json.loads(line) for line in (attack.folder / "t.ndjson").read_text().splitlines()]
        found = [[row.get(f"c{j}") for j in range(width)] for row in found]
        trimmed = [[cell if cell is None else cell.strip(" \t") or None for cell in row] for row in expected]
        found = [[cell if cell is None else cell.strip(" \t") or None for cell in row] for row in found]
        while width == 1 and trimmed and trimmed[-1] == [None] and len(trimmed) > len(found):
            trimmed.pop()
        attack.expect(found == trimmed, f"{text!r}: {found} and not {trimmed}")


def levels(attack):
    """Categories that training did not see, and types that changed."""
    draw = attack.draw
    rows = [f"{draw.choice('pqr')},{draw.random():.3f},{draw.choice('uv')}" for _ in range(60)]
    attack.file("train.csv", "g,x,k\n" + "\n".join(rows) + "\n")
    attack.file("new.csv", "g,x\np,0.5\nzz,0.4\n")
    attack.file("typed.csv", "g,x\np,word\n")
    attack.file("fewer.csv", "g\np\n")
    attack.file("turned.csv", "x,g\n0.5,p\n")
    attack.file("same.csv", "g,x\np,0.5\n")
    for path in learners():
        facts = registry()[path]
        if facts["target"] != "classes" or path in PARTS:
            continue
        for policy in (None, "missing", "other"):
            words = ["fit", facts["command"], "train.csv", "-t", "k", "-o", "m.learnt", "-f", "-q"]
            if attack.run(*words, *(["--unknown", policy] if policy else [])) != 0:
                continue
            code = attack.run("predict", "m.learnt", "new.csv")
            refused = code in REFUSALS and "zz" in attack.told[1]
            reads = facts["accepts"]["categories"]
            attack.expect(refused or (policy or reads) and code == 0 or code in REFUSALS, f"{path} {policy}: exit {code}")
            if not policy:
                for other in ("typed.csv", "fewer.csv"):
                    attack.expect(attack.run("predict", "m.learnt", other) in REFUSALS, f"{path}: {other}")
                attack.run("predict", "m.learnt", "same.csv")
                same = attack.told[0]
                attack.run("predict", "m.learnt", "turned.csv")
                attack.expect(attack.told[0] == same, f"{path}: columns in another order")


def bits(attack):
    """Flipped bits of a Parquet file with checksums: refused, or the same table."""
    data = (ROOT / "fuzz/corpus/parquet/checked.parquet").read_bytes()
    attack.file("whole.parquet", data)
    attack.run("convert", "whole.parquet", "whole.csv", "-f", "-q")
    whole = (attack.folder / "whole.csv").read_bytes()
    for _ in range(300 * attack.times):
        forged, place = bytearray(data), attack.draw.randrange(len(data))
        forged[place] ^= 1 << attack.draw.randrange(8)
        attack.file("forged.parquet", bytes(forged))
        code = attack.run("convert", "forged.parquet", "forged.csv", "-f", "-q")
        same = code == 0 and (attack.folder / "forged.csv").read_bytes() == whole
        attack.expect(code in REFUSALS or same, f"byte {place}: exit {code}")


def extremes(attack):
    """Targets, weights and inputs at the ends of what numbers are."""
    sizes = (1e-300, 1e-160, 1e120, 1e200, 1e300, 1.7e308)
    cases = [("target", size) for size in sizes] + [("weights", size) for size in (1e-300, 1e300, 1.7e308)]
    cases += [("inputs", size) for size in sizes] + [("one input", size) for size in (1e200, 1e308)]
    for path in learners():
        facts = registry()[path]
        for what, size in cases:
            x, y = small_table(facts["target"])
            given = {}
            if what == "target" and facts["target"] == "numbers":
                y = y / y.max() * size
            elif what == "weights" and facts["accepts"]["weights"]:
                given = {"sample_weight": np.full(len(x), size)}
            elif what == "inputs":
                x = x / x.max() * size
            elif what == "one input":
                x[3, 1] = size
            else:
                continue
            learner = make(path)
            try:
                learner.fit(x, **given) if y is None else learner.fit(x, y, **given)
                learner = pickle.loads(pickle.dumps(learner))
                found = [(method, call(x)) for method, call in answers(learner, x)]
            except (LearntError, AttributeError, NotImplementedError):
                attack.expect(True, "")
                continue
            except BaseException as error:
                attack.expect(False, f"{path} {what} {size}: {type(error).__name__}: {error}")
                continue
            # A density may be zero; its logarithm is then minus infinity.
            numbers = [(m, np.asarray(v, float)) for m, v in found if np.asarray(v).dtype.kind in "biuf"]
            bad = [m for m, v in numbers if np.isnan(v).any() or m != "score_samples" and np.isinf(v).any()]
            attack.expect(not bad, f"{path} {what} {size}: {bad}")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def places(attack):
    """Inputs, devices, links and modes that an output could destroy."""
    folder = attack.folder
    attack.run("convert", "iris", "d.csv", "-f", "-q")
    attack.run("fit", "tree", "d.csv", "-t", "species", "-o", "m.learnt", "-f", "-q")
    writers = {
        "predict": ["predict", "m.learnt", "d.csv", "-o"],
        "fit": ["fit", "tree", "d.csv", "-t", "species", "-o"],
        "convert": ["convert", "d.csv"],
        "make": ["make", "blobs", "--n-samples", "20", "-o"],
        "report": ["report", "m.learnt", "d.csv", "-o"],
        "plot": ["plot", "tree", "m.learnt", "-o"],
        "path": ["path", "lasso", "d.csv", "-t", "petal_width", "--ignore", "species", "-o"],
    }
    endings = {"fit": ".learnt", "report": ".html", "plot": ".svg", "make": ".csv"}
    for name, words in writers.items():
        ending = endings.get(name, ".csv")
        for read in ("d.csv", "m.learnt"):
            before = digest(folder / read)
            for force in ([], ["-f"]):
                uses = read in words
                code = attack.run(*words, read, *force, "-q")
                kept = digest(folder / read) == before
                attack.expect(kept if uses or not force else True, f"{name} {read} {force}: exit {code}, lost")
                if not kept:
                    attack.run("convert", "iris", "d.csv", "-f", "-q")
                    attack.run("fit", "tree", "d.csv", "-t", "species", "-o", "m.learnt", "-f", "-q")
        places_of(attack, name, words, ending)


def places_of(attack, name, words, ending):
    folder = attack.folder
    there = attack.file("there" + ending, "old")
    code = attack.run(*words, there, "-q")
    attack.expect(code in REFUSALS and there.read_bytes() == b"old", f"{name}: replaced without -f, exit {code}")
    there.chmod(0o600)
    code = attack.run(*words, there, "-f", "-q")
    attack.expect(code != 0 or stat.S_IMODE(there.stat().st_mode) == 0o600, f"{name}: mode lost")
    link, real = folder / ("link" + ending), attack.file("real" + ending, "old")
    link.symlink_to(real.name)
    code = attack.run(*words, link, "-f", "-q")
    attack.expect(link.is_symlink() and (code != 0 or real.read_bytes() != b"old"), f"{name}: link replaced")
    link.unlink()
    pipe = folder / ("pipe" + ending)
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.DEVNULL)
    code = attack.run(*words, pipe, "-f", "-q")
    attack.expect(stat.S_ISFIFO(pipe.stat().st_mode), f"{name}: pipe replaced, exit {code}")
    reader.kill()
    reader.wait()
    pipe.unlink()
    device = folder / ("device" + ending)
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except OSError:
        return
    code = attack.run(*words, device, "-f", "-q")
    attack.expect(stat.S_ISCHR(device.lstat().st_mode), f"{name}: device replaced, exit {code}")
    device.unlink()
    left = [p.name for p in folder.iterdir() if "tmp" in p.name]
    attack.expect(not left, f"{name}: left {left}")


def ends(attack):
    """Output onto a full device, and into a pipe that nobody reads."""
    attack.run("fit", "tree", "iris", "-o", "m.learnt", "-f", "-q")
    verbs = [
        ["--version"], ["--help"], ["list"], ["list", "learners", "--json"], ["dataset", "iris"], ["dataset"],
        ["describe", "iris"], ["describe", "iris", "--json"], ["predict", "m.learnt", "iris"],
        ["predict", "m.learnt", "iris", "--json"], ["score", "m.learnt", "iris"], ["summary", "m.learnt"],
        ["inspect", "m.learnt"], ["inspect", "m.learnt", "--json"], ["cv", "tree", "iris", "--folds", "2"],
        ["compare", "iris", "--only", "tree", "--folds", "2"], ["show", "ridge"], ["explain", "m.learnt", "iris"],
        ["theory", "hoeffding", "--n", "10"], ["make", "blobs", "--n-samples", "9"], ["plot", "tree", "m.learnt"],
        ["ask", "m.learnt"], ["help", "fit"], ["path", "lasso", "cpu"], ["stat", "describe", "iris"],
    ]  # fmt: skip
    for verb in verbs:
        if attack.run(*verb) != 0:
            continue
        with open("/dev/full", "wb") as full:
            code = attack.run(*verb, out=full)
        attack.expect(code not in (0, 1, 101), f"{verb} onto a full device: exit {code}")
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as closed:
            code = attack.run(*verb, out=closed)
        quiet = "error" not in attack.told[1].lower()
        attack.expect(code in (0, -signal.SIGPIPE, 141) and quiet, f"{verb} into a closed pipe: {code} {attack.told[1]}")


def memory(attack):
    """What needs more memory than there may be."""
    attack.file("ids.csv", "id,x,y\n" + "".join(f"name{i},{i % 7},{i % 2}\n" for i in range(100_000)))
    columns = ",".join(f"x{j}" for j in range(20_000))
    rows = "\n".join(",".join(str((i * j) % 9) for j in range(20_000)) + f",{'ab'[i % 2]}" for i in range(12))
    attack.file("wide.csv", f"{columns},k\n{rows}\n")
    calls = [
        ["fit", "ridge", "ids.csv", "-t", "y", "--keep", "all"],
        ["fit", "logistic", "ids.csv", "-t", "y", "--task", "classify", "--keep", "all"],
        ["make", "blobs", "--n-samples", "2000000000", "-o", "o.csv", "-f"],
        ["fit", "lasso-cv", "cpu", "--alphas", "2147483647"],
        ["fit", "k-bins-discretizer", "cpu", "--n-bins", "2147483647"],
        *([["fit", name, "wide.csv", "-t", "k"] for name in ("lda", "qda", "rda", "logistic", "gaussian-nb")]),
        ["fit", "pca", "wide.csv", "--ignore", "k"],
        ["describe", "ids.csv"],
    ]
    for words in calls:
        for limit in (100, 200):
            share, code = peak([attack.command, *words, "-q"], attack.folder, limit)
            good = code in (0, *REFUSALS) and share <= 1.25
            attack.expect(good, f"{words} at {limit} MB: {share:.2f} of it, exit {code}")


def threads(attack):
    """Numbers of threads that no machine has."""
    # One a core, or 16 where that is more, beside the one that waits and the one that hears signals.
    allowed = max(16, os.cpu_count() or 1) + 4
    for count in ("5000", "1000000", "0"):
        most = 0
        words = [attack.command, "cv", "random-forest-classifier", "iris", "-j", count, "-q"]
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while child.poll() is None:
            try:
                status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
                most = max(most, *map(int, re.findall(r"Threads:\s+(\d+)", status)))
            except (OSError, TypeError):
                pass
            time.sleep(0.002)
        attack.expect(most <= allowed and child.returncode == 0, f"-j {count}: {most} threads")
    x, y = small_table("classes")
    for path in learners():
        learner = make(path) if path not in PARTS else None
        if learner is None or "n_jobs" not in learner.get_params() or registry()[path]["target"] != "classes":
            continue
        learner.set_params(n_jobs=10**6).fit(x, y)
        count = len(os.listdir("/proc/self/task"))
        attack.expect(count <= 2 * allowed, f"{path}: {count} threads")


HOSTILE = ("\x1b[31mred\x07", "$(touch pwned)", "<script>alert(1)</script>", "a\u202eb\x9b2J|c`d`", "'; touch pwned; '", "=1+1")


def names(attack):
    """Column names and classes that a terminal, a shell, a page or a spreadsheet would obey."""
    cells = lambda row: ",".join('"' + cell.replace('"', '""') + '"' for cell in row)  # noqa: E731
    for first in range(len(HOSTILE)):
        row = [*HOSTILE[first:], *HOSTILE[:first]]
        lines = [cells(row)]
        for i in range(48):
            lines.append(cells([str(i % 7), str(i * i % 11), str(i), str(i % 5), str(i * 3 % 13), row[i % 3]]))
        attack.file("h.csv", "\n".join(lines) + "\n")
        target = row[-1]
        verbs = [
            ["describe", "h.csv"], ["describe", "h.csv", "-t", target, "--json"],
            ["fit", "tree", "h.csv", "-t", target, "-o", "m.learnt", "-f"], ["inspect", "m.learnt"], ["summary", "m.learnt"],
            ["inspect", "m.learnt", "--json"], ["score", "m.learnt", "h.csv"], ["cv", "tree", "h.csv", "-t", target],
            ["compare", "h.csv", "-t", target, "--only", "tree,dummy-classifier"], ["ask", "m.learnt"],
            ["fit", "ols", "h.csv", "-t", row[0], "--ignore", target], ["explain", "m.learnt", "h.csv"],
            ["path", "lasso", "h.csv", "-t", row[0], "--ignore", target], ["plot", "tree", "m.learnt"],
            ["report", "m.learnt", "h.csv", "-o", "r.html", "-f"], ["plot", "tree", "m.learnt", "-o", "p.svg", "-f"],
            ["predict", "m.learnt", target], ["fit", "tree", "h.csv", "-t", target + "x"],
        ]  # fmt: skip
        for verb in verbs:
            code = attack.run(*verb)
            said = "".join(attack.told)
            bad = [c for c in said if (ord(c) < 32 and c not in "\n") or 127 <= ord(c) < 160 or "\u202a" <= c <= "\u202e"]
            attack.expect(not bad and code != 1, f"{verb}: exit {code}, {bad[:3]}")
            for line in said.splitlines():
                if line.strip().startswith("next:"):
                    proposed = line.split("next:", 1)[1].replace("learnt ", "true ")
                    subprocess.run(["sh", "-c", proposed], cwd=attack.folder, capture_output=True, timeout=20)
                    attack.expect(not (attack.folder / "pwned").exists(), f"{verb}: {line}")
        for page in ("r.html", "p.svg"):
            path = attack.folder / page
            text = path.read_text() if path.exists() else ""
            attack.expect("<script" not in text and "\x1b" not in text, f"{page} obeys a name")
        attack.expect(html.escape("<script>") in (attack.folder / "r.html").read_text(), "the page lost a name")


def summed(body):
    return body + hashlib.sha256(body).digest()


def models(attack):
    """Model files with changed bytes, with the checksum as it was and made right."""
    x, y = small_table("classes")
    kept = []
    for path in learners():
        facts = registry()[path]
        x, y = small_table(facts["target"])
        learner = make(path)
        try:
            learner.fit(x) if y is None else learner.fit(x, y)
            learner.save(attack.folder / "m.learnt")
        except (LearntError, AttributeError):
            continue
        kept.append((path, (attack.folder / "m.learnt").read_bytes()))
        (attack.folder / "m.learnt").unlink()
    for path, data in kept:
        for i in range(25 * attack.times):
            body = bytearray(data[:-32])
            for _ in range(attack.draw.randint(1, 3)):
                place = attack.draw.randrange(len(body))
                body[place] = attack.draw.choice([body[place] ^ 1 << attack.draw.randrange(8), attack.draw.randrange(256), 57])
            forged = bytes(body) + data[-32:] if i % 5 == 0 else summed(bytes(body))
            forged = forged[: attack.draw.randrange(len(forged))] if i % 7 == 0 else forged
            if bytes(body) + data[-32:] == data:
                continue
            place = attack.file("forged.learnt", forged)
            try:
                model = learnt.load(place)
                found = [np.asarray(call(x)) for _, call in answers(model, x)]
                good = i % 5 != 0 and i % 7 != 0
                good = good and not any(np.isnan(v).any() for v in found if v.dtype.kind == "f")
            except (LearntError, AttributeError, NotImplementedError, MemoryError):
                good = True
            except BaseException as error:
                good = False
                path = f"{path}: {type(error).__name__} {error}"
            attack.expect(good, f"{path}, attempt {i}")


def minor(attack):
    """Single things that were wrong once."""
    refused = [
        ["score", "m.learnt", "iris", "--fail-under", "accuracy=nan"],
        ["predict", "m.learnt", "iris", "-o", "p.xyz"],
        ["convert", "iris", "t.unknown"],
        ["fit", "tree", "iris", "--max-depth", "nan"],
        ["fit", "tree", "iris", "--seed", "18446744073709551616"],
        ["fit", "ridge", "cpu", "--alpha", "-1"],
        ["fit", "ridge", "cpu", "--alpha", "nan"],
        ["describe", "no-such-file.csv"],
        ["describe", "."],
        ["fit", "kmeans", "iris", "--ignore", "species", "--n-clusters", "0"],
    ]
    attack.run("fit", "tree", "iris", "-o", "m.learnt", "-f", "-q")
    for words in refused:
        code = attack.run(*words)
        attack.expect(code in REFUSALS, f"{words}: exit {code}")
    attack.file("na.csv", "x,y\n-999,1\n2,2\n3,3\n")
    attack.expect(attack.run("describe", "na.csv", "--na", "-999") == 0, "--na -999")
    attack.expect(attack.run("fit", "gaussian-nb", "iris", "--stream", "-o", "s.learnt", "-f", "-q") == 0, "bundled sets stream")
    attack.file("big.csv", "x,y\n1e999,1\n2,2\n9007199254740993,3\n")
    attack.run("describe", "big.csv")
    attack.expect("lost digits" in attack.told[1], "numbers that lose their size are not mentioned")
    for encoding in ("utf-16-le", "utf-16-be", "utf-16"):
        attack.file("wide.csv", "a,b\n1,2\n3,4\n".encode(encoding))
        attack.expect(attack.run("describe", "wide.csv") in REFUSALS, f"{encoding} without a word")
        code = attack.run("convert", "wide.csv", "w.csv", "-f", "-q", "--encoding", "utf-16")
        same = code == 0 and (attack.folder / "w.csv").read_text() == "a,b\n1,2\n3,4\n"
        attack.expect(same, f"{encoding}: exit {code}")


CLASSES = {
    "holes": holes,
    "csv": tables,
    "levels": levels,
    "bits": bits,
    "extremes": extremes,
    "places": places,
    "ends": ends,
    "memory": memory,
    "threads": threads,
    "names": names,
    "models": models,
    "minor": minor,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="the built command")
    parser.add_argument("classes", nargs="*", help=f"of {', '.join(CLASSES)}; all of them by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--times", type=int, default=1, help="how many times as many attempts")
    given = parser.parse_args()
    command = str(pathlib.Path(given.command).resolve())
    warnings.simplefilter("ignore")
    failed = 0
    print("| attack | attempts | failures | seconds |\n|---|---|---|---|")
    for name in given.classes or CLASSES:
        folder = tempfile.mkdtemp(prefix="learnt-attack-")
        attack, start = Attack(command, folder, given.seed, given.times), time.time()
        CLASSES[name](attack)
        shutil.rmtree(folder)
        text = CLASSES[name].__doc__.rstrip(".").splitlines()[0]
        print(f"| {text} | {attack.attempts} | {len(attack.failures)} | {time.time() - start:.0f} |", flush=True)
        for failure in attack.failures[:8]:
            print(f"    {failure!r}", file=sys.stderr)
        failed += len(attack.failures)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
