//! Tables as analysts have them: identifiers, dates, free text, mixed types, holes, many-level categories,
//! rare classes, more columns than rows. Made for tests, tutorials and measurements; nobody's data.
//!
//! Each target follows a known rule of some columns with noise: the log-odds of leaving, the logarithm of a
//! price, the means of a few genes. All else is there because real tables have it.

use super::{ROWS, claim, normal};
use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::{sample, special};
use std::collections::BTreeMap;

/// Customers and whether they leave: an identifier, two dates, a note, mixed types, holes, a rare class.
#[derive(Params, Clone, Debug)]
pub struct Churn {
    /// Number of rows.
    #[param(positional, default = 7000, range = 1..)]
    pub n_samples: usize,
    /// Share of customers who leave, about.
    #[param(default = 0.12, range = 0.001..=0.999)]
    pub churn_rate: f64,
}

/// Houses and their prices: a running number, many-level categories, holes, skewed areas, a date.
#[derive(Params, Clone, Debug)]
pub struct Housing {
    /// Number of rows.
    #[param(positional, default = 3000, range = 1..)]
    pub n_samples: usize,
    /// Standard deviation of the noise in the logarithm of the price.
    #[param(default = 0.12, range = 0.0..)]
    pub noise: f64,
}

/// Gene expressions of three subtypes: many more columns than rows, correlated in blocks, few that count.
#[derive(Params, Clone, Debug)]
pub struct Genes {
    /// Number of rows.
    #[param(positional, default = 200, range = 1..)]
    pub n_samples: usize,
    /// Number of genes.
    #[param(positional, default = 5000, range = 1..)]
    pub n_features: usize,
    /// Number of genes whose mean differs between subtypes.
    #[param(default = 30)]
    pub n_informative: usize,
    /// Distance of those means in standard deviations.
    #[param(default = 1.2, range = 0.0..)]
    pub class_sep: f64,
}

/// The name of a generator's target, where it has one of its own.
pub fn target_name(path: &str) -> Option<&'static str> {
    match path {
        "datasets.make_churn" => Some("Churn"),
        "datasets.make_housing" => Some("SalePrice"),
        "datasets.make_genes" => Some("subtype"),
        _ => None,
    }
}

/// Columns of numbers and texts that become a table.
#[derive(Default)]
struct Sheet {
    columns: Vec<(Column, Vec<f64>)>,
}

impl Sheet {
    fn numbers(&mut self, name: &str, values: Vec<f64>) {
        self.columns.push((Column::numeric(name), values));
    }

    fn texts(&mut self, name: &str, texts: &[Option<String>]) {
        let mut codes: BTreeMap<&str, f64> =
            texts.iter().flatten().map(|text| (text.as_str(), 0.0)).collect();
        codes.values_mut().zip(0..).for_each(|(code, k)| *code = f64::from(k));
        let code = |text: &Option<String>| text.as_ref().map_or(f64::NAN, |t| codes[t.as_str()]);
        let values = texts.iter().map(code).collect();
        let levels = codes.keys().map(ToString::to_string).collect();
        self.columns.push((Column::categorical(name, levels), values));
    }

    fn words(&mut self, name: &str, texts: Vec<&'static str>) {
        let texts: Vec<Option<String>> =
            texts.into_iter().map(|text| Some(text.to_string())).collect();
        self.texts(name, &texts);
    }

    fn table(self, rows: usize) -> Result<Table> {
        let (columns, values): (Vec<Column>, Vec<Vec<f64>>) = self.columns.into_iter().unzip();
        let cells = Matrix::from_fn(rows, columns.len(), |i, j| values[j][i]);
        Table::new(cells, Schema::new(columns)?)
    }
}

