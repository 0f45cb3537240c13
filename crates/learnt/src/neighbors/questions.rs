//! What models of neighbours are asked: the training rows nearest to rows and to each other, and those within a
//! radius.

use super::index::{Index, Neighbors};
use super::neighborhood::Neighborhood;
use learnt_core::prelude::*;

/// How many neighbours are asked for.
#[derive(Params, Clone, Debug)]
struct HowMany {
    /// Number of neighbours of each row; 0 takes as many as vote.
    #[param(default = 0, range = 0..)]
    pub k: usize,
}

/// How far rows may be.
#[derive(Params, Clone, Debug)]
struct HowFar {
    /// Rows at most this far are found.
    #[param(default = 1.0)]
    pub radius: f64,
}

const WITHIN: Question = Question {
    name: "within",
    doc: "The training rows within a radius of each row, from 0, in their order, with their distances.",
    needs: Needs::Rows,
    arguments: || Box::new(HowFar::default()),
};

const TRAINING_WITHIN: Question = Question {
    name: "training_within",
    doc: "The other training rows within a radius of each training row, with their distances.",
    needs: Needs::Nothing,
    arguments: || Box::new(HowFar::default()),
};

/// What models of a radius are asked.
pub(super) const WITHIN_QUESTIONS: &[Question] = &[WITHIN, TRAINING_WITHIN];

pub(super) const QUESTIONS: &[Question] = &[
    WITHIN,
    TRAINING_WITHIN,
    Question {
        name: "neighbors",
        doc: "The nearest training rows of each row, from 0, with their distances, nearest first.",
        needs: Needs::Rows,
        arguments: || Box::new(HowMany::default()),
    },
    Question {
        name: "training_neighbors",
        doc: "The nearest other training rows of each training row, with their distances.",
        needs: Needs::Nothing,
        arguments: || Box::new(HowMany::default()),
    },
];

impl Neighborhood {
    pub(super) fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        if asked.name.ends_with("within") {
            return within(&self.index, asked);
        }
        let k = match asked.count("k")? {
            0 => self.voters_wanted(),
            k => k,
        };
        match &asked.data {
            Some(data) => {
                let found = self.neighbors(&data.x, k, &asked.run)?;
                let own = |i: usize| (0..found.rows(i).len()).collect();
                Ok(table(&found, own))
            }
            None => {
                let rows = Table::unnamed(self.index.to_matrix());
                let found = self.neighbors(&rows.frame(), k + 1, &asked.run)?;
                Ok(table(&found, |i| others(&found, i)))
            }
        }
    }
}

/// The rows within a radius: a table of how many each row has, and one of them all.
pub(super) fn within(index: &Index, asked: &Asked) -> Result<Answer> {
    let radius = asked.number("radius")?;
    let (mut counts, mut rows, mut distances) = (Vec::new(), Vec::new(), Vec::new());
    let training = asked.data.is_none().then(|| index.to_matrix());
    let queries = match (&asked.data, &training) {
        (Some(data), _) => data.x.values(),
        (None, Some(training)) => training.view(),
        (None, None) => return Ok(Answer::default()),
    };
    let all: Vec<usize> = (0..queries.nrows()).collect();
    index.each_within(queries, &all, radius, &asked.run, |i, found, apart| {
        let before = rows.len();
        if before + found.len() > rows.capacity() {
            asked.run.claim(48 * (before + found.len()) as u64, "the rows within the radius")?;
        }
        for (&row, &distance) in found.iter().zip(apart) {
            if training.is_none() || row as usize != i {
                rows.push(i64::from(row));
                distances.push(distance);
            }
        }
        counts.push((rows.len() - before) as i64);
        Ok(())
    })?;
    let mut answer = Answer::new("Training rows within the radius");
    answer.tables.push(Columns::titled("Number of neighbours").counts("neighbors", counts));
    let found = Columns::titled("Neighbours").counts("neighbor", rows);
    answer.tables.push(found.reals("distance", distances));
    Ok(answer)
}

