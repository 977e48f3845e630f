//! The routes of this transport: the only file with handlers of the web framework. Others know its `Body` alone.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use forecourt_core::in_place;
use forecourt_host::Run;
use forecourt_pages::FAVICON;
use forecourt_surface::HttpRoutes;
use forecourt_surface::agent_path::agent_named;
use forecourt_surface::body::content_type;
use forecourt_surface::protected_resource::ProtectedResource;
use forecourt_surface::same_origin;
use futures::future::BoxFuture;
use http::{Method, StatusCode};

use super::answer::{HttpAnswer, Outcome};
use super::body::{check_json, check_uncoded, read};
use super::decision::{self, DecisionKind};
use super::errors::Failure;
use super::exchange::PostExtras;
use super::front::BoxQuestion;
use super::limits::{BODY_BYTES_MAX, WEBHOOK_BODY_BYTES_MAX};
use super::media::Media;
use super::once::IdempotencyKey;
use super::request::RequestHead;
use super::responder::Responder;
use super::task::{self, TaskPath};
use super::transport::Rest;
use super::wire::DecodeError;
use super::{artifact, callback, exchange, front, multipart, notice, payment, query, several, signed_in, turns};

/// The path patterns of agents; the tilde may come encoded, and a last slash changes nothing.
const AGENT_PATHS: [&str; 6] =
    ["/~{handle}", "/~{handle}/", "/%7E{handle}", "/%7E{handle}/", "/%7e{handle}", "/%7e{handle}/"];
const TASK_PATH: &str = "/tasks/{*path}";
const FRONT_PATH: &str = "/";
const ASSET_PATH: &str = "/assets/{file}";
const ICON_PATH: &str = FAVICON;
/// The pages on which people decide. Companion decision U16.
const CONSENT_PATH: &str = "/consent/{state}";
const PAYMENT_PATH: &str = "/pay/{state}";
/// Where providers of payments tell by themselves that something happened.
const NOTICE_PATH: &str = "/pay/events/{family}";

const AGENT_METHODS: &str = "GET, HEAD, POST, OPTIONS";
const PAGE_METHODS: &str = "GET, HEAD, OPTIONS";

/// The routes of the transport.
pub(crate) fn routes(rest: Rest) -> HttpRoutes {
    let mut router =
        Router::new().route(TASK_PATH, any(on_task)).route(FRONT_PATH, any(on_front)).route(ASSET_PATH, any(on_asset));
    router = router.route(ICON_PATH, any(on_asset));
    router = router.route(CONSENT_PATH, any(on_consent)).route(PAYMENT_PATH, any(on_payment));
    router = router.route(NOTICE_PATH, any(on_notice));
    for path in AGENT_PATHS {
        router = router.route(path, any(on_agent));
    }
    let paths = AGENT_PATHS
        .into_iter()
        .chain([TASK_PATH, FRONT_PATH, ASSET_PATH, ICON_PATH, CONSENT_PATH, PAYMENT_PATH, NOTICE_PATH])
        .collect();
    HttpRoutes { paths, router: router.fallback(on_nothing).with_state(Arc::new(rest)) }
}

/// What a token is for that is sent to a path: the agent there, or the host.
pub(crate) fn resource(path: &str) -> Option<ProtectedResource> {
    if path == FRONT_PATH {
        return Some(ProtectedResource { path: String::new(), agent: None });
    }
    let agent = agent_named(path)?;
    Some(ProtectedResource { path: format!("/~{agent}"), agent: Some(agent) })
}

/// On the heap from the beginning, since the framework moves what it is given.
fn on_agent(State(rest): State<Arc<Rest>>, request: Request) -> BoxFuture<'static, Response> {
    in_place(move || at_agent(rest, request))
}

async fn at_agent(rest: Arc<Rest>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let route = rest.door_at(head.uri.path());
    let responder = rest.responder(route.unwrap_or(&rest.default), RequestHead::of_agent(rest.host.site(), &head));
    let person = match signed_in::person(&rest, &head).await {
        Ok(person) => person,
        Err(error) => return responder.respond(Err(error)).into_response(),
    };
    let responder = responder.to(person.as_ref());
    let outcome = match route {
        Some(_) => agent(&rest, &responder, body).await,
        None => Err(Failure::no_such_agent().into()),
    };
    responder.respond(outcome).into_response()
}

async fn agent(rest: &Rest, responder: &Responder<'_>, body: Body) -> Outcome {
    let head = responder.request.parts;
    match head.method {
        Method::GET | Method::HEAD => match head.uri.query() {
            None | Some("") => front::agent_page(rest, responder),
            Some(query) => {
                let ask = query::decode(query).map_err(|error| explained(responder, error))?;
                match head.method {
                    // It would use up a state whose answer nobody sees.
                    Method::HEAD if ask.runs.is_empty() => front::agent_page(rest, responder),
                    // A payment in a header is passed over: a GET settles nothing. REST 8.2.1.
                    _ => exchange::carry(rest, responder, ask, PostExtras::default(), Run::without_task()).await,
                }
            }
        },
        // On the heap, so that a GET does not carry its size around.
        Method::POST => Box::pin(post(rest, responder, body)).await,
        Method::OPTIONS => Ok(responder.options(AGENT_METHODS)),
        _ => Err(Failure::method(AGENT_METHODS).into()),
    }
}

