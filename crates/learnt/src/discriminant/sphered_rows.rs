//! Sphering and the nearest centroid as a function: see [`SpheredCentroids`].

use super::SpheredCentroids;
use crate::charts::groups::{self, Groups};
use learnt_core::answer::OwnedLabels;
use learnt_core::chart::Chart;
use learnt_core::prelude::*;

/// Rows with classes, and other rows to place among them.
#[derive(Inputs, Clone, Copy)]
pub struct RowsToSphere<'a> {
    /// The inputs.
    #[input(name = "X")]
    pub x: Frame<'a>,
    /// The class of each row.
    pub y: Classes<'a>,
    /// Other rows to be placed; the same by default.
    #[input(name = "X_new", apart)]
    pub x_new: Option<Frame<'a>>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Sphering and the nearest centroid: coordinates in which the covariance within classes is the
/// identity, and for each row the class of the nearest centroid there, corrected by the shares of the
/// classes. These are the classes of linear discriminant analysis.
#[derive(Params, Clone, Debug)]
pub struct SphereRows {}

/// Rows and centroids in sphered coordinates.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SpheredRows {
    /// The rows, one column a coordinate.
    pub coordinates: Matrix,
    /// The class of the nearest centroid.
    pub nearest: OwnedLabels,
    /// The centroids, one row a class.
    pub centroids: Matrix,
    /// Directions of the coordinates, one row each.
    pub directions: Matrix,
    /// Mean of all rows, the origin of the coordinates.
    pub origin: Vec<f64>,
    /// Share of each class.
    pub priors: Vec<f64>,
}

impl Function for SphereRows {
    type Inputs<'a> = RowsToSphere<'a>;
    type Output = SpheredRows;
    const ABOUT: &'static Callable =
        &Callable::new("discriminant_analysis.sphered_centroids", FunctionKind::Analysis)
            .threads()
            .exempt(&[(
                "scaled weights",
                "the covariance within classes divides by the weight less the classes",
            )]);

    fn call(&self, given: RowsToSphere, run: &Context) -> Result<SpheredRows> {
        let Classes { codes, classes } = given.y;
        let data = Dataset {
            y: Some(Target::Class { codes, classes }),
            weights: given.sample_weight,
            ..Dataset::new(given.x)
        };
        let found = SpheredCentroids::of(&data, run)?;
        let rows = given.x_new.unwrap_or(given.x);
        Ok(SpheredRows {
            coordinates: found.sphere(&rows, run)?,
            nearest: OwnedLabels { codes: found.nearest(&rows, run)?, classes: classes.to_vec() },
            centroids: found.centroids,
            directions: found.directions,
            origin: found.origin,
            priors: found.priors,
        })
    }

    fn chart(&self, found: &SpheredRows) -> Option<Chart> {
        let names: Vec<String> = found.nearest.classes.iter().map(ToString::to_string).collect();
        let title = "Sphered rows with the centroids of their classes";
        let text =
            "Each point is a row in the first two coordinates, coloured by its nearest centroid.";
        groups::scatter(&Groups {
            title,
            text,
            axes: ["first coordinate", "second coordinate"],
            points: found.coordinates.view(),
            codes: &found.nearest.codes,
            names: &names,
            centres: Some(found.centroids.view()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discriminant::LinearDiscriminantAnalysis;

    #[test]
    fn the_nearest_sphered_centroid_is_the_class_of_linear_discriminants() {
        let data = crate::datasets::load("iris").unwrap();
        let view = data.view();
        let Some(Target::Class { codes, classes }) = view.y else { panic!("iris has classes") };
        let y = Classes { codes, classes };
        let given = RowsToSphere { x: view.x, y, x_new: None, sample_weight: None };
        let found = SphereRows {}.compute(given).unwrap();
        let run = Context::default();
        let model = LinearDiscriminantAnalysis::default().fit_in(&view, &run).unwrap();
        assert_eq!(found.nearest.codes, model.classify_in(&view.x, &run).unwrap());
        assert_eq!((found.centroids.nrows(), found.coordinates.nrows()), (3, 150));
        assert!(SphereRows {}.chart(&found).is_some());
    }
}
