"""Sides of the libraries that are made for one family: sparse linear models, generalised linear models, trees."""


def sparse_model(package, alpha, ratio=1.0):
    """A lasso or an elastic net of celer or skglm; they want columns in one piece."""

    def side(data, _threads):
        import importlib

        import numpy

        module = importlib.import_module(package)
        table = numpy.asfortranarray(data["X"])

        def run():
            if ratio == 1.0:
                return module.Lasso(alpha=alpha).fit(table, data["y"])
            return module.ElasticNet(alpha=alpha, l1_ratio=ratio).fit(table, data["y"])

        return run, lambda model: (numpy.ravel(model.coef_), float(numpy.ravel(model.intercept_)[0]))

    return side


def sparse_models(alpha, ratio=1.0):
    """Both of them."""
    return {package: sparse_model(package, alpha, ratio) for package in ("celer", "skglm")}


def celer_path(data, _threads):
    """celer's path of a hundred penalties of a lasso; it has no intercept, so centring is part of the work."""
    import numpy
    from celer import celer_path as path

    def run():
        table = numpy.asfortranarray(data["X"] - data["X"].mean(axis=0))
        alphas, slopes, _ = path(table, data["y"] - data["y"].mean(), "lasso", eps=1e-3, n_alphas=100, tol=1e-4)
        return alphas, slopes

    return run, lambda path: path


def glum_poisson(data, _threads):
    """glum's Poisson regression without a penalty."""
    from glum import GeneralizedLinearRegressor

    def run():
        return GeneralizedLinearRegressor(family="poisson", alpha=0.0).fit(data["X"], data["y"])

    return run, lambda model: model.predict(data["X"])


def snap_logistic(data, threads):
    """snapml's logistic regression with scikit-learn's default penalty."""
    from snapml import LogisticRegression

    def run():
        return LogisticRegression(regularizer=1.0, fit_intercept=True, n_jobs=threads).fit(data["X"], data["y"])

    return run, lambda model: model.predict_proba(data["X"])


def snap_tree(depth=None):
    """snapml's tree over histograms."""

    def side(data, threads):
        import numpy
        from snapml import DecisionTreeClassifier

        table, queries = (data[key].astype(numpy.float32) for key in ("X", "queries"))

        def run():
            return DecisionTreeClassifier(max_depth=depth, n_jobs=threads, random_state=0).fit(table, data["y"])

        return run, lambda model: model.predict(queries)

    return side


def snap_forest(data, threads):
    """snapml's forest of a hundred trees."""
    import numpy
    from snapml import RandomForestClassifier

    table, queries = (data[key].astype(numpy.float32) for key in ("X", "queries"))

    def run():
        return RandomForestClassifier(n_estimators=100, n_jobs=threads, random_state=0).fit(table, data["y"])

    return run, lambda model: model.predict(queries)


def columns_of(table, labels=None):
    """A table as ydf takes it: one array a column."""
    columns = {f"x{j}": table[:, j].copy() for j in range(table.shape[1])}
    return columns if labels is None else {**columns, "label": labels.astype(int)}


def ydf_tree(depth=None):
    """ydf's single tree, grown without validation rows."""

    def side(data, threads):
        import ydf

        table, queries = columns_of(data["X"], data["y"]), columns_of(data["queries"])
        learner = ydf.CartLearner(
            # Its depth counts the root.
            label="label", max_depth=-1 if depth is None else depth + 1, min_examples=1, validation_ratio=0.0,
            num_threads=threads,
        )
        return lambda: learner.train(table, verbose=0), lambda model: (model.predict(queries) > 0.5).astype(int)

    return side


def ydf_forest(data, threads):
    """ydf's forest of a hundred trees, without its out-of-bag estimate."""
    import ydf

    table, queries = columns_of(data["X"], data["y"]), columns_of(data["queries"])
    learner = ydf.RandomForestLearner(
        label="label", num_trees=100, num_threads=threads, compute_oob_performances=False, max_depth=-1,
        winner_take_all=False,
    )
    return lambda: learner.train(table, verbose=0), lambda model: (model.predict(queries) > 0.5).astype(int)


def ydf_boosting(data, threads):
    """ydf's boosted trees of 31 leaves over 255 bins, without validation rows."""
    import ydf

    table, queries = columns_of(data["X"], data["y"]), columns_of(data["queries"])
    learner = ydf.GradientBoostedTreesLearner(
        label="label", num_trees=100, shrinkage=0.1, growing_strategy="BEST_FIRST_GLOBAL", max_num_nodes=31,
        max_depth=-1, validation_ratio=0.0, early_stopping="NONE", num_threads=threads,
        discretize_numerical_columns=True, num_discretized_numerical_bins=255,
    )
    return lambda: learner.train(table, verbose=0), lambda model: two_columns(model.predict(queries))


def snap_boosting(data, threads):
    """snapml's boosted trees of depth 5 over 256 bins."""
    import numpy
    from snapml import BoostingMachineClassifier

    table, queries = (data[key].astype(numpy.float32) for key in ("X", "queries"))

    def run():
        model = BoostingMachineClassifier(
            num_round=100, learning_rate=0.1, max_depth=5, min_max_depth=5, max_max_depth=5, hist_nbins=256,
            n_jobs=threads, random_state=0,
        )
        return model.fit(table, data["y"])

    return run, lambda model: model.predict_proba(queries)


def catboost(data, threads):
    """CatBoost's trees of 31 leaves."""
    from catboost import CatBoostClassifier

    def run():
        model = CatBoostClassifier(
            iterations=100, learning_rate=0.1, grow_policy="Lossguide", max_leaves=31, thread_count=threads,
            verbose=False, allow_writing_files=False,
        )
        return model.fit(data["X"], data["y"])

    return run, lambda model: model.predict_proba(data["queries"])


def two_columns(positive):
    """Probabilities of both classes from that of the second."""
    import numpy

    return positive if positive.ndim == 2 else numpy.column_stack([1 - positive, positive])


def usearch(data, threads):
    """usearch's graph of near neighbours in float32, built and asked; it misses some."""
    import numpy
    from usearch.index import Index

    table, queries = (data[key].astype(numpy.float32) for key in ("X", "queries"))

    def run():
        index = Index(ndim=table.shape[1], metric="l2sq", dtype="f32")
        index.add(numpy.arange(len(table)), table, threads=threads)
        return index.search(queries, 10, threads=threads)

    return run, lambda found: found.keys


def hnswlib(data, threads):
    """hnswlib's graph of near neighbours in float32, built and asked; it misses some."""
    import hnswlib as library
    import numpy

    table, queries = (data[key].astype(numpy.float32) for key in ("X", "queries"))

    def run():
        index = library.Index(space="l2", dim=table.shape[1])
        index.init_index(max_elements=len(table), ef_construction=200, M=16, random_seed=0)
        index.add_items(table, num_threads=threads)
        index.set_ef(64)
        return index.knn_query(queries, 10, num_threads=threads)[0]

    return run, lambda found: found
