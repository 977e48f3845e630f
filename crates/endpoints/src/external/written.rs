//! How fields are written into the query, into header fields and into cookies.

use std::collections::BTreeMap;

use forecourt_contract::Violation;
use forecourt_contract::endpoint::{ExternalService, Style, StylePlace};
use forecourt_contract::limits::SERVICE_ADDRESS_BYTES_MAX;
use forecourt_egress::limits::URL_BYTES_MAX;
use http::header::COOKIE;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::names::unique;
use super::pairs::{Pairs, items, named_items, text};
use crate::unfit::HandlerProblem;

/// The fields that are written in a way of their own, by our names.
#[derive(Debug)]
pub(super) struct FieldPlaces(BTreeMap<String, Place>);

/// Where a field goes, under the service's name.
#[derive(Debug)]
enum Place {
    Query(String, Style),
    Header(HeaderName, Style),
    Cookie(String),
}

impl Place {
    /// A name that only this place has.
    fn name(&self) -> String {
        match self {
            Place::Query(name, _) => format!("{name} in the query"),
            Place::Header(name, _) => format!("{name} in the header"),
            Place::Cookie(name) => format!("{name} among the cookies"),
        }
    }
}

impl FieldPlaces {
    /// The styles of a service. `fields` are those that do not stand in its URL.
    ///
    /// # Errors
    /// A style of no such field, a field whose name no header field can have, or two fields in one place.
    pub(super) fn new(service: &ExternalService, fields: &[&str]) -> Result<FieldPlaces, HandlerProblem> {
        let place = |(field, style): (&String, &Style)| {
            if !fields.contains(&field.as_str()) {
                let message =
                    format!("`input_styles` names `{field}`, which the input must declare and `url` must not take");
                return Err(HandlerProblem::new(format!("external-service-style-undeclared:{field}"), message));
            }
            let theirs = service.input_transform.get(field).unwrap_or(field);
            let place = match style.place() {
                StylePlace::Header => Place::Header(header(theirs)?, *style),
                StylePlace::Cookie => Place::Cookie(cookie(theirs)?),
                StylePlace::Query | StylePlace::Path => Place::Query(theirs.clone(), *style),
            };
            Ok((field.clone(), place))
        };
        let here = service.styles.iter().filter(|(_, style)| style.place() != StylePlace::Path);
        let places: BTreeMap<String, Place> = here.map(place).collect::<Result<_, _>>()?;
        unique(places.values().map(Place::name), "input_styles")?;
        Ok(FieldPlaces(places))
    }

    /// Takes those fields out of an input: into the header, and as the pairs of a query.
    ///
    /// # Errors
    /// A value that no header field can have.
    pub(super) fn take(&self, input: &mut Map<String, Value>, headers: &mut HeaderMap) -> Result<Pairs, Violation> {
        let (mut query, mut cookies) = (Pairs::within(SERVICE_ADDRESS_BYTES_MAX), Pairs::within(URL_BYTES_MAX));
        for (field, place) in &self.0 {
            let Some(value) = input.remove(field).filter(|value| !value.is_null()) else { continue };
            match place {
                Place::Query(name, style) => query.add(name, &value, *style),
                Place::Cookie(name) => cookies.add(name, &value, Style::Repeat),
                Place::Header(name, style) => {
                    let text = HeaderValue::try_from(in_header(&value, *style)).ok();
                    // Bytes over 127 are read as Latin-1 by one service and as UTF-8 by the next.
                    let text = text.filter(|value| value.to_str().is_ok());
                    let message = "only printable ASCII fits into a header field of the service";
                    headers.insert(name, text.ok_or_else(|| Violation::of_field(field, message))?);
                }
            }
        }
        add_cookies(cookies.pairs(), headers)?;
        Ok(query)
    }
}

/// Cookies of a caller behind those of the operator.
fn add_cookies(pairs: &[String], headers: &mut HeaderMap) -> Result<(), Violation> {
    if pairs.is_empty() {
        return Ok(());
    }
    // One field: a request has at most one `Cookie` (RFC 6265 5.4), so the two are joined.
    let own = headers.get(COOKIE).and_then(|own| own.to_str().ok()).map(str::to_owned);
    let all = own.into_iter().chain(pairs.iter().cloned()).collect::<Vec<_>>().join("; ");
    let too_much = |_| Violation::new("", "this is more than fits into the cookies of the service");
    let mut value = HeaderValue::try_from(all).map_err(too_much)?;
    value.set_sensitive(true);
    headers.insert(COOKIE, value);
    Ok(())
}

/// A value as a header field has it.
fn in_header(value: &Value, style: Style) -> String {
    match (style, value) {
        (Style::HeaderJson, value) => value.to_string(),
        (Style::HeaderPairs, value) => {
            let pairs = named_items(value).into_iter();
            pairs
                .map(|(name, item)| name.map_or(item.clone(), |name| format!("{name}={item}")))
                .collect::<Vec<_>>()
                .join(",")
        }
        (_, Value::Object(_)) => items(value).join(","),
        (_, value) => text(value),
    }
}

fn header(name: &str) -> Result<HeaderName, HandlerProblem> {
    let message = format!("invalid HTTP header name `{name}`");
    HeaderName::try_from(name).map_err(|_| HandlerProblem::new("external-service-bad-style", message))
}

/// The name of a cookie. RFC 6265 4.1.1.
fn cookie(name: &str) -> Result<String, HandlerProblem> {
    let is_token =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    let message = format!("invalid name of a cookie `{name}`");
    is_token.then(|| name.to_owned()).ok_or_else(|| HandlerProblem::new("external-service-bad-style", message))
}
