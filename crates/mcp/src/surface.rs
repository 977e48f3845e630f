//! The paths of this protocol: the only file that knows the web framework.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use forecourt_core::{Address, AgentCard, ClientAddr, Handle, PolicyPart, in_place};
use forecourt_egress::hops;
use forecourt_host::OpenSessions;
use forecourt_identity::Verifier;
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::{BodyLimits, read_limited};
use forecourt_surface::credentials;
use forecourt_surface::{BaseUrl, HttpRoutes, Mount, negotiate};
use futures::future::BoxFuture;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use crate::call_trace::Carrier;
use crate::caller::Caller;
use crate::direct::DirectCall;
use crate::limits::{BODY_BYTES_MAX, VERDICT_TIME_MAX};
use crate::offer::{Offer, OfferSource};
use crate::origin::Origins;
use crate::person::KnownPerson;
use crate::server::Server;
use crate::sessions::{SessionRefusal, SessionReservation, Sessions};
use crate::verdict::Verdict;
use crate::{bare_refusal, cors, fields, rpc_error, server_card, target};

const PATHS: [&str; 3] = ["/mcp", "/mcp/", "/mcp/{*path}"];
/// What the SDK wants to be accepted, to the letter.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// What a session is asked that is made anew.
const PING: &[u8] = br#"{"jsonrpc":"2.0","id":"restore","method":"ping"}"#;
static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The HTTP entrance of MCP: origins, callers and sessions in front of the SDK's service.
pub(crate) struct McpEndpoint {
    offer: Arc<Offer>,
    verifier: Arc<Verifier>,
    origins: Origins,
    sessions: Arc<Sessions>,
    service: StreamableHttpService<Server, Sessions>,
}

impl McpEndpoint {
    pub(crate) fn new(offer: Arc<Offer>, mount: &Mount) -> Self {
        let site = offer.host.site().clone();
        let current = mount.services.publish(offer.clone());
        let sessions = mount.services.keep(|| Sessions::new(&offer.host));
        let counted = sessions.clone();
        let count = Box::new(move || counted.count());
        mount.services.publish(Arc::new(OpenSessions { protocol: crate::NAME, count }));
        // Against DNS rebinding the SDK serves the names of loopback alone, and answers 403 under any other.
        let hosts = [site.domain.as_str(), site.canonical_host(), "localhost", "127.0.0.1", "::1"];
        // Origins are checked here, before anything is read; the names of the host once more there.
        let mut config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_max_request_body_bytes(BODY_BYTES_MAX)
            // A stream that waits for nothing in particular ends with the host.
            .with_cancellation_token(offer.host.stopping().child_token())
            // Streams of sessions begin as their revision wants it, and the handshake's with its answer.
            .with_sse_retry(None)
            // Where there is nothing to tell on the way, one message needs no stream.
            .with_json_response(true);
        config.session_store = sessions.store();
        let behind = Arc::downgrade(&offer);
        // Each session has what it is told of for itself.
        let server = move || {
            let offer = behind.upgrade().ok_or_else(|| std::io::Error::other("the host has ended"))?;
            Ok(Server::remote(OfferSource::new(offer, Some(current.clone()))))
        };
        let service = StreamableHttpService::new(server, sessions.clone(), config);
        let origins = Origins::new(&site, &offer.settings.allowed_origins);
        Self { offer, verifier: mount.verifier.clone(), origins, sessions, service }
    }
}

/// The routes of the protocol.
pub(crate) fn routes(door: Arc<McpEndpoint>) -> HttpRoutes {
    let mut router = Router::new();
    for path in PATHS {
        router = router.route(path, any(on_mcp));
    }
    HttpRoutes { paths: PATHS.to_vec(), router: router.with_state(door) }
}

/// On the heap from the beginning, since the framework moves what it is given.
fn on_mcp(State(door): State<Arc<McpEndpoint>>, request: Request) -> BoxFuture<'static, Response> {
    in_place(move || at_mcp(door, request))
}

