//! Examples of learners that no bundled set suits as it is: steps of others, dates, texts, formulas, sequences, columns
//! that must be standardised. They are run in Python and by the command in their tests, like all others.

use super::examples::Example;

/// A learner, its session in Python, and its command with what it prints.
const WRITTEN: &[(&str, &str, &str)] = &[
    (
        "ColumnTransformer",
        r#">>> import pandas
>>> from learnt.compose import ColumnTransformer
>>> from learnt.preprocessing import OneHotEncoder, StandardScaler
>>> X = pandas.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
>>> parts = [("scale", StandardScaler(), ["size"]), ("code", OneHotEncoder(), ["colour"])]
>>> ColumnTransformer(parts).fit_transform(X).round(3).tolist()
[[-1.225, 0.0, 1.0], [0.0, 1.0, 0.0], [1.225, 0.0, 1.0]]
"#,
        r#"$ learnt fit column-transformer iris --transformers '[["scale", "standard-scaler", ["petal_length"]]]'
"#,
    ),
    (
        "DateEncoder",
        r#">>> import pandas
>>> from learnt.preprocessing import DateEncoder
>>> X = pandas.DataFrame({"day": ["2024-02-29", "2024-07-01"]})
>>> DateEncoder(parts=("month", "elapsed")).fit_transform(X).tolist()
[[2.0, 0.0], [7.0, 123.0]]
"#,
        r"$ printf 'day,price\n2024-01-15,3\n2024-02-29,4\n2024-05-01,6\n2024-07-01,7\n2024-09-12,9\n' | learnt fit ols - -t price --date day=elapsed
target price   5 rows
Least squares

 term          coefficient  std. error        t       p       2.5%     97.5%
 (intercept)       3.01836    0.170064  17.7484  3.9e-4    2.47714   3.55958
 day: elapsed    0.0247918  0.00120386  20.5935  2.5e-4  0.0209605  0.028623

 sigma 0.23105   df 3   R2 0.992976   adjusted R2 0.990634   F 424.092   p of F 2.5e-4
 log-likelihood 1.50797   AIC 2.98406   BIC 1.81238   condition 232.508
",
    ),
    (
        "FormulaTransformer",
        r#">>> from learnt.datasets import load_cpu
>>> from learnt.preprocessing import FormulaTransformer
>>> X, _ = load_cpu(return_X_y=True)
>>> model = FormulaTransformer("x3 * x4 + I(x5^2)").fit(X)
>>> model.get_feature_names_out().tolist()
['x3', 'x4', 'I(x5^2)', 'x3:x4']
>>> model.transform(X[:1]).tolist()
[[256.0, 16.0, 16384.0, 4096.0]]
"#,
        r"$ learnt fit ols cpu --formula 'performance ~ mmax * cach'
target performance   formula performance ~ mmax * cach   209 rows
Least squares

 term          coefficient  std. error           t        p          2.5%         97.5%
 (intercept)       3.54289     6.99085    0.506789    0.613      -10.2403       17.3261
 mmax           0.00512199  0.00060747     8.43168  6.0e-15     0.0039243    0.00631968
 cach           -0.0113657    0.159947  -0.0710594    0.943     -0.326718      0.303986
 mmax:cach    0.0000759308   7.2980e-6     10.4044  1.3e-20  0.0000615421  0.0000903195

 sigma 58.5882   df 205   R2 0.86921   adjusted R2 0.867296   F 454.135   p of F 3.0e-90
 log-likelihood -1145.28   AIC 2300.56   BIC 2317.27   condition 2404563
",
    ),
    (
        "Pipeline",
        r#">>> from learnt.datasets import load_iris
>>> from learnt.linear_model import LogisticRegression
>>> from learnt.pipeline import Pipeline
>>> from learnt.preprocessing import StandardScaler
>>> X, y = load_iris(return_X_y=True)
>>> model = Pipeline([("scale", StandardScaler()), ("logistic", LogisticRegression())]).fit(X, y)
>>> round(model.score(X, y), 3)
0.973
"#,
        r"$ learnt fit pipeline iris --steps standard-scaler,logistic-regression
target species   150 rows
Logistic regression, classes setosa, versicolor, virginica

class setosa
 term          coefficient
 (intercept)     -0.205241
 sepal_length     -1.07407
 sepal_width       1.16012
 petal_length     -1.93069
 petal_width      -1.81156
… 18 more lines
",
    ),
    (
        "SGDRegressor",
        r#">>> from learnt.datasets import load_cpu
>>> from learnt.linear_model import SGDRegressor
>>> from learnt.preprocessing import StandardScaler
>>> X, y = load_cpu(return_X_y=True)
>>> X = StandardScaler().fit_transform(X)
>>> model = SGDRegressor(random_state=0).fit(X, y)
>>> model.predict(X[:3]).round(3).tolist()
[338.805, 313.346, 313.346]
"#,
        r"$ learnt fit sgd-regressor cpu
target performance   209 rows
SGD regression, 24 passes

prediction
 term            weight
 (intercept)    105.697
 myct           12.6365
 mmin           58.9375
 mmax           65.7088
 cach           25.7047
 chmin        -0.684831
 chmax          38.7742
 numbers were scaled before this step: its tables are in standard deviations
",
    ),
    (
        "SupervisedHMM",
        r#">>> from learnt.sequence import SupervisedHMM
>>> X = [[0.1], [-0.1], [5.0], [5.2], [4.9], [0.0], [5.1], [5.0]]
>>> y = ["low", "low", "high", "high", "high", "low", "high", "high"]
>>> model = SupervisedHMM().fit(X, y, lengths=[5, 3])
>>> model.startprob_.tolist()
[0.0, 1.0]
>>> model.predict([[0.2], [4.8]]).tolist()
['low', 'high']
"#,
        r"$ printf 'series,level,state\n1,0.1,low\n1,-0.1,low\n1,5.0,high\n1,5.2,high\n2,0.0,low\n2,5.1,high\n' | learnt fit supervised-hmm - -t state --sequence series
",
    ),
    (
        "TextHasher",
        r#">>> import pandas
>>> from learnt.preprocessing import TextHasher
>>> X = pandas.DataFrame({"note": ["late, late again", "Again late"]})
>>> model = TextHasher(n_features=4, normalize=False).fit(X)
>>> model.transform(X).tolist()
[[-1.0, 0.0, 2.0, 0.0], [-1.0, 0.0, 1.0, 0.0]]
"#,
        r"$ printf 'note,days\nlate again,9\non time,1\nlate,7\nlate by a day,8\nin time,2\n' | learnt fit ridge - -t days --text note=hash:4
target days   5 rows
Ridge regression

 term           coefficient
 (intercept)        5.19155
 note: words 0     -0.48377
 note: words 1     -2.09971
 note: words 2       2.3412
 note: words 3    -0.804606

 alpha 1   effective df 2.26812
",
    ),
];

/// The example that is written here, if there is one.
pub(super) fn example(name: &str) -> Option<Example> {
    let (_, python, command) = WRITTEN.iter().find(|(known, ..)| *known == name)?;
    Some(Example { python: (*python).to_string(), command: (*command).to_string() })
}
