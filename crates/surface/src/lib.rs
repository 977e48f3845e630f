//! This crate has what several protocols share: how a protocol is mounted, and the HTTP pieces that more than one
//! needs. It speaks no protocol itself.
//!
//! | module | holds |
//! |---|---|
//! | [`protocol`] | [`Protocol`], the one line that each protocol adds to the registry, and [`Wire`], what it opens as |
//! | [`credentials`] | who sent a request, by the proofs in its fields |
//! | [`agent_path`] | which agent a path names, in each spelling of it |
//! | [`base_url`] | the origin that URLs in an answer begin with |
//! | [`protected_resource`] | who gives out tokens for what is at a path, RFC 9728 |
//! | [`refusal`] | the status, the fields and the words of a refusal |
//! | [`connector`] | kinds of platforms that agents are mentioned on |
//! | [`cors`] | pages of other origins, where an agent's card lets them in |
//! | [`document`] | public documents: tags, caching, every origin |
//! | [`answer`] | a response before it meets the server |
//! | [`endpoint`] | endpoints with a contract as such operations |
//! | [`tool`] | operations that one protocol offers and another carries |
//! | [`abandon`] | giving up work whose caller left before it was told of the task |
//! | [`body`] | what a request body says it is, and reading it within its bounds |
//! | [`negotiate`] | media types and languages by quality, RFC 9110 section 12.5 |
//! | [`same_origin`] | who may post from a browser |
//! | [`server`] | what files define for a protocol: servers behind the host, connectors to platforms |
//! | [`sse`] | server-sent events that no text can break out of |
//! | [`prefer`] | the `Prefer` header, RFC 7240 |
//! | [`template`] | texts and JSON with holes |
//! | [`usage`] | what language models used, as metadata of an answer |
//! | [`disposition`] | safe `Content-Disposition`, RFC 6266 |
//! | [`ending`] | an ending without an answer over HTTP: status and challenges |

pub mod abandon;
pub mod agent_path;
pub mod answer;
pub mod base_url;
pub mod body;
pub mod connector;
pub mod cors;
pub mod credentials;
pub mod disposition;
pub mod document;
pub mod ending;
pub mod endpoint;
pub mod failure;
pub mod negotiate;
pub mod prefer;
pub mod protected_resource;
pub mod protocol;
pub mod random_id;
pub mod refusal;
pub mod same_origin;
pub mod server;
pub mod sse;
pub mod template;
pub mod tool;
pub mod usage;

pub use base_url::BaseUrl;
pub use protocol::{
    BackgroundWork, Carries, HttpRoutes, Listen, Mount, Protocol, PublishedDocument, RegistryEntry, Socket, Surface,
    Wire,
};
pub use server::{
    CONNECTORS, ConnectorDefinition, FileDefinitions, SERVER_FUNCTIONS, SERVERS, ServerDefinition, ServerKind,
    ServerNames,
};
