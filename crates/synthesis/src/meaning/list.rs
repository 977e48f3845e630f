//! The meanings of an endpoint, for people and agents.

use std::collections::BTreeMap;

use forecourt_contract::{Dispatcher, Endpoint, Schema};
use serde::Serialize;

use super::members::{Place, typed};
use super::nouns::{Nouns, literals};

/// What the members of an endpoint mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointMeanings {
    /// What it takes: for the members that lead to it, between dots and with `*` for each element of a list, what it
    /// means, such as `customer.email`.
    pub input: BTreeMap<String, String>,
    /// What it gives, in the same way.
    pub output: BTreeMap<String, String>,
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
        let said = |member: super::TypedMember<'_>| (member.path.join("."), member.meaning.to_string());
        typed(schema, place).into_iter().map(said).collect()
    };
    EndpointMeanings { input: side(&endpoint.input, "input"), output: side(&endpoint.output, "output") }
}

/// What an endpoint is about: what the last literal segment of its path is named by.
pub(crate) fn entity_of(endpoint: &Endpoint) -> Option<String> {
    literals(&endpoint.path).last().map(|(_, words)| words.join("_"))
}
