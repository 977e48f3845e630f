//! What is noted of a message on its way.

/// What the host and the gate note of a message on its way to an agent. Neither callers nor agents have a say in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateNotes {
    /// How many rules, from the first on, have counted it.
    pub(crate) counted: usize,
    /// Whether its conversation was kept before it came.
    continues: bool,
}

impl GateNotes {
    /// The notes of a message that comes to a gate, which counts it anew, whatever gate it came through before. For
    /// the host, which says whether the conversation of the message was kept before it came.
    pub fn arriving(continues: bool) -> Self {
        Self { counted: 0, continues }
    }

    /// Notes that its conversation turned out to be a known one, or not. For the host.
    pub fn set_continues(&mut self, continues: bool) {
        self.continues = continues;
    }

    /// Whether the conversation of the message was kept before it came: then its name can't be one that was made up
    /// for this very message.
    pub fn continues(&self) -> bool {
        self.continues
    }
}
