//! Charts as PNG, through resvg. Texts are drawn with the fonts of the system.

use crate::colour::Theme;
use crate::svg::to_svg_in;
use learnt_core::chart::Chart;
use learnt_core::error::{Code, Error, Result};
use resvg::{tiny_skia, usvg};
use std::sync::Arc;

/// The picture on white or black paper, this many times as large.
pub fn to_png(chart: &Chart, theme: Theme, scale: f32) -> Result<Vec<u8>> {
    let theme = if theme == Theme::Auto { Theme::Light } else { theme };
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_system_fonts();
    let family = fonts
        .faces()
        .find(|face| face.families.iter().any(|(name, _)| name.contains("Sans") || name == "Arial"))
        .or_else(|| fonts.faces().next())
        .and_then(|face| face.families.first().map(|(name, _)| name.clone()))
        .ok_or_else(|| {
            Error::unsupported("a PNG needs a font, and this system has none")
                .hint("install one, such as fonts-dejavu-core; or write .svg")
        })?;
    fonts.set_sans_serif_family(family);
    let options = usvg::Options {
        fontdb: Arc::new(fonts),
        font_family: "sans-serif".to_string(),
        ..usvg::Options::default()
    };
    let internal =
        |error: &dyn std::fmt::Display| Error::internal(format!("a PNG failed: {error}"));
    let tree = usvg::Tree::from_str(&to_svg_in(chart, theme), &options)
        .map_err(|error| internal(&error))?;
    let scale = if scale.is_finite() { scale.clamp(0.1, 8.0) } else { 1.0 };
    let size = tree.size();
    let (width, height) =
        ((size.width() * scale).ceil() as u32, (size.height() * scale).ceil() as u32);
    let mut pixels = tiny_skia::Pixmap::new(width, height)
        .ok_or_else(|| Error::new(Code::Memory, "the picture is too large for a PNG"))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| internal(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::chart::{Mark, Panel};

    #[test]
    fn a_png_has_its_paper_or_says_that_there_is_no_font() {
        let panel = Panel::new("x", "y").mark(Mark::line("a", vec![0.0, 1.0], vec![0.0, 1.0]));
        match to_png(&Chart::new("t", "d").panel(panel), Theme::Light, 1.0) {
            Ok(bytes) => {
                let image = tiny_skia::Pixmap::decode_png(&bytes).unwrap();
                let corner = image.pixel(1, 1).unwrap();
                assert_eq!((corner.red(), corner.green(), corner.blue()), (255, 255, 255));
                assert!(image.pixels().iter().any(|pixel| pixel.red() < 100), "something is drawn");
            }
            Err(error) => assert!(error.message().contains("font")),
        }
    }
}
