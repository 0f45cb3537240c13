//! The bundled data sets: what each is, where it comes from and under which terms it is distributed.
//!
//! Only sets whose terms allow copies with a release are here: public domain, CC0, CC BY, or made up
//! for teaching.

use crate::metrics::Task;

/// Declared levels: column, levels in order, whether the order means something.
pub type Levels = &'static [(&'static str, &'static [&'static str], bool)];

/// A bundled data set.
#[derive(Debug)]
pub struct Bundled {
    /// The name to load it by.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// Number of input columns.
    pub columns: usize,
    /// The column to predict.
    pub target: Option<&'static str>,
    /// The column of weights.
    pub weights: Option<&'static str>,
    /// What it is usually used for.
    pub task: Task,
    /// Who made it.
    pub source: &'static str,
    /// The terms of distribution.
    pub licence: &'static str,
    /// Levels that the rows alone do not show.
    pub levels: Levels,
    /// The file.
    pub text: &'static str,
}

const EXAMPLE: &str = "worked example of machine-learning courses";
const FREE: &str = "made-up numbers, free to use";
const UCI: &str = "UCI Machine Learning Repository, CC BY 4.0";

const FISH: Levels = &[("length", &["<50", "50-100", ">100"], true)];
const PRICES: Levels = &[("condition", &["fair", "good", "excellent"], true)];
const SPORT: Levels = &[
    ("sky", &["Sunny", "Cloudy", "Rainy"], false),
    ("air_temp", &["Warm", "Cold"], false),
    ("humidity", &["Normal", "High"], false),
    ("wind", &["Strong", "Weak"], false),
    ("water", &["Warm", "Cool"], false),
    ("forecast", &["Same", "Change"], false),
];

/// Every column to be typed by its cells, no weights.
const PLAIN: Bundled = Bundled {
    name: "",
    about: "",
    rows: 0,
    columns: 0,
    target: None,
    weights: None,
    task: Task::Unsupervised,
    source: "",
    licence: "",
    levels: &[],
    text: "",
};

/// Describes one data set.
macro_rules! set {
    ($name:literal, $about:literal, $rows:literal x $columns:literal, $target:expr, $task:ident,
     $source:expr, $licence:expr $(, $field:ident = $value:expr)*) => {
        Bundled {
            name: $name,
            about: $about,
            rows: $rows,
            columns: $columns,
            target: $target,
            task: Task::$task,
            source: $source,
            licence: $licence,
            text: include_str!(concat!("files/", $name, ".csv")),
            $($field: $value,)*
            ..PLAIN
        }
    };
}

