//! `#[derive(Inputs)]` and `#[derive(Output)]`: what a function is computed from, and what it gives.

use crate::input::{
    documentation, fail, field_name, flag, items, once, struct_fields, text, unknown_item,
};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Field, GenericParam, Lifetime, Result};

/// The implementation of `Inputs` for a struct with one lifetime.
pub(crate) fn inputs(input: &DeriveInput) -> Result<TokenStream> {
    let fields = struct_fields(input, "Inputs")?;
    let lifetime = only_lifetime(input)?;
    let ident = &input.ident;
    let specs = fields.iter().map(|field| spec(field, lifetime)).collect::<Result<Vec<_>>>()?;
    let taken = fields.iter().enumerate().map(|(index, field)| {
        let ident = &field.ident;
        quote!(#ident: ::learnt_core::function::take(given, #index, &Self::SPECS[#index])?)
    });
    let given = fields.iter().map(|field| {
        let ident = &field.ident;
        quote!(::learnt_core::function::InputType::give(&self.#ident))
    });
    Ok(quote! {
        #[automatically_derived]
        impl<#lifetime> ::learnt_core::function::Inputs<#lifetime> for #ident<#lifetime> {
            const SPECS: &'static [::learnt_core::function::InputSpec] = &[#(#specs),*];

            fn from_given(
                given: &[::core::option::Option<::learnt_core::function::Given<#lifetime>>],
            ) -> ::learnt_core::error::Result<Self> {
                ::core::result::Result::Ok(Self { #(#taken),* })
            }

            fn given(
                &self,
            ) -> ::std::vec::Vec<::core::option::Option<::learnt_core::function::Given<#lifetime>>> {
                ::std::vec![#(#given),*]
            }
        }
    })
}

fn only_lifetime(input: &DeriveInput) -> Result<&Lifetime> {
    let mut parameters = input.generics.params.iter();
    match (parameters.next(), parameters.next()) {
        (Some(GenericParam::Lifetime(parameter)), None) => Ok(&parameter.lifetime),
        _ => fail(&input.ident, "derive(Inputs) needs a struct with one lifetime and no types"),
    }
}

fn spec(field: &Field, lifetime: &Lifetime) -> Result<TokenStream> {
    let (mut missing, mut apart, mut given) = (false, false, None);
    items(&field.attrs, "input", |item, meta| match item {
        "missing" => flag(&mut missing, meta),
        "apart" => flag(&mut apart, meta),
        "name" => once(&mut given, text(meta)?, meta),
        _ => Err(unknown_item(meta, "missing, apart, name")),
    })?;
    let name = given.map_or_else(|| field_name(field), |given| given.value());
    let (doc, ty) = (documentation(&field.attrs), &field.ty);
    let of = quote!(<#ty as ::learnt_core::function::InputType<#lifetime>>);
    Ok(quote! {
        ::learnt_core::function::InputSpec {
            name: #name,
            doc: #doc,
            kind: #of::KIND,
            optional: #of::OPTIONAL,
            missing: #missing,
            apart: #apart,
        }
    })
}

/// The implementation of `Output` for a struct whose fields are values.
pub(crate) fn output(input: &DeriveInput) -> Result<TokenStream> {
    let fields = struct_fields(input, "Output")?;
    let ident = &input.ident;
    let described = fields.iter().map(|field| {
        let (name, doc) = (field_name(field), documentation(&field.attrs));
        quote!((#name, #doc))
    });
    let into = fields.iter().map(|field| into_datum(field)).collect::<Result<Vec<_>>>()?;
    let names = fields.iter().map(|field| &field.ident);
    Ok(quote! {
        #[automatically_derived]
        impl ::learnt_core::function::Output for #ident {
            const FIELDS: &'static [(&'static str, &'static str)] = &[#(#described),*];

            fn into_data(self) -> ::std::vec::Vec<::learnt_core::answer::Datum> {
                ::std::vec![#(#into),*]
            }

            fn from_data(
                data: ::std::vec::Vec<::learnt_core::answer::Datum>,
            ) -> ::learnt_core::error::Result<Self> {
                let mut data = data.into_iter();
                ::core::result::Result::Ok(Self {
                    #(#names: ::learnt_core::answer::DatumType::from_datum(
                        data.next().unwrap_or(::learnt_core::answer::Datum::Missing),
                    )?),*
                })
            }
        }
    })
}

/// A field as a datum; `#[output(p)]` marks a p-value.
fn into_datum(field: &Field) -> Result<TokenStream> {
    let mut p = false;
    items(&field.attrs, "output", |item, meta| match item {
        "p" => flag(&mut p, meta),
        _ => Err(unknown_item(meta, "p")),
    })?;
    let ident = &field.ident;
    Ok(match p {
        true => quote!(::learnt_core::answer::Datum::P(self.#ident)),
        false => quote!(::learnt_core::answer::DatumType::into_datum(self.#ident)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn inputs_need_their_lifetime() {
        let input: DeriveInput = parse_quote!(
            struct Points<'a> {
                /// Points.
                x: MatRef<'a>,
            }
        );
        let code = inputs(&input).unwrap().to_string();
        assert!(code.contains("name : \"x\"") && code.contains("doc : \"Points.\""), "{code}");
        assert!(
            inputs(&parse_quote!(
                struct Points {
                    x: f64,
                }
            ))
            .is_err()
        );
    }

    #[test]
    fn a_p_value_is_marked() {
        let input: DeriveInput = parse_quote!(
            struct Test {
                statistic: f64,
                #[output(p)]
                p_value: f64,
            }
        );
        assert!(output(&input).unwrap().to_string().contains("Datum :: P (self . p_value)"));
    }
}
