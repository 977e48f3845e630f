//! The search box that other sites embed, and what it is told before it asks: who answers, and whether the page that it
//! stands on is one of those that the operator lists.
//!
//! Who may not is told why in a document that every page may read, since a browser hides all other refusals from
//! scripts. Neither has a cookie or anything else that is personal.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use forecourt_core::{ClientAddr, Handle};
use forecourt_host::HostedAgent;
use forecourt_pages::{CARD_KINDS, FUNCTION_WORDS, WIDGET, clean, widget_words};
use forecourt_surface::BaseUrl;
use forecourt_surface::answer::HttpAnswer;
use headers::{ETag, HeaderMapExt, IfNoneMatch};
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};
use url::form_urlencoded;

use crate::limits::BOX_AGENTS_MAX;
use crate::service::Service;
use crate::site::ALL;

/// Where the search box is.
pub(crate) const SCRIPT_PATH: &str = WIDGET;
/// Where it asks who answers.
pub(crate) const ABOUT_PATH: &str = "/widget.json";

/// What cards tell of each kind of thing, as on the pages of the host.
static KINDS: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(CARD_KINDS).unwrap_or_default());

static CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const METHODS: &str = "GET, HEAD, OPTIONS";
/// How long browsers keep the script: its address stays the same when it changes.
const SCRIPT_CACHE: &str = "public, max-age=600";

/// The page of another origin that a request comes from, if the operator lists that origin.
pub(crate) fn listed_origin<'a>(service: &Service, head: &'a Parts) -> Option<&'a HeaderValue> {
    let origin = head.headers.get(ORIGIN)?;
    origin.to_str().is_ok_and(|text| service.pages.embed.lists(text)).then_some(origin)
}

/// The script itself, for any page: what it may ask is decided where it asks.
pub(crate) async fn script(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let mut fields = open_fields("text/javascript; charset=utf-8", SCRIPT_CACHE);
    let Some(asset) = service.pages.branding.asset(SCRIPT_PATH).filter(|_| is_read(&head)) else {
        return other(&head).into_response();
    };
    if let Ok(tag) = asset.etag.parse::<ETag>() {
        fields.typed_insert(tag.clone());
        if head.headers.typed_get::<IfNoneMatch>().is_some_and(|known| !known.precondition_passes(&tag)) {
            return HttpAnswer::empty(StatusCode::NOT_MODIFIED, fields).into_response();
        }
    }
    HttpAnswer::whole(StatusCode::OK, fields, asset.bytes.clone()).into_response()
}

/// Who answers, for a page that may embed the search box; else why it may not.
pub(crate) async fn about(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    if !is_read(&head) {
        return other(&head).into_response();
    }
    let peer = head.extensions.get::<ClientAddr>().map(|client| client.0);
    if service.host.meter(peer).is_err() {
        let message = "too many requests from this network; try again in a minute";
        return failure(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", message.to_owned()).into_response();
    }
    match asked_agents(&service, &asked(&head, "agent")) {
        Err(answer) => *answer,
        // Of several, the site has to be listed for each.
        Ok(residents) => match residents.iter().find_map(|resident| refused(&service, &head, resident)) {
            Some(message) => failure(StatusCode::FORBIDDEN, "ORIGIN_NOT_LISTED", message),
            None => written(StatusCode::OK, &description(&service, &residents, &asked(&head, "lang"))),
        },
    }
    .into_response()
}

/// The agents that a box asks: the one that is named, or several of them, or all that find things; at most
/// [`BOX_AGENTS_MAX`]. Never none.
fn asked_agents<'a>(service: &'a Service, asked: &str) -> Result<Vec<&'a Arc<HostedAgent>>, Box<HttpAnswer>> {
    let directory = service.host.directory();
    let names: Vec<&str> = asked.split([' ', ',']).filter(|name| !name.is_empty()).collect();
    if names.iter().any(|name| name.eq_ignore_ascii_case(ALL)) {
        let finding: Vec<_> = directory.iter().filter(|resident| resident.card.finds).take(BOX_AGENTS_MAX).collect();
        return Ok(if finding.is_empty() { vec![directory.default_agent()] } else { finding });
    }
    if names.len() > BOX_AGENTS_MAX {
        let message = format!("one box asks at most {BOX_AGENTS_MAX} agents");
        return Err(Box::new(failure(StatusCode::BAD_REQUEST, "TOO_MANY_AGENTS", message)));
    }
    let unknown = |name: &str| {
        let message = format!("no agent `{}` lives here", clean::line(name));
        Box::new(failure(StatusCode::NOT_FOUND, "NO_AGENT", message))
    };
    let find =
        |name: &&str| handle(service, name).and_then(|handle| directory.find(&handle)).ok_or_else(|| unknown(name));
    let mut residents: Vec<&Arc<HostedAgent>> = Vec::with_capacity(names.len());
    for resident in names.iter().map(find) {
        let resident = resident?;
        if !residents.iter().any(|known| Arc::ptr_eq(known, resident)) {
            residents.push(resident);
        }
    }
    Ok(if residents.is_empty() { vec![directory.default_agent()] } else { residents })
}

