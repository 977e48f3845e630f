//! The paths of this protocol: the only file that knows the web framework.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, post};
use forecourt_core::{AgentCard, ClientAddr, CollectedReply, Ending, Handle, Part, ids};
use forecourt_host::HostedAgent;
use forecourt_pages::{Account, Pages, ReplyPage, csp};
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::{BodyError, BodyLimits, is_json, read_limited};
use forecourt_surface::document::{DocumentError, ServedDocument, answer};
use forecourt_surface::{BaseUrl, HttpRoutes};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, RETRY_AFTER, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::actor;
use crate::compose;
use crate::kept::{KeptNote, KeptNotes};
use crate::limits::{ACTIVITY_BYTES_MAX, ACTOR_PUBLISHED_FRESH, COLLECTION_FRESH};
use crate::names::{self, CONTEXT, MEDIA_TYPE, MENTIONABLE, routes};
use crate::relations::Relations;
use crate::service::{InboxError, Service};
use crate::signature::ArrivedRequest;

const JSON: &str = "application/json";
/// Seconds after which a server may send again what was put off.
const RETRY_SECONDS: u32 = 300;

/// What the handlers share.
#[derive(Clone)]
struct Shared {
    service: Arc<Service>,
    pages: Arc<Pages>,
}

type On = State<Shared>;

/// The routes of the protocol.
pub(crate) fn routes(service: Arc<Service>, pages: Arc<Pages>) -> HttpRoutes {
    let router = Router::new()
        .route(routes::ACTOR, any(on_actor))
        .route(routes::INBOX, post(on_own_inbox))
        .route(routes::SHARED_INBOX, post(on_inbox))
        .route(routes::OUTBOX, any(on_outbox))
        .route(routes::FEATURED, any(on_featured))
        .route(routes::FOLLOWERS, any(on_followers))
        .route(routes::FOLLOWING, any(on_following))
        .route(routes::NOTE, any(on_note))
        .route(routes::CREATE, any(on_create))
        .route(routes::WHOLE, any(on_whole))
        .route(routes::NODEINFO_LINKS, any(on_nodeinfo_links))
        .route(routes::NODEINFO, any(on_nodeinfo))
        .with_state(Shared { service, pages });
    let paths = vec![
        routes::ACTOR,
        routes::INBOX,
        routes::SHARED_INBOX,
        routes::OUTBOX,
        routes::FEATURED,
        routes::FOLLOWERS,
        routes::FOLLOWING,
        routes::NOTE,
        routes::CREATE,
        routes::WHOLE,
        routes::NODEINFO_LINKS,
        routes::NODEINFO,
    ];
    HttpRoutes { paths, router }
}

impl Shared {
    fn resident(&self, handle: &str) -> Option<&Arc<HostedAgent>> {
        let agent = Handle::parse(handle).ok().filter(|_| !handle.starts_with('@'))?;
        self.service.resident(&agent)
    }

    /// A request as signatures speak of it, with the path that others see.
    async fn proves_reader(&self, head: &Parts, kept: &KeptNote) -> bool {
        let target = target(&self.service, head);
        let request = arrived(&self.service, head, &target, b"");
        match self.service.reader(&request).await {
            Ok(actor) => kept.is_public || actor.id == kept.reader,
            Err(_) => false,
        }
    }
}

fn target(service: &Service, head: &Parts) -> String {
    let path = head.uri.path_and_query().map_or(head.uri.path(), http::uri::PathAndQuery::as_str);
    service.site().path(path).into_owned()
}

fn arrived<'a>(service: &'a Service, head: &'a Parts, target: &'a str, body: &'a [u8]) -> ArrivedRequest<'a> {
    ArrivedRequest {
        method: head.method.as_str(),
        origin: BaseUrl::of(service.site(), &head.extensions).origin(),
        target,
        headers: &head.headers,
        body,
        now: service.host().clock().now(),
    }
}

async fn on_own_inbox(State(shared): On, Path(handle): Path<String>, request: Request) -> Response {
    match shared.resident(&handle) {
        Some(_) => take(&shared.service, request).await,
        None => refusal(StatusCode::NOT_FOUND, "no actor of that name lives here"),
    }
}

async fn on_inbox(State(shared): On, request: Request) -> Response {
    take(&shared.service, request).await
}

