//! What is refused from the head of a request alone, before anything reads it. Security sheet,
//! section 1; RFC 9110 and 9112.

use axum::body::Body;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};

use crate::hosts::{AllowedHosts, host_of};
use crate::limits::{HttpLimits, METHOD_BYTES_MAX};

/// A request that no surface gets to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request can be read in more than one way, or in none. Says how.
    Malformed(&'static str),
    /// CONNECT or TRACE.
    Method,
    /// A host that is not served here.
    Misdirected,
    TargetTooLong,
    TooManyFields,
    /// A coded body: what it unpacks to is nobody's to bound.
    Coding,
    /// An expectation other than `100-continue`.
    Expectation,
}

impl Refusal {
    fn status(self) -> StatusCode {
        match self {
            Refusal::Malformed(_) => StatusCode::BAD_REQUEST,
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Refusal::TargetTooLong => StatusCode::URI_TOO_LONG,
            Refusal::TooManyFields => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Refusal::Coding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Refusal::Expectation => StatusCode::EXPECTATION_FAILED,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Refusal::Malformed(what) => what,
            Refusal::Method => "This method is not served.",
            Refusal::Misdirected => "This host is not served here.",
            Refusal::TargetTooLong => "The request target is too long.",
            Refusal::TooManyFields => "Too many header fields.",
            Refusal::Coding => "Send the body without a content coding.",
            Refusal::Expectation => "The only expectation that is met is 100-continue.",
        }
    }

    /// The answer. On HTTP/1 it ends the connection: what follows may be part of what was refused.
    pub(crate) fn into_response(self, version: Version) -> Response<Body> {
        let mut response = Response::new(Body::from(self.text()));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static("en"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if version < Version::HTTP_2 {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        match self {
            Refusal::Method => {
                headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, POST, OPTIONS"));
            }
            Refusal::Coding => {
                headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            }
            _ => {}
        }
        response
    }
}

/// Whether a request may go on to the surfaces.
pub(crate) fn check<B>(request: &Request<B>, hosts: &AllowedHosts, limits: &HttpLimits) -> Result<(), Refusal> {
    check_for(request, host(request), hosts, limits)
}

/// The same, where the [`host`] of the request was read already.
pub(crate) fn check_for<B>(
    request: &Request<B>,
    host: Result<&str, Refusal>,
    hosts: &AllowedHosts,
    limits: &HttpLimits,
) -> Result<(), Refusal> {
    let headers = request.headers();
    // Counted here as well: over HTTP/2 hyper bounds the bytes of a head, not its fields.
    if headers.len() > limits.head_fields_max {
        return Err(Refusal::TooManyFields);
    }
    if request.method().as_str().len() > METHOD_BYTES_MAX {
        return Err(Refusal::Malformed("The method is not a word."));
    }
    if headers.values().any(|value| !is_utf8(value)) {
        return Err(Refusal::Malformed("A header field is not UTF-8."));
    }
    check_framing(headers, request.version())?;
    let host = host?;
    if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
        return Err(Refusal::Method);
    }
    if request.uri().path_and_query().is_some_and(|target| target.as_str().len() > limits.target_bytes_max) {
        return Err(Refusal::TargetTooLong);
    }
    if !hosts.serves(host) {
        return Err(Refusal::Misdirected);
    }
    if headers.get_all(header::CONTENT_ENCODING).iter().any(|coding| !is_word(coding, "identity")) {
        return Err(Refusal::Coding);
    }
    match headers.get(header::EXPECT) {
        Some(expectation) if !is_word(expectation, "100-continue") => Err(Refusal::Expectation),
        _ => Ok(()),
    }
}

/// `Transfer-Encoding` is `chunked` once or not there, and `Content-Length` stands once.
fn check_framing(headers: &HeaderMap, version: Version) -> Result<(), Refusal> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => {}
        // HTTP/2 has no transfer codings (RFC 9113 8.2.2); one in it is meant for an HTTP/1 server behind a front.
        (Some(coding), None) if version < Version::HTTP_2 && is_word(coding, "chunked") => {}
        _ => return Err(Refusal::Malformed("The only transfer coding is chunked, once.")),
    }
    match single(headers, &header::CONTENT_LENGTH) {
        Ok(Some(_)) if headers.contains_key(header::TRANSFER_ENCODING) => {
            Err(Refusal::Malformed("A body has a length or a transfer coding, not both."))
        }
        Ok(_) => Ok(()),
        Err(()) => Err(Refusal::Malformed("Content-Length stands twice.")),
    }
}

/// The host that a request is for, without its port, where it says one that makes sense.
pub fn requested_host<B>(request: &Request<B>) -> Option<&str> {
    host(request).ok()
}

/// The host a request is for. One `Host` field at most, and the same as the target's authority when
/// both are there. RFC 9112 section 3.2, RFC 9113 section 8.3.1.
pub(crate) fn host<B>(request: &Request<B>) -> Result<&str, Refusal> {
    authority(request).map(|(host, _)| host)
}

