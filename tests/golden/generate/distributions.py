"""Writes tests/golden/distributions.json: reference values of special and distribution functions.

Run with mpmath installed: python tests/golden/generate/distributions.py

Every argument is a double taken exactly. Tails come from the series with positive terms of the
incomplete gamma and beta functions at 60 digits, or at 400 where a tail is a small complement.
The quantile of the rounded probability p' is x + (p' - p) / density, exact to second order.
"""

import json
import multiprocessing
import pathlib

from mpmath import mp, mpf, digamma, erfc, exp, gamma, log, loggamma, sqrt

SMALLEST = mpf("1e-305")
SCORES = [-37, -20, -10, -5, -2, -1, -0.3, -0.01, 0.01, 0.3, 1, 2, 5, 10, 20, 37]


def gamma_lower(a, x):
    """P(a, x) by x^a exp(-x) / Gamma(a + 1) sum_n x^n / ((a + 1) ... (a + n))."""
    term, total, divisor, smallest = mpf(1), mpf(1), a, mpf(10) ** (-mp.dps)
    while divisor < x or term > smallest * total:
        for _ in range(64):
            divisor += 1
            term = term * x / divisor
            total += term
    return exp(a * log(x) - x - loggamma(a + 1)) * total


def beta_lower(a, b, x, y):
    """I_x(a, b) by x^a y^b / (a B(a, b)) sum_n (a + b)_n / (a + 1)_n x^n."""
    term, total, ratio, smallest = mpf(1), mpf(1), mpf(2), mpf(10) ** (-mp.dps)
    upper, lower = a + b, a
    while ratio > 1 or term > smallest * total * (1 - max(ratio, x)):
        for _ in range(64):
            lower += 1
            term = term * upper * x / lower
            upper += 1
            total += term
        ratio = upper * x / (lower + 1)
    constant = loggamma(a + b) - loggamma(a + 1) - loggamma(b)
    return exp(a * log(x) + b * log(y) + constant) * total


def both_tails(lower):
    """Lower tail and complement, with digits added where the complement is small."""
    with mp.workdps(60):
        low = lower()
    if 1 - low > mpf("1e-8"):
        return low, 1 - low
    with mp.workdps(400):
        low = lower()
        return low, 1 - low


def beta_tails(a, b, x, y):
    """Both tails, by the series whose argument is at most one half."""
    if x <= y:
        return both_tails(lambda: beta_lower(a, b, x, y))
    upper, low = both_tails(lambda: beta_lower(b, a, y, x))
    return low, upper


def entry(name, parameters, x, lower, upper, density):
    """A record, or None where a tail is out of range."""
    if min(lower, upper, density) < SMALLEST or density > mpf("1e300"):
        return None
    record = {"name": name, "parameters": parameters, "x": x}
    record |= {"pdf": float(density), "cdf": float(lower), "sf": float(upper)}
    if upper > mpf("1e-6"):
        record["quantile"] = float(mpf(x) + (mpf(record["cdf"]) - lower) / density)
    if lower > mpf("1e-6"):
        record["upper_quantile"] = float(mpf(x) - (mpf(record["sf"]) - upper) / density)
    return record


def normal_records():
    for z in [-37, -20, -8.3, -5, -3, -1.1, -0.6, -0.1, -1e-9, 0.2, 0.7, 1, 1.5, 2, 6, 12.3, 36.9]:
        tail = erfc(abs(mpf(z)) / sqrt(mpf(2))) / 2
        lower, upper = (tail, 1 - tail) if z < 0 else (1 - tail, tail)
        yield entry("normal", [0.0, 1.0], z, lower, upper, exp(-mpf(z) ** 2 / 2) / sqrt(2 * mp.pi))


def gamma_records():
    shapes = [1e-6, 0.01, 0.25, 0.5, 1, 1.5, 2.5, 5, 7.9, 8.1, 12, 15.9, 16, 20, 50, 100, 1000]
    for shape in shapes + [5e3, 5e5]:
        points = {float(shape * exp(s / sqrt(mpf(shape)))) for s in SCORES}
        points |= {float(shape + s * sqrt(mpf(shape))) for s in SCORES}
        points |= {0.001, 0.3, 1.0, 1.2, 3.0, 30.0, 200.0, 650.0} if shape < 30 else set()
        for x in sorted(point for point in points if 1e-200 < point < 2 * shape + 1500):
            a, v = mpf(shape), mpf(x)
            lower, upper = both_tails(lambda: gamma_lower(a, v))
            density = exp((a - 1) * log(v) - v - loggamma(a))
            yield entry("gamma", [float(shape), 1.0], x, lower, upper, density)
            if shape in (0.25, 0.5, 2.5, 50, 5e5):
                yield entry("chi_squared", [2.0 * shape], 2 * x, lower, upper, density / 2)


def student_records():
    for df in [0.5, 1, 1.5, 2, 2.1, 3, 5, 10, 30, 40, 100, 1e3, 1e4, 1e5, 1e6]:
        for t in [1e-5, 0.01, 0.2, 0.7, 0.99, 1, 1.3, 2, 3, 5, 9, 15, 25, 36, 100, 1e4, 1e15, 1e90]:
            n, v = mpf(df), mpf(t)
            x, y = n / (n + v * v), v * v / (n + v * v)
            tail = beta_tails(n / 2, mpf(1) / 2, x, y)[0] / 2
            constant = exp(loggamma((n + 1) / 2) - loggamma(n / 2)) / sqrt(n * mp.pi)
            density = constant * exp(-(n + 1) / 2 * log(1 + v * v / n))
            yield entry("student_t", [float(df)], t, 1 - tail, tail, density)
            yield entry("student_t", [float(df)], -t, tail, 1 - tail, density)


