//! Hidden Markov model from labelled sequences: p(z, x) = π(z₁) Π A(z_{n-1}, z_n) Π b(x_n | z_n).
//!
//! Start, transition and table probabilities are counts, each plus `pseudocount`, divided by their sum;
//! a state that is never left goes to all states alike. Numbers are normal in each state with the
//! mean and variance of its rows, categories have a table, columns are independent given the state.
//! One pass over whole sequences. Decoding by Viterbi's path, posteriors by forward and backward
//! recursions.
//!
//! L. Rabiner (1989), Proceedings of the IEEE 77(2), 257-286.

use super::chain::Chain;
use super::emissions::{EmissionCounts, Emissions, level_counts};
use learnt_core::data::offsets_of;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::rounds::Summarize;

/// A chain of known states with rows that depend on them, to find the states of new sequences.
///
/// The target names the state of each row. Missing values say nothing about the state.
///
/// ```
/// use learnt::{prelude::*, sequence::SupervisedHMM};
/// let x = Matrix::column_vector(vec![0.1, -0.1, 5.0, 5.2, 4.9, 0.0, 5.1, 5.0]);
/// let states = ["low", "low", "high", "high", "high", "low", "high", "high"].map(Label::from);
/// let mut data = OwnedDataset::classification(x, &states);
/// data.sequences = Some(vec![0, 5, 8]);
/// let model = SupervisedHMM::default().fit(&data.view())?;
/// assert_eq!(model.startprob, [0.0, 1.0]);
/// let new = Table::unnamed(Matrix::column_vector(vec![0.2, 4.8]));
/// assert_eq!(model.decode_in(&new.frame(), None, &Context::default())?.0, [1, 0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct SupervisedHMM {
    /// Added to every count of starts, transitions and levels.
    #[param(default = 0.0, range = 0.0..)]
    pub pseudocount: f64,
    /// Least variance of a column in a state.
    #[param(default = 1e-6, above = 0.0)]
    pub min_covar: f64,
}

/// A fitted [`SupervisedHMM`].
#[derive(Model, Clone, Debug)]
#[model(decoder, validate = validate)]
pub struct SupervisedHMMModel {
    /// Probability of each state in the first row of a sequence.
    pub startprob: Vec<f64>,
    /// Probability of the next state, a row for each state.
    pub transmat: Matrix,
    /// Mean of each column in each state; 0 for categories.
    pub means: Matrix,
    /// Variance of each column in each state; 1 for categories.
    pub covars: Matrix,
    /// Probability of each level in each state, the levels of one column after those of another.
    pub emissionprob: Matrix,
    widths: Vec<u32>,
}

impl Estimator for SupervisedHMM {
    type Model = SupervisedHMMModel;
    type Fit = rounds::Pass<PathCounts>;
    const ABOUT: &'static About = &About::decoder("sequence.SupervisedHMM")
        .alias(&["hmm"])
        .labelled()
        .sequences()
        .missing()
        .categories()
        .threads()
        .streaming()
        .complexity(40)
        .cost("n p time in one pass; n K² time to decode")
        .reference("Rabiner (1989), Proceedings of the IEEE 77(2), 257-286")
        .exempt(&[
            ("row_by_row", "a row's state depends on the rows of its sequence"),
            (
                "sklearn:check_methods_subset_invariance",
                "a row's state depends on the rows of its sequence",
            ),
            (
                "sklearn:check_methods_sample_order_invariance",
                "a row's state depends on the rows of its sequence",
            ),
        ]);
}

/// Counts of starts and transitions, and what the states emit.
#[derive(Stored, Clone, Debug)]
pub struct PathCounts {
    /// Where the rows are a piece of one sequence; none of whole sequences.
    piece: Option<Piece>,
    starts: Vec<f64>,
    transitions: Matrix,
    emissions: EmissionCounts,
}

/// The first and last state of a piece of a sequence.
#[derive(Stored, Clone, Copy, Debug)]
struct Piece {
    first: usize,
    last: usize,
}

