//! What the settings of contracts that are made while serving must keep. AGTP-API 8.7, 10.1.7; base 10.

use forecourt_contract::limits::STEPS_MAX;
use forecourt_settings::{Problem, Problems, Section};
use forecourt_synthesis::settings::{RcnsSettings, SynthesisSettings};

use super::AgtpSettings;

/// The tiers that an agent can be vouched for. Base 6.5.
const TIERS: std::ops::RangeInclusive<u8> = 1..=3;

impl AgtpSettings {
    /// Takes the table of synthesis from where it stands, and says what is wrong with it and with that of
    /// RCNS, each with its line.
    pub(super) fn settle_negotiation(&mut self, section: &Section, problems: &mut Problems) {
        let mut policies = section.clone().take_or_empty("policies");
        let rcns = policies.clone().take_or_empty("rcns");
        problems.extend(rcns_problem(&self.policies.rcns, &rcns));
        let depth = self.policies.max_synthesis_depth.get();
        if usize::try_from(depth).is_ok_and(|depth| depth > STEPS_MAX) {
            let message = format!("`max_synthesis_depth` may be at most {STEPS_MAX}");
            problems.push(policies.problem(Some("max_synthesis_depth"), message));
        }
        let mut place = section.clone().take_or_empty("synthesis");
        if let Some(synthesis) = self.policies.synthesis.take() {
            if section.has("synthesis") {
                let message = "[agtp.policies.synthesis] and [agtp.synthesis] are the same table: write one of them";
                problems.push(policies.problem(Some("synthesis"), message));
            }
            self.synthesis = synthesis;
            place = policies.take_or_empty("synthesis");
        }
        problems.extend(synthesis_problems(&self.synthesis, &place));
    }

    /// Whether endpoints are made for calls of what is not there. AGTP-API 5.8.6, 10.1.2.
    pub(crate) fn rcns_enabled(&self) -> bool {
        self.policies.synthesis_enabled && self.policies.rcns.enabled
    }

    /// Whether only agents whose name is proven may negotiate by calling. Base 9.1.
    pub(crate) fn negotiates_with_proven_only(&self) -> bool {
        let asked = self.policies.rcns.require_verified_identity.or(self.require_verified_identity);
        asked.unwrap_or(!self.listen.ip().is_loopback())
    }

    /// What the operator should know, where one switch has no effect without the other.
    pub(super) fn negotiation_notice(&self) -> Option<String> {
        let is_idle = self.policies.rcns.enabled && !self.policies.synthesis_enabled;
        let message = "[agtp.policies.rcns] enabled has no effect while synthesis_enabled in [agtp.policies] is false";
        is_idle.then(|| message.to_owned())
    }
}

fn rcns_problem(rcns: &RcnsSettings, section: &Section) -> Option<Problem> {
    let is_tier = TIERS.contains(&rcns.min_trust_tier);
    (!is_tier).then(|| section.problem(Some("min_trust_tier"), "`min_trust_tier` must be 1 (the strictest), 2 or 3"))
}

