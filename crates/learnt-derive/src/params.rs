//! `#[derive(Params)]`: fields become parameters that are known by name.

use crate::bounds::{self, Bounds, number};
use crate::input::{
    concrete, documentation, expression, fail, field_name, flag, items, name, once, struct_fields,
    text, unknown_item,
};
use crate::learners;
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::BTreeSet;
use syn::meta::ParseNestedMeta;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    DeriveInput, Field, Ident, Lit, LitStr, Path, Result, Token, Type, Visibility, parenthesized,
    parse2,
};

/// The implementations of `Params` and `Default`.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    concrete(&input.generics, "Params")?;
    let fields = struct_fields(input, "Params")?;
    let params = fields.into_iter().map(Param::read).collect::<Result<Vec<_>>>()?;
    distinct(&params)?;
    let options = Options::read(input)?;

    let ident = &input.ident;
    let doc = documentation(&input.attrs);
    let defaults = default_impl(ident, &params);
    let specs = specs_fn(ident, &params);
    let get = get_fn(&params);
    let set = set_fn(&params);
    let constraints = constraints_fn(&params, &options);
    let learners = learners::functions(&params);
    Ok(quote! {
        #defaults

        #[automatically_derived]
        #[allow(unused_variables, unused_mut, clippy::match_single_binding)]
        impl ::learnt_core::params::Params for #ident {
            fn documentation(&self) -> &'static str {
                #doc
            }
            #specs
            #get
            #set
            #constraints
            #learners
        }
    })
}

/// What `#[params(...)]` says about the struct.
#[derive(Default)]
struct Options {
    constraints: Option<Ident>,
}

impl Options {
    fn read(input: &DeriveInput) -> Result<Self> {
        let mut options = Options::default();
        items(&input.attrs, "params", |item, meta| match item {
            "constraints" => once(&mut options.constraints, name(meta)?, meta),
            _ => Err(unknown_item(meta, "constraints")),
        })?;
        Ok(options)
    }
}

/// One field with what `#[param(...)]` says about it.
pub(crate) struct Param<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) name: String,
    doc: String,
    default: Option<TokenStream>,
    required: bool,
    pub(crate) flatten: bool,
    /// The role of its learners.
    pub(crate) role: Option<Ident>,
    bounds: Bounds,
    positional: bool,
    search: Option<TokenStream>,
}

impl<'a> Param<'a> {
    fn read(field: &'a Field) -> Result<Self> {
        let Some(ident) = &field.ident else { return fail(field, "the field needs a name") };
        if !matches!(field.vis, Visibility::Public(_)) {
            return fail(ident, "parameters are `pub` fields");
        }
        let mut param = Param {
            ident,
            ty: &field.ty,
            name: field_name(field),
            doc: documentation(&field.attrs),
            default: None,
            required: false,
            flatten: false,
            role: None,
            bounds: Bounds::default(),
            positional: false,
            search: None,
        };
        let mut given: Option<LitStr> = None;
        items(&field.attrs, "param", |item, meta| match item {
            "default" => once(&mut param.default, expression(meta.value()?)?, meta),
            "required" => flag(&mut param.required, meta),
            "flatten" => flag(&mut param.flatten, meta),
            "learner" => once(&mut param.role, name(meta)?, meta),
            "positional" => flag(&mut param.positional, meta),
            "name" => once(&mut given, text(meta)?, meta),
            "search" => once(&mut param.search, search(meta, param.ty)?, meta),
            _ if param.bounds.read(item, meta)? => Ok(()),
            _ => {
                let known = format!(
                    "default, required, flatten, learner, {}, positional, name, search",
                    bounds::ITEMS
                );
                Err(unknown_item(meta, &known))
            }
        })?;
        param.agrees(given.is_some())?;
        if let Some(given) = given {
            param.name = given.value();
        }
        Ok(param)
    }

