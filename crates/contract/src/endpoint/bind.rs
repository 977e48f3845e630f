//! This module reads the table `endpoint.handler` into a binding. Section 12. It connects to nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use super::body::body;
use super::style::{is_cookie_for_callers, is_for_callers, styles};
use super::{AnswerKind, Binding, DefinitionProblem, ExternalService, HandlerSettings, Headers, StylePlace};
use crate::limits::{
    HANDLER_TIME_DEFAULT, HANDLER_TIME_MAX, SERVICE_ADDRESS_BYTES_DEFAULT, SERVICE_ADDRESS_BYTES_MAX,
    SERVICE_ANSWER_BYTES_DEFAULT, SERVICE_ANSWER_BYTES_MAX,
};

/// The HTTP methods that an external service may be called by. Section 12.3.
const UPSTREAM_METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY"];

/// Header fields that the HTTP client sets itself: one of the operator's would break framing or routing.
const FRAMING: [&str; 8] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "accept-encoding"];

/// Reads the table. With `is_http_open` a service's URL may begin with `http://` too.
///
/// # Errors
/// A kind that is not known, a reference that is empty, or a key of another kind.
pub(super) fn bind(settings: HandlerSettings, is_http_open: bool) -> Result<Binding, DefinitionProblem> {
    let kind = settings.kind.clone().unwrap_or_default();
    foreign(&kind, &settings)?;
    let timeout = timeout(settings.timeout_seconds)?;
    match kind.as_str() {
        "composition" => Ok(Binding::Composition { recipe: named(settings.recipe, "recipe")?, timeout }),
        "registered_function" => {
            let function = named(settings.function, "function")?;
            let is_path = function.split('.').all(|word| {
                !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            });
            let message = format!("`function` is a dotted path such as rooms.book, not `{function}`");
            if is_path {
                Ok(Binding::RegisteredFunction { function, timeout })
            } else {
                Err(fault("bad-reference", message))
            }
        }
        "external_service" => {
            external(settings, timeout, is_http_open).map(|service| Binding::ExternalService(Box::new(service)))
        }
        other => {
            let message = format!("`type` is composition, registered_function or external_service, not `{other}`");
            Err(fault("bad-type", message))
        }
    }
}

fn fault(tag: &str, message: impl Into<String>) -> DefinitionProblem {
    DefinitionProblem::new("handler", format!("handler-{tag}"), message)
}

fn named(reference: Option<String>, key: &str) -> Result<String, DefinitionProblem> {
    let reference = reference.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    reference.ok_or_else(|| fault("empty-reference", format!("this kind of handler needs `{key}`")))
}

/// Refuses keys that belong to another kind of handler: they would silently do nothing.
fn foreign(kind: &str, settings: &HandlerSettings) -> Result<(), DefinitionProblem> {
    let upstream = settings.url.is_some()
        || settings.method.is_some()
        || settings.body.is_some()
        || settings.answer.is_some()
        || settings.pass_reasons
        || settings.address_bytes_max.is_some()
        || settings.answer_bytes_max.is_some()
        || [
            &settings.headers,
            &settings.input_transform,
            &settings.input_styles,
            &settings.output_transform,
            &settings.error_map,
        ]
        .iter()
        .any(|map| !map.is_empty());
    let present = [
        ("recipe", "composition", settings.recipe.is_some()),
        ("function", "registered_function", settings.function.is_some()),
        (
            "url, method, headers, body, answer, transforms, styles, error_map, pass_reasons and bounds",
            "external_service",
            upstream,
        ),
    ];
    match present.iter().find(|(_, owner, is_there)| *is_there && *owner != kind) {
        Some((keys, owner, _)) => Err(fault("bad-type", format!("{keys} belong to a handler of type {owner}"))),
        None => Ok(()),
    }
}

fn timeout(seconds: Option<f64>) -> Result<Duration, DefinitionProblem> {
    let Some(seconds) = seconds else { return Ok(HANDLER_TIME_DEFAULT) };
    // `try_`: the plain conversion panics on NaN and on negative numbers, which a file can hold.
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero() && *time <= HANDLER_TIME_MAX);
    let message = format!("`timeout_seconds` is more than 0 and at most {}", HANDLER_TIME_MAX.as_secs());
    time.ok_or_else(|| DefinitionProblem::new("handler", "external-service-bad-timeout", message))
}

/// The bounds of the address and of the answer.
fn bounds(settings: &HandlerSettings) -> Result<(usize, usize), DefinitionProblem> {
    let address = (SERVICE_ADDRESS_BYTES_DEFAULT, SERVICE_ADDRESS_BYTES_MAX);
    let answer = (SERVICE_ANSWER_BYTES_DEFAULT, SERVICE_ANSWER_BYTES_MAX);
    Ok((
        bytes("address_bytes_max", settings.address_bytes_max, address)?,
        bytes("answer_bytes_max", settings.answer_bytes_max, answer)?,
    ))
}

