//! What every picture must be, whatever is in it.

use crate::{Theme, to_svg, to_svg_in};
use learnt_core::chart::{Chart, Mark, Panel};

/// A mark of each kind over these numbers.
fn marks(x: &[f64], y: &[f64]) -> Vec<Mark> {
    let (a, b) = (x.to_vec(), y.to_vec());
    let labels: Vec<String> = (0..a.len()).map(|k| format!("<{k}&")).collect();
    vec![
        Mark::line("line", a.clone(), b.clone()).direct(),
        Mark::points("point", a.clone(), b.clone()).labels(labels.clone()),
        Mark::points("value", a.clone(), b.clone()).coloured(a.clone(), None),
        Mark::area("area", a.clone(), b.clone()),
        Mark::band("band", a.clone(), b.clone(), a.clone()),
        Mark::bars("bar", a.clone(), b.clone()).labels(labels.clone()),
        Mark::vertical("upright", a.clone()).direct(),
        Mark::horizontal("level", b.clone()).direct().dashed(),
        Mark::cells("cell", a.clone(), b.clone(), a.clone()).labels(labels.clone()),
        Mark::cells("shade", a.clone(), b.clone(), a.clone()).shaded(None).labels(labels.clone()),
        Mark::polygon("polygon", a.clone(), b.clone()),
        Mark::texts(a.clone(), b.clone(), labels.clone()),
        Mark::texts(a.clone(), b.clone(), labels).boxed(),
        Mark::links("link", (a.clone(), b.clone()), (b, a)),
    ]
}

fn chart(x: &[f64], y: &[f64]) -> Chart {
    let names = || vec!["one".to_string(), "two".to_string(), "\u{1b}<three>".to_string()];
    let panels = [
        Panel::new("x", "y"),
        Panel::new("x", "y").log_x().log_y(),
        Panel::new("x", "y").categories_x(names()),
        Panel::new("x", "y").categories_y(names()).reversed_x(),
        Panel::new("x", "y").bare().range_x(1.0, 0.0).range_y(f64::NAN, 3.0),
    ];
    panels.into_iter().fold(Chart::new("t", "d"), |chart, panel| {
        chart.panel(marks(x, y).into_iter().fold(panel, Panel::mark))
    })
}

/// Tags are closed in their order and no attribute is left open.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap();
        assert!(!text.contains('>') || text.starts_with(".lp"), "{text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "numbers are finite");
    assert!(svg.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn every_mark_is_drawn_on_every_scale_with_odd_numbers() {
    let odd = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e308, -1e308, 1e-308, 2.0, 2.0];
    assert_well_formed(&to_svg(&chart(&odd, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, f64::NAN, 0.0])));
    assert_well_formed(&to_svg(&chart(&odd, &odd[..4])));
    assert_well_formed(&to_svg(&chart(&[], &[])));
    assert_well_formed(&to_svg(&chart(&[1.0], &[1.0])));
    assert_well_formed(&to_svg(&Chart::default()));
}

#[test]
fn the_same_chart_gives_the_same_bytes_and_titles_for_screen_readers() {
    let (x, y) = ([0.5, 1.0, 2.0], [1.0, 4.0, 2.0]);
    let svg = to_svg(&chart(&x, &y));
    assert_eq!(svg, to_svg(&chart(&x, &y)));
    assert!(svg.contains("role=\"img\"") && svg.contains("<title>t</title>\n<desc>d</desc>"));
    assert!(svg.contains("prefers-color-scheme:dark"));
    assert!(!to_svg_in(&chart(&x, &y), Theme::Dark).contains("prefers-color-scheme"));
}

#[test]
fn a_small_picture_has_exactly_these_bytes() {
    let panel = Panel::new("x", "y")
        .mark(Mark::line("rise", vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 4.0]).direct());
    let svg = to_svg(&Chart::new("Squares", "They rise.").panel(panel).note("Exact."));
    let (_, drawn) = svg.split_once("</style>").unwrap();
    let kept = include_str!("../tests/squares.svg");
    assert_eq!(drawn.trim(), kept.split_once("</style>").unwrap().1.trim());
}

#[test]
fn a_million_points_or_steps_are_a_small_file() {
    let n = 1_000_000;
    let wave =
        |k: f64| (0..n).map(|i| (i as f64 * k).sin() + (i as f64 * 0.37 * k).cos()).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = (wave(0.7331), wave(1.317));
    let time: Vec<f64> = (0..n).map(f64::from).collect();
    let size =
        |mark: Mark| to_svg(&Chart::new("t", "d").panel(Panel::new("", "").mark(mark))).len();
    for mark in [
        Mark::points("p", x.clone(), y.clone()),
        Mark::points("p", x.clone(), y.clone()).coloured(time.clone(), None),
        Mark::line("l", time.clone(), y.clone()),
        Mark::line("l", x.clone(), y.clone()),
        Mark::band("b", time.clone(), x.clone(), y.clone()),
        Mark::bars("b", time.clone(), y.clone()),
        Mark::links("l", (x.clone(), y.clone()), (y.clone(), x.clone())),
        Mark::cells("c", x.clone(), y.clone(), time.clone()),
        Mark::vertical("r", x.clone()),
        Mark::points("p", x.clone(), y.clone()).labels(vec!["name".to_string(); n as usize]),
    ] {
        let shape = mark.shape;
        let size = size(mark);
        assert!(size < 300_000, "{shape:?}: {size} bytes");
    }
}

#[test]
fn a_name_does_not_lie_over_a_dot_where_there_is_room() {
    let placed = |second: f64| {
        let labels = vec!["row 1".to_string(), String::new(), String::new()];
        let dots = Mark::points("p", vec![0.0, second, 1.0], vec![0.0, 0.0, 1.0]).labels(labels);
        let svg = to_svg(&Chart::new("", "").panel(Panel::new("", "").mark(dots)));
        let end = svg.find(">row 1<").unwrap();
        svg[svg[..end].rfind("<text").unwrap()..end].to_string()
    };
    assert_eq!(placed(0.5), placed(0.6));
    assert_ne!(placed(0.5), placed(0.05), "beside the first dot there is a second");
}

#[test]
fn five_thousand_lines_are_a_small_file() {
    let x: Vec<f64> = (0..100).map(|i| 10_f64.powf(-f64::from(i) / 25.0)).collect();
    let mut panel = Panel::new("", "").log_x();
    for k in 0..5000 {
        let y = x
            .iter()
            .map(|a| (f64::from(k) * 0.37).sin() / (a + 0.01 * f64::from(k % 17)))
            .collect();
        let line = Mark::line(format!("column {k}"), x.clone(), y);
        panel = panel.mark(if k < 8 { line.direct() } else { line.muted().unnamed() });
    }
    let size = to_svg(&Chart::new("t", "d").panel(panel)).len();
    assert!(size < 300_000, "{size} bytes");
}