async fn at_mcp(door: Arc<McpEndpoint>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    if let Some(card) = door.card_asked_for(head.uri.path()) {
        let base = BaseUrl::of(door.offer.host.site(), &head.extensions);
        return server_card::answer(&head, base, card);
    }
    let origin = head.headers.get(ORIGIN).cloned();
    let foreign = |origin: &HeaderValue| !origin.to_str().is_ok_and(|origin| door.origins.allow(origin));
    // MCP, transports: 403, against DNS rebinding. Programs send no origin and pass.
    if origin.as_ref().is_some_and(foreign) {
        let words = "pages of this origin may not connect; [mcp] allowed_origins names those that may";
        return rpc_error::answer(StatusCode::FORBIDDEN, &Value::Null, words).into_response();
    }
    let mut response = match head.method {
        Method::OPTIONS => options(&head.headers),
        _ => door.enter(head, body).await.unwrap_or_else(|answer| answer.into_response()),
    };
    if let Some(origin) = origin {
        cors::open(response.headers_mut(), origin);
    }
    response
}

fn options(asked: &HeaderMap) -> Response {
    let mut head = HeaderMap::new();
    head.insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE, OPTIONS"));
    cors::preflight(&mut head, asked);
    HttpAnswer::empty(StatusCode::NO_CONTENT, head).into_response()
}

/// A message before the SDK reads it. What has another shape than it should is looked at all the same:
/// the SDK passes over fields that a method does not have, and so must what is checked here.
struct Peek(Value);

impl Peek {
    /// Reads the body of a request. Fails for what is no JSON where a message must be.
    fn at(head: &Parts, body: &[u8]) -> Result<Self, serde_json::Error> {
        let must_be_read = head.method == Method::POST && says_json(&head.headers);
        match serde_json::from_slice(body) {
            Ok(message) => Ok(Self(message)),
            Err(error) if must_be_read => Err(error),
            Err(_) => Ok(Self(Value::Null)),
        }
    }

    fn id(&self) -> &Value {
        &self.0["id"]
    }

    fn is(&self, method: &str) -> bool {
        self.0["method"] == method
    }
}

impl McpEndpoint {
    /// The agent whose card lies at this path.
    fn card_asked_for(&self, path: &str) -> Option<&AgentCard> {
        let agent = target::read(path.strip_suffix(server_card::SUFFIX)?)??;
        self.offer.host.directory().find(&agent).map(|resident| &*resident.card)
    }

    /// Lets a request in: an endpoint that exists, within the limits, by a caller whose proofs hold and
    /// whose session it is.
    async fn enter(&self, head: Parts, body: Body) -> Result<Response, HttpAnswer> {
        let (address, agent) = self.endpoint(head.uri.path()).ok_or_else(|| {
            rpc_error::answer(StatusCode::NOT_FOUND, &Value::Null, "there is no MCP endpoint at this path")
        })?;
        let body = read_limited(body, &BodyLimits::with_bytes_max(BODY_BYTES_MAX)).await.map_err(rpc_error::unread)?;
        // Not metered here: a call carries a message, which is counted on its way to the agent.
        let direct = says_json(&head.headers).then(|| DirectCall::read(&head, &body)).flatten();
        if let Some(call) = direct.filter(|call| call.is_plain(&self.offer, agent.as_ref())) {
            return self.answer_directly(&head, &body, call, address, agent).await;
        }
        let peek = self.peek(&head, &body).map_err(|refused| *refused)?;
        let caller = self.caller(&head, &body, address, agent).await;
        let caller = caller.map_err(|part| self.refusal(&part, peek.id()))?;
        let verdict = caller.verdict.clone();
        let response = self.pass_on(head, body, &peek, caller).await?;
        if peek.is("tools/call") && !peek.id().is_null() && response.status().is_success() {
            // An answer that has begun can't tell the client any more that it must sign in.
            if let Some(part) = verdict.refusal(VERDICT_TIME_MAX).await {
                return Err(self.refusal(&part, peek.id()));
            }
        }
        Ok(response)
    }

