//! Charts as Vega-Lite 5: one view for each panel, one layer for each mark, the numbers beside them.

use learnt_core::chart::{Axis, Chart, Colour, Mark, Naming, Panel, Scale, Shape};
use serde_json::{Map, Value as Json, json};

/// More rows than this in a mark are thinned out evenly.
const MOST_ROWS: usize = 20_000;

/// The chart as a Vega-Lite document. Marks of more than 20,000 points are thinned out evenly, and the
/// description says so.
pub fn to_vega_lite(chart: &Chart) -> Json {
    let marks = chart.panels.iter().flat_map(|panel| &panel.marks);
    let thinned = marks.filter(|mark| rows_of(mark) > MOST_ROWS).count();
    let mut description = chart.description.clone();
    if thinned > 0 {
        description += &format!(" Every mark shows at most {MOST_ROWS} of its points.");
    }
    let mut views: Vec<Json> = chart.panels.iter().map(view).collect();
    let mut out = match views.len() {
        1 => match views.remove(0) {
            Json::Object(view) => view,
            _ => Map::new(),
        },
        n => {
            let columns =
                if chart.columns > 0 { chart.columns } else { (n as f64).sqrt().ceil() as usize };
            let mut out = Map::new();
            out.insert("concat".into(), Json::Array(views));
            out.insert("columns".into(), json!(columns));
            out
        }
    };
    out.insert("$schema".into(), json!("https://vega.github.io/schema/vega-lite/v5.json"));
    out.insert("description".into(), json!(description));
    let title = match chart.panels.first() {
        Some(panel) if chart.panels.len() == 1 && !panel.title.is_empty() => {
            json!({ "text": chart.title, "subtitle": panel.title })
        }
        _ => json!(chart.title),
    };
    out.insert("title".into(), title);
    Json::Object(out)
}

fn view(panel: &Panel) -> Json {
    let layers: Vec<Json> = panel.marks.iter().map(|mark| layer(mark, panel)).collect();
    json!({
        "title": panel.title, "width": panel.size.0, "height": panel.size.1, "layer": layers,
    })
}

fn layer(mark: &Mark, panel: &Panel) -> Json {
    let mut encoding = Map::new();
    let lying = crate::axis::lying(panel);
    let mut place = |name: &str, axis: &Axis, used: bool| {
        if used {
            encoding.insert(name.into(), channel(name, axis));
        }
    };
    place("x", &panel.x, !mark.x.is_empty());
    place("y", &panel.y, !mark.y.is_empty());
    for (name, used) in [("x2", !mark.x2.is_empty()), ("y2", !mark.y2.is_empty())] {
        let across_bar = mark.shape != Shape::Bar || (name == "x2") == lying;
        if used && across_bar {
            encoding.insert(name.into(), json!({ "field": name }));
        }
    }
    let legend = if mark.naming == Naming::Hidden || mark.series.is_empty() {
        Json::Null
    } else {
        json!({})
    };
    match mark.colour {
        Colour::Series => {
            encoding.insert(
                "color".into(),
                json!({ "field": "series", "type": "nominal", "title": null, "legend": legend }),
            );
        }
        Colour::Muted => {
            encoding.insert("color".into(), json!({ "value": "#888" }));
        }
        Colour::Values(_) | Colour::Shade(_) => {
            let scheme = if matches!(mark.colour, Colour::Shade(_)) { "blues" } else { "viridis" };
            encoding.insert("color".into(), json!({
                "field": "value", "type": "quantitative", "title": mark.series, "scale": { "scheme": scheme }, "legend": legend,
            }));
        }
    }
    if mark.shape == Shape::Line || mark.shape == Shape::Polygon {
        encoding.insert("order".into(), json!({ "field": "order" }));
    }
    let own = json!({ "mark": kind(mark), "encoding": encoding });
    let mut out = Map::new();
    out.insert("data".into(), json!({ "values": rows(mark, panel) }));
    if mark.labels.is_empty() || mark.shape == Shape::Text {
        if mark.shape == Shape::Text {
            encoding.insert("text".into(), json!({ "field": "label" }));
        }
        out.insert("mark".into(), own["mark"].clone());
        out.insert("encoding".into(), Json::Object(encoding));
        return Json::Object(out);
    }
    let mut texts = Map::new();
    for name in ["x", "y"] {
        if let Some(channel) = encoding.get(name) {
            texts.insert(name.into(), channel.clone());
        }
    }
    texts.insert("text".into(), json!({ "field": "label" }));
    let dx = if mark.shape == Shape::Point { 8 } else { 0 };
    let align = if mark.shape == Shape::Point { "left" } else { "center" };
    let texts = json!({ "mark": { "type": "text", "dx": dx, "align": align }, "encoding": texts });
    out.insert("layer".into(), json!([own, texts]));
    Json::Object(out)
}

