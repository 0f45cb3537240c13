//! The learners among the fields of `#[derive(Params)]`.

use crate::params::Param;
use proc_macro2::TokenStream;
use quote::quote;

/// The learners inside the fields that say `learner = role`, and inside flattened structs. Where there are
/// none, the trait's own methods serve.
pub(crate) fn functions(params: &[Param]) -> TokenStream {
    let holding = || params.iter().filter(|param| param.flatten || param.role.is_some());
    if holding().next().is_none() {
        return TokenStream::new();
    }
    let all = holding().map(|Param { ident, ty, name, flatten, .. }| match flatten {
        true => quote!(out.extend(::learnt_core::params::Params::learners(&self.#ident));),
        false => quote! {
            ::learnt_core::params::add_learners(
                &mut out,
                ::learnt_core::params::Params::specs(self),
                #name,
                <#ty as ::learnt_core::params::ParamType>::learners(&self.#ident, #name),
            );
        },
    });
    let one = holding().map(|Param { ident, ty, name: field, flatten, .. }| {
        let found = match flatten {
            true => quote!(::learnt_core::params::Params::learner_mut(&mut self.#ident, name)),
            false => quote! {
                <#ty as ::learnt_core::params::ParamType>::learner_mut(
                    &mut self.#ident,
                    #field,
                    name,
                )
            },
        };
        quote! {
            if let ::core::option::Option::Some(learner) = #found {
                return ::core::option::Option::Some(learner);
            }
        }
    });
    let replaced = params.iter().filter_map(replacement);
    quote! {
        fn learners(&self) -> ::std::vec::Vec<::learnt_core::params::NestedLearner<'_>> {
            let mut out = ::std::vec::Vec::new();
            #(#all)*
            out
        }
        fn learner_mut(
            &mut self,
            name: &str,
        ) -> ::core::option::Option<&mut dyn ::learnt_core::estimator::AnyEstimator> {
            #(#one)*
            ::core::option::Option::None
        }
        fn replace_learner(
            &mut self,
            name: &str,
            value: &::learnt_core::params::Value,
        ) -> ::core::option::Option<::learnt_core::error::Result<()>> {
            #(#replaced)*
            ::core::option::Option::None
        }
    }
}

/// Another learner in the place of one in a list.
fn replacement(param: &Param) -> Option<TokenStream> {
    let Param { ident, ty, name: field, .. } = param;
    if param.flatten {
        return Some(quote! {
            let done = ::learnt_core::params::Params::replace_learner(&mut self.#ident, name, value);
            if done.is_some() {
                return done;
            }
        });
    }
    let role = match param.role.as_ref()?.to_string().as_str() {
        "any" => quote!(::core::option::Option::None),
        role => quote!(::core::option::Option::Some(#role)),
    };
    Some(quote! {
        match <#ty as ::learnt_core::params::ParamType>::replace(
            &mut self.#ident,
            name,
            value,
            #role,
        ) {
            ::core::option::Option::Some(true) => {
                return ::core::option::Option::Some(::core::result::Result::Ok(()));
            }
            ::core::option::Option::Some(false) => {
                let error = ::learnt_core::params::not_a_learner::<#ty>(#field, name, value);
                return ::core::option::Option::Some(::core::result::Result::Err(error));
            }
            ::core::option::Option::None => {}
        }
    })
}
