//! Neighbours, densities by counting, random projections and density attractors against reference numbers.

use crate::golden::labels;
use crate::golden_case::{Case, matrix, numbers, texts};
use learnt::cluster::{Ascent, DENCLUE, HillClimb, Linkage, RowsToClimb, link_rows};
use learnt::density::{KnnDensity, MixtureCovariance, RowsAndPlaces, ln_ball_volume};
use learnt::metrics::{CosineSimilarity, RowsAndRows};
use learnt::neighbors::{
    AnyOnLine, AnyWithin, AttributeDistances, AttributeScale, ClosestPair, Metric, MixedRows,
    NearestCentroid, PointsAndLines, TwoSets,
};
use learnt::prelude::*;
use learnt::reduce::{
    BeforeAndAfter, DistanceDistortion, GaussianRandomProjection, ProjectionDimension,
    ProjectionTarget, ReadCovariance, RowsToReduce,
};
use learnt::theory::ChiSquareTailBound;
use serde_json::Value as Json;

fn neighbors(id: &str) -> Case {
    Case::new("neighbors.json", id)
}

fn reduce(id: &str) -> Case {
    Case::new("reduce.json", id)
}

/// Labels of a list of texts.
fn classes(json: &Json) -> Vec<Label> {
    texts(json).into_iter().map(Label::Text).collect()
}

#[test]
fn neighbour_densities() {
    for (id, ks) in [
        ("knn-density-1d", vec![1, 2, 3]),
        ("knn-density-2d", vec![1, 2, 3]),
        ("knn-density-parzen-data", vec![3]),
    ] {
        let case = neighbors(id);
        let x = matrix(case.input("X"));
        let at = match case.input("query") {
            Json::Array(items) if x.ncols() == items.len() => {
                Matrix::from_rows(&[numbers(case.input("query"))]).unwrap()
            }
            query => Matrix::column_vector(numbers(query)),
        };
        let given = RowsAndPlaces { x: x.view(), at: Some(at.view()) };
        let found: Vec<f64> =
            ks.into_iter().flat_map(|k| KnnDensity { k }.compute(given).unwrap()).collect();
        case.close("density", found);
    }
    let case = neighbors("unit-ball-volumes");
    let volume = |d: f64| ln_ball_volume(d as usize).exp();
    case.close("volume", numbers(case.input("d")).into_iter().map(volume).collect::<Vec<_>>());
}

#[test]
fn nearest_centroids() {
    let case = neighbors("nearest-centroid-small");
    let y = classes(case.input("y"));
    let data = OwnedDataset::classification(matrix(case.input("X")), &y);
    let model = NearestCentroid::default().fit(&data.view()).unwrap();
    case.close("centroids", model.centroids.as_slice());
    let query = Table::unnamed(matrix(case.input("query")));
    let said: Vec<String> = model
        .classify(&query.frame())
        .unwrap()
        .into_iter()
        .map(|code| ["a", "b"][code as usize].to_string())
        .collect();
    assert_eq!(said, texts(case.expect("predictions")));
    let case = neighbors("nearest-centroid-wine");
    let data = case.classification();
    let model = NearestCentroid::default().fit(&data.view()).unwrap();
    let first: Vec<f64> = model.centroids.rows().flat_map(|row| row[..3].to_vec()).collect();
    case.close("centroids_first3", first);
    let view = data.view();
    let (codes, _) = view.class_target().unwrap();
    let said = model.classify(&view.x).unwrap();
    let errors = said.iter().zip(codes).filter(|(a, b)| a != b).count();
    assert_eq!(errors as u64, case.expect("training_errors").as_u64().unwrap());
}

/// Rows of texts as a table of categories.
fn categories(columns: &[Vec<String>]) -> Table {
    let mut all = Vec::new();
    let mut values = Matrix::zeros(columns[0].len(), columns.len());
    for (j, column) in columns.iter().enumerate() {
        let mut levels = column.clone();
        levels.sort();
        levels.dedup();
        for (i, value) in column.iter().enumerate() {
            values[(i, j)] = levels.iter().position(|level| level == value).unwrap() as f64;
        }
        all.push(Column::categorical(format!("c{j}"), levels));
    }
    Table::new(values, Schema::new(all).unwrap()).unwrap()
}

fn overlap(table: &Table) -> Matrix {
    let function = AttributeDistances { scale: AttributeScale::Overlap, ..Default::default() };
    function.compute(MixedRows { x: table.frame() }).unwrap()
}

#[test]
fn overlap_and_cosine() {
    let case = neighbors("overlap-and-cosine");
    let (a, b) = (texts(case.input("a")), texts(case.input("b")));
    let columns: Vec<Vec<String>> = a.into_iter().zip(b).map(|(a, b)| vec![a, b]).collect();
    case.close("overlap", [overlap(&categories(&columns))[(0, 1)]]);
    let rows = Matrix::from_rows(&[numbers(case.input("u")), numbers(case.input("v"))]).unwrap();
    let cosine = CosineSimilarity {}.compute(RowsAndRows { X: rows.view(), Y: None }).unwrap();
    case.close("cosine", [cosine[(0, 1)]]);
}

