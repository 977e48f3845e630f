//! The paths at which others look. All at the root of the domain, whatever else is there.

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::routing::any;
use forecourt_core::{Handle, SystemClock, Timestamp, origin};
use forecourt_egress::Egress;
use forecourt_host::{Host, HostedAgent};
use forecourt_identity::{HostKeys, KeyDirectory, Verifier};
use forecourt_settings::{Problems, Section};
use forecourt_surface::document::{DocumentError, ServedDocument, answer};
use forecourt_surface::{BaseUrl, HttpRoutes, Mount, PublishedDocument};
use http::Response;
use serde_json::Value;

use super::acct::Acct;
use super::card::card;
use super::directory::directory;
use super::limits::{KEYS_FRESH, LOOKUP_FRESH};
use super::names::{CARDS_PATH, DIRECTORY_PATH, JWKS_PATH, WEBFINGER_PATH};
use super::resolver::Resolver;
use super::validate::{ExpectedCard, validate_agent_card};
use super::webfinger::Query;

const CARD_ROUTE: &str = "/.well-known/agent-card/{handle}";
const JSON: &str = "application/json";

/// What the handlers share.
struct Discovery {
    host: Arc<Host>,
    verifier: Arc<Verifier>,
    keys: Arc<ArcSwap<HostKeys>>,
}

/// The paths of discovery. Fails when others would refuse what would be published there: a card that
/// is malformed, or URLs on another host than the one that everything is bound to.
pub fn routes(mount: &Mount, section: &Section) -> Result<HttpRoutes, Problems> {
    let shared = Arc::new(Discovery::of(mount));
    let mut problems = Problems::new();
    for resident in shared.host.directory().iter() {
        problems.extend(shared.problems_of(resident).map(|text| section.problem(None, text)));
    }
    let router = Router::new()
        .route(WEBFINGER_PATH, any(webfinger))
        .route(CARD_ROUTE, any(agent_card))
        .route(DIRECTORY_PATH, any(agents))
        .route(JWKS_PATH, any(jwks))
        .with_state(shared);
    let paths = vec![WEBFINGER_PATH, CARD_ROUTE, DIRECTORY_PATH, JWKS_PATH];
    problems.into_result(HttpRoutes { paths, router })
}

/// The documents of discovery, for plain web hosting. WebFinger is none: it answers a question. Agent
/// directory, static hosting.
pub fn documents(mount: &Mount, section: &Section) -> Result<Vec<PublishedDocument>, Problems> {
    let shared = Discovery::of(mount);
    let found = shared.documents();
    found.map_err(|_| section.problem(None, "the cards of the agents can't be written").into())
}

/// Finds the keys of agents elsewhere by their cards, for requests that they sign.
pub fn key_directory(egress: Arc<Egress>) -> Arc<dyn KeyDirectory> {
    Arc::new(Resolver::new(egress, Arc::new(SystemClock)))
}

impl Discovery {
    fn of(mount: &Mount) -> Self {
        Self { host: mount.host.clone(), verifier: mount.verifier.clone(), keys: mount.keys.clone() }
    }

    fn documents(&self) -> Result<Vec<PublishedDocument>, DocumentError> {
        let published =
            |path: String, document: ServedDocument| PublishedDocument { path, body: document.body().clone() };
        let mut documents = vec![
            published(DIRECTORY_PATH.to_owned(), self.directory(BaseUrl::configured(self.host.site()))?),
            published(JWKS_PATH.to_owned(), self.jwks()?),
        ];
        for resident in self.host.directory().iter() {
            let path = format!("{CARDS_PATH}{}", resident.card.handle());
            documents.push(published(path, self.card_of(resident, BaseUrl::configured(self.host.site()))?));
        }
        Ok(documents)
    }

    fn directory(&self, base: BaseUrl<'_>) -> Result<ServedDocument, DocumentError> {
        ServedDocument::json(JSON, LOOKUP_FRESH, &directory(&self.host, &base.site()))
    }

    /// Design 21. RFC 7517 8.5.2.
    fn jwks(&self) -> Result<ServedDocument, DocumentError> {
        ServedDocument::json("application/jwk-set+json", KEYS_FRESH, &self.keys.load().jwks(self.now()))
    }

    fn now(&self) -> Timestamp {
        self.host.clock().now()
    }

    /// What URLs begin with in the answer to a request.
    fn base<'a>(&'a self, request: &'a Request) -> BaseUrl<'a> {
        BaseUrl::of(self.host.site(), request.extensions())
    }

    fn card_of(&self, resident: &HostedAgent, base: BaseUrl<'_>) -> Result<ServedDocument, DocumentError> {
        let keys = self.keys.load();
        ServedDocument::json(JSON, KEYS_FRESH, &card(&base.card(&resident.card), &keys, &self.verifier, self.now()))
    }

    /// What is wrong with what would be published of an agent.
    fn problems_of(&self, resident: &HostedAgent) -> impl Iterator<Item = String> {
        let own = &resident.card;
        let canonical_host = self.host.site().canonical_host();
        let published = serde_json::to_value(card(own, &self.keys.load(), &self.verifier, self.now()));
        let expected = ExpectedCard { acct: Some(&Acct::from(&own.address)), canonical_host: Some(canonical_host) };
        let problems = validate_agent_card(&published.unwrap_or(Value::Null), expected);
        // What has a scheme of its own has a place of its own.
        let on_the_web = own.endpoints.iter().filter(|endpoint| endpoint.url.starts_with("http"));
        let foreign = on_the_web.filter(|endpoint| !origin::is_bound_to(&endpoint.url, canonical_host));
        let foreign = foreign
            .map(|endpoint| format!("its {} endpoint {} is not on {canonical_host}", endpoint.protocol, endpoint.url));
        let texts: Vec<String> = problems.iter().map(ToString::to_string).chain(foreign).collect();
        let handle = own.handle().clone();
        texts.into_iter().map(move |text| format!("the card of @{handle} would be refused by others: {text}"))
    }
}

async fn webfinger(State(shared): State<Arc<Discovery>>, request: Request) -> Response<Body> {
    answer(request.method(), request.headers(), || {
        let query = Query::parse(request.uri().query().unwrap_or_default())?;
        let site = shared.host.site();
        let resident = query.resident(site, shared.host.directory());
        let resident = resident.ok_or(DocumentError::Absent("no agent of that address lives here"))?;
        let base = shared.base(&request);
        ServedDocument::json(
            "application/jrd+json",
            LOOKUP_FRESH,
            &query.answer(&base.site(), &base.card(&resident.card)),
        )
    })
}

async fn agent_card(
    State(shared): State<Arc<Discovery>>,
    handle: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response<Body> {
    answer(request.method(), request.headers(), || {
        // The local part alone: `@` belongs to addresses.
        let handle = handle.ok().filter(|handle| !handle.starts_with('@')).and_then(|h| Handle::parse(&h).ok());
        let resident = handle.and_then(|handle| shared.host.directory().find(&handle));
        let resident = resident.ok_or(DocumentError::Absent("no agent of that name lives here"))?;
        shared.card_of(resident, shared.base(&request))
    })
}

async fn agents(State(shared): State<Arc<Discovery>>, request: Request) -> Response<Body> {
    answer(request.method(), request.headers(), || shared.directory(shared.base(&request)))
}

async fn jwks(State(shared): State<Arc<Discovery>>, request: Request) -> Response<Body> {
    answer(request.method(), request.headers(), || shared.jwks())
}
