//! `#[derive(Choice)]`: an enum of words and values as the type of a parameter.

use crate::bounds::{self, Bounds};
use crate::input::{
    concrete, documentation, fail, flag, items, once, snake_case, text, unknown_item, variants,
};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::BTreeSet;
use syn::{DeriveInput, Fields, Ident, LitStr, Result, Type, Variant};

/// The implementations of `ParamType`, `Display` and `Stored`.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    concrete(&input.generics, "Choice")?;
    let variants = variants(input, "Choice")?;
    let options = variants.into_iter().map(Choice::read).collect::<Result<Vec<_>>>()?;
    distinct(&options)?;

    let param_type = param_type_impl(&input.ident, &options);
    let display = display_impl(&input.ident, &options);
    let stored = stored_impl(&input.ident);
    Ok(quote!(#param_type #display #stored))
}

/// One variant.
struct Choice<'a> {
    ident: &'a Ident,
    doc: String,
    form: Form<'a>,
}

/// What a variant is for users.
enum Form<'a> {
    /// A word.
    Word(String),
    /// Nothing; the word is how it prints and another way to say it.
    Null(String),
    /// Any value of a type.
    Of(&'a Type, Bounds),
}

impl<'a> Choice<'a> {
    fn read(variant: &'a Variant) -> Result<Self> {
        let form = match &variant.fields {
            Fields::Unit => word(variant)?,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Form::Of(&fields.unnamed[0].ty, value_bounds(variant)?)
            }
            _ => return fail(&variant.ident, "a choice is a word or carries one unnamed value"),
        };
        Ok(Choice { ident: &variant.ident, doc: documentation(&variant.attrs), form })
    }

    fn word(&self) -> Option<&String> {
        match &self.form {
            Form::Word(word) | Form::Null(word) => Some(word),
            Form::Of(..) => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self.form, Form::Null(_))
    }
}

fn word(variant: &Variant) -> Result<Form<'_>> {
    let mut none = false;
    let mut given: Option<LitStr> = None;
    items(&variant.attrs, "choice", |item, meta| match item {
        "name" => once(&mut given, text(meta)?, meta),
        "none" => flag(&mut none, meta),
        _ => Err(unknown_item(meta, "name, none (and bounds, on a variant with a value)")),
    })?;
    let word = given.map_or_else(|| snake_case(&variant.ident), |given| given.value());
    Ok(if none { Form::Null(word) } else { Form::Word(word) })
}

fn value_bounds(variant: &Variant) -> Result<Bounds> {
    let mut bounds = Bounds::default();
    items(&variant.attrs, "choice", |item, meta| match bounds.read(item, meta)? {
        true => Ok(()),
        false => Err(unknown_item(meta, bounds::ITEMS)),
    })?;
    Ok(bounds)
}

fn distinct(options: &[Choice]) -> Result<()> {
    let mut words = BTreeSet::new();
    for option in options {
        if option.word().is_some_and(|word| !words.insert(word)) {
            return fail(option.ident, "another variant has this word");
        }
    }
    match options.iter().filter(|option| option.is_null()).nth(1) {
        Some(second) => fail(second.ident, "another variant is `none`"),
        None => Ok(()),
    }
}

