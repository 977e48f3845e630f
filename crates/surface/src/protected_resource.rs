//! This module publishes who issues tokens for the resource at a path, for every protocol, and adds the address of that
//! metadata to challenges. RFC 9728. It issues and checks no tokens.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use forecourt_core::Handle;
use forecourt_server::PlainOrigin;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, Uri};
use pin_project_lite::pin_project;
use serde_json::json;
use tower_layer::Layer;
use tower_service::Service;

use crate::document::{self, DocumentError, ServedDocument};
use crate::{BaseUrl, HttpRoutes, Mount, ServerNames, endpoint};

/// The path of the metadata, followed by the path of the resource. RFC 9728 3.1.
pub const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
const PATHS: [&str; 3] =
    [WELL_KNOWN, "/.well-known/oauth-protected-resource/", "/.well-known/oauth-protected-resource/{*path}"];
/// How long caches may keep the metadata.
const FRESH: Duration = Duration::from_secs(300);

/// A resource that tokens are issued for: an endpoint of one agent, or of the host. RFC 9728.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedResource {
    /// The path of its URL, as cards name it; empty for the host itself.
    pub path: String,
    /// The agent behind it; `None` for the host.
    pub agent: Option<Handle>,
}

/// The resource that a request at a path is for; `None` for a path that is not the wire's.
pub type ResourceOfPath = fn(&str) -> Option<ProtectedResource>;

/// The metadata of the host and of every resource that one of `wires` has, where issuers of tokens are configured.
pub fn routes(mount: &Mount, wires: Vec<ResourceOfPath>) -> HttpRoutes {
    let published = Arc::new(PublishedMetadata { mount: mount.clone(), wires });
    let router = PATHS.into_iter().fold(Router::new(), |router, path| router.route(path, any(on_metadata)));
    HttpRoutes { paths: PATHS.to_vec(), router: router.with_state(published) }
}

/// These routes, with `resource_metadata` in the challenges of their responses. RFC 9728 5.1. Unchanged where no issuer
/// is configured.
#[must_use]
pub fn leading(routes: HttpRoutes, mount: &Mount, wire: ResourceOfPath) -> HttpRoutes {
    if mount.verifier.token_issuers().next().is_none() {
        return routes;
    }
    let leads = Arc::new(Leads { mount: mount.clone(), wire });
    HttpRoutes { router: routes.router.layer(LeadLayer(leads)), ..routes }
}

struct PublishedMetadata {
    mount: Mount,
    wires: Vec<ResourceOfPath>,
}

async fn on_metadata(State(published): State<Arc<PublishedMetadata>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    document::answer(&head.method, &head.headers, || {
        let base = BaseUrl::of(published.mount.host.site(), &head.extensions);
        published.document(head.uri.path(), base)
    })
}

impl PublishedMetadata {
    fn document(&self, path: &str, base: BaseUrl<'_>) -> Result<ServedDocument, DocumentError> {
        let missing = DocumentError::Absent("there is no protected resource at this path");
        let host = &self.mount.host;
        let path = path.strip_prefix(WELL_KNOWN).unwrap_or_default();
        // RFC 9728 3.1: the whole path of the resource stands behind it, also that which the host is published below.
        let path = path.strip_prefix(host.site().prefix()).unwrap_or(path);
        let resource = self.resource(path).ok_or(missing)?;
        // An agent that does not exist, or is hidden, is told as a path that does not exist.
        if resource.agent.as_ref().is_some_and(|agent| !self.has(agent)) {
            return Err(missing);
        }
        let issuers: Vec<&str> = self.mount.verifier.token_issuers().map(|issuer| issuer.issuer).collect();
        if issuers.is_empty() {
            return Err(DocumentError::Absent("nobody gives out tokens for this host; no token is needed"));
        }
        let mut metadata = json!({
            // RFC 9728 3.3: a client must reject metadata whose `resource` is not, byte for byte, the URL that it
            // connected to.
            "resource": base.url(&resource.path),
            "resource_name": host.site().name,
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
        });
        // Endpoints with a contract are the host's; agents need no scopes.
        let scopes = if resource.agent.is_none() { endpoint::scopes(host.contract()) } else { Vec::new() };
        if !scopes.is_empty() {
            metadata["scopes_supported"] = json!(scopes);
        }
        ServedDocument::json("application/json", FRESH, &metadata)
    }

    /// Whether there is an agent of this name, or a server behind the host.
    fn has(&self, name: &Handle) -> bool {
        let servers = self.mount.services.get::<ServerNames>();
        self.mount.host.directory().find(name).is_some() || servers.is_some_and(|names| names.0.contains(name))
    }

