//! The facts about a learner, as data: what it takes, what its models offer, what a run needs to know.

use super::Roles;

/// The facts about a learner, as data.
#[derive(Debug)]
pub struct About {
    /// Module and class as in Python: `linear_model.Ridge`.
    pub path: &'static str,
    /// Other names on the command line; one shared by a classifier and a regressor means
    /// whichever the target calls for.
    pub aliases: &'static [&'static str],
    /// What a model can be used as.
    pub roles: Roles,
    /// What the learner takes.
    pub accepts: Accepts,
    /// What a model offers beyond its role.
    pub offers: Offers,
    /// What a run needs to know.
    pub uses: Uses,
    /// Time and memory in n rows, p columns, and parameters.
    pub cost: &'static str,
    /// Where the method comes from.
    pub reference: &'static str,
    /// Order of simplicity, lower is simpler: baselines 0, linear 20, naive Bayes 10, trees 40,
    /// neighbours 50, ensembles 70, networks 90.
    pub complexity: u8,
    /// Whether columns should be on one scale before fitting.
    pub wants_scaling: bool,
    /// Whether columns that follow from others leave its coefficients undetermined: categories are coded
    /// against a reference level.
    pub full_rank: bool,
    /// Whether it reads the texts of categories anew, so that none is unknown to it.
    pub reads_text: bool,
    /// The units that a transformer gives its columns in, where those are not the table's.
    pub units: Option<&'static str>,
    /// Whether the numeric target must be above zero.
    pub positive_target: bool,
    /// Whether a comparison leaves it out unless it is named: a wrapper of another learner, or a
    /// cost that grows without measure.
    pub only_by_name: bool,
    /// Whether others are compared with it as the least that is worth having.
    pub baseline: bool,
    /// Whether a model stores training rows.
    pub stores_rows: bool,
    /// The power of the mean that the variance is, if the usual score of a regressor is its share
    /// of the deviance.
    pub deviance: Option<Power>,
    /// Common checks that do not hold, each with the reason.
    pub exempt: &'static [(&'static str, &'static str)],
    /// Parameters that the common checks set, each with its value as typed: where defaults take long
    /// or refuse the small tables of the checks.
    pub check_with: &'static [(&'static str, &'static str)],
}

/// The power of the mean that the variance is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Power {
    /// This one: 1 for counts, 2 for positive amounts.
    Fixed(f64),
    /// The value of this parameter.
    Parameter(&'static str),
}

/// What a learner takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepts {
    /// Missing values in the inputs.
    pub missing: bool,
    /// Infinite values in the inputs.
    pub infinite: bool,
    /// Categorical columns as they are.
    pub categories: bool,
    /// Row weights.
    pub weights: bool,
    /// Several numeric targets at once.
    pub many_outputs: bool,
    /// Sequences of rows: the order of rows within them means something.
    pub sequences: bool,
    /// Images and other volumes: columns that are cells of one.
    pub volumes: bool,
    /// Groups of rows, which its own folds keep together.
    pub groups: bool,
}

/// What a model offers beyond its role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Class probabilities, whatever the parameters.
    pub probabilities: bool,
    /// Class probabilities with some parameters: [`offers`](super::Estimator::offers) knows with which.
    pub some_probabilities: bool,
    /// Decision scores.
    pub decision_scores: bool,
    /// The inverse of a transformation.
    pub inverse_transform: bool,
    /// Clusters of new rows.
    pub assign: bool,
}

/// What a run needs to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// The result depends on the seed.
    pub randomness: bool,
    /// Several threads help.
    pub threads: bool,
    /// It iterates, so it may not converge, and gives its objective after each iteration.
    pub iterations: bool,
    /// The objective never turns back: it falls in every iteration, or rises in every one.
    pub monotone: bool,
    /// It fits files larger than memory.
    pub streaming: bool,
    /// It goes on training with more rows.
    pub online: bool,
    /// A model of it can be made larger on the same rows: more members or rounds.
    pub extends: bool,
}

impl About {
    /// The facts of a learner that plays no role yet; the methods below add to it.
    pub const fn new(path: &'static str, roles: Roles) -> Self {
        About {
            path,
            aliases: &[],
            roles,
            accepts: Accepts {
                missing: false,
                infinite: false,
                categories: false,
                weights: false,
                many_outputs: false,
                sequences: false,
                volumes: false,
                groups: false,
            },
            offers: Offers {
                probabilities: false,
                some_probabilities: false,
                decision_scores: false,
                inverse_transform: false,
                assign: false,
            },
            uses: Uses {
                randomness: false,
                threads: false,
                iterations: false,
                monotone: false,
                streaming: false,
                online: false,
                extends: false,
            },
            cost: "",
            reference: "",
            complexity: 50,
            wants_scaling: false,
            full_rank: false,
            reads_text: false,
            units: None,
            positive_target: false,
            only_by_name: false,
            baseline: false,
            stores_rows: false,
            deviance: None,
            exempt: &[],
            check_with: &[],
        }
    }

