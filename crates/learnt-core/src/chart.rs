//! Charts as data: panels of marks over axes. `learnt-plot` turns them into SVG, text, Vega-Lite and
//! HTML; whoever computes something only says what to draw.
//!
//! A mark is a set of columns (`x`, `y`, and `x2`, `y2` where something has two ends). A value that is
//! not finite leaves its point out, and a line has a gap there. On an axis of categories the value k
//! stands for the k-th name. Marks with one series name have one colour in all panels.
//!
//! ```
//! use learnt_core::chart::{Chart, Mark, Panel};
//! let (x, y) = (vec![0.0, 0.1, 1.0], vec![0.0, 0.8, 1.0]);
//! let chart = Chart::new("ROC curve", "True against false positive rate.").panel(
//!     Panel::new("false positive rate", "true positive rate")
//!         .mark(Mark::line("AUC 0.85", x, y).direct())
//!         .mark(Mark::line("chance", vec![0.0, 1.0], vec![0.0, 1.0]).muted().dashed()),
//! );
//! assert_eq!(chart.panels[0].marks.len(), 2);
//! ```

use serde_json::{Map, Value as Json, json};

/// One picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What it shows, in a few words.
    pub title: String,
    /// The same in a sentence or two, for readers who cannot see it.
    pub description: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels in a row; 0 lets the renderer choose.
    pub columns: usize,
    /// Lines under the picture.
    pub notes: Vec<String>,
}

/// Marks over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its heading; empty for none.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, later marks over earlier ones.
    pub marks: Vec<Mark>,
    /// Width and height of the plotting area in pixels of the drawing, which scales as a whole.
    pub size: (f64, f64),
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What its values are.
    pub label: String,
    /// How values become places.
    pub scale: Scale,
    /// Least and largest value shown; from the marks if there is none.
    pub range: Option<(f64, f64)>,
    /// Whether the largest value stands first.
    pub reversed: bool,
    /// Whether ticks, grid and label are left out, for diagrams.
    pub hidden: bool,
}

/// How values become places on an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scale {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Equal distances are equal ratios; values at or below zero are left out.
    Log,
    /// The value k is the k-th of these names. The first stands at the left, or at the top.
    Categories(Vec<String>),
}

/// What a mark's columns are drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A line through (x, y) in their order.
    Line,
    /// A dot at each (x, y).
    Point,
    /// The area between (x, y) and zero.
    Area,
    /// The area between (x, y) and (x, y2).
    Band,
    /// A bar from zero (or y2) to y at each x; lying, from zero (or x2) to x, where the vertical axis
    /// alone has categories.
    Bar,
    /// A straight line across the panel at each x, if there is no y, or at each y, if there is no x.
    Rule,
    /// A cell at each (x, y), one unit wide and high unless `x2` and `y2` are its opposite corners.
    Cell,
    /// Closed outlines through (x, y); a value that is not finite ends one.
    Polygon,
    /// `labels` at each (x, y).
    Text,
    /// A straight line from (x, y) to (x2, y2).
    Link,
}

/// Where the name of a mark's series stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// In the legend.
    #[default]
    Legend,
    /// Beside the last point, where it fits; else in the legend.
    Direct,
    /// Nowhere.
    Hidden,
}

/// Where a mark's colour comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Colour {
    /// From the series: every name has its own.
    #[default]
    Series,
    /// Grey, for what is only there to compare with.
    Muted,
    /// From `values`, on a scale from dark to light between these two (or their own ends).
    Values(Option<(f64, f64)>),
    /// The colour of the series, stronger for larger `values`: from none at zero to all of it at this
    /// value (or their largest).
    Shade(Option<f64>),
}

/// One layer of a panel: columns and how they are drawn. Columns a shape does not use are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What the columns are drawn as.
    pub shape: Shape,
    /// Name of the series; marks of one name share a colour and an entry of the legend. An empty name
    /// has a colour and no entry.
    pub series: String,
    /// Where the name stands.
    pub naming: Naming,
    /// Where the colour comes from.
    pub colour: Colour,
    /// Horizontal places.
    pub x: Vec<f64>,
    /// Vertical places.
    pub y: Vec<f64>,
    /// Horizontal places of the other end.
    pub x2: Vec<f64>,
    /// Vertical places of the other end.
    pub y2: Vec<f64>,
    /// Values for the colour, one a point.
    pub values: Vec<f64>,
    /// Text for each point; lines are separated by `\n`. Empty texts are not drawn.
    pub labels: Vec<String>,
    /// Whether lines are broken.
    pub dashed: bool,
    /// Whether texts stand in a box.
    pub boxed: bool,
    /// How strong: line width and dot size are multiplied by it.
    pub weight: f64,
}

