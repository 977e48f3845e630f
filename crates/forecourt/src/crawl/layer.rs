//! What stands before the routes of this host: it finds out who crawls, once for each request, holds pages against the
//! rules before them, counts, and says on which terms what is answered may be used.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::extract::Request;
use axum::response::Response;
use forecourt_admin::crawlers::{CrawlOutcome, CrawlerLog};
use forecourt_core::{Bot, Handle, PolicyPart, Sender, Timestamp};
use forecourt_host::{ServerGate, Target};
use forecourt_identity::CRAWLER_TAG;
use forecourt_payments::crawl::{CRAWLER_CHARGED, Dollars};
use forecourt_payments::x402::http::{PAYMENT_RESPONSE, X_PAYMENT_RESPONSE};
use forecourt_surface::agent_path::{agent_before, agent_named, normal_path};
use forecourt_surface::credentials;
use forecourt_surface::{BaseUrl, Mount};
use futures::future::BoxFuture;
use http::header::{HeaderName, LINK};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use super::Crawl;
use super::gate::{self, Passage};
use super::preferences::LICENSE_PATH;
use super::terms::Place;

/// The preferences for what an answer may be used for. IETF aipref.
static CONTENT_USAGE: HeaderName = HeaderName::from_static("content-usage");
/// What tells crawlers the terms, and what is for programs: never behind a rule before pages.
const OPEN: [&str; 5] = ["/robots.txt", "/llms.txt", "/sitemap.xml", LICENSE_PATH, "/.well-known/"];

/// A tower layer by hand, since it stands before every request: for who is no crawler it boxes nothing.
#[derive(Clone)]
pub(super) struct CrawlLayer(Arc<Watch>);

struct Watch {
    mount: Mount,
    crawl: Arc<Crawl>,
    log: Arc<CrawlerLog>,
}

impl CrawlLayer {
    /// Before a mounted host; `None` where nobody set up what it needs.
    pub(super) fn new(mount: &Mount) -> Option<Self> {
        let (crawl, log) = (mount.services.get::<Crawl>()?, mount.services.get::<CrawlerLog>()?);
        Some(Self(Arc::new(Watch { mount: mount.clone(), crawl, log })))
    }
}

impl<S> Layer<S> for CrawlLayer {
    type Service = CrawlService<S>;

    fn layer(&self, inner: S) -> CrawlService<S> {
        CrawlService { inner, watch: self.0.clone() }
    }
}

#[derive(Clone)]
pub(super) struct CrawlService<S> {
    inner: S,
    watch: Arc<Watch>,
}

impl<S> Service<Request> for CrawlService<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = CrawlFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        if is_read && self.watch.may_crawl(request.headers()) {
            let (watch, spare) = (self.watch.clone(), self.inner.clone());
            // The one that was polled to be ready is the one to be called.
            let inner = std::mem::replace(&mut self.inner, spare);
            return CrawlFuture::Crawled { answering: Box::pin(crawled(watch, inner, request)) };
        }
        let watch = (is_read && !self.watch.crawl.terms.is_empty()).then(|| self.watch.clone());
        let uri = watch.as_ref().map(|_| request.uri().clone());
        CrawlFuture::Others { answering: self.inner.call(request), watch, uri }
    }
}

pin_project! {
    #[project = CrawlProjection]
    pub(super) enum CrawlFuture<F> {
        Others { #[pin] answering: F, watch: Option<Arc<Watch>>, uri: Option<Uri> },
        Crawled { answering: BoxFuture<'static, Result<Response, Infallible>> },
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for CrawlFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        match self.project() {
            CrawlProjection::Crawled { answering } => answering.as_mut().poll(context),
            CrawlProjection::Others { answering, watch, uri } => {
                let mut response = ready!(answering.poll(context))?;
                if let (Some(watch), Some(uri)) = (watch, uri) {
                    watch.add_terms(&mut response, uri);
                }
                Poll::Ready(Ok(response))
            }
        }
    }
}

/// The trip of a request that may come from a crawler.
async fn crawled<S>(watch: Arc<Watch>, mut inner: S, request: Request) -> Result<Response, Infallible>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    let (mut head, body) = request.into_parts();
    let host = &watch.mount.host;
    let (now, site) = (host.clock().now(), host.site());
    let sender = match watch.sender(&mut head, now).await {
        Ok(sender) => sender,
        Err(part) => {
            let response = gate::refusal(&part, site.canonical_host());
            watch.log.count_unproven(CrawlOutcome::Refused, now);
            return Ok(response);
        }
    };
    let uri = head.uri.clone();
    let Some(bot) = sender.bot.clone() else { return inner.call(Request::from_parts(head, body)).await };
    let path = normal_path(uri.path());
    let is_before = |gate: &&ServerGate| !is_open(&path) && gate.is_before(Target::Tool(&path));
    let gate = watch.crawl.gate.as_ref().filter(is_before);
    let mut response = match gate {
        None => inner.call(Request::from_parts(head, body)).await?,
        Some(gate) => match gate::pass(host, gate, (&head, &*path), sender, now).await {
            Passage::Told(response) => *response,
            Passage::Open(permit) => {
                let asked = head.headers.clone();
                let response = inner.call(Request::from_parts(head, body)).await?;
                gate::end(*permit, response, &asked, site.canonical_host()).await
            }
        },
    };
    watch.add_terms(&mut response, &uri);
    watch.count(&bot, &response);
    Ok(response)
}

/// Whether a request is signed as those of crawlers are.
fn is_tagged(headers: &HeaderMap) -> bool {
    let has_tag = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains(CRAWLER_TAG));
    headers.get_all("signature-input").iter().any(has_tag)
}

