//! Where values come from: of the caller, or of calls, which take values in their turn.

use std::sync::Arc;

use forecourt_contract::recipe::ElementMatch;

use super::admission::{AdmittedAct, AdmittedRead};
use super::host::TypedEndpoint;
use crate::meaning::Meaning;

/// Where a value comes from.
#[derive(Clone)]
pub(super) enum Source<'a> {
    /// A field of what the caller gives.
    Caller(String),
    /// What the result of a call has there.
    Result {
        call: Arc<PlannedCall<'a>>,
        /// The members that lead to it; none for all of it.
        path: Vec<String>,
        /// Which element of the list is meant.
        element: Option<ElementMatch>,
        /// What it is there.
        meaning: Option<Meaning>,
    },
    /// The element that the call is made for, or what lies inside it.
    Element(Vec<String>),
}

/// A call of an admitted endpoint, with where its inputs come from.
pub(super) struct PlannedCall<'a> {
    endpoint: &'a TypedEndpoint<'a>,
    pub(super) arguments: Vec<(String, Source<'a>)>,
    /// The list that it is made for, once for each element.
    pub(super) for_each: Option<Source<'a>>,
    /// What is the same for the same call.
    pub(super) key: String,
}

impl<'a> PlannedCall<'a> {
    /// A read.
    pub(super) fn read(
        read: AdmittedRead<'a>,
        arguments: Vec<(String, Source<'a>)>,
        for_each: Option<Source<'a>>,
    ) -> Arc<PlannedCall<'a>> {
        PlannedCall::of(read.endpoint(), arguments, for_each)
    }

    /// The act.
    pub(super) fn act(act: AdmittedAct<'a>, arguments: Vec<(String, Source<'a>)>) -> Arc<PlannedCall<'a>> {
        PlannedCall::of(act.endpoint(), arguments, None)
    }

    // Private, so that there is a call only of what was admitted.
    fn of(
        endpoint: &'a TypedEndpoint<'a>,
        arguments: Vec<(String, Source<'a>)>,
        for_each: Option<Source<'a>>,
    ) -> Arc<PlannedCall<'a>> {
        let given: Vec<String> = arguments.iter().map(|(name, source)| format!("{name}={}", source.key())).collect();
        let each = for_each.as_ref().map(Source::key).unwrap_or_default();
        let key = format!("{}({};{each})", endpoint.at, given.join(","));
        Arc::new(PlannedCall { endpoint, arguments, for_each, key })
    }

    pub(super) fn endpoint(&self) -> &'a TypedEndpoint<'a> {
        self.endpoint
    }

    /// All that it takes, its list included.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Source<'a>> {
        self.arguments.iter().map(|(_, source)| source).chain(&self.for_each)
    }
}

impl<'a> Source<'a> {
    pub(super) fn key(&self) -> String {
        match self {
            Source::Caller(name) => format!("<{name}"),
            Source::Element(path) => format!("^{}", path.join(".")),
            Source::Result { call, path, element, .. } => {
                let element =
                    element.as_ref().map(|one| format!("[{}={}].{}", one.member, one.field, one.then.join(".")));
                format!("{}.{}{}", call.key, path.join("."), element.unwrap_or_default())
            }
        }
    }

    pub(super) fn call(&self) -> Option<&Arc<PlannedCall<'a>>> {
        match self {
            Source::Result { call, .. } => Some(call),
            Source::Caller(_) | Source::Element(_) => None,
        }
    }
}

/// The calls that sources need, each once, what is taken from before what takes it.
pub(super) fn calls_of<'a, 's>(sources: impl Iterator<Item = &'s Source<'a>>) -> Vec<Arc<PlannedCall<'a>>>
where
    'a: 's,
{
    let mut found: Vec<Arc<PlannedCall<'a>>> = Vec::new();
    for call in sources.filter_map(Source::call) {
        add(call, &mut found);
    }
    found
}

/// Adds a call, after the calls that it takes from.
pub(super) fn add<'a>(call: &Arc<PlannedCall<'a>>, found: &mut Vec<Arc<PlannedCall<'a>>>) {
    if found.iter().any(|known| known.key == call.key) {
        return;
    }
    call.sources().filter_map(Source::call).for_each(|before| add(before, found));
    found.push(Arc::clone(call));
}

/// The fields of the caller that sources use.
pub(super) fn used<'s>(sources: impl Iterator<Item = &'s Source<'s>>) -> Vec<String> {
    let mut names = Vec::new();
    let mut note = |source: &Source<'_>| match source {
        Source::Caller(name) => names.push(name.clone()),
        Source::Result { element: Some(element), .. } => names.push(element.field.clone()),
        _ => {}
    };
    let sources: Vec<&Source<'_>> = sources.collect();
    for call in calls_of(sources.iter().copied()) {
        call.sources().for_each(&mut note);
    }
    sources.into_iter().for_each(note);
    names
}
