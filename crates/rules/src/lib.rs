//! Rules that an operator puts before agents, in the order in which they are written.
//!
//! Each kind has a file: its settings, and the rule that they become. A rule says what it wants of a message, and
//! never whether that was done: the host keeps that.

mod bots;
mod callers;
mod consent;
mod countries;
mod credit;
mod doubts;
pub mod guard;
mod guardrail;
mod identity;
mod kinds;
mod legal;
mod limit;
pub mod limits;
mod maintenance;
mod overload;
mod pattern;
mod payment;
mod services;
mod settings;
mod span;
mod words;

use std::sync::Arc;

use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::policy::{Objection, OfferBuilder, Requirement};
use forecourt_core::{AgentCard, Clock, Handle, Message, PolicyPart, Site};
use futures::future::BoxFuture;

pub use bots::BotScope;
pub use callers::{CallerRule, UnknownCaller};
pub use consent::ConsentRule;
pub use countries::{Country, CountryTable, CountryTableError};
pub use credit::{AutoDeduct, CreditSettings, DeductionPeriod};
pub use doubts::{PossibleProofs, doubts};
pub use guardrail::{GuardModel, GuardServices, GuardWebhook, GuardedSide, GuardrailRule, JudgeBuilder, OnFailure};
pub use identity::{ChallengeSettings, IdentityRule};
pub use kinds::RuleKind;
pub use legal::LegalRule;
pub use limit::{LimitBy, LimitRule};
pub use maintenance::{Day, MaintenanceRule, WeeklyWindow};
pub use overload::OverloadRule;
pub use payment::{PaymentRule, PerSettings};
pub use services::{Quota, RuleCounters, RuleServices};
pub use settings::{HostRuleSettings, HubRuleSettings, RuleSettings, ServerRuleSettings};
pub use span::Span;
pub use words::{RuleWords, TranslatedWords};

use self::guard::Guardrail;
use self::kinds::{BuiltKind, RuleProduct};
use self::limits::RULES_MAX;

/// A rule, ready to be asked.
pub type BuiltRule = Arc<dyn Rule>;

/// What rules are built from beside their settings.
#[derive(Clone)]
pub struct RuleContext<'a> {
    /// What the outside calls this place: URLs of refusals are bound to it.
    pub site: &'a Site,
    /// The agent that they stand before.
    pub agent: &'a Handle,
    /// Tells what these rules count from what others do: rules of one scope and position share their counts.
    pub scope: String,
    /// The host that they will stand in.
    pub services: RuleServices,
    /// Which country an address is in, when the operator supplied a table.
    pub countries: Option<Arc<CountryTable>>,
    /// Who turns shorthands of offers into ways to pay.
    pub offers: &'a [Arc<dyn OfferBuilder>],
    /// Where people sign in who ask this agent, if they can.
    pub sign_in: Option<String>,
    /// The time, for windows.
    pub clock: Arc<dyn Clock>,
    /// What guardrails are built from.
    pub guards: GuardServices,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProblem {
    /// Which rule of the list, from 0.
    pub index: usize,
    /// Its key that is wrong; the rule as a whole when absent.
    pub key: Option<&'static str>,
    /// What is wrong with it.
    pub message: String,
}

impl RuleProblem {
    fn of(key: &'static str, message: impl Into<String>) -> Self {
        Self { index: 0, key: Some(key), message: message.into() }
    }

    fn whole(message: impl Into<String>) -> Self {
        Self { index: 0, key: None, message: message.into() }
    }
}