fn synthesis_problems(synthesis: &SynthesisSettings, section: &Section) -> Vec<Problem> {
    let mut problems = Vec::new();
    let sources = &synthesis.policies;
    let is_repeated = sources.iter().enumerate().any(|(at, source)| sources[..at].contains(source));
    if sources.is_empty() || is_repeated {
        let message = "`policies` must name each of `recipes` and `schemas` at most once, and one of them";
        problems.push(section.problem(Some("policies"), message));
    }
    let (usual, most) = (synthesis.persistent_default_seconds.get(), synthesis.persistent_max_seconds);
    if most > 0 && usual > most {
        let message = "persistent contracts last longer by default than they may: raise `persistent_max_seconds`";
        problems.push(section.problem(Some("persistent_default_seconds"), message));
    }
    if synthesis.contracts_per_agent_max > synthesis.contracts_max {
        let message = "`contracts_per_agent_max` is more than `contracts_max` allows for all agents together";
        problems.push(section.problem(Some("contracts_per_agent_max"), message));
    }
    problems
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use forecourt_synthesis::settings::{OnPolicyChange, PlanSource, RcnsMode};

    use super::*;

    fn read(text: &str) -> Result<AgtpSettings, Problems> {
        AgtpSettings::read(&Section::parse(Path::new("forecourt.toml"), text, &|_: &str| None).unwrap())
    }

    #[test]
    fn s10_1_7_it_is_off_and_strict_until_the_operator_says_otherwise() {
        let AgtpSettings { policies, synthesis, .. } = read("").unwrap();
        let rcns = &policies.rcns;
        assert!(!rcns.enabled && !policies.synthesis_enabled);
        assert_eq!((rcns.mode, rcns.on_policy_change), (RcnsMode::ConfirmFirst, OnPolicyChange::Grandfather));
        assert_eq!((rcns.min_trust_tier, rcns.rate_limit_per_minute.get()), (1, 10));
        assert_eq!((policies.max_synthesis_depth.get(), synthesis.policies), (10, vec![PlanSource::Recipes]));
    }

    #[test]
    fn base_10_the_tables_of_the_reference_server_are_read() {
        let text = "[policies]\nsynthesis_enabled = true\n[policies.rcns]\nenabled = true\nmode = \"optimistic\"\n\
            max_negotiations_per_minute = 3\ncontract_ttl_seconds = \"2h\"\n[policies.synthesis]\n\
            policies = [\"recipes\", \"schemas\"]\nsession_duration = \"24h\"\npersistent_default_duration = \"7d\"\n\
            persistent_max_duration = 0\nmax_evaluation_duration = \"10m\"";
        let AgtpSettings { policies, synthesis, .. } = read(text).unwrap();
        assert_eq!((policies.rcns.rate_limit_per_minute.get(), policies.rcns.contract_ttl_seconds.get()), (3, 7_200));
        assert_eq!((synthesis.session_duration_seconds.get(), synthesis.persistent_max_seconds), (86_400, 0));
        assert_eq!((synthesis.max_evaluation_seconds.get(), synthesis.policies.len()), (600, 2));
        assert_eq!(policies.synthesis, None);
        let direct = read("[synthesis]\nsession_duration_seconds = 60").unwrap();
        assert_eq!(direct.synthesis.session_duration_seconds.get(), 60);
    }

    #[test]
    fn each_mistake_is_named_with_its_line() {
        for (text, line, words) in [
            ("[policies]\n\n[policies.rcns]\nmin_trust_tier = 4", 4, "1 (the strictest), 2 or 3"),
            ("[policies.rcns]\nmin_trust_tier = 0", 2, "`min_trust_tier`"),
            ("[policies.rcns]\nrate_limit_per_minute = 0", 2, "rate_limit_per_minute"),
            ("[policies.rcns]\nmode = \"confirm\"", 2, "confirm-first"),
            ("[policies.rcns]\nenable = true", 2, "enabled"),
            ("[policies]\nmax_synthesis_depth = 65", 2, "at most 64"),
            ("[synthesis]\npolicies = []", 2, "one of them"),
            ("[synthesis]\npolicies = [\"recipes\", \"recipes\"]", 2, "at most once"),
            ("[synthesis]\nsession_duration = \"a day\"", 2, "is no duration"),
            ("[synthesis]\nsession_duration = 0", 2, "at least 1"),
            ("[policies.synthesis]\npersistent_default_seconds = 7\npersistent_max_seconds = 6", 2, "by default"),
            ("[synthesis]\ncontracts_max = 10\ncontracts_per_agent_max = 11", 3, "for all agents together"),
            ("[policies.synthesis]\n[synthesis]", 1, "the same table"),
        ] {
            let problems = read(text).expect_err(text).to_string();
            assert!(
                problems.contains(words) && problems.contains(&format!("forecourt.toml:{line}")),
                "{text}: {problems}"
            );
        }
        assert!(read("[policies]\nmax_synthesis_depth = 64").is_ok());
    }

    #[test]
    fn a_switch_without_the_other_is_told() {
        let notices = |text: &str| read(text).unwrap().notices();
        assert!(notices("[policies.rcns]\nenabled = true")[0].contains("synthesis_enabled"));
        assert!(notices("[policies]\nsynthesis_enabled = true\n[policies.rcns]\nenabled = true").is_empty());
    }
}
