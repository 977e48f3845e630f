//! A2A, 0.3 and 1.0: any client that finds the domain gets the right agent.
//!
//! | what | module |
//! |---|---|
//! | the words of both versions, once | [`model`] |
//! | each version's spelling of them, read and written | `codec` |
//! | the hub card and the cards of agents, signed | `card` |
//! | JSON-RPC, HTTP+JSON, gRPC | `rpc`, `rest`, `grpc` |
//! | one operation carried to the host and back | `service` |
//! | talking to other A2A agents, and fronting one | `client`, `backend` |

pub mod card;
pub mod client;
mod codec;
mod grpc;
pub mod model;
