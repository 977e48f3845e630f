//! The REST transport. Mentionable REST v0.1: an agent is a web address, and any tool that can fetch
//! one can talk to it.
//!
//! | section | file |
//! |---|---|
//! | 3.1 GET | `query.rs` |
//! | 3.2 POST | `multipart.rs`, `turns.rs`; the sidecars in `sidecar.rs` |
//! | answers to several questions | `answers.rs` |
//! | 3.3 part dispatch | `turns.rs` (media types), `from_wire.rs` (addresses) |
//! | 3.5 methods, 5.2 fields | `surface.rs`, `agent_route.rs` |
//! | 4 negotiation | `media.rs`, and `render/` with a file for each form |
//! | 5.1 refusals, PolicyPart 4.5 | `refusal.rs` |
//! | files and links beside words | `links.rs` |
//! | 5.4 background | `callback.rs`, `task.rs`, `envelope.rs` |
//! | 5.5 webhooks, 5.6 artifacts | `task.rs`, `artifact.rs` |
//! | 6 sessions | `responder.rs`, `conversation_cookie.rs` |
//! | PolicyResolution 5.3: where people decide, and how it goes on | `decision.rs`, `resumption.rs` |
//! | the same for programs that pay with x402 | `payment.rs` |
//! | RFC 9457 | `problem.rs` |
//! | 7 identity | `exchange.rs`; the fields in `forecourt_surface::credentials` |
//! | 7.2 cookies of people who signed in | `signed_in.rs` |
//! | 8.2.1 CSRF, 8.6 CORS | `forecourt_surface::same_origin`, `cors.rs` |
//! | the host's own pages | `front.rs`, and `search.rs` for agents that find things |
//!
//! A request is read into a [`request::RequestHead`] and a body (`body.rs`), and what comes of it is an
//! [`answer::Outcome`]. `exchange.rs` is the trip of a message, `reply.rs` writes what came of it, and the fields
//! of a response, refusals, errors and pages come from a [`responder::Responder`]. `surface.rs` alone has routes and
//! handlers of the web framework; others know only its `Body`.

mod agent_route;
mod answer;
mod answers;
mod artifact;
mod body;
mod callback;
mod conversation_cookie;
mod cors;
mod decision;
mod envelope;
mod errors;
mod exchange;
mod failure_kind;
mod from_wire;
mod front;
mod limits;
mod links;
mod media;
mod multipart;
mod notice;
mod once;
mod own_links;
mod payment;
mod problem;
mod query;
mod refusal;
mod render;
mod reply;
mod request;
mod responder;
mod resumption;
mod search;
mod several;
mod sidecar;
mod signed_in;
mod suggestions;
mod surface;
mod task;
mod transport;
mod turns;
mod visitor;
mod wire;

pub(crate) use agent_route::{X_MENTIONABLE_SESSION, path};
pub(crate) use envelope::post;
pub(crate) use errors::spelling;
pub(crate) use surface::{resource, routes};
pub(crate) use transport::Rest;