/// Why the page that a request comes from may not embed the search box. `None`: it may.
fn refused(service: &Service, head: &Parts, resident: &HostedAgent) -> Option<String> {
    let origin = head.headers.get(ORIGIN)?;
    let own = BaseUrl::of(service.host.site(), &head.extensions).origin();
    let may = resident.card.cors || origin == own || origin == service.host.site().origin();
    if may || listed_origin(service, head).is_some() {
        return None;
    }
    let shown = clean::line(&String::from_utf8_lossy(origin.as_bytes()));
    let domain = &service.host.site().domain;
    Some(format!(
        "pages of {shown} may not embed the search of {domain}, since that site is not listed there. Who runs {domain} \
         lists it in forecourt.toml: under [pages], embed = [\"{shown}\"]"
    ))
}

/// What the box is told: the first agent, all of them where there are several, how the site looks, and the box's own words
/// in the language that it asks for.
fn description(service: &Service, residents: &[&Arc<HostedAgent>], lang: &str) -> Value {
    let (card, branding) = (&residents[0].card, &service.pages.branding);
    let agent = |resident: &&Arc<HostedAgent>| {
        let card = &resident.card;
        json!({"name": card.name, "page": format!("/~{}", card.handle()), "ask": format!("/~{}/ask", card.handle())})
    };
    let several: Vec<Value> = residents.iter().filter(|_| residents.len() > 1).map(agent).collect();
    let name = if several.is_empty() { &card.name } else { &service.host.site().name };
    let accents = branding.accents();
    let (accent, on_accent) = accents.map_or((None, None), |(accent, on)| (Some(accent), Some(on)));
    json!({
        "name": name,
        "agents": several,
        "words": widget_words(lang),
        "address": card.address,
        "description": card.description,
        "examples": card.examples,
        "page": format!("/~{}", card.handle()),
        "ask": format!("/~{}/ask", card.handle()),
        "powered_by": branding.powered_by(),
        "accent": accent,
        "on_accent": on_accent,
        "function_words": FUNCTION_WORDS.split_whitespace().collect::<Vec<_>>().join(" "),
        "kinds": *KINDS,
    })
}

/// A value of the query; empty where there is none.
fn asked(head: &Parts, name: &str) -> String {
    let query = head.uri.query().unwrap_or_default();
    let value = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value);
    value.unwrap_or_default().into_owned()
}

/// `chef`, `@chef` and `@chef@this.host` alike.
fn handle(service: &Service, name: &str) -> Option<Handle> {
    let name = name.trim().trim_start_matches('@');
    let (local, domain) = name.split_once('@').unwrap_or((name, ""));
    let is_here = domain.is_empty() || domain.eq_ignore_ascii_case(service.host.site().domain.as_str());
    Handle::parse(local).ok().filter(|_| is_here)
}

fn is_read(head: &Parts) -> bool {
    matches!(head.method, Method::GET | Method::HEAD)
}

fn other(head: &Parts) -> HttpAnswer {
    match head.method {
        Method::OPTIONS => HttpAnswer::options(METHODS),
        _ => failure(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", format!("this takes {METHODS}"))
            .allowing(METHODS),
    }
}

fn failure(status: StatusCode, code: &str, message: String) -> HttpAnswer {
    written(status, &json!({"error": {"code": code, "message": message}}))
}

fn written(status: StatusCode, value: &Value) -> HttpAnswer {
    HttpAnswer::whole(status, open_fields("application/json", "no-store"), value.to_string())
}

/// The fields of what every page may read.
fn open_fields(media_type: &'static str, cache: &'static str) -> HeaderMap {
    let mut head = HeaderMap::new();
    for (name, value) in [
        (CONTENT_TYPE, media_type),
        (CACHE_CONTROL, cache),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (CROSS_ORIGIN_RESOURCE_POLICY.clone(), "cross-origin"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (VARY, "Origin"),
    ] {
        head.insert(name, HeaderValue::from_static(value));
    }
    head
}
