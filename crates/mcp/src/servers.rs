//! MCP servers behind this host, each as it is: what they offer beside the host's own, and the way of a call to one.
//!
//! | what | module |
//! |---|---|
//! | a file of `servers/` | `settings` |
//! | what a server has, and what of it is offered under which name | `catalog`, `shelf`, `listing` |
//! | a server at work: lists, sessions, places, how it does | `upstream`, `sessions`, `session`, `places`, `lister`, `guest`, `events`, `health`, `updates` |
//! | a sign-in there that is kept for a person, and its token in a request | `sign_in`, `credentials` |
//! | one request, step by step, behind the gate | `call`, `parked` |
//! | one that wants nothing but its answer, without the SDK's machinery | `direct`, `first_event` |
//! | telling a client that lists have changed | `changes` |
//!
//! A server's tool is reached with a [`ForwardPermit`](forecourt_host::ForwardPermit) alone, which the host gives after
//! its limits and rules.

pub(crate) mod call;
pub(crate) mod catalog;
mod changes;
pub(crate) mod credentials;
mod direct;
pub(crate) mod events;
mod first_event;
mod guest;
mod health;
mod judged;
pub(crate) mod lister;
mod listing;
pub(crate) mod parked;
mod places;
mod session;
pub(crate) mod sessions;
mod settings;
mod shelf;
pub(crate) mod sign_in;
mod updates;
pub(crate) mod upstream;

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use forecourt_core::Handle;
use forecourt_host::{ServerGate, ServerStates};
use forecourt_settings::{Problems, schema_of_both};
use forecourt_surface::{Mount, ServerDefinition, ServerKind, ServerNames};
use parking_lot::Mutex;
use tokio::sync::watch;

use self::parked::ParkedCalls;
use self::settings::ServerSettings;
use self::sign_in::Broker;
use self::upstream::Upstream;
use crate::finding::{ListedTool, Pin};
use crate::limits::SERVERS_MAX;
use crate::upstream::target::TargetSettings;

pub(crate) use self::changes::ListWatch;
pub(crate) use self::settings::CheckedServer;
pub(crate) use self::shelf::{ServerTool, ShownAt};

/// MCP servers behind a host, as the registry knows them.
pub const SERVERS: ServerKind = ServerKind { schema: schema_of_both::<ServerSettings, TargetSettings> };

/// Reads the definitions of servers. Fails with everything that is wrong with any of them.
pub(crate) fn read(definitions: &[ServerDefinition]) -> Result<Vec<CheckedServer>, Problems> {
    let mut problems = Problems::new();
    if let Some(first) = definitions.get(SERVERS_MAX) {
        problems.push(first.section.problem(None, format!("a host has at most {SERVERS_MAX} servers behind it")));
    }
    let read = definitions.iter().filter_map(|definition| problems.absorb(settings::read(definition))).collect();
    problems.into_result(read)
}

/// The servers behind one state of the deployment, in the order of their names.
pub(crate) struct Servers {
    all: Vec<Server>,
    pub(crate) parked: Arc<ParkedCalls>,
    changes: watch::Sender<u64>,
}

/// A server, with the gate before it.
pub(crate) struct Server {
    pub(crate) gate: Arc<ServerGate>,
    pub(crate) upstream: Arc<Upstream>,
}

/// What goes on from one state of the deployment to the next: servers whose files say the same, and who hears of
/// changes.
#[derive(Default)]
struct RunningServers {
    by_fingerprint: Mutex<HashMap<String, Weak<Upstream>>>,
    changes: watch::Sender<u64>,
}

/// A tool that was found, with its server.
pub(crate) struct FoundTool<'a> {
    pub(crate) server: &'a Server,
    pub(crate) tool: Arc<ServerTool>,
    /// What it was called by.
    pub(crate) name: &'a str,
}