/// Takes one activity. 202 says that it is kept, or that there is nothing to do.
async fn take(service: &Service, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let peer = head.extensions.get::<ClientAddr>().map(|client| client.0);
    if let Err(part) = service.host().meter(peer) {
        return put_off(StatusCode::TOO_MANY_REQUESTS, &part.message, part.kind.retry_after_seconds());
    }
    if !is_json(&head.headers) {
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "an activity is sent as application/activity+json");
    }
    let body = match read_limited(body, &BodyLimits::with_bytes_max(ACTIVITY_BYTES_MAX)).await {
        Ok(body) => body,
        Err(error @ BodyError::TooLarge { .. }) => return refusal(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string()),
        Err(error @ BodyError::TooSlow) => return refusal(StatusCode::REQUEST_TIMEOUT, &error.to_string()),
        Err(error @ BodyError::Broken) => return refusal(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let target = target(service, &head);
    match service.take(&arrived(service, &head, &target, &body)).await {
        Ok(()) => HttpAnswer::empty(StatusCode::ACCEPTED, HeaderMap::new()).into_response(),
        Err(error) => failure(&error),
    }
}

/// What a server is told of an activity that was not taken.
fn failure(error: &InboxError) -> Response {
    use forecourt_jose::ProofError;

    let words = error.to_string();
    match error {
        InboxError::Decode(_) => refusal(StatusCode::BAD_REQUEST, &words),
        InboxError::Unproven(ProofError::KeysUnavailable) => put_off(StatusCode::SERVICE_UNAVAILABLE, &words, None),
        InboxError::Unproven(_) | InboxError::OtherSigner => refusal(StatusCode::UNAUTHORIZED, &words),
        InboxError::TooMany => put_off(StatusCode::TOO_MANY_REQUESTS, &words, None),
        InboxError::Later(part) => put_off(StatusCode::SERVICE_UNAVAILABLE, &words, part.kind.retry_after_seconds()),
        InboxError::Host(error) => {
            tracing::warn!(%error, "an activity was not taken");
            let (status, _) = crate::status(error);
            refusal(status, &words)
        }
    }
}

fn refusal(status: StatusCode, words: &str) -> Response {
    let mut head = HeaderMap::new();
    head.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    HttpAnswer::whole(status, head, json!({"error": words}).to_string()).into_response()
}

fn put_off(status: StatusCode, words: &str, seconds: Option<u64>) -> Response {
    let mut response = refusal(status, words);
    let seconds = seconds.map_or_else(|| HeaderValue::from(RETRY_SECONDS), HeaderValue::from);
    response.headers_mut().insert(RETRY_AFTER, seconds);
    response
}

async fn on_actor(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    let service = &shared.service;
    let Some(resident) = shared.resident(&handle) else { return absent(&head) };
    match service.federation.key.get(service.host()).await {
        Ok(key) => {
            let actor = actor::actor(service.site(), &resident.card, key.public_pem());
            answer(&head.method, &head.headers, || ServedDocument::json(MEDIA_TYPE, ACTOR_PUBLISHED_FRESH, &actor))
        }
        Err(error) => {
            tracing::error!(%error, "the key of the actors can't be read");
            answer(&head.method, &head.headers, || Err(DocumentError::Internal))
        }
    }
}

fn absent(head: &Parts) -> Response {
    answer(&head.method, &head.headers, || Err(DocumentError::Absent("there is no such thing here")))
}

async fn on_outbox(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    listed(&shared, &handle, "outbox", &head).await
}

async fn on_featured(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    listed(&shared, &handle, "featured", &head).await
}

/// A collection of answers that may be listed: those of the outbox as what made them.
async fn listed(shared: &Shared, handle: &str, what: &str, head: &Parts) -> Response {
    let service = &shared.service;
    let Some(resident) = shared.resident(handle) else { return absent(head) };
    let agent = resident.card.handle();
    let found = match service.settings.featured_answers {
        true => KeptNotes::of(service.host()).featured(agent).await.unwrap_or_default(),
        false => Vec::new(),
    };
    let named = |note: Value| match (what, note.as_str()) {
        ("outbox", Some(note)) => json!(format!("{note}/activity")),
        _ => note,
    };
    let items: Vec<Value> = found.into_iter().map(named).collect();
    let id = names::of_actor(service.site(), agent, what);
    served(head, &actor::collection(&id, items.len() as u64, Some(items)))
}

async fn on_followers(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    let service = &shared.service;
    let Some(resident) = shared.resident(&handle) else { return absent(&head) };
    let agent = resident.card.handle();
    let total = Relations::of(service.host()).followers(agent).await.unwrap_or_default();
    // How many, and not who.
    served(&head, &actor::collection(&names::of_actor(service.site(), agent, "followers"), total, None))
}

async fn on_following(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    let Some(resident) = shared.resident(&handle) else { return absent(&head) };
    let id = names::of_actor(shared.service.site(), resident.card.handle(), "following");
    served(&head, &actor::collection(&id, 0, Some(Vec::new())))
}

fn served(head: &Parts, value: &Value) -> Response {
    answer(&head.method, &head.headers, || ServedDocument::json(MEDIA_TYPE, COLLECTION_FRESH, value))
}

async fn on_note(State(shared): On, Path((handle, token)): Path<(String, String)>, head: Parts) -> Response {
    let Some(kept) = readable(&shared, &handle, &token, &head).await else { return absent(&head) };
    if kept.is_public && wants_page(&head.headers) {
        return page(&shared, &kept, &head);
    }
    let mut note = kept.note;
    note["@context"] = json!([CONTEXT, {"mentionable": MENTIONABLE}]);
    note_document(&head, kept.is_public, &note)
}

async fn on_create(State(shared): On, Path((handle, token)): Path<(String, String)>, head: Parts) -> Response {
    match readable(&shared, &handle, &token, &head).await {
        Some(kept) => note_document(&head, kept.is_public, &compose::create(&kept.note)),
        None => absent(&head),
    }
}

fn note_document(head: &Parts, is_public: bool, value: &Value) -> Response {
    let document = || Ok(ServedDocument::json(MEDIA_TYPE, COLLECTION_FRESH, value)?.varying_by("Accept"));
    let mut response = answer(&head.method, &head.headers, document);
    if !is_public {
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    }
    response
}

/// The answer of a token, where whoever asks may read it: one that is not public only for whom it was.
async fn readable(shared: &Shared, handle: &str, token: &str, head: &Parts) -> Option<KeptNote> {
    let service = &shared.service;
    let resident = shared.resident(handle).filter(|_| ids::is_token(token))?;
    let kept = KeptNotes::of(service.host()).find(token).await.ok().flatten()?;
    let kept = Some(kept).filter(|kept| kept.agent == *resident.card.handle())?;
    let is_open = kept.is_public && !service.settings.authorized_fetch;
    (is_open || shared.proves_reader(head, &kept).await).then_some(kept)
}

/// Whether a person asks with a browser, and no server.
fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.contains("text/html") && !accept.contains(MEDIA_TYPE) && !accept.contains("application/ld+json")
}

