//! `#[derive(Model)]`: what training leaves behind, stored, described and shown in its roles.

use crate::input::{
    documentation, fail, field_name, flag, items, name, once, struct_fields, text, unknown_item,
};
use crate::stored;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::BTreeMap;
use syn::{DeriveInput, Field, Ident, LitInt, LitStr, Result, Token, Type, Visibility};

/// The implementations of `Model`, `Described` and `Stored`.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let fields = struct_fields(input, "Model")?;
    let options = Options::read(input)?;
    let attributes = public_fields(&fields)?;

    let stored = stored::struct_impl(input, &fields, options.validate.as_ref())?;
    let model = model_impl(input, &options, &attributes, &fields);
    let described = described_impl(input, &options, &attributes);
    Ok(quote!(#stored #model #described))
}

/// What `#[model(...)]` says about the struct.
#[derive(Default)]
struct Options {
    roles: BTreeMap<String, Ident>,
    linear: bool,
    looks: bool,
    prepares: bool,
    version: Option<LitInt>,
    validate: Option<Ident>,
    report: Option<Ident>,
    converged: Option<Ident>,
    attributes: Option<Ident>,
    questions: Option<Ident>,
    parts: Option<Ident>,
    members: Option<Ident>,
    accepts: Option<Ident>,
    remarks: Option<Ident>,
    terms: Option<Ident>,
    sure: Option<Ident>,
}

impl Options {
    fn read(input: &DeriveInput) -> Result<Self> {
        let mut options = Options::default();
        items(&input.attrs, "model", |item, meta| match item {
            "version" => once(&mut options.version, version(meta.value()?.parse()?)?, meta),
            "validate" => once(&mut options.validate, name(meta)?, meta),
            "report" => once(&mut options.report, name(meta)?, meta),
            "converged" => once(&mut options.converged, name(meta)?, meta),
            "attributes" => once(&mut options.attributes, name(meta)?, meta),
            "questions" => once(&mut options.questions, name(meta)?, meta),
            "accepts" => once(&mut options.accepts, name(meta)?, meta),
            "parts" => once(&mut options.parts, name(meta)?, meta),
            "members" => once(&mut options.members, name(meta)?, meta),
            "remarks" => once(&mut options.remarks, name(meta)?, meta),
            "terms" => once(&mut options.terms, name(meta)?, meta),
            "sure" => once(&mut options.sure, name(meta)?, meta),
            "looks" => flag(&mut options.looks, meta),
            "prepares" => flag(&mut options.prepares, meta),
            role if !role.is_empty() && (role == "regressor" || !meta.input.peek(Token![=])) => {
                let word = meta.path.require_ident()?.clone();
                if meta.input.peek(Token![=]) {
                    let how = name(meta)?;
                    match how == "linear" {
                        true => flag(&mut options.linear, meta)?,
                        false => return fail(how, "a regressor may be `linear`"),
                    }
                }
                match options.roles.insert(role.to_string(), word) {
                    None => Ok(()),
                    Some(_) => Err(meta.error("given twice")),
                }
            }
            _ => Err(unknown_item(
                meta,
                "the roles, version, validate, report, converged, attributes, questions, accepts, \
                 parts, members, remarks, terms, sure, looks, prepares",
            )),
        })?;
        Ok(options)
    }
}

fn version(literal: LitInt) -> Result<LitInt> {
    literal.base10_parse::<u32>().map(|_| literal)
}

/// A public field as users see it.
struct Attribute<'a> {
    transient: bool,
    /// Its first side is one an output.
    per_output: bool,
    ident: &'a Option<Ident>,
    ty: &'a Type,
    name: String,
    doc: String,
}

