"""What the gate costs: the share of a prediction that goes to looking at every value before the model sees it.

    PYTHONPATH=python python3 benches/checks.py

The gate alone is timed by rows whose very last value is missing: they are looked at to the end and refused before
the model is asked. Each time is the least of several, in turns. For fits the share is that of the same learner's refusal;
learners whose sums show a bad value have no look of their own, so that a refusal takes as long as a fit: "in the sums".
"""

import time

import numpy as np

from learnt.errors import LearntError
from learnt.linear_model import LogisticRegression, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.preprocessing import StandardScaler
from learnt.tree import DecisionTreeClassifier

ROWS, COLUMNS, TURNS = 1_000_000, 20, 7


def seconds(call):
    start = time.perf_counter()
    try:
        call()
    except LearntError:
        pass
    return time.perf_counter() - start


def main():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, COLUMNS))
    numbers, classes = x[:, 0] + x[:, 1], (x[:, 0] + rng.standard_normal(ROWS) > 0).astype(int)
    bad = x.copy()
    bad[-1, -1] = np.inf
    learners = [
        (Ridge(), numbers, "predict"),
        (LogisticRegression(), classes, "predict"),
        (GaussianNB(), classes, "predict"),
        (DecisionTreeClassifier(max_depth=8), classes, "predict"),
        (StandardScaler(), None, "transform"),
    ]
    print(f"{ROWS:,} x {COLUMNS}\n\n| call | seconds | of it the gate | share |\n|---|---|---|---|")
    for learner, y, method in learners:
        given = () if y is None else (y,)
        name = type(learner).__name__
        fits = (lambda: learner.fit(x, *given)), (lambda: learner.fit(bad, *given))
        whole, gate = (min(times) for times in zip(*[[seconds(f) for f in fits] for _ in range(3)]))
        share = f"{gate / whole:.1%}" if gate < 0.7 * whole else "in the sums"
        print(f"| {name}.fit | {whole:.4f} | {gate:.4f} | {share} |", flush=True)
        learner.fit(x, *given)
        ask = getattr(learner, method)
        calls = (lambda: ask(x)), (lambda: ask(bad))
        whole, gate = (min(times) for times in zip(*[[seconds(f) for f in calls] for _ in range(TURNS)]))
        print(f"| {name}.{method} | {whole:.4f} | {gate:.4f} | {gate / whole:.1%} |", flush=True)


if __name__ == "__main__":
    main()