def beta_density(a, b, x, y):
    return exp((a - 1) * log(x) + (b - 1) * log(y) + loggamma(a + b) - loggamma(a) - loggamma(b))


PAIRS = [(0.001, 0.5), (0.25, 0.25), (0.5, 0.5), (0.3, 4), (1, 1), (1, 7.5), (2, 3), (0.5, 30)]
PAIRS += [(3, 200), (9, 9), (15, 17), (16, 16), (19.5, 300), (25, 1000), (100, 100), (0.25, 5e3)]
PAIRS += [(7, 5e4), (1000, 5000), (5e4, 5e4), (0.5, 5e5), (12, 5e5), (5e3, 5e5), (5e5, 5e5)]


def beta_records():
    for a, b in PAIRS + [(b, a) for a, b in PAIRS if a != b]:
        p, q = mpf(a), mpf(b)
        centre, spread = log(p / q), sqrt(1 / p + 1 / q)
        for score in SCORES:
            odds = exp(centre + score * spread)
            x = float(odds / (1 + odds))
            if 1e-250 < x < 1 - 1e-14:
                v, w = mpf(x), 1 - mpf(x)
                lower, upper = beta_tails(p, q, v, w)
                density = beta_density(p, q, v, w)
                yield entry("beta", [float(a), float(b)], x, lower, upper, density)
            f = float(odds * q / p)
            if 1e-250 < f < 1e250:
                ratio = mpf(f) * p / q
                v, w = ratio / (1 + ratio), 1 / (1 + ratio)
                lower, upper = beta_tails(p, q, v, w)
                density = beta_density(p, q, v, w) * v * w / mpf(f)
                yield entry("fisher_f", [2.0 * a, 2.0 * b], f, lower, upper, density)


def binomial_records():
    for n, p in [(1, 0.3), (5, 0.5), (20, 0.05), (40, 0.9), (300, 0.01), (1000, 0.4), (10**6, 0.3)]:
        v, centre, sd = mpf(p), n * p, (n * p * (1 - p)) ** 0.5
        for k in sorted({round(centre + score * sd) for score in SCORES} | {0, n - 1}):
            if 0 <= k < n:
                lower, upper = beta_tails(mpf(k + 1), mpf(n - k), v, 1 - v)[::-1]
                choose = loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1)
                density = exp(choose + k * log(v) + (n - k) * log(1 - v))
                yield entry("binomial", [float(n), p], k, lower, upper, density)


def poisson_records():
    for rate in [0.01, 0.7, 3, 10, 17.5, 100, 1e4]:
        v = mpf(rate)
        for k in sorted({round(rate + score * rate**0.5) for score in SCORES} | {0, 1, 5}):
            if k >= 0:
                upper, lower = both_tails(lambda: gamma_lower(mpf(k + 1), v))
                density = exp(k * log(v) - v - loggamma(mpf(k + 1)))
                yield entry("poisson", [float(rate)], k, lower, upper, density)


def special_records():
    sizes = [1e-9, 0.003, 0.4, 0.5, 1, 1.7, 3, 7.5, 9, 12, 100, 12345.6, 1e6, 1e10]
    for a in sizes:
        yield "digamma", [float(a)], digamma(mpf(a))
        yield "stirling_error", [float(a)], (
            loggamma(mpf(a)) - (mpf(a) - 0.5) * log(mpf(a)) + a - log(2 * mp.pi) / 2
        )
        for b in sizes:
            value = loggamma(mpf(a)) + loggamma(mpf(b)) - loggamma(mpf(a) + mpf(b))
            yield "ln_beta", [float(a), float(b)], value
    for x in [-5.0, -1.0, -0.2, 0.0, 0.3, 1.0, 3.7, 10.0, 24.9, 25.1, 100.0, 1e5]:
        yield "erfcx", [x], exp(mpf(x) ** 2) * erfc(mpf(x))
    for x in [-0.5, -0.3, -1e-3, -1e-10, 1e-12, 1e-5, 0.2, 0.5, 0.9, 2.5]:
        yield "ln_gamma_one_plus", [x], log(gamma(1 + mpf(x)))
    for n, k in [(5, 2), (52, 5), (100, 50), (10**6, 3), (10**6, 5 * 10**5)]:
        value = loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1)
        yield "ln_choose", [float(n), float(k)], value


def collect(source):
    """The records of one source."""
    mp.dps = 400  # arguments such as x and 1 - x must agree to the digits of the smallest tail
    return [record for record in source() if record]


def main():
    mp.dps = 60
    sources = [normal_records, gamma_records, student_records, beta_records]
    sources += [binomial_records, poisson_records]
    with multiprocessing.Pool() as pool:
        records = [record for part in pool.map(collect, sources, chunksize=1) for record in part]
    special = [
        {"name": name, "arguments": arguments, "value": float(value)}
        for name, arguments, value in special_records()
    ]
    lines = [json.dumps(record) for record in records]
    target = pathlib.Path(__file__).parent.parent / "distributions.json"
    body = ",\n".join(lines)
    extra = ",\n".join(json.dumps(record) for record in special)
    target.write_text('{"distributions": [\n' + body + '\n],\n"special": [\n' + extra + "\n]}\n")


if __name__ == "__main__":
    main()