/// A number of bytes, from one to the most of `(usual, most)`.
fn bytes(key: &str, stated: Option<u64>, (usual, most): (usize, usize)) -> Result<usize, DefinitionProblem> {
    let Some(stated) = stated else { return Ok(usual) };
    let found = usize::try_from(stated).ok().filter(|bytes| (1..=most).contains(bytes));
    let message = format!("`{key}` is from 1 to {most}");
    found.ok_or_else(|| DefinitionProblem::new("handler", "external-service-bad-bound", message))
}

fn external(
    settings: HandlerSettings,
    timeout: Duration,
    is_http_open: bool,
) -> Result<ExternalService, DefinitionProblem> {
    let (address_bytes_max, answer_bytes_max) = bounds(&settings)?;
    let url = named(settings.url, "url")?;
    check_url(&url, is_http_open)?;
    let wrong = |tag: &'static str, message: String| Err(DefinitionProblem::new("handler", tag, message));
    let Some(method) = settings.method else {
        return wrong("external-service-missing-method", "an external service needs the HTTP `method`".into());
    };
    if !UPSTREAM_METHODS.contains(&method.as_str()) {
        let message = format!("`method` is one of {}, not `{method}`", UPSTREAM_METHODS.join(", "));
        return wrong("external-service-bad-method", message);
    }
    check_headers(&settings.headers)?;
    let styles = styles("input_styles", settings.input_styles)?;
    for (field, style) in &styles {
        // The service's name is what becomes the header, so that is the one to check: `auth` may be sent as
        // `authorization`.
        let theirs = settings.input_transform.get(field).unwrap_or(field);
        match style.place() {
            StylePlace::Header => is_for_callers(theirs, &settings.headers)?,
            StylePlace::Cookie => is_cookie_for_callers(theirs, &settings.headers)?,
            StylePlace::Query | StylePlace::Path => {}
        }
    }
    let answer = settings.answer.unwrap_or_else(|| AnswerKind::Json.name().to_owned());
    let Some(answer) = AnswerKind::read(&answer) else {
        let message = format!("`answer` is json, text, bytes or location, not `{answer}`");
        return wrong("external-service-bad-answer", message);
    };
    let is_failure = |status: &String| {
        status.len() == 3 && matches!(status.as_bytes(), [b'4' | b'5', ..]) && status.parse::<u16>().is_ok()
    };
    if let Some(status) = settings.error_map.keys().find(|status| !is_failure(status)) {
        let message = format!("`error_map` goes from a failing HTTP status such as \"404\", not from `{status}`");
        return wrong("external-service-bad-error-map", message);
    }
    Ok(ExternalService {
        address_bytes_max,
        answer_bytes_max,
        url,
        method,
        headers: Headers(settings.headers),
        input_transform: settings.input_transform,
        styles,
        body: settings.body.map(body).transpose()?,
        answer,
        passes_reasons: settings.pass_reasons,
        output_transform: settings.output_transform,
        error_map: settings.error_map,
        timeout,
    })
}

/// An absolute https URL, in which `{name}` may stand after the host only.
fn check_url(text: &str, is_http_open: bool) -> Result<(), DefinitionProblem> {
    let wrong = |tag: &'static str, message: &str| Err(DefinitionProblem::new("handler", tag, message));
    let Ok(url) = url::Url::parse(text) else {
        return wrong("external-service-bad-url", "`url` is not an absolute URL");
    };
    if url.scheme() != "https" && !(is_http_open && url.scheme() == "http") {
        return wrong("external-service-bad-scheme", "`url` must begin with https://");
    }
    let is_plain =
        url.host_str().is_some() && url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    // A placeholder in the host would let a caller's value choose where the host connects to.
    let origin = url[..url::Position::AfterPort].contains(['{', '}', '%']);
    if !is_plain || origin {
        return wrong(
            "external-service-bad-url",
            "`url` has a plain host, no user and no fragment; {name} may follow the host",
        );
    }
    Ok(())
}

fn check_headers(headers: &BTreeMap<String, String>) -> Result<(), DefinitionProblem> {
    let is_token = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
    };
    let is_value = |value: &str| value.bytes().all(|b| b == b'\t' || (b' '..=b'~').contains(&b));
    let wrong = headers.iter().find(|(name, value)| {
        !is_token(name) || !is_value(value) || FRAMING.contains(&name.to_ascii_lowercase().as_str())
    });
    match wrong {
        Some((name, _)) => {
            let message = format!("the header field `{name}` has no plain name and value, or is not for you to set");
            Err(DefinitionProblem::new("handler", "external-service-bad-header", message))
        }
        None => Ok(()),
    }
}
