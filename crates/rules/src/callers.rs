//! The rules `allow` and `deny` let callers pass or not, by country, network, subject and language.

use std::sync::Arc;

use forecourt_core::policy::{Objection, RefusalKind};
use forecourt_core::{Message, Sender};
use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::countries::{Country, CountryTable};
use crate::pattern::any_matches;
use crate::{BuiltRule, RuleContext, RuleProblem, RuleWords, refused_unless_valid, rule};

/// Lists of callers. A caller is meant who is in one of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CallerRule {
    /// Countries of network addresses, ISO 3166-1 codes such as `DE`. Needs `countries_file` in `[geo]`. Who is
    /// refused for its country alone is refused for legal reasons.
    pub countries: Vec<String>,
    /// Networks, such as `203.0.113.0/24`.
    #[schemars(with = "Vec<String>")]
    pub networks: Vec<IpNet>,
    /// Verified subjects or addresses; a trailing `*` matches any ending, `*` everybody.
    pub subjects: Vec<String>,
    /// Languages that messages ask to be answered in, such as `de`, which `de-AT` is one of.
    pub languages: Vec<String>,
    /// What happens to a caller whose country or language is not known, where only these are listed. Default: the
    /// rule does not mean it, so that `deny` lets it pass and `allow` does not.
    pub unknown: Option<UnknownCaller>,
}

/// What happens to a caller of whom nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnknownCaller {
    /// It passes.
    Allow,
    /// It is refused.
    Deny,
}

/// Whether a caller is in the lists of a rule; `Unknown` when its country or language is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListMode {
    Yes,
    No,
    Unknown,
}

/// The lists of a rule, parsed, with the table of countries.
struct CallerLists {
    settings: CallerRule,
    countries: Vec<Country>,
    table: Option<Arc<CountryTable>>,
}

impl CallerRule {
    /// Who is listed.
    pub(crate) fn summary(&self) -> String {
        let networks = self.networks.iter().map(ToString::to_string);
        let lists = [&self.countries, &self.subjects, &self.languages].into_iter().flatten().cloned();
        lists.chain(networks).collect::<Vec<_>>().join(", ")
    }

    /// Whether all of its lists are empty.
    pub fn lists_nobody(&self) -> bool {
        [self.countries.len(), self.networks.len(), self.subjects.len(), self.languages.len()] == [0; 4]
    }

    /// Lets nobody pass but who is listed.
    pub(crate) fn build_allow(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        let lists = self.lists(context)?;
        let unknown = self.unknown.unwrap_or(UnknownCaller::Deny);
        let (forbidden, legal) = refusals(words, context)?;
        let refusal = if lists.names_countries_alone() { legal } else { forbidden };
        Ok(rule(move |_, message| match (lists.meant(message), unknown) {
            (ListMode::Yes, _) | (ListMode::Unknown, UnknownCaller::Allow) => Ok(()),
            _ => Err(Objection::from(refusal.clone())),
        }))
    }

    /// Lets nobody pass who is listed.
    pub(crate) fn build_deny(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        let lists = self.lists(context)?;
        let unknown = self.unknown.unwrap_or(UnknownCaller::Allow);
        let (forbidden, legal) = refusals(words, context)?;
        Ok(rule(move |_, message| {
            let is_meant =
                |listed| listed == ListMode::Yes || (listed == ListMode::Unknown && unknown == UnknownCaller::Deny);
            // By name first: only who is refused for its country alone is told legal reasons.
            if is_meant(lists.by_name(message)) {
                return Err(Objection::from(forbidden.clone()));
            }
            match is_meant(lists.by_country(&message.sender)) {
                true => Err(legal.clone().into()),
                false => Ok(()),
            }
        }))
    }

    fn lists(&self, context: &RuleContext<'_>) -> Result<CallerLists, RuleProblem> {
        if self.lists_nobody() {
            let keys = "needs one of `countries`, `networks`, `subjects` and `languages`";
            return Err(RuleProblem::whole(keys));
        }
        let read = |code: &String| Country::parse(code).ok_or_else(|| code.clone());
        let countries =
            self.countries.iter().map(read).collect::<Result<Vec<_>, _>>().map_err(|code| {
                RuleProblem::of("countries", format!("`{code}` is not a country code of two letters"))
            })?;
        if let Some(tag) = self.languages.iter().find(|tag| forecourt_core::Language::parse(tag).is_none()) {
            return Err(RuleProblem::of("languages", format!("`{tag}` is not a BCP 47 language tag")));
        }
        if !countries.is_empty() && context.countries.is_none() {
            return Err(RuleProblem::of("countries", "needs `countries_file` in [geo] of forecourt.toml"));
        }
        Ok(CallerLists { settings: self.clone(), countries, table: context.countries.clone() })
    }
}

impl CallerLists {
    fn names_countries_alone(&self) -> bool {
        let CallerRule { networks, subjects, languages, .. } = &self.settings;
        networks.is_empty() && subjects.is_empty() && languages.is_empty()
    }

    fn meant(&self, message: &Message) -> ListMode {
        match (self.by_name(message), self.by_country(&message.sender)) {
            (ListMode::Yes, _) | (_, ListMode::Yes) => ListMode::Yes,
            (ListMode::Unknown, _) | (_, ListMode::Unknown) => ListMode::Unknown,
            _ => ListMode::No,
        }
    }

    /// By everything but the country. Only what was verified counts, so that nobody is shut out, or let in, by a
    /// claim.
    fn by_name(&self, message: &Message) -> ListMode {
        let CallerRule { networks, subjects, languages, .. } = &self.settings;
        let sender = &message.sender;
        // In its canonical form: an IPv4 address written as an IPv6 one must not walk around a listed network.
        let near = sender.peer.is_some_and(|peer| networks.iter().any(|net| net.contains(&peer.to_canonical())));
        // Claimed addresses are left out: anybody can claim one that is listed.
        let verified = sender.identities.iter().map(|e| e.subject.as_str());
        let mut named = verified.chain(sender.verified.then_some(sender.address.as_str()));
        if near || subjects.iter().any(|p| p == "*") || named.any(|subject| any_matches(subjects, subject)) {
            return ListMode::Yes;
        }
        match &message.language {
            _ if languages.is_empty() => ListMode::No,
            None => ListMode::Unknown,
            Some(language) => {
                let is_listed = |range: &str| languages.iter().any(|tag| tag.eq_ignore_ascii_case(range));
                if language.ranges().any(is_listed) { ListMode::Yes } else { ListMode::No }
            }
        }
    }

    fn by_country(&self, sender: &Sender) -> ListMode {
        let Some(table) = self.table.as_ref().filter(|_| !self.countries.is_empty()) else { return ListMode::No };
        match sender.peer.and_then(|peer| table.country(peer)) {
            None => ListMode::Unknown,
            Some(country) if self.countries.contains(&country) => ListMode::Yes,
            Some(_) => ListMode::No,
        }
    }
}

/// What those are told who do not pass: for who they are, and for where.
fn refusals(
    words: &RuleWords,
    context: &RuleContext<'_>,
) -> Result<(forecourt_core::PolicyPart, forecourt_core::PolicyPart), RuleProblem> {
    let forbidden = words.refusal(RefusalKind::Forbidden, "This agent does not answer you.");
    let own = "This agent may not answer callers of your country.";
    let legal = words.refusal(RefusalKind::UnavailableForLegalReasons, own);
    refused_unless_valid(&forbidden, context.site)?;
    Ok((forbidden, legal))
}
