//! The meanings of an endpoint, for people and agents.

use forecourt_contract::{Dispatcher, Endpoint, Schema};
use serde::Serialize;

use super::members::{Place, typed};
use super::nouns::{Nouns, literals};

/// What the members of an endpoint mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointMeanings {
    /// What it takes.
    pub input: Vec<MemberMeaning>,
    /// What it gives.
    pub output: Vec<MemberMeaning>,
}

/// What a member means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberMeaning {
    /// The members that lead to it, between dots; `*` for each element of a list.
    pub member: String,
    /// Its meaning in words, such as `customer.email`.
    pub meaning: String,
}

/// What the members of each endpoint of a host mean, in the order of the registry.
pub fn of_host(dispatcher: &Dispatcher) -> Vec<(std::sync::Arc<Endpoint>, EndpointMeanings)> {
    let nouns = Nouns::of(dispatcher);
    let endpoints = dispatcher.registry.iter().map(|registered| &registered.endpoint);
    endpoints.map(|endpoint| (std::sync::Arc::clone(endpoint), of(endpoint, dispatcher, &nouns))).collect()
}

fn of(endpoint: &Endpoint, dispatcher: &Dispatcher, nouns: &Nouns) -> EndpointMeanings {
    let entity = entity_of(endpoint);
    let side = |schema: &Schema, side: &str| {
        let corrected = |path: &[String]| dispatcher.meanings.of(endpoint, side, path).map(str::to_owned);
        let path = (side == "input").then_some(&endpoint.path);
        let place = Place { nouns, entity: entity.as_deref(), path, corrected: &corrected };
        let said = |member: super::TypedMember<'_>| MemberMeaning {
            member: member.path.join("."),
            meaning: member.meaning.to_string(),
        };
        typed(schema, place).into_iter().map(said).collect()
    };
    EndpointMeanings { input: side(&endpoint.input, "input"), output: side(&endpoint.output, "output") }
}

/// What an endpoint is about: what the last literal segment of its path is named by.
pub(crate) fn entity_of(endpoint: &Endpoint) -> Option<String> {
    literals(&endpoint.path).last().map(|(_, words)| words.join("_"))
}