    /// The class name: the last part of the path.
    pub const fn name(&self) -> &'static str {
        let bytes = self.path.as_bytes();
        let mut start = bytes.len();
        while start > 0 && bytes[start - 1] != b'.' {
            start -= 1;
        }
        self.path.split_at(start).1
    }

    /// The module: the path without the class.
    pub fn module(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(module, _)| module)
    }

    /// The name on the command line: `LogisticRegression` is `logistic-regression`.
    pub fn command(&self) -> String {
        let name = self.name();
        let mut out = String::new();
        let letters: Vec<char> = name.chars().collect();
        for (i, &c) in letters.iter().enumerate() {
            let after_lower = i > 0 && letters[i - 1].is_lowercase();
            let before_lower = i > 0 && letters.get(i + 1).is_some_and(|next| next.is_lowercase());
            if c.is_uppercase() && (after_lower || before_lower) {
                out.push('-');
            }
            out.extend(c.to_lowercase());
        }
        out
    }
}

/// Adds one fact to an [`About`] in a constant expression.
macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident: $($field:ident).+ = $value:expr;)*) => {
        impl About {$(
            $(#[$doc])*
            #[must_use]
            pub const fn $name(mut self) -> Self {
                self.$($field).+ = $value;
                self
            }
        )*}
    };
}
facts! {
    /// Takes missing values.
    missing: accepts.missing = true;
    /// Takes infinite values.
    infinite: accepts.infinite = true;
    /// Takes categorical columns.
    categories: accepts.categories = true;
    /// Takes row weights.
    weights: accepts.weights = true;
    /// Takes several numeric targets.
    many_outputs: accepts.many_outputs = true;
    /// Reads sequences of rows.
    sequences: accepts.sequences = true;
    /// Takes images and other volumes.
    volumes: accepts.volumes = true;
    /// Keeps groups of rows together in its own folds.
    groups: accepts.groups = true;
    /// Needs a target of classes although its models are no classifiers.
    labelled: roles.labelled = true;
    /// Gives decision scores.
    decision_scores: offers.decision_scores = true;
    /// Gives no probabilities.
    without_probabilities: offers.probabilities = false;
    /// Has an inverse transform.
    inverse_transform: offers.inverse_transform = true;
    /// Assigns new rows to clusters.
    assign: offers.assign = true;
    /// Depends on the seed.
    randomness: uses.randomness = true;
    /// Profits from threads.
    threads: uses.threads = true;
    /// Iterates.
    iterations: uses.iterations = true;
    /// Iterates towards its objective in every step; says `.iterations()` too.
    monotone: uses.monotone = true;
    /// Fits files larger than memory.
    streaming: uses.streaming = true;
    /// Goes on training with more rows.
    online: uses.online = true;
    /// Makes a model of the same rows larger: more members or rounds.
    extends: uses.extends = true;
    /// Gives probabilities with some parameters only.
    some_probabilities: offers.some_probabilities = true;
    /// Takes exactly two classes.
    two_classes: roles.two_classes = true;
    /// Wants columns on one scale.
    scaling: wants_scaling = true;
    /// Wants categories coded against a reference level.
    full_rank: full_rank = true;
    /// Reads the texts of categories anew.
    reads_text: reads_text = true;
    /// Needs a target above zero with its default parameters.
    positive: positive_target = true;
    /// A comparison leaves it out unless it is named.
    only_by_name: only_by_name = true;
    /// Others are compared with it.
    baseline: baseline = true;
    /// Its models store training rows.
    rows_stored: stores_rows = true;
}

impl About {
    /// Other names on the command line.
    #[must_use]
    pub const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Order of simplicity.
    #[must_use]
    pub const fn complexity(mut self, complexity: u8) -> Self {
        self.complexity = complexity;
        self
    }

    /// The units of what a transformer gives.
    #[must_use]
    pub const fn units(mut self, units: &'static str) -> Self {
        self.units = Some(units);
        self
    }

    /// Time and memory.
    #[must_use]
    pub const fn cost(mut self, cost: &'static str) -> Self {
        self.cost = cost;
        self
    }

    /// Where the method comes from.
    #[must_use]
    pub const fn reference(mut self, reference: &'static str) -> Self {
        self.reference = reference;
        self
    }

    /// The usual score is the share of the deviance explained.
    #[must_use]
    pub const fn deviance(mut self, power: Power) -> Self {
        self.deviance = Some(power);
        self
    }

    /// Common checks that do not hold, with reasons.
    #[must_use]
    pub const fn exempt(mut self, exempt: &'static [(&'static str, &'static str)]) -> Self {
        self.exempt = exempt;
        self
    }

    /// Parameters that the common checks set.
    #[must_use]
    pub const fn check_with(mut self, settings: &'static [(&'static str, &'static str)]) -> Self {
        self.check_with = settings;
        self
    }
}
