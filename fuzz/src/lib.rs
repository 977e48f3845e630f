//! What the targets of the fronts share.
//!
//! | module | holds |
//! |---|---|
//! | [`front`] | a front at work on a socket of this machine, and one connection to it |
//! | [`http`] | answers of HTTP/1 and frames of HTTP/2, read strictly |
//! | [`place`] | a host on which a protocol is mounted, asked without a socket |
//! | [`player`] | the agent of its hosts, which does what it is told |
//! | [`hotel`] | its endpoints |
//! | [`script`] | an input as several requests, of which later ones name what earlier ones were answered |
//! | [`mutation`] | changes to inputs that keep them JSON |
//! | [`rpc`] | answers of JSON-RPC, held against their requests |
//! | [`agtp`] | a host that is asked over AGTP, and its answers |

pub mod agtp;
pub mod front;
pub mod hotel;
pub mod http;
pub mod mutation;
pub mod place;
pub mod player;
pub mod rpc;
pub mod script;
