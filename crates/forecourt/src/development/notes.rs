//! This module notes in spans what a developer is told of a request and a log never says: who asks, the beginning of what
//! is said, and what it costs. The spans go to the terminal of the developer, on whose machine all of it is.

use std::sync::Arc;

use forecourt_agents::usage::{ModelCall, UsageRecorder};
use forecourt_core::gate::RuleVerdict;
use forecourt_core::{AgentCard, Message, Rule, Sender};
use futures::future::BoxFuture;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Who asks, under this name in the span of the gate.
pub const CALLER: &str = "forecourt.development.caller";
/// The beginning of what is said, under this name in the span of the gate.
pub const MESSAGE: &str = "forecourt.development.message";
/// What requests to models cost, in millionths of a unit of money, under this name in the span that made them.
pub const COST_MICROS: &str = "forecourt.development.cost_micros";
/// Characters of what is said that are noted.
const MESSAGE_CHARS_MAX: usize = 200;

/// A rule that lets everybody pass.
pub(super) struct CallerNote;

impl Rule for CallerNote {
    fn judge<'a>(&'a self, _: &'a AgentCard, message: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        let span = Span::current();
        span.set_attribute(CALLER, caller(&message.sender));
        let said: String = message.text().chars().take(MESSAGE_CHARS_MAX).collect();
        span.set_attribute(MESSAGE, said);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Who somebody is in a word, by what was verified. Nothing that opens anything is in it.
fn caller(sender: &Sender) -> String {
    let proven = sender.identities.first().map(|evidence| evidence.subject.clone());
    let agent = || sender.agent.as_ref().map(|agent| format!("@{agent}"));
    let address = || Some(sender.address.clone()).filter(|address| sender.verified && !address.is_empty());
    proven.or_else(agent).or_else(address).unwrap_or_else(|| "anonymous".to_owned())
}

/// Notes what requests to models cost, and hands on what is recorded of them.
pub(crate) struct PricedUsage(pub(crate) Arc<dyn UsageRecorder>);

impl UsageRecorder for PricedUsage {
    fn record(&self, call: &ModelCall<'_>) {
        if call.cost_micros > 0 {
            let cost = i64::try_from(call.cost_micros).unwrap_or(i64::MAX);
            Span::current().set_attribute(COST_MICROS, cost);
        }
        self.0.record(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_told_by_what_was_verified_alone() {
        let anonymous = Sender { claimed_address: Some("@x@evil.example".to_owned()), ..Sender::anonymous() };
        assert_eq!(caller(&anonymous), "anonymous");
        let address = "@chef@demo.localhost".to_owned();
        assert_eq!(caller(&Sender { address: address.clone(), ..Sender::anonymous() }), "anonymous");
        assert_eq!(caller(&Sender { address: address.clone(), verified: true, ..Sender::anonymous() }), address);
    }
}