/// One of some words with these weights.
fn pick(rng: &mut Rng, words: &[(&'static str, f64)]) -> &'static str {
    let weights: Vec<f64> = words.iter().map(|(_, weight)| *weight).collect();
    sample::weighted_index(rng, &weights).map_or(words[0].0, |k| words[k].0)
}

fn chance(rng: &mut Rng, share: f64) -> bool {
    sample::uniform(rng) < share
}

fn yes_no(rng: &mut Rng, share: f64) -> &'static str {
    if chance(rng, share) { "Yes" } else { "No" }
}

/// Rounded to so many digits behind the point.
fn rounded(x: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (x * unit).round() / unit
}

/// The date of a number of days after the first of January 1970.
fn date_of(days: i64) -> String {
    let (year, month, day) = learnt_core::dates::from_days(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// A made-up place name: the commonest first.
fn place(k: usize) -> String {
    const FIRST: [&str; 12] = [
        "Oak", "River", "Spring", "North", "Lake", "Fair", "Clear", "Stone", "Maple", "West",
        "Green", "Silver",
    ];
    const LAST: [&str; 10] =
        ["field", "ton", " Falls", "view", "wood", " Springs", "ford", "burg", "dale", "port"];
    format!("{}{}", FIRST[k % FIRST.len()], LAST[(k / FIRST.len() + k) % LAST.len()])
}

const CITIES: usize = 120;
const COMPLAINTS: [&str; 6] = [
    "asked about the bill",
    "reports slow internet in the evening",
    "wants to compare tariffs",
    "praised the technician, very polite",
    "moved to a new flat",
    "said \"call me back\"",
];
const ENDINGS: [&str; 5] =
    ["will call again", "no action needed", "sent an offer", "escalated", "closed"];

impl Churn {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        let n = self.n_samples;
        claim(n, 60, run)?;
        let mut rng = run.rng(ROWS);
        let people: Vec<Customer> = (0..n).map(|i| Customer::draw(i, &mut rng)).collect();
        let shift = self.shift(&people);
        let labels: Vec<Label> = people
            .iter()
            .map(|one| yes_no(&mut rng, special::sigmoid(one.score() + shift)).into())
            .collect();
        Ok(with_labels(customers(&people)?, &labels))
    }

    /// What makes the mean probability of leaving the one asked for.
    fn shift(&self, people: &[Customer]) -> f64 {
        let mean = |shift: f64| {
            let sum: f64 = people.iter().map(|one| special::sigmoid(one.score() + shift)).sum();
            sum / people.len() as f64
        };
        let (mut low, mut high) = (-40.0, 40.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if mean(middle) < self.churn_rate { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

/// One customer.
struct Customer {
    id: String,
    gender: &'static str,
    senior: f64,
    signup: i64,
    contact: Option<String>,
    city: usize,
    zip: f64,
    tenure: f64,
    internet: &'static str,
    contract: &'static str,
    paperless: &'static str,
    payment: &'static str,
    monthly: f64,
    total: f64,
    allowance: String,
    calls: f64,
    partner: &'static str,
    note: Option<String>,
}

/// The first of July 2024.
const TODAY: i64 = 19_905;

impl Customer {
    fn draw(i: usize, rng: &mut Rng) -> Customer {
        let letters: String =
            (0..5).map(|_| char::from(b'A' + sample::below(rng, 26) as u8)).collect();
        let contract =
            pick(rng, &[("Month-to-month", 0.55), ("One year", 0.21), ("Two year", 0.24)]);
        let internet = pick(rng, &[("DSL", 0.34), ("Fiber optic", 0.44), ("No", 0.22)]);
        let longer = if contract == "Month-to-month" { 18.0 } else { 42.0 };
        let tenure = (longer * sample::standard_exponential(rng)).min(72.0).floor();
        let base = match internet {
            "DSL" => 55.0,
            "Fiber optic" => 88.0,
            _ => 22.0,
        };
        let monthly = rounded(normal(rng, base, 9.0).max(18.0), 2);
        let paid = rounded(monthly * tenure * (1.0 + 0.03 * sample::standard_normal(rng)), 2);
        let city = ((CITIES as f64).powf(sample::uniform(rng)) - 1.0) as usize;
        let minutes = sample::below(rng, 30 * 24 * 60) as i64;
        let contact = (!chance(rng, 0.12)).then(|| {
            let (day, minute) = (TODAY - minutes / 1440, minutes % 1440);
            let second = sample::below(rng, 60);
            format!("{} {:02}:{:02}:{second:02}", date_of(day), minute / 60, minute % 60)
        });
        let calls = (-0.9 * sample::uniform_positive(rng).ln()).floor().min(9.0);
        let note = (!chance(rng, 0.3)).then(|| {
            let first = COMPLAINTS[sample::below(rng, COMPLAINTS.len() as u64) as usize];
            let last = ENDINGS[sample::below(rng, ENDINGS.len() as u64) as usize];
            format!("{first}; ticket {}, {last}", 10_000 + sample::below(rng, 80_000))
        });
        Customer {
            id: format!("{:05}-{letters}", i + 1),
            gender: pick(rng, &[("Female", 0.5), ("Male", 0.5)]),
            senior: f64::from(u8::from(chance(rng, 0.16))),
            signup: TODAY - (tenure * 30.44) as i64 - sample::below(rng, 30) as i64,
            contact,
            city,
            zip: 10_000.0 + 137.0 * city as f64 + sample::below(rng, 4) as f64,
            tenure,
            internet,
            contract,
            paperless: yes_no(rng, 0.59),
            payment: pick(
                rng,
                &[
                    ("Electronic check", 0.34),
                    ("Mailed check", 0.23),
                    ("Bank transfer (automatic)", 0.22),
                    ("Credit card (automatic)", 0.21),
                ],
            ),
            monthly,
            total: if tenure == 0.0 || chance(rng, 0.01) { f64::NAN } else { paid },
            allowance: match internet {
                "No" => "none at all".to_string(),
                _ if chance(rng, 0.4) => "unlimited".to_string(),
                _ => (10 * (1 + sample::below(rng, 20))).to_string(),
            },
            calls,
            partner: yes_no(rng, 0.48),
            note,
        }
    }

    /// The log-odds of leaving, up to a constant.
    fn score(&self) -> f64 {
        let contract = match self.contract {
            "Month-to-month" => 1.4,
            "One year" => 0.1,
            _ => -1.1,
        };
        let check = if self.payment == "Electronic check" { 0.4 } else { 0.0 };
        let fiber = if self.internet == "Fiber optic" { 0.6 } else { 0.0 };
        contract + check + fiber + 0.45 * self.calls - 0.035 * self.tenure
            + 0.3 * self.senior
            + if self.city.is_multiple_of(17) { 0.5 } else { 0.0 }
    }
}

/// The customers as a table of nineteen columns.
fn customers(people: &[Customer]) -> Result<Table> {
    let mut sheet = Sheet::default();
    let text = |f: &dyn Fn(&Customer) -> Option<String>| people.iter().map(f).collect::<Vec<_>>();
    let word = |f: fn(&Customer) -> &'static str| people.iter().map(f).collect::<Vec<_>>();
    let number = |f: fn(&Customer) -> f64| people.iter().map(f).collect::<Vec<_>>();
    sheet.texts("customerID", &text(&|one| Some(one.id.clone())));
    sheet.words("gender", word(|one| one.gender));
    sheet.numbers("SeniorCitizen", number(|one| one.senior));
    sheet.words("Partner", word(|one| one.partner));
    sheet.words("Country", word(|_| "US"));
    sheet.texts("City", &text(&|one| Some(place(one.city))));
    sheet.numbers("ZipCode", number(|one| one.zip));
    sheet.texts("SignupDate", &text(&|one| Some(date_of(one.signup))));
    sheet.texts("LastContact", &text(&|one| one.contact.clone()));
    sheet.numbers("tenure", number(|one| one.tenure));
    sheet.words("InternetService", word(|one| one.internet));
    sheet.texts("DataAllowance", &text(&|one| Some(one.allowance.clone())));
    sheet.words("Contract", word(|one| one.contract));
    sheet.words("PaperlessBilling", word(|one| one.paperless));
    sheet.words("PaymentMethod", word(|one| one.payment));
    sheet.numbers("MonthlyCharges", number(|one| one.monthly));
    sheet.numbers("TotalCharges", number(|one| one.total));
    sheet.numbers("SupportCalls", number(|one| one.calls));
    sheet.texts("Note", &text(&|one| one.note.clone()));
    sheet.table(people.len())
}

fn with_labels(x: Table, labels: &[Label]) -> OwnedDataset {
    let mut data = OwnedDataset::classification(Matrix::zeros(labels.len(), 0), labels);
    data.x = x;
    data
}

const NEIGHBORHOODS: usize = 28;
const AGENTS: u64 = 220;
const EXTERIORS: [(&str, f64); 14] = [
    ("VinylSd", 0.35),
    ("HdBoard", 0.15),
    ("MetalSd", 0.15),
    ("Wd Sdng", 0.14),
    ("Plywood", 0.07),
    ("CemntBd", 0.04),
    ("BrkFace", 0.03),
    ("WdShing", 0.02),
    ("Stucco", 0.02),
    ("AsbShng", 0.015),
    ("Stone", 0.005),
    ("BrkComm", 0.004),
    ("ImStucc", 0.003),
    ("AsphShn", 0.003),
];
const STYLES: [(&str, f64); 6] = [
    ("1Story", 0.5),
    ("2Story", 0.3),
    ("1.5Fin", 0.1),
    ("SLvl", 0.05),
    ("SFoyer", 0.03),
    ("2.5Unf", 0.02),
];

impl Housing {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        let n = self.n_samples;
        claim(n, 70, run)?;
        let mut rng = run.rng(ROWS);
        let houses: Vec<House> = (0..n).map(|_| House::draw(&mut rng)).collect();
        let price = |house: &House| {
            let logarithm = normal(&mut rng, house.log_price(), self.noise);
            (logarithm.min(30.0).exp() / 100.0).round() * 100.0
        };
        let y = houses.iter().map(price).collect();
        let mut data = OwnedDataset::regression(Matrix::zeros(n, 0), y);
        data.x = listings(&houses)?;
        Ok(data)
    }
}

/// One house.
struct House {
    zoning: &'static str,
    frontage: f64,
    lot: f64,
    street: &'static str,
    alley: Option<String>,
    neighborhood: usize,
    style: &'static str,
    quality: f64,
    condition: f64,
    built: f64,
    remodelled: f64,
    exterior: &'static str,
    second_exterior: &'static str,
    kitchen: &'static str,
    basement: f64,
    living: f64,
    bathrooms: f64,
    bedrooms: f64,
    fireplaces: f64,
    garage: Option<String>,
    garage_area: f64,
    sold: i64,
    agent: u64,
}

impl House {
    fn draw(rng: &mut Rng) -> House {
        let quality = normal(rng, 6.1, 1.4).round().clamp(1.0, 10.0);
        let built = (2010.0 - 38.0 * sample::standard_exponential(rng)).max(1872.0).floor();
        let remodelled = match chance(rng, 0.45) {
            true => built + (sample::uniform(rng) * (2010.0 - built)).floor(),
            false => built,
        };
        let living = (normal(rng, 7.2, 0.32) + 0.05 * (quality - 6.0)).exp().round();
        let lot = normal(rng, 9.1, 0.5).exp().round();
        let exterior = pick(rng, &EXTERIORS);
        let garage = (!chance(rng, 0.055)).then(|| {
            pick(rng, &[("Attchd", 0.63), ("Detchd", 0.28), ("BuiltIn", 0.07), ("CarPort", 0.02)])
        });
        let wanted = normal(rng, 480.0, 160.0).max(120.0).round();
        House {
            zoning: pick(
                rng,
                &[("RL", 0.78), ("RM", 0.16), ("FV", 0.04), ("RH", 0.01), ("C (all)", 0.01)],
            ),
            frontage: match chance(rng, 0.17) {
                true => f64::NAN,
                false => normal(rng, 0.7 * lot.sqrt(), 10.0).max(20.0).round(),
            },
            lot,
            street: pick(rng, &[("Pave", 0.995), ("Grvl", 0.005)]),
            alley: chance(rng, 0.06)
                .then(|| pick(rng, &[("Grvl", 0.5), ("Pave", 0.5)]).to_string()),
            neighborhood: sample::below(rng, NEIGHBORHOODS as u64) as usize,
            style: pick(rng, &STYLES),
            quality,
            condition: normal(rng, 5.5, 1.1).round().clamp(1.0, 9.0),
            built,
            remodelled,
            exterior,
            second_exterior: if chance(rng, 0.9) { exterior } else { pick(rng, &EXTERIORS) },
            kitchen: match quality {
                q if q >= 8.0 => pick(rng, &[("Ex", 0.5), ("Gd", 0.5)]),
                q if q >= 6.0 => pick(rng, &[("Gd", 0.5), ("TA", 0.5)]),
                _ => pick(rng, &[("TA", 0.9), ("Fa", 0.1)]),
            },
            basement: match chance(rng, 0.025) {
                true => 0.0,
                false => (living * (0.5 + 0.3 * sample::uniform(rng))).round(),
            },
            living,
            bathrooms: (living / 900.0 + 0.5 * sample::standard_normal(rng))
                .round()
                .clamp(1.0, 4.0),
            bedrooms: (living / 520.0 + 0.6 * sample::standard_normal(rng)).round().clamp(1.0, 6.0),
            fireplaces: sample::below(rng, 3) as f64,
            garage_area: if garage.is_some() { wanted } else { 0.0 },
            garage: garage.map(ToString::to_string),
            sold: 13_149 + sample::below(rng, 1640) as i64,
            agent: sample::below(rng, AGENTS) * sample::below(rng, AGENTS) / AGENTS,
        }
    }

    /// The logarithm of the price without noise.
    fn log_price(&self) -> f64 {
        let place =
            0.35 * ((self.neighborhood * 11 % NEIGHBORHOODS) as f64 / NEIGHBORHOODS as f64 - 0.5);
        let kitchen = match self.kitchen {
            "Ex" => 0.12,
            "Gd" => 0.04,
            "Fa" => -0.08,
            _ => 0.0,
        };
        7.2 + 0.52 * self.living.ln()
            + 0.08 * self.lot.ln()
            + 0.085 * self.quality
            + place
            + kitchen
            + 0.03 * (self.condition - 5.0)
            + 0.0022 * (self.built - 1970.0)
            + 0.0002 * self.garage_area
            + 0.04 * self.fireplaces
    }
}

/// The houses as a table of twenty-four columns.
fn listings(houses: &[House]) -> Result<Table> {
    let mut sheet = Sheet::default();
    let text = |f: &dyn Fn(&House) -> Option<String>| houses.iter().map(f).collect::<Vec<_>>();
    let word = |f: fn(&House) -> &'static str| houses.iter().map(f).collect::<Vec<_>>();
    let number = |f: fn(&House) -> f64| houses.iter().map(f).collect::<Vec<_>>();
    sheet.numbers("Id", (1..=houses.len()).map(|i| i as f64).collect());
    sheet.words("MSZoning", word(|house| house.zoning));
    sheet.numbers("LotFrontage", number(|house| house.frontage));
    sheet.numbers("LotArea", number(|house| house.lot));
    sheet.words("Street", word(|house| house.street));
    sheet.texts("Alley", &text(&|house| house.alley.clone()));
    sheet.texts("Neighborhood", &text(&|house| Some(place(house.neighborhood))));
    sheet.words("HouseStyle", word(|house| house.style));
    sheet.numbers("OverallQual", number(|house| house.quality));
    sheet.numbers("OverallCond", number(|house| house.condition));
    sheet.numbers("YearBuilt", number(|house| house.built));
    sheet.numbers("YearRemodAdd", number(|house| house.remodelled));
    sheet.words("Exterior1st", word(|house| house.exterior));
    sheet.words("Exterior2nd", word(|house| house.second_exterior));
    sheet.words("KitchenQual", word(|house| house.kitchen));
    sheet.numbers("TotalBsmtSF", number(|house| house.basement));
    sheet.numbers("GrLivArea", number(|house| house.living));
    sheet.numbers("FullBath", number(|house| house.bathrooms));
    sheet.numbers("Bedrooms", number(|house| house.bedrooms));
    sheet.numbers("Fireplaces", number(|house| house.fireplaces));
    sheet.texts("GarageType", &text(&|house| house.garage.clone()));
    sheet.numbers("GarageArea", number(|house| house.garage_area));
    sheet.texts("SaleDate", &text(&|house| Some(date_of(house.sold))));
    sheet.texts("Agent", &text(&|house| Some(format!("A{:03}", house.agent))));
    sheet.table(houses.len())
}

/// Genes in a block share a factor.
const BLOCK: usize = 25;

impl Genes {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        let (n, p) = (self.n_samples, self.n_features);
        claim(n, p, run)?;
        let mut rng = run.rng(ROWS);
        let classes: Vec<usize> = (0..n)
            .map(|_| sample::weighted_index(&mut rng, &[0.5, 0.3, 0.2]).unwrap_or(0))
            .collect();
        let informative = self.n_informative.min(p);
        let mut x = Matrix::zeros(n, p);
        for (i, &class) in classes.iter().enumerate() {
            let factors: Vec<f64> =
                (0..p.div_ceil(BLOCK)).map(|_| sample::standard_normal(&mut rng)).collect();
            for (j, cell) in x.row_mut(i).iter_mut().enumerate() {
                let raised = j < informative && j % 3 == class;
                let mean = if raised { self.class_sep } else { 0.0 };
                let own = sample::standard_normal(&mut rng);
                *cell = rounded(8.0 + mean + 0.6 * factors[j / BLOCK] + 0.8 * own, 4);
            }
        }
        let names = ["basal", "luminal", "normal"];
        let labels: Vec<Label> = classes.iter().map(|&class| names[class].into()).collect();
        let mut data = OwnedDataset::classification(Matrix::zeros(n, 0), &labels);
        let schema = Schema::numeric((1..=p).map(|j| format!("gene{j:04}")))?;
        data.x = Table::new(x, schema)?;
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(data: &OwnedDataset, name: &str) -> (Column, Vec<f64>) {
        let j = data.x.schema().position(name).unwrap();
        (data.x.schema().column(j).clone(), data.x.values().column(j))
    }

    fn levels(data: &OwnedDataset, name: &str) -> usize {
        column(data, name).0.levels().unwrap().len()
    }

    #[test]
    fn customers_have_an_identifier_dates_notes_holes_and_a_rare_class() {
        let data = Churn::default().rows(&Context::default()).unwrap();
        assert_eq!((data.x.values().nrows(), data.x.schema().len()), (7000, 19));
        assert_eq!(levels(&data, "customerID"), 7000);
        assert_eq!(levels(&data, "Country"), 1);
        assert!(levels(&data, "Note") > 4000 && levels(&data, "City") > 60);
        let (dates, _) = column(&data, "SignupDate");
        assert!(dates.levels().unwrap().iter().all(|date| date.len() == 10));
        let holes = |name: &str| column(&data, name).1.iter().filter(|x| x.is_nan()).count();
        assert!(holes("TotalCharges") > 20 && holes("LastContact") > 500 && holes("Note") > 1500);
        let view = data.view();
        let leaving: u32 = view.class_target().unwrap().0.iter().sum();
        assert!((f64::from(leaving) / 7000.0 - 0.12).abs() < 0.02, "{leaving}");
    }

    #[test]
    fn houses_have_a_running_number_and_categories_of_many_levels() {
        let data = Housing::default().rows(&Context::default()).unwrap();
        assert_eq!((data.x.values().nrows(), data.x.schema().len()), (3000, 24));
        assert_eq!(column(&data, "Id").1[2999], 3000.0);
        assert!(levels(&data, "Agent") > 100 && levels(&data, "Neighborhood") > 20);
        let view = data.view();
        let y = view.real_target().unwrap();
        let mean = (0..3000).map(|i| y.at(i, 0)).sum::<f64>() / 3000.0;
        assert!((80_000.0..400_000.0).contains(&mean), "{mean}");
    }

    #[test]
    fn genes_that_count_differ_between_subtypes_and_others_do_not() {
        let genes = Genes { n_samples: 3000, n_features: 40, ..Default::default() };
        let data = genes.rows(&Context::default()).unwrap();
        let view = data.view();
        let (codes, _) = view.class_target().unwrap();
        let mean = |j: usize, class: u32| {
            let rows: Vec<f64> =
                (0..3000).filter(|&i| codes[i] == class).map(|i| data.x.values()[(i, j)]).collect();
            rows.iter().sum::<f64>() / rows.len() as f64
        };
        assert!((mean(0, 0) - mean(0, 1) - 1.2).abs() < 0.15);
        assert!((mean(35, 0) - mean(35, 1)).abs() < 0.15);
    }
}