impl Summarize for PathCounts {
    fn of(data: &Dataset) -> Result<Self> {
        let (codes, classes) = data.class_target()?;
        let states = classes.len();
        let mut starts = vec![0.0; states];
        let mut transitions = Matrix::zeros(states, states);
        let ends = data.sequences.is_none().then(|| codes.first().zip(codes.last())).flatten();
        let piece =
            ends.map(|(&first, &last)| Piece { first: first as usize, last: last as usize });
        for range in ranges(data.sequences, data.nrows()) {
            let path = &codes[range];
            if piece.is_none() {
                starts[path[0] as usize] += 1.0;
            }
            for pair in path.windows(2) {
                transitions[(pair[0] as usize, pair[1] as usize)] += 1.0;
            }
        }
        Ok(PathCounts {
            piece,
            starts,
            transitions,
            emissions: EmissionCounts::of(&data.x, codes, states),
        })
    }
}

impl Merge for PathCounts {
    /// Pieces of one sequence have a transition between them.
    fn merge(self, later: Self) -> Result<Self> {
        let mut transitions = self.transitions.merge(later.transitions)?;
        let piece = match (self.piece, later.piece) {
            (Some(earlier), Some(later)) => {
                if earlier.last.max(later.first) >= transitions.nrows() {
                    return Err(invalid("a state that is none"));
                }
                transitions[(earlier.last, later.first)] += 1.0;
                Some(Piece { first: earlier.first, last: later.last })
            }
            (earlier, later) => earlier.or(later),
        };
        Ok(PathCounts {
            piece,
            starts: self.starts.merge(later.starts)?,
            transitions,
            emissions: self.emissions.merge(later.emissions)?,
        })
    }
}

impl OnePass<PathCounts> for SupervisedHMM {
    fn finish(&self, all: PathCounts, outline: &Outline) -> Result<SupervisedHMMModel> {
        let widths = level_counts(outline.schema);
        let PathCounts { piece, mut starts, transitions: mut transmat, emissions } = all;
        if let Some(start) = piece.and_then(|piece| starts.get_mut(piece.first)) {
            *start += 1.0;
        }
        let states = starts.len();
        shares(&mut starts, self.pseudocount);
        (0..states).for_each(|k| shares(transmat.row_mut(k), self.pseudocount));
        let EmissionCounts { count, mean, squares, levels: mut tables } = emissions;
        let mut first = 0;
        for &width in &widths {
            let end = first + width as usize;
            (0..states).for_each(|k| shares(&mut tables.row_mut(k)[first..end], self.pseudocount));
            first = end;
        }
        let covars = Matrix::from_fn(states, widths.len(), |k, j| match widths[j] {
            0 => (squares[(k, j)] / count[(k, j)].max(1.0)).max(self.min_covar),
            _ => 1.0,
        });
        if mean.as_slice().iter().chain(covars.as_slice()).any(|value| !value.is_finite()) {
            return Err(Error::numeric("a variance overflows: the values are too large to square")
                .hint("divide the columns by a large constant first"));
        }
        Ok(SupervisedHMMModel {
            startprob: starts,
            transmat,
            means: mean,
            covars,
            emissionprob: tables,
            widths,
        })
    }
}

/// Counts plus the pseudocount as shares of their sum; equal shares of nothing.
fn shares(counts: &mut [f64], pseudocount: f64) {
    let equal = 1.0 / counts.len().max(1) as f64;
    let total: f64 = counts.iter().map(|count| count + pseudocount).sum();
    counts.iter_mut().for_each(|count| {
        *count = if total > 0.0 { (*count + pseudocount) / total } else { equal };
    });
}

/// The rows of each sequence; all rows are one without any.
fn ranges(sequences: Option<Sequences>, rows: usize) -> Vec<std::ops::Range<usize>> {
    match sequences {
        Some(sequences) => sequences.ranges().collect(),
        None => offsets_of(rows, |_| false).windows(2).map(|pair| pair[0]..pair[1]).collect(),
    }
}