fn param_type_impl(ident: &Ident, options: &[Choice]) -> TokenStream {
    let described = options.iter().map(described);
    let values = options.iter().map(to_value_arm);
    let from_value = from_value_fn(options);
    quote! {
        #[automatically_derived]
        impl ::learnt_core::params::ParamType for #ident {
            fn kind() -> ::learnt_core::params::Kind {
                ::learnt_core::params::Kind::choice(::std::vec![#(#described),*])
            }
            fn to_value(&self) -> ::learnt_core::params::Value {
                match self {
                    #(#values)*
                }
            }
            #from_value
        }
    }
}

fn described(Choice { doc, form, .. }: &Choice) -> TokenStream {
    let variant = quote!(::learnt_core::params::Variant);
    match form {
        Form::Word(word) => quote!(#variant::Word(#word, #doc)),
        Form::Null(_) => quote!(#variant::Null(#doc)),
        Form::Of(ty, bounds) => {
            let kind = bounds.kind(ty);
            quote!(#variant::Of(#kind, #doc))
        }
    }
}

fn to_value_arm(Choice { ident, form, .. }: &Choice) -> TokenStream {
    let value = quote!(::learnt_core::params::Value);
    match form {
        Form::Word(word) => {
            quote!(Self::#ident => #value::Text(::std::string::String::from(#word)),)
        }
        Form::Null(_) => quote!(Self::#ident => #value::Null,),
        Form::Of(ty, _) => quote! {
            Self::#ident(inner) => <#ty as ::learnt_core::params::ParamType>::to_value(inner),
        },
    }
}

/// Words first, then the variants that carry a value.
fn from_value_fn(options: &[Choice]) -> TokenStream {
    let null = options.iter().filter(|option| option.is_null()).map(|Choice { ident, .. }| {
        quote! {
            if let ::learnt_core::params::Value::Null = value {
                return ::core::option::Option::Some(Self::#ident);
            }
        }
    });
    let words = read_word(options);
    let values = read_value(options);
    quote! {
        fn from_value(value: &::learnt_core::params::Value) -> ::core::option::Option<Self> {
            #(#null)*
            #words
            #values
            ::core::option::Option::None
        }
    }
}

fn read_word(options: &[Choice]) -> Option<TokenStream> {
    let arms: Vec<TokenStream> = options
        .iter()
        .filter_map(|option| {
            let (word, ident) = (option.word()?, option.ident);
            Some(quote!(#word => return ::core::option::Option::Some(Self::#ident),))
        })
        .collect();
    (!arms.is_empty()).then(|| {
        quote! {
            if let ::learnt_core::params::Value::Text(word) = value {
                match word.as_str() {
                    #(#arms)*
                    _ => {}
                }
            }
        }
    })
}

/// A whole number goes to the first variant of whole numbers, in a second pass to the others; a
/// real number never goes to a variant of whole numbers.
fn read_value(options: &[Choice]) -> Option<TokenStream> {
    let attempts: Vec<TokenStream> = options
        .iter()
        .filter_map(|option| match &option.form {
            Form::Of(ty, _) => Some(attempt(option.ident, ty)),
            _ => None,
        })
        .collect();
    (!attempts.is_empty()).then(|| {
        quote! {
            let fits = |kind: ::learnt_core::params::Kind, first: bool| match (value, kind) {
                (::learnt_core::params::Value::Int(_), ::learnt_core::params::Kind::Int(_)) => first,
                (::learnt_core::params::Value::Int(_), _) => !first,
                (::learnt_core::params::Value::Real(_), ::learnt_core::params::Kind::Int(_)) => false,
                _ => first,
            };
            for first in [true, false] {
                #(#attempts)*
            }
        }
    })
}

fn attempt(ident: &Ident, ty: &Type) -> TokenStream {
    quote! {
        if fits(<#ty as ::learnt_core::params::ParamType>::kind(), first) {
            let inner = <#ty as ::learnt_core::params::ParamType>::from_value(value);
            if let ::core::option::Option::Some(inner) = inner {
                return ::core::option::Option::Some(Self::#ident(inner));
            }
        }
    }
}

fn display_impl(ident: &Ident, options: &[Choice]) -> TokenStream {
    let arms = options.iter().map(|Choice { ident, form, .. }| match form {
        Form::Word(word) | Form::Null(word) => quote!(Self::#ident => f.write_str(#word),),
        Form::Of(ty, _) => quote! {
            Self::#ident(inner) => ::core::fmt::Display::fmt(
                &<#ty as ::learnt_core::params::ParamType>::to_value(inner),
                f,
            ),
        },
    });
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Display for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    #(#arms)*
                }
            }
        }
    }
}

fn stored_impl(ident: &Ident) -> TokenStream {
    let message = format!("{{value}} is no {ident}");
    quote! {
        #[automatically_derived]
        impl ::learnt_core::persist::Stored for #ident {
            fn to_node(&self) -> ::learnt_core::persist::Node {
                let value = <Self as ::learnt_core::params::ParamType>::to_value(self);
                ::learnt_core::persist::Stored::to_node(&value)
            }
            fn from_node(
                node: &::learnt_core::persist::Node,
            ) -> ::learnt_core::error::Result<Self> {
                let value =
                    <::learnt_core::params::Value as ::learnt_core::persist::Stored>::from_node(node)?;
                <Self as ::learnt_core::params::ParamType>::from_value(&value)
                    .ok_or_else(|| ::learnt_core::persist::invalid(::std::format!(#message)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn error(input: DeriveInput) -> String {
        derive(&input).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn words_and_values() {
        let input: DeriveInput = parse_quote! {
            enum E {
                /// Everything.
                #[choice(none)]
                All,
                #[choice(name = "newton-cg")]
                NewtonCg,
                #[choice(range = 1..)]
                Count(usize),
            }
        };
        let code = derive(&input).unwrap().to_string();
        let parts = [
            quote!(Variant::Null("Everything.")),
            quote!(Variant::Word("newton-cg", "")),
            quote!(Self::All => ::learnt_core::params::Value::Null,),
            quote!("all" => return ::core::option::Option::Some(Self::All),),
            quote!(low: ::core::option::Option::Some((1.0, true))),
        ];
        for part in parts {
            assert!(code.contains(&part.to_string()), "no `{part}` in {code}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert!(
            error(parse_quote!(
                struct S;
            ))
            .contains("enum")
        );
        assert!(
            error(parse_quote!(
                enum E {}
            ))
            .contains("variants")
        );
        assert!(
            error(parse_quote!(
                enum E {
                    A(u64, u64),
                }
            ))
            .contains("one unnamed value")
        );
        assert!(
            error(parse_quote!(
                enum E {
                    #[choice(range = 1..)]
                    A,
                }
            ))
            .contains("unknown")
        );
        assert!(
            error(parse_quote!(
                enum E {
                    #[choice(none)]
                    A(u64),
                }
            ))
            .contains("unknown")
        );
        assert!(
            error(parse_quote!(
                enum E {
                    A,
                    #[choice(name = "a")]
                    B,
                }
            ))
            .contains("word")
        );
        assert!(
            error(parse_quote!(
                enum E {
                    #[choice(none)]
                    A,
                    #[choice(none)]
                    B,
                }
            ))
            .contains("none")
        );
    }
}