    /// Whose endpoint a path is: who is addressed, an agent or a server, and its name unless it is the host's.
    fn endpoint(&self, path: &str) -> Option<(&Address, Option<Handle>)> {
        let directory = self.offer.host.directory();
        let agent = target::read(path)?;
        let address = match &agent {
            Some(name) => match directory.find(name) {
                Some(resident) => &resident.card.address,
                None => &self.offer.servers.find(name)?.gate().card().address,
            },
            None => &directory.default_agent().card.address,
        };
        Some((address, agent))
    }

    /// Looks at a message, and counts it against the limits of whoever sends it, also one that is not JSON.
    fn peek(&self, head: &Parts, body: &[u8]) -> Result<Peek, Box<HttpAnswer>> {
        let (peek, broken) = match Peek::at(head, body) {
            Ok(peek) => (peek, None),
            Err(error) => (Peek(Value::Null), Some(error)),
        };
        if !peek.is("tools/call") {
            // Calls carry messages, which are counted on their way to the agent.
            let address = head.extensions.get::<ClientAddr>().map(|client| client.0);
            self.offer.host.meter(address).map_err(|part| Box::new(self.refusal(&part, peek.id())))?;
        }
        match broken {
            Some(error) => Err(Box::new(rpc_error::no_json(&error))),
            None => Ok(peek),
        }
    }

    /// Who sends a request, as far as its proofs hold.
    async fn caller(
        &self,
        head: &Parts,
        body: &[u8],
        address: &Address,
        agent: Option<Handle>,
    ) -> Result<Caller, Box<PolicyPart>> {
        let host = &self.offer.host;
        let proof = credentials::Request { head, body: Some(body), agent: address, now: host.clock().now() };
        let sender = credentials::sender(&self.verifier, host.site(), proof).await?;
        let (hop, language) = (hops::read(&head.headers), negotiate::language(&head.headers));
        // As everywhere, the first evidence says who it is.
        let first = sender.identities.first().filter(|_| sender.verified);
        let person = first.and_then(|evidence| self.verifier.person_of(evidence)).map(KnownPerson::new);
        Ok(Caller { agent, sender, person, hop, language, verdict: Verdict::default(), log: None })
    }

