//! What a model, or a program, may call while it answers: endpoints of the host, its other agents and those of other
//! domains. Each call is made in the name of whoever asked, within bounds.
//!
//! | file | holds |
//! |---|---|
//! | `toolbox.rs` | calls of tools, within bounds |
//! | `endpoints.rs` | endpoints of the host, as tools |
//! | `ask_agent.rs`, `agent_answer.rs`, `siblings.rs`, `allowed_domains.rs` | other agents, of the host and of other domains |
//! | `limits.rs` | every bound |

mod agent_answer;
mod allowed_domains;
mod ask_agent;
mod endpoints;
pub mod limits;
mod siblings;
mod toolbox;

use std::sync::Arc;

use forecourt_agents::backend::Context;
use forecourt_agents::siblings::Sibling;
use forecourt_agents::tool::Tool;
use forecourt_settings::{Problems, Section};

pub(crate) use allowed_domains::{AllowedDomains, AskSettings};
pub(crate) use endpoints::named as endpoints_named;
pub(crate) use siblings::{SiblingsSetting, siblings};
pub(crate) use toolbox::{Call, CallsSpent, Toolbox};

/// The tool that asks `siblings`, or agents of the domains that the settings allow; `None` where there is nobody.
pub(crate) fn ask_agent(
    section: &Section,
    siblings: Vec<Sibling>,
    ask: Option<&AskSettings>,
    context: &Context,
    problems: &mut Problems,
) -> Option<Arc<dyn Tool>> {
    let elsewhere = ask.map(|ask| AllowedDomains::read(section, ask, problems));
    let is_alone = siblings.is_empty() && elsewhere.is_none();
    (!is_alone).then(|| Arc::new(ask_agent::AskAgent::new(siblings, elsewhere, context)) as Arc<dyn Tool>)
}
