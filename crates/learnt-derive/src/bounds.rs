//! The bounds of a number: `range`, `above` and `below`, in `#[param]` and `#[choice]`.

use crate::input::{expression, once, until};
use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::ParseStream;
use syn::{Lit, Result, Token, Type};

/// The items that [`Bounds::read`] knows.
pub(crate) const ITEMS: &str = "range, above, below";

/// An interval; each end is a number and whether it belongs.
#[derive(Default)]
pub(crate) struct Bounds {
    low: Option<(TokenStream, bool)>,
    high: Option<(TokenStream, bool)>,
}

impl Bounds {
    /// Reads an item if it is one of the three, and says whether it was.
    pub(crate) fn read(&mut self, item: &str, meta: &ParseNestedMeta) -> Result<bool> {
        match item {
            "range" => self.range(meta)?,
            "above" => once(&mut self.low, (number(expression(meta.value()?)?), false), meta)?,
            "below" => once(&mut self.high, (number(expression(meta.value()?)?), false), meta)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn range(&mut self, meta: &ParseNestedMeta) -> Result<()> {
        let input = meta.value()?;
        let low = until(input, at_range)?;
        let closed = input.peek(Token![..=]);
        match closed {
            true => drop(input.parse::<Token![..=]>()?),
            false => drop(input.parse::<Token![..]>()?),
        }
        let high = until(input, |input| input.peek(Token![,]))?;
        if high.is_empty() && (closed || low.is_empty()) {
            return Err(meta.error("expected a range with an end"));
        }
        if !low.is_empty() {
            once(&mut self.low, (number(low), true), meta)?;
        }
        if !high.is_empty() {
            once(&mut self.high, (number(high), closed), meta)?;
        }
        Ok(())
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.low.is_none() && self.high.is_none()
    }

    /// The `Kind` of a type inside these bounds.
    pub(crate) fn kind(&self, ty: &Type) -> TokenStream {
        let kind = quote!(<#ty as ::learnt_core::params::ParamType>::kind());
        if self.is_empty() {
            return kind;
        }
        let (low, high) = (end(self.low.as_ref()), end(self.high.as_ref()));
        quote!(#kind.within(::learnt_core::params::Interval { low: #low, high: #high }))
    }
}

fn at_range(input: ParseStream) -> bool {
    input.peek(Token![..]) || input.peek(Token![,])
}

fn end(bound: Option<&(TokenStream, bool)>) -> TokenStream {
    match bound {
        Some((number, closed)) => quote!(::core::option::Option::Some((#number, #closed))),
        None => quote!(::core::option::Option::None),
    }
}

/// The tokens of a number as an `f64`: whole literals get their decimal point.
pub(crate) fn number(tokens: TokenStream) -> TokenStream {
    tokens.into_iter().map(with_point).collect()
}

fn with_point(token: TokenTree) -> TokenTree {
    let TokenTree::Literal(literal) = &token else { return token };
    let Lit::Int(whole) = Lit::new(literal.clone()) else { return token };
    match (whole.suffix(), whole.base10_parse::<f64>()) {
        ("", Ok(value)) => {
            let mut real = Literal::f64_unsuffixed(value);
            real.set_span(literal.span());
            real.into()
        }
        _ => token,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::{Attribute, parse_quote};

    fn read(attribute: Attribute) -> Result<Bounds> {
        let mut bounds = Bounds::default();
        attribute.parse_nested_meta(|meta| {
            let item = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            assert!(bounds.read(&item, &meta)?, "{item} is not a bound");
            Ok(())
        })?;
        Ok(bounds)
    }

    fn text(attribute: Attribute) -> String {
        let bounds = read(attribute).unwrap();
        let show = |bound: Option<&(TokenStream, bool)>| match bound {
            Some((number, closed)) => format!("{number} {closed}"),
            None => "none".to_string(),
        };
        format!("{}, {}", show(bounds.low.as_ref()), show(bounds.high.as_ref()))
    }

    #[test]
    fn every_form() {
        assert_eq!(text(parse_quote!(#[param(range = 0.0..)])), "0.0 true, none");
        assert_eq!(text(parse_quote!(#[param(range = 1..=10)])), "1.0 true, 10.0 true");
        assert_eq!(text(parse_quote!(#[param(range = 0..1)])), "0.0 true, 1.0 false");
        assert_eq!(text(parse_quote!(#[param(range = ..=2.5)])), "none, 2.5 true");
        assert_eq!(text(parse_quote!(#[param(above = -1, below = 1)])), "- 1.0 false, 1.0 false");
        assert_eq!(text(parse_quote!(#[param(above = 0, range = ..=1.0)])), "0.0 false, 1.0 true");
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(read(parse_quote!(#[param(range = 0.., above = 1)])).is_err());
        assert!(read(parse_quote!(#[param(range = ..)])).is_err());
        assert!(read(parse_quote!(#[param(range = 1..=)])).is_err());
        assert!(read(parse_quote!(#[param(range = 1)])).is_err());
        assert!(read(parse_quote!(#[param(above)])).is_err());
    }
}
