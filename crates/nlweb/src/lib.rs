//! NLWeb 0.55, and 0.54 for clients in the field: questions in plain words, answers as items.
//!
//! | NLWeb | module |
//! |---|---|
//! | 3 the question, 4.2 `await` | [`section`] for settings; `wire`, `decode`, `fields`; `legacy` for the flat form |
//! | 3.1 `site` | `site`; `merged` when it is several agents |
//! | 3.2 context, 3.4 sessions into the host's words | `from_wire`; `carried` where the caller keeps the conversation |
//! | 4 the four types of responses | `response`; `unfold` and `item` for answers; `api_error` for failures |
//! | 4.1.2, 4.2 promises | `service`; `kept` for how they are to be written |
//! | 5 actions | `action` |
//! | 6 streaming | `stream` |
//! | 7 HTTP | `surface`, `answer` |
//! | appendix A | `tools` |
//! | asking other agents, and `forecourt ask` | `client`, `ask` |
//! | the search box for other sites | `widget` |
//!
//! A question becomes a message by `from_wire`, is carried by `service`, and what comes of it is
//! unfolded into items; a promise is a task of the host, whatever protocol asks for it later.

mod action;
mod answer;
mod api_error;
mod ask;
mod carried;
mod client;
mod decode;
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
mod widget;
mod wire;

use std::sync::Arc;

use forecourt_core::Site;
use forecourt_core::{AgentCard, Endpoint};
use forecourt_settings::{MovedKey, Problems, Section};
use forecourt_surface::protected_resource::ResourceOfPath;
use forecourt_surface::tool::Tool;
use forecourt_surface::{Mount, Protocol, Surface, Wire};

use action::Action;
use section::NlwebSettings;
use service::Service;

/// The protocol's name: its section, its endpoints, its messages, its requests in metrics.
pub(crate) const NAME: &str = "nlweb";

/// NLWeb, as the registry knows it.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    about: "Questions in plain words, answers as items: `ask` and `await` over HTTP and event streams, 0.55 and 0.54",
    schema: || schemars::schema_for!(NlwebSettings),
    sockets: &[],
    moved: &[MovedKey { old: "nlweb.promise_after_seconds", new: "nlweb.sync_wait_seconds" }],
    ask: Some(&ask::CLIENT),
    open: |section| Ok(Box::new(NlwebWire::open(section)?)),
    spelling: service::spelling,
};

/// NLWeb with the settings of one deployment.
struct NlwebWire {
    settings: NlwebSettings,
    actions: Arc<[Action]>,
    /// Where problems stand that are found later.
    section: Section,
}

impl NlwebWire {
    fn open(section: Section) -> Result<Self, Problems> {
        let settings: NlwebSettings = section.read()?;
        let mut problems = Problems::new();
        let patience_max = limits::PATIENCE_MAX.as_secs();
        if settings.sync_wait_seconds > patience_max {
            let words = format!("`sync_wait_seconds` can be at most {patience_max}");
            problems.push(section.problem(Some("sync_wait_seconds"), words));
        }
        let actions = action::read(&settings.actions).unwrap_or_else(|wrong| {
            wrong.into_iter().for_each(|words| problems.push(section.problem(Some("actions"), words)));
            Vec::new()
        });
        problems.into_result(Self { settings, actions: actions.into(), section })
    }

    fn service(&self, mount: &Mount) -> Arc<Service> {
        let Mount { host, verifier, pages, .. } = mount.clone();
        Arc::new(Service { host, verifier, pages, settings: self.settings.clone(), actions: self.actions.clone() })
    }
}

impl Wire for NlwebWire {
    /// The endpoint of an agent, `/~{handle}/ask`. Design 5.
    fn endpoints(&self, site: &Site, card: &AgentCard) -> Vec<Endpoint> {
        vec![Endpoint::new(NAME, site.url(&format!("/~{}/ask", card.handle())))]
    }

    fn protected_resource(&self) -> Option<ResourceOfPath> {
        Some(surface::resource)
    }

    fn surfaces(&self, mount: &Mount) -> Result<Vec<Surface>, Problems> {
        let mut problems = Problems::new();
        for agent in self.actions.iter().flat_map(Action::agents) {
            if mount.host.directory().find(agent).is_none() {
                let words = format!("an action is for @{agent}, and there is no agent of that name");
                problems.push(self.section.problem(Some("actions"), words));
            }
        }
        problems.into_result(vec![Surface::Http(surface::routes(self.service(mount)))])
    }

    fn tools(&self, mount: &Mount) -> Vec<Tool> {
        tools::tools(self.service(mount))
    }
}