impl SupervisedHMMModel {
    fn validate(&self) -> Result<()> {
        let (states, columns) = (self.startprob.len(), self.widths.len());
        let all: usize = self.widths.iter().map(|width| *width as usize).sum();
        let shape =
            |matrix: &Matrix, columns| (matrix.nrows(), matrix.ncols()) == (states, columns);
        let fits = states > 0
            && columns > 0
            && shape(&self.transmat, states)
            && shape(&self.means, columns)
            && shape(&self.covars, columns)
            && shape(&self.emissionprob, all);
        let chance = |p: &f64| (0.0..=1.0).contains(p);
        let probabilities = self.startprob.iter().chain(self.transmat.as_slice());
        let sane = fits
            && probabilities.chain(self.emissionprob.as_slice()).all(chance)
            && self.means.as_slice().iter().all(|mean| mean.is_finite())
            && self.covars.as_slice().iter().all(|v| v.is_finite() && *v > 0.0);
        if sane { Ok(()) } else { Err(invalid("probabilities of states do not fit")) }
    }

    /// Calls `infer` with the chain and the log-densities of each sequence, on all threads.
    fn each<T: Send>(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
        infer: impl Fn(&Chain, &[f64]) -> std::result::Result<T, usize> + Sync,
    ) -> Result<Vec<T>> {
        if x.ncols() != self.widths.len() {
            let expected = format!("{} columns as in training", self.widths.len());
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        let emissions = Emissions {
            means: &self.means,
            variances: &self.covars,
            tables: &self.emissionprob,
            widths: &self.widths,
        };
        let chain = Chain { start: &self.startprob, transitions: &self.transmat };
        let ranges = ranges(sequences, x.nrows());
        run.try_par_map(ranges.len(), |i| {
            let range = ranges[i].clone();
            let densities = emissions.log_densities(&x.rows(range.start, range.end));
            infer(&chain, &densities).map_err(|row| impossible(i, range.start + row))
        })
    }
}

fn impossible(sequence: usize, row: usize) -> Error {
    let message =
        format!("sequence {} is impossible under the model from row {} on", sequence + 1, row + 1);
    Error::numeric(message).row(row as u64 + 1).hint("fit with a pseudocount above 0")
}

impl Decoder for SupervisedHMMModel {
    fn decode_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<(Vec<u32>, Vec<f64>)> {
        let parts = self.each(x, sequences, run, |chain, emissions| chain.viterbi(emissions))?;
        let (paths, values): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        Ok((paths.concat(), values))
    }

    fn posteriors_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<Matrix> {
        let parts = self.each(x, sequences, run, |chain, emissions| {
            let mut alpha = vec![0.0; emissions.len()];
            chain.forward(emissions, &mut alpha)?;
            chain.posteriors(emissions, &mut alpha);
            Ok(alpha)
        })?;
        Matrix::from_vec(x.nrows(), self.startprob.len(), parts.concat())
    }

