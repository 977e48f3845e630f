//! The paths of this protocol: the only file that knows the web framework. NLWeb 7.1; design 5.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use forecourt_core::{ClientAddr, Ending, Event, Handle, Language, PolicyPart, Sender};
use forecourt_egress::hops;
use forecourt_host::{HostedAgent, Run};
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::{BodyError, BodyLimits, is_json, read_limited};
use forecourt_surface::cors::Cors;
use forecourt_surface::protected_resource::ProtectedResource;
use forecourt_surface::{HttpRoutes, credentials, negotiate};
use futures::{FutureExt, StreamExt, stream};
use http::Method;
use http::header::ACCEPT;
use http::request::Parts;
use serde_json::Value;

use crate::answer::{streamed, whole};
use crate::api_error::ApiError;
use crate::limits::BODY_BYTES_MAX;
use crate::service::{Asker, Service, ended, turned_away, wrong};
use crate::site::ChosenAgent;
use crate::unfold::End;
use crate::wire::{Ask, Dialect, Style};
use crate::{NAME, decode, legacy, response, site, stream as frames, widget};

/// The path patterns; the tilde may come encoded, and a last slash changes nothing.
const PATHS: [&str; 16] = [
    "/ask",
    "/ask/",
    "/await",
    "/await/",
    "/~{handle}/ask",
    "/~{handle}/ask/",
    "/~{handle}/await",
    "/~{handle}/await/",
    "/%7E{handle}/ask",
    "/%7E{handle}/ask/",
    "/%7E{handle}/await",
    "/%7E{handle}/await/",
    "/%7e{handle}/ask",
    "/%7e{handle}/ask/",
    "/%7e{handle}/await",
    "/%7e{handle}/await/",
];
const ASK_METHODS: &str = "GET, HEAD, POST, OPTIONS";
const AWAIT_METHODS: &str = "POST, OPTIONS";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// For agents whose cards let pages of other origins in, as on every wire.
const CORS: Cors = Cors {
    methods: "GET, POST, OPTIONS",
    fields: "Content-Type, Accept, Accept-Language, Authorization",
    exposed: "WWW-Authenticate, Retry-After",
};

/// The routes of the protocol.
pub(crate) fn routes(service: Arc<Service>) -> HttpRoutes {
    let router = PATHS.into_iter().fold(Router::new(), |router, path| router.route(path, any(on_path)));
    let router = router.route(widget::SCRIPT_PATH, any(widget::script)).route(widget::ABOUT_PATH, any(widget::about));
    let paths = PATHS.into_iter().chain([widget::SCRIPT_PATH, widget::ABOUT_PATH]).collect();
    HttpRoutes { paths, router: router.with_state(service) }
}

/// What a token is for that is sent to a path: asking, also of those who wait for an answer.
pub(crate) fn resource(path: &str) -> Option<ProtectedResource> {
    let (name, _) = target(path);
    match name {
        None => {
            let is_own = PATHS[..4].contains(&path);
            is_own.then(|| ProtectedResource { path: "/ask".to_owned(), agent: None })
        }
        Some(name) => {
            let agent = Handle::parse(name).ok().filter(|_| !name.starts_with('@'))?;
            let last = path.trim_end_matches('/').rsplit('/').next();
            let is_own = matches!(last, Some("ask" | "await"));
            is_own.then(|| ProtectedResource { path: format!("/~{agent}/ask"), agent: Some(agent) })
        }
    }
}

/// One request: whose endpoint it is at, and its head.
struct NlwebRequest<'a> {
    service: &'a Arc<Service>,
    agent: Option<Handle>,
    head: &'a Parts,
}

async fn on_path(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let (agent, operation) = target(head.uri.path());
    let agent = match agent.map(|name| Handle::parse(name).ok().filter(|_| !name.starts_with('@'))) {
        None => None,
        Some(Some(handle)) if service.host.directory().find(&handle).is_some() => Some(handle),
        Some(_) => {
            let fault = ApiError::NoAgent(site::known(&service.host));
            let language = negotiate::language(&head.headers);
            return written(&service, &wrong(&fault, Dialect::V0_55, language.as_ref())).into_response();
        }
    };
    let directory = service.host.directory();
    let resident = agent.as_ref().and_then(|agent| directory.find(agent)).unwrap_or(directory.default_agent());
    let open = resident.card.cors;
    let asked = NlwebRequest { service: &service, agent, head: &head };
    let mut answer = match operation {
        "await" => asked.on_await(body).await,
        _ => asked.on_ask(body).await,
    };
    match widget::listed_origin(&service, &head) {
        _ if open => CORS.open(&mut answer.head),
        Some(origin) => CORS.admit(&mut answer.head, origin),
        None => {}
    }
    // Which origins may read it is decided for each, so that caches must not share it among them.
    if !open && !service.pages.embed.is_empty() {
        Cors::depends_on_origin(&mut answer.head);
    }
    answer.into_response()
}

