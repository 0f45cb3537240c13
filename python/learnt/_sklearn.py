"""What scikit-learn asks of an estimator: tags and requests for metadata.

scikit-learn is imported only inside methods that only scikit-learn calls.
"""

from ._params import learners_inside

UNCHANGED = "$UNCHANGED$"

# Transformers that give codes of categories, which are no measurements to be rounded.
CODES = ("preprocessing.OneHotEncoder", "preprocessing.OrdinalEncoder")


def _is_given(metric):
    """Whether tables hold distances instead of rows."""
    return isinstance(metric, str) and metric == "precomputed"


class Tagged:
    """Answers scikit-learn's questions from the learner's facts."""

    # Whether `transform` is there beside the roles of the registry.
    _also_transforms = False

    def __sklearn_tags__(self):
        from sklearn.utils import (
            ClassifierTags,
            InputTags,
            RegressorTags,
            Tags,
            TargetTags,
            TransformerTags,
        )

        facts, roles = self._facts(), self._roles()
        accepts = facts["accepts"]
        poor = "beats_the_dummy" in facts["exempt"]
        kinds = {"classifier": "classifier", "regressor": "regressor", "clusterer": "clusterer"}
        kinds = {**kinds, "detector": "outlier_detector", "density": "density_estimator"}
        kinds = [kind for role, kind in kinds.items() if role in roles]
        return Tags(
            estimator_type=kinds[0] if kinds else None,
            target_tags=TargetTags(
                required=facts["target"] != "none",
                multi_output=accepts["many_outputs"] and "regressor" in roles,
                positive_only=facts["positive_target"],
            ),
            classifier_tags=(
                ClassifierTags(poor_score=poor, multi_class=not facts.get("two_classes", False))
                if "classifier" in roles
                else None
            ),
            regressor_tags=RegressorTags(poor_score=poor) if "regressor" in roles else None,
            transformer_tags=(
                TransformerTags(preserves_dtype=self._kept_types() if "transformer" in roles else [])
                if "transformer" in roles or self._also_transforms
                else None
            ),
            input_tags=InputTags(
                allow_nan=accepts["missing"],
                string=accepts["categories"],
                categorical=accepts["categories"],
                pairwise=_is_given(getattr(self, "metric", None)),
            ),
        )

    def _kept_types(self):
        """The types of numbers that transformed rows keep, where all parts do; others become the first."""
        inside = learners_inside(self.get_params(deep=False))
        single = self._path not in CODES and all(
            hasattr(part, "_kept_types") and "float32" in part._kept_types() for part in inside
        )
        return ["float64", "float32"] if single else ["float64"]

    def __sklearn_is_fitted__(self):
        return self.__dict__.get("_model") is not None

    def get_metadata_routing(self):
        """The metadata that this estimator wants from scikit-learn's meta-estimators."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        asked = self.__dict__.get("_metadata_request", {})
        for method in self._weighted_methods():
            alias = asked.get(method, {}).get("sample_weight")
            getattr(request, method).add_request(param="sample_weight", alias=alias)
        return request

    def _weighted_methods(self):
        return [m for m in ("fit", "partial_fit", "score") if hasattr(self, f"set_{m}_request")]

    def _request(self, method, sample_weight):
        if sample_weight != UNCHANGED:
            asked = self.__dict__.setdefault("_metadata_request", {})
            asked.setdefault(method, {})["sample_weight"] = sample_weight
        return self


class Weighted:
    """A learner that takes row weights."""

    def set_fit_request(self, *, sample_weight=UNCHANGED):
        """Asks meta-estimators to pass `sample_weight` to `fit` (True, False, None or an alias)."""
        return self._request("fit", sample_weight)


class Scored:
    """An estimator whose `score` takes row weights."""

    def set_score_request(self, *, sample_weight=UNCHANGED):
        """Asks meta-estimators to pass `sample_weight` to `score`."""
        return self._request("score", sample_weight)
