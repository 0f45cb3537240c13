//! The derives of learnt: [`Params`], [`Choice`], [`Stored`] and [`Model`].
//!
//! Each reads a plain struct or enum with its doc comments and writes the trait implementations of
//! `learnt_core` that go with it, so that nothing is declared twice. Generated code names
//! everything through `::learnt_core`.

mod bounds;
mod choice;
mod function;
mod input;
mod learners;
mod merge;
mod model;
mod params;
mod sources;
mod stored;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Writes `Params` and `Default` for a struct whose fields, all `pub`, are parameters.
///
/// ```ignore
/// /// Least squares with an L2 penalty on the weights.
/// #[derive(Params, Clone, Debug)]
/// #[params(constraints = solver_fits)]
/// pub struct Ridge {
///     /// Strength of the penalty; 0 is plain least squares.
///     #[param(positional, default = 1.0, range = 0.0.., search = log(1e-4, 1e4))]
///     pub alpha: f64,
/// }
/// ```
///
/// On a field, `#[param(...)]` takes
///
/// - `default = EXPR`, else the type's own default;
/// - `required`: there is no default; `check` refuses null, an empty text and an empty list;
/// - `range = A..`, `A..B`, `A..=B`, `..B` or `..=B`: closed below, closed above only with `=`;
/// - `above = X`, `below = X`: open ends, together or with the other end of a range;
/// - `positional`: Python accepts it by position;
/// - `name = "C"`: the name users type, else the field's;
/// - `search = log(low, high)`, `linear(low, high)` or `set(v, ...)`; in a set, `none` is nothing;
/// - `learner = ROLE` on a field that holds learners: they must play this role (`any` asks for
///   none), and `default = TYPE` is the learner of that type with its defaults;
/// - `flatten`: the field is a struct of parameters, and those are the owner's own. They stand in
///   the place of the field, are read and set by their names, and are checked with the others.
///
/// On the struct, `#[params(constraints = method)]` names an `fn(&self) -> Result<()>` that is
/// checked after all bounds.
#[proc_macro_derive(Params, attributes(param, params))]
pub fn params(tokens: TokenStream) -> TokenStream {
    let input = parse_macro_input!(tokens as DeriveInput);
    finish(params::derive(&input))
}

/// Writes `ParamType`, `Display` and `Stored` for an enum of words and values.
///
/// ```ignore
/// /// How many features each split may look at.
/// #[derive(Choice, Clone, Copy, Debug, PartialEq)]
/// pub enum MaxFeatures {
///     /// All of them.
///     #[choice(none)]
///     All,
///     /// The square root of their number.
///     Sqrt,
///     /// This many.
///     #[choice(range = 1..)]
///     Count(usize),
///     /// This fraction of them.
///     #[choice(above = 0.0, range = ..=1.0)]
///     Fraction(f64),
/// }
/// ```
///
/// On a plain variant, `#[choice(name = "...")]` gives the word, else it is the variant's name in
/// snake case; `#[choice(none)]` makes the variant `None` in Python, and the word still reads. On
/// a variant that carries one value, `#[choice(range, above, below)]` bound it as in [`Params`].
///
/// A whole number reads as the first variant of whole numbers, else of numbers; a number with a
/// decimal point only as a variant of numbers: 1 is a count and 1.0 a fraction.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn choice(tokens: TokenStream) -> TokenStream {
    let input = parse_macro_input!(tokens as DeriveInput);
    finish(choice::derive(&input))
}

/// Writes `Stored`: a struct as named values, an enum as the variant's name in snake case, with
/// what it carries.
///
/// `#[stored(validate = method)]` names an `fn(&self) -> Result<()>` that what was read must pass.
///
/// Fields of a struct may declare what is checked after reading:
///
/// - `#[shape(classes, columns)]`: sizes by name, which all fields share, or numbers. No named size
///   is zero; an absent `Option` fits;
/// - `#[below(classes)]`: indices below a size that an earlier field has set;
/// - `#[finite]`, `#[positive]`, `#[nonnegative]`, `#[share]` (from 0 to 1): all of its numbers.
#[proc_macro_derive(
    Stored,
    attributes(stored, model, shape, below, finite, positive, nonnegative, share)
)]
pub fn stored(tokens: TokenStream) -> TokenStream {
    let input = parse_macro_input!(tokens as DeriveInput);
    finish(stored::derive(&input))
}