/// The name behind the tilde, if there is one, and the last word.
fn target(path: &str) -> (Option<&str>, &str) {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    match path.rsplit_once('/') {
        None => (None, path),
        Some((agent, operation)) => {
            let name = ["~", "%7E", "%7e"].iter().find_map(|tilde| agent.strip_prefix(tilde));
            (name.or(Some(agent)), operation)
        }
    }
}

fn written(service: &Service, response: &response::Response) -> HttpAnswer {
    whole(response, &service.settings, service.host.site().canonical_host())
}

impl NlwebRequest<'_> {
    async fn on_ask(&self, body: Body) -> HttpAnswer {
        match self.head.method {
            Method::GET | Method::HEAD => self.on_query().await,
            Method::POST => match self.json(body).await {
                Ok(body) => {
                    let query = self.head.uri.query().unwrap_or_default();
                    let request = match decode::parse(&body).and_then(|request| legacy::unflattened(request, query)) {
                        Ok(request) => request,
                        Err(fault) => return self.fault(fault, Dialect::V0_55),
                    };
                    // On the heap, so that small answers don't carry its size around.
                    Box::pin(self.asked(request, Some(&body))).await
                }
                Err(fault) => self.fault(fault, Dialect::V0_55),
            },
            Method::OPTIONS => HttpAnswer::options(ASK_METHODS),
            _ => self.fault(ApiError::Method(ASK_METHODS), Dialect::V0_55).allowing(ASK_METHODS),
        }
    }

    /// The flat form of old clients. Design 24.
    async fn on_query(&self) -> HttpAnswer {
        match self.head.uri.query().unwrap_or_default() {
            "" => self.fault(ApiError::wrong("query", "the question: /ask?query=soup"), Dialect::V0_55),
            query => match legacy::request(query) {
                Ok(request) => Box::pin(self.asked(request, None)).await,
                Err(fault) => self.fault(fault, Dialect::V0_54),
            },
        }
    }

    async fn asked(&self, request: Value, body: Option<&[u8]>) -> HttpAnswer {
        let dialect = decode::dialect(&request);
        let ask = match decode::ask(request) {
            Ok(ask) => ask,
            Err(fault) => return self.fault(fault, dialect),
        };
        let chosen = match self.service.resident(self.agent.as_ref(), &ask).await {
            Ok(chosen) => chosen,
            Err(fault) => return self.fault(fault, dialect),
        };
        let language = ask.prefer.language.clone().or_else(|| negotiate::language(&self.head.headers));
        let sender = match self.sender(&chosen.resident, body).await {
            Ok(sender) => sender,
            Err(part) => return self.refused(part, ask.style, language.as_ref()),
        };
        let asker = Asker { sender, hop: hops::read(&self.head.headers), language, via: NAME, payment: None };
        match self.streams(&ask) {
            true => self.streamed(chosen, ask, asker).await,
            // A GET keeps nothing going behind its caller's back.
            false if body.is_none() => {
                written(self.service, &self.service.ask(chosen, ask, asker, Run::without_task()).await)
            }
            false => {
                let run = self.service.patience();
                written(self.service, &self.service.ask(chosen, ask, asker, run).await)
            }
        }
    }

    /// The answer in frames. Who is refused at once learns it from the status. Design 23.
    async fn streamed(&self, chosen: ChosenAgent, ask: Ask, asker: Asker) -> HttpAnswer {
        let wanted = asker.language.clone();
        let mut begun = match self.service.begin(chosen, ask, asker, Run::without_task()).await {
            Ok(begun) => begun,
            Err(response) => return written(self.service, &response),
        };
        // Only what is there already: to wait for the first event would hold the whole stream back.
        match begun.reply.events.next().now_or_never() {
            Some(Some(Event::Ending(Ending::Refused(part)))) => {
                // With its session, by which its caller is known when it comes back.
                let outcome = ended(End::Refused(part), wanted.as_ref());
                return written(self.service, &response::Response { about: begun.about, outcome });
            }
            Some(first) => {
                let rest = std::mem::replace(&mut begun.reply.events, Box::pin(stream::empty()));
                begun.reply.events = Box::pin(stream::iter(first).chain(rest));
            }
            None => {}
        }
        let language = begun.reply.language.clone();
        streamed(frames::frames(self.service.clone(), begun), &language)
    }

    async fn on_await(&self, body: Body) -> HttpAnswer {
        match self.head.method {
            Method::POST => {}
            Method::OPTIONS => return HttpAnswer::options(AWAIT_METHODS),
            _ => return self.fault(ApiError::Method(AWAIT_METHODS), Dialect::V0_55).allowing(AWAIT_METHODS),
        }
        let body = match self.json(body).await {
            Ok(body) => body,
            Err(fault) => return self.fault(fault, Dialect::V0_55),
        };
        let request = match decode::parse(&body) {
            Ok(request) => request,
            Err(fault) => return self.fault(fault, Dialect::V0_55),
        };
        let dialect = decode::dialect(&request);
        let awaited = match decode::awaited(request) {
            Ok(awaited) => awaited,
            Err(fault) => return self.fault(fault, dialect),
        };
        let directory = self.service.host.directory();
        let resident = self.agent.as_ref().and_then(|agent| directory.find(agent)).unwrap_or(directory.default_agent());
        // `Host::receive` meters questions; `await` carries none.
        let metered = self.service.host.meter(self.peer());
        let sender = match metered {
            Ok(()) => self.sender(resident, Some(&body)).await,
            Err(part) => Err(part),
        };
        match sender {
            Ok(sender) => {
                let language = negotiate::language(&self.head.headers);
                let awaited = self.service.awaited(self.agent.as_ref(), awaited, &sender, language.as_ref());
                written(self.service, &awaited.await)
            }
            Err(part) => self.refused(part, Style::plain(dialect), negotiate::language(&self.head.headers).as_ref()),
        }
    }

    /// Whether the answer comes as it is made: as the request says, else as it accepts. NLWeb 3.3, 7.2,
    /// 7.3; clients of 0.54 wait for a stream unless they say otherwise.
    fn streams(&self, ask: &Ask) -> bool {
        let accepts = |offers: &[&str]| negotiate::media_type(&self.head.headers, offers);
        match (ask.prefer.streaming, ask.style.dialect) {
            (Some(wanted), _) => wanted,
            (None, Dialect::V0_55) => accepts(&[JSON, EVENTS]) == Some(1),
            (None, Dialect::V0_54) => !self.head.headers.contains_key(ACCEPT) || accepts(&[EVENTS, JSON]) == Some(0),
        }
    }

    fn fault(&self, fault: ApiError, dialect: Dialect) -> HttpAnswer {
        let language = negotiate::language(&self.head.headers);
        written(self.service, &wrong(&fault, dialect, language.as_ref()))
    }

    fn refused(&self, part: Box<PolicyPart>, style: Style, language: Option<&Language>) -> HttpAnswer {
        written(self.service, &turned_away(part, style, language))
    }

    fn peer(&self) -> Option<std::net::IpAddr> {
        self.head.extensions.get::<ClientAddr>().map(|client| client.0)
    }

    /// Who asks, as far as the request proves it to the agent of `resident`.
    async fn sender(&self, resident: &HostedAgent, body: Option<&[u8]>) -> Result<Sender, Box<PolicyPart>> {
        let now = self.service.host.clock().now();
        let request = credentials::Request { head: self.head, body, agent: &resident.card.address, now };
        credentials::sender(&self.service.verifier, self.service.host.site(), request).await
    }

    /// The body, which says that it is JSON. A form that a page of another site could post does not.
    async fn json(&self, body: Body) -> Result<Bytes, ApiError> {
        if !is_json(&self.head.headers) {
            return Err(ApiError::NotJson);
        }
        read_limited(body, &BodyLimits::with_bytes_max(BODY_BYTES_MAX)).await.map_err(|error| match error {
            BodyError::TooLarge { bytes_max } => ApiError::TooLarge(bytes_max),
            BodyError::TooSlow => ApiError::Cut(error.to_string()),
            BodyError::Broken => ApiError::Malformed(error.to_string()),
        })
    }
}
