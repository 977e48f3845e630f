//! This module says how a protocol joins the host: one constant in its crate, one line in the registry.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use forecourt_client::ask::AskClient;
use forecourt_contract::HostServices;
use forecourt_core::Site;
use forecourt_core::{AgentCard, Endpoint};
use forecourt_egress::Egress;
use forecourt_host::{Courier, Envelope, Host};
use forecourt_identity::agents::KnownAgents;
use forecourt_identity::{HostKeys, KeyDirectory, Verifier};
use forecourt_pages::Pages;
use forecourt_server::{ClientCertificates, Speak};
use forecourt_settings::{MovedKey, Problems, Section};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::failure::HostFailure;
use crate::protected_resource::ResourceOfPath;
use crate::server::FileDefinitions;
use crate::tool::Tool;

/// A protocol, as the registry knows it before anything is read: what it is called, what its section may
/// say, and how it is opened from that section.
pub struct Protocol {
    /// Its name: also its section in `forecourt.toml`, and [`forecourt_core::Endpoint::protocol`].
    pub name: &'static str,
    /// One line about it, for `--help` and the generated reference.
    pub about: &'static str,
    /// The shape of its section, from which the reference is generated.
    pub schema: fn() -> schemars::Schema,
    /// The keys of its section that say where it has sockets of its own: also flags of `serve`.
    pub sockets: &'static [Socket],
    /// Keys of its section that are called otherwise, or stand elsewhere, than in the release before: from
    /// the root of the file on.
    pub moved: &'static [MovedKey],
    /// How `ask` puts a question over it. `None` when it does not.
    pub ask: Option<&'static AskClient>,
    /// Reads its section, once. Everything that [`Wire`] does later goes by what was read here.
    pub open: fn(Section) -> Result<Box<dyn Wire>, Problems>,
    /// How it spells a failure of the host: statuses and codes, for the table of errors. `None` for what
    /// none of its callers can meet.
    pub spelling: fn(HostFailure) -> Option<String>,
}

/// A protocol that has read its section. Each method but two has a default for protocols without such a thing.
pub trait Wire: Send + Sync {
    /// The sockets of its own that it asks for, beside the shared HTTP listeners. Bound before anything is
    /// built, so that a taken port is said at once; [`Wire::surfaces`] answers on them.
    fn listens(&self) -> Vec<Listen> {
        Vec::new()
    }

    /// Takes notice that the socket `name`, a [`Listen::name`], is open at `address`: a free port is known
    /// from here on.
    fn bound(&mut self, _name: &str, _address: SocketAddr) {}

    /// Where an agent can be reached over it: absolute URLs, https or of the protocol's own scheme. Asked
    /// before any surface is built, so that every card can name every protocol and no protocol lists its
    /// siblings.
    fn endpoints(&self, site: &Site, card: &AgentCard) -> Vec<Endpoint>;

    /// Builds its surfaces.
    ///
    /// # Errors
    /// Everything in its section that does not fit the host, all at once.
    fn surfaces(&self, mount: &Mount) -> Result<Vec<Surface>, Problems>;

    /// The documents it publishes that are the same for every caller, for `forecourt export cards`.
    ///
    /// # Errors
    /// As [`Wire::surfaces`].
    fn documents(&self, _mount: &Mount) -> Result<Vec<PublishedDocument>, Problems> {
        Ok(Vec::new())
    }

    /// What registries and directories of its servers or agents are told, for `forecourt export registry`.
    ///
    /// # Errors
    /// As [`Wire::surfaces`], and what registries would refuse.
    fn registry_entries(&self, _mount: &Mount) -> Result<Vec<RegistryEntry>, Problems> {
        Ok(Vec::new())
    }

    /// The operations that it offers to carriers of tools. What is wrong with them is said by
    /// [`Wire::surfaces`].
    fn tools(&self, _mount: &Mount) -> Vec<Tool> {
        Vec::new()
    }