fn public_fields<'a>(fields: &[&'a Field]) -> Result<Vec<Attribute<'a>>> {
    let mut attributes: Vec<Attribute> = Vec::new();
    for field in fields {
        let Some(attribute) = public_field(field)? else { continue };
        if attributes.iter().any(|other| other.name == attribute.name) {
            return fail(
                attribute.ident,
                format!("two attributes have the name `{}`", attribute.name),
            );
        }
        attributes.push(attribute);
    }
    Ok(attributes)
}

fn public_field(field: &Field) -> Result<Option<Attribute<'_>>> {
    let (mut hidden, mut transient, mut later) = (false, false, false);
    let mut given: Option<LitStr> = None;
    items(&field.attrs, "model", |item, meta| match item {
        "hidden" => flag(&mut hidden, meta),
        "transient" => flag(&mut transient, meta),
        "later" => flag(&mut later, meta),
        "name" => once(&mut given, text(meta)?, meta),
        _ => Err(unknown_item(meta, "name, hidden, transient, later")),
    })?;
    let public = matches!(field.vis, Visibility::Public(_));
    match given {
        Some(given) if hidden || !public => fail(given, "a field that is not shown needs no name"),
        _ if hidden || !public => Ok(None),
        given => Ok(Some(Attribute {
            transient,
            per_output: stored::is_per_output(field)?,
            ident: &field.ident,
            ty: &field.ty,
            name: given.map_or_else(|| field_name(field), |given| given.value()),
            doc: documentation(&field.attrs),
        })),
    }
}

fn model_impl(
    input: &DeriveInput,
    options: &Options,
    attributes: &[Attribute],
    fields: &[&Field],
) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let roles = options.roles.values().map(role_fn);
    let attributes = attributes_expression(options, attributes);
    let report = options.report.as_ref().map(report_fn);
    let converged = options.converged.as_ref().map(|name| converged_fn(name, fields));
    let questions = options.questions.as_ref().map(|_| questions_fns());
    let parts = options.parts.as_ref().map(parts_fn);
    let members = options.members.as_ref().map(members_fn);
    let accepts = options.accepts.as_ref().map(accepts_fn);
    let remarks = options.remarks.as_ref().map(remarks_fn);
    let terms = options.terms.as_ref().map(terms_fn);
    let sure = options.sure.as_ref().map(sure_fn);
    let linear = options.linear.then(|| linear_impl(input));
    let looks = (options.looks || options.linear).then(|| yes_fn("looks"));
    let prepares = options.prepares.then(|| yes_fn("prepares"));
    quote! {
        #linear
        #[automatically_derived]
        impl #impl_generics ::learnt_core::estimator::Model for #ident #type_generics #where_clause {
            #(#roles)*
            fn attributes(
                &self,
            ) -> ::std::vec::Vec<(&'static str, ::learnt_core::persist::Node)> {
                #attributes
            }
            #report
            fn stored(&self) -> ::learnt_core::persist::Node {
                ::learnt_core::persist::Stored::to_node(self)
            }
            fn version(&self) -> u32 {
                <Self as ::learnt_core::estimator::Described>::VERSION
            }
            #converged
            #questions
            #parts
            #members
            #accepts
            #remarks
            #terms
            #sure
            #looks
            #prepares
        }
    }
}

/// Predictions x·coef + intercept.
fn linear_impl(input: &DeriveInput) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics ::learnt_core::estimator::Regressor for #ident #type_generics
        #where_clause
        {
            fn predict_in(
                &self,
                x: &::learnt_core::data::Frame,
                run: &::learnt_core::context::Context,
            ) -> ::learnt_core::error::Result<::learnt_core::data::Matrix> {
                ::learnt_core::linalg::linear_predict(x, &self.coef, &self.intercept, run)
            }
        }
    }
}

/// A model with questions answers them in its own method `answer_question`.
fn questions_fns() -> TokenStream {
    quote! {
        fn questions(&self) -> &'static [::learnt_core::question::Question] {
            <Self as ::learnt_core::estimator::Described>::QUESTIONS
        }
        fn answer(
            &self,
            asked: &::learnt_core::question::Asked,
        ) -> ::learnt_core::error::Result<::learnt_core::answer::Answer> {
            self.answer_question(asked)
        }
    }
}

