//! This module is the JSON-RPC that a card names, whatever the version.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::card_of;
use super::version::Version;
use crate::check::{Shortfall, Verdict};
use crate::document::Document;
use crate::evidence::Evidence;
use crate::offer::Absence;
use crate::web::exchange::{Draft, Exchange};
use crate::web::target::WebTarget;

/// A host whose card names JSON-RPC of the version `V`.
pub(crate) struct Rpc<V> {
    host: Arc<WebTarget>,
    pub(super) card: Document,
    url: String,
    /// The answer to the one message that the checks of tasks share.
    pub(super) sent: OnceCell<Option<Document>>,
    version: PhantomData<fn() -> V>,
}

impl<V> Deref for Rpc<V> {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

impl<V: Version> Rpc<V> {
    /// Looks for it.
    pub(super) async fn look(host: Arc<WebTarget>) -> Result<Self, Absence> {
        let card = card_of(&host).await.clone()?;
        let url = V::url(&card).map(|url| host.own(url));
        match url {
            None => Err(Absence::NotOffered(format!("the card names no JSON-RPC of A2A {}", V::NUMBER))),
            Some(Err(Shortfall::Skipped(why))) => Err(Absence::Untold(why)),
            Some(Err(_)) => Err(Absence::Untold("the URL of the card can't be asked".to_owned())),
            Some(Ok(url)) => Ok(Self { host, card, url, sent: OnceCell::new(), version: PhantomData }),
        }
    }

    /// A POST to the URL of the card.
    pub(super) fn draft(&self, body: &Value) -> Draft {
        Draft::json(&self.url, body).field("A2A-Version", V::NUMBER)
    }

    /// A POST of what need not be JSON.
    pub(super) fn post(&self, body: &str) -> Draft {
        let draft = Draft::new(http::Method::POST, &self.url).body("application/json", body.to_owned());
        draft.field("A2A-Version", V::NUMBER)
    }

    /// A call of a method.
    pub(super) fn call(&self, method: &str, params: &Value) -> Draft {
        self.draft(&json!({"jsonrpc": "2.0", "id": ID, "method": method, "params": params}))
    }

    /// Calls a method, and gives its result.
    pub(super) async fn result(&self, method: &str, params: &Value) -> Result<(Exchange, Value), Shortfall> {
        let exchange = self.ask(self.call(method, params)).await?;
        exchange.expect(&[200])?;
        let mut body = exchange.json()?;
        match body.get("result").is_some() {
            true => Ok((exchange, body["result"].take())),
            false => Err(exchange.wrong("there is no result")),
        }
    }

    /// Calls a method that must be refused with one of these codes.
    pub(super) async fn refused(&self, method: &str, params: &Value, codes: &[i64]) -> Verdict {
        failed(&self.ask(self.call(method, params)).await?, codes)
    }

    /// Whether the card has a capability.
    pub(super) fn can(&self, capability: &str) -> bool {
        self.card["capabilities"][capability] == true
    }
}

/// The id of every call.
pub(super) const ID: &str = "conform-1";

/// Fine with an error of JSON-RPC that has one of these codes.
pub(super) fn failed(exchange: &Exchange, codes: &[i64]) -> Verdict {
    // What [`Exchange::allowed`] leaves out.
    if matches!(exchange.status(), 401 | 402 | 403 | 429 | 503) {
        return exchange.expect(&[200]);
    }
    match exchange.json()?["error"]["code"].as_i64() {
        Some(found) if codes.contains(&found) => Ok(()),
        Some(found) => {
            let wanted = codes.iter().map(i64::to_string).collect::<Vec<_>>().join(" or ");
            Err(exchange.wrong(format!("the code is {found} where {wanted} belongs")))
        }
        None => Err(exchange.wrong("there is no error")),
    }
}
