//! What DISCOVER answers: the manifest, the directory, searches for agents, and the surfaces below the
//! root. AGTP-API 5.8 to 5.10, 8.10; base 2.6.
//!
//! | file | holds |
//! |---|---|
//! | `surface.rs` | which surface a request is for |
//! | `warned.rs` | who was told that a form is deprecated |
//! | `manifest.rs` | the manifest, or that the caller has it |
//! | `methods.rs` | the endpoints that fit a filter |
//! | `genesis.rs` | the genesis document of an agent |
//! | `patterns.rs`, `contracts.rs` | what can be negotiated, and what was |
//! | `search.rs`, `relevance.rs` | agents by what they are good at |

mod contracts;
mod genesis;
mod manifest;
mod methods;
mod patterns;
mod relevance;
mod search;
mod surface;
mod warned;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use forecourt_agtp_wire::status::Status;
use forecourt_contract::call::Identity;
use forecourt_identity::HostKeys;
use serde_json::json;

use crate::ask::Ask;
use crate::inventory::{Audience, Inventory};
use crate::manifest::{Publisher, View};
use crate::problem::authority;
use crate::reply::{Body, Problem, Reply};
use surface::{BuiltinRequest, Surface};
use warned::WarnedCallers;

/// The media type of what DISCOVER answers, unless it has one of its own. Base 2.2.
const MEDIA_TYPE: &str = "application/vnd.agtp.discover+json";

/// Answers DISCOVER, from what this host has.
pub(crate) struct Discovery {
    inventory: Inventory,
    publisher: Publisher,
    warned: WarnedCallers,
}

impl Discovery {
    /// Answers from an inventory; manifests are signed with the last of these keys.
    pub(crate) fn new(inventory: Inventory, keys: Arc<ArcSwap<HostKeys>>) -> Self {
        Self { inventory, publisher: Publisher::new(keys), warned: WarnedCallers::default() }
    }

    /// Answers one request for the host's own DISCOVER pairs, which the policy lets in. Who is not known
    /// under the name that it gave was refused before.
    pub(crate) async fn discover(&self, ask: &Ask) -> Result<Reply, Problem> {
        let audience = self.receives(ask)?;
        let asked = surface::asked(ask, &self.inventory)?;
        let reply = self.answer(ask, audience, &asked).await?;
        match asked.is_deprecated && self.warned.is_first(ask.call.caller.agent_id.as_deref()) {
            true => Ok(warn(reply, ask, asked.surface)),
            false => Ok(reply),
        }
    }

    /// Who asks what there is here. AGTP-API 8.7.
    ///
    /// # Errors
    /// 262 for strangers, where they are told nothing.
    pub(crate) fn receives(&self, ask: &Ask) -> Result<Audience, Problem> {
        let audience = audience(ask);
        if audience == Audience::Stranger && !self.inventory.settings.policies.anonymous_discovery {
            let explanation = "say which agent is calling: this server tells strangers nothing of itself";
            return Err(authority("anonymous-discovery-disabled", explanation, json!({"header": "Agent-ID"})));
        }
        Ok(audience)
    }

    /// Finds out which edition of the manifest is in force, for [`Discovery::api_version`]. Cheap once it
    /// is known.
    pub(crate) async fn prepare(&self) {
        self.publisher.prepare(&self.inventory).await;
    }

    /// The same, after persistent contracts were made or ended here. AGTP-API 10.8.
    pub(crate) async fn refresh(&self) {
        self.publisher.refresh(&self.inventory).await;
    }

    /// `AGTP-API-Version`, which goes with every answer of this server: changes whenever the endpoints do,
    /// and never decreases. `None` before [`Discovery::prepare`]. Base 2.5.
    pub(crate) fn api_version(&self) -> Option<Arc<str>> {
        self.publisher.api_version()
    }

    async fn answer(&self, ask: &Ask, audience: Audience, asked: &BuiltinRequest) -> Result<Reply, Problem> {
        let inventory = &self.inventory;
        match asked.surface {
            Surface::Manifest { with_directory } => {
                let view = View { audience, with_directory };
                Ok(manifest::reply(&self.publisher, inventory, view, ask.if_none_match.as_deref()).await)
            }
            Surface::Directory => Ok(Reply::ok(json!({"directory": inventory.directory()}))),
            Surface::Search => search::reply(inventory, audience, &asked.input),
            Surface::Methods if methods::is_filtered(&asked.input) => methods::reply(inventory, &asked.input).await,
            Surface::Methods => Ok(made(self.publisher.methods(inventory).await)),
            Surface::Agents => Ok(Reply::ok(json!(inventory.hosted_agents(audience)))),
            Surface::Genesis => genesis::reply(inventory, audience, ask, &asked.input),
            Surface::Tools => Ok(Reply::ok(json!(inventory.tools(audience)))),
            Surface::Apis => Ok(Reply::ok(json!(inventory.apis()))),
            Surface::Patterns => {
                Ok(Reply::ok(patterns::patterns(&inventory.contract().recipes, inventory.settings.rcns_enabled())))
            }
            Surface::Contracts => contracts::reply(inventory, ask, &asked.input).await,
        }
    }
}

/// Bytes that were made before, as what DISCOVER answers.
fn made(bytes: Bytes) -> Reply {
    Reply { status: Status::OK, fields: Vec::new(), body: Body::Made { media_type: MEDIA_TYPE, bytes } }
}

/// Who asks: an agent that is known here under its name, or a sender that proved who it is, is no stranger.
fn audience(ask: &Ask) -> Audience {
    let is_known = ask.call.caller.identity == Identity::Recognised || ask.call.caller.sender.verified;
    if is_known { Audience::Known } else { Audience::Stranger }
}

/// Tells a caller, once, that it used a form that is going away. AGTP-API 5.10.
fn warn(reply: Reply, ask: &Ask, surface: Surface) -> Reply {
    let agent = ask.call.caller.agent_id.as_deref().unwrap_or("a caller without a name");
    tracing::warn!(
        agent,
        path = surface.path(),
        "DISCOVER was called with a `target` in its body, which is deprecated"
    );
    reply.with("AGTP-Endpoint-Warning", format!("deprecated; successor=DISCOVER {}", surface.path()))
}
