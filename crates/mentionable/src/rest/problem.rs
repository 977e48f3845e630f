//! Problem Details (RFC 9457): the form of refusals and faults for who asks for it by name. PolicyPart, crosswalk.

use bytes::Bytes;
use forecourt_core::{Language, PolicyPart};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use forecourt_surface::negotiate;

use super::errors::Failure;
use super::payment;

/// The media type of Problem Details. RFC 9457 3.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// The `Content-Type` of a problem.
pub(crate) const CONTENT_TYPE: HeaderValue = HeaderValue::from_static(PROBLEM_JSON);

/// Whether errors are wanted as problems: the type is named, and wanted as much as `other`, the form that an error
/// would have without it. Ranges such as `application/*` name nothing.
pub(crate) fn is_wanted(headers: &HeaderMap, other: &str) -> bool {
    let named = negotiate::named_quality(headers, PROBLEM_JSON);
    named > 0 && named >= negotiate::quality(headers, other)
}

/// A refusal. Its type says no more than the status does: what `kind` does not say stands in `policy`, whole.
pub(crate) fn refusal(part: &PolicyPart, status: StatusCode, language: &Language) -> Bytes {
    let (title, message) = part.in_language(Some(language));
    let mut problem = problem(status, title, message);
    if let Some(url) = &part.url {
        problem.insert("instance".to_owned(), url.as_str().into());
    }
    problem.insert("kind".to_owned(), part.kind().into());
    problem.insert("policy".to_owned(), json!(part));
    // Members of x402 never replace those of a problem.
    for (name, value) in payment::body_members(part) {
        problem.entry(name).or_insert(value);
    }
    written(problem)
}

/// A fault, with the code that the JSON form has.
pub(crate) fn failure(failure: &Failure) -> Bytes {
    let mut problem = problem(failure.status, failure.title(), &failure.message);
    problem.insert("code".to_owned(), failure.code.into());
    if let Some(hint) = &failure.hint {
        problem.insert("hint".to_owned(), hint.as_str().into());
    }
    written(problem)
}

fn problem(status: StatusCode, title: &str, detail: &str) -> Map<String, Value> {
    let members: [(&str, Value); 4] = [
        ("type", "about:blank".into()),
        ("title", title.into()),
        ("status", status.as_u16().into()),
        ("detail", detail.into()),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn written(problem: Map<String, Value>) -> Bytes {
    serde_json::to_vec(&problem).unwrap_or_default().into()
}