/// The places of the neighbours of a training row but itself; but the last where copies hide it.
fn others(found: &Neighbors, row: usize) -> Vec<usize> {
    let rows = found.rows(row);
    let own = rows.iter().position(|&other| other as usize == row).unwrap_or(rows.len() - 1);
    (0..rows.len()).filter(|&place| place != own).collect()
}

/// The neighbours of all rows at these places.
fn table(found: &Neighbors, places: impl Fn(usize) -> Vec<usize>) -> Answer {
    let (mut row, mut neighbor, mut distance) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..found.len() {
        for place in places(i) {
            row.push(i as i64);
            neighbor.push(i64::from(found.rows(i)[place]));
            distance.push(found.distances(i)[place]);
        }
    }
    let table = Columns::titled("Neighbours").counts("row", row).counts("neighbor", neighbor);
    let mut answer = Answer::new("Nearest training rows");
    answer.tables.push(table.reals("distance", distance));
    answer
}

#[cfg(test)]
mod tests {
    use super::super::KNeighborsRegressor;
    use super::*;
    use learnt_core::answer::Series;

    #[test]
    fn neighbours_are_listed_for_new_rows_and_without_itself_for_training_rows() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 3.0, 3.0]);
        let data = OwnedDataset::regression(x, vec![0.0; 4]);
        let learner = KNeighborsRegressor { n_neighbors: 2, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let ask = |name: &str, k: i64, rows: Option<Dataset>| {
            let question = QUESTIONS.iter().find(|question| question.name == name).unwrap();
            let given = [("k".to_string(), Value::Int(k))];
            let asked = question.ask(&given, rows, Context::default()).unwrap();
            model.answer(&asked)
        };
        let listed = |answer: Answer| {
            let counts = |c: usize| match &answer.tables[0].columns[c].data {
                Series::Counts(values) => values.clone(),
                _ => Vec::new(),
            };
            counts(0).into_iter().zip(counts(1)).collect::<Vec<_>>()
        };
        let places = OwnedDataset::unsupervised(Matrix::column_vector(vec![2.9]));
        let found = listed(ask("neighbors", 0, Some(places.view())).unwrap());
        assert_eq!(found, [(0, 2), (0, 3)]);
        let found = listed(ask("training_neighbors", 1, None).unwrap());
        assert_eq!(found, [(0, 1), (1, 0), (2, 3), (3, 2)]);
        assert!(ask("neighbors", 5, Some(places.view())).is_err());
    }

    #[test]
    fn rows_within_a_radius_come_in_order_on_it_or_inside_and_a_training_row_is_not_its_own() {
        use super::super::RadiusNeighborsRegressor;
        let x = Matrix::column_vector(vec![0.0, 3.0, 1.0, 1.0, 7.0]);
        let data = OwnedDataset::regression(x, vec![0.0; 5]);
        let nearest = KNeighborsRegressor { n_neighbors: 1, ..Default::default() };
        let nearest = nearest.fit(&data.view()).unwrap();
        let around = RadiusNeighborsRegressor::default().fit(&data.view()).unwrap();
        let places = OwnedDataset::unsupervised(Matrix::column_vector(vec![2.0, 5.0]));
        let given = [("radius".to_string(), Value::Real(1.0))];
        let ask = |question: &Question, rows: Option<Dataset>| {
            let asked = question.ask(&given, rows, Context::default()).unwrap();
            let answers = [nearest.answer(&asked).unwrap(), around.answer(&asked).unwrap()];
            answers.map(|answer| {
                let counts = |t: usize| match &answer.tables[t].columns[0].data {
                    Series::Counts(values) => values.clone(),
                    _ => Vec::new(),
                };
                (counts(0), counts(1), answer.tables[1].columns[1].data.clone())
            })
        };
        for (counts, rows, distances) in ask(&WITHIN, Some(places.view())) {
            assert_eq!((counts, rows), (vec![3, 0], vec![1, 2, 3]));
            assert_eq!(distances, Series::Reals(vec![1.0; 3]));
        }
        for (counts, rows, _) in ask(&TRAINING_WITHIN, None) {
            assert_eq!((counts, rows), (vec![2, 0, 2, 2, 0], vec![2, 3, 0, 3, 0, 2]));
        }
    }
}
