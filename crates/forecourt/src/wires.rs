//! The protocols of a deployment, each opened once from its own section.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use forecourt_core::Site;
use forecourt_core::{AgentCard, Endpoint};
use forecourt_egress::Egress;
use forecourt_host::{Courier, Envelope};
use forecourt_identity::KeyDirectory;
use forecourt_server::RouteClasses;
use forecourt_settings::{Problem, Problems, Section};
use forecourt_surface::protected_resource;
use forecourt_surface::tool::Tool;
use forecourt_surface::{
    ConnectorDefinition, FileDefinitions, Listen, Mount, Protocol, PublishedDocument, RegistryEntry, ServerDefinition,
    Surface, Wire,
};
use futures::future::BoxFuture;

use crate::crawl;
use crate::registry::{CONNECTORS, PAGES, PROTOCOLS, SERVED_BY};
use crate::servers::ConnectorFile;

/// What metrics call the paths that say where tokens come from, which are no protocol's.
const IDENTITY: &str = "identity";

/// Every protocol of the registry, open, in its order.
pub(crate) struct Wires(Vec<OpenProtocol>);

/// A protocol with what it opened as.
struct OpenProtocol {
    protocol: &'static Protocol,
    wire: Box<dyn Wire>,
}

/// Whether the first segments of two paths are one: a proxy may take the prefix away or leave it there, and nobody could
/// tell which of the two a request is for.
fn begins_alike(path: &str, prefix: &str) -> bool {
    let first = |path: &str| path.strip_prefix('/').and_then(|path| path.split('/').next()).map(str::to_owned);
    !prefix.is_empty() && first(path) == first(prefix)
}

