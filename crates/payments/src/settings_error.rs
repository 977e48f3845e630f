//! What is wrong with the settings of payments.

/// What is wrong with the section, or with what a rule asks for. Says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingsError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl SettingsError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}
