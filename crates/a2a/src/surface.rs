//! The paths of this protocol: the only file that knows the web framework.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, post};
use bytes::Bytes;
use forecourt_core::{Handle, in_place};
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::body::{BodyError, BodyLimits, is_json, read_limited};
use forecourt_surface::document::{self, answer};
use forecourt_surface::{BaseUrl, HttpRoutes};
use futures::future::BoxFuture;
use http::StatusCode;
use http::request::Parts;

use crate::answer::{Binding, error};
use crate::card::names::{CARD_PATH, HUB_PATH, OLD_CARD_PATH};
use crate::codec::{Method, PlainCall};
use crate::cors::CORS;
use crate::limits::BODY_BYTES_MAX;
use crate::model::{Operation, OperationError, Send, Version};
use crate::service::{Caller, Service, ServiceError, no_such_agent, tenant_named};
use crate::target::{Resource, Target, TargetPlace};
use crate::{rest, rpc, version};

/// The root of the domain, where clients post to that were given nothing but its name. Pages are read there.
const ROOT: &str = "/";
const ROOT_CLAIM: &str = "POST /";
const HUB_PATHS: [&str; 3] = [HUB_PATH, "/a2a/", "/a2a/{*path}"];
/// Where clients look first, today and before.
const CARD_PATHS: [&str; 2] = [CARD_PATH, OLD_CARD_PATH];

/// The routes of the protocol.
pub(crate) fn routes(service: Arc<Service>) -> HttpRoutes {
    let mut router = Router::new();
    for path in HUB_PATHS {
        router = router.route(path, any(on_hub));
    }
    for path in CARD_PATHS {
        router = router.route(path, any(on_card));
    }
    router = router.route(ROOT, post(on_hub));
    let paths = HUB_PATHS.into_iter().chain(CARD_PATHS).chain([ROOT_CLAIM]).collect();
    HttpRoutes { paths, router: router.with_state(service) }
}

async fn on_card(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    card(&service, &head, None)
}

/// The card of the hub or of one agent: in the form of 1.0 for who asks for that, else the one that
/// both versions read. Hub card 2, 5.
fn card(service: &Service, head: &Parts, agent: Option<&Handle>) -> Response {
    // Few clients name a version when they fetch a card, so that the form without one has everything.
    let version = version::asked(head).ok().flatten().unwrap_or(Version::V0_3);
    let cards = service.cards.at(BaseUrl::of(service.host.site(), &head.extensions));
    answer(&head.method, &head.headers, || match agent {
        None => Ok(cards.hub(version)),
        Some(agent) => {
            let found = cards.agent(agent, version);
            found.ok_or(document::DocumentError::Absent("no agent of that name lives here"))
        }
    })
}

/// On the heap from the beginning, since the framework moves what it is given.
fn on_hub(State(service): State<Arc<Service>>, request: Request) -> BoxFuture<'static, Response> {
    in_place(move || at_hub(service, request))
}

async fn at_hub(service: Arc<Service>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Some(target) = Target::read(head.uri.path()) else {
        let fault = OperationError::InvalidRequest("there is nothing at this path".to_owned());
        return error(StatusCode::NOT_FOUND, &Binding::rest(Version::V1_0), &fault).into_response();
    };
    let directory = service.host.directory();
    let open = match &target.agent {
        None => service.hub_is_open,
        Some(agent) => directory.find(agent).is_some_and(|resident| resident.card.cors),
    };
    let mut response = at(&service, target, &head, body).await;
    if open {
        CORS.open(response.headers_mut());
    }
    response
}

async fn at(service: &Arc<Service>, target: Target, head: &Parts, body: Body) -> Response {
    let Target { agent, place } = target;
    let missing = agent.as_ref().filter(|agent| service.host.directory().find(agent).is_none());
    if let Some(agent) = missing {
        let binding = if place == TargetPlace::Rpc {
            Binding::rpc(serde_json::Value::Null)
        } else {
            Binding::rest(Version::V1_0)
        };
        return error(StatusCode::NOT_FOUND, &binding, &no_such_agent(agent)).into_response();
    }
    match place {
        TargetPlace::Card => card(service, head, agent.as_ref()),
        TargetPlace::Rpc => on_rpc(service, agent, head, body).await.into_response(),
        TargetPlace::Rest { version, resource } => {
            on_rest(service, agent, head, body, version, &resource).await.into_response()
        }
    }
}