    fn log_likelihood_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<Vec<f64>> {
        self.each(x, sequences, run, |chain, emissions| {
            chain.forward(emissions, &mut vec![0.0; emissions.len()])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::rounds::block_rows;

    /// Weather as states and umbrellas as a column of categories.
    fn umbrellas(states: &str, seen: &str, offsets: &[usize]) -> OwnedDataset {
        let levels = vec!["N".to_string(), "U".to_string()];
        let schema = Schema::new(vec![Column::categorical("seen", levels)]).unwrap();
        let codes = seen.chars().map(|c| f64::from(u8::from(c == 'U'))).collect();
        let labels: Vec<Label> = states.chars().map(|c| c.to_string().as_str().into()).collect();
        OwnedDataset {
            x: Table::new(Matrix::column_vector(codes), schema).unwrap(),
            y: Some(OwnedTarget::from_labels(&labels)),
            sequences: Some(offsets.to_vec()),
            ..OwnedDataset::default()
        }
    }

    #[test]
    fn probabilities_are_normalised_counts() {
        let data = umbrellas("RRSSRSRR", "UUNNUNUN", &[0, 5, 8]);
        let model = SupervisedHMM::default().fit(&data.view()).unwrap();
        assert_eq!(model.startprob, [0.5, 0.5]);
        assert_eq!(model.transmat.row(0), [2.0 / 3.0, 1.0 / 3.0]);
        assert_eq!(model.transmat.row(1), [2.0 / 3.0, 1.0 / 3.0]);
        assert_eq!(model.emissionprob.row(0), [0.2, 0.8]);
        assert_eq!(model.emissionprob.row(1), [1.0, 0.0]);
        let smooth = SupervisedHMM { pseudocount: 1.0, ..Default::default() };
        let smooth = smooth.fit(&data.view()).unwrap();
        assert_eq!(smooth.emissionprob.row(1), [0.8, 0.2]);
    }

    #[test]
    fn sequences_are_decoded_apart() {
        let data = umbrellas("RRSSRSRR", "UUNNUNUN", &[0, 5, 8]);
        let model = SupervisedHMM { pseudocount: 0.5, ..Default::default() };
        let model = model.fit(&data.view()).unwrap();
        let (run, view) = (Context::default(), data.view());
        let (states, values) = model.decode_in(&view.x, view.sequences, &run).unwrap();
        let likelihood = model.log_likelihood_in(&view.x, view.sequences, &run).unwrap();
        let mut joined = Vec::new();
        for (i, range) in [0..5, 5..8].into_iter().enumerate() {
            let part = view.x.rows(range.start, range.end);
            let (path, value) = model.decode_in(&part, None, &run).unwrap();
            joined.extend(path);
            assert_eq!(value, [values[i]]);
            assert_eq!(model.log_likelihood_in(&part, None, &run).unwrap(), [likelihood[i]]);
            assert!(values[i] <= likelihood[i]);
        }
        assert_eq!(states, joined);
    }

    #[test]
    fn a_missing_observation_leaves_the_transitions_to_decide() {
        let data = umbrellas("RRSSRSRR", "UUNNUNUN", &[0, 5, 8]);
        let model = SupervisedHMM::default().fit(&data.view()).unwrap();
        let table = Table::new(Matrix::column_vector(vec![f64::NAN]), data.x.schema().clone());
        let run = Context::default();
        let posteriors = model.posteriors_in(&table.unwrap().frame(), None, &run).unwrap();
        assert_eq!(posteriors.row(0), model.startprob);
    }

    #[test]
    fn rows_without_sequences_are_one_whatever_the_blocks() {
        let rows = 2 * block_rows(1) + 10;
        let x = Matrix::from_fn(rows, 1, |i, _| (i % 7) as f64);
        let labels: Vec<Label> = (0..rows).map(|i| Label::Int((i / 3 % 2) as i64)).collect();
        let data = OwnedDataset::classification(x, &labels);
        let blocks = SupervisedHMM::default().fit(&data.view()).unwrap();
        let one = OwnedDataset { sequences: Some(vec![0, rows]), ..data };
        let whole = SupervisedHMM::default().fit(&one.view()).unwrap();
        assert_eq!(blocks.startprob, [1.0, 0.0]);
        assert_eq!((blocks.startprob, blocks.transmat), (whole.startprob, whole.transmat));
    }

    #[test]
    fn blocks_of_whole_sequences_count_every_transition() {
        let rows = 3 * block_rows(1);
        let length = 1000;
        let x = Matrix::from_fn(rows, 1, |i, _| (i % 7) as f64);
        let labels: Vec<Label> = (0..rows).map(|i| Label::Int((i / 3 % 2) as i64)).collect();
        let mut data = OwnedDataset::classification(x, &labels);
        data.sequences = Some(offsets_of(rows, |i| i % length == 0));
        let counts = <PathCounts as Summarize>::of(&data.view()).unwrap();
        let model = SupervisedHMM::default().fit(&data.view()).unwrap();
        let whole = counts.transitions[(0, 1)] / counts.transitions.row(0).iter().sum::<f64>();
        assert_eq!(model.transmat[(0, 1)], whole);
    }
}
