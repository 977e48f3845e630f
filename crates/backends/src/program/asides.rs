//! What a program says beside its answer: what models used, lines for the log, and what it keeps in the conversation.
//! Nobody but the host hears of it.

use std::sync::Arc;

use forecourt_core::{Admitted, AgentState, AgentStateError, Ending, FailureCause, Handle};
use forecourt_telemetry::RequestLines;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::spending::BudgetWatch;
use super::usage::{AnswerUsage, ProgramUsage, UsageLine};
use crate::answer::for_log;
use crate::limits::LOG_LINES_MAX;

const STATE: &str = "state";
const USAGE: &str = "usage";
const LOG: &str = "log";

/// What is said beside one answer.
pub(super) struct Asides {
    agent: Handle,
    admitted: Arc<Admitted>,
    usage: AnswerUsage,
    /// The request that lines of the log belong to.
    lines: Option<RequestLines>,
    /// Lines that may still go to the log.
    lines_left: u32,
}

/// A `log` line.
#[derive(Debug, Deserialize)]
struct LogLine {
    #[serde(default)]
    level: LogLevel,
    message: String,
    #[serde(default)]
    fields: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LogLevel {
    Debug,
    #[default]
    Info,
    #[serde(alias = "warning")]
    Warn,
    #[serde(alias = "critical")]
    Error,
}

impl Asides {
    /// Beside the answer to a message that is taken now, on this thread.
    pub(super) fn new(program: Arc<ProgramUsage>, admitted: Arc<Admitted>) -> Self {
        let usage = AnswerUsage::new(program, admitted.message());
        let agent = admitted.card().handle().clone();
        Self { agent, admitted, usage, lines: RequestLines::current(), lines_left: LOG_LINES_MAX }
    }

    /// Asks whether the agent may use anything of models.
    pub(super) async fn admit(&mut self) -> Result<(), Ending> {
        self.usage.admit(self.admitted.clone()).await
    }

    /// Tells when the agent has used more of models than it may.
    pub(super) fn watch(&self) -> BudgetWatch {
        self.usage.watch()
    }

    /// Has what models used be counted.
    pub(super) fn count(&self) {
        self.usage.count();
    }

    /// Takes out of a line what counts even where nobody wants the answer any more; whether there was any.
    pub(super) fn take_costs(&mut self, fields: &mut Map<String, Value>) -> bool {
        let (usage, log) = (fields.remove(USAGE), fields.remove(LOG));
        let had_any = usage.is_some() || log.is_some();
        if let Some(usage) = usage.and_then(|usage| self.typed::<UsageLine>(USAGE, usage)) {
            self.usage.add(usage);
        }
        if let Some(line) = log.and_then(|log| self.typed::<LogLine>(LOG, log)) {
            self.log(&line);
        }
        had_any
    }

    /// Takes out of a line what it says beside the answer; whether there was any.
    ///
    /// # Errors
    /// What the program wants kept can't be.
    pub(super) fn take(&mut self, fields: &mut Map<String, Value>) -> Result<bool, Ending> {
        let had_costs = self.take_costs(fields);
        let Some(state) = fields.remove(STATE) else { return Ok(had_costs) };
        let kept: &AgentState = &self.admitted.message().state;
        kept.replace(state).map_err(|error| not_kept(&error))?;
        Ok(true)
    }

    /// What the program says so wrongly that it can't be taken is a warning, and costs nobody an answer.
    fn typed<T: DeserializeOwned>(&mut self, key: &str, value: Value) -> Option<T> {
        serde_json::from_value(value)
            .map_err(|error| {
                if let Some(left) = self.lines_left.checked_sub(1) {
                    self.lines_left = left;
                    let error = for_log(&error.to_string());
                    tracing::warn!(agent = %self.agent, "an agent's program wrote `{key}` in a way that can't be read: {error}");
                }
            })
            .ok()
    }

    /// Writes a line of the program's into the log.
    fn log(&mut self, line: &LogLine) {
        let Some(left) = self.lines_left.checked_sub(1) else { return };
        self.lines_left = left;
        let _within = self.lines.as_ref().map(RequestLines::enter);
        let (agent, message) = (&self.agent, for_log(&line.message));
        let fields = (!line.fields.is_empty()).then(|| for_log(&Value::from(line.fields.clone()).to_string()));
        let fields = fields.as_deref();
        match line.level {
            LogLevel::Debug => tracing::debug!(%agent, fields, "{message}"),
            LogLevel::Info => tracing::info!(%agent, fields, "{message}"),
            LogLevel::Warn => tracing::warn!(%agent, fields, "{message}"),
            LogLevel::Error => tracing::error!(%agent, fields, "{message}"),
        }
    }
}

fn not_kept(error: &AgentStateError) -> Ending {
    FailureCause::OverBound.ending(format!("What the agent's program wanted to keep can't be kept: {error}."))
}
