from typing import Any

__version__: str

class Model:
    @staticmethod
    def from_bytes(data: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str) -> None: ...
    def predict(self, x: Any, columns: Any, threads: int) -> Any: ...
    def probabilities(self, x: Any, columns: Any, threads: int) -> Any: ...
    def margins(self, x: Any, columns: Any, threads: int) -> Any: ...
    def transform(self, x: Any, columns: Any, threads: int) -> tuple[Any, Any]: ...
    def inverse(self, x: Any, threads: int) -> tuple[Any, Any]: ...
    def names_out(self, names: list[str] | None) -> list[str]: ...
    def labels(self) -> Any: ...
    def attributes(self) -> dict[str, Any]: ...
    def report(self) -> tuple[str, str] | None: ...
    def history(self) -> dict[str, Any]: ...

def fit(
    path: str,
    params: dict[str, Any],
    x: Any,
    columns: Any,
    y: Any,
    classes: list[Any] | None,
    targets: list[str],
    weights: Any,
    seed: int,
    threads: int,
) -> Model: ...
def update(
    before: Model | None,
    path: str,
    params: dict[str, Any],
    x: Any,
    columns: Any,
    y: Any,
    classes: list[Any] | None,
    targets: list[str],
    weights: Any,
    seed: int,
    threads: int,
) -> Model: ...
def capabilities(path: str, params: dict[str, Any]) -> tuple[list[str], dict[str, bool]]: ...
def registry() -> str: ...
def copied_bytes() -> int: ...
def threads_available() -> int: ...
def optimize_minimize(
    fun: Any,
    x0: list[float],
    jac: Any,
    hess: Any,
    both: bool,
    motion: tuple[str, float, float, float],
    pace: tuple[str, float, float, int],
    rules: tuple[int, float | None, float | None, float | None, float | None],
    bounds: tuple[list[float], list[float]] | None,
    equalities: Any,
    step: Any,
    trace: bool,
) -> dict[str, Any]: ...
def optimize_stochastic(
    gradient: Any,
    x0: list[float],
    n: int,
    objective: Any,
    batch_size: int,
    order: str,
    motion: tuple[str, float, float, float],
    pace: tuple[str, float, float, int],
    average_from: int | None,
    means: bool,
    rules: tuple[int, float | None, float | None, float | None, float | None],
    trace: bool,
    seed: int,
) -> dict[str, Any]: ...
def optimize_rates(
    fun: Any, x0: list[float], jac: Any, both: bool, rates: list[float], steps: int
) -> list[dict[str, Any]]: ...
def optimize_stability_limit(hessian: Any, design: Any, fit_intercept: bool) -> float: ...
def optimize_em(
    e_step: Any, m_step: Any, start: Any, max_iter: int, tol: float, n_init: int, strict: bool
) -> dict[str, Any]: ...
def optimize_jacobian(fun: Any, x: list[float]) -> Any: ...
def optimize_likelihood(
    log_density: Any,
    theta0: list[float],
    score: Any,
    hessian: Any,
    expected: Any,
    bounds: tuple[list[float], list[float]] | None,
    level: float,
    information: str,
    max_iter: int,
    tol: float,
) -> dict[str, Any]: ...
def optimize_quadratic(
    quadratic: Any,
    linear: list[float],
    equalities: tuple[Any, list[float]] | None,
    inequalities: tuple[Any, list[float]] | None,
    bounds: tuple[list[float], list[float]] | None,
) -> dict[str, Any]: ...
def optimize_equality_quadratic(
    quadratic: Any, linear: list[float], constraints: Any, values: list[float]
) -> tuple[Any, Any]: ...
def optimize_lagrangian(
    problem: Any, x: list[float], multipliers: tuple[list[float], list[float]]
) -> tuple[float, Any]: ...
def optimize_dual(
    problem: Any, start: list[float], multipliers: tuple[list[float], list[float]]
) -> dict[str, Any]: ...
def optimize_gap(
    problem: Any, x: list[float], multipliers: tuple[list[float], list[float]], tol: float
) -> float: ...
def optimize_kkt(
    problem: Any, x: list[float], multipliers: tuple[list[float], list[float]], tol: float
) -> dict[str, Any]: ...
