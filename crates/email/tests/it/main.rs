//! The parsers of outside bytes: lines and messages of LMTP, and what a person wrote in a reply.

mod lmtp;
mod quote;
mod session;