fn is_open(path: &str) -> bool {
    OPEN.iter().any(|open| path == *open || (open.ends_with('/') && path.starts_with(open)))
}

impl Watch {
    /// Whether a request says that it comes from a crawler, or is signed as those of crawlers are.
    fn may_crawl(&self, headers: &HeaderMap) -> bool {
        is_tagged(headers) || self.mount.verifier.bots().named(headers).is_some()
    }

    /// The crawler that sent a request, by its own signature alone or by its name. What else the request proves is
    /// verified by the wire that it is for, which knows the agent that it is meant for.
    async fn sender(&self, head: &mut Parts, now: Timestamp) -> Result<Sender, Box<PolicyPart>> {
        let (host, verifier) = (&self.mount.host, &self.mount.verifier);
        let agent = agent_before(head.uri.path()).and_then(|handle| host.directory().find(&handle));
        let agent = host.site().address(agent.unwrap_or_else(|| host.directory().default_agent()).card.handle());
        let proof = credentials::Request { head, body: None, agent: &agent, now };
        let peer = proof.peer();
        let verified =
            if is_tagged(&head.headers) { credentials::crawler(verifier, host.site(), proof).await? } else { None };
        Ok(match verified {
            Some(crawler) => {
                let sender = Sender { peer, ..verifier.crawler_sender(&crawler, &agent) };
                // Its nonce is good for one use: whoever verifies later is told what came of it.
                head.extensions.insert(crawler);
                sender
            }
            None => Sender { peer, bot: verifier.bots().named(&head.headers).map(Box::new), ..Sender::anonymous() },
        })
    }

    /// The agent whose address a path is.
    fn agent_at(&self, path: &str) -> Option<&Handle> {
        let found = self.mount.host.directory().find(&agent_named(path)?)?;
        Some(found.card.handle())
    }

    /// Says on which terms what is answered may be used.
    fn add_terms(&self, response: &mut Response, uri: &Uri) {
        let terms = &self.crawl.terms;
        let path = normal_path(uri.path());
        if terms.is_empty() || !response.status().is_success() || is_open(&path) {
            return;
        }
        let is_question = uri.query().is_some_and(|query| !query.is_empty());
        let place = match self.agent_at(&path).filter(|_| is_question) {
            Some(agent) => Place::Answers(agent),
            None => Place::Page(&path),
        };
        let head = response.headers_mut();
        head.extend(HeaderValue::from_str(&terms.usage(place)).ok().map(|value| (CONTENT_USAGE.clone(), value)));
        let license = BaseUrl::at(self.mount.host.site(), None).url(LICENSE_PATH);
        let link = format!("<{license}>; rel=\"license\"; type=\"application/rsl+xml\"");
        if let Ok(link) = HeaderValue::from_str(&link) {
            head.append(LINK, link);
        }
    }

    fn count(&self, bot: &Bot, response: &Response) {
        let head = response.headers();
        let dollars = |value: &HeaderValue| Dollars::of_price(value.to_str().ok()?);
        let owed = head.get(CRAWLER_CHARGED).and_then(dollars).map_or(0, Dollars::millionths);
        let is_paid = head.contains_key(X_PAYMENT_RESPONSE) || head.contains_key(PAYMENT_RESPONSE);
        let outcome = match response.status() {
            status if status.is_success() || status == StatusCode::NOT_MODIFIED => {
                CrawlOutcome::Taken { owed, is_paid }
            }
            StatusCode::PAYMENT_REQUIRED => CrawlOutcome::PriceTold,
            StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS => CrawlOutcome::Refused,
            _ => CrawlOutcome::Other,
        };
        self.log.count(bot, outcome, self.mount.host.clock().now());
    }
}
