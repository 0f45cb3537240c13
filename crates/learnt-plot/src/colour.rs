//! Colours that are told apart with every kind of colour vision, on light and on dark paper.
//!
//! Series: Okabe and Ito (2008), "Color universal design", ordered for contrast, with lighter ones on
//! dark paper. Values: nine stops of viridis (Smith and van der Walt, 2015), linear between them.

/// Whether the paper is white or black, or whatever the reader's system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Both, chosen by the reader's browser.
    #[default]
    Auto,
    /// White paper.
    Light,
    /// Black paper.
    Dark,
}

/// Number of colours of series; they repeat after it.
pub(crate) const SERIES: usize = 7;

const LIGHT: [&str; SERIES] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#3f8fc4", "#7a3fa0"];
const DARK: [&str; SERIES] =
    ["#4ba3e3", "#ff8c42", "#2fc79a", "#e39bc4", "#e6c229", "#9ad0f5", "#b98ae0"];

/// Foreground, muted text and marks, grid, paper.
const LIGHT_INK: [&str; 4] = ["#1f2328", "#6a737d", "#e4e7eb", "#ffffff"];
const DARK_INK: [&str; 4] = ["#e6e9ed", "#9aa4b0", "#30363d", "#0f1419"];

const VIRIDIS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// The style sheet of a picture: classes `f0`… fill, `s0`… stroke, `t` text, `m` muted text, `g` grid,
/// `p` paper, `fm`/`sm` muted marks.
pub(crate) fn style_sheet(theme: Theme) -> String {
    let rules = |series: &[&str; SERIES], ink: &[&str; 4]| {
        let mut out = String::new();
        for (k, colour) in series.iter().enumerate() {
            out += &format!(".lp .f{k}{{fill:{colour}}}.lp .s{k}{{stroke:{colour}}}");
        }
        let [text, muted, grid, paper] = ink;
        out + &format!(
            ".lp .t{{fill:{text}}}.lp .st{{stroke:{text}}}.lp .m{{fill:{muted}}}.lp .fm{{fill:{muted}}}.lp .sm{{stroke:{muted}}}\
             .lp .g{{stroke:{grid}}}.lp .p{{fill:{paper}}}.lp .sp{{stroke:{paper}}}"
        )
    };
    match theme {
        Theme::Light => rules(&LIGHT, &LIGHT_INK),
        Theme::Dark => rules(&DARK, &DARK_INK),
        Theme::Auto => format!(
            "{}\n@media (prefers-color-scheme:dark){{{}}}",
            rules(&LIGHT, &LIGHT_INK),
            rules(&DARK, &DARK_INK)
        ),
    }
}

/// The colour of a share of the scale of values, 0 to 1.
pub(crate) fn viridis(share: f64) -> [u8; 3] {
    let at = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let k = (at as usize).min(VIRIDIS.len() - 2);
    let part = at - k as f64;
    let mix = |i: usize| {
        let (a, b) = (f64::from(VIRIDIS[k][i]), f64::from(VIRIDIS[k + 1][i]));
        (a + part * (b - a)).round() as u8
    };
    [mix(0), mix(1), mix(2)]
}

/// As `#rrggbb`.
pub(crate) fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast ratio of the web content accessibility guidelines.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |hex: &str| {
            let part = |i: usize| {
                let c = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
                if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn marks_and_texts_stand_out_from_the_paper() {
        for (series, ink) in [(LIGHT, LIGHT_INK), (DARK, DARK_INK)] {
            for colour in series {
                assert!(contrast(colour, ink[3]) >= 2.9, "{colour} {}", contrast(colour, ink[3]));
            }
            assert!(contrast(ink[0], ink[3]) >= 7.0);
            assert!(contrast(ink[1], ink[3]) >= 4.5, "{}", contrast(ink[1], ink[3]));
        }
    }

    #[test]
    fn the_scale_of_values_gets_lighter() {
        let light = |share: f64| viridis(share).iter().map(|c| u32::from(*c)).sum::<u32>();
        assert_eq!(viridis(0.0), VIRIDIS[0]);
        assert_eq!(viridis(1.0), VIRIDIS[8]);
        assert!((1..=10).all(|i| light(f64::from(i) / 10.0) > light(f64::from(i - 1) / 10.0)));
        assert_eq!(viridis(f64::NAN).len(), 3);
    }
}
