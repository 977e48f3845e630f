//! What the targets of the fronts share.
//!
//! | module | holds |
//! |---|---|
//! | [`front`] | a front at work on a socket of this machine, and one connection to it |
//! | [`http`] | answers of HTTP/1 and frames of HTTP/2, read strictly |

pub mod front;
pub mod http;
