"""ProxyFit (Section 3.1) as an estimator of scikit-learn, apart since that is slow to import."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted
from sklearn.utils.validation import validate_data

from optuna_zaps import _checks
from optuna_zaps.search.proxy_fit import greedy_subset
from optuna_zaps.search.proxy_fit import relevance_and_redundancy


class ProxyFit(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """Greedy anti-redundant proxy selection (Section 3.1, Algorithm 1).

    Visits the proxies in decreasing order of their absolute Spearman correlation with the labels
    and selects those that correlate below a threshold with all selected so far. It needs labels
    of many configurations, so it is meant for a space that was evaluated before: a search on
    another data set or space starts from the names that it returns.

    Args:
        n_select:
            Number of proxies to select (K = 6 in the paper). Fewer are selected where fewer
            exist or pass the filter.
        redundancy:
            Threshold tau on the absolute Spearman correlation between proxies, in (0, 1]; 0.85
            in the paper.

    Attributes:
        selected_:
            Indices of the selected columns in order of selection, shape (n_selected,).
        selected_names_:
            Their names in the same order; ``x0``, ``x1``, ... for an array without names.
        relevance_:
            Spearman correlation of each column with the labels, shape (n_features,).
        redundancy_:
            Spearman correlation between columns, shape (n_features, n_features).

    Example:
        >>> import pandas as pd
        >>> from optuna_zaps import ProxyFit
        >>> X = pd.DataFrame({"flops": [1, 2, 3, 4], "params": [2, 4, 6, 8], "snip": [1, 4, 2, 3]})
        >>> ProxyFit(n_select=2).fit(X, y=[1, 2, 3, 5]).selected_names_
        ['flops', 'snip']

    Raises:
        ValueError: At ``fit``, if ``n_select`` is below 1 or ``redundancy`` outside (0, 1].
        TypeError: At ``fit``, if ``n_select`` is no integer or ``redundancy`` no number.
    """

    def __init__(self, n_select: int = 6, redundancy: float = 0.85) -> None:
        self.n_select = n_select
        self.redundancy = redundancy

    def fit(self, X: Any, y: Any) -> ProxyFit:
        """Select columns.

        Args:
            X: Proxies, array-like or frame of shape (n_configurations, n_proxies).
            y: Labels, array-like of shape (n_configurations,), larger is better or worse: only
                the strength of the correlation counts.

        Returns:
            The fitted selector.
        """
        n_select = _checks.integer("n_select", self.n_select, least=1)
        redundancy = _checks.number("redundancy", self.redundancy)
        if not 0 < redundancy <= 1:
            raise ValueError(f"redundancy must lie in (0, 1], but got {redundancy}.")
        X, y = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2, order="F"
        )
        self.relevance_, self.redundancy_ = relevance_and_redundancy(X, np.asarray(y, np.float64))
        self.selected_ = np.asarray(
            greedy_subset(
                self.relevance_,
                self.redundancy_,
                threshold=redundancy,
                max_size=n_select,
            ),
            dtype=np.intp,
        )
        return self

    @property
    def selected_names_(self) -> list[str]:
        """Names of the selected proxies in order of selection."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return [f"x{i}" if names is None else str(names[i]) for i in self.selected_.tolist()]

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