impl Chart {
    /// A chart without panels.
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Chart {
        Chart { title: title.into(), description: description.into(), ..Chart::default() }
    }

    /// With one more panel.
    pub fn panel(mut self, panel: Panel) -> Chart {
        self.panels.push(panel);
        self
    }

    /// With one more line under the picture.
    pub fn note(mut self, note: impl Into<String>) -> Chart {
        self.notes.push(note.into());
        self
    }

    /// The chart as data; values that are not finite are null.
    pub fn to_json(&self) -> Json {
        let panels: Vec<Json> = self.panels.iter().map(Panel::to_json).collect();
        json!({
            "title": self.title, "description": self.description, "panels": panels,
            "notes": self.notes,
        })
    }
}

impl Panel {
    /// A panel with these labels on its axes, both linear.
    pub fn new(x: impl Into<String>, y: impl Into<String>) -> Panel {
        let axis = |label: String| Axis { label, ..Axis::default() };
        Panel {
            title: String::new(),
            x: axis(x.into()),
            y: axis(y.into()),
            marks: Vec::new(),
            size: (520.0, 340.0),
        }
    }

    /// With a heading.
    pub fn title(mut self, title: impl Into<String>) -> Panel {
        self.title = title.into();
        self
    }

    /// With one more mark.
    pub fn mark(mut self, mark: Mark) -> Panel {
        self.marks.push(mark);
        self
    }

    /// With a logarithmic horizontal axis.
    pub fn log_x(mut self) -> Panel {
        self.x.scale = Scale::Log;
        self
    }

    /// With a logarithmic vertical axis.
    pub fn log_y(mut self) -> Panel {
        self.y.scale = Scale::Log;
        self
    }

    /// With the largest value at the left.
    pub fn reversed_x(mut self) -> Panel {
        self.x.reversed = true;
        self
    }

    /// With these names along the horizontal axis.
    pub fn categories_x(mut self, names: Vec<String>) -> Panel {
        self.x.scale = Scale::Categories(names);
        self
    }

    /// With these names along the vertical axis, from the top.
    pub fn categories_y(mut self, names: Vec<String>) -> Panel {
        self.y.scale = Scale::Categories(names);
        self
    }

    /// With this range on the horizontal axis.
    pub fn range_x(mut self, low: f64, high: f64) -> Panel {
        self.x.range = Some((low, high));
        self
    }

    /// With this range on the vertical axis.
    pub fn range_y(mut self, low: f64, high: f64) -> Panel {
        self.y.range = Some((low, high));
        self
    }

    /// With another size of the plotting area.
    pub fn size(mut self, width: f64, height: f64) -> Panel {
        self.size = (width, height);
        self
    }

    /// Without axes.
    pub fn bare(mut self) -> Panel {
        (self.x.hidden, self.y.hidden) = (true, true);
        self
    }

    fn to_json(&self) -> Json {
        let marks: Vec<Json> = self.marks.iter().map(Mark::to_json).collect();
        json!({
            "title": self.title, "x": self.x.to_json(), "y": self.y.to_json(), "marks": marks,
        })
    }
}

impl Axis {
    fn to_json(&self) -> Json {
        let mut out = Map::new();
        out.insert("label".into(), json!(self.label));
        out.insert("scale".into(), json!(self.scale.name()));
        if let Scale::Categories(names) = &self.scale {
            out.insert("categories".into(), json!(names));
        }
        if self.reversed {
            out.insert("reversed".into(), json!(true));
        }
        if let Some((low, high)) = self.range {
            out.insert("range".into(), json!([low, high]));
        }
        Json::Object(out)
    }
}

impl Scale {
    /// `linear`, `log` or `categories`.
    pub fn name(&self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log => "log",
            Scale::Categories(_) => "categories",
        }
    }
}

impl Shape {
    /// Its name, one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Line => "line",
            Shape::Point => "point",
            Shape::Area => "area",
            Shape::Band => "band",
            Shape::Bar => "bar",
            Shape::Rule => "rule",
            Shape::Cell => "cell",
            Shape::Polygon => "polygon",
            Shape::Text => "text",
            Shape::Link => "link",
        }
    }
}

