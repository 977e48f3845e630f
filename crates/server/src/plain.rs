//! What a listener without TLS answers by itself: what certificate authorities ask, and where HTTPS is.

use std::sync::Arc;

use axum::body::Body;
use http::header::{self, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};

use crate::hosts::AllowedHosts;
use crate::limits::HttpLimits;
use crate::strict::{check, host};
use crate::tls::{CHALLENGE_PATH, HttpChallenges};

/// Characters of a token that are looked for. RFC 8555 8.1 has no bound; authorities use 43.
const TOKEN_CHARS_MAX: usize = 128;

/// What a listener answers by itself.
#[derive(Clone, Default)]
pub(crate) struct PlainRules {
    pub(crate) challenges: Option<Arc<dyn HttpChallenges>>,
    /// The port of HTTPS, where everything else is sent.
    pub(crate) redirect: Option<u16>,
}

impl PlainRules {
    /// Whether a request for this path may not go on.
    pub(crate) fn concerns(&self, path: &str) -> bool {
        self.redirect.is_some() || (self.challenges.is_some() && path.starts_with(CHALLENGE_PATH))
    }

    /// The answer to a request that does not go on; `None`: it does.
    pub(crate) async fn answer<B>(
        &self,
        request: &Request<B>,
        hosts: &AllowedHosts,
        limits: &HttpLimits,
    ) -> Option<Response<Body>> {
        if let (Some(challenges), Some(token)) = (&self.challenges, request.uri().path().strip_prefix(CHALLENGE_PATH)) {
            let asks = matches!(*request.method(), Method::GET | Method::HEAD) && is_token(token);
            let answer = if asks { challenges.answer(token).await } else { None };
            return Some(match answer {
                Some(answer) => text(StatusCode::OK, answer),
                None => text(StatusCode::NOT_FOUND, "No certificate authority was told of this.\n".to_owned()),
            });
        }
        let port = self.redirect?;
        Some(match check(request, hosts, limits).and_then(|()| host(request)) {
            Ok(host) => to_https(host, port, request),
            Err(refusal) => refusal.into_response(request.version()),
        })
    }
}

/// The base64url alphabet, and no more of it than any authority uses.
fn is_token(token: &str) -> bool {
    let legal = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    legal && (1..=TOKEN_CHARS_MAX).contains(&token.len())
}

/// Sends a request, whose host is served here, to the same place within TLS. The connection ends: what comes next
/// is not for this port.
fn to_https<B>(host: &str, port: u16, request: &Request<B>) -> Response<Body> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let place = match port {
        443 => format!("https://{host}{path}"),
        port => format!("https://{host}:{port}{path}"),
    };
    let Ok(location) = HeaderValue::try_from(&place) else {
        return text(StatusCode::BAD_REQUEST, "This is spoken over https only.\n".to_owned());
    };
    // 308 keeps the method and the body; 301 would turn a POST into a GET.
    let mut response = text(StatusCode::PERMANENT_REDIRECT, format!("This is at {place}\n"));
    response.headers_mut().insert(header::LOCATION, location);
    if request.version() < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn text(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static("en"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
