//! `external_service`: a service elsewhere answers, behind the contract of an endpoint. Section 12.3.
//!
//! The URL, the header fields and the renamings are the operator's. Of a call only the input goes out:
//! fields that the URL names in their places, the others as the members of the body, or as the query where
//! there is no body. Nothing tells the service who calls.
//!
//! What comes back is either an answer that is held against the endpoint's output, or one of the errors that
//! the endpoint declares. The URL never reaches the caller, and what the service says about a failure only
//! where the operator wants it to.
//!
//! | file | holds |
//! |---|---|
//! | `address.rs` | the URL and what is filled into it |
//! | `body.rs` | the body: JSON, forms, texts and bytes |
//! | `multipart.rs`, `file.rs` | forms with parts, and files within JSON |
//! | `names.rs` | the renamings of fields |
//! | `pairs.rs` | names and values as queries and forms have them |
//! | `reading.rs` | what an answer of the service means |
//! | `reason.rs` | what it says of a failure |
//! | `written.rs` | how fields are written into queries, header fields and cookies |

mod address;
mod body;
mod encoding;
mod file;
mod multipart;
mod names;
mod pairs;
mod reading;
mod reason;
mod written;

use std::time::Duration;

use bytes::Bytes;
use forecourt_contract::endpoint::{ExternalService, Style, StylePlace};
use forecourt_contract::{Endpoint, Failure, Handler, Invocation, Schema, Violation};
use forecourt_egress::{Deadlines, Egress, Purpose, UpstreamRequest, hops};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::unfit::HandlerProblem;
use address::Address;
use body::Body;
use names::Names;
use reading::{Reading, ReadingError};
use written::FieldPlaces;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A service elsewhere, as a handler.
pub struct External {
    egress: Egress,
    address: Address,
    method: Method,
    headers: HeaderMap,
    names: Names,
    written: FieldPlaces,
    body: Body,
    reading: Reading,
    time: Duration,
}

impl External {
    /// Binds a service to an endpoint with that `input`.
    ///
    /// # Errors
    /// What can't work, so that it is found before the first call: a URL that may not be reached or
    /// takes a field that the input does not have, header fields that can't be sent, renamings that
    /// lose a field.
    pub fn new(service: &ExternalService, input: &Schema, egress: Egress) -> Result<External, HandlerProblem> {
        let mut address = Address::parse(&service.url, service.address_bytes_max)?;
        if let Some(name) = address.fields().into_iter().find(|name| !input.declares(name)) {
            let message = format!("`url` takes `{name}`, which the input must declare as a property");
            return Err(HandlerProblem::new(format!("external-service-placeholder-undeclared:{name}"), message));
        }
        for (field, style) in service.styles.iter().filter(|(_, style)| style.place() == StylePlace::Path) {
            address.style(field, service.input_transform.get(field).unwrap_or(field), *style)?;
        }
        reachable(&address, &egress)?;
        let in_url = address.fields();
        let properties = input.properties().into_iter().flat_map(Map::keys).map(String::as_str);
        let others: Vec<&str> = properties.filter(|name| !in_url.contains(name)).collect();
        let method = method(&service.method)?;
        let body = Body::new(service, &others, input)?;
        Ok(External {
            headers: headers(service)?,
            names: names(service, &body, &others)?,
            written: FieldPlaces::new(service, &others)?,
            reading: Reading::new(service)?,
            time: service.timeout,
            method,
            body,
            address,
            egress,
        })
    }

    /// The request for an input, from inside of `depth` compositions.
    fn request(&self, mut input: Map<String, Value>, depth: u32) -> Result<UpstreamRequest, Violation> {
        let in_url = self.address.fields();
        let mut rest: Map<String, Value> =
            input.iter().filter(|(name, _)| !in_url.contains(name.as_str())).map(owned).collect();
        input.retain(|name, _| in_url.contains(name.as_str()));
        let mut headers = self.headers.clone();
        let mut query = self.written.take(&mut rest, &mut headers)?;
        // Before the renaming: the field that is the whole body has no name at the service.
        let whole = self.body.take(&mut rest);
        let rest = self.names.rename(rest);
        // After the caller's header fields, so that none of them can begin the count anew.
        hops::write(&mut headers, depth);
        // Only a default: the operator may want another representation.
        headers.entry(ACCEPT).or_insert(JSON);
        let members = match self.body.takes_the_rest() {
            true => rest,
            false => {
                rest.iter().for_each(|(name, value)| query.add(name, value, Style::Repeat));
                Map::new()
            }
        };
        let url = self.address.fill(&input, query.pairs())?;
        let body = match self.body.write(whole, members)? {
            Some((media, bytes)) => {
                // A boundary is known here alone; any other media type may be the operator's.
                match media.as_bytes().starts_with(b"multipart/") {
                    true => drop(headers.insert(CONTENT_TYPE, media)),
                    false => drop(headers.entry(CONTENT_TYPE).or_insert(media)),
                }
                bytes
            }
            None => Bytes::new(),
        };
        let request = UpstreamRequest { method: self.method.clone(), headers, ..UpstreamRequest::post(url, body) };
        Ok(request.within(self.bounds()))
    }

