//! This module asks hosts that speak A2A: the card, and what it names, in both versions that are in use.
//!
//! | file | holds |
//! |---|---|
//! | `card.rs` | checks of the card |
//! | `rpc.rs` | JSON-RPC at the URL of a card, whatever the version |
//! | `version.rs` | what the versions differ in |
//! | `checks.rs` | the checks of each version |
//! | `requests.rs` | checks of requests that change nothing |
//! | `sending.rs`, `streams.rs` | checks of messages, and of the tasks they begin |
//! | `rest.rs` | HTTP+JSON of 1.0 |

mod card;
mod checks;
mod requests;
mod rest;
mod rpc;
mod sending;
mod streams;
mod version;

use serde_json::Value;

use super::exchange::Draft;
use super::target::WebTarget;
use crate::document::Document;
use crate::offer::Absence;

pub(super) use card::A2aCard;
pub(super) use rest::RestBinding;
pub(super) use rpc::Rpc;
pub(super) use version::{V0_3, V1_0};

/// Where a host has its card. A2A 5, RFC 8615.
pub(super) const CARD_PATH: &str = "/.well-known/agent-card.json";

/// The card of the host, asked for once.
pub(super) async fn card_of(host: &WebTarget) -> &Result<Document, Absence> {
    // A card lacks this or that; what has neither skills nor a place where it is asked is another document.
    let signs = ["skills", "supportedInterfaces", "capabilities", "protocolVersion", "defaultInputModes"];
    let is_card = |body: &Value| signs.iter().any(|name| body.get(*name).is_some());
    host.learnt.a2a_card.get_or_init(|| host.look_for(Draft::get(CARD_PATH), is_card)).await
}

/// Whether the card names a transport of this version.
fn interface<'a>(card: &'a Value, binding: &str, version: &str) -> Option<&'a str> {
    let mut all = card["supportedInterfaces"].as_array()?.iter();
    all.find(|one| one["protocolBinding"] == binding && one["protocolVersion"] == version)?["url"].as_str()
}
