//! Agents by what they are good at. AGTP-API 8.10; base 3.1.

use forecourt_identity::genesis::TrustTier;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::relevance::SearchWords;
use crate::inventory::{Audience, Inventory, LocalAgent};
use crate::limits::CANDIDATES_DEFAULT;
use crate::reply::{Problem, Reply};

/// What must hold of every candidate.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Filter {
    name: Option<String>,
    skill: Option<String>,
    owner_id: Option<String>,
    governance_zone: Option<String>,
    verification_path: Option<String>,
    /// At least as well vouched for.
    trust_tier: Option<TrustTier>,
}

/// The agents that fit, the best first; of those that fit equally well, by name.
pub(super) fn reply(inventory: &Inventory, audience: Audience, input: &Map<String, Value>) -> Result<Reply, Problem> {
    let wanted = SearchWords::of(input.get("criteria").unwrap_or(&Value::Null));
    // The schema of the surface was kept, so that there is nothing to say when these can't be read.
    let filter: Filter = input.get("filter").and_then(|filter| Filter::deserialize(filter).ok()).unwrap_or_default();
    let count = input.get("max_results").and_then(Value::as_u64).map_or(CANDIDATES_DEFAULT, |count| count as usize);
    // As it is at hand: a list decides nothing, and whoever calls an agent has its state looked up.
    let in_service = inventory.residents(audience).filter(|resident| inventory.answers(resident));
    let fitting = in_service.filter(|resident| filter.admits(*resident));
    let weighed = fitting.map(|resident| (wanted.relevance(resident.card), resident));
    let mut found: Vec<_> = weighed.filter(|(relevance, _)| *relevance > 0.0).collect();
    found
        .sort_by(|(a, first), (b, second)| b.total_cmp(a).then_with(|| first.identity.name.cmp(&second.identity.name)));
    let candidate_count = found.len();
    let candidates: Vec<_> =
        found.into_iter().take(count).map(|(relevance, resident)| resident.candidate(relevance)).collect();
    Ok(Reply::ok(json!({"candidates": candidates, "candidate_count": candidate_count})))
}

impl Filter {
    fn admits(&self, LocalAgent { identity, card }: LocalAgent<'_>) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found.is_some_and(|found| found.eq_ignore_ascii_case(wanted)))
        };
        let has_skill = |wanted: &String| card.skills.iter().any(|skill| skill.id == *wanted || skill.name == *wanted);
        is(&self.name, Some(&identity.name))
            && is(&self.owner_id, identity.posture.owner_id.as_deref())
            && is(&self.governance_zone, identity.governance_zone.as_deref())
            && is(&self.verification_path, Some(&identity.posture.verification_path))
            && self.trust_tier.is_none_or(|tier| identity.posture.is_at_least(tier))
            && self.skill.as_ref().is_none_or(has_skill)
    }
}