/// The whole of an answer that was too long, for whoever has the link.
async fn on_whole(State(shared): On, Path(token): Path<String>, head: Parts) -> Response {
    let found = match ids::is_token(&token) {
        true => KeptNotes::of(shared.service.host()).whole(&token).await.ok().flatten(),
        false => None,
    };
    match found {
        Some(kept) => page(&shared, &kept, &head),
        None => absent(&head),
    }
}

fn page(shared: &Shared, kept: &KeptNote, head: &Parts) -> Response {
    let Some(resident) = shared.service.resident(&kept.agent) else { return absent(head) };
    let card: &AgentCard = &resident.card;
    let parts = vec![Part::markdown(kept.words.clone())];
    let collected =
        CollectedReply { parts, findings: None, usage: Default::default(), receipt: None, ending: Ending::Complete };
    let url = kept.note.get("id").and_then(Value::as_str).unwrap_or_default();
    let path = shared.service.site().path(&format!("/~{}", card.handle())).into_owned();
    let html = ReplyPage {
        brand: &shared.pages.branding,
        card,
        url,
        language: &card.language,
        collected: &collected,
        path: &path,
        session: None,
        asked: &[],
        kept_under: None,
        account: Account::None,
        transaction: None,
    };
    let mut fields = HeaderMap::new();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=0"));
    fields.insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(policy) = HeaderValue::from_str(shared.pages.branding.asking_policy()) {
        fields.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in csp::HEADERS {
        fields.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    HttpAnswer::whole(StatusCode::OK, fields, html.render()).into_response()
}

async fn on_nodeinfo_links(State(shared): On, head: Parts) -> Response {
    let links = actor::nodeinfo_links(shared.service.site());
    answer(&head.method, &head.headers, || ServedDocument::json(JSON, ACTOR_PUBLISHED_FRESH, &links))
}

async fn on_nodeinfo(State(shared): On, head: Parts) -> Response {
    let service = &shared.service;
    let info = actor::nodeinfo(service.site(), service.residents().count());
    let kind = "application/json; profile=\"http://nodeinfo.diaspora.software/ns/schema/2.1#\"";
    answer(&head.method, &head.headers, || ServedDocument::json(kind, ACTOR_PUBLISHED_FRESH, &info))
}