impl std::fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.key {
            Some(key) => write!(f, "`{key}`: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Builds the rules of the gate, in their order. Fails with everything that is wrong: a URL that is not on the
/// canonical host, a challenge that no header can hold, countries without a table, more than [`RULES_MAX`]. Of
/// guardrails only the words are looked at: [`guardrails`] builds them.
pub fn rules(settings: &[RuleSettings], context: &RuleContext<'_>) -> Result<Vec<BuiltRule>, Vec<RuleProblem>> {
    let (mut built, mut problems) = (Vec::with_capacity(settings.len()), Vec::new());
    for (index, one) in settings.iter().enumerate() {
        if index == RULES_MAX {
            let text = format!("{RULES_MAX} rules stand before an agent at most");
            problems.push(RuleProblem { index, ..RuleProblem::whole(text) });
            break;
        }
        let made = one
            .words
            .check()
            .and_then(|()| one.scope.check())
            .and_then(|()| build(index, one, RuleProduct::Gate, context));
        match made {
            Ok(Some(BuiltKind::Gate(rule))) => built.push(rule),
            Ok(_) => {}
            Err(problem) => problems.push(RuleProblem { index, ..problem }),
        }
    }
    if problems.is_empty() { Ok(built) } else { Err(problems) }
}

/// Builds the guardrails among rules, in their order: what they judge is judged where messages enter and replies
/// leave. Fails with everything that is wrong with any of them.
pub fn guardrails(
    settings: &[RuleSettings],
    context: &RuleContext<'_>,
) -> Result<Vec<Arc<Guardrail>>, Vec<RuleProblem>> {
    let (mut built, mut problems) = (Vec::new(), Vec::new());
    for (index, one) in settings.iter().enumerate() {
        match build(index, one, RuleProduct::Guardrail, context) {
            Ok(Some(BuiltKind::Guardrail(guardrail))) => built.push(guardrail),
            Ok(_) => {}
            Err(problem) => problems.push(RuleProblem { index, ..problem }),
        }
    }
    if problems.is_empty() { Ok(built) } else { Err(problems) }
}

/// Builds the rule at `index` if it makes what is wanted.
fn build(
    index: usize,
    one: &RuleSettings,
    wanted: RuleProduct,
    context: &RuleContext<'_>,
) -> Result<Option<BuiltKind>, RuleProblem> {
    if one.kind.product() != wanted {
        return Ok(None);
    }
    // By its place among all rules of the list: guardrails, which are built apart, take theirs, too.
    let context = RuleContext { scope: format!("{}#{index}", context.scope), ..context.clone() };
    match one.crawlers_kind().build(&one.words, &context)? {
        BuiltKind::Gate(rule) => Ok(Some(BuiltKind::Gate(one.scope.around(rule)))),
        BuiltKind::Guardrail(_) if !one.scope.is_everybody() => {
            Err(RuleProblem::of("bots", "a guardrail judges what everybody says"))
        }
        guardrail => Ok(Some(guardrail)),
    }
}

/// A rule that is a function of the agent and the message, and never waits.
struct FunctionRule<F>(F);

impl<F: Fn(&AgentCard, &Message) -> RuleVerdict + Send + Sync + 'static> Rule for FunctionRule<F> {
    fn judge<'a>(&'a self, card: &'a AgentCard, message: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        Box::pin(std::future::ready(self.0(card, message)))
    }
}

/// A rule that requires one payment of everybody.
struct FixedPayment(Requirement);

impl Rule for FixedPayment {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        Box::pin(std::future::ready(Err(Objection::from(self.0.clone()))))
    }

    fn fixed_payment(&self) -> Option<String> {
        Some(self.0.rule.clone())
    }
}

fn rule(judge: impl Fn(&AgentCard, &Message) -> RuleVerdict + Send + Sync + 'static) -> BuiltRule {
    Arc::new(FunctionRule(judge))
}

/// Fails when a refusal would be malformed: at its `url`, or at what its kind has.
fn refused_unless_valid(refusal: &PolicyPart, site: &Site) -> Result<(), RuleProblem> {
    use forecourt_core::policy::PolicyPartError;
    refusal.validate(site.canonical_host()).map_err(|fault| match &fault {
        PolicyPartError::ForeignUrl("url") => RuleProblem::of("url", fault.to_string()),
        PolicyPartError::Wrong("auth_challenges", must) => RuleProblem::of("challenges", format!("must be {must}")),
        _ => RuleProblem::whole(fault.to_string()),
    })
}

/// Fails when the refusal that a requirement becomes would be malformed for what the operator wrote. Its URL is
/// the host's own page, so that the rule has none.
fn requirement_unless_wrong(requirement: &Requirement, words: &RuleWords) -> Result<(), RuleProblem> {
    if words.url.is_some() {
        return Err(RuleProblem::of("url", "this host has a page of its own for it"));
    }
    match requirement.message.trim().is_empty() {
        true => Err(RuleProblem::of("message", "must not be empty")),
        false => Ok(()),
    }
}
