//! This module finds where an agent is asked over REST. Section 2.

use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;
use url::Url;

use crate::check::Shortfall;
use crate::document::Document;
use crate::offer::Absence;
use crate::web::discovery::card_of;
use crate::web::exchange::{Draft, Exchange};
use crate::web::target::WebTarget;

/// The extension that says where REST is, and its older name.
const URIS: [&str; 2] =
    ["https://mentionable.dev/ns/transport-rest/v0.1", "https://mentionable.dev/spec/transport-rest/v0.1"];

/// A host with an agent whose card names the REST transport.
pub(crate) struct Rest {
    host: Arc<WebTarget>,
    card: Document,
    /// Where it is asked, if the card says so in a way that can be followed.
    endpoint: Option<String>,
}

impl Deref for Rest {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

/// What the card says of the REST transport.
fn extension(card: &Value) -> Option<&Value> {
    let all = card["a2a"]["capabilities"]["extensions"].as_array()?;
    URIS.iter().find_map(|uri| all.iter().find(|extension| extension["uri"] == *uri))
}

pub(super) fn endpoint_of(card: &Value) -> Option<&str> {
    extension(card)?["endpoint"].as_str()
}

impl Rest {
    /// Looks for it.
    pub(super) async fn look(host: Arc<WebTarget>) -> Result<Self, Absence> {
        let card = card_of(&host).await.clone()?;
        if extension(&card).is_none() {
            return Err(Absence::NotOffered("the agent's card does not name the REST transport".to_owned()));
        }
        let endpoint = match endpoint_of(&card).map(|url| host.own(url)) {
            Some(Err(Shortfall::Skipped(why))) if endpoint_of(&card).is_some_and(|url| Url::parse(url).is_ok()) => {
                return Err(Absence::Untold(why));
            }
            Some(Ok(url)) => Some(url),
            _ => None,
        };
        Ok(Self { host, card, endpoint })
    }

    /// What the card says of REST, for checks of that.
    pub(super) fn card(&self) -> &Document {
        &self.card
    }

    /// Where the agent under test is asked.
    pub(super) fn endpoint(&self) -> Result<String, Shortfall> {
        self.endpoint
            .clone()
            .ok_or_else(|| Shortfall::skip("the card gives no endpoint that can be asked; rest-2 says more"))
    }
}

/// An endpoint with a query behind it.
pub(super) fn with_query(endpoint: &str, query: &str) -> String {
    // A card may name an endpoint that has a query already.
    let separator = if endpoint.contains('?') { '&' } else { '?' };
    format!("{endpoint}{separator}{query}")
}

/// A short question to the agent under test.
pub(super) async fn question(rest: &Rest, accept: &str) -> Result<Exchange, Shortfall> {
    let url = with_query(&rest.endpoint()?, "user=hello");
    rest.ask(Draft::get(&url).field("Accept", accept)).await
}
