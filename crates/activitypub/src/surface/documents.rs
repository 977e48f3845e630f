//! What is published: actors, collections, answers, and what this server says of itself.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use forecourt_core::{AgentCard, CollectedReply, Ending, Part, ids};
use forecourt_pages::{Account, ReplyPage, csp};
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::document::{DocumentError, ServedDocument, answer};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::{JSON, On, SurfaceState, arrived, target};
use crate::actor;
use crate::compose;
use crate::kept::{KeptNote, KeptNotes};
use crate::limits::{ACTOR_PUBLISHED_FRESH, COLLECTION_FRESH};
use crate::names::{self, CONTEXT, MEDIA_TYPE, TERMS};
use crate::relations::Relations;

impl SurfaceState {
    /// Whether answers of this kind are read without a signature.
    fn is_open(&self, is_public: bool) -> bool {
        is_public && !self.service.settings.authorized_fetch
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

pub(super) async fn on_actor(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    let service = &shared.service;
    let Some(resident) = shared.resident(&handle) else { return absent(&head) };
    if wants_page(&head.headers) {
        return to_page(&actor::page(service.site(), &resident.card));
    }
    match service.federation.key.get(service.host()).await {
        Ok(key) => {
            let actor = actor::actor(service.site(), &resident.card, key.public_pem());
            let document = || Ok(ServedDocument::json(MEDIA_TYPE, ACTOR_PUBLISHED_FRESH, &actor)?.varying_by("Accept"));
            answer(&head.method, &head.headers, document)
        }
        Err(error) => {
            tracing::error!(%error, "the key of the actors can't be read");
            answer(&head.method, &head.headers, || Err(DocumentError::Internal))
        }
    }
}

/// Leads a person from an actor to the agent's page.
fn to_page(url: &str) -> Response {
    let mut fields = HeaderMap::new();
    fields.insert(VARY, HeaderValue::from_static("Accept"));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    fields.extend(HeaderValue::from_str(url).ok().map(|url| (LOCATION, url)));
    HttpAnswer::empty(StatusCode::SEE_OTHER, fields).into_response()
}

fn absent(head: &Parts) -> Response {
    answer(&head.method, &head.headers, || Err(DocumentError::Absent("there is no such thing here")))
}

pub(super) async fn on_outbox(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    listed(&shared, &handle, "outbox", &head).await
}

pub(super) async fn on_featured(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    listed(&shared, &handle, "featured", &head).await
}

/// A collection of answers that may be listed: those of the outbox as what made them.
async fn listed(shared: &SurfaceState, handle: &str, what: &str, head: &Parts) -> Response {
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

pub(super) async fn on_followers(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    let service = &shared.service;
    let Some(resident) = shared.resident(&handle) else { return absent(&head) };
    let agent = resident.card.handle();
    let total = Relations::of(service.host()).followers(agent).await.unwrap_or_default();
    // How many, and not who.
    served(&head, &actor::collection(&names::of_actor(service.site(), agent, "followers"), total, None))
}

pub(super) async fn on_following(State(shared): On, Path(handle): Path<String>, head: Parts) -> Response {
    let Some(resident) = shared.resident(&handle) else { return absent(&head) };
    let id = names::of_actor(shared.service.site(), resident.card.handle(), "following");
    served(&head, &actor::collection(&id, 0, Some(Vec::new())))
}

fn served(head: &Parts, value: &Value) -> Response {
    answer(&head.method, &head.headers, || ServedDocument::json(MEDIA_TYPE, COLLECTION_FRESH, value))
}

pub(super) async fn on_note(State(shared): On, Path((handle, token)): Path<(String, String)>, head: Parts) -> Response {
    let Some(kept) = readable(&shared, &handle, &token, &head).await else { return for_nobody_else(absent(&head)) };
    if kept.is_public && wants_page(&head.headers) {
        return page(&shared, &kept, &head);
    }
    let mut note = kept.note;
    note["@context"] = json!([CONTEXT, {"mentionable": TERMS}]);
    note_document(&shared, &head, kept.is_public, &note)
}

pub(super) async fn on_create(
    State(shared): On,
    Path((handle, token)): Path<(String, String)>,
    head: Parts,
) -> Response {
    match readable(&shared, &handle, &token, &head).await {
        Some(kept) => note_document(&shared, &head, kept.is_public, &compose::create(&kept.note)),
        None => for_nobody_else(absent(&head)),
    }
}

fn note_document(shared: &SurfaceState, head: &Parts, is_public: bool, value: &Value) -> Response {
    let document = || Ok(ServedDocument::json(MEDIA_TYPE, COLLECTION_FRESH, value)?.varying_by("Accept"));
    let response = answer(&head.method, &head.headers, document);
    if shared.is_open(is_public) { response } else { for_nobody_else(response) }
}

/// What depends on who signed the request: a cache before this host must neither give it to others, nor tell whoever
/// may read something that it is absent.
fn for_nobody_else(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}

/// The answer of a token, where whoever asks may read it: one that is not public only for whom it was.
async fn readable(shared: &SurfaceState, handle: &str, token: &str, head: &Parts) -> Option<KeptNote> {
    let service = &shared.service;
    let resident = shared.resident(handle).filter(|_| ids::is_token(token))?;
    let kept = KeptNotes::of(service.host()).find(token).await.ok().flatten()?;
    let kept = Some(kept).filter(|kept| kept.agent == *resident.card.handle())?;
    (shared.is_open(kept.is_public) || shared.proves_reader(head, &kept).await).then_some(kept)
}

/// Whether a person asks with a browser, and no server.
fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.contains("text/html") && !accept.contains(MEDIA_TYPE) && !accept.contains("application/ld+json")
}

/// The whole of an answer that was too long, for whoever has the link.
pub(super) async fn on_whole(State(shared): On, Path(token): Path<String>, head: Parts) -> Response {
    let found = match ids::is_token(&token) {
        true => KeptNotes::of(shared.service.host()).whole(&token).await.ok().flatten(),
        false => None,
    };
    match found {
        Some(kept) => page(&shared, &kept, &head),
        None => absent(&head),
    }
}

fn page(shared: &SurfaceState, kept: &KeptNote, head: &Parts) -> Response {
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

pub(super) async fn on_nodeinfo_links(State(shared): On, head: Parts) -> Response {
    let links = actor::nodeinfo_links(shared.service.site());
    answer(&head.method, &head.headers, || ServedDocument::json(JSON, ACTOR_PUBLISHED_FRESH, &links))
}

pub(super) async fn on_nodeinfo(State(shared): On, head: Parts) -> Response {
    let service = &shared.service;
    let info = actor::nodeinfo(service.site(), service.residents().count());
    let kind = "application/json; profile=\"http://nodeinfo.diaspora.software/ns/schema/2.1#\"";
    answer(&head.method, &head.headers, || ServedDocument::json(kind, ACTOR_PUBLISHED_FRESH, &info))
}