/// Checks in this order: who posts, what the body claims to be, its size, its form. REST 3.2, 8.2.1.
async fn post(rest: &Rest, responder: &Responder<'_>, body: Body) -> Outcome {
    let request = &responder.request;
    let headers = request.headers();
    if !responder.route.card.cors && same_origin::is_cross_site(headers, request.site) {
        return Err(Failure::cross_site().into());
    }
    request.media()?;
    // What the head says is checked before the body is read: a refusal must not cost an upload.
    let boundary = multipart::boundary(content_type(headers)).map_err(|error| explained(responder, error))?;
    check_uncoded(headers)?;
    let payment = payment::from_headers(headers)?;
    let body = read(body, BODY_BYTES_MAX).await?;
    let fields = multipart::decode(&body, &boundary)?;
    let key = IdempotencyKey::of(headers, &fields)?;
    let ask = turns::group(fields).map_err(|error| explained(responder, error))?;
    let run = callback::run(request.parts, &rest.egress, rest.settings.webhook_retries).await;
    let extras = PostExtras { payment, body: Some(&body), key };
    exchange::carry(rest, responder, ask, extras, run).await
}

async fn on_task(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let responder = rest.responder(&rest.default, RequestHead::of_task(rest.host.site(), &head));
    let outcome = match TaskPath::read(head.uri.path()) {
        Some(path) => on_task_path(&rest, &responder, path, body).await,
        None => Err(Failure::no_such_task().into()),
    };
    responder.respond(outcome).into_response()
}

async fn on_task_path(rest: &Rest, responder: &Responder<'_>, path: TaskPath<'_>, body: Body) -> Outcome {
    let (request, host) = (&responder.request, &rest.host);
    let method = &request.parts.method;
    let is_reading = matches!(*method, Method::GET | Method::HEAD);
    match path {
        // Every other arm meters before it looks: guesses at ids count against the caller's limits.
        _ if method == Method::OPTIONS => Ok(responder.options(path.allow())),
        TaskPath::Task(id) if is_reading => {
            rest.meter(request)?;
            let task = task::find(host, id).await?;
            Ok(task::poll(&responder.of(rest.door(&task.agent)), &task))
        }
        TaskPath::Artifact(id, artifact) if is_reading => {
            rest.meter(request)?;
            let task = task::find(host, id).await?;
            artifact::answer(&responder.of(rest.door(&task.agent)), &task, artifact, host.clock().now()).await
        }
        TaskPath::Webhook(id) if method == Method::POST => {
            rest.meter(request)?;
            let task = task::find(host, id).await?;
            check_json(request.headers())?;
            check_uncoded(request.headers())?;
            let body = read(body, WEBHOOK_BODY_BYTES_MAX).await?;
            let retries = rest.settings.webhook_retries;
            task::register(&task, &body, &rest.egress, &**host.entropy(), retries).await?;
            let route = rest.door(&task.agent);
            let head = responder.of(route).head_of(Media::Json, &route.card.language, None);
            Ok(HttpAnswer::empty(StatusCode::NO_CONTENT, head))
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

async fn on_notice(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let responder = rest.responder(&rest.default, RequestHead::of_agent(rest.host.site(), &head));
    let outcome = Box::pin(notice::take(&rest, &responder, body)).await;
    responder.respond(outcome).into_response()
}

async fn on_decision(rest: &Rest, kind: DecisionKind, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let responder = rest.responder(&rest.default, RequestHead::of_agent(rest.host.site(), &head));
    let person = match signed_in::person(rest, &head).await {
        Ok(person) => person,
        Err(error) => return responder.respond(Err(error)).into_response(),
    };
    Box::pin(decision::answer(rest, responder.to(person.as_ref()), kind, body)).await.into_response()
}

async fn on_front(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let responder = rest.responder(&rest.default, RequestHead::of_agent(rest.host.site(), &head));
    let person = match signed_in::person(&rest, &head).await {
        Ok(person) => person,
        Err(error) => return responder.respond(Err(error)).into_response(),
    };
    let responder = responder.to(person.as_ref());
    responder.respond(front(&rest, &responder).await).into_response()
}

async fn front(rest: &Rest, responder: &Responder<'_>) -> Outcome {
    match front::box_question(rest, responder) {
        Some(question) => {
            rest.meter(&responder.request)?;
            match question {
                BoxQuestion::OfOne(path) => Ok(responder.see_other(&path)),
                // On the heap: most requests are for one page.
                BoxQuestion::OfSeveral(asked) => Box::pin(several::answer(rest, responder, asked)).await,
            }
        }
        None => page(responder, || front::front_page(rest, responder)),
    }
}

async fn on_asset(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let responder = rest.responder(&rest.default, RequestHead::of_agent(rest.host.site(), &head));
    responder.respond(page(&responder, || front::asset(&responder))).into_response()
}

/// What no protocol has a path for. This transport answers, since browsers and crawlers come here.
async fn on_nothing(State(rest): State<Arc<Rest>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let responder = rest.responder(&rest.default, RequestHead::of_agent(rest.host.site(), &head));
    responder.respond(Err(Failure::no_such_page().into())).into_response()
}

/// A resource that is only read.
fn page(responder: &Responder<'_>, show: impl FnOnce() -> Outcome) -> Outcome {
    match responder.request.parts.method {
        Method::GET | Method::HEAD => show(),
        Method::OPTIONS => Ok(responder.options(PAGE_METHODS)),
        _ => Err(Failure::method(PAGE_METHODS).into()),
    }
}

/// An error with the form that would have been right, where there is one to show.
fn explained(responder: &Responder<'_>, error: DecodeError) -> Failure {
    let url = responder.request.base().url(&responder.route.path);
    let hint = match error {
        DecodeError::NoUser => format!("GET {url}?user=hello"),
        DecodeError::MultiTurnQuery
        | DecodeError::QueryTooLong
        | DecodeError::NotMultipart
        | DecodeError::NoTerminalUser => {
            format!("curl {url} -F user='an earlier question' -F assistant='its answer' -F user='the question now'")
        }
        _ => return error.into(),
    };
    Failure::from(error).hint(hint)
}
