//! What messages and replies may say.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::PolicyPart;
use forecourt_core::policy::RefusalKind;
use forecourt_egress::Egress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::guard::{Guardrail, Judge, Patterns, Seat, WebhookJudge};
use crate::limits::{GUARD_PATTERNS_MAX, GUARD_TIME_MAX, GUARD_WINDOW_CHARS_MAX, GUARD_WINDOW_CHARS_MIN};
use crate::{RuleContext, RuleProblem, RuleWords, refused_unless_valid};

/// Judges what messages and replies say, by patterns, by a service of yours, by a second model, or by several of them
/// in this order. The text of replies is held back until it was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardrailRule {
    /// What is judged: `both`, `message` or `reply`.
    #[serde(default)]
    pub check: GuardedSide,
    /// Regular expressions of which none may fit, at most 100 of at most 1,024 bytes each. `(?i)` at the beginning
    /// ignores case.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// What stands in place of what a pattern fits. Without it, that is refused.
    pub replacement: Option<String>,
    /// A service that is asked.
    pub webhook: Option<GuardWebhook>,
    /// A language model that is asked.
    pub model: Option<GuardModel>,
    /// Characters of a reply that are held back until they were judged, 80 to 100000. A longer window judges more at
    /// once, and shows it later.
    #[serde(default = "window_chars")]
    pub window_chars: usize,
}

/// What is judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuardedSide {
    /// Messages and replies.
    #[default]
    Both,
    /// Messages, before their agent hears them.
    Message,
    /// Replies, before their callers see them.
    Reply,
}

/// What it means that a text could not be judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// It is refused.
    #[default]
    Deny,
    /// It passes.
    Allow,
}

/// A service that judges texts: it is posted `{"agent", "side", "before", "text"}` as JSON, and answers
/// `{"decision": "allow"}`, `{"decision": "deny"}` or `{"decision": "replace", "text": "…"}`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardWebhook {
    /// Where it is. Any http or https URL: you wrote it, so it may be private.
    pub url: String,
    /// The secret that signs each post (`X-Hub-Signature-256`), best as `"${VARIABLE}"`.
    pub secret: Option<String>,
    /// Seconds that it may take, at most 60.
    #[serde(default = "webhook_seconds")]
    pub seconds: u64,
    /// What it means that it can't say: `deny` or `allow`.
    #[serde(default)]
    pub on_failure: OnFailure,
}

/// A model that judges texts: it is asked a question about each, and what it answers with `yes` is refused.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardModel {
    /// The provider, as in a `model` backend.
    pub provider: Option<String>,
    /// Where its API is, as in a `model` backend.
    pub base_url: Option<String>,
    /// The name of the model.
    pub model: String,
    /// The key of the API: best as `"${VARIABLE}"`.
    pub api_key: Option<String>,
    /// The question, such as `Does this text ask for medical advice?`.
    pub question: String,
    /// Seconds that it may take, at most 60.
    #[serde(default = "model_seconds")]
    pub seconds: u64,
    /// What it means that it can't say: `deny` or `allow`.
    #[serde(default)]
    pub on_failure: OnFailure,
}

/// Never prints the secret.
impl std::fmt::Debug for GuardWebhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardWebhook").field("seconds", &self.seconds).finish_non_exhaustive()
    }
}

/// Never prints the key.
impl std::fmt::Debug for GuardModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardModel").field("model", &self.model).finish_non_exhaustive()
    }
}

fn window_chars() -> usize {
    1_000
}

fn webhook_seconds() -> u64 {
    5
}

fn model_seconds() -> u64 {
    10
}

/// Builds what asks a model: whoever builds rules knows how.
pub trait JudgeBuilder: Send + Sync {
    /// What asks the model of these settings. Fails with what is wrong in them.
    fn model(&self, settings: &GuardModel) -> Result<Arc<dyn Judge>, String>;
}

/// What guardrails are built from beside their settings.
#[derive(Clone, Default)]
pub struct GuardServices {
    /// The way out.
    pub egress: Option<Arc<Egress>>,
    /// What builds the judges that are models.
    pub judges: Option<Arc<dyn JudgeBuilder>>,
}

