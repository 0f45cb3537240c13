use super::*;

fn rows(n: usize, width: usize) -> Matrix {
    Matrix::from_fn(n, width, |i, j| ((i * (7 + 3 * j) + j) as f64 * 0.618).sin() * (1 + j) as f64)
}

const ALL: [Linkage; 7] = [
    Linkage::Single,
    Linkage::Complete,
    Linkage::Average,
    Linkage::Weighted,
    Linkage::Centroid,
    Linkage::Median,
    Linkage::Ward,
];

/// Merges the nearest pair of clusters by the definition of each distance.
fn by_definition(x: &Matrix, linkage: Linkage) -> Vec<f64> {
    struct Cluster {
        rows: Vec<usize>,
        middle: Vec<f64>,
    }
    let n = x.nrows();
    let distance = |a: &[f64], b: &[f64]| Metric::Euclidean.distance(a, b);
    let mut all: Vec<Cluster> =
        (0..n).map(|i| Cluster { rows: vec![i], middle: x.row(i).to_vec() }).collect();
    // Distances of `weighted` depend on how clusters were made.
    let mut table = vec![vec![0.0; n]; n];
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        table[i][j] = distance(x.row(i), x.row(j));
    }
    let mut heights = Vec::new();
    while all.len() > 1 {
        let between = |a: usize, b: usize| {
            let (p, q) = (&all[a], &all[b]);
            let pairs = || {
                p.rows
                    .iter()
                    .flat_map(|&i| q.rows.iter().map(move |&j| (i, j)))
                    .map(|(i, j)| distance(x.row(i), x.row(j)))
            };
            let (np, nq) = (p.rows.len() as f64, q.rows.len() as f64);
            match linkage {
                Linkage::Single => pairs().fold(f64::INFINITY, f64::min),
                Linkage::Complete => pairs().fold(0.0, f64::max),
                Linkage::Average => pairs().sum::<f64>() / (np * nq),
                Linkage::Weighted => table[a][b],
                Linkage::Centroid | Linkage::Median => distance(&p.middle, &q.middle),
                Linkage::Ward => {
                    (2.0 * np * nq / (np + nq)).sqrt() * distance(&p.middle, &q.middle)
                }
            }
        };
        let mut best = (f64::INFINITY, 0, 0);
        for a in 0..all.len() {
            for b in a + 1..all.len() {
                let found = between(a, b);
                if found < best.0 {
                    best = (found, a, b);
                }
            }
        }
        let (height, a, b) = best;
        heights.push(height);
        let gone = all.remove(b);
        let own = all[a].rows.len() as f64;
        let share = match linkage {
            Linkage::Median => 0.5,
            _ => gone.rows.len() as f64 / (own + gone.rows.len() as f64),
        };
        for (m, g) in all[a].middle.iter_mut().zip(&gone.middle) {
            *m += share * (g - *m);
        }
        all[a].rows.extend(gone.rows);
        let (line, _) = (table.remove(b), ());
        for (k, other) in line.iter().enumerate() {
            table_average(&mut table, a, k, b, *other);
        }
        table.iter_mut().for_each(|line| {
            line.remove(b);
        });
    }
    heights
}

fn table_average(table: &mut [Vec<f64>], a: usize, k: usize, b: usize, other: f64) {
    if k == a || k == b {
        return;
    }
    let row = if k > b { k - 1 } else { k };
    let mean = (table[a][k] + other) / 2.0;
    table[a][k] = mean;
    table[row][a] = mean;
}

#[test]
fn every_linkage_is_that_of_its_definition() {
    let x = rows(41, 3);
    let run = Context::default();
    for linkage in ALL {
        let tree = link_rows(x.view(), linkage, Metric::Euclidean, &run).unwrap();
        let expected = by_definition(&x, linkage);
        for (got, expected) in tree.heights.iter().zip(&expected) {
            assert!((got - expected).abs() < 1e-10, "{linkage:?}: {got} {expected}");
        }
        assert_eq!(tree.sizes.last(), Some(&41));
    }
}

#[test]
fn the_tree_of_points_is_the_tree_of_their_distances() {
    let x = rows(37, 2);
    let run = Context::default();
    let table = Matrix::from_fn(37, 37, |i, j| Metric::Euclidean.distance(x.row(i), x.row(j)));
    for linkage in ALL {
        let points = link_rows(x.view(), linkage, Metric::Euclidean, &run).unwrap();
        let distances = link_distances(table.view(), linkage, &run).unwrap();
        assert_eq!(points.children, distances.children, "{linkage:?}");
        for (a, b) in points.heights.iter().zip(&distances.heights) {
            assert!((a - b).abs() < 1e-9, "{linkage:?}: {a} {b}");
        }
    }
}

#[test]
fn cuts_are_nested_and_count_what_was_asked_for() {
    let x = rows(50, 3);
    let run = Context::default();
    for linkage in ALL {
        let tree = link_rows(x.view(), linkage, Metric::Euclidean, &run).unwrap();
        for k in 1..50 {
            let (coarse, fine) = (tree.cut_count(k), tree.cut_count(k + 1));
            assert_eq!(*coarse.iter().max().unwrap() as usize + 1, k);
            for (i, j) in (0..50).flat_map(|i| (0..i).map(move |j| (i, j))) {
                assert!(fine[i] != fine[j] || coarse[i] == coarse[j], "{linkage:?} {k}");
            }
        }
    }
}

