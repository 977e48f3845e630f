//! Alerts that are firing, on which node, by which rules; and silencing them for a time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::store::Span;
use forecourt_core::{Error, Timestamp};
use forecourt_host::Host;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActionOutcome, Why};
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};
use crate::house::OperatedHouse;
use crate::limits::{SILENCE_DAYS_MAX, SILENCES_READ_MAX};
use crate::report::{self, AlertRuleInfo, AlertRules, FiringAlert};
use crate::sessions::OWNER;

const SILENCES: &str = "alert-silences";
const HOUR: i64 = 3_600;

/// The alerts of a deployment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Alerts {
    /// What is firing on any node, what hurries first, and then what began last.
    pub firing: Vec<NodeAlert>,
    /// The rules that this node goes by.
    pub rules: Vec<RuleState>,
}

/// An alert of a node.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NodeAlert {
    /// Where it is firing.
    pub node: String,
    /// Until when it is silenced; none where it is not.
    #[schemars(with = "Option<String>")]
    pub silenced_until: Option<Timestamp>,
    /// The alert.
    #[serde(flatten)]
    pub alert: FiringAlert,
}

/// A rule, and how it stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleState {
    /// The rule.
    #[serde(flatten)]
    pub rule: AlertRuleInfo,
    /// Alerts of it that are firing on all nodes.
    pub firing: u64,
    /// Until when it is silenced.
    #[schemars(with = "Option<String>")]
    pub silenced_until: Option<Timestamp>,
    /// Who silenced it.
    pub silenced_by: Option<String>,
    /// Why.
    pub silence_reason: Option<String>,
}

/// For how long, and why.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SilenceOrder {
    /// A moment such as `2026-11-30T12:00:00Z`, or a time from now such as `8h` or `7d`; at most 30 days from now.
    pub until: String,
    /// The reason, which is kept with the action.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A rule that is silenced, as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Silence {
    rule: String,
    until: Timestamp,
    by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(crate) async fn list(ask: Ask) -> Result<Alerts, ApiError> {
    let silences = silences(&ask.house.host).await?;
    let firing = firing(&ask.house.host, &silences).await?;
    let rules = rules(&ask.house).into_iter().map(|rule| {
        let silence = silences.get(&rule.rule);
        RuleState {
            firing: firing.iter().filter(|one| one.alert.rule == rule.rule).count() as u64,
            silenced_until: silence.map(|silence| silence.until),
            silenced_by: silence.map(|silence| silence.by.clone()),
            silence_reason: silence.and_then(|silence| silence.reason.clone()),
            rule,
        }
    });
    Ok(Alerts { rules: rules.collect(), firing })
}

fn rules(house: &OperatedHouse) -> Vec<AlertRuleInfo> {
    house.services.get::<AlertRules>().map(|rules| rules.0.clone()).unwrap_or_default()
}

/// What is firing on any node.
async fn firing(host: &Host, silences: &BTreeMap<String, Silence>) -> Result<Vec<NodeAlert>, ApiError> {
    let of_node = |report: report::NodeReport| {
        report.alerts.into_iter().map(move |alert| NodeAlert {
            silenced_until: silences.get(&alert.rule).map(|silence| silence.until),
            node: report.node.clone(),
            alert,
        })
    };
    let mut all: Vec<NodeAlert> = report::read(host).await?.into_iter().flat_map(of_node).collect();
    all.sort_by_key(|one| (one.silenced_until.is_some(), !one.alert.is_critical(), std::cmp::Reverse(one.alert.since)));
    Ok(all)
}

/// What is firing and not silenced: for the head of each page. Where the store does not say, nothing is told here: the
/// page itself says that it is away.
pub(crate) async fn heard(house: &OperatedHouse) -> Vec<NodeAlert> {
    let Ok(silences) = silences(&house.host).await else { return Vec::new() };
    let firing = firing(&house.host, &silences).await.unwrap_or_default();
    firing.into_iter().filter(|one| one.silenced_until.is_none()).collect()
}

/// The rules that are silenced at the moment.
///
/// # Errors
/// The store does not say.
pub fn silenced(host: &Host) -> BoxFuture<'_, Result<BTreeSet<String>, Error>> {
    Box::pin(async move { Ok(silences(host).await?.into_keys().collect()) })
}

/// The rules that are silenced now.
async fn silences(host: &Host) -> Result<BTreeMap<String, Silence>, Error> {
    let now = host.clock().now();
    let entries = host.ledger(OWNER).entries(SILENCES, Span::Before(u64::MAX), SILENCES_READ_MAX).await?;
    let mut all = BTreeMap::new();
    // The last word about each rule counts.
    for (_, entry) in entries {
        if let Ok(silence) = serde_json::from_value::<Silence>(entry.body) {
            all.entry(silence.rule.clone()).or_insert(silence);
        }
    }
    all.retain(|_, silence| silence.until > now);
    Ok(all)
}

