//! What programs that answer have in common, wherever they run ([`crate::command`], [`crate::http`]): what they are
//! told of a message, and how what they write is read.

mod artifacts;
mod asides;
mod context;
mod keys;
mod message;
mod play;
mod reader;
mod spending;
mod usage;

pub(crate) use context::ProgramContext;
pub(crate) use message::MessageFields;
pub(crate) use play::play;
pub(crate) use reader::AnswerReader;
pub(crate) use spending::BudgetWatch;