#[test]
fn the_nearest_votes_by_overlap() {
    let case = neighbors("overlap-nn-vote");
    let left_out = texts(&case.input("features")["all_except"]);
    let names: Vec<String> =
        crate::golden::head("vote").into_iter().filter(|name| !left_out.contains(name)).collect();
    let columns: Vec<Vec<String>> = names
        .iter()
        .map(|name| labels("vote", name).iter().map(ToString::to_string).collect())
        .collect();
    let party: Vec<String> = labels("vote", "party").iter().map(ToString::to_string).collect();
    let whole: Vec<usize> =
        (0..party.len()).filter(|&i| columns.iter().all(|column| !column[i].is_empty())).collect();
    assert_eq!(whole.len() as u64, case.expect("rows").as_u64().unwrap());
    let kept: Vec<Vec<String>> =
        columns.iter().map(|column| whole.iter().map(|&i| column[i].clone()).collect()).collect();
    let distances = overlap(&categories(&kept));
    let (mut errors, mut undecided) = (0, 0);
    for (i, &row) in whole.iter().enumerate() {
        let others = || (0..whole.len()).filter(|&j| j != i);
        let least = others().map(|j| distances[(i, j)]).fold(f64::INFINITY, f64::min);
        let votes: Vec<&String> =
            others().filter(|&j| distances[(i, j)] == least).map(|j| &party[whole[j]]).collect();
        let right = votes.iter().filter(|vote| ***vote == party[row]).count();
        match (2 * right).cmp(&votes.len()) {
            std::cmp::Ordering::Less => errors += 1,
            std::cmp::Ordering::Equal => undecided += 1,
            std::cmp::Ordering::Greater => {}
        }
    }
    assert_eq!(errors, case.expect("errors").as_u64().unwrap());
    assert_eq!(undecided, case.expect("undecided").as_u64().unwrap());
}

#[test]
fn closest_pairs_and_incidence() {
    let case = neighbors("bichromatic-closest-pair");
    let (a, b) = (matrix(case.input("A")), matrix(case.input("B")));
    let sets = TwoSets { a: a.view(), b: b.view() };
    let found = ClosestPair {}.compute(sets).unwrap();
    case.close("pair", [found.a as f64, found.b as f64]);
    case.close("distance", [found.distance]);
    let radius = case.input("radius").as_f64().unwrap();
    let covered = AnyWithin { radius }.compute(sets).unwrap();
    assert_eq!(Some(covered), case.expect("covered").as_bool());
    let lines = matrix(case.input("lines"));
    let points = Matrix::from_fn(8, 2, |i, j| if i < 4 { a[(i, j)] } else { b[(i - 4, j)] });
    let on = AnyOnLine {}
        .compute(PointsAndLines { points: points.view(), lines: lines.view() })
        .unwrap();
    assert_eq!(Some(on), case.expect("incidence").as_bool());
}

#[test]
fn dimensions_tails_and_projections() {
    let case = reduce("jl-dimensions");
    let one = numbers(case.input("one"));
    let of = |points: Option<usize>, eps: f64, delta: f64| {
        ProjectionDimension { eps, delta, points }.compute(()).unwrap() as f64
    };
    case.close("one", [of(None, one[0], one[1])]);
    let pairs: Vec<f64> = matrix(case.input("all_pairs"))
        .rows()
        .map(|row| of(Some(row[0] as usize), row[1], row[2]))
        .collect();
    case.close("all_pairs", pairs);
    let case = reduce("chi-square-tail");
    let tails: Vec<_> = matrix(case.input("k_x"))
        .rows()
        .map(|row| ChiSquareTailBound { k: row[0] as u64, x: row[1] }.compute(()).unwrap())
        .collect();
    case.close("exact", tails.iter().map(|tail| tail.exact).collect::<Vec<_>>());
    case.close("bound", tails.iter().map(|tail| tail.bound).collect::<Vec<_>>());
    let case = reduce("random-projection-fixed");
    let rows: Vec<usize> =
        numbers(&case.input("rows")["index"]).into_iter().map(|i| i as usize).collect();
    let x = case.features().frame().gather(&rows).into_parts().0;
    let a = matrix(case.input("A"));
    let scale = (a.nrows() as f64).sqrt();
    let projected = Matrix::from_fn(3, a.nrows(), |i, k| {
        x.row(i).iter().zip(a.row(k)).map(|(x, a)| x * a).sum::<f64>() / scale
    });
    case.close("projected", projected.as_slice());
    let given = BeforeAndAfter { x: x.view(), y: projected.view() };
    let found = DistanceDistortion::default().compute(given).unwrap();
    let ratios = numbers(case.expect("ratios"));
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    assert!((found.min_ratio - least).abs() < 1e-9 && (found.max_ratio - most).abs() < 1e-9);
}