/// Every bundled data set.
#[expect(clippy::needless_update, reason = "one set needs no defaults")]
pub const BUNDLED: &[Bundled] = &[
    set!("iris", "Sepals and petals of three species.", 150 x 4, Some("species"), Classification, "R. A. Fisher, The use of multiple measurements in taxonomic problems (1936)", "public domain; also UCI Machine Learning Repository, CC BY 4.0"),
    set!("penguins", "Size, sex and island of three penguin species, with gaps.", 344 x 7, Some("species"), Classification, "K. B. Gorman, T. D. Williams, W. R. Fraser, Palmer Archipelago penguins (2014)", "CC0"),
    set!("wine", "Chemical analysis of wines of three cultivars.", 178 x 13, Some("cultivar"), Classification, "M. Forina et al., Institute of Pharmaceutical and Food Analysis, Genoa", UCI),
    set!("breast_cancer", "Cell nuclei of malignant and benign breast masses.", 569 x 30, Some("diagnosis"), Classification, "W. H. Wolberg, W. N. Street, O. L. Mangasarian, Wisconsin diagnostic (1995)", UCI),
    set!("breast_cancer_ljubljana", "Recurrence of breast cancer, nominal, with gaps.", 286 x 9, Some("class"), Classification, "M. Zwitter, M. Soklic, Institute of Oncology, University Medical Centre, Ljubljana", UCI),
    set!("digits", "Hand-written digits as 8 x 8 grey levels from 0 to 16.", 1797 x 64, Some("digit"), Classification, "E. Alpaydin, C. Kaynak, optical recognition of handwritten digits, test set (1998)", UCI),
    set!("glass", "Refraction and oxides of six kinds of glass.", 214 x 9, Some("type"), Classification, "B. German, Home Office Forensic Science Service (1987)", UCI),
    set!("ionosphere", "Radar returns from the ionosphere, good or bad.", 351 x 34, Some("class"), Classification, "V. Sigillito et al., Johns Hopkins University (1989)", UCI),
    set!("labor", "Final settlements in labour negotiations, with many gaps.", 57 x 16, Some("class"), Classification, "Collective Bargaining Review, Labour Canada (1988)", UCI),
    set!("vote", "Votes of the House of Representatives of 1984, with gaps.", 435 x 16, Some("party"), Classification, "J. Schlimmer, Congressional Quarterly Almanac (1985)", UCI),
    set!("contact_lenses", "Which contact lenses to fit, nominal.", 24 x 4, Some("contact_lenses"), Classification, "J. Cendrowska, PRISM (1987)", UCI),
    set!("cpu", "Relative performance of computers.", 209 x 6, Some("performance"), Regression, "P. Ein-Dor, J. Feldmesser (1987)", UCI),
    set!("weather_nominal", "Fourteen days and whether a game is played, nominal.", 14 x 4, Some("play"), Classification, "after J. R. Quinlan, Induction of decision trees (1986)", "made-up example, free to use"),
    set!("weather_numeric", "The same days with temperature and humidity as numbers.", 14 x 4, Some("play"), Classification, "after J. R. Quinlan, Induction of decision trees (1986)", "made-up example, free to use"),
    set!("houses", "Area and price of four houses.", 4 x 1, Some("price"), Regression, EXAMPLE, FREE),
    set!("line", "Five points near a line.", 5 x 1, Some("y"), Regression, EXAMPLE, FREE),
    set!("plane", "Five points in two inputs.", 5 x 2, Some("y"), Regression, EXAMPLE, FREE),
    set!("leverage", "Three points for leave-one-out by leverage.", 3 x 1, Some("y"), Regression, EXAMPLE, FREE),
    set!("boosting_line", "Ten points on a line that no stump separates.", 10 x 1, Some("class"), Classification, EXAMPLE, FREE),
    set!("margin_four", "Four points with a hard margin.", 4 x 2, Some("class"), Classification, EXAMPLE, FREE),
    set!("margin_three", "Three points for a soft margin.", 3 x 2, Some("class"), Classification, EXAMPLE, FREE),
    set!("margin_two", "Two points with a hard margin.", 2 x 2, Some("class"), Classification, EXAMPLE, FREE),
    set!("xor", "Exclusive or: no line separates it.", 4 x 2, Some("class"), Classification, EXAMPLE, FREE),
    set!("reflection", "Two classes of two points that a line separates.", 4 x 2, Some("class"), Classification, EXAMPLE, FREE),
    set!("reflection_apart", "Two classes of two points that no line separates.", 4 x 2, Some("class"), Classification, EXAMPLE, FREE),
    set!("fish", "Length bands of salmon and bass, weighted by probability.", 6 x 1, Some("species"), Classification, EXAMPLE, FREE, weights = Some("probability"), levels = FISH),
    set!("prices", "Prices of nine products by model and condition.", 9 x 3, Some("price"), Regression, EXAMPLE, FREE, levels = PRICES),
    set!("play_tennis", "Fourteen days and whether tennis is played.", 14 x 4, Some("play"), Classification, EXAMPLE, FREE),
    set!("enjoy_sport", "Four days for learning a concept.", 4 x 6, Some("enjoy"), Classification, EXAMPLE, FREE, levels = SPORT),
    set!("baskets", "Five market baskets of six items, 1 where an item is in.", 5 x 6, None, Unsupervised, EXAMPLE, FREE),
    set!("surrogates", "Eight points with a step and surrogate inputs.", 8 x 3, Some("y"), Regression, EXAMPLE, FREE),
    set!("grid_six", "Six grid points for partial dependence.", 6 x 2, Some("y"), Regression, EXAMPLE, FREE),
    set!("dependent_six", "Six points with dependent inputs for partial dependence.", 6 x 2, Some("y"), Regression, EXAMPLE, FREE),
    set!("diamond", "Four points with exact principal axes.", 4 x 2, None, Unsupervised, EXAMPLE, FREE),
    set!("three_in_four", "Three points in four dimensions.", 3 x 4, None, Unsupervised, EXAMPLE, FREE),
    set!("ten_points", "Ten correlated points for principal components.", 10 x 2, None, Unsupervised, EXAMPLE, FREE),
    set!("five_values", "Five numbers for hierarchies and densities.", 5 x 1, None, Unsupervised, EXAMPLE, FREE),
    set!("nine_values", "Nine numbers for k-means.", 9 x 1, None, Unsupervised, EXAMPLE, FREE),
    set!("eleven_values", "Eleven numbers for expectation maximisation.", 11 x 1, None, Unsupervised, EXAMPLE, FREE),
    set!("mixture_twenty", "Twenty draws of a mixture of two normals.", 20 x 1, None, Unsupervised, EXAMPLE, FREE),
    set!("six_points", "Six points for linkage and cluster scores.", 6 x 2, None, Unsupervised, EXAMPLE, FREE),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_the_rows_columns_and_target_that_it_states() {
        for set in BUNDLED {
            let data = set.load().unwrap();
            let x = data.x.values();
            assert_eq!((x.nrows(), x.ncols()), (set.rows, set.columns), "{}", set.name);
            assert_eq!(data.y.is_some(), set.target.is_some(), "{}", set.name);
            assert_eq!(data.y.is_some(), set.task != Task::Unsupervised, "{}", set.name);
            assert!(!set.source.is_empty() && !set.licence.is_empty());
        }
    }

    #[test]
    fn names_differ_and_the_whole_stays_small() {
        let mut names: Vec<&str> = BUNDLED.iter().map(|set| set.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(BUNDLED.iter().map(|set| set.text.len()).sum::<usize>() < 700_000);
    }

    #[test]
    fn an_unknown_name_is_refused_with_its_neighbour() {
        let error = crate::datasets::load("irs").unwrap_err();
        assert_eq!(error.hint_text(), Some("did you mean 'iris'?"));
    }

    #[test]
    fn levels_that_no_row_shows_are_declared() {
        let sport = crate::datasets::load("enjoy-sport").unwrap();
        assert_eq!(sport.x.schema().column(0).levels().unwrap(), ["Sunny", "Cloudy", "Rainy"]);
        assert_eq!(sport.x.values().column(0), [0.0, 0.0, 2.0, 0.0]);
    }

    #[test]
    fn the_weights_of_the_fish_table_sum_to_one() {
        let fish = crate::datasets::load("fish").unwrap();
        assert!((fish.weights.unwrap().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
