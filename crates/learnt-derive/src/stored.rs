//! `#[derive(Stored)]`: the way into a model file and back.

use crate::input::{
    fail, field_name, items, name, named_fields, once, snake_case, unknown_item, variants,
};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::BTreeSet;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Field, Fields, Ident, LitInt, Result, Token, Variant};

/// The implementation of `Stored` for a struct or an enum.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let mut validate = None;
    items(&input.attrs, "stored", |item, meta| match item {
        "validate" => once(&mut validate, name(meta)?, meta),
        _ => Err(unknown_item(meta, "validate")),
    })?;
    match &input.data {
        Data::Struct(data) => {
            struct_impl(input, &named_fields(&data.fields, &input.ident)?, validate.as_ref())
        }
        Data::Enum(_) => {
            let (write, read) = enum_code(input)?;
            Ok(implementation(input, &write, &read, &TokenStream::new(), validate.as_ref()))
        }
        Data::Union(_) => fail(&input.ident, "derive(Stored) needs a struct or an enum"),
    }
}

/// The implementation of `Stored` for a struct with these fields.
pub(crate) fn struct_impl(
    input: &DeriveInput,
    fields: &[&Field],
    validate: Option<&Ident>,
) -> Result<TokenStream> {
    let (write, read) = struct_code(input, fields);
    Ok(implementation(input, &write, &read, &checks(fields)?, validate))
}

/// Whether the first side of a field is one an output: `outputs`, or 1 where there is but one.
pub(crate) fn is_per_output(field: &Field) -> Result<bool> {
    let Some(shape) = field.attrs.iter().find(|a| a.path().is_ident("shape")) else {
        return Ok(false);
    };
    let sides = shape.parse_args_with(Punctuated::<Extent, Token![,]>::parse_terminated)?;
    Ok(match sides.first() {
        Some(Extent::Named(name)) => name == "outputs",
        Some(Extent::Fixed(number)) => number.base10_parse::<usize>()? == 1,
        None => false,
    })
}