impl Servers {
    /// Those of a mount. They are asked what they have once the host is open.
    pub(crate) fn new(mount: &Mount, checked: &[CheckedServer]) -> Self {
        let running = mount.services.keep(RunningServers::default);
        let server =
            |checked: &CheckedServer| Server { gate: checked.gate.clone(), upstream: running.of(mount, checked) };
        let all: Vec<Server> = checked.iter().map(server).collect();
        let servers: Vec<Arc<Upstream>> = all_of(&all);
        mount
            .services
            .publish(Arc::new(ServerStates(Box::new(move || servers.iter().map(|one| one.state()).collect()))));
        let names = checked.iter().map(|server| server.name.clone()).collect();
        mount.services.publish(Arc::new(ServerNames(names)));
        Self { all, parked: mount.services.keep(ParkedCalls::default), changes: running.changes.clone() }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The server of a name.
    pub(crate) fn find(&self, name: &Handle) -> Option<&Server> {
        self.all.iter().find(|server| server.upstream.name == *name)
    }

    /// The servers that are shown at an endpoint, and how.
    fn shown(&self, endpoint: Option<&Handle>) -> (impl Iterator<Item = &Server>, ShownAt) {
        let at = if endpoint.is_none() { ShownAt::Host } else { ShownAt::Server };
        let shown = self.all.iter().filter(move |server| endpoint.is_none_or(|name| server.upstream.name == *name));
        (shown, at)
    }

    /// The tool of a name at an endpoint. Of two with one name the first counts.
    pub(crate) fn tool<'a>(&'a self, endpoint: Option<&Handle>, name: &'a str) -> Option<FoundTool<'a>> {
        let (mut servers, at) = self.shown(endpoint);
        servers.find_map(|server| {
            let tool = server.upstream.shelf().tool(at, name)?.clone();
            Some(FoundTool { server, tool, name })
        })
    }

    /// The tool of a name at the host's endpoint, else the one that is called so at the endpoint of one server alone.
    pub(crate) fn described(&self, name: &str) -> Option<rmcp::model::Tool> {
        if let Some(found) = self.tool(None, name) {
            return Some(found.tool.listed(ShownAt::Host, false));
        }
        let mut named =
            self.all.iter().filter_map(|server| server.upstream.shelf().tool(ShownAt::Server, name).cloned());
        let (first, second) = (named.next()?, named.next());
        second.is_none().then(|| first.listed(ShownAt::Server, false))
    }

    /// The tools of an endpoint, server by server.
    pub(crate) fn tools(&self, endpoint: Option<&Handle>) -> Vec<Arc<dyn ListedTool>> {
        let (servers, at) = self.shown(endpoint);
        let of_server = |server: &Server| {
            let upstream = &server.upstream;
            let listed = |tool: &Arc<ServerTool>| {
                Arc::new(ShelfTool { tool: tool.clone(), at, upstream: upstream.clone() }) as Arc<dyn ListedTool>
            };
            upstream.shelf().tools.iter().map(listed).collect::<Vec<_>>()
        };
        servers.flat_map(of_server).collect()
    }

    /// Another number after each change of what is listed.
    pub(crate) fn version(&self) -> u64 {
        *self.changes.borrow()
    }

    /// Told whenever what is listed has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

/// A tool of a server at one endpoint.
struct ShelfTool {
    tool: Arc<ServerTool>,
    at: ShownAt,
    upstream: Arc<Upstream>,
}

impl ListedTool for ShelfTool {
    fn name(&self) -> &str {
        self.tool.name_at(self.at)
    }

    fn described(&self) -> rmcp::model::Tool {
        self.tool.listed(self.at, self.upstream.is_away())
    }

    fn pin(&self) -> Pin {
        if self.tool.is_pinned { Pin::Always } else { Pin::Never }
    }
}

impl Server {
    /// What is said of it to clients.
    pub(crate) fn gate(&self) -> &ServerGate {
        &self.gate
    }

    /// What it says of itself, as far as it is known.
    pub(crate) fn about(&self) -> (Option<rmcp::model::Implementation>, Option<String>) {
        let shelf = self.upstream.shelf();
        (shelf.catalog.server.clone(), shelf.catalog.instructions.clone())
    }
}

fn all_of(servers: &[Server]) -> Vec<Arc<Upstream>> {
    servers.iter().map(|server| server.upstream.clone()).collect()
}

impl RunningServers {
    /// The server of a definition: the one that is at work, if its file says the same.
    fn of(&self, mount: &Mount, checked: &CheckedServer) -> Arc<Upstream> {
        let mut all = self.by_fingerprint.lock();
        all.retain(|_, server| server.strong_count() > 0);
        // A sign-in comes back to the site's own address.
        let base = if checked.sign_in.is_some() { mount.host.site().url("") } else { String::new() };
        let key = format!("{}\n{base}\n{}", checked.name, checked.fingerprint);
        if let Some(running) = all.get(&key).and_then(Weak::upgrade) {
            return running;
        }
        let (egress, clock) = ((*mount.egress).clone(), mount.host.clock().clone());
        let broker = checked.sign_in.as_ref().map(|sign_in| Broker::new(mount, &checked.name, sign_in));
        let (changes, metrics) = (self.changes.clone(), mount.host.metrics().clone());
        let server = Arc::new(Upstream::new(checked, broker, egress, clock, changes, metrics));
        server.watch(mount.host.opened());
        all.insert(key, Arc::downgrade(&server));
        server
    }
}