fn terms_fn(method: &Ident) -> TokenStream {
    quote! {
        fn terms(&self) -> ::core::option::Option<::learnt_core::question::Terms> {
            self.#method()
        }
    }
}

fn sure_fn(method: &Ident) -> TokenStream {
    quote! {
        fn is_sure(&self) -> bool {
            self.#method()
        }
    }
}

fn yes_fn(name: &str) -> TokenStream {
    let name = format_ident!("{name}");
    quote! {
        fn #name(&self) -> bool {
            true
        }
    }
}

fn members_fn(method: &Ident) -> TokenStream {
    quote! {
        fn members(
            &self,
        ) -> ::std::vec::Vec<(
            ::std::string::String,
            &'static ::learnt_core::estimator::About,
            ::std::boxed::Box<dyn ::learnt_core::estimator::Model>,
        )> {
            self.#method()
        }
    }
}

fn parts_fn(method: &Ident) -> TokenStream {
    quote! {
        fn parts(
            &self,
            schema: &::learnt_core::data::Schema,
            classes: &[::learnt_core::data::Label],
        ) -> ::learnt_core::error::Result<::std::vec::Vec<::learnt_core::part::FittedPart<'_>>> {
            self.#method(schema, classes)
        }
    }
}

/// `as_density`, by the trait `Density`: the table of roles in the core says which there are.
fn role_fn(role: &Ident) -> TokenStream {
    let word = role.to_string();
    let capital = word[..1].to_uppercase() + &word[1..];
    let method = format_ident!("as_{word}", span = role.span());
    let role_trait = format_ident!("{capital}", span = role.span());
    quote! {
        fn #method(
            &self,
        ) -> ::core::option::Option<&dyn ::learnt_core::estimator::#role_trait> {
            ::core::option::Option::Some(self)
        }
    }
}