impl Mark {
    fn new(shape: Shape, series: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Mark {
        Mark {
            shape,
            series: series.into(),
            naming: Naming::Legend,
            colour: Colour::Series,
            x,
            y,
            x2: Vec::new(),
            y2: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
            dashed: false,
            boxed: false,
            weight: 1.0,
        }
    }

    /// A line through the points.
    pub fn line(series: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Mark {
        Mark::new(Shape::Line, series, x, y)
    }

    /// A dot at each point.
    pub fn points(series: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Mark {
        Mark::new(Shape::Point, series, x, y)
    }

    /// The area between a curve and zero.
    pub fn area(series: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Mark {
        Mark::new(Shape::Area, series, x, y)
    }

    /// The area between two curves.
    pub fn band(series: impl Into<String>, x: Vec<f64>, low: Vec<f64>, high: Vec<f64>) -> Mark {
        Mark { y2: high, ..Mark::new(Shape::Band, series, x, low) }
    }

    /// Bars from zero.
    pub fn bars(series: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Mark {
        Mark::new(Shape::Bar, series, x, y)
    }

    /// A vertical line across the panel at each value.
    pub fn vertical(series: impl Into<String>, x: Vec<f64>) -> Mark {
        Mark::new(Shape::Rule, series, x, Vec::new()).muted()
    }

    /// A horizontal line across the panel at each value.
    pub fn horizontal(series: impl Into<String>, y: Vec<f64>) -> Mark {
        Mark::new(Shape::Rule, series, Vec::new(), y).muted()
    }

    /// A cell of one unit around each point, coloured by its value.
    pub fn cells(series: impl Into<String>, x: Vec<f64>, y: Vec<f64>, values: Vec<f64>) -> Mark {
        Mark { values, colour: Colour::Values(None), ..Mark::new(Shape::Cell, series, x, y) }
    }

    /// Closed outlines, one after every value that is not finite.
    pub fn polygon(series: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Mark {
        Mark::new(Shape::Polygon, series, x, y)
    }

    /// A text at each point.
    pub fn texts(x: Vec<f64>, y: Vec<f64>, labels: Vec<String>) -> Mark {
        Mark { labels, ..Mark::new(Shape::Text, "", x, y) }
    }

    /// Straight lines from (x, y) to (x2, y2).
    pub fn links(
        series: impl Into<String>,
        (x, y): (Vec<f64>, Vec<f64>),
        (x2, y2): (Vec<f64>, Vec<f64>),
    ) -> Mark {
        Mark { x2, y2, ..Mark::new(Shape::Link, series, x, y) }
    }

    /// Named beside its last point, where that fits.
    pub fn direct(mut self) -> Mark {
        self.naming = Naming::Direct;
        self
    }

    /// Named nowhere.
    pub fn unnamed(mut self) -> Mark {
        self.naming = Naming::Hidden;
        self
    }

    /// In grey.
    pub fn muted(mut self) -> Mark {
        self.colour = Colour::Muted;
        self
    }

    /// Coloured by values, one a point.
    pub fn coloured(mut self, values: Vec<f64>, range: Option<(f64, f64)>) -> Mark {
        (self.values, self.colour) = (values, Colour::Values(range));
        self
    }

    /// With the colour of the series, stronger for larger values.
    pub fn shaded(mut self, most: Option<f64>) -> Mark {
        self.colour = Colour::Shade(most);
        self
    }

    /// With broken lines.
    pub fn dashed(mut self) -> Mark {
        self.dashed = true;
        self
    }

    /// With texts in boxes.
    pub fn boxed(mut self) -> Mark {
        self.boxed = true;
        self
    }

    /// With a text for each point.
    pub fn labels(mut self, labels: Vec<String>) -> Mark {
        self.labels = labels;
        self
    }

    /// With lines and dots this many times as strong.
    pub fn weight(mut self, weight: f64) -> Mark {
        self.weight = weight;
        self
    }

    fn to_json(&self) -> Json {
        let mut out = Map::new();
        out.insert("mark".into(), json!(self.shape.name()));
        out.insert("series".into(), json!(self.series));
        let columns = [
            ("x", &self.x),
            ("y", &self.y),
            ("x2", &self.x2),
            ("y2", &self.y2),
            ("values", &self.values),
        ];
        for (name, column) in columns.into_iter().filter(|(_, column)| !column.is_empty()) {
            out.insert(name.into(), json!(column));
        }
        if !self.labels.is_empty() {
            out.insert("labels".into(), json!(self.labels));
        }
        Json::Object(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_have_the_columns_that_are_used_and_null_for_what_is_not_finite() {
        let names = vec!["a".to_string(), "b".to_string()];
        let panel = Panel::new("x", "y")
            .categories_x(names)
            .log_y()
            .range_y(1.0, 2.0)
            .mark(Mark::line("s", vec![0.0, 1.0], vec![f64::NAN, 2.5]));
        let json = Chart::new("t", "d").panel(panel).to_json();
        let panel = &json["panels"][0];
        assert_eq!(panel["marks"][0]["y"], json!([null, 2.5]));
        assert!(panel["marks"][0].get("x2").is_none());
        assert_eq!(
            panel["x"],
            json!({"label": "x", "scale": "categories", "categories": ["a", "b"]})
        );
        assert_eq!(panel["y"], json!({"label": "y", "scale": "log", "range": [1.0, 2.0]}));
    }
}