#[test]
fn distances_are_distorted_as_much_as_in_the_simulation() {
    let case = reduce("jl-distortion");
    let run = Context::default();
    let mut rng = run.rng(9);
    let x = Matrix::from_fn(60, 400, |_, _| learnt::stats::sample::uniform(&mut rng));
    let data = OwnedDataset::unsupervised(x.clone());
    for k in [50, 200, 1000] {
        let learner =
            GaussianRandomProjection { n_components: ProjectionTarget::Count(k), eps: 0.1 };
        let model = learner.fit_in(&data.view(), &run).unwrap();
        let y = model.transform_in(&data.x.frame(), &run).unwrap().into_parts().0;
        let given = BeforeAndAfter { x: x.view(), y: y.view() };
        let found = DistanceDistortion::default().compute(given).unwrap();
        let within = |name: &str, value: f64| {
            let range = &case.expect(&k.to_string())[name];
            let (low, high) = (range["min"].as_f64().unwrap(), range["max"].as_f64().unwrap());
            assert!(value >= low && value <= high, "{k} {name}: {value} [{low}, {high}]");
        };
        within("min_ratio", found.min_ratio);
        within("max_ratio", found.max_ratio);
    }
}

#[test]
fn the_covariance_is_bounded_by_the_product_of_variances_in_its_square() {
    let case = reduce("covariance-inequality");
    let x = matrix(case.input("X"));
    let found = ReadCovariance { ddof: 0.0 }.compute(RowsToReduce { x: x.view() }).unwrap();
    case.close("C12", [found.c12]);
    case.close("C11_C22", [found.c11 * found.c22]);
    case.close("C12_squared", [found.c12 * found.c12]);
    assert!(found.c12 > found.c11 * found.c22 && found.c12.powi(2) <= found.c11 * found.c22);
}

#[test]
fn attractors_and_clusters_of_five_values() {
    let case = Case::new("cluster.json", "denclue-five-values");
    let x = Matrix::column_vector(numbers(case.input("X")));
    let learner = HillClimb { ascent: Ascent::MeanShift, ..Default::default() };
    let found = learner.compute(RowsToClimb { x: x.view(), at: None }).unwrap();
    let (tops, densities) = (numbers(case.expect("attractors")), numbers(case.expect("densities")));
    for (i, top) in numbers(case.expect("attractor_of_point")).into_iter().enumerate() {
        assert!((found.tops[(i, 0)] - tops[top as usize]).abs() < 1e-5);
        assert!((found.density[i] - densities[top as usize]).abs() < 1e-5);
    }
    let data = OwnedDataset::unsupervised(x.clone());
    for (xi, clusters) in case.expect("clusters").as_object().unwrap() {
        let learner =
            DENCLUE { bandwidth: Some(1.0), xi: Some(xi.parse().unwrap()), ..Default::default() };
        let labels = learner.fit(&data.view()).unwrap().labels();
        let mut expected = vec![None; 5];
        for (k, members) in clusters.as_array().unwrap().iter().enumerate() {
            for value in numbers(members) {
                let row = (0..5).find(|&i| x[(i, 0)] == value).unwrap();
                expected[row] = Some(k as u32);
            }
        }
        assert_eq!(labels, expected, "{xi}");
    }
}

#[test]
fn parameters_of_mixtures_and_distances_of_groups() {
    let case = Case::new("cluster.json", "mixture-parameter-count");
    let count = |form: MixtureCovariance| -> Vec<f64> {
        matrix(case.input("d_k"))
            .rows()
            .map(|row| {
                let (d, k) = (row[0] as usize, row[1] as usize);
                (k - 1 + k * d + form.parameters(k, d)) as f64
            })
            .collect()
    };
    case.close("full", count(MixtureCovariance::Full));
    case.close("diagonal", count(MixtureCovariance::Diag));
    // The last merger of each tree joins the two groups.
    let case = Case::new("cluster.json", "linkage-distances-two-groups");
    let both: Vec<f64> = [numbers(case.input("A")), numbers(case.input("B"))].concat();
    let x = Matrix::column_vector(both);
    let last = |linkage: Linkage| {
        let tree = link_rows(x.view(), linkage, Metric::Euclidean, &Context::default()).unwrap();
        *tree.heights.last().unwrap()
    };
    for (name, linkage) in [
        ("single", Linkage::Single),
        ("complete", Linkage::Complete),
        ("average", Linkage::Average),
        ("centroid", Linkage::Centroid),
    ] {
        case.close(name, [last(linkage)]);
    }
    case.close("ward_increase", [last(Linkage::Ward).powi(2) / 2.0]);
}
