//! The endpoints of a host with the meanings of all that they take and give.

use std::collections::BTreeSet;
use std::sync::Arc;

use forecourt_contract::registry::RegisteredEndpoint;
use forecourt_contract::{Caller, Dispatcher, Endpoint};
use serde_json::Value;

use super::super::fit::ANNOTATIONS;
use crate::meaning::{Meaning, Nouns, Place, TypedMember, entity_of, literals, typed};
use crate::shape::Shape;
use crate::wanted::verbs::{MethodClass, class};

/// An endpoint with the meanings of its members.
pub(super) struct TypedEndpoint<'a> {
    pub(super) endpoint: &'a Endpoint,
    /// Its place in the registry.
    pub(super) at: usize,
    /// What it is about.
    pub(super) entity: Option<String>,
    pub(super) inputs: Vec<TypedMember<'a>>,
    pub(super) outputs: Vec<TypedMember<'a>>,
    /// The inputs that it can't be called without.
    pub(super) needs: BTreeSet<&'a str>,
    /// Whether it works something out of whatever it is given, so that its inputs are of no entity of its own.
    pub(super) computes: bool,
    /// Whether the caller lacks a scope for it.
    pub(super) is_beyond: bool,
}

impl<'a> TypedEndpoint<'a> {
    /// An input by its name.
    pub(super) fn input(&self, name: &str) -> Option<&TypedMember<'a>> {
        self.inputs.iter().find(|member| member.path.len() == 1 && member.path[0] == name)
    }

    pub(super) fn takes_in_path(&self, name: &str) -> bool {
        self.endpoint.path.parameters().any(|parameter| parameter == name)
    }

    /// Whether a member is the property of something because its endpoint is named by both: an account's balance, at
    /// `/accounts/{id}/balance`.
    pub(super) fn is_part_of(&self, member: &TypedMember<'_>, wanted: &Meaning) -> bool {
        let is_itself = member.meaning.entity.as_deref() == Some(wanted.property.as_str());
        let around = literals(&self.endpoint.path).map(|(_, words)| words.join("_"));
        let around: Vec<String> = around.collect();
        is_itself && around.iter().rev().skip(1).any(|entity| Some(entity) == wanted.entity.as_ref())
    }

    /// Whether an input is a property of what the endpoint makes: of its own entity, none of which it is told.
    pub(super) fn is_new(&self, input: &TypedMember<'_>) -> bool {
        let is_own = |member: &TypedMember<'_>| self.entity.is_some() && member.meaning.entity == self.entity;
        let tells = |member: &TypedMember<'_>| member.meaning.is_id() || self.takes_in_path(member.name());
        let is_told = self.inputs.iter().any(|member| is_own(member) && tells(member));
        is_own(input) && !input.meaning.is_id() && !is_told
    }

    pub(super) fn title(&self) -> String {
        format!("{} {}", self.endpoint.method, self.endpoint.path)
    }
}

/// The endpoints that are here to stay and are what they say, in the order of the registry.
pub(super) fn endpoints(dispatcher: &Dispatcher) -> Vec<(Arc<Endpoint>, RegisteredEndpoint)> {
    let open = dispatcher.registry.iter().filter(|registered| is_itself(registered, dispatcher));
    open.map(|registered| (Arc::clone(&registered.endpoint), registered.clone())).collect()
}

/// All of these with their meanings.
pub(super) fn typed_endpoints<'a>(
    endpoints: &'a [(Arc<Endpoint>, RegisteredEndpoint)],
    dispatcher: &'a Dispatcher,
    nouns: &Nouns,
    caller: &Caller,
) -> Vec<TypedEndpoint<'a>> {
    let of = |(at, (endpoint, registered)): (usize, &'a (Arc<Endpoint>, RegisteredEndpoint))| {
        let entity = entity_of(endpoint);
        let side = |schema, side: &'static str| {
            let corrected = |path: &[String]| dispatcher.meanings.of(endpoint, side, path).map(str::to_owned);
            let path = (side == "input").then_some(&endpoint.path);
            typed(schema, Place { nouns, entity: entity.as_deref(), path, corrected: &corrected })
        };
        let analysis = |method: &str| {
            let verb = dispatcher.catalog.verb(method)?;
            Some(verb.categories.first()? == "analysis")
        };
        let method = endpoint.method.as_str();
        let is_look = class(method, &dispatcher.catalog) != MethodClass::Changes;
        TypedEndpoint {
            endpoint,
            at,
            inputs: side(&endpoint.input, "input"),
            outputs: side(&endpoint.output, "output"),
            needs: endpoint.path.parameters().chain(Shape::of(&endpoint.input).required()).collect(),
            computes: is_look && analysis(method).unwrap_or(false) && endpoint.path.is_literal(),
            is_beyond: !caller.authority().in_use().missing(registered.needs.scopes.iter()).is_empty(),
            entity,
        }
    };
    endpoints.iter().enumerate().map(of).collect()
}

/// Whether any endpoint gives such a property of an entity.
pub(super) fn has_property(endpoints: &[TypedEndpoint<'_>], entity: &str, wanted: &Meaning) -> bool {
    let of_entity = Meaning { entity: Some(entity.to_owned()), ..wanted.clone() };
    let is_it = |typed: &TypedEndpoint<'_>, member: &TypedMember<'_>| {
        let is_property = member.meaning.property == wanted.property || member.own == wanted.property;
        is_property && (member.meaning.entity.as_deref() == Some(entity) || typed.is_part_of(member, &of_entity))
    };
    endpoints.iter().any(|typed| typed.outputs.iter().any(|member| is_it(typed, member)))
}

fn is_itself(registered: &RegisteredEndpoint, dispatcher: &Dispatcher) -> bool {
    let endpoint = &registered.endpoint;
    let policy = &dispatcher.policy;
    let resolved = policy.resolve(endpoint.method.as_str(), &dispatcher.catalog);
    // An endpoint whose calls are redirected or renamed by the policy would not be the one that was planned with.
    resolved.is_some_and(|resolved| resolved.method == endpoint.method)
        && policy.redirect(&endpoint.method, endpoint.path.as_str()).is_none()
        && policy.admits(&endpoint.method, &endpoint.method)
        && endpoint.deprecated.is_none()
        && is_plain(endpoint.input.source())
}

/// Whether an input is an object of properties, and nothing is said of them together.
fn is_plain(input: &Value) -> bool {
    const KEYWORDS: [&str; 5] = ["type", "properties", "required", "additionalProperties", "$defs"];
    let plain = |keyword: &String| KEYWORDS.contains(&keyword.as_str()) || ANNOTATIONS.contains(&keyword.as_str());
    input.as_object().is_some_and(|keywords| keywords.keys().all(plain))
}
