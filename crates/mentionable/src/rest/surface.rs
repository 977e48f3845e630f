//! The routes of this transport: the only file that knows the web framework.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use forecourt_core::{Handle, in_place};
use forecourt_surface::HttpRoutes;
use forecourt_surface::body::{BodyError, BodyLimits, content_type, read_limited};
use forecourt_surface::protected_resource::ProtectedResource;
use futures::future::BoxFuture;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, Method, StatusCode};

use super::answer::{Outcome, RestError};
use super::decision::DecisionKind;
use super::errors::Failure;
use super::limits::{BODY_BYTES_MAX, WEBHOOK_BODY_BYTES_MAX};
use super::request::RestRequest;
use super::task::TaskPath;
use super::transport::Rest;
use super::wire::DecodeError;
use super::{callback, multipart, payment, query, same_origin, turns};

/// The path patterns of agents; the tilde may come encoded, and a last slash changes nothing.
const AGENT_PATHS: [&str; 6] =
    ["/~{handle}", "/~{handle}/", "/%7E{handle}", "/%7E{handle}/", "/%7e{handle}", "/%7e{handle}/"];
const TASK_PATH: &str = "/tasks/{*path}";
const FRONT_PATH: &str = "/";
const ASSET_PATH: &str = "/assets/{file}";
/// The pages on which people decide. Companion decision U16.
const CONSENT_PATH: &str = "/consent/{state}";
const PAYMENT_PATH: &str = "/pay/{state}";

const AGENT_METHODS: &str = "GET, HEAD, POST, OPTIONS";
const PAGE_METHODS: &str = "GET, HEAD, OPTIONS";

/// The routes of the transport.
pub(crate) fn routes(rest: Rest) -> HttpRoutes {
    let mut router =
        Router::new().route(TASK_PATH, any(on_task)).route(FRONT_PATH, any(on_front)).route(ASSET_PATH, any(on_asset));
    router = router.route(CONSENT_PATH, any(on_consent)).route(PAYMENT_PATH, any(on_payment));
    for path in AGENT_PATHS {
        router = router.route(path, any(on_agent));
    }
    let paths =
        AGENT_PATHS.into_iter().chain([TASK_PATH, FRONT_PATH, ASSET_PATH, CONSENT_PATH, PAYMENT_PATH]).collect();
    HttpRoutes { paths, router: router.fallback(on_nothing).with_state(Arc::new(rest)) }
}

/// What a token is for that is sent to a path: the agent there, or the host.
pub(crate) fn resource(path: &str) -> Option<ProtectedResource> {
    let Some(segment) = path.strip_prefix('/').filter(|_| path != FRONT_PATH) else {
        return (path == FRONT_PATH).then(|| ProtectedResource { path: String::new(), agent: None });
    };
    let name = ["~", "%7E", "%7e"].iter().find_map(|tilde| segment.strip_prefix(tilde))?;
    let agent = Handle::parse(name.strip_suffix('/').unwrap_or(name)).ok().filter(|_| !name.starts_with('@'))?;
    Some(ProtectedResource { path: format!("/~{agent}"), agent: Some(agent) })
}

/// On the heap from the beginning, since the framework moves what it is given.
fn on_agent(State(rest): State<Arc<Rest>>, request: Request) -> BoxFuture<'static, Response> {
    in_place(move || at_agent(rest, request))
}

async fn at_agent(rest: Arc<Rest>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let door = rest.door_at(head.uri.path());
    let asked = RestRequest::of_agent(&rest, door.unwrap_or(&rest.default), &head);
    let person = match rest.person(&head).await {
        Ok(person) => person,
        Err(error) => return asked.respond(Err(error)).into_response(),
    };
    let asked = asked.by(person.as_ref());
    let outcome = match door {
        Some(_) => agent(&asked, body).await,
        None => Err(Failure::no_such_agent().into()),
    };
    asked.respond(outcome).into_response()
}

async fn agent(asked: &RestRequest<'_>, body: Body) -> Outcome {
    match asked.head.method {
        Method::GET | Method::HEAD => match asked.head.uri.query() {
            None | Some("") => asked.agent_page(),
            Some(query) => {
                let ask = query::decode(query).map_err(|fault| explained(asked, fault))?;
                match asked.head.method {
                    // It would use up a state whose answer nobody sees.
                    Method::HEAD if ask.runs.is_empty() => asked.agent_page(),
                    // A payment in a header is passed over: a GET settles nothing. REST 8.2.1.
                    _ => asked.carried(ask, None, None, forecourt_host::Run::without_task()).await,
                }
            }
        },
        // On the heap, so that a GET does not carry its size around.
        Method::POST => Box::pin(post(asked, body)).await,
        Method::OPTIONS => Ok(asked.options(AGENT_METHODS)),
        _ => Err(Failure::method(AGENT_METHODS).into()),
    }
}

