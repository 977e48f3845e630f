//! The routes of signing in: the only file that knows the web framework.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use forecourt_core::{ClientAddr, Entropy, Timestamp};
use forecourt_host::Site;
use forecourt_identity::Person;
use forecourt_identity::sessions::{BrowserRequest, Sessions};
use forecourt_pages::{SIGN_IN, SIGN_OUT};
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::refusal::add_fields;
use forecourt_surface::{BaseUrl, HttpRoutes};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};

use crate::SignIn;
use crate::error::SignInError;
use crate::provider::Provider;
use crate::sign_in::CALLBACK;

/// The routes.
pub(crate) fn routes(sign_in: SignIn) -> HttpRoutes {
    let router = Router::new()
        .route(SIGN_IN, any(on_sign_in))
        .route(CALLBACK, any(on_callback))
        .route(SIGN_OUT, any(on_sign_out))
        .with_state(Arc::new(sign_in));
    HttpRoutes { paths: vec![SIGN_IN, CALLBACK, SIGN_OUT], router }
}

/// One request of a browser.
pub(crate) struct Visit<'a> {
    sign_in: &'a SignIn,
    pub(crate) head: &'a Parts,
    now: Timestamp,
}

async fn on_sign_in(State(sign_in): State<Arc<SignIn>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let visit = Visit::new(&sign_in, &head);
    let answer = match visit.takes(Method::GET) {
        Ok(()) => visit.sign_in().await.unwrap_or_else(|error| visit.failed_at_asked(&error)),
        Err(answer) => answer,
    };
    answer.into_response()
}

async fn on_callback(State(sign_in): State<Arc<SignIn>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let visit = Visit::new(&sign_in, &head);
    match visit.takes(Method::GET) {
        Ok(()) => visit.callback().await,
        Err(answer) => answer,
    }
    .into_response()
}

async fn on_sign_out(State(sign_in): State<Arc<SignIn>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let visit = Visit::new(&sign_in, &head);
    let answer = match visit.takes(Method::POST) {
        Ok(()) => visit.sign_out().await.unwrap_or_else(|error| visit.failed(&error, None)),
        Err(answer) => answer,
    };
    answer.into_response()
}

impl<'a> Visit<'a> {
    fn new(sign_in: &'a SignIn, head: &'a Parts) -> Self {
        Self { sign_in, head, now: sign_in.host.clock().now() }
    }

    /// Whether it has the one method, and its caller is within the limits. Everything else is answered here.
    fn takes(&self, method: Method) -> Result<(), HttpAnswer> {
        let allow = if method == Method::GET { "GET, OPTIONS" } else { "POST, OPTIONS" };
        if self.head.method == Method::OPTIONS {
            return Err(HttpAnswer::options(allow));
        }
        if self.head.method != method {
            return Err(HttpAnswer::empty(StatusCode::METHOD_NOT_ALLOWED, HeaderMap::new()).allowing(allow));
        }
        self.sign_in.host.meter(self.peer()).map_err(|part| {
            let mut head = HeaderMap::new();
            add_fields(&mut head, &part, self.site().canonical_host());
            HttpAnswer::whole(StatusCode::TOO_MANY_REQUESTS, head, part.message.clone())
        })
    }

    /// The provider and the sessions, where people sign in.
    pub(crate) fn parts(&self) -> Result<(&'a Provider, &'a Sessions), SignInError> {
        let provider = self.sign_in.provider.as_ref().ok_or(SignInError::NotOffered)?;
        Ok((provider, self.sign_in.verifier.sessions().ok_or(SignInError::NotOffered)?))
    }

    /// What its cookies say.
    pub(crate) fn browser(&self) -> BrowserRequest<'a> {
        let origin = BaseUrl::of(self.sign_in.host.site(), &self.head.extensions).origin();
        BrowserRequest { method: &self.head.method, headers: &self.head.headers, origin }
    }

    /// Who is signed in already.
    pub(crate) async fn person(&self) -> Result<Option<Person>, SignInError> {
        let agent = &self.sign_in.host.directory().default_agent().card.address;
        let (now, entropy) = self.ambient();
        Ok(self.sign_in.verifier.person(self.browser(), agent, now, entropy).await?)
    }

    /// An absolute URL of this host.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.browser().origin)
    }

    /// What the outside calls this host.
    pub(crate) fn site(&self) -> &'a Site {
        self.sign_in.host.site()
    }

    /// When it arrived.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// The time and the randomness.
    pub(crate) fn ambient(&self) -> (Timestamp, &'a dyn Entropy) {
        (self.now, &**self.sign_in.host.entropy())
    }

    /// The network address behind it, when a listener said so.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.head.extensions.get::<ClientAddr>().map(|client| client.0)
    }

    /// What went wrong before the browser left: it is to come back where it wanted to.
    fn failed_at_asked(&self, error: &SignInError) -> HttpAnswer {
        let return_to = self.parameter("return_to").and_then(|text| crate::return_to::ReturnTo::parse(&text));
        self.failed(error, return_to.as_ref())
    }
}
