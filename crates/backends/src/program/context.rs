//! What one agent's program has, whichever answer it is at.

use std::sync::Arc;

use forecourt_agents::backend::Context;
use forecourt_core::{Admitted, Clock};

use super::asides::Asides;
use super::keys::UnknownKeys;
use super::message::MessageFields;
use super::reader::AnswerReader;
use super::usage::ProgramUsage;

/// What the answers of one agent's program are read with.
pub(crate) struct ProgramContext {
    /// What the URLs of a refusal are bound to.
    host: Arc<str>,
    pub(crate) keys: Arc<UnknownKeys>,
    clock: Arc<dyn Clock>,
    usage: Arc<ProgramUsage>,
}

impl ProgramContext {
    pub(crate) fn new(context: &Context) -> Arc<Self> {
        Arc::new(Self {
            host: context.host.as_str().into(),
            keys: Arc::new(UnknownKeys::new(context.handle.clone())),
            clock: context.clock.clone(),
            usage: Arc::new(ProgramUsage::new(context)),
        })
    }

    /// What a message is told with that is answered now, on this thread.
    pub(crate) fn fields(&self, admitted: &Admitted) -> MessageFields {
        MessageFields::of(admitted, self.clock.clone())
    }

    /// Reads the answer to a message that is answered now, on this thread.
    pub(crate) fn reader(&self, admitted: Arc<Admitted>) -> AnswerReader {
        AnswerReader::new(self.host.clone(), self.keys.clone(), Asides::new(self.usage.clone(), admitted))
    }
}
