from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

class Result(dict[str, Any]):
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

def minimize(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: Any = ...,
    method: str = ...,
    jac: Callable[..., ArrayLike] | bool | None = ...,
    hess: Callable[..., ArrayLike] | None = ...,
    bounds: Any = ...,
    tol: float | None = ...,
    options: dict[str, Any] | None = ...,
    *,
    rate: float | None = ...,
    schedule: str = ...,
    power: float = ...,
    factor: float = ...,
    every: int = ...,
    momentum: float = ...,
    beta1: float = ...,
    beta2: float = ...,
    epsilon: float = ...,
    max_iter: int = ...,
    gtol: float | None = ...,
    ftol: float | None = ...,
    xtol: float | None = ...,
    target: float | None = ...,
    equalities: ArrayLike | None = ...,
    step: Callable[[NDArray[Any], int], float] | None = ...,
    trace: bool = ...,
) -> Result: ...
def minimize_stochastic(
    grad: Callable[[NDArray[Any], NDArray[Any]], ArrayLike],
    x0: ArrayLike,
    n: int,
    fun: Callable[[NDArray[Any]], float] | None = ...,
    *,
    batch_size: int = ...,
    order: str = ...,
    method: str = ...,
    rate: float | None = ...,
    schedule: str = ...,
    power: float = ...,
    factor: float = ...,
    every: int = ...,
    momentum: float = ...,
    beta1: float = ...,
    beta2: float = ...,
    epsilon: float = ...,
    average_from: int | None = ...,
    mean: bool = ...,
    max_iter: int = ...,
    ftol: float | None = ...,
    xtol: float | None = ...,
    target: float | None = ...,
    random_state: int = ...,
    trace: bool = ...,
) -> Result: ...
def learning_rate_study(
    fun: Callable[..., Any],
    x0: ArrayLike,
    rates: ArrayLike,
    *,
    args: Any = ...,
    jac: Callable[..., ArrayLike] | bool | None = ...,
    steps: int = ...,
) -> Result: ...
def em(
    e_step: Callable[[Any], tuple[Any, float]],
    m_step: Callable[[Any], Any],
    start: Any,
    *,
    n_init: int = ...,
    max_iter: int = ...,
    tol: float = ...,
    strict: bool = ...,
) -> Result: ...
def maximum_likelihood(
    logdensity: Callable[[Any, NDArray[Any]], ArrayLike],
    y: Any,
    theta0: ArrayLike,
    *,
    score: Callable[[Any, NDArray[Any]], ArrayLike] | None = ...,
    hess: Callable[[Any, NDArray[Any]], ArrayLike] | None = ...,
    expected: Callable[[Any, NDArray[Any]], ArrayLike] | None = ...,
    bounds: Any = ...,
    level: float = ...,
    information: str = ...,
    max_iter: int = ...,
    tol: float = ...,
) -> Result: ...
class Problem:
    def __init__(
        self,
        fun: Callable[[NDArray[Any]], float],
        jac: Callable[[NDArray[Any]], ArrayLike] | None = ...,
        ineq: Callable[[NDArray[Any]], ArrayLike] | None = ...,
        ineq_jac: Callable[[NDArray[Any]], ArrayLike] | None = ...,
        eq: Callable[[NDArray[Any]], ArrayLike] | None = ...,
        eq_jac: Callable[[NDArray[Any]], ArrayLike] | None = ...,
    ) -> None: ...
    def __call__(self, x: NDArray[Any]) -> tuple[Any, ...]: ...

def lagrangian(
    problem: Problem,
    x: ArrayLike,
    ineq_multipliers: ArrayLike | Sequence[float] = ...,
    eq_multipliers: ArrayLike | Sequence[float] = ...,
) -> Result: ...
def dual(
    problem: Problem,
    x0: ArrayLike,
    ineq_multipliers: ArrayLike | Sequence[float] = ...,
    eq_multipliers: ArrayLike | Sequence[float] = ...,
) -> Result: ...
def dual_gap(
    problem: Problem,
    x: ArrayLike,
    ineq_multipliers: ArrayLike | Sequence[float] = ...,
    eq_multipliers: ArrayLike | Sequence[float] = ...,
    *,
    tol: float = ...,
) -> float: ...
def kkt(
    problem: Problem,
    x: ArrayLike,
    ineq_multipliers: ArrayLike | Sequence[float] = ...,
    eq_multipliers: ArrayLike | Sequence[float] = ...,
    *,
    tol: float = ...,
) -> Result: ...
