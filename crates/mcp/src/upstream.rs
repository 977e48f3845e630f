//! Servers elsewhere, as they are asked: where one is, a request to it, and what went wrong. An agent may stand before
//! one (`backend`), or the host (`servers`).

pub(crate) mod bounded;
pub(crate) mod call_error;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod request;
pub(crate) mod target;