    /// Our own wait comes first, since it says which one it was; the client's stands behind it.
    fn bounds(&self) -> Deadlines {
        let behind = self.time.saturating_add(Duration::from_secs(1));
        let usual = Purpose::Service.deadlines(self.egress.config());
        Deadlines { first_byte: behind, total: behind, body_bytes_max: self.reading.bytes_max(), ..usual }
    }

    async fn exchange(&self, request: UpstreamRequest, endpoint: &Endpoint) -> Result<Value, ReadingError> {
        let answer = self.egress.send(Purpose::Service, request).await?;
        self.reading.result(answer, &self.method, &endpoint.output).await
    }

    async fn answer(&self, invocation: Invocation) -> Result<Value, Failure> {
        let Invocation { endpoint, input, depth, .. } = invocation;
        let request = self.request(input, depth).map_err(Failure::Input)?;
        let ended = timeout(self.time, self.exchange(request, &endpoint)).await;
        ended.unwrap_or(Err(ReadingError::Late)).map_err(|fault| {
            let (method, path) = (&endpoint.method, &endpoint.path);
            match self.reading.is_expected(&fault) {
                true => tracing::debug!(%method, %path, reason = %fault, "the service behind an endpoint declined"),
                false => tracing::warn!(%method, %path, reason = %fault, "the service behind an endpoint failed"),
            }
            self.reading.failure(&fault)
        })
    }
}

impl Handler for External {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        self.answer(invocation).boxed()
    }
}

/// The names of the fields that go together, into the body or the query. What goes elsewhere may have a name
/// that one of them has too.
fn names(service: &ExternalService, body: &Body, fields: &[&str]) -> Result<Names, HandlerProblem> {
    let is_among = |name: &str| match service.styles.get(name).map(|style| style.place()) {
        None => true,
        Some(StylePlace::Query) => !body.takes_the_rest(),
        Some(StylePlace::Header | StylePlace::Cookie | StylePlace::Path) => false,
    };
    let fields: Vec<&str> = fields.iter().copied().filter(|name| is_among(name)).collect();
    let map = service.input_transform.iter().filter(|(name, _)| is_among(name));
    Names::outward(&map.map(|(ours, theirs)| (ours.clone(), theirs.clone())).collect(), &fields)
}

fn owned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// Whether the operator's own rules let the service be reached, as far as that is known by now.
fn reachable(address: &Address, egress: &Egress) -> Result<(), HandlerProblem> {
    let sample =
        address.sample().map_err(|violation| HandlerProblem::new("external-service-bad-url", violation.detail))?;
    egress.foresees(Purpose::Service, &sample).map_err(|error| {
        let message = format!("`url` is https, or http within networks that [egress] opens ({})", error.log_reason());
        let is_plain = sample.starts_with("http:");
        HandlerProblem::new(if is_plain { "external-service-bad-scheme" } else { "external-service-bad-url" }, message)
    })
}

fn method(name: &str) -> Result<Method, HandlerProblem> {
    let wrong = |_| HandlerProblem::new("external-service-bad-method", format!("`{name}` is not an HTTP method"));
    Method::from_bytes(name.as_bytes()).map_err(wrong)
}

/// The operator's fields. Their values may be secret, so that nothing prints them.
fn headers(service: &ExternalService) -> Result<HeaderMap, HandlerProblem> {
    let mut headers = HeaderMap::new();
    for (name, value) in &service.headers.0 {
        let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else {
            let message = format!("the header field `{name}` can't be sent like this");
            return Err(HandlerProblem::new("external-service-bad-header", message));
        };
        // Operators put tokens here; HTTP/2 then keeps them out of its compression table, and `Debug` hides them.
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}
