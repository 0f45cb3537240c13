//! The picture of a path: every coefficient against the shrinkage factor, or against the degrees of
//! freedom for ridge.

use super::path::{PathKind, RegularizationPath};
use learnt_core::figure::{Axis, Figure, Series};

impl RegularizationPath {
    /// The coefficients of the first output along the path.
    pub fn figure(&self) -> Figure {
        let (title, label, across) = match self.kind {
            PathKind::Lasso => ("Lasso path", "shrinkage factor s", &self.shrinkage),
            PathKind::ElasticNet { .. } => {
                ("Elastic net path", "shrinkage factor s", &self.shrinkage)
            }
            PathKind::Ridge => ("Ridge path", "effective degrees of freedom", &self.df),
        };
        let line = |j: usize| Series {
            name: self.names[j].clone(),
            points: (0..self.alphas.len())
                .map(|k| (across[(0, k)], self.coefs[0][(j, k)]))
                .collect(),
            dots: false,
        };
        Figure {
            title: title.to_string(),
            x: Axis { label: label.to_string(), logarithmic: false },
            y: Axis { label: "coefficient".to_string(), logarithmic: false },
            series: (0..self.names.len()).map(line).collect(),
        }
    }
}