/// Name and options of the mark.
fn kind(mark: &Mark) -> Json {
    let dash = if mark.dashed { json!([5, 4]) } else { json!([]) };
    match mark.shape {
        Shape::Line => json!({ "type": "line", "strokeDash": dash }),
        Shape::Point => json!({ "type": "circle", "opacity": 0.7, "size": 30.0 * mark.weight }),
        Shape::Area => json!({ "type": "area", "opacity": 0.35 }),
        Shape::Band => json!({ "type": "area", "opacity": 0.2 }),
        Shape::Bar => json!({ "type": "bar" }),
        Shape::Rule | Shape::Link => json!({ "type": "rule", "strokeDash": dash }),
        Shape::Cell => json!({ "type": "rect" }),
        Shape::Polygon => {
            json!({ "type": "line", "filled": true, "fillOpacity": 0.15, "interpolate": "linear-closed" })
        }
        Shape::Text => json!({ "type": "text", "lineBreak": "\n" }),
    }
}

fn channel(name: &str, axis: &Axis) -> Json {
    let mut out = Map::new();
    out.insert("field".into(), json!(name));
    out.insert("title".into(), json!(axis.label));
    if axis.hidden {
        out.insert("axis".into(), Json::Null);
    }
    match &axis.scale {
        Scale::Categories(names) => {
            out.insert("type".into(), json!("nominal"));
            out.insert("sort".into(), Json::Null);
            out.insert("scale".into(), json!({ "domain": names }));
        }
        scale => {
            out.insert("type".into(), json!("quantitative"));
            let mut options = Map::new();
            options.insert("type".into(), json!(scale.name()));
            options.insert("zero".into(), json!(false));
            if axis.reversed {
                options.insert("reverse".into(), json!(true));
            }
            if let Some((low, high)) = axis.range {
                options.insert("domain".into(), json!([low, high]));
            }
            if *scale == Scale::Log {
                options.remove("zero");
            }
            out.insert("scale".into(), Json::Object(options));
        }
    }
    Json::Object(out)
}

fn rows_of(mark: &Mark) -> usize {
    mark.x.len().max(mark.y.len())
}

fn rows(mark: &Mark, panel: &Panel) -> Vec<Json> {
    let columns = [
        ("x", &mark.x, &panel.x),
        ("y", &mark.y, &panel.y),
        ("x2", &mark.x2, &panel.x),
        ("y2", &mark.y2, &panel.y),
    ];
    let n = rows_of(mark);
    (0..n)
        .step_by(n.div_ceil(MOST_ROWS).max(1))
        .map(|i| {
            let mut row = Map::new();
            for (name, values, axis) in columns {
                if let Some(value) = values.get(i) {
                    row.insert(name.into(), datum(*value, axis));
                }
            }
            row.insert("series".into(), json!(mark.series));
            if mark.shape == Shape::Line || mark.shape == Shape::Polygon {
                row.insert("order".into(), json!(i));
            }
            if let Some(value) = mark.values.get(i) {
                row.insert("value".into(), json!(value));
            }
            if let Some(label) = mark.labels.get(i) {
                row.insert("label".into(), json!(label));
            }
            Json::Object(row)
        })
        .collect()
}

/// A number, or the name it stands for.
fn datum(value: f64, axis: &Axis) -> Json {
    match &axis.scale {
        Scale::Categories(names) if value >= 0.0 => json!(names.get(value.round() as usize)),
        Scale::Categories(_) => Json::Null,
        _ => json!(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_is_a_view_with_a_layer_for_each_mark() {
        let panel = Panel::new("x", "y")
            .log_y()
            .mark(Mark::line("a", vec![0.0, 1.0], vec![1.0, f64::NAN]))
            .mark(Mark::horizontal("limit", vec![2.0]));
        let json = to_vega_lite(&Chart::new("t", "d").panel(panel.clone()));
        assert_eq!(json["title"], "t");
        assert_eq!(json["layer"][0]["mark"]["type"], "line");
        assert_eq!(json["layer"][0]["encoding"]["y"]["scale"]["type"], "log");
        assert_eq!(json["layer"][0]["data"]["values"][1]["y"], Json::Null);
        assert!(json["layer"][1]["encoding"].get("x").is_none());
        let json = to_vega_lite(&Chart::new("t", "d").panel(panel.clone()).panel(panel));
        assert_eq!(json["concat"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn categories_are_names_in_their_order() {
        let names = vec!["b".to_string(), "a".to_string()];
        let panel = Panel::new("", "").categories_x(names).mark(Mark::bars(
            "",
            vec![1.0, 7.0],
            vec![3.0, 1.0],
        ));
        let json = to_vega_lite(&Chart::new("t", "d").panel(panel));
        assert_eq!(json["layer"][0]["data"]["values"][0]["x"], "a");
        assert_eq!(json["layer"][0]["data"]["values"][1]["x"], Json::Null);
        assert_eq!(json["layer"][0]["encoding"]["x"]["scale"]["domain"], json!(["b", "a"]));
    }

    #[test]
    fn many_points_are_thinned_and_it_is_said() {
        let x: Vec<f64> = (0..100_000).map(f64::from).collect();
        let chart =
            Chart::new("t", "d").panel(Panel::new("", "").mark(Mark::points("", x.clone(), x)));
        let json = to_vega_lite(&chart);
        assert!(json["layer"][0]["data"]["values"].as_array().unwrap().len() <= MOST_ROWS);
        assert!(json["description"].as_str().unwrap().contains("20000"));
    }
}
