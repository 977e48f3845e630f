//! The endpoints as clients of both eras see them, without a socket; and the SDK's own client over a pipe.
//!
//! | module | holds |
//! |---|---|
//! | `sessions` | clients that begin with `initialize`: sessions, their ends, whose they are |
//! | `streams` | their streams: taken up again, kept for so long, bounded |
//! | `nodes` | the same session on several hosts with one store |
//! | `modern` | clients of 2026-07-28: each request for itself |
//! | `calls` | tools of agents and of other protocols: results, tasks, progress, cancellation |
//! | `tasks` | calls that become tasks of the protocol |
//! | `named` | tools and prompts of the owner's naming |
//! | `resources` | resources of the owner's naming, in prompts too, and watched |
//! | `questions` | what a person is asked in the middle of a call |
//! | `endpoints` | endpoints with a contract as tools: scopes, refusals, results |
//! | `doors` | origins, hosts, bodies, limits, credentials and who gives them out |
//! | `remote` | this host over a real listener: fronted as an agent, bridged to a pipe |
//! | `scripted_server` | a server that stands behind the host, for those below |
//! | `servers` | servers behind the host, as they are |
//! | `server_attacks` | servers behind the host that are hostile, and callers who want what is another's |
//! | `sign_in` | servers at which people sign in once |
//! | `direct`, `direct_servers` | calls without the SDK's machinery: of the host's tools, and of servers' |
//! | `sdk` | the client of the SDK over a pipe |

mod calls;
mod direct;
mod direct_servers;
mod doors;
mod endpoints;
mod finding;
mod modern;
mod named;
mod nodes;
mod questions;
mod remote;
mod resources;
mod scripted_server;
mod sdk;
mod server_attacks;
mod servers;
mod sessions;
mod sign_in;
mod streams;
mod support;
mod tasks;
