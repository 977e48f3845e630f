//! LMTP, RFC 2033: how a mail server hands mail over.

mod decoder;
mod reply;
mod session;

pub use decoder::{Decoder, Frame, LineError};
pub use reply::SmtpReply;
pub use session::{Bounds, Envelope, Mailroom, speak};