    /// Passes a message on to its session: one that is begun by it, that is there, or that another node has begun.
    async fn pass_on(&self, mut head: Parts, body: Bytes, peek: &Peek, caller: Caller) -> Result<Response, HttpAnswer> {
        let session = head.headers.get(&fields::SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if let Some(id) = &session {
            self.check_session(id, peek, &caller).await?;
        }
        let begins = peek.is("initialize");
        let place = begins.then(|| self.sessions.reserve(&caller.sender)).transpose();
        let place = place.map_err(|part| self.refusal(&part, peek.id()))?;
        let sender = begins.then(|| caller.sender.clone());
        head.extensions.insert(caller);
        if let Some(id) = session.as_deref().filter(|_| head.method != Method::DELETE) {
            self.restore(id, &head).await?;
        }
        Carrier::remember(&mut head);
        let served = self.serve(head, body, peek).await;
        // Also where it failed: a session that the SDK did not make must not keep a place.
        session.iter().for_each(|id| self.sessions.settle(id));
        let response = served?;
        if let (Some(sender), Some(id)) = (sender, begun(response.headers())) {
            let initialize = peek.0["params"].clone();
            let unkept = |error| rpc_error::unkept(&error, peek.id(), self.canonical_host());
            self.sessions.share(id, initialize, &sender).await.map_err(unkept)?;
        }
        bind(place, response.headers());
        Ok(response)
    }

    /// Answers a call that needs nothing of the SDK, by a caller whose proofs hold.
    async fn answer_directly(
        &self,
        head: &Parts,
        body: &[u8],
        call: DirectCall,
        address: &Address,
        agent: Option<Handle>,
    ) -> Result<Response, HttpAnswer> {
        let id = call.id.clone();
        let refusal = |part: Box<PolicyPart>| self.refusal(&part, &id.clone().into_json_value());
        let caller = self.caller(head, body, address, agent).await.map_err(refusal)?;
        let answer = call.answer(&self.offer, &caller).await;
        match caller.verdict.known_refusal() {
            Some(part) => Err(refusal(part)),
            None => Ok(answer.into_response()),
        }
    }

    /// A refusal of the message of this id.
    fn refusal(&self, part: &PolicyPart, id: &Value) -> HttpAnswer {
        rpc_error::refused(part, id, self.canonical_host())
    }

    fn canonical_host(&self) -> &str {
        self.offer.host.site().canonical_host()
    }

    /// Has the SDK answer a request that was let in, and mends what clients stumble over.
    async fn serve(&self, mut head: Parts, body: Bytes, peek: &Peek) -> Result<Response, HttpAnswer> {
        let (ends, is_json) = (head.method == Method::DELETE, says_json(&head.headers));
        accept_both(&head.method, &mut head.headers);
        let mut response = self.service.handle(Request::from_parts(head, Body::from(body))).await.map(Body::new);
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            let words = "this is not a JSON-RPC message of MCP";
            return Err(rpc_error::answer(StatusCode::BAD_REQUEST, peek.id(), words));
        }
        if ends && response.status() == StatusCode::ACCEPTED {
            // Clients take nothing but 200 and 204 for the end of a session.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        Ok(bare_refusal::spelled(response, peek.id()).await)
    }

    /// Has the SDK make a session anew that another node has begun, by a request that asks for nothing: of all that
    /// come at once, one does.
    async fn restore(&self, id: &str, head: &Parts) -> Result<(), HttpAnswer> {
        let Some(_turn) = self.sessions.turn_to_restore(id).await else { return Ok(()) };
        let mut asking = head.clone();
        asking.method = Method::POST;
        asking.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        asking.headers.insert(ACCEPT, BOTH);
        asking.headers.remove(CONTENT_LENGTH);
        asking.headers.remove(LAST_EVENT_ID.clone());
        self.serve(asking, Bytes::from_static(PING), &Peek(Value::Null)).await.map(drop)
    }

    /// Fails when a session may not be gone on with.
    async fn check_session(&self, id: &str, peek: &Peek, caller: &Caller) -> Result<(), HttpAnswer> {
        self.sessions.enter(id, &caller.sender).await.map_err(|refusal| match refusal {
            // As for one that does not exist: the client begins another.
            SessionRefusal::Unknown => rpc_error::answer(StatusCode::NOT_FOUND, peek.id(), "there is no such session"),
            SessionRefusal::Full(part) => self.refusal(&part, peek.id()),
            SessionRefusal::Unavailable => rpc_error::unavailable(peek.id()),
        })
    }
}

/// The session that an answer has begun.
fn begun(head: &HeaderMap) -> Option<&str> {
    head.get(&fields::SESSION).and_then(|id| id.to_str().ok())
}

/// Binds the session that an answer has begun to the place that was taken for it.
fn bind(place: Option<SessionReservation<'_>>, head: &HeaderMap) {
    if let (Some(place), Some(id)) = (place, begun(head)) {
        place.take(id);
    }
}

/// Whether a body is said to be JSON.
fn says_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Takes clients that accept anything, or say nothing, for clients that accept what they are given.
fn accept_both(method: &Method, headers: &mut HeaderMap) {
    // The SDK wants both types to the letter and answers 406 to `*/*`.
    let any = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("*/*"));
    let open = headers.get_all(ACCEPT).iter().any(any) || !headers.contains_key(ACCEPT);
    if open && matches!(*method, Method::POST | Method::GET) {
        headers.insert(ACCEPT, BOTH);
    }
}
