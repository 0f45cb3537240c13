//! Charts for people: SVG, text for terminals, Vega-Lite for further work, self-contained HTML pages.
//!
//! A [`Chart`](learnt_core::chart::Chart) says what to draw; this crate knows how. It knows no learner.

mod axis;
mod colour;
mod layout;
mod marks;
mod page;
mod pen;
#[cfg(feature = "png")]
mod png;
mod reduce;
mod series;
mod svg;
#[cfg(test)]
mod svg_tests;
mod terminal;
mod text;
mod vega;

pub use colour::Theme;
pub use page::to_page;
#[cfg(feature = "png")]
pub use png::to_png;
pub use svg::{to_svg, to_svg_in};
pub use terminal::to_terminal;
pub use vega::to_vega_lite;
