//! This module is one request to a server of AGTP and its answer, and what may be said of them.

use forecourt_core::json;
use serde_json::Value;

use super::message::Response;
use crate::check::{Shortfall, ShownExchange, Verdict};
use crate::document::Document;
use crate::evidence::Evidence;
use crate::shown::Secrets;

/// One request and its answer.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(super) sent: String,
    pub(crate) response: Response,
    pub(super) is_named: bool,
    pub(super) secrets: Secrets,
}

/// Why nothing is told of what a caller may not claim.
const SCOPE_REFUSED: &str = "the server refuses the scope that is claimed (262): give --scope with one of the caller's";

impl Exchange {
    /// The status.
    pub(crate) fn status(&self) -> u16 {
        self.response.status
    }

    /// Whether it is one of the statuses that say that somebody may not do this. Base 4.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.status(), 262 | 401 | 403 | 455)
    }

    /// The value of a field of the answer.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.response.field(name)
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Result<Value, Shortfall> {
        json::parse(&self.response.body).map_err(|fault| self.wrong(format!("the body is no JSON: {fault}")))
    }

    /// A member of the body: of the whole of it, or of its `error`, where refusals have theirs.
    pub(crate) fn member(&self, name: &str) -> Option<Value> {
        let body = json::parse(&self.response.body).ok()?;
        // The drafts show refusals in more than one form.
        let places = [&body, &body["error"], &body["error"]["details"]];
        places.iter().find_map(|place| place.get(name)).cloned()
    }

    /// Whether a word is the code, the reason or the type of the refusal.
    pub(crate) fn says(&self, word: &str) -> bool {
        ["code", "reason", "type", "issue"].iter().any(|name| self.member(name).is_some_and(|found| found == word))
    }

    /// The body as a JSON document that was had with 200.
    pub(crate) fn document(&self) -> Option<Document> {
        let body = self.json().ok().filter(|_| self.response.status == 200)?;
        Some(Document::new(body, self.shown()))
    }

    /// Fine with one of these statuses. What stands before the rule in a server's order, such as who calls or how
    /// often, leaves it untold.
    pub(crate) fn expect(&self, statuses: &[u16]) -> Verdict {
        let status = self.status();
        if statuses.contains(&status) {
            return Ok(());
        }
        let wants_a_name = matches!(status, 401 | 262) || (status == 400 && self.says("missing-agent-id"));
        match status {
            _ if wants_a_name && !self.is_named => {
                Err(Shortfall::skip(format!("the server answers {status} to nobody in particular: give --agent-id")))
            }
            401 => Err(Shortfall::skip("the server does not know this caller (401)")),
            262 if self.says("scope-claim-invalid") => Err(Shortfall::skip(SCOPE_REFUSED)),
            429 | 503 => Err(Shortfall::skip(format!("the server is busy ({status})"))),
            _ => Err(self.wrong(format!("the status is {status} where {} belongs", either(statuses)))),
        }
    }
}

fn either(statuses: &[u16]) -> String {
    statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ")
}

impl Evidence for Exchange {
    fn shown(&self) -> ShownExchange {
        let Response { head, body, .. } = &self.response;
        ShownExchange { sent: self.sent.clone(), came: self.secrets.shown(head, body) }
    }
}