/// The same with the port, where there is one.
pub(crate) fn authority<B>(request: &Request<B>) -> Result<(&str, Option<u16>), Refusal> {
    let malformed = Refusal::Malformed("The host is missing, malformed or contradictory.");
    let field = single(request.headers(), &header::HOST).map_err(|()| malformed)?;
    let field = field.map(|value| value.to_str().map_err(|_| malformed)).transpose()?;
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let stated = match (field, authority) {
        // A target in absolute form does not replace the Host field (RFC 9112 3.2.2): a front may route by the one or
        // the other.
        (None, Some(_)) if request.version() < Version::HTTP_2 => return Err(malformed),
        (Some(field), Some(authority)) if !field.eq_ignore_ascii_case(authority) => return Err(malformed),
        (Some(stated), _) | (None, Some(stated)) => stated,
        (None, None) => return Err(malformed),
    };
    let host = host_of(stated).ok_or(malformed)?;
    let port = stated[host.len()..].strip_prefix(':').and_then(|port| port.parse().ok());
    Ok((host, port))
}

/// The one value of a field, none, or an error when there are more.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(()),
    }
}

fn is_word(value: &HeaderValue, word: &str) -> bool {
    value.as_bytes().trim_ascii().eq_ignore_ascii_case(word.as_bytes())
}

fn is_utf8(value: &HeaderValue) -> bool {
    std::str::from_utf8(value.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(build: impl FnOnce(http::request::Builder) -> http::request::Builder) -> Option<u16> {
        let request = build(Request::builder().version(Version::HTTP_11)).body(()).expect("a request");
        let hosts = AllowedHosts::new(["demo.localhost"], true);
        check(&request, &hosts, &HttpLimits::default()).err().map(|refusal| refusal.status().as_u16())
    }

    fn with(name: &str, value: &str) -> Option<u16> {
        refused(|request| request.uri("/").header("host", "demo.localhost").header(name, value))
    }

    #[test]
    fn a_plain_request_passes() {
        assert_eq!(with("accept", "*/*"), None);
        assert_eq!(with("expect", "100-Continue"), None);
        assert_eq!(with("transfer-encoding", "Chunked"), None);
        assert_eq!(with("content-encoding", "identity"), None);
    }

    #[test]
    fn s1_codings_and_expectations_are_refused() {
        assert_eq!(with("transfer-encoding", "chunked, chunked"), Some(400));
        assert_eq!(with("transfer-encoding", "gzip, chunked"), Some(400));
        assert_eq!(with("content-encoding", "gzip"), Some(415));
        assert_eq!(with("expect", "200-ok"), Some(417));
    }

    #[test]
    fn s1_connect_and_trace_are_refused() {
        for method in [Method::TRACE, Method::CONNECT] {
            let build =
                |request: http::request::Builder| request.uri("/").header("host", "demo.localhost").method(method);
            assert_eq!(refused(build), Some(405));
        }
    }

    #[test]
    fn s1_a_request_is_for_one_served_host() {
        let host = |host: &str| refused(|request| request.uri("/").header("host", host));
        assert_eq!([host("DEMO.localhost:81"), host("127.0.0.1:8080"), host("[::1]")], [None; 3]);
        assert_eq!([host("evil.example"), host("8.8.8.8")], [Some(421); 2]);
        assert_eq!([host(""), host("a@demo.localhost"), host("demo.localhost/x")], [Some(400); 3]);
        assert_eq!(with("host", "demo.localhost"), Some(400));
        assert_eq!(refused(|request| request.uri("/")), Some(400));
    }

    #[test]
    fn s1_target_and_host_agree() {
        let both = |uri: &str| refused(|request| request.uri(uri).header("host", "demo.localhost"));
        assert_eq!([both("http://demo.localhost/"), both("http://evil.example/")], [None, Some(400)]);
        let h2 = |uri: &str, version| refused(|request| request.uri(uri).version(version));
        assert_eq!(h2("https://demo.localhost/", Version::HTTP_2), None);
        assert_eq!(h2("https://evil.example/", Version::HTTP_2), Some(421));
        assert_eq!(h2("https://demo.localhost/", Version::HTTP_11), Some(400));
    }

    #[test]
    fn s0_targets_and_fields_have_their_bounds() {
        let limits = HttpLimits::default();
        let target = |bytes: usize| {
            let path = format!("/{}", "a".repeat(bytes - 1));
            refused(|request| request.uri(path).header("host", "demo.localhost"))
        };
        assert_eq!([target(limits.target_bytes_max), target(limits.target_bytes_max + 1)], [None, Some(414)]);
        let fields = |count: usize| {
            let request = |request: http::request::Builder| request.uri("/").header("host", "demo.localhost");
            refused(|builder| (1..count).fold(request(builder), |builder, n| builder.header(format!("x-{n}"), "a")))
        };
        assert_eq!([fields(limits.head_fields_max), fields(limits.head_fields_max + 1)], [None, Some(431)]);
    }

    #[test]
    fn s1_methods_have_their_bound() {
        let method = |bytes: usize| {
            let name = Method::from_bytes("A".repeat(bytes).as_bytes()).expect("a token");
            refused(|request| request.uri("/").header("host", "demo.localhost").method(name))
        };
        assert_eq!([method(METHOD_BYTES_MAX), method(METHOD_BYTES_MAX + 1)], [None, Some(400)]);
    }

    #[test]
    fn s14_fields_are_utf8() {
        let value = |bytes: &[u8]| HeaderValue::from_bytes(bytes).expect("legal in a header");
        let field = |bytes: &[u8]| {
            refused(|request| request.uri("/").header("host", "demo.localhost").header("x", value(bytes)))
        };
        assert_eq!([field("ä".as_bytes()), field(b"\xff")], [None, Some(400)]);
    }
}
