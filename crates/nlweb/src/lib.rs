//! NLWeb 0.55, and 0.54 for clients in the field: questions in plain words, answers as items.
//!
//! | NLWeb | module |
//! |---|---|
//! | 3 the question, 4.2 `await` | [`section`] for settings; `wire`, `decode`, `fields`; `legacy` for the flat form |
//! | 3.1 `site` | `site`; `merged` when it is several agents |
//! | 3.2 context, 3.4 sessions into the host's words | `from_wire`; `carried` where the caller keeps the conversation |
//! | 4 the four types of responses | `response`; `unfold` and `item` for answers; `fault` for failures |
//! | 4.1.2, 4.2 promises | `service`; `kept` for how they are to be written |
//! | 5 actions | `action` |
//! | 6 streaming | `stream` |
//! | 7 HTTP | `surface`, `answer` |
//! | appendix A | `tools` |
//! | asking other agents | [`client`] |
//!
//! A question becomes a message by `from_wire`, is carried by `service`, and what comes of it is
//! unfolded into items; a promise is a task of the host, whatever protocol asks for it later.

mod action;
mod answer;
mod carried;
pub mod client;
mod decode;
mod fault;
mod fields;
mod from_wire;
mod item;
mod kept;
mod legacy;
mod limits;
mod merged;
mod response;
pub mod section;
mod service;
mod site;
mod stream;
mod surface;
mod tools;
mod unfold;
mod wire;

use std::sync::Arc;

use forecourt_core::Endpoint;
use forecourt_host::Site;
use forecourt_settings::{Problems, Section};
use forecourt_surface::tool::Tool;
use forecourt_surface::{AgentEndpoints, Mount, Protocol, Surface};

use action::Action;
use section::NlwebSettings;
use service::Service;

/// The protocol's name: its section, its endpoints, its messages.
pub(crate) const NAME: &str = "nlweb";

/// NLWeb, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Questions in plain words, answers as items: `ask` and `await` over HTTP and event streams, 0.55 and 0.54",
    schema: || schemars::schema_for!(NlwebSettings),
    sockets: &[],
    listens: |_| Ok(Vec::new()),
    surfaces,
    endpoints,
    documents: |mount| read(&mount).map(|_| Vec::new()),
    tools,
    envelope: None,
    key_directory: None,
};

fn surfaces(mount: Mount) -> Result<Vec<Surface>, Problems> {
    Ok(vec![Surface::Http(surface::routes(Arc::new(service(mount)?)))])
}

/// What is wrong with the section is said by [`surfaces`].
fn tools(mount: &Mount) -> Vec<Tool> {
    service(mount.clone()).map(|service| tools::tools(Arc::new(service))).unwrap_or_default()
}

fn service(mount: Mount) -> Result<Service, Problems> {
    let (settings, actions) = read(&mount)?;
    Ok(Service { host: mount.host, verifier: mount.verifier, settings, actions })
}

fn read(mount: &Mount) -> Result<(NlwebSettings, Vec<Action>), Problems> {
    let settings: NlwebSettings = mount.section.read()?;
    let mut problems = Problems::new();
    let patience_max = limits::PATIENCE_MAX.as_secs();
    if settings.promise_after_seconds > patience_max {
        let words = format!("`promise_after_seconds` can be at most {patience_max}");
        problems.push(mount.section.problem(Some("promise_after_seconds"), words));
    }
    let actions = action::read(&settings.actions).unwrap_or_else(|wrong| {
        wrong.into_iter().for_each(|words| problems.push(mount.section.problem(Some("actions"), words)));
        Vec::new()
    });
    for agent in actions.iter().flat_map(Action::agents) {
        if mount.host.directory().find(agent).is_none() {
            let words = format!("an action is for @{agent}, and there is no agent of that name");
            problems.push(mount.section.problem(Some("actions"), words));
        }
    }
    problems.into_result((settings, actions))
}

/// Design 5.
fn endpoints(site: &Site, _: &Section) -> AgentEndpoints {
    let site = site.clone();
    Box::new(move |card| vec![Endpoint { protocol: NAME, url: site.url(&format!("/~{}/ask", card.handle())) }])
}