/// Checks in this order: who posts, what the body claims to be, its size, its form. REST 3.2, 8.2.1.
async fn post(asked: &RestRequest<'_>, body: Body) -> Outcome {
    if !asked.door.card.cors && same_origin::is_cross_site(&asked.head.headers, asked.rest.host.site()) {
        return Err(Failure::cross_site().into());
    }
    asked.media()?;
    let headers = &asked.head.headers;
    let boundary = multipart::boundary(content_type(headers)).map_err(|fault| explained(asked, fault))?;
    uncoded(headers)?;
    let payment = payment::from_headers(headers)?;
    let body = read(body, BODY_BYTES_MAX).await?;
    let fields = multipart::decode(&body, &boundary)?;
    let ask = turns::group(fields).map_err(|fault| explained(asked, fault))?;
    let run = callback::run(asked.head, &asked.rest.egress, asked.rest.settings.webhook_retries).await;
    asked.carried(ask, payment, Some(&body), run).await
}

async fn on_task(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let asked = RestRequest::of_task(&rest, &head);
    let outcome = match TaskPath::read(head.uri.path()) {
        Some(path) => task(&asked, path, body).await,
        None => Err(Failure::no_such_task().into()),
    };
    asked.respond(outcome).into_response()
}

async fn task(asked: &RestRequest<'_>, path: TaskPath<'_>, body: Body) -> Outcome {
    let reading = matches!(asked.head.method, Method::GET | Method::HEAD);
    match path {
        _ if asked.head.method == Method::OPTIONS => Ok(asked.options(path.allow())),
        TaskPath::Task(id) if reading => {
            asked.meter()?;
            Ok(asked.polled(&*asked.task(id).await?))
        }
        TaskPath::Artifact(id, artifact) if reading => {
            asked.meter()?;
            asked.artifact(&asked.task(id).await?, artifact).await
        }
        TaskPath::Webhook(id) if asked.head.method == Method::POST => {
            asked.meter()?;
            let task = asked.task(id).await?;
            is_json(&asked.head.headers)?;
            uncoded(&asked.head.headers)?;
            asked.registered(&task, &read(body, WEBHOOK_BODY_BYTES_MAX).await?).await
        }
        TaskPath::Task(_) | TaskPath::Artifact(..) | TaskPath::Webhook(_) => Err(Failure::method(path.allow()).into()),
    }
}

async fn on_consent(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    on_decision(&rest, DecisionKind::Consent, request).await
}

async fn on_payment(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    on_decision(&rest, DecisionKind::Payment, request).await
}

async fn on_decision(rest: &Rest, kind: DecisionKind, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let asked = RestRequest::of_agent(rest, &rest.default, &head);
    Box::pin(asked.decision(kind, body)).await.into_response()
}

async fn on_front(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let asked = RestRequest::of_agent(&rest, &rest.default, &head);
    let person = match rest.person(&head).await {
        Ok(person) => person,
        Err(error) => return asked.respond(Err(error)).into_response(),
    };
    let asked = asked.by(person.as_ref());
    asked.respond(page(&asked, |asked| asked.front_page())).into_response()
}

async fn on_asset(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let asked = RestRequest::of_agent(&rest, &rest.default, &head);
    asked.respond(page(&asked, |asked| asked.asset())).into_response()
}

/// What no protocol has a path for. This transport answers, since browsers and crawlers come here.
async fn on_nothing(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let asked = RestRequest::of_agent(&rest, &rest.default, &head);
    asked.respond(Err(Failure::no_such_page().into())).into_response()
}

/// A resource that is only read.
fn page(asked: &RestRequest<'_>, show: fn(&RestRequest<'_>) -> Outcome) -> Outcome {
    match asked.head.method {
        Method::GET | Method::HEAD => show(asked),
        Method::OPTIONS => Ok(asked.options(PAGE_METHODS)),
        _ => Err(Failure::method(PAGE_METHODS).into()),
    }
}

/// A fault with the form that would have been right, where there is one to show.
fn explained(asked: &RestRequest<'_>, fault: DecodeError) -> Failure {
    let url = asked.base().url(&asked.door.path);
    let hint = match fault {
        DecodeError::NoUser => format!("GET {url}?user=hello"),
        DecodeError::MultiTurnQuery
        | DecodeError::QueryTooLong
        | DecodeError::NotMultipart
        | DecodeError::NoTerminalUser => {
            format!("curl {url} -F user='an earlier question' -F assistant='its answer' -F user='the question now'")
        }
        _ => return fault.into(),
    };
    Failure::from(fault).hint(hint)
}

pub(super) async fn read(body: Body, bytes_max: usize) -> Result<Bytes, Failure> {
    read_limited(body, &BodyLimits::with_bytes_max(bytes_max)).await.map_err(|error| match error {
        BodyError::TooLarge { bytes_max } => DecodeError::BodyTooLarge { bytes_max }.into(),
        BodyError::TooSlow => DecodeError::BodyTooSlow.into(),
        BodyError::Broken => DecodeError::BodyBroken.into(),
    })
}

pub(super) fn uncoded(headers: &HeaderMap) -> Result<(), RestError> {
    let coded =
        headers.get_all(CONTENT_ENCODING).iter().any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    if coded { Err(DecodeError::Coded.into()) } else { Ok(()) }
}

fn is_json(headers: &HeaderMap) -> Result<(), Failure> {
    let essence = content_type(headers).and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    match essence.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => {
            let message = "the body must be application/json";
            Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Unsupported media type", message))
        }
    }
}