    /// The resource at exactly this path: metadata of anything else would be another resource's.
    fn resource(&self, path: &str) -> Option<ProtectedResource> {
        // Clients encode the tilde of `/~chef` or do not; both are the same path (RFC 3986 2.3).
        let path = path.strip_suffix('/').unwrap_or(path).replace("%7E", "~").replace("%7e", "~");
        if path.is_empty() {
            return Some(ProtectedResource { path, agent: None });
        }
        let all = self.wires.iter().filter_map(|wire| wire(&path));
        // Wires also map paths below a resource to it; those are no resources of their own.
        all.into_iter().find(|resource| resource.path.eq_ignore_ascii_case(&path))
    }
}

struct Leads {
    mount: Mount,
    wire: ResourceOfPath,
}

/// A tower layer by hand, since it stands before every request: it boxes nothing, and what it clones is cheap to clone.
#[derive(Clone)]
struct LeadLayer(Arc<Leads>);

impl<S> Layer<S> for LeadLayer {
    type Service = Leading<S>;

    fn layer(&self, inner: S) -> Leading<S> {
        Leading { inner, leads: self.0.clone() }
    }
}

#[derive(Clone)]
struct Leading<S> {
    inner: S,
    leads: Arc<Leads>,
}

impl<S: Service<Request, Response = Response>> Service<Request> for Leading<S> {
    type Response = Response;
    type Error = S::Error;
    type Future = LeadFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (uri, plain) = (request.uri().clone(), request.extensions().get::<PlainOrigin>().cloned());
        LeadFuture { answering: self.inner.call(request), leads: self.leads.clone(), uri, plain }
    }
}

pin_project! {
    struct LeadFuture<F> {
        #[pin]
        answering: F,
        leads: Arc<Leads>,
        uri: Uri,
        plain: Option<PlainOrigin>,
    }
}

impl<F: Future<Output = Result<Response, E>>, E> Future for LeadFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut response = ready!(this.answering.poll(context))?;
        if response.headers().contains_key(WWW_AUTHENTICATE) {
            this.leads.add(response.headers_mut(), this.uri, this.plain.as_ref());
        }
        Poll::Ready(Ok(response))
    }
}

impl Leads {
    fn add(&self, head: &mut HeaderMap, uri: &Uri, plain: Option<&PlainOrigin>) {
        let Some(resource) = (self.wire)(uri.path()) else { return };
        let base = BaseUrl::at(self.mount.host.site(), plain);
        let url = base.url(&format!("{WELL_KNOWN}{}", resource.path));
        let challenges: Vec<HeaderValue> = head.get_all(WWW_AUTHENTICATE).iter().map(|old| led(old, &url)).collect();
        head.remove(WWW_AUTHENTICATE);
        for challenge in challenges {
            head.append(WWW_AUTHENTICATE, challenge);
        }
    }
}

/// A challenge that leads to the metadata, if it is one for a bearer token and leads nowhere yet.
fn led(challenge: &HeaderValue, url: &str) -> HeaderValue {
    let text = challenge.to_str().unwrap_or_default();
    let (scheme, params) = text.split_once(' ').unwrap_or((text, ""));
    // A challenge of another host behind an agent names its own metadata: tokens of our issuers do not help there.
    if !scheme.eq_ignore_ascii_case("bearer") || params.contains("resource_metadata=") {
        return challenge.clone();
    }
    let comma = if params.trim().is_empty() { "" } else { ", " };
    let leading = format!("{scheme} {params}{comma}resource_metadata=\"{url}\"");
    HeaderValue::from_str(&leading).unwrap_or_else(|_| challenge.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9728_5_1_challenges_for_bearer_tokens_lead_to_the_metadata() {
        for (challenge, leading) in [
            ("Bearer", "Bearer resource_metadata=\"u\""),
            ("Bearer realm=\"a\"", "Bearer realm=\"a\", resource_metadata=\"u\""),
            ("bearer realm=\"a\", error=\"x\"", "bearer realm=\"a\", error=\"x\", resource_metadata=\"u\""),
            ("Bearer resource_metadata=\"v\"", "Bearer resource_metadata=\"v\""),
            ("Mentionable-Consent realm=\"a\"", "Mentionable-Consent realm=\"a\""),
            ("Basic realm=\"Bearer x\"", "Basic realm=\"Bearer x\""),
        ] {
            assert_eq!(led(&HeaderValue::from_static(challenge), "u"), leading);
        }
    }
}
