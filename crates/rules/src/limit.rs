//! The rule `limit` bounds how often one caller may ask an agent, or several together. REST 8.4.

use std::num::NonZeroU32;

use forecourt_core::clock::whole_seconds;
use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::policy::{Objection, RefusalKind};
use forecourt_core::{AgentCard, Bot, CallerKey, Message, PolicyPart, ThreadId};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::services::{Quota, RuleServices};
use crate::span::Span;
use crate::{BuiltRule, RuleContext, RuleProblem, RuleWords, refused_unless_valid};

/// So many requests of one caller in so long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitRule {
    /// Who counts as one caller.
    pub by: LimitBy,
    /// Requests within the period.
    pub requests: NonZeroU32,
    /// The period: seconds, or a number with a unit such as `10m`, or `minute`, `hour`, `day`.
    pub per: Span,
    /// Requests that may come at once after a rest. Default: as many as `requests`.
    pub burst: Option<NonZeroU32>,
}

/// Who counts as one caller. Whoever has no such name counts by network address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitBy {
    /// A network address; an IPv6 /64 is one.
    Address,
    /// A conversation that is kept here. The first message of one counts by network address.
    Session,
    /// A verified subject.
    Subject,
    /// A verified agent.
    Agent,
    /// A crawler by its name, verified or not, from whatever addresses it comes.
    Bot,
}

impl LimitBy {
    fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Session => "session",
            Self::Subject => "subject",
            Self::Agent => "agent",
            Self::Bot => "bot",
        }
    }
}

struct Limiter {
    settings: LimitRule,
    quota: Quota,
    /// Tells its buckets from those of other rules.
    scope: String,
    services: RuleServices,
    refusal: PolicyPart,
}

impl LimitRule {
    pub(crate) fn build(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        let refusal = words.refusal(
            RefusalKind::TooManyRequests { retry_after_seconds: None },
            "You ask this agent more often than it allows.",
        );
        refused_unless_valid(&refusal, context.site)?;
        let burst = self.burst.unwrap_or(self.requests);
        let quota = Quota { every: self.per.duration() / self.requests.get(), burst };
        let (scope, services) = (context.scope.clone(), context.services.clone());
        Ok(std::sync::Arc::new(Limiter { settings: self.clone(), quota, scope, services, refusal }))
    }

    pub(crate) fn summary(&self) -> String {
        format!("{} per {} by {}", self.requests, self.per, self.by.name())
    }
}

impl Rule for Limiter {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn count(&self, _: &AgentCard, message: &Message) -> RuleVerdict {
        // Rules are built before their host, and also where there is none, such as in `forecourt check`.
        let Some(services) = self.services.get() else { return Ok(()) };
        let sender = &message.sender;
        let bot = sender.bot.as_ref().map(|bot| named(bot));
        let (subject, conversation) = match self.settings.by {
            LimitBy::Address => (None, None),
            // Only a conversation that goes on counts: each new one would begin with a fresh bucket.
            LimitBy::Session => (None, message.thread.as_ref().filter(|_| message.gate.continues()).map(ThreadId::key)),
            LimitBy::Subject => (sender.owner(), None),
            LimitBy::Agent => (verified_agent(message), None),
            LimitBy::Bot => (bot.as_deref(), None),
        };
        let caller = CallerKey::of(subject, conversation, sender.network());
        services.take(&self.scope, &caller, self.quota).map_err(|wait| {
            let mut part = self.refusal.clone();
            part.code = Some("mentionable:rate_limited".to_owned());
            part.kind = RefusalKind::TooManyRequests { retry_after_seconds: Some(whole_seconds(wait)) };
            Objection::from(part)
        })
    }
}

/// What a crawler counts as: one that only says who it is never as one that proved it.
fn named(bot: &Bot) -> String {
    let proof = if bot.is_verified { "verified" } else { "named" };
    format!("{proof}:{}", bot.name)
}

/// The agent that a sender was proven to be.
fn verified_agent(message: &Message) -> Option<&str> {
    let sender = &message.sender;
    if !sender.verified {
        return None;
    }
    let of_agent = sender.identities.iter().find(|evidence| evidence.assurance == "agent");
    of_agent.map(|evidence| evidence.subject.as_str()).or(sender.agent.as_ref().map(|agent| agent.as_str()))
}