pub(crate) async fn silence(ask: Command) -> Result<ActionOutcome, ApiError> {
    let SilenceOrder { until, reason: why } = ask.body()?;
    let (rule, why, now) = (known(&ask).await?, reason(why.as_deref())?, ask.now());
    let until = moment(&until, now)?;
    let silence = Silence { rule: rule.clone(), until, by: ask.actor.name.clone(), reason: why.clone() };
    keep(&ask.house.host, &silence).await?;
    account::note(&ask.house.host, &ask.actor.name, "silence", format!("alert {rule}"), why.as_deref(), Came::Done)
        .await;
    let until = until.strftime("%Y-%m-%d %H:%M UTC");
    Ok(ActionOutcome::new(Came::Done, format!("{rule} is silenced until {until}")))
}

pub(crate) async fn unsilence(ask: Command) -> Result<ActionOutcome, ApiError> {
    let why = reason(ask.body::<Why>()?.reason.as_deref())?;
    let (rule, now, host) = (known(&ask).await?, ask.now(), &ask.house.host);
    let (came, words) = match silences(host).await?.remove(&rule) {
        None => (Came::Already, format!("{rule} is not silenced")),
        Some(before) => {
            keep(host, &Silence { until: now, by: ask.actor.name.clone(), ..before }).await?;
            (Came::Done, format!("{rule} is heard again"))
        }
    };
    account::note(host, &ask.actor.name, "unsilence", format!("alert {rule}"), why.as_deref(), came).await;
    Ok(ActionOutcome::new(came, words))
}

/// Keeps a word about a rule for as long as any silence lasts: were it gone before one that it takes the place of, that
/// one would count again.
async fn keep(host: &Host, silence: &Silence) -> Result<(), ApiError> {
    let kept = after(host.clock().now(), Duration::from_secs(u64::from(SILENCE_DAYS_MAX) * 24 * 60 * 60));
    let body = serde_json::to_value(silence).map_err(|_| ApiError::internal("a silence can't be written"))?;
    host.ledger(OWNER).append(SILENCES, body, Some(kept), None).await?;
    Ok(())
}

/// The rule of a path: one of this node, or one that is firing on another.
async fn known(ask: &Ask) -> Result<String, ApiError> {
    let name = ask.named("rule");
    let is_rule = rules(&ask.house).iter().any(|rule| rule.rule == name);
    let is_firing = async || {
        let firing = firing(&ask.house.host, &BTreeMap::new()).await;
        firing.is_ok_and(|firing| firing.iter().any(|one| one.alert.rule == name))
    };
    match is_rule || is_firing().await {
        true => Ok(name.to_owned()),
        false => Err(ApiError::not_found("there is no such alert").hint("`forecourt admin alerts` lists the rules")),
    }
}

/// A moment to come, or a time from now.
fn moment(text: &str, now: Timestamp) -> Result<Timestamp, ApiError> {
    let wrong = || {
        let words = "`until` is a moment such as 2026-11-30T12:00:00Z, or a time from now such as 8h or 7d";
        ApiError::invalid(format!("{words}, and at most {SILENCE_DAYS_MAX} days from now"))
    };
    let later = |hours: i64| {
        let seconds = hours.checked_mul(HOUR)?;
        now.checked_add(jiff::SignedDuration::from_secs(seconds)).ok()
    };
    let span =
        |unit, hours: i64| text.strip_suffix(unit)?.parse().ok().and_then(|count: u32| later(i64::from(count) * hours));
    let until = text.parse().ok().or_else(|| span('h', 1)).or_else(|| span('d', 24)).ok_or_else(wrong)?;
    let latest = later(i64::from(SILENCE_DAYS_MAX) * 24).ok_or_else(wrong)?;
    if until > now && until <= latest { Ok(until) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_ends_within_thirty_days_and_not_before_now() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let of = |text: &str| moment(text, now).map(|until| until.to_string()).unwrap_or_default();
        assert_eq!(of("8h"), "2026-11-30T20:00:00Z");
        assert_eq!(of("30d"), "2026-12-30T12:00:00Z");
        assert_eq!(of("2026-12-01T00:00:00Z"), "2026-12-01T00:00:00Z");
        for odd in ["31d", "721h", "0h", "-1h", "8", "", "2026-11-30T12:00:00Z", "2020-01-01T00:00:00Z", "99999999999d"]
        {
            assert_eq!(of(odd), "", "{odd}");
        }
    }
}