impl GuardrailRule {
    pub(crate) fn build(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<Arc<Guardrail>, RuleProblem> {
        if self.patterns.is_empty() && self.webhook.is_none() && self.model.is_none() {
            return Err(RuleProblem::whole("needs `patterns`, `webhook` or `model`"));
        }
        if self.patterns.len() > GUARD_PATTERNS_MAX {
            return Err(RuleProblem::of("patterns", format!("a rule has {GUARD_PATTERNS_MAX} patterns at most")));
        }
        if self.replacement.is_some() && self.patterns.is_empty() {
            return Err(RuleProblem::of("replacement", "stands beside `patterns` only"));
        }
        if !(GUARD_WINDOW_CHARS_MIN..=GUARD_WINDOW_CHARS_MAX).contains(&self.window_chars) {
            let text = format!("must be {GUARD_WINDOW_CHARS_MIN} to {GUARD_WINDOW_CHARS_MAX}");
            return Err(RuleProblem::of("window_chars", text));
        }
        let refusal = |own: &str| -> Result<PolicyPart, RuleProblem> {
            let mut part = words.refusal(RefusalKind::Forbidden, own);
            part.code = Some("mentionable:guardrail".to_owned());
            refused_unless_valid(&part, context.site)?;
            Ok(part)
        };
        Ok(Arc::new(Guardrail {
            rule: words.name.clone().unwrap_or_else(|| "guardrail".to_owned()),
            judges_messages: self.check != GuardedSide::Reply,
            judges_replies: self.check != GuardedSide::Message,
            seats: self.seats(context)?,
            window_chars: self.window_chars,
            of_message: refusal("This agent does not answer messages of this kind.")?,
            of_reply: refusal("This answer was held back by a rule of this host.")?,
        }))
    }

    fn seats(&self, context: &RuleContext<'_>) -> Result<Vec<Seat>, RuleProblem> {
        let mut seats = Vec::new();
        if !self.patterns.is_empty() {
            let patterns = Patterns::new(&self.patterns, self.replacement.clone())
                .map_err(|problem| RuleProblem::of("patterns", problem))?;
            // Patterns fail only at a text that is too long to be judged, and such a text must not pass.
            seats.push(Seat { judge: Arc::new(patterns), time_max: GUARD_TIME_MAX, fails_open: false });
        }
        if let Some(webhook) = &self.webhook {
            let time_max = time("webhook", webhook.seconds)?;
            let is_http = url::Url::parse(&webhook.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
            let (true, Some(egress)) = (is_http, context.guards.egress.clone()) else {
                return Err(RuleProblem::of("webhook", "`url` must be an absolute http:// or https:// URL"));
            };
            let judge = WebhookJudge { egress, url: webhook.url.clone(), secret: webhook.secret.clone(), time_max };
            let fails_open = webhook.on_failure == OnFailure::Allow;
            seats.push(Seat { judge: Arc::new(judge), time_max, fails_open });
        }
        if let Some(model) = &self.model {
            let time_max = time("model", model.seconds)?;
            if model.question.trim().is_empty() {
                return Err(RuleProblem::of("model", "`question` must not be empty"));
            }
            let builder = context.guards.judges.as_ref();
            let builder = builder.ok_or_else(|| RuleProblem::of("model", "no model can be asked here"))?;
            let judge = builder.model(model).map_err(|problem| RuleProblem::of("model", problem))?;
            seats.push(Seat { judge, time_max, fails_open: model.on_failure == OnFailure::Allow });
        }
        Ok(seats)
    }

    /// What it judges by, in a few words.
    pub(crate) fn summary(&self) -> String {
        let patterns = (!self.patterns.is_empty()).then(|| format!("{} patterns", self.patterns.len()));
        let webhook = self.webhook.as_ref().map(|_| "a webhook".to_owned());
        let model = self.model.as_ref().map(|model| format!("the model {}", model.model));
        let by = [patterns, webhook, model].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let of = match self.check {
            GuardedSide::Both => "messages and replies",
            GuardedSide::Message => "messages",
            GuardedSide::Reply => "replies",
        };
        format!("{of} by {by}")
    }
}

fn time(key: &'static str, seconds: u64) -> Result<Duration, RuleProblem> {
    let most = GUARD_TIME_MAX.as_secs();
    match (1..=most).contains(&seconds) {
        true => Ok(Duration::from_secs(seconds)),
        false => Err(RuleProblem::of(key, format!("`seconds` must be 1 to {most}"))),
    }
}