    /// Refuses items that exclude each other.
    fn agrees(&self, renamed: bool) -> Result<()> {
        if self.required && self.default.is_some() {
            return fail(self.ident, "what is required has no default");
        }
        let own = self.required || self.positional || renamed || self.search.is_some();
        match self.flatten && (own || self.role.is_some() || !self.bounds.is_empty()) {
            true => fail(self.ident, "a flattened struct takes nothing but a default"),
            false => Ok(()),
        }
    }

    /// The expression of its default. A learner's type stands for the learner with its defaults.
    fn default(&self) -> TokenStream {
        let ty = self.ty;
        match &self.default {
            None => quote!(<#ty as ::core::default::Default>::default()),
            Some(tokens) => match parse2::<Path>(tokens.clone()) {
                Ok(path) if self.role.is_some() && !path.is_ident("None") => {
                    quote!(<#ty>::from(<#path as ::core::default::Default>::default()))
                }
                _ => tokens.clone(),
            },
        }
    }
}

fn distinct(params: &[Param]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match params.iter().find(|param| !seen.insert(&param.name)) {
        Some(param) => fail(param.ident, format!("two parameters have the name `{}`", param.name)),
        None => Ok(()),
    }
}

/// Reads `= log(low, high)`, `= linear(low, high)` or `= set(value, ...)` as a `Search`.
fn search(meta: &ParseNestedMeta, ty: &Type) -> Result<TokenStream> {
    let scale = name(meta)?;
    let content;
    parenthesized!(content in meta.input);
    let values: Vec<TokenStream> =
        Punctuated::<_, Token![,]>::parse_terminated_with(&content, expression)?
            .into_iter()
            .collect();
    match (scale.to_string().as_str(), values.as_slice()) {
        ("log", [low, high]) => Ok(between(quote!(Log), low, high)),
        ("linear", [low, high]) => Ok(between(quote!(Linear), low, high)),
        ("log" | "linear", _) => fail(scale, "expected two numbers, low and high"),
        ("set", []) => fail(scale, "expected values"),
        ("set", values) => {
            let values = values.iter().map(|value| searched(value, ty));
            Ok(quote!(::learnt_core::params::Search::Set(::std::vec![#(#values),*])))
        }
        _ => fail(scale, "expected log(low, high), linear(low, high) or set(value, ...)"),
    }
}

fn between(scale: TokenStream, low: &TokenStream, high: &TokenStream) -> TokenStream {
    let (low, high) = (number(low.clone()), number(high.clone()));
    quote!(::learnt_core::params::Search::#scale(#low, #high))
}

/// One value of a set. A literal is read as the field's type would read it, so that whole numbers
/// serve real and optional fields; any other expression must be of the field's type.
fn searched(tokens: &TokenStream, ty: &Type) -> TokenStream {
    let Some(value) = literal_value(tokens) else {
        return quote!(<#ty as ::learnt_core::params::ParamType>::to_value(&(#tokens)));
    };
    quote! {{
        let value = #value;
        match <#ty as ::learnt_core::params::ParamType>::from_value(&value) {
            ::core::option::Option::Some(typed) => {
                <#ty as ::learnt_core::params::ParamType>::to_value(&typed)
            }
            ::core::option::Option::None => value,
        }
    }}
}

/// The `Value` of a literal or of `none`.
fn literal_value(tokens: &TokenStream) -> Option<TokenStream> {
    let value = quote!(::learnt_core::params::Value);
    if parse2::<Ident>(tokens.clone()).is_ok_and(|word| word == "none") {
        return Some(quote!(#value::Null));
    }
    let signed = |input: ParseStream| -> Result<Lit> {
        input.parse::<Option<Token![-]>>()?;
        input.parse()
    };
    match signed.parse2(tokens.clone()).ok()? {
        Lit::Bool(_) => Some(quote!(#value::Bool(#tokens))),
        Lit::Int(_) => Some(quote!(#value::Int(#tokens))),
        Lit::Float(_) => Some(quote!(#value::Real(#tokens))),
        Lit::Str(_) => Some(quote!(#value::Text(::std::string::String::from(#tokens)))),
        _ => None,
    }
}

fn default_impl(ident: &Ident, params: &[Param]) -> TokenStream {
    let fields = params.iter().map(|param| {
        let (ident, default) = (param.ident, param.default());
        quote!(#ident: #default)
    });
    quote! {
        #[automatically_derived]
        impl ::core::default::Default for #ident {
            fn default() -> Self {
                Self { #(#fields),* }
            }
        }
    }
}

fn specs_fn(ident: &Ident, params: &[Param]) -> TokenStream {
    let body = match params {
        [] => quote!(&[]),
        params => {
            let specs = params.iter().map(add_spec);
            quote! {
                static SPECS: ::std::sync::LazyLock<::std::vec::Vec<::learnt_core::params::ParamSpec>> =
                    ::std::sync::LazyLock::new(|| {
                        let defaults = <#ident as ::core::default::Default>::default();
                        let mut specs = ::std::vec::Vec::new();
                        #(#specs)*
                        specs
                    });
                &SPECS
            }
        }
    };
    quote! {
        fn specs(&self) -> &'static [::learnt_core::params::ParamSpec] {
            #body
        }
    }
}

/// Adds the spec of a field, or those of a flattened struct with the owner's defaults.
fn add_spec(param: &Param) -> TokenStream {
    let Param { ident, ty, name, doc, bounds, positional, required, search, .. } = param;
    if param.flatten {
        return quote! {
            for spec in ::learnt_core::params::Params::specs(&defaults.#ident) {
                let mut spec = spec.clone();
                if let ::core::result::Result::Ok(value) =
                    ::learnt_core::params::Params::get(&defaults.#ident, spec.name)
                {
                    spec.default = value;
                }
                specs.push(spec);
            }
        };
    }
    let kind = bounds.kind(ty);
    let learners = param.role.is_some();
    let role = param.role.as_ref().filter(|role| *role != "any").map(|role| {
        let role = role.to_string();
        quote!(.with_role(#role))
    });
    let search = match search {
        Some(search) => quote!(::core::option::Option::Some(#search)),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        specs.push(::learnt_core::params::ParamSpec {
            name: #name,
            doc: #doc,
            kind: #kind #role,
            default: <#ty as ::learnt_core::params::ParamType>::to_value(&defaults.#ident),
            required: #required,
            learners: #learners,
            positional: #positional,
            search: #search,
        });
    }
}

fn get_fn(params: &[Param]) -> TokenStream {
    let own = params.iter().filter(|param| !param.flatten);
    let arms = own.map(|Param { ident, ty, name, .. }| {
        quote! {
            #name => ::core::result::Result::Ok(
                <#ty as ::learnt_core::params::ParamType>::to_value(&self.#ident)
            ),
        }
    });
    let flattened = flattened(params).map(|ident| {
        quote! {
            _ if ::learnt_core::params::owns(&self.#ident, name) => {
                ::learnt_core::params::Params::get(&self.#ident, name)
            }
        }
    });
    quote! {
        fn get(&self, name: &str) -> ::learnt_core::error::Result<::learnt_core::params::Value> {
            match name {
                #(#arms)*
                #(#flattened)*
                _ => ::learnt_core::params::get_nested(self, name),
            }
        }
    }
}

fn set_fn(params: &[Param]) -> TokenStream {
    let own = params.iter().filter(|param| !param.flatten);
    let arms = own.map(|Param { ident, ty, name, .. }| {
        quote! {
            #name => {
                let specs = ::learnt_core::params::Params::specs(self);
                self.#ident = ::learnt_core::params::convert::<#ty>(specs, #name, value)?;
                ::core::result::Result::Ok(())
            }
        }
    });
    let flattened = flattened(params).map(|ident| {
        quote! {
            _ if ::learnt_core::params::owns(&self.#ident, name) => {
                ::learnt_core::params::Params::set(&mut self.#ident, name, value)
            }
        }
    });
    quote! {
        fn set(
            &mut self,
            name: &str,
            value: &::learnt_core::params::Value,
        ) -> ::learnt_core::error::Result<()> {
            match name {
                #(#arms)*
                #(#flattened)*
                _ => ::learnt_core::params::set_nested(self, name, value),
            }
        }
    }
}

fn flattened<'a>(params: &'a [Param]) -> impl Iterator<Item = &'a Ident> {
    params.iter().filter(|param| param.flatten).map(|param| param.ident)
}

/// The constraints of flattened structs, then its own.
fn constraints_fn(params: &[Param], options: &Options) -> TokenStream {
    let inner = flattened(params)
        .map(|ident| quote!(::learnt_core::params::Params::constraints(&self.#ident)?;));
    let own = match &options.constraints {
        Some(method) => quote!(self.#method()),
        None => quote!(::core::result::Result::Ok(())),
    };
    quote! {
        fn constraints(&self) -> ::learnt_core::error::Result<()> {
            #(#inner)*
            #own
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn tokens(input: DeriveInput) -> String {
        derive(&input).unwrap().to_string()
    }

    fn error(input: DeriveInput) -> String {
        derive(&input).unwrap_err().to_string()
    }

    #[test]
    fn names_bounds_and_search() {
        let code = tokens(parse_quote! {
            /// A learner.
            #[params(constraints = agree)]
            pub struct S {
                /// Inverse of the penalty.
                #[param(default = 1.0, above = 0, name = "C", search = log(1e-4, 10))]
                pub penalty: f64,
                #[param(positional, search = set(1, none, "all"))]
                pub steps: Steps,
                #[param(learner = classifier, default = linear::Logistic)]
                pub estimator: Learner,
                #[param(flatten)]
                pub growth: Growth,
                #[param(required)]
                pub n: u64,
            }
        });
        let parts = [
            quote!(penalty: 1.0, steps: <Steps as ::core::default::Default>::default()),
            quote!(estimator: <Learner>::from(
                <linear::Logistic as ::core::default::Default>::default()
            )),
            quote!(.with_role("classifier")),
            quote!(::learnt_core::params::Params::set(&mut self.growth, name, value)),
            quote!(required: true),
            quote!(name: "C", doc: "Inverse of the penalty."),
            quote!(low: ::core::option::Option::Some((0.0, false))),
            quote!(Search::Log(1e-4, 10.0)),
            quote!(Value::Text(::std::string::String::from("all"))),
            quote!(self.agree()),
        ];
        for part in parts {
            assert!(code.contains(&part.to_string()), "no `{part}` in {code}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert!(
            error(parse_quote!(
                struct S {
                    a: f64,
                }
            ))
            .contains("`pub`")
        );
        assert!(
            error(parse_quote!(
                struct S(f64);
            ))
            .contains("names")
        );
        assert!(
            error(parse_quote!(
                enum S {
                    A,
                }
            ))
            .contains("struct")
        );
        assert!(
            error(parse_quote!(
                struct S<T> {
                    pub a: T,
                }
            ))
            .contains("generic")
        );
        assert!(
            error(parse_quote!(
                struct S {
                    #[param(min = 1)]
                    pub a: f64,
                }
            ))
            .contains("unknown")
        );
        assert!(
            error(parse_quote!(
                struct S {
                    #[param(default = )]
                    pub a: f64,
                }
            ))
            .contains("value")
        );
        assert!(
            error(parse_quote!(
                struct S {
                    #[param(search = log(1))]
                    pub a: f64,
                }
            ))
            .contains("two numbers")
        );
        assert!(
            error(parse_quote!(
                struct S {
                    #[param(name = "b")]
                    pub a: f64,
                    pub b: f64,
                }
            ))
            .contains("`b`")
        );
        assert!(
            error(parse_quote!(
                struct S {
                    #[param(required, default = 1.0)]
                    pub a: f64,
                }
            ))
            .contains("no default")
        );
        assert!(
            error(parse_quote!(
                struct S {
                    #[param(flatten, range = 0..)]
                    pub a: Growth,
                }
            ))
            .contains("flattened")
        );
    }
}
