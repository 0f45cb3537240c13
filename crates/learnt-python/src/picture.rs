//! Charts, as Python sees them.

use crate::failure::raise;
use learnt_core::chart::Chart;
use learnt_core::error::Error;
use pyo3::prelude::*;

/// A picture that draws itself in several forms.
#[pyclass(frozen, module = "learnt._native")]
pub(crate) struct Picture {
    chart: Chart,
}

impl Picture {
    pub(crate) fn new(chart: Chart) -> Picture {
        Picture { chart }
    }
}

#[pymethods]
impl Picture {
    /// What it shows.
    fn title(&self) -> &str {
        &self.chart.title
    }

    /// As SVG, light or dark as the reader's system is.
    fn svg(&self) -> String {
        learnt_plot::to_svg(&self.chart)
    }

    /// As a Vega-Lite document, JSON text.
    fn vega_lite(&self) -> String {
        learnt_plot::to_vega_lite(&self.chart).to_string()
    }

    /// The numbers behind it, JSON text.
    fn data(&self) -> String {
        self.chart.to_json().to_string()
    }

    /// As lines of text.
    fn text(&self, width: usize, height: usize, unicode: bool, colour: bool) -> String {
        learnt_plot::to_terminal(&self.chart, width, height, unicode, colour)
    }

    /// As a page of its own.
    fn page(&self) -> String {
        let answer = learnt_core::answer::Answer {
            charts: vec![self.chart.clone()],
            ..learnt_core::answer::Answer::new("Picture")
        };
        learnt_plot::to_page(&self.chart.title, &[answer])
    }

    /// As PNG.
    fn png(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        png(&self.chart).map_err(|error| raise(py, error))
    }
}

#[cfg(feature = "png")]
fn png(chart: &Chart) -> Result<Vec<u8>, Error> {
    learnt_plot::to_png(chart, learnt_plot::Theme::Light, 2.0)
}

#[cfg(not(feature = "png"))]
fn png(_: &Chart) -> Result<Vec<u8>, Error> {
    Err(Error::unsupported("this build of learnt writes no PNG")
        .hint("write .svg, or build with the feature `png`"))
}

/// Name, data and one sentence about each picture.
#[pyfunction]
pub(crate) fn plots() -> Vec<(&'static str, &'static str, &'static str)> {
    use learnt::question::Needs;
    let data = |needs: Needs| match needs {
        Needs::Nothing => "",
        Needs::Rows => "X",
        Needs::RowsAndTarget => "X, y",
    };
    learnt::plot::PLOTS.iter().map(|plot| (plot.name, data(plot.needs), plot.doc)).collect()
}
