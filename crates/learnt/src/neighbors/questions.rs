//! What models of neighbours are asked: the training rows nearest to rows, and to each other.

use super::index::Neighbors;
use super::neighborhood::Neighborhood;
use learnt_core::prelude::*;

/// How many neighbours are asked for.
#[derive(Params, Clone, Debug)]
struct HowMany {
    /// Number of neighbours of each row; 0 takes as many as vote.
    #[param(default = 0, range = 0..)]
    pub k: usize,
}

pub(super) const QUESTIONS: &[Question] = &[
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
        let k = match asked.count("k")? {
            0 => self.voters_wanted(),
            k => k,
        };
        match &asked.data {
            Some(data) => {
                let found = self.neighbors(&data.x, k, &asked.run)?;
                let own = |i: usize| (found.rows(i).to_vec(), found.distances(i).to_vec());
                Ok(table((0..found.len()).map(own)))
            }
            None => {
                let rows = Table::unnamed(self.index.to_matrix());
                let found = self.neighbors(&rows.frame(), k + 1, &asked.run)?;
                Ok(table((0..found.len()).map(|i| others(&found, i))))
            }
        }
    }
}

/// The neighbours of a training row but itself; but the last where copies hide it.
fn others(found: &Neighbors, row: usize) -> (Vec<u32>, Vec<f64>) {
    let rows = found.rows(row);
    let own = rows.iter().position(|&other| other as usize == row).unwrap_or(rows.len() - 1);
    let but = |k: &usize| *k != own;
    let kept: Vec<usize> = (0..rows.len()).filter(but).collect();
    let distances = found.distances(row);
    (kept.iter().map(|&k| rows[k]).collect(), kept.iter().map(|&k| distances[k]).collect())
}

fn table(found: impl Iterator<Item = (Vec<u32>, Vec<f64>)>) -> Answer {
    let mut table = Columns::new("Neighbours", &["row", "neighbor", "distance"]);
    for (i, (rows, distances)) in found.enumerate() {
        for (&row, &distance) in rows.iter().zip(&distances) {
            let cells = [Cell::Count(i as i64), Cell::Count(i64::from(row))];
            table.push(cells.into_iter().chain([Cell::Number(distance)]).collect());
        }
    }
    let mut answer = Answer::new("Nearest training rows");
    answer.tables.push(table);
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
}
