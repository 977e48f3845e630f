//! Answers are made smaller for clients that say they can read it: zstd, br or gzip, whichever they like best.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use futures::FutureExt;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, VARY};
use http::{Extensions, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body::Body as _;
use pin_project_lite::pin_project;
use tower_http::compression::predicate::{NotForContentType, Predicate};
use tower_http::compression::{Compression, CompressionLevel};
use tower_service::Service;

/// Bytes below which it is not worth the while: such an answer fits into one packet as it is.
const BYTES_MIN: u64 = 1_024;
/// Levels that cost little: answers are made for one caller, and read once.
const LEVEL: CompressionLevel = CompressionLevel::Fastest;

/// The same service, with bodies made smaller where that helps. Streams of events leave as they come, and what is small
/// already (pictures, archives, PDF) stays as it is. What is not worth it costs a look at its length.
#[derive(Debug, Clone)]
pub(crate) struct CompressedService<S>(S);

impl<S> CompressedService<S> {
    /// Makes the answers of `service` smaller.
    pub(crate) fn new(service: S) -> Self {
        Self(service)
    }
}

impl<S> Service<Request<Body>> for CompressedService<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = CompressedAnswer<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let accepts = request.headers().contains_key(ACCEPT_ENCODING).then(|| {
            let codings = request.headers().get_all(ACCEPT_ENCODING).iter();
            // Only this field, and boxed: it is kept until the answer is there, and most answers are too small to need
            // it.
            Box::new(codings.map(|coding| (ACCEPT_ENCODING, coding.clone())).collect())
        });
        let is_head = request.method() == Method::HEAD;
        CompressedAnswer { answering: self.0.call(request), is_head, accepts }
    }
}

pin_project! {
    /// An answer on its way, which is made smaller at its end.
    pub(crate) struct CompressedAnswer<F> {
        #[pin]
        answering: F,
        is_head: bool,
        // What the client can read, if it said so.
        accepts: Option<Box<HeaderMap>>,
    }
}

impl<F: Future<Output = Result<Response<Body>, Infallible>>> Future for CompressedAnswer<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.answering.poll(cx).map_ok(|response| match is_worth_it(&response, *this.is_head) {
            true => smaller(response, this.accepts.take()),
            false => response,
        })
    }
}

/// Whether an answer is made smaller for whoever can read that. One to HEAD has no body, and the fields of one to GET.
fn is_worth_it(response: &Response<Body>, is_head: bool) -> bool {
    const OF_NO_USE: [&str; 6] =
        ["audio/", "video/", "application/zip", "application/gzip", "application/pdf", "application/octet-stream"];
    let head = response.headers();
    let length = head.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    // A body for HEAD is empty and exact, which says nothing of the body that GET would have.
    let length = length.or_else(|| response.body().size_hint().exact().filter(|_| !is_head));
    // The length first: it settles most of them.
    length.is_none_or(|length: u64| length >= BYTES_MIN)
        && !head.contains_key(CONTENT_ENCODING)
        // A range counts bytes of the plain body (RFC 9110 14.2); packed, the parts would not fit together.
        && !head.contains_key(CONTENT_RANGE)
        && [NotForContentType::GRPC, NotForContentType::IMAGES, NotForContentType::SSE]
            .into_iter()
            .chain(OF_NO_USE.map(NotForContentType::const_new))
            .all(|kind| kind.should_compress(response))
}

/// The answer in the coding that its client likes best, if it likes one; in any case the answer says that it depends on
/// that.
fn smaller(mut response: Response<Body>, accepts: Option<Box<HeaderMap>>) -> Response<Body> {
    let Some(accepts) = accepts else {
        let name = ACCEPT_ENCODING.as_str().as_bytes();
        let varies =
            |value: &HeaderValue| value.as_bytes().windows(name.len()).any(|part| part.eq_ignore_ascii_case(name));
        if !response.headers().get_all(VARY).iter().any(varies) {
            // A cache between us must not hand this plain answer's packed twin to a client that did not ask for one.
            response.headers_mut().append(VARY, ACCEPT_ENCODING.into());
        }
        return response;
    };
    let mut request = Request::new(());
    *request.headers_mut() = *accepts;
    let always = |_: StatusCode, _: Version, _: &HeaderMap, _: &Extensions| true;
    let mut coded = Compression::new(ThisAnswer(Some(response))).quality(LEVEL).compress_when(always);
    match coded.call(request).now_or_never() {
        Some(Ok(response)) => weaken_tag(response.map(Body::new)),
        // The answer is there already, so that nothing is waited for.
        None => Response::default(),
    }
}

/// An answer that is there.
struct ThisAnswer(Option<Response<Body>>);

impl Service<Request<()>> for ThisAnswer {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(self.0.take().unwrap_or_default()))
    }
}

/// A strong tag stands for the very bytes, and these are others now. RFC 9110 8.8.3.
fn weaken_tag(mut response: Response<Body>) -> Response<Body> {
    if response.headers().contains_key(CONTENT_ENCODING)
        && let Some(tag) = response.headers().get(ETAG).filter(|tag| tag.as_bytes().starts_with(b"\""))
        && let Ok(weak) = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat())
    {
        response.headers_mut().insert(ETAG, weak);
    }
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

    /// What a client that accepts these codings gets of a body of so many bytes: its head and its first bytes.
    async fn answered(accepts: Option<&str>, kind: &'static str, bytes: usize) -> (HeaderMap, Vec<u8>) {
        let service = tower::service_fn(move |_: Request<Body>| {
            let mut response = Response::new(Body::from("a".repeat(bytes)));
            response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static(kind));
            response.headers_mut().insert(ETAG, HeaderValue::from_static("\"tag\""));
            ready(Ok(response))
        });
        let mut request = Request::new(Body::empty());
        if let Some(accepts) = accepts {
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_str(accepts).unwrap());
        }
        let Ok(response) = CompressedService::new(service).call(request).await;
        let (head, body) = response.into_parts();
        (head.headers, body.collect().await.unwrap().to_bytes().to_vec())
    }

    #[tokio::test]
    async fn bodies_are_made_smaller_for_whoever_can_read_it() {
        let (head, body) = answered(Some("gzip;q=0.5, zstd"), "text/plain", 5_000).await;
        assert_eq!(head[CONTENT_ENCODING], "zstd");
        assert!(body.len() < 500 && body.starts_with(ZSTD), "{}", body.len());
        assert_eq!([&head[VARY], &head[ETAG]], ["accept-encoding", "W/\"tag\""]);
    }

    #[tokio::test]
    async fn whoever_can_not_read_it_is_told_that_others_get_it_otherwise() {
        for accepts in [None, Some("identity")] {
            let (head, body) = answered(accepts, "text/plain", 5_000).await;
            assert_eq!((body.len(), head.contains_key(CONTENT_ENCODING)), (5_000, false));
            assert_eq!([&head[VARY], &head[ETAG]], ["accept-encoding", "\"tag\""]);
        }
    }

    #[tokio::test]
    async fn what_is_small_or_is_packed_already_stays_as_it_is() {
        for (kind, bytes) in [("text/plain", 1_023), ("image/png", 5_000), ("text/event-stream", 5_000)] {
            let (head, body) = answered(Some("zstd"), kind, bytes).await;
            assert_eq!((body.len(), head.contains_key(VARY)), (bytes, false), "{kind}");
        }
    }
}