impl Wires {
    /// Opens every protocol from its section of `root`, taking the sections out. Sockets that `flag` has an
    /// address for are there, whatever the file says.
    ///
    /// # Errors
    /// Everything that is wrong with any of the sections.
    pub(crate) fn open(root: &mut Section, flag: impl Fn(&str) -> Option<SocketAddr>) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let mut open = Vec::with_capacity(PROTOCOLS.len());
        for protocol in PROTOCOLS {
            let mut section = root.take_or_empty(protocol.name);
            for socket in protocol.sockets {
                if let Some(address) = flag(socket.name) {
                    // A flag opens a socket that the file leaves out, too.
                    section.overrule(socket.key, address.to_string(), &format!("--{}", socket.name));
                }
            }
            let wire = problems.absorb((protocol.open)(section));
            open.extend(wire.map(|wire| OpenProtocol { protocol, wire }));
        }
        problems.into_result(Self(open))
    }

    /// Gives the servers behind the deployment to the protocol that has them.
    ///
    /// # Errors
    /// Everything in their files that is wrong.
    pub(crate) fn set_servers(&mut self, servers: Vec<ServerDefinition>) -> Result<(), Problems> {
        let of_servers = self.0.iter_mut().find(|open| open.protocol.name == SERVED_BY);
        match of_servers {
            Some(open) if !servers.is_empty() => open.wire.set_definitions(FileDefinitions::Servers(servers)),
            _ => Ok(()),
        }
    }

    /// Opens the protocol of each kind of connector that there are files of, and gives them to it.
    ///
    /// # Errors
    /// Everything in their files that is wrong, and kinds that nobody knows.
    pub(crate) fn set_connectors(&mut self, files: Vec<ConnectorFile>) -> Result<(), Problems> {
        let mut problems = Problems::new();
        let known = || CONNECTORS.iter().map(|kind| kind.protocol.name).collect::<Vec<_>>().join(", ");
        for file in files.iter().filter(|file| !CONNECTORS.iter().any(|kind| kind.protocol.name == file.kind)) {
            let words = format!("unknown kind `{}` (known: {})", file.kind, known());
            problems.push(file.definition.section.problem(None, words));
        }
        for kind in CONNECTORS {
            let of_kind = files.iter().filter(|file| file.kind == kind.protocol.name);
            let definitions: Vec<ConnectorDefinition> = of_kind.map(|file| file.definition.clone()).collect();
            let Some(first) = definitions.first() else { continue };
            let section = Section::empty(first.section.file(), "");
            let opened = (kind.protocol.open)(section).and_then(|mut wire| {
                wire.set_definitions(FileDefinitions::Connectors(definitions))?;
                Ok(wire)
            });
            let wire = problems.absorb(opened);
            self.0.extend(wire.map(|wire| OpenProtocol { protocol: &kind.protocol, wire }));
        }
        problems.into_result(())
    }

    /// Takes notice of where the sockets of protocols were opened, by name.
    pub(crate) fn bound(&mut self, own: impl Fn(&str) -> Option<SocketAddr>) {
        for OpenProtocol { protocol, wire } in &mut self.0 {
            for socket in protocol.sockets {
                if let Some(address) = own(socket.name) {
                    wire.bound(socket.name, address);
                }
            }
        }
    }

    /// The sockets that protocols want for themselves.
    pub(crate) fn listens(&self) -> Vec<Listen> {
        self.wires().flat_map(Wire::listens).collect()
    }

    /// Where an agent can be reached, over every protocol.
    pub(crate) fn endpoints(&self, site: &Site, card: &AgentCard) -> Vec<Endpoint> {
        self.wires().flat_map(|wire| wire.endpoints(site, card)).collect()
    }

    /// Whether an agent can be reached over a protocol.
    pub(crate) fn reach(&self, protocol: &str, site: &Site, card: &AgentCard) -> bool {
        let of = |open: &&OpenProtocol| open.protocol.name == protocol;
        self.0.iter().find(of).is_some_and(|open| !open.wire.endpoints(site, card).is_empty())
    }

    /// What of their sections has no effect, in a sentence each.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.wires().flat_map(Wire::notices).collect()
    }

    /// What a public deployment of these agents would lack, in a sentence each.
    pub(crate) fn doubts(&self, site: &Site, cards: &[&AgentCard]) -> Vec<String> {
        self.wires().flat_map(|wire| wire.doubts(site, cards)).collect()
    }

    /// How each protocol writes the posts that tell of settled tasks, by its name.
    pub(crate) fn envelopes(&self) -> HashMap<String, Envelope> {
        self.0.iter().filter_map(|open| Some((open.protocol.name.to_owned(), open.wire.envelope()?))).collect()
    }

    /// What carries the deliveries of protocols that do not post, by the protocol's name.
    pub(crate) fn couriers(&self, egress: &Arc<Egress>, site: &Site) -> HashMap<String, Arc<dyn Courier>> {
        let carried =
            |open: &OpenProtocol| Some((open.protocol.name.to_owned(), open.wire.courier(egress.clone(), site)?));
        self.0.iter().filter_map(carried).collect()
    }

    /// How the keys of agents are found that sign their requests: by the first protocol that can.
    pub(crate) fn key_directory(&self, egress: &Arc<Egress>) -> Option<Arc<dyn KeyDirectory>> {
        self.wires().find_map(|wire| wire.key_directory(egress.clone()))
    }

    /// What every protocol offers to those that carry tools.
    pub(crate) fn tools(&self, mount: &Mount) -> impl Iterator<Item = Tool> {
        self.wires().flat_map(|wire| wire.tools(mount))
    }

    /// What every protocol publishes that is the same for every caller.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub(crate) fn documents(&self, mount: &Mount) -> Result<Vec<PublishedDocument>, Problems> {
        let mut problems = Problems::new();
        let documents = self.wires().filter_map(|wire| problems.absorb(wire.documents(mount)));
        let documents = documents.collect::<Vec<_>>();
        problems.into_result(documents.into_iter().flatten().collect())
    }

    /// What registries are told by every protocol.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub(crate) fn registry_entries(&self, mount: &Mount) -> Result<Vec<RegistryEntry>, Problems> {
        let mut problems = Problems::new();
        let entries = self.wires().filter_map(|wire| problems.absorb(wire.registry_entries(mount)));
        let entries = entries.collect::<Vec<_>>();
        problems.into_result(entries.into_iter().flatten().collect())
    }

    /// Builds the surfaces of every protocol, with the classes of their routes for the metrics. `file` is
    /// where problems are that no section has.
    ///
    /// # Errors
    /// Everything that is wrong with any of them, and paths that two of them claim.
    pub(crate) fn surfaces(&self, mount: &Mount, file: &Path) -> Result<(Vec<Surface>, RouteClasses), Problems> {
        let mut problems = Problems::new();
        let mut claimed = HashSet::new();
        let (mut built, mut classes) = (Vec::new(), Vec::new());
        for OpenProtocol { protocol, wire } in &self.0 {
            for surface in problems.absorb(wire.surfaces(mount)).unwrap_or_default() {
                let surface = match (surface, wire.protected_resource()) {
                    (Surface::Http(routes), Some(resource)) => {
                        Surface::Http(protected_resource::leading(routes, mount, resource))
                    }
                    (surface, _) => surface,
                };
                let surface = match surface {
                    Surface::Http(routes) => Surface::Http(crawl::before(routes, mount)),
                    surface => surface,
                };
                let paths = match &surface {
                    Surface::Http(routes) => routes.paths.as_slice(),
                    Surface::Stream { .. } | Surface::OwnHttp { .. } | Surface::Background(_) => &[],
                };
                // The router would panic on two routes of one path.
                for path in paths.iter().filter(|path| !claimed.insert(**path)) {
                    let text = format!("two protocols claim the path {path}, one of them is {}", protocol.name);
                    problems.push(Problem::of_file(file, text));
                }
                classes.extend(paths.iter().map(|path| (protocol.name, *path)));
                built.push(surface);
            }
        }
        let metadata = protected_resource::routes(mount, self.wires().filter_map(Wire::protected_resource).collect());
        classes.extend(metadata.paths.iter().map(|path| (IDENTITY, *path)));
        built.push(Surface::Http(metadata));
        for (name, routes) in PAGES {
            let routes = crawl::before(routes(mount), mount);
            for path in routes.paths.iter().filter(|path| !claimed.insert(**path)) {
                problems.push(Problem::of_file(file, format!("a protocol claims the path {path} of {name}")));
            }
            classes.extend(routes.paths.iter().map(|path| (*name, *path)));
            built.push(Surface::Http(routes));
        }
        if let Some(path) = claimed.iter().find(|path| begins_alike(path, mount.host.site().prefix())) {
            let prefix = mount.host.site().prefix();
            let text =
                format!("the path `{prefix}` of `public_url` begins as {path} does, which is one of the host's own");
            problems.push(Problem::of_file(file, text).hint("publish it below another path"));
        }
        problems.into_result((built, RouteClasses::new(classes)))
    }

    /// Serves one client over standard input and output, by the first protocol that is spoken there.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn stdio(&self, mount: &Mount) -> Result<Option<BoxFuture<'static, ()>>, Problems> {
        self.wires().find_map(|wire| wire.stdio(mount).transpose()).transpose()
    }

    fn wires(&self) -> impl Iterator<Item = &dyn Wire> {
        self.0.iter().map(|open| open.wire.as_ref())
    }
}