fn accepts_fn(method: &Ident) -> TokenStream {
    quote! {
        fn accepts(&self) -> ::core::option::Option<::learnt_core::estimator::Accepts> {
            ::core::option::Option::Some(self.#method())
        }
    }
}

fn remarks_fn(method: &Ident) -> TokenStream {
    quote! {
        fn remarks(
            &self,
            schema: &::learnt_core::data::Schema,
        ) -> ::std::vec::Vec<::std::string::String> {
            self.#method(schema)
        }
    }
}

fn attributes_expression(options: &Options, attributes: &[Attribute]) -> TokenStream {
    if let Some(method) = &options.attributes {
        return quote!(self.#method());
    }
    let pair = |Attribute { ident, ty, name, .. }: &Attribute| quote!((#name, <#ty as ::learnt_core::persist::Stored>::to_node(&self.#ident)));
    let pairs = attributes.iter().filter(|attribute| !attribute.transient).map(pair);
    if attributes.iter().all(|attribute| !attribute.transient) {
        return quote!(::std::vec![#(#pairs),*]);
    }
    // What a model file does not hold is no attribute of a model that was read from one.
    let others = attributes.iter().filter(|attribute| attribute.transient).map(|attribute| {
        let (ident, ty, pair) = (attribute.ident, attribute.ty, pair(attribute));
        quote! {
            if self.#ident != <#ty as ::core::default::Default>::default() {
                attributes.push(#pair);
            }
        }
    });
    quote! {
        let mut attributes = ::std::vec![#(#pairs),*];
        #(#others)*
        attributes
    }
}

fn report_fn(method: &Ident) -> TokenStream {
    quote! {
        fn report(
            &self,
            names: &::learnt_core::names::Names,
        ) -> ::core::option::Option<::learnt_core::answer::Answer> {
            ::core::option::Option::Some(self.#method(names))
        }
    }
}

fn converged_fn(name: &Ident, fields: &[&Field]) -> TokenStream {
    let answer = match fields.iter().any(|field| field.ident.as_ref() == Some(name)) {
        true => quote!(self.#name),
        false => quote!(self.#name()),
    };
    quote! {
        fn converged(&self) -> bool {
            #answer
        }
    }
}

fn described_impl(input: &DeriveInput, options: &Options, attributes: &[Attribute]) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let pairs = attributes.iter().map(|Attribute { name, doc, .. }| quote!((#name, #doc)));
    let transient = attributes.iter().filter(|a| a.transient).map(|attribute| &attribute.name);
    let per_output = attributes.iter().filter(|a| a.per_output).map(|attribute| &attribute.name);
    let questions = options
        .questions
        .as_ref()
        .map(|list| quote!(const QUESTIONS: &'static [::learnt_core::question::Question] = #list;));
    let version = options.version.as_ref().map_or_else(|| quote!(1), |version| quote!(#version));
    quote! {
        #[automatically_derived]
        impl #impl_generics ::learnt_core::estimator::Described for #ident #type_generics
        #where_clause
        {
            const FIELDS: &'static [(&'static str, &'static str)] = &[#(#pairs),*];
            const VERSION: u32 = #version;
            const TRANSIENT: &'static [&'static str] = &[#(#transient),*];
            const PER_OUTPUT: &'static [&'static str] = &[#(#per_output),*];
            #questions
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn public_fields_are_attributes() {
        let input: DeriveInput = parse_quote! {
            #[model(regressor, version = 3, report = table, converged = done)]
            struct M {
                /// Middles.
                #[model(name = "cluster_centers")]
                pub centers: Matrix,
                #[model(hidden)]
                pub secret: f64,
                done: bool,
            }
        };
        let code = derive(&input).unwrap().to_string();
        let parts = [
            quote!(&[("cluster_centers", "Middles.")]),
            quote!(VERSION: u32 = 3;),
            quote!(::std::vec![(
                "cluster_centers",
                <Matrix as ::learnt_core::persist::Stored>::to_node(&self.centers)
            )]),
            quote!(node.only("M", &["centers", "secret", "done"])?;),
            quote!(fn as_regressor),
            quote!(Some(self.table(names))),
            quote!(
                fn converged(&self) -> bool {
                    self.done
                }
            ),
        ];
        for part in parts {
            assert!(code.contains(&part.to_string()), "no `{part}` in {code}");
        }
        assert!(!code.contains("as_classifier"));
    }

    #[test]
    fn transient_fields_are_shown_and_not_stored() {
        let input: DeriveInput = parse_quote! {
            #[model(clusterer, density)]
            struct M {
                pub weight: f64,
                #[model(transient)]
                pub labels: Vec<u32>,
            }
        };
        let code = derive(&input).unwrap().to_string();
        let shown =
            quote!(("labels", <Vec<u32> as ::learnt_core::persist::Stored>::to_node(&self.labels)));
        assert!(code.contains(&shown.to_string()));
        assert!(code.contains(&quote!(labels: ::core::default::Default::default()).to_string()));
        assert!(!code.contains(&quote!(::std::string::String::from("labels")).to_string()));
        assert!(code.contains("as_density") && code.contains("as_clusterer"));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |input: DeriveInput| derive(&input).err().map(|e| e.to_string()).unwrap();
        assert!(
            error(parse_quote!(
                enum E {
                    A,
                }
            ))
            .contains("struct")
        );
        assert!(
            error(parse_quote!(
                #[model(ranker = 3)]
                struct M {
                    a: f64,
                }
            ))
            .contains("unknown")
        );
        assert!(
            error(parse_quote!(
                #[model(regressor, regressor)]
                struct M;
            ))
            .contains("twice")
        );
        assert!(
            error(parse_quote!(
                struct M {
                    #[model(name = "b")]
                    a: f64,
                }
            ))
            .contains("not shown")
        );
    }
}