#[test]
fn single_linkage_heights_are_the_edges_of_the_spanning_tree() {
    let x = rows(60, 2);
    let run = Context::default();
    let tree = link_rows(x.view(), Linkage::Single, Metric::Euclidean, &run).unwrap();
    let mut edges = prim(x.view(), Metric::Euclidean, None, &run).unwrap();
    edges.sort_by(|a, b| a.length.total_cmp(&b.length));
    let lengths: Vec<f64> = edges.iter().map(|edge| edge.length).collect();
    assert_eq!(tree.heights, lengths);
    // Kruskal's tree over all pairs is as long.
    let mut pairs: Vec<Edge> = (0..60_u32)
        .flat_map(|i| (0..i).map(move |j| (j, i)))
        .map(|(a, b)| {
            let length = Metric::Euclidean.distance(x.row(a as usize), x.row(b as usize));
            Edge::new(a, b, length)
        })
        .collect();
    pairs.sort_by(|a, b| a.length.total_cmp(&b.length));
    let mut group: Vec<usize> = (0..60).collect();
    let mut total = 0.0;
    for pair in pairs {
        let (a, b) = (group[pair.a as usize], group[pair.b as usize]);
        if a != b {
            total += pair.length;
            group.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
        }
    }
    assert!((total - lengths.iter().sum::<f64>()).abs() < 1e-9);
}

#[test]
fn equal_rows_and_single_rows_have_trees() {
    let run = Context::default();
    for linkage in ALL {
        let equal = Matrix::from_fn(30, 2, |_, _| 0.1);
        let tree = link_rows(equal.view(), linkage, Metric::Euclidean, &run).unwrap();
        assert!(tree.heights.iter().all(|height| *height == 0.0), "{linkage:?}");
        let one = link_rows(rows(1, 2).view(), linkage, Metric::Euclidean, &run).unwrap();
        assert_eq!((one.heights.len(), one.cut_count(1)), (0, vec![0]));
    }
}

#[test]
fn a_table_of_distances_beyond_the_limit_is_refused_before_it_is_made() {
    let run = Context::default().with_memory_limit(Some(1_000_000));
    let x = Matrix::zeros(2000, 1);
    let error = link_rows(x.view(), Linkage::Average, Metric::Euclidean, &run).unwrap_err();
    assert_eq!(error.code(), Code::Memory);
    assert!(link_rows(x.view(), Linkage::Ward, Metric::Euclidean, &run).is_ok());
}

#[test]
fn heights_of_pairs_are_those_of_their_mergers() {
    let x = Matrix::column_vector(vec![0.0, 1.0, 3.0, 7.0]);
    let run = Context::default();
    let tree = link_rows(x.view(), Linkage::Single, Metric::Euclidean, &run).unwrap();
    assert_eq!(tree.cophenetic(&run).unwrap(), [1.0, 2.0, 4.0, 2.0, 4.0, 4.0]);
    assert_eq!(tree.cut_height(2.0), [0, 0, 0, 1]);
    assert_eq!(tree.cut_below(2.0), [0, 0, 1, 2]);
    assert_eq!(Tree::from_matrix(tree.to_matrix().view()).unwrap(), tree);
}

#[test]
fn a_table_made_on_several_threads_has_the_heights_of_the_spanning_tree() {
    let x = rows(2600, 3);
    let run = Context::default().with_threads(2);
    let by_edges = link_rows(x.view(), Linkage::Single, Metric::Euclidean, &run).unwrap();
    let mut table = Table::of_rows(x.view(), Linkage::Single, Metric::Euclidean, &run).unwrap();
    let mergers = chain(&mut table, x.nrows(), &run).unwrap();
    let by_table = Tree::from_mergers(x.nrows(), &mergers, Linkage::Single).unwrap();
    assert_eq!(by_table.heights, by_edges.heights);
}

#[test]
fn wide_rows_have_the_tree_of_ward_by_a_table_and_by_points() {
    let x = rows(150, 60);
    let run = Context::default();
    assert!(table_is_cheaper(150, 60, &run) && !table_is_cheaper(300, 60, &run));
    assert!(!table_is_cheaper(30, 20, &run) && table_is_cheaper(1000, 2000, &run));
    let short = Context::default().with_memory_limit(Some(100_000));
    assert!(!table_is_cheaper(1000, 2000, &short));
    let chosen = link_rows(x.view(), Linkage::Ward, Metric::Euclidean, &run).unwrap();
    let mergers = chain(&mut Points::new(x.view(), Linkage::Ward), 150, &run).unwrap();
    let points = Tree::from_mergers(150, &mergers, Linkage::Ward).unwrap();
    assert_eq!(chosen.children, points.children);
    for (a, b) in chosen.heights.iter().zip(&points.heights) {
        assert!((a - b).abs() < 1e-10 * b, "{a} {b}");
    }
}