async fn on_rpc(service: &Arc<Service>, agent: Option<Handle>, head: &Parts, body: Body) -> HttpAnswer {
    let nameless = Binding::rpc(serde_json::Value::Null);
    match head.method.as_str() {
        "POST" => {}
        "OPTIONS" => return HttpAnswer::options("POST, OPTIONS"),
        _ => {
            let words = "this endpoint takes JSON-RPC by POST; the card is at /.well-known/agent-card.json".to_owned();
            let answer = error(StatusCode::METHOD_NOT_ALLOWED, &nameless, &OperationError::InvalidRequest(words));
            return answer.allowing("POST, OPTIONS");
        }
    }
    if !is_json(&head.headers) {
        // Errors of JSON-RPC ride on 200: clients read the code -32005, and few a bare 415.
        return error(StatusCode::OK, &nameless, &not_json());
    }
    let body = match read(body).await {
        Ok(body) => body,
        Err((status, fault)) => return error(status, &nameless, &fault),
    };
    let asked = version::asked(head);
    if let Some(PlainCall { id, method, version, send }) = PlainCall::read(&body)
        // A version that does not agree with the method is refused on the long way.
        && matches!(asked, Ok(asked) if asked.unwrap_or(Version::V0_3) == version)
    {
        let binding = Binding::rpc(id).spelled(rpc::dialect(version), method);
        let caller = Caller { agent, version, head, body: Some(&body) };
        let carried = service.carry(&caller, sending(method, send)).await;
        return binding.answer(service, &caller, carried);
    }
    // Everything else is rarer or wrong. On the heap, so that plain sends don't carry its size around.
    Box::pin(on_any_rpc(service, agent, head, &body, asked)).await
}

/// A request that is no plain send.
async fn on_any_rpc(
    service: &Arc<Service>,
    agent: Option<Handle>,
    head: &Parts,
    body: &Bytes,
    asked: Result<Option<Version>, OperationError>,
) -> HttpAnswer {
    let call = match rpc::read(body, asked) {
        Ok(call) => call,
        Err((id, method, fault)) => return Binding::rpc(id).of_stream_in_03(method, head).fault(&fault),
    };
    let (method, version) = (call.method, call.version);
    let dialect = call.dialect();
    let binding = Binding::rpc(call.id).spelled(dialect, method);
    let agent = match service.addressee(agent, tenant_named(version, &call.params)) {
        Ok(agent) => agent,
        Err(fault) => return binding.fault(&fault),
    };
    let caller = Caller { agent, version, head, body: Some(body) };
    let carried = match dialect.read_params(method, call.params) {
        Ok(operation) => service.carry(&caller, operation).await,
        Err(fault) => Err(ServiceError::Fault(fault)),
    };
    binding.answer(service, &caller, carried)
}

fn sending(method: Method, send: Box<Send>) -> Operation {
    if method == Method::Stream { Operation::Stream(send) } else { Operation::Send(send) }
}

async fn on_rest(
    service: &Arc<Service>,
    agent: Option<Handle>,
    head: &Parts,
    body: Body,
    version: Version,
    resource: &Resource,
) -> HttpAnswer {
    let binding = Binding::rest(version).accepting(&head.headers);
    if head.method == http::Method::OPTIONS {
        return HttpAnswer::options(resource.verbs());
    }
    let method = match resource.method(&head.method) {
        Ok(method) => method,
        Err(allow) => {
            let words = format!("this resource takes {allow}");
            let answer = error(StatusCode::METHOD_NOT_ALLOWED, &binding, &OperationError::InvalidRequest(words));
            return answer.allowing(allow);
        }
    };
    let binding = binding.spelled(rest::dialect(version), method);
    let body = match read(body).await {
        Ok(body) => body,
        Err((status, fault)) => return error(status, &binding, &fault),
    };
    if !body.is_empty() && !is_json(&head.headers) {
        return binding.fault(&not_json());
    }
    let agreed = version::asked(head).and_then(|asked| rest::agrees(version, asked));
    if agreed.is_ok()
        && let Resource::Message(_) = resource
        && let Some(send) = rest::dialect(version).read_plain_send(&body)
    {
        let caller = Caller { agent, version, head, body: Some(&body) };
        let carried = service.carry(&caller, sending(method, Box::new(send))).await;
        return binding.answer(service, &caller, carried);
    }
    let params = agreed.and_then(|()| rest::params(method, resource, head.uri.query(), &body));
    let (agent, params) =
        match params.and_then(|params| Ok((service.addressee(agent, tenant_named(version, &params))?, params))) {
            Ok(understood) => understood,
            Err(fault) => return binding.fault(&fault),
        };
    let caller = Caller { agent, version, head, body: Some(&body) };
    let carried = match rest::dialect(version).read_params(method, binding.files().read(params)) {
        Ok(operation) => service.carry(&caller, operation).await,
        Err(fault) => Err(ServiceError::Fault(fault)),
    };
    binding.answer(service, &caller, carried)
}

fn not_json() -> OperationError {
    OperationError::ContentTypeNotSupported("send the body with Content-Type: application/json".to_owned())
}

async fn read(body: Body) -> Result<Bytes, (StatusCode, OperationError)> {
    read_limited(body, &BodyLimits::with_bytes_max(BODY_BYTES_MAX)).await.map_err(|error| {
        let status = match error {
            BodyError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
            BodyError::Broken => StatusCode::BAD_REQUEST,
        };
        (status, OperationError::InvalidRequest(error.to_string()))
    })
}
