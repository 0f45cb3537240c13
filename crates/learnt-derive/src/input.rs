//! Reading what a derive is given: fields, variants, doc comments and attribute items.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::fmt::Display;
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::parse::ParseStream;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Field, Fields, Generics, Ident, Lit, LitStr, Meta,
    Result, Token, Variant,
};

/// The fields of a struct with names; none for a unit struct.
pub(crate) fn struct_fields<'a>(input: &'a DeriveInput, derive: &str) -> Result<Vec<&'a Field>> {
    match &input.data {
        Data::Struct(data) => named_fields(&data.fields, &input.ident),
        _ => fail(&input.ident, format!("derive({derive}) needs a struct with named fields")),
    }
}

/// Fields with names; `owner` is blamed for fields without.
pub(crate) fn named_fields<'a>(fields: &'a Fields, owner: &Ident) -> Result<Vec<&'a Field>> {
    match fields {
        Fields::Unnamed(_) => fail(owner, "the fields need names"),
        fields => Ok(fields.iter().collect()),
    }
}

/// The variants of an enum that has some.
pub(crate) fn variants<'a>(input: &'a DeriveInput, derive: &str) -> Result<Vec<&'a Variant>> {
    match &input.data {
        Data::Enum(data) if !data.variants.is_empty() => Ok(data.variants.iter().collect()),
        _ => fail(&input.ident, format!("derive({derive}) needs an enum with variants")),
    }
}

/// Refuses type parameters.
pub(crate) fn concrete(generics: &Generics, derive: &str) -> Result<()> {
    match generics.params.is_empty() {
        true => Ok(()),
        false => fail(generics, format!("derive({derive}) takes no generic types")),
    }
}

/// A field's name as text, without `r#`.
pub(crate) fn field_name(field: &Field) -> String {
    field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default()
}

/// The doc comment: its lines without their leading space.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(doc_line).collect();
    lines.join("\n")
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(literal) = &pair.value else { return None };
    let Lit::Str(text) = &literal.lit else { return None };
    let line = text.value();
    let trimmed = line.strip_prefix(' ').unwrap_or(&line).to_string();
    pair.path.is_ident("doc").then_some(trimmed)
}

/// Gives each item of the attributes `#[name(item, ...)]` to `read`.
pub(crate) fn items(
    attributes: &[Attribute],
    name: &str,
    mut read: impl FnMut(&str, &ParseNestedMeta) -> Result<()>,
) -> Result<()> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        attribute.parse_nested_meta(|meta| {
            let item = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
            read(&item, &meta)
        })?;
    }
    Ok(())
}

/// The error for an item that is not one of these.
pub(crate) fn unknown_item(meta: &ParseNestedMeta, known: &str) -> Error {
    meta.error(format!("unknown item; there are {known}"))
}

/// Notes an item that may be given once.
pub(crate) fn once<T>(slot: &mut Option<T>, value: T, meta: &ParseNestedMeta) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(meta.error("given twice")),
    }
}

/// Notes an item without a value that may be given once.
pub(crate) fn flag(slot: &mut bool, meta: &ParseNestedMeta) -> Result<()> {
    match std::mem::replace(slot, true) {
        false => Ok(()),
        true => Err(meta.error("given twice")),
    }
}

/// Reads `= "text"`.
pub(crate) fn text(meta: &ParseNestedMeta) -> Result<LitStr> {
    meta.value()?.parse()
}

/// Reads `= name`, a method or field.
pub(crate) fn name(meta: &ParseNestedMeta) -> Result<Ident> {
    meta.value()?.parse()
}

/// Reads an expression: all tokens up to the next comma. What they mean is for the compiler.
pub(crate) fn expression(input: ParseStream) -> Result<TokenStream> {
    let tokens = until(input, |input| input.peek(Token![,]))?;
    match tokens.is_empty() {
        true => Err(input.error("expected a value")),
        false => Ok(tokens),
    }
}

/// Reads tokens up to a place that `stop` knows, or the end.
pub(crate) fn until(input: ParseStream, stop: fn(ParseStream) -> bool) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !stop(input) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    Ok(tokens)
}

/// `SquaredError` is `squared_error`, `Log2` is `log2`, `KDTree` is `kd_tree`.
pub(crate) fn snake_case(ident: &Ident) -> String {
    let letters: Vec<char> = ident.unraw().to_string().chars().collect();
    let mut out = String::new();
    for (i, &letter) in letters.iter().enumerate() {
        let after_lower = i > 0 && !letters[i - 1].is_uppercase();
        let before_lower = i > 0 && letters.get(i + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (after_lower || before_lower) {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// An error at these tokens.
pub(crate) fn fail<T>(at: impl ToTokens, message: impl Display) -> Result<T> {
    Err(Error::new_spanned(at, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::format_ident;

    #[test]
    fn names_in_snake_case() {
        let pairs = [
            ("Auto", "auto"),
            ("SquaredError", "squared_error"),
            ("Log2", "log2"),
            ("L1Ratio", "l1_ratio"),
            ("SVD", "svd"),
            ("KDTree", "kd_tree"),
        ];
        for (variant, word) in pairs {
            assert_eq!(snake_case(&format_ident!("{variant}")), word);
        }
    }

    #[test]
    fn one_leading_space_goes() {
        let input: DeriveInput = syn::parse_quote! {
            /// First.
            ///
            ///  Indented.
            #[doc(hidden)]
            struct S;
        };
        assert_eq!(documentation(&input.attrs), "First.\n\n Indented.");
    }
}
