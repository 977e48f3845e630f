//! The one place from which Forecourt opens connections. No other crate uses an HTTP client.
//!
//! A URL that came from a stranger passes, in this order and before a socket is opened: a look at
//! its raw text ([`CheckedUrl`]), the rules of what it is wanted for ([`Purpose`]), one name lookup
//! ([`Resolve`]) and the classification of every address found ([`classify`]). The connection goes
//! to the addresses that were checked, and the peer is compared once more when it stands. The
//! caller learns one text for all that can go wrong ([`EgressError`]).
//!
//! | file | holds |
//! |---|---|
//! | `target.rs` | the raw text of a URL into a checked value |
//! | `address.rs` | which addresses are public |
//! | `purpose.rs` | what a request is for, and the rules of that |
//! | `guard.rs` | the decision, with the addresses to dial |
//! | `slots.rs` | how many at once, in all and for one host |
//! | `stream.rs`, `trust.rs`, `certificate.rs` | one connection and its certificates |
//! | `dial.rs` | HTTP: the pool for backends, a connection for each exchange with everybody else |
//! | `connect.rs` | connections on which a protocol other than HTTP is spoken |
//! | `probe.rs` | handshakes that are made to see how a server encrypts |
//! | `exchange.rs`, `body.rs` | redirects, deadlines and the size of bodies |
//! | `coding.rs` | gzip and br of pages, undone within a bound |
//! | `recordings.rs` | answers that are kept in files and given again, for tests of a deployment |
//! | `revisit.rs` | documents that were read before, and what became of them |
//! | `metrics.rs` | what is counted |
//! | `data_url.rs` | `data:` URLs, which never touch the network |
//! | `webhook.rs`, `signature.rs` | posts to webhooks, and their signature |
//! | `hops.rs` | the mark against endless calls |

mod address;
mod body;
mod certificate;
mod coding;
mod config;
mod connect;
mod data_url;
mod dial;
mod egress;
mod error;
mod exchange;
mod freshness;
mod guard;
pub mod hops;
mod inner;
pub mod limits;
mod metrics;
mod probe;
mod purpose;
pub mod recordings;
mod resolve;
mod revisit;
mod setup_error;
pub mod signature;
mod slots;
mod stream;
mod target;
mod trust;
mod webhook;

pub use address::{AddressVerdict, classify};
pub use body::{BodyStream, CollectBody};
pub use certificate::ClientCertificate;
pub use config::EgressConfig;
pub use connect::{Connection, Tls};
pub use data_url::{DataUrl, DataUrlError, data_url};
pub use egress::{Egress, EgressBuilder};
pub use error::{EgressError, Refusal};
pub use exchange::{DeliveryOutcome, FetchedBody, RequestUrl, UpstreamRequest, UpstreamResponse};
pub use freshness::freshness;
pub use metrics::EgressMetrics;
pub use probe::{CertificateFaults, HandshakeError, TlsHandshake, TlsVersion};
pub use purpose::{Deadlines, Purpose};
pub use resolve::{Resolve, Resolving, SystemResolver};
pub use revisit::{FetchedDocument, RevisitOutcome, Validators};
pub use setup_error::SetupError;
pub use target::CheckedUrl;
pub use webhook::WebhookPost;
