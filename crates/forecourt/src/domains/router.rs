//! What answers on listeners that domains share: each request meets the house of its own.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use forecourt_server::Route;
use http::{Request, Response, StatusCode, Uri};

use super::LiveDomains;

/// A router that each request looks up, so that it meets the newest house of its domain and keeps it to its end.
#[derive(Clone)]
pub(crate) struct LiveRouter {
    pub(crate) domains: Arc<LiveDomains>,
    pub(crate) listen: Option<&'static str>,
}

impl Route for LiveRouter {
    fn route(&self, request: &mut Request<Body>) -> Result<Router, Box<Response<Body>>> {
        Ok(match self.domains.of_request(request) {
            // Without a router for it there is nothing at any path.
            Some(live) => {
                if let (None, Some(house)) = (self.listen, live.now()) {
                    strip(house.host.site().prefix(), request.uri_mut());
                }
                live.router(self.listen).unwrap_or_default()
            }
            None => misdirected(),
        })
    }

    fn compresses(&self) -> bool {
        self.listen.is_none()
    }
}

/// Takes the path away that the host is published below. A proxy may have done that already: no path of the host's own
/// begins like it (`Wires::surfaces`).
fn strip(prefix: &str, uri: &mut Uri) {
    if prefix.is_empty() {
        return;
    }
    let Some(whole) = uri.path_and_query() else { return };
    let Some(rest) = whole.as_str().strip_prefix(prefix) else { return };
    let rest = match rest.as_bytes().first() {
        Some(b'/') => rest.to_owned(),
        Some(b'?') | None => format!("/{rest}"),
        Some(_) => return,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = rest.parse().ok();
    if let Ok(stripped) = Uri::from_parts(parts) {
        *uri = stripped;
    }
}

/// What answers requests for a host that is not that of their connection.
fn misdirected() -> Router {
    let text = "This host is not served on this connection.";
    Router::new().fallback(move || async move { (StatusCode::MISDIRECTED_REQUEST, text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_host_is_taken_away_once() {
        let stripped = |prefix: &str, uri: &str| {
            let mut uri: Uri = uri.parse().unwrap();
            strip(prefix, &mut uri);
            uri.to_string()
        };
        for (uri, rest) in [
            ("/agents", "/"),
            ("/agents/", "/"),
            ("/agents?page=2", "/?page=2"),
            ("/agents/~chef?user=a", "/~chef?user=a"),
            ("/agents//x", "//x"),
            ("/agents/agents", "/agents"),
            ("/agentsx", "/agentsx"),
            ("/~chef", "/~chef"),
            ("/x/agents", "/x/agents"),
            ("/Agents/x", "/Agents/x"),
            ("https://example.com/agents/mcp", "https://example.com/mcp"),
        ] {
            assert_eq!(stripped("/agents", uri), rest, "{uri}");
        }
        assert_eq!(stripped("", "/agents/x"), "/agents/x");
        assert_eq!(stripped("/a/b", "/a/b/c"), "/c");
        assert_eq!(stripped("/a/b", "/a/c"), "/a/c");
    }
}