/// What the fields declare of their shapes and numbers, as statements about `value`.
fn checks(fields: &[&Field]) -> Result<TokenStream> {
    let (mut shapes, mut code) = (TokenStream::new(), TokenStream::new());
    for field in fields {
        let (ident, name) = (&field.ident, field_name(field));
        for attribute in &field.attrs {
            let Some(word) = attribute.path().get_ident() else { continue };
            let statement = match word.to_string().as_str() {
                "shape" => {
                    let sides = attribute
                        .parse_args_with(Punctuated::<Extent, Token![,]>::parse_terminated)?;
                    let sides = sides.iter().map(Extent::side);
                    shapes.extend(quote!(sizes.check(#name, &value.#ident, &[#(#sides),*])?;));
                    continue;
                }
                "below" => {
                    let size: Ident = attribute.parse_args()?;
                    let size = size.to_string();
                    quote!(sizes.below(#name, &value.#ident, #size)?;)
                }
                "finite" => numbers(field, "finite", &quote!(|x| x.is_finite())),
                "positive" => numbers(field, "above zero", &quote!(|x| x.is_finite() && x > 0.0)),
                "nonnegative" => {
                    numbers(field, "zero or above", &quote!(|x| x.is_finite() && x >= 0.0))
                }
                "share" => numbers(field, "from 0 to 1", &quote!(|x| (0.0..=1.0).contains(&x))),
                _ => continue,
            };
            code.extend(statement);
        }
    }
    match shapes.is_empty() && code.is_empty() {
        true => Ok(code),
        false => Ok(quote! {
            #[allow(unused_mut, unused_variables)]
            let mut sizes = ::learnt_core::persist::Sizes::default();
            #shapes
            #code
        }),
    }
}

fn numbers(field: &Field, what: &str, so: &TokenStream) -> TokenStream {
    let (ident, name) = (&field.ident, field_name(field));
    quote!(::learnt_core::persist::check_numbers(#name, &value.#ident, #what, #so)?;)
}

/// A side of a shape: the name of a size, or a number.
enum Extent {
    Named(Ident),
    Fixed(LitInt),
}

impl Parse for Extent {
    fn parse(input: ParseStream) -> Result<Self> {
        match input.peek(LitInt) {
            true => input.parse().map(Extent::Fixed),
            false => input.parse().map(Extent::Named),
        }
    }
}

impl Extent {
    fn side(&self) -> TokenStream {
        match self {
            Extent::Named(name) => {
                let name = name.to_string();
                quote!(::learnt_core::persist::Side::Named(#name))
            }
            Extent::Fixed(size) => quote!(::learnt_core::persist::Side::Fixed(#size)),
        }
    }
}

/// Around `write`, an expression for a `Node`, and `read`, an expression for a `Self`.
fn implementation(
    input: &DeriveInput,
    write: &TokenStream,
    read: &TokenStream,
    checks: &TokenStream,
    validate: Option<&Ident>,
) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let validate = validate.map(|method| quote!(value.#method()?;));
    let result = match (checks.is_empty(), &validate) {
        (true, None) => quote!(::core::result::Result::Ok(#read)),
        _ => quote! {
            let value: Self = #read;
            #checks
            #validate
            ::core::result::Result::Ok(value)
        },
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics ::learnt_core::persist::Stored for #ident #type_generics #where_clause {
            fn to_node(&self) -> ::learnt_core::persist::Node {
                #write
            }
            fn from_node(
                node: &::learnt_core::persist::Node,
            ) -> ::learnt_core::error::Result<Self> {
                #result
            }
        }
    }
}

fn struct_code(input: &DeriveInput, fields: &[&Field]) -> (TokenStream, TokenStream) {
    let values = fields.iter().map(|Field { ident, .. }| quote!(&self.#ident));
    let write = map(fields, values);
    let what = input.ident.to_string();
    let read = read_fields(&quote!(Self), &what, &quote!(node), fields);
    (write, read)
}

/// A `Node::Map` of these fields; `values` are references to what they hold.
fn map(fields: &[&Field], values: impl Iterator<Item = TokenStream>) -> TokenStream {
    let kept = fields.iter().zip(values).filter(|(field, _)| !marked(field, "transient"));
    let entries = kept.map(|(field, value)| {
        let (name, ty) = (field_name(field), &field.ty);
        let node = quote!(<#ty as ::learnt_core::persist::Stored>::to_node(#value));
        quote!((::std::string::String::from(#name), #node))
    });
    quote! {
        ::learnt_core::persist::Node::Map(::std::collections::BTreeMap::from([#(#entries),*]))
    }
}

/// A struct or struct variant from the map `node`, refusing fields it does not have.
fn read_fields(
    path: &TokenStream,
    what: &str,
    node: &TokenStream,
    fields: &[&Field],
) -> TokenStream {
    let names = fields.iter().map(|field| field_name(field));
    let values = fields.iter().map(|field| {
        let (ident, ty, name) = (&field.ident, &field.ty, field_name(field));
        match (marked(field, "transient"), marked(field, "later")) {
            (true, _) => quote!(#ident: ::core::default::Default::default()),
            (false, true) => quote!(#ident: #node.later_field::<#ty>(#name)?),
            (false, false) => quote!(#ident: #node.field::<#ty>(#name)?),
        }
    });
    quote! {{
        #node.only(#what, &[#(#names),*])?;
        #path { #(#values),* }
    }}
}

/// Whether a field has this mark: `#[model(transient)]` keeps it out of files (older ones may hold it), and
/// `#[model(later)]` says that older files do not have it.
fn marked(field: &Field, mark: &str) -> bool {
    let mut found = false;
    let _ = items(&field.attrs, "model", |item, meta| {
        found |= item == mark;
        match meta.input.peek(Token![=]) {
            true => meta.value()?.parse::<syn::Expr>().map(drop),
            false => Ok(()),
        }
    });
    found
}

fn enum_code(input: &DeriveInput) -> Result<(TokenStream, TokenStream)> {
    let variants = variants(input, "Stored")?;
    distinct(&variants)?;
    let writers = variants.iter().map(|variant| write_arm(variant)).collect::<Result<Vec<_>>>()?;
    let write = quote!(match self { #(#writers)* });

    let (words, tags): (Vec<&Variant>, Vec<&Variant>) =
        variants.into_iter().partition(|variant| matches!(variant.fields, Fields::Unit));
    let what = input.ident.to_string();
    let read_tag = read_tag(&what, &tags)?;
    let read = match words.is_empty() {
        true => read_tag,
        false => {
            let read_word = read_word(&what, &words);
            quote! {
                match node {
                    ::learnt_core::persist::Node::Text(word) => #read_word,
                    node => #read_tag,
                }
            }
        }
    };
    Ok((write, read))
}

fn distinct(variants: &[&Variant]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match variants.iter().find(|variant| !seen.insert(snake_case(&variant.ident))) {
        Some(variant) => fail(&variant.ident, "another variant is stored under this name"),
        None => Ok(()),
    }
}

fn write_arm(variant: &Variant) -> Result<TokenStream> {
    let (ident, tag) = (&variant.ident, snake_case(&variant.ident));
    match &variant.fields {
        Fields::Unit => Ok(quote! {
            Self::#ident => ::learnt_core::persist::Node::Text(::std::string::String::from(#tag)),
        }),
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            let ty = &fields.unnamed[0].ty;
            let inner = quote!(<#ty as ::learnt_core::persist::Stored>::to_node(inner));
            let node = tagged(&tag, &inner);
            Ok(quote!(Self::#ident(inner) => #node,))
        }
        fields => {
            let fields = named_fields(fields, ident)?;
            let names: Vec<&Option<Ident>> = fields.iter().map(|field| &field.ident).collect();
            let inner = map(&fields, names.iter().map(|name| quote!(#name)));
            let node = tagged(&tag, &inner);
            Ok(quote!(Self::#ident { #(#names),* } => #node,))
        }
    }
}

fn tagged(tag: &str, inner: &TokenStream) -> TokenStream {
    quote! {
        ::learnt_core::persist::Node::Map(::std::collections::BTreeMap::from([
            (::std::string::String::from(#tag), #inner)
        ]))
    }
}

fn read_word(what: &str, variants: &[&Variant]) -> TokenStream {
    let words = variants.iter().map(|variant| snake_case(&variant.ident));
    let idents = variants.iter().map(|variant| &variant.ident);
    let unknown = unknown_variant(what, &quote!(word));
    quote! {
        match word.as_str() {
            #(#words => Self::#idents,)*
            _ => #unknown,
        }
    }
}

/// A variant that carries something, from a map with one entry.
fn read_tag(what: &str, variants: &[&Variant]) -> Result<TokenStream> {
    if variants.is_empty() {
        let message = format!("{what}: expected a word");
        return Ok(quote! {
            return ::core::result::Result::Err(::learnt_core::persist::invalid(#message))
        });
    }
    let arms =
        variants.iter().map(|variant| read_arm(what, variant)).collect::<Result<Vec<_>>>()?;
    let unknown = unknown_variant(what, &quote!(tag));
    let message = format!("{what}: expected one entry");
    Ok(quote! {{
        let mut entries = node.map(#what)?.iter();
        match (entries.next(), entries.next()) {
            (
                ::core::option::Option::Some((tag, inner)),
                ::core::option::Option::None,
            ) => match tag.as_str() {
                #(#arms)*
                _ => #unknown,
            },
            _ => return ::core::result::Result::Err(::learnt_core::persist::invalid(#message)),
        }
    }})
}

fn read_arm(what: &str, variant: &Variant) -> Result<TokenStream> {
    let (ident, tag) = (&variant.ident, snake_case(&variant.ident));
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            let ty = &fields.unnamed[0].ty;
            Ok(quote! {
                #tag => Self::#ident(
                    <#ty as ::learnt_core::persist::Stored>::from_node(inner)
                        .map_err(|error| error.within(#tag))?
                ),
            })
        }
        fields => {
            let what = format!("{what}::{ident}");
            let fields = named_fields(fields, ident)?;
            let read = read_fields(&quote!(Self::#ident), &what, &quote!(inner), &fields);
            Ok(quote!(#tag => #read,))
        }
    }
}

fn unknown_variant(what: &str, word: &TokenStream) -> TokenStream {
    let message = format!("{what}: unknown variant `{{}}`");
    quote! {
        return ::core::result::Result::Err(
            ::learnt_core::persist::invalid(::std::format!(#message, #word))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn tokens(input: DeriveInput) -> String {
        derive(&input).unwrap().to_string()
    }

    #[test]
    fn structs_refuse_unknown_fields_then_validate() {
        let code = tokens(parse_quote! {
            #[stored(validate = shapes)]
            struct S<T: Stored> { r#type: u64, b: T }
        });
        let parts = [
            quote!(impl<T: Stored> ::learnt_core::persist::Stored for S<T>),
            quote!(node.only("S", &["type", "b"])?;),
            quote!(r#type: node.field::<u64>("type")?),
            quote!(value.shapes()?;),
        ];
        for part in parts {
            assert!(code.contains(&part.to_string()), "no `{part}` in {code}");
        }
    }

    #[test]
    fn declared_shapes_and_numbers_are_checked() {
        let code = tokens(parse_quote! {
            struct S {
                #[shape(classes, columns)]
                #[finite]
                means: Matrix,
                #[shape(2)]
                ends: Vec<f64>,
                #[below(classes)]
                codes: Vec<u32>,
            }
        });
        let parts = [
            quote!(sizes.check(
                "means",
                &value.means,
                &[
                    ::learnt_core::persist::Side::Named("classes"),
                    ::learnt_core::persist::Side::Named("columns")
                ]
            )?;),
            quote!(::learnt_core::persist::check_numbers),
            quote!(&[::learnt_core::persist::Side::Fixed(2)]),
            quote!(sizes.below("codes", &value.codes, "classes")?;),
        ];
        for part in &parts {
            let part = part.to_string();
            assert!(code.contains(part.trim_end_matches(')')), "no `{part}` in {code}");
        }
    }

    #[test]
    fn enums_carry_their_name() {
        let code = tokens(parse_quote!(
            enum E {
                FirstWord,
                Value(f64),
                Fields { a: u64 },
            }
        ));
        let parts = [
            quote!("first_word" => Self::FirstWord,),
            quote!(<f64 as ::learnt_core::persist::Stored>::from_node(inner)),
            quote!(Self::Fields { a: inner.field::<u64>("a")? }),
        ];
        for part in parts {
            assert!(code.contains(&part.to_string()), "no `{part}` in {code}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = |input: DeriveInput| derive(&input).unwrap_err().to_string();
        assert!(
            error(parse_quote!(
                struct S(u64);
            ))
            .contains("names")
        );
        assert!(
            error(parse_quote!(
                enum E {
                    A(u64, u64),
                }
            ))
            .contains("names")
        );
        assert!(
            error(parse_quote!(
                #[stored(check = f)]
                struct S;
            ))
            .contains("unknown")
        );
    }
}
