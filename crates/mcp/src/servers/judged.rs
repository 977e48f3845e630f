//! What a server says, before its caller hears it, where guardrails stand before the server.

use std::sync::Arc;

use forecourt_rules::guard::ReplyGuards;
use rmcp::model::ServerResult;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::upstream::call_error::CallError;

/// The guardrails of one call.
#[derive(Clone)]
pub(super) struct CallGuards(pub(super) Option<Arc<ReplyGuards>>);

impl CallGuards {
    /// What came of a request, as its caller may know it.
    pub(super) async fn outcome(&self, outcome: Result<ServerResult, CallError>) -> Result<ServerResult, CallError> {
        let Some(guards) = &self.0 else { return outcome };
        match outcome {
            Ok(ServerResult::CallToolResult(result)) => said(guards, result).await.map(ServerResult::CallToolResult),
            Ok(ServerResult::ReadResourceResult(read)) => {
                said(guards, read).await.map(ServerResult::ReadResourceResult)
            }
            Ok(ServerResult::GetPromptResult(prompt)) => said(guards, prompt).await.map(ServerResult::GetPromptResult),
            Ok(other) => said(guards, other).await,
            Err(CallError::Said(error)) => Err(said(guards, error).await.map_or_else(|held| held, CallError::Said)),
            Err(error) => Err(error),
        }
    }

    /// What is said on the way, as the caller may know it.
    pub(super) async fn said<T: Serialize + DeserializeOwned>(&self, words: T) -> Result<T, CallError> {
        match &self.0 {
            Some(guards) => said(guards, words).await,
            None => Ok(words),
        }
    }
}

/// What is said, as it may be heard.
async fn said<T: Serialize + DeserializeOwned>(guards: &ReplyGuards, said: T) -> Result<T, CallError> {
    let unreadable = |error: serde_json::Error| CallError::Unreadable(error.to_string());
    let mut value = serde_json::to_value(&said).map_err(unreadable)?;
    match guards.value(&mut value).await {
        Ok(false) => Ok(said),
        Ok(true) => serde_json::from_value(value).map_err(unreadable),
        Err(part) => Err(CallError::HeldBack(part)),
    }
}
