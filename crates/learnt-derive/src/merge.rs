//! `#[derive(Merge)]`: two summaries into one, field by field.

use crate::input::{fail, items, named_fields, once, unknown_item, variants};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Field, Fields, Ident, Path, Result, Variant};

/// The implementation of `Merge` for a struct or an enum.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let body = match &input.data {
        Data::Struct(data) => {
            let fields = named_fields(&data.fields, ident)?;
            let merged = fields
                .iter()
                .map(|field| {
                    let name = &field.ident;
                    merged(field, &quote!(self.#name), &quote!(later.#name))
                })
                .collect::<Result<Vec<_>>>()?;
            quote!(Self { #(#merged),* })
        }
        Data::Enum(_) => enum_code(input)?,
        Data::Union(_) => return fail(ident, "derive(Merge) needs a struct or an enum"),
    };
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::learnt_core::rounds::Merge for #ident #type_generics #where_clause {
            fn merge(self, later: Self) -> ::learnt_core::error::Result<Self> {
                ::core::result::Result::Ok(#body)
            }
        }
    })
}

/// `name: a and b merged`.
fn merged(field: &Field, a: &TokenStream, b: &TokenStream) -> Result<TokenStream> {
    let (name, value) = (&field.ident, merged_value(field, a, b)?);
    Ok(quote!(#name: #value))
}

/// `a` and `b` merged as the field says.
fn merged_value(field: &Field, a: &TokenStream, b: &TokenStream) -> Result<TokenStream> {
    let mut way: Option<Way> = None;
    items(&field.attrs, "merge", |item, meta| match item {
        "keep" => once(&mut way, Way::Keep, meta),
        "with" => once(&mut way, Way::With(meta.value()?.parse()?), meta),
        _ => Err(unknown_item(meta, "keep, with")),
    })?;
    Ok(match way {
        None => quote!(::learnt_core::rounds::Merge::merge(#a, #b)?),
        Some(Way::Keep) => quote!(::learnt_core::rounds::same(#a, #b)?),
        Some(Way::With(function)) => quote!(#function(#a, #b)),
    })
}

/// How a field is merged if not by its own `Merge`.
enum Way {
    /// Both must be equal.
    Keep,
    /// By a function of both.
    With(Path),
}

fn enum_code(input: &DeriveInput) -> Result<TokenStream> {
    let arms = variants(input, "Merge")?.into_iter().map(arm).collect::<Result<Vec<_>>>()?;
    let message = format!("summaries of two stages: {}", input.ident);
    Ok(quote! {
        match (self, later) {
            #(#arms)*
            #[allow(unreachable_patterns)]
            _ => return ::core::result::Result::Err(
                ::learnt_core::error::Error::internal(#message)
            ),
        }
    })
}

fn arm(variant: &Variant) -> Result<TokenStream> {
    let ident = &variant.ident;
    match &variant.fields {
        Fields::Unit => Ok(quote!((Self::#ident, Self::#ident) => Self::#ident,)),
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            let value = merged_value(&fields.unnamed[0], &quote!(a), &quote!(b))?;
            Ok(quote!((Self::#ident(a), Self::#ident(b)) => Self::#ident(#value),))
        }
        fields => {
            let fields = named_fields(fields, ident)?;
            let names: Vec<&Option<Ident>> = fields.iter().map(|field| &field.ident).collect();
            let (a, b): (Vec<Ident>, Vec<Ident>) =
                (0..fields.len()).map(|k| (format_ident!("a{k}"), format_ident!("b{k}"))).unzip();
            let merged = fields
                .iter()
                .zip(a.iter().zip(&b))
                .map(|(field, (a, b))| merged(field, &quote!(#a), &quote!(#b)))
                .collect::<Result<Vec<_>>>()?;
            Ok(quote! {
                (Self::#ident { #(#names: #a),* }, Self::#ident { #(#names: #b),* }) => {
                    Self::#ident { #(#merged),* }
                }
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn fields_merge_as_they_say() {
        let code = derive(&parse_quote! {
            struct S {
                sums: Vec<f64>,
                #[merge(keep)]
                names: Vec<String>,
                #[merge(with = f64::max)]
                high: f64,
            }
        });
        let code = code.unwrap().to_string();
        let parts = [
            quote!(sums: ::learnt_core::rounds::Merge::merge(self.sums, later.sums)?),
            quote!(names: ::learnt_core::rounds::same(self.names, later.names)?),
            quote!(high: f64::max(self.high, later.high)),
        ];
        for part in parts {
            assert!(code.contains(&part.to_string()), "no `{part}` in {code}");
        }
    }

    #[test]
    fn variants_merge_with_their_own_kind() {
        let code = derive(&parse_quote!(
            enum E {
                A(Sums),
                B { count: u64 },
            }
        ));
        let code = code.unwrap().to_string();
        assert!(code.contains(&quote!((Self::A(a), Self::A(b)) =>).to_string()));
        assert!(code.contains("summaries of two stages"));
        assert!(
            derive(&parse_quote!(
                struct S {
                    #[merge(sum)]
                    a: f64,
                }
            ))
            .is_err()
        );
    }
}