    /// Serves one client over this process's standard input and output until the input ends, if it is
    /// spoken there.
    ///
    /// # Errors
    /// As [`Wire::surfaces`].
    fn stdio(&self, _mount: &Mount) -> Result<Option<BoxFuture<'static, ()>>, Problems> {
        Ok(None)
    }

    /// Takes what files of a folder define for it, before any surface is built. Not called where there are none.
    ///
    /// # Errors
    /// Everything in these files that is wrong, all at once.
    fn set_definitions(&mut self, definitions: FileDefinitions) -> Result<(), Problems> {
        let none = |section: &Section| section.problem(None, "no protocol here takes such files");
        let mut problems = Problems::new();
        problems.extend(definitions.sections().into_iter().map(none));
        problems.into_result(())
    }

    /// How it tells which of its resources a request is for, so that clients learn where to get tokens for it. `None`
    /// when it is not spoken on the shared HTTP listeners. RFC 9728.
    fn protected_resource(&self) -> Option<ResourceOfPath> {
        None
    }

    /// How it writes the body of a webhook for a settled task, if it has webhooks.
    fn envelope(&self) -> Option<Envelope> {
        None
    }

    /// What delivers its notifications where they are not posted over HTTP, such as by SMTP. It connects through
    /// `egress`.
    fn courier(&self, _egress: Arc<Egress>, _site: &Site) -> Option<Arc<dyn Courier>> {
        None
    }

    /// How it finds the keys of agents that sign their requests, if it can. It fetches through `egress`.
    fn key_directory(&self, _egress: Arc<Egress>) -> Option<Arc<dyn KeyDirectory>> {
        None
    }

    /// What a public deployment of these agents would lack over it, in a sentence each: told by `forecourt check`, and
    /// never refused.
    fn doubts(&self, _site: &Site, _cards: &[&AgentCard]) -> Vec<String> {
        Vec::new()
    }

    /// Settings of its section that have no effect, in a sentence each, for the operator.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A document that any web host can serve.
#[derive(Debug, Clone)]
pub struct PublishedDocument {
    /// Where, below the origin: begins with a slash, each segment fit for a file's name.
    pub path: String,
    /// All of it.
    pub body: Bytes,
}

/// What a registry or directory is told of something that can be reached over a protocol.
#[derive(Debug, Clone)]
pub struct RegistryEntry {
    /// The entry.
    pub document: PublishedDocument,
    /// What its owner does with it, in a few words.
    pub hint: &'static str,
}

/// The parts of a host from which a protocol builds its surfaces.
#[derive(Clone)]
pub struct Mount {
    /// The host that answers.
    pub host: Arc<Host>,
    /// Verifies proofs and gives senders.
    pub verifier: Arc<Verifier>,
    /// The agents that are known by a name that means the same everywhere: those that live here, and
    /// those of elsewhere that may call.
    pub agents: Arc<KnownAgents>,
    /// The keys that sign for this domain; replaced while serving when the operator rotates them.
    pub keys: Arc<ArcSwap<HostKeys>>,
    /// The guarded client: the only way to open connections.
    pub egress: Arc<Egress>,
    /// The folder of the deployment.
    pub folder: PathBuf,
    /// The folder in which state is kept.
    pub data: PathBuf,
    /// The operations that all protocols offer, for those that carry tools.
    pub tools: Arc<[Tool]>,
    /// How pages look, and who may embed the search box.
    pub pages: Arc<Pages>,
    /// What protocols set up for each other and for connections that outlive a change of the deployment.
    pub services: Arc<HostServices>,
}

/// A key that says where a socket is. A flag of the command line goes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Socket {
    /// [`Listen::name`]: also the flag.
    pub name: &'static str,
    /// The key, whose value is an address with a port.
    pub key: &'static str,
    /// The flag's text in `--help`.
    pub help: &'static str,
}

/// A socket that a protocol wants for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    /// Names it.
    pub name: &'static str,
    /// The address. `None`: the listener is not wanted.
    pub address: Option<SocketAddr>,
    /// Whether nobody chose the address, so that a free port will do where it is taken.
    pub may_move: bool,
    /// The kind of traffic on the socket.
    pub carries: Carries,
}

/// The kind of traffic on a socket of a protocol's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carries {
    /// The protocol within TLS 1.3.
    Tls {
        /// The protocol's name in the handshake, offered and not insisted on.
        alpn: &'static [u8],
        /// Whether clients may or must show certificates.
        clients: ClientCertificates,
    },
    /// The protocol as it is, on loopback only.
    Plain,
    /// HTTP as it is, on loopback only.
    Http,
}

/// Something a protocol listens on, or goes on with by itself.
pub enum Surface {
    /// Paths on the shared HTTP listeners.
    Http(HttpRoutes),
    /// A [`Listen`] that carries the protocol itself.
    Stream {
        /// [`Listen::name`].
        listen: &'static str,
        /// The protocol's function for a connection.
        speak: Speak,
    },
    /// A [`Listen`] that carries HTTP.
    OwnHttp {
        /// [`Listen::name`].
        listen: &'static str,
        /// The routes of the socket.
        router: axum::Router,
    },
    /// Nothing that others reach: work that goes on for as long as this deployment is served, such as hearing of events
    /// over a connection that this host opened. Begun once the deployment is open; the token is cancelled when it stops
    /// or another deployment takes its place.
    Background(BackgroundWork),
}

/// Begins work that ends soon after its token is cancelled.
pub type BackgroundWork = Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, ()> + Send>;

/// Paths on the shared HTTP listeners.
pub struct HttpRoutes {
    /// The path patterns that are claimed, in axum's syntax; `POST /path` claims one verb and leaves the
    /// others to whoever claims the path. Two protocols that make one claim are an error at start.
    pub paths: Vec<&'static str>,
    /// The routes for them.
    pub router: axum::Router,
}
