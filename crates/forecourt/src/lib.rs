//! A domain's agents, endpoints and content, served over every protocol that Forecourt knows: the whole of
//! it as a library. The `forecourt` command is a thin program on top.
//!
//! A [`Deployment`] is read from a folder, or put together in part by a program. It is built into a [`House`],
//! which knows no socket and no store. A [`Server`] serves a house, and can be given another one while it does.
//!
//! | module | holds |
//! |---|---|
//! | [`deployment`], [`settings`] | the files, and what a program adds to them |
//! | `agents` | one agent as it is defined, and what answers for it |
//! | [`alerts`] | rules over what is counted, and what is firing |
//! | `hubs` | agents of hubs elsewhere: the files, the lists, the agents that come of them |
//! | [`hub_survey`] | a hub that is looked at once, for who imports it |
//! | [`house`] | everything built |
//! | [`running`] | a host at work in a house, and how another one takes its place |
//! | `live` | the one swap that every request looks at |
//! | [`development`] | a deployment while it is worked on: watched, on loopback, over plain HTTP |
//! | [`domains`] | several deployments in one daemon, and which of them a request is for |
//! | [`reload`] | a deployment that is read again while it is served |
//! | [`server`] | listeners, the operator's calls, the end |
//! | `content_watcher` | the content of all agents, kept up to date |
//! | `crawl` | crawlers: the rules before pages, what is told of them and counted |
//! | `wellknown` | what programs look for on every host: robots.txt, llms.txt, the catalogs |
//! | `certificates` | where the certificate of a deployment comes from |
//! | [`storage`], [`data_folder`], [`serving`] | where state is kept, and who holds it |
//! | [`shared`] | what the nodes of one deployment have in common |
//! | [`sandbox`] | a deployment that is tested, apart from the world |
//! | [`inspect`], [`identities`] | what stands in the way, and what there is to say |
//! | `oversights`, `code` | what serving passes over and a check tells, and programs that are named |
//! | [`registry`] | every protocol and every backend |
//!
//! ```
//! use forecourt::{Deployment, Domain};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! std::fs::create_dir(folder.join("agents"))?;
//! std::fs::write(folder.join("forecourt.toml"), "domain = \"demo.localhost\"")?;
//! std::fs::write(
//!     folder.join("agents/echo.toml"),
//!     "handle = \"echo\"\nname = \"Echo\"\n[backend]\nkind = \"echo\"",
//! )?;
//! let house = Deployment::read(folder)?.build()?;
//! assert_eq!(house.site().domain, Domain::parse("demo.localhost")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agents;
pub mod alerts;
mod certificates;
mod code;
pub mod connector_survey;
mod content;
mod content_watcher;
mod crawl;
mod crawl_doubts;
pub mod data_folder;
pub mod deployment;
pub mod development;
pub mod domains;
mod domains_file;
mod editor;
mod endpoints;
mod error;
mod export_metrics;
mod gen_ai_metrics;
mod guards;
pub mod house;
pub mod hub_survey;
mod hubs;
pub mod identities;
pub mod inspect;
mod live;
mod manual;
mod manual_routes;
pub mod meters;
pub mod model_metrics;
mod named_file;
mod nodes;
mod openmetrics;
mod operated;
mod oversights;
mod payments;
mod prefix;
mod process_metrics;
mod questions;
pub mod registry;
pub mod reload;
mod rules;
pub mod running;
pub mod sandbox;
pub mod server;
mod server_gates;
mod servers;
pub mod serving;
pub mod settings;
pub mod shared;
mod span_layer;
pub mod storage;
pub mod telemetry;
mod watch;
mod wellknown;
mod wires;

pub use deployment::Deployment;
pub use error::Error;
pub use forecourt_agents::BuiltAgent;
pub use forecourt_contract::{Failure, Invocation};
pub use forecourt_core::{Admitted, Agent, Domain, Ending, Event, EventStream, Handle, Message, reply};
pub use forecourt_loaders::read_pdf_if_asked;
pub use forecourt_settings::{Problem, Problems};
pub use house::House;
pub use running::Running;
pub use server::Server;
pub use storage::Storage;
