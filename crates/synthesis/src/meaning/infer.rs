//! The meaning of one member: what its schema says, else what its name and its place say.

use serde_json::Value;

use super::nouns::Nouns;
use super::words::{is_identifying, of_name, plain};
use super::{ID, Meaning, MeaningKind};
use crate::shape::{Kinds, Shape};

/// The keyword of a schema that says what a value means: `customer.email`.
pub(crate) const KEYWORD: &str = "x-semantic-type";

/// Where a member stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// What it is most likely of.
    pub(crate) entity: Option<String>,
    /// Members around it that are no entities.
    pub(crate) around: Vec<String>,
}

/// What a member means, and whether its own name or schema says of which entity it is.
pub(crate) fn meaning(nouns: &Nouns, context: &Context, name: &str, schemas: &[Shape<'_>]) -> (Meaning, bool) {
    if let Some(said) = schemas.iter().find_map(|shape| said(*shape)) {
        return (read(said, schemas), true);
    }
    let words = plain(of_name(name));
    let kinds = kinds(schemas);
    let joined = words.join("_");
    if let Some((last, before)) = words.split_last()
        && is_identifying(last)
    {
        let (entity, role, is_explicit) = match (before.is_empty(), nouns.suffix(before)) {
            (true, _) => (context.entity.clone(), None, false),
            (false, Some((role, entity))) => (Some(entity), role, true),
            (false, None) => (Some(before.join("_")), None, true),
        };
        return (Meaning { entity, property: ID.to_owned(), role, kind: MeaningKind::Id }, is_explicit);
    }
    // `{customer}` in a path is the id of a customer, and so is a text of that name.
    if nouns.is_bare(&joined) && !kinds.meets(Kinds::OBJECT | Kinds::ARRAY) {
        let property = ID.to_owned();
        return (Meaning { entity: Some(joined), property, role: None, kind: MeaningKind::Id }, true);
    }
    if let Some(entity) = nouns.key(&joined) {
        let kind = kind(&words, schemas, kinds);
        return (Meaning { entity: Some(entity.clone()), property: joined, role: None, kind }, true);
    }
    let kind = kind(&words, schemas, kinds);
    if let Some((entity, rest)) = nouns.prefix(&words) {
        return (Meaning { entity: Some(entity), property: rest.join("_"), role: None, kind }, true);
    }
    if let Some((role, entity, rest)) = nouns.role(&words) {
        let property = rest.join("_");
        return (Meaning { entity: Some(entity), property, role: Some(role), kind }, true);
    }
    let property = context.around.iter().chain(&words).map(String::as_str).collect::<Vec<_>>().join("_");
    (Meaning { entity: context.entity.clone(), property, role: None, kind }, false)
}

/// What a schema says itself.
fn said(shape: Shape<'_>) -> Option<&str> {
    shape.conjuncts().iter().find_map(|shape| shape.keyword(KEYWORD)?.as_str())
}

/// Reads `customer.email`. Without a dot it is a property of nothing that is known.
pub(crate) fn read(said: &str, schemas: &[Shape<'_>]) -> Meaning {
    let (entity, property) = said.split_once('.').map_or((None, said), |(entity, property)| (Some(entity), property));
    let property = plain(of_name(property));
    let kind = match property.last().is_some_and(|last| is_identifying(last)) {
        true => MeaningKind::Id,
        false => kind(&property, schemas, kinds(schemas)),
    };
    let property = if kind == MeaningKind::Id { ID.to_owned() } else { property.join("_") };
    Meaning { entity: entity.map(|entity| plain(of_name(entity)).join("_")), property, role: None, kind }
}

fn kinds(schemas: &[Shape<'_>]) -> Kinds {
    schemas.iter().map(|shape| shape.kinds()).fold(Kinds::ANY, |all, one| all & one)
}

fn kind(words: &[String], schemas: &[Shape<'_>], kinds: Kinds) -> MeaningKind {
    let format = schemas.iter().flat_map(|shape| shape.conjuncts()).find_map(|shape| shape.keyword("format"));
    match format.and_then(Value::as_str) {
        Some("email" | "idn-email") => return MeaningKind::Mail,
        Some("date" | "date-time" | "time") => return MeaningKind::Date,
        Some("uri" | "url" | "uri-reference") => return MeaningKind::Url,
        _ => {}
    }
    let last = words.last().map_or("", String::as_str);
    let is_number = kinds.meets(Kinds::NUMBER);
    match last {
        "email" => MeaningKind::Mail,
        "phone" => MeaningKind::Phone,
        "url" | "website" | "uri" | "link" => MeaningKind::Url,
        "at" | "on" | "date" | "time" | "until" | "since" if words.len() > 1 || last == "date" => MeaningKind::Date,
        "price" | "total" | "amount" | "cost" | "fee" | "balance" | "subtotal" if is_number => MeaningKind::Money,
        "quantity" | "count" if is_number => MeaningKind::Count,
        _ => MeaningKind::Plain,
    }
}