/// Writes `Model`, `Described` and `Stored` for what training leaves behind.
///
/// ```ignore
/// /// A fitted `Ridge`.
/// #[derive(Model, Clone, Debug)]
/// #[model(regressor, version = 1)]
/// pub struct RidgeModel {
///     /// Weights, (n_outputs × n_features).
///     pub coef: Matrix,
/// }
/// ```
///
/// On the struct, `#[model(...)]` takes
///
/// - roles by name, such as `regressor` or `density`: those of the core's table; `regressor = linear`
///   also writes `Regressor`, for predictions from the fields `coef` and `intercept`;
/// - `version = N` of the stored form, else 1;
/// - `validate = method`: `fn(&self) -> Result<()>` that what was read must pass;
/// - `report = method`: `fn(&self, &Names) -> Answer`;
/// - `converged = name`: a `bool` field, or a method where no field has the name;
/// - `accepts = method`: `fn(&self) -> Accepts`, where inputs may hold other things than the facts
///   about the learner say;
/// - `attributes = method`: `fn(&self) -> Vec<(&'static str, Node)>` instead of the public fields;
/// - `parts = method`: `fn(&self, &Schema, &[Label]) -> Result<Vec<FittedPart<'_>>>`.
/// - `members = method`: `fn(&self) -> Vec<(String, &'static About, Box<dyn Model>)>`.
///
/// On a public field, `#[model(name = "...")]` renames the attribute (not the stored value), and
/// `#[model(hidden)]` leaves it out. A field with `#[model(transient)]` is what the fit gave about its
/// training rows: it is an attribute in memory, is not stored, and is its default after loading.
///
/// Shapes and numbers of fields are declared as for [`Stored`].
#[proc_macro_derive(Model, attributes(model, shape, below, finite, positive, nonnegative, share))]
pub fn model(tokens: TokenStream) -> TokenStream {
    let input = parse_macro_input!(tokens as DeriveInput);
    finish(model::derive(&input))
}

/// Writes `Inputs` for a struct with one lifetime: what a function is computed from.
///
/// ```ignore
/// /// Scores beside the truth.
/// #[derive(Inputs)]
/// pub struct Scored<'a> {
///     /// The actual classes.
///     pub y_true: Classes<'a>,
///     /// The score of the positive class.
///     pub y_score: &'a [f64],
///     /// How much each row counts.
///     pub sample_weight: Option<&'a [f64]>,
/// }
/// ```
///
/// On a field, `#[input(...)]` takes `missing` (missing values are allowed), `apart` (it has its own
/// length) and `name = "X"` (the name users type).
#[proc_macro_derive(Inputs, attributes(input))]
pub fn inputs(tokens: TokenStream) -> TokenStream {
    let input = parse_macro_input!(tokens as DeriveInput);
    finish(function::inputs(&input))
}

/// Writes `Output` for a struct whose fields are the values that a function gives, in their order.
/// `#[output(p)]` marks a p-value.
#[proc_macro_derive(Output, attributes(output))]
pub fn output(tokens: TokenStream) -> TokenStream {
    let input = parse_macro_input!(tokens as DeriveInput);
    finish(function::output(&input))
}

/// Writes `Merge`: a struct field by field, an enum variant by variant. `#[merge(keep)]` on a field
/// that both must have equal, `#[merge(with = function)]` on one that merges otherwise.
#[proc_macro_derive(Merge, attributes(merge))]
pub fn merge(tokens: TokenStream) -> TokenStream {
    let input = parse_macro_input!(tokens as DeriveInput);
    finish(merge::derive(&input))
}

fn finish(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A text that stands for the sources of the named crates beside the calling one, and for the versions of
/// all dependencies: `sources!("learnt-core learnt")`. Empty where the sources are not there.
#[proc_macro]
pub fn sources(tokens: TokenStream) -> TokenStream {
    let crates = parse_macro_input!(tokens as syn::LitStr);
    let digest = sources::digest(&crates.value());
    quote::quote!(#digest).into()
}
