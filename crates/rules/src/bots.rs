//! Which crawlers a rule stands before. A rule that names some stands before nobody else.

use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::{AgentCard, Bot, BotPurpose, Message};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::BOT_PATTERNS_MAX;
use crate::pattern::any_matches;
use crate::{BuiltRule, RuleProblem};

/// Any crawler that is verified.
const VERIFIED: &str = "verified";
/// Any crawler that only says that it is one.
const UNVERIFIED: &str = "unverified";
/// What stands before a purpose.
const PURPOSE: &str = "purpose:";

/// The crawlers that a rule stands before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BotScope {
    /// The crawlers that the rule stands before, and nobody else: `verified`, `unverified`, a name such as `GPTBot` or
    /// the host of a signature agent, with a trailing `*` for any ending, `purpose:` with `search`, `training`,
    /// `assistant` or `archive`, or `*` for any. Before everybody when empty.
    pub bots: Vec<String>,
    /// Crawlers that it does not stand before, written in the same way. They count only where they are verified.
    pub except_bots: Vec<String>,
}

/// A rule that stands before some crawlers alone.
struct BotRule {
    scope: BotScope,
    rule: BuiltRule,
}

impl BotScope {
    /// Whether it names no crawlers, so that a rule stands before everybody.
    pub fn is_everybody(&self) -> bool {
        self.bots.is_empty() && self.except_bots.is_empty()
    }

    /// Whether it means this crawler. What one merely says of itself counts for `bots`, where it shuts out itself
    /// alone, and not for `except_bots`, where it would be let in.
    pub fn means(&self, bot: &Bot) -> bool {
        let is_exempt = bot.is_verified && self.except_bots.iter().any(|pattern| fits(pattern, bot));
        !is_exempt && self.bots.iter().any(|pattern| fits(pattern, bot))
    }

    /// The patterns, in a few words.
    pub(crate) fn summary(&self) -> String {
        let except = self.except_bots.join(", ");
        match (self.bots.join(", "), except.as_str()) {
            (bots, _) if bots.is_empty() => String::new(),
            (bots, "") => format!("for {bots}"),
            (bots, except) => format!("for {bots} but {except}"),
        }
    }

    /// Each pattern that is no word of its own and no purpose: names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.bots.iter().chain(&self.except_bots).map(String::as_str);
        all.filter(|text| ![VERIFIED, UNVERIFIED, "*"].contains(text) && !text.starts_with(PURPOSE))
    }

    pub(crate) fn check(&self) -> Result<(), RuleProblem> {
        if self.bots.is_empty() && !self.except_bots.is_empty() {
            return Err(RuleProblem::of("except_bots", "needs `bots`, of which these are left out"));
        }
        for (key, patterns) in [("bots", &self.bots), ("except_bots", &self.except_bots)] {
            if patterns.len() > BOT_PATTERNS_MAX {
                return Err(RuleProblem::of(key, format!("names {BOT_PATTERNS_MAX} crawlers at most")));
            }
            let purpose = |text: &&String| text.strip_prefix(PURPOSE).is_some_and(|it| BotPurpose::parse(it).is_none());
            if let Some(wrong) = patterns.iter().find(purpose) {
                let known = BotPurpose::ALL.map(BotPurpose::name).join(", ");
                return Err(RuleProblem::of(key, format!("`{wrong}` is no purpose (known: {known})")));
            }
            if patterns.iter().any(|pattern| pattern.trim().is_empty()) {
                return Err(RuleProblem::of(key, "has a name that is empty"));
            }
        }
        if let Some(word) = self.except_bots.iter().find(|text| *text == UNVERIFIED) {
            return Err(RuleProblem::of("except_bots", format!("`{word}`: only verified crawlers are left out")));
        }
        Ok(())
    }

    /// The rule, before these crawlers alone.
    pub(crate) fn around(&self, rule: BuiltRule) -> BuiltRule {
        match self.is_everybody() {
            true => rule,
            false => std::sync::Arc::new(BotRule { scope: self.clone(), rule }),
        }
    }
}

fn fits(pattern: &str, bot: &Bot) -> bool {
    match pattern {
        "*" => true,
        VERIFIED => bot.is_verified,
        UNVERIFIED => !bot.is_verified,
        _ => match pattern.strip_prefix(PURPOSE) {
            Some(purpose) => bot.purpose.is_some_and(|own| own.name() == purpose),
            None => {
                let lower = [pattern.to_ascii_lowercase()];
                let is_named = |name: &str| any_matches(&lower, &name.to_ascii_lowercase());
                is_named(&bot.name) || bot.product.as_deref().is_some_and(is_named)
            }
        },
    }
}

impl BotRule {
    fn is_before(&self, message: &Message) -> bool {
        message.sender.bot.as_ref().is_some_and(|bot| self.scope.means(bot))
    }
}

impl Rule for BotRule {
    fn judge<'a>(&'a self, card: &'a AgentCard, message: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        match self.is_before(message) {
            true => self.rule.judge(card, message),
            false => Box::pin(std::future::ready(Ok(()))),
        }
    }

    fn count(&self, card: &AgentCard, message: &Message) -> RuleVerdict {
        if self.is_before(message) { self.rule.count(card, message) } else { Ok(()) }
    }

    fn fixed_payment(&self) -> Option<String> {
        self.rule.fixed_payment()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(bots: &[&str], except: &[&str]) -> BotScope {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        BotScope { bots: owned(bots), except_bots: owned(except) }
    }

    fn bot(name: &str, product: &str, purpose: BotPurpose, is_verified: bool) -> Bot {
        Bot { name: name.to_owned(), product: Some(product.to_owned()), purpose: Some(purpose), is_verified }
    }

    #[test]
    fn crawlers_are_meant_by_word_name_and_purpose() {
        let verified = bot("bot.example", "ExampleBot", BotPurpose::Training, true);
        let named = bot("GPTBot", "GPTBot", BotPurpose::Training, false);
        for (pattern, is_verified, is_named) in [
            ("*", true, true),
            ("verified", true, false),
            ("unverified", false, true),
            ("purpose:training", true, true),
            ("purpose:search", false, false),
            ("gptbot", false, true),
            ("GPT*", false, true),
            ("bot.example", true, false),
            ("examplebot", true, false),
            ("example", false, false),
        ] {
            let scope = scope(&[pattern], &[]);
            assert_eq!((scope.means(&verified), scope.means(&named)), (is_verified, is_named), "{pattern}");
        }
    }

    #[test]
    fn who_only_says_so_gets_no_exception() {
        let scope = scope(&["*"], &["Googlebot", "purpose:search"]);
        assert!(scope.means(&bot("Googlebot", "Googlebot", BotPurpose::Search, false)));
        assert!(!scope.means(&bot("crawl.example", "Googlebot", BotPurpose::Search, true)));
        assert!(scope.means(&bot("crawl.example", "Other", BotPurpose::Archive, true)));
    }

    #[test]
    fn patterns_that_mean_nothing_are_told() {
        assert_eq!(scope(&["purpose:profit"], &[]).check().unwrap_err().key, Some("bots"));
        assert_eq!(scope(&[], &["Googlebot"]).check().unwrap_err().key, Some("except_bots"));
        assert_eq!(scope(&["*"], &["unverified"]).check().unwrap_err().key, Some("except_bots"));
        assert_eq!(scope(&[" "], &[]).check().unwrap_err().key, Some("bots"));
        let many = |count: usize| scope(&vec!["a"; count], &[]).check();
        assert!(many(BOT_PATTERNS_MAX).is_ok() && many(BOT_PATTERNS_MAX + 1).is_err());
    }
}
