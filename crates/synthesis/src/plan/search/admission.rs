//! Which endpoints a plan may call at all, before any is ranked. Here, and nowhere else, an endpoint becomes one that
//! a plan can have: as the act that the proposal names, or as a read. Whatever a plan is made of is made of these, so
//! that nothing that changes state gets into the plan of a proposal that does not name that change.

use forecourt_contract::Catalog;
use forecourt_contract::semantic::Impact;

use super::contradiction::Contradictions;
use super::host::TypedEndpoint;
use crate::meaning::words::{of_name, plain, stem};
use crate::wanted::WantedChange;
use crate::wanted::verbs::{MethodClass, MethodMatch, class, matches};

/// An endpoint that only looks.
#[derive(Clone, Copy)]
pub(super) struct AdmittedRead<'a>(&'a TypedEndpoint<'a>);

/// The one endpoint that may change something: what the proposal names.
#[derive(Clone, Copy)]
pub(super) struct AdmittedAct<'a> {
    endpoint: &'a TypedEndpoint<'a>,
    /// How surely it is what is proposed: the smaller, the surer.
    pub(super) distance: (MethodMatch, ObjectMatch),
}

/// How the proposal names what an act is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ObjectMatch {
    /// As what its verb is done to.
    Object,
    /// By its verb alone: a refund is of a payment.
    Verb,
    /// Somewhere.
    Named,
}

/// What may be called, and what may not, with the reason.
pub(super) struct Admission<'a> {
    pub(super) reads: Vec<AdmittedRead<'a>>,
    /// The surest acts: more than one where nothing tells them apart.
    pub(super) acts: Vec<AdmittedAct<'a>>,
    /// Endpoints that come near the act and are none, and why.
    pub(super) rejected: Vec<(&'a TypedEndpoint<'a>, String)>,
}

impl<'a> AdmittedRead<'a> {
    pub(super) fn endpoint(self) -> &'a TypedEndpoint<'a> {
        self.0
    }
}

impl<'a> AdmittedAct<'a> {
    pub(super) fn endpoint(self) -> &'a TypedEndpoint<'a> {
        self.endpoint
    }
}

impl<'a> Admission<'a> {
    /// Holds all endpoints against what is wanted.
    pub(super) fn of(
        wanted: &WantedChange<'_>,
        endpoints: &'a [TypedEndpoint<'a>],
        catalog: &Catalog,
    ) -> Admission<'a> {
        let reads = endpoints.iter().filter(|typed| is_read(typed, catalog)).map(AdmittedRead).collect();
        let mut acts: Vec<AdmittedAct<'a>> = Vec::new();
        let mut rejected = Vec::new();
        let contradictions = Contradictions::of(wanted, catalog);
        let changing = endpoints.iter().filter(|typed| typed.endpoint.semantic.impact != Impact::Informational);
        for typed in changing.filter(|typed| comes_near(wanted, typed)) {
            match act(&contradictions, typed, catalog) {
                Ok(act) => acts.push(act),
                Err(why) => rejected.push((typed, why)),
            }
        }
        let surest = acts.iter().map(|act| act.distance).min();
        acts.retain(|act| Some(act.distance) == surest);
        Admission { reads, acts, rejected }
    }
}

/// Whether an endpoint only looks, by what it declares and by its name.
fn is_read(typed: &TypedEndpoint<'_>, catalog: &Catalog) -> bool {
    typed.endpoint.semantic.impact == Impact::Informational
        && class(typed.endpoint.method.as_str(), catalog) != MethodClass::Changes
}

/// Whether somebody would ask why an endpoint is not the act: it has the verb, or is about what is named.
fn comes_near(wanted: &WantedChange<'_>, typed: &TypedEndpoint<'_>) -> bool {
    let entity = typed.entity.as_deref();
    let has_verb = matches(wanted.method.as_str(), typed.endpoint.method.as_str(), entity).is_some();
    has_verb || entity.is_some_and(|entity| wanted.objects.contains(entity))
}

/// The endpoint as the act, or why it is not what is proposed.
fn act<'a>(
    contradictions: &Contradictions<'_>,
    typed: &'a TypedEndpoint<'a>,
    catalog: &Catalog,
) -> Result<AdmittedAct<'a>, String> {
    let wanted = contradictions.wanted;
    let (method, semantic) = (typed.endpoint.method.as_str(), &typed.endpoint.semantic);
    let proposed = wanted.method.as_str();
    if !wanted.is_change() {
        return Err("it changes something, and the proposal is informational".to_owned());
    }
    let verb = matches(proposed, method, typed.entity.as_deref());
    let verb = verb.ok_or_else(|| format!("to {method} is not to {proposed}"))?;
    if semantic.impact > wanted.impact {
        return Err("it can not be undone as the proposal says".to_owned());
    }
    if wanted.is_idempotent && !semantic.is_idempotent {
        return Err("calling it again changes more, and the proposal says that it does not".to_owned());
    }
    if let Some(why) = contradictions.find(typed) {
        return Err(why);
    }
    let object = object(wanted, typed, catalog).ok_or_else(|| {
        let of = typed.entity.as_deref().unwrap_or("nothing known");
        let said: Vec<&str> = wanted.objects.iter().map(String::as_str).collect();
        format!(
            "it is done to {of}, and the proposal speaks of {}",
            if said.is_empty() { "none".into() } else { said.join(", ") }
        )
    })?;
    Ok(AdmittedAct { endpoint: typed, distance: (verb, object) })
}

/// How the proposal names what an act is done to. `None`: it does not.
fn object(wanted: &WantedChange<'_>, typed: &TypedEndpoint<'_>, catalog: &Catalog) -> Option<ObjectMatch> {
    let entity = typed.entity.as_deref()?;
    if wanted.denied.contains(entity) {
        return None;
    }
    if wanted.objects.contains(entity) {
        return Some(ObjectMatch::Object);
    }
    let method = wanted.method.as_str();
    let line = catalog.verb(method).map_or("", |verb| verb.description.as_str());
    let by_verb = line.split(|c: char| !c.is_alphanumeric()).any(|word| plain(of_name(word)).join("_") == entity);
    if by_verb {
        return Some(ObjectMatch::Verb);
    }
    // What the act brings into being is named by its verb: to ship brings a shipment.
    let brought = |object: &String| {
        let is_of_verb = object.starts_with(&stem(method)) || object.starts_with(&stem(typed.endpoint.method.as_str()));
        let is_given = |member: &crate::meaning::TypedMember<'_>| {
            member.meaning.is_id() && member.meaning.entity.as_ref() == Some(object)
        };
        is_of_verb && typed.outputs.iter().any(is_given) && !typed.inputs.iter().any(is_given)
    };
    // A quote is what to quote comes to.
    let is_of_verb = [method, typed.endpoint.method.as_str()].iter().any(|verb| entity.starts_with(&stem(verb)));
    if wanted.objects.is_empty() && is_of_verb {
        return Some(ObjectMatch::Verb);
    }
    // What the endpoint itself says that it is done to: a patient is let off a bill.
    let semantic = &typed.endpoint.semantic;
    let said = wanted.objects_of([semantic.intent.as_str(), typed.endpoint.description.as_str()]);
    let is_its = |object: &String| said.contains(object) || brought(object);
    let is_meant = wanted.named.contains(entity) && wanted.objects.iter().all(is_its);
    is_meant.then_some(ObjectMatch::Named)
}
