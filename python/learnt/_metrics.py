"""The report of a classification with scikit-learn's signature and text."""

import numpy as np

from ._functions import call

COLUMNS = ("precision", "recall", "f1-score", "support")


def classification_report(
    y_true,
    y_pred,
    *,
    labels=None,
    target_names=None,
    sample_weight=None,
    digits=2,
    output_dict=False,
    zero_division="warn",
):
    """Precision, recall, F1 and rows of every class, and their means, as text or as a dictionary.

    `classification_table` gives the same numbers as arrays.

    Parameters
    ----------
    y_true : array of classes
        The actual class of each row.
    y_pred : array of classes
        The predicted class of each row.
    labels : list or None, default=None
        The classes that count, in their order; all that occur by default.
    target_names : list of str or None, default=None
        Names of the classes, in the same order.
    sample_weight : array of numbers or None, default=None
        How much each row counts.
    digits : int, default=2
        Digits after the point; a dictionary has them all.
    output_dict : bool, default=False
        Whether to give a dictionary of dictionaries.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        What a score is that would divide by zero.

    Returns
    -------
    str or dict
        The report.
    """
    found = _table(y_true, y_pred, labels, sample_weight, zero_division)
    names = list(found["class"])[:-2]
    if target_names is not None:
        if len(target_names) != len(names):
            raise ValueError(
                f"there are {len(names)} classes and {len(target_names)} target_names; name the "
                "classes with labels"
            )
        names = [str(name) for name in target_names]
    columns = [found.precision, found.recall, found.f1_score, found.support]
    rows = {name: [column[i] for column in columns] for i, name in enumerate(names)}
    support = found.support[-1]
    seen = set(np.asarray(y_true).tolist()) | set(np.asarray(y_pred).tolist())
    means = {}
    if labels is None or set(np.asarray(labels).tolist()) >= seen:
        means["accuracy"] = found.accuracy
    else:
        means["micro avg"] = _micro(y_true, y_pred, labels, sample_weight, zero_division, support)
    for name, place in (("macro avg", -2), ("weighted avg", -1)):
        means[name] = [column[place] for column in columns]
    if output_dict:
        return _dictionary(rows, means)
    return _text(rows, means, digits, support, sample_weight is not None)


def _table(y_true, y_pred, labels, sample_weight, zero_division):
    return call(
        "metrics.classification_table",
        ("labels", "labels", "numbers"),
        (y_true, y_pred, sample_weight),
        {"labels": labels, "zero_division": zero_division},
        ("class", "precision", "recall", "f1_score", "support", "accuracy"),
    )


def _micro(y_true, y_pred, labels, sample_weight, zero_division, support):
    """All rows of the classes that count together, where some that occur do not."""
    found = call(
        "metrics.precision_recall_fscore_support",
        ("labels", "labels", "numbers"),
        (y_true, y_pred, sample_weight),
        {"beta": 1.0, "labels": labels, "average": "micro", "zero_division": zero_division},
        ("precision", "recall", "fscore", "support"),
    )
    return [found.precision, found.recall, found.fscore, support]


def _dictionary(rows, means):
    out = {}
    for name, values in {**rows, **means}.items():
        plain = not isinstance(values, list)
        out[name] = values if plain else {c: float(v) for c, v in zip(COLUMNS, values)}
    return out


def _text(rows, means, digits, support, weighted):
    width = max([len(name) for name in rows] + [len("weighted avg"), digits])
    def count(value):
        return f"{value:>9}" if weighted else f"{int(value):>9}"

    def line(name, values):
        *scores, rows = values
        return f"{name:>{width}} " + "".join(f" {s:>9.{digits}f}" for s in scores) + f" {count(rows)}\n"

    out = f"{'':>{width}} " + "".join(f" {head:>9}" for head in COLUMNS) + "\n\n"
    out += "".join(line(name, values) for name, values in rows.items()) + "\n"
    for name, values in means.items():
        if isinstance(values, list):
            out += line(name, values)
        else:
            out += f"{name:>{width}} {'':>10}{'':>10} {values:>9.{digits}f} {count(support)}\n"
    return out
