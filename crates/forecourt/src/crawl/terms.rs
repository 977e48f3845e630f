//! What the rules mean for a crawler at a path. Everything that crawlers are told comes from here, so that it can't say
//! what the rules do not do.

use std::sync::OnceLock;

use forecourt_core::{Bot, BotPurpose, Glob, Handle};
use forecourt_identity::bots::KnownBots;
use forecourt_payments::crawl::Dollars;
use forecourt_rules::{BotScope, HostRuleSettings, RuleKind, RuleSettings};

use super::limits::ROBOTS_GROUPS_MAX;

/// What rules say to crawlers, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct CrawlTerms {
    terms: Vec<CrawlTerm>,
    known: KnownBots,
    /// The groups of `robots.txt`, once somebody asked for them.
    groups: OnceLock<RobotsGroups>,
}

/// What any crawler may not read, and the groups of those of which other things hold.
type RobotsGroups = (Vec<String>, Vec<RobotsGroup>);

/// What one rule says.
#[derive(Debug, Clone)]
struct CrawlTerm {
    scope: BotScope,
    covers: TermScope,
    verdict: TermVerdict,
}

/// What a rule stands before.
#[derive(Debug, Clone)]
enum TermScope {
    /// Pages, by their paths.
    Paths(Vec<Glob>),
    /// Answers of these agents; of all but the second ones when there are none.
    Agents(Vec<Handle>, Vec<Handle>),
}

/// A group of `robots.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RobotsGroup {
    /// Whom it is for.
    pub(crate) products: Vec<String>,
    /// What they may not read, as patterns of `robots.txt`.
    pub(crate) disallowed: Vec<String>,
}

/// What becomes of a crawler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TermVerdict {
    /// It may read.
    Free,
    /// It pays; so much, where that is known in dollars.
    Priced(Option<Dollars>),
    /// It is refused.
    Refused,
}

/// A place that a crawler may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// A page, by its path.
    Page(&'a str),
    /// Answers of an agent.
    Answers(&'a Handle),
}

impl CrawlTerms {
    /// What the rules of a host and those of its agents say.
    pub(crate) fn new<'a>(
        host: impl Iterator<Item = &'a HostRuleSettings>,
        agents: impl Iterator<Item = (&'a Handle, &'a RuleSettings)>,
        known: KnownBots,
    ) -> Self {
        let host = host.filter_map(|settings| {
            let covers = match settings.paths.is_empty() {
                true => TermScope::Agents(settings.agents.clone(), settings.except.clone()),
                false => TermScope::Paths(settings.paths.clone()),
            };
            CrawlTerm::of(&settings.rule, covers)
        });
        let agents = agents
            .filter_map(|(handle, rule)| CrawlTerm::of(rule, TermScope::Agents(vec![handle.clone()], Vec::new())));
        Self { terms: host.chain(agents).collect(), known, groups: OnceLock::new() }
    }

    /// Whether no rule says anything to crawlers.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// What becomes of a crawler at a place: the first rule that does not let it pass decides.
    pub(crate) fn verdict(&self, bot: &Bot, place: Place<'_>) -> TermVerdict {
        let term = self.terms.iter().find(|term| term.covers.has(place) && term.scope.means(bot));
        term.map_or(TermVerdict::Free, |term| term.verdict)
    }

    /// What becomes of any crawler that reads for a purpose, verified or not: the kinder of the two.
    pub(crate) fn for_purpose(&self, purpose: BotPurpose, place: Place<'_>) -> TermVerdict {
        let verdict = |is_verified| {
            let bot = Bot { name: String::new(), product: None, purpose: Some(purpose), is_verified };
            self.verdict(&bot, place)
        };
        kinder(verdict(true), verdict(false))
    }

    /// The patterns of all paths that rules stand before, each once, in their order.
    pub(crate) fn patterns(&self) -> Vec<&Glob> {
        let mut patterns: Vec<&Glob> = Vec::new();
        for term in &self.terms {
            if let TermScope::Paths(paths) = &term.covers {
                patterns.extend(paths.iter().filter(|path| !patterns.contains(path)).collect::<Vec<_>>());
            }
        }
        patterns
    }

    /// The groups of `robots.txt`: what any crawler may not read, and then those of which other things hold, several
    /// with the same in one group.
    pub(crate) fn groups(&self) -> &RobotsGroups {
        self.groups.get_or_init(|| self.find_groups())
    }

    fn find_groups(&self) -> RobotsGroups {
        let everybody = self.disallowed("", None);
        let mut groups: Vec<RobotsGroup> = Vec::new();
        for (name, purpose) in self.products() {
            let own = self.disallowed(&name, purpose);
            if own == everybody {
                continue;
            }
            if let Some(group) = groups.iter_mut().find(|group| group.disallowed == own) {
                group.products.push(name);
            } else if groups.len() < ROBOTS_GROUPS_MAX {
                groups.push(RobotsGroup { products: vec![name], disallowed: own });
            }
        }
        (everybody, groups)
    }

    /// The products that can have a group: those that are known, and those that rules name.
    pub(crate) fn products(&self) -> Vec<(String, Option<BotPurpose>)> {
        let mut products: Vec<_> = self.known.iter().map(|bot| (bot.name.clone(), bot.purpose)).collect();
        products.sort_by_key(|(name, _)| name.to_ascii_lowercase());
        for name in self.terms.iter().flat_map(|term| term.scope.names()) {
            let is_product = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            if is_product && !products.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                products.push((name.to_owned(), None));
            }
        }
        products
    }

    /// The patterns that a crawler may not read, whether it is verified or not.
    fn disallowed(&self, product: &str, purpose: Option<BotPurpose>) -> Vec<String> {
        let is_refused = |pattern: &Glob| self.is_refused_at(product, purpose, pattern);
        self.patterns().into_iter().filter(|pattern| is_refused(pattern)).map(robots_pattern).collect()
    }

    fn is_refused_at(&self, product: &str, purpose: Option<BotPurpose>, pattern: &Glob) -> bool {
        [true, false].into_iter().all(|is_verified| {
            let bot = Bot { name: product.to_owned(), product: Some(product.to_owned()), purpose, is_verified };
            // By the rules that have this very pattern, or one that has everything which it has.
            let has = |term: &&CrawlTerm| term.covers.has_pattern(pattern) && term.scope.means(&bot);
            self.terms.iter().find(has).is_some_and(|term| term.verdict == TermVerdict::Refused)
        })
    }
}

impl CrawlTerm {
    fn of(rule: &RuleSettings, covers: TermScope) -> Option<Self> {
        let scope = rule.scope.clone();
        let verdict = match &rule.kind {
            _ if scope.is_everybody() => return None,
            // One with lists refuses only those who are in them.
            RuleKind::Deny(deny) if deny.lists_nobody() => TermVerdict::Refused,
            RuleKind::RequirePayment(payment) => TermVerdict::Priced(Dollars::of_price(&payment.price)),
            _ => return None,
        };
        Some(Self { scope, covers, verdict })
    }
}

impl TermScope {
    fn has(&self, place: Place<'_>) -> bool {
        match (self, place) {
            (Self::Paths(paths), Place::Page(path)) => paths.iter().any(|pattern| pattern.matches(path)),
            (Self::Agents(agents, except), Place::Answers(agent)) => {
                (agents.is_empty() || agents.contains(agent)) && !except.contains(agent)
            }
            _ => false,
        }
    }

    /// Whether it has everything that a pattern means.
    fn has_pattern(&self, pattern: &Glob) -> bool {
        let Self::Paths(paths) = self else { return false };
        // A pattern that matches the other one as a text has what that has: its own `*` stands for those of the other.
        paths.iter().any(|own| own == pattern || own.matches(pattern.as_str()))
    }
}

fn kinder(one: TermVerdict, other: TermVerdict) -> TermVerdict {
    let rank = |verdict: TermVerdict| match verdict {
        TermVerdict::Free => 0,
        TermVerdict::Priced(_) => 1,
        TermVerdict::Refused => 2,
    };
    if rank(one) <= rank(other) { one } else { other }
}

/// A pattern as `robots.txt` has it, where one without an end means all that begins so. RFC 9309 2.2.3.
pub(crate) fn robots_pattern(pattern: &Glob) -> String {
    match pattern.as_str().strip_suffix('*') {
        Some("") => "/".to_owned(),
        Some(start) => start.to_owned(),
        None => format!("{}$", pattern.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(toml: &str) -> HostRuleSettings {
        toml::from_str(toml).unwrap()
    }

    fn terms(rules: &[HostRuleSettings]) -> CrawlTerms {
        CrawlTerms::new(rules.iter(), std::iter::empty(), KnownBots::default())
    }

    const TRAINING: &str = "kind = \"deny\"\nbots = [\"purpose:training\"]\npaths = [\"/manual/*\"]\n";
    const PRICED: &str = "kind = \"require_payment\"\nbots = [\"*\"]\nexcept_bots = [\"purpose:search\"]\n\
                          paths = [\"/*\"]\nprice = \"$0.01\"\noffers = []\n";

    #[test]
    fn the_first_rule_that_does_not_let_pass_decides() {
        let terms = terms(&[rule(TRAINING), rule(PRICED)]);
        let price = TermVerdict::Priced(Dollars::parse("0.01"));
        for (purpose, path, verdict) in [
            (BotPurpose::Training, "/manual/rules", TermVerdict::Refused),
            (BotPurpose::Training, "/", price),
            (BotPurpose::Archive, "/manual/rules", price),
            // Who proves that it searches is let off.
            (BotPurpose::Search, "/manual/rules", TermVerdict::Free),
        ] {
            assert_eq!(terms.for_purpose(purpose, Place::Page(path)), verdict, "{purpose:?} {path}");
        }
        let claimed = Bot {
            name: "Googlebot".to_owned(),
            product: Some("Googlebot".to_owned()),
            purpose: Some(BotPurpose::Search),
            is_verified: false,
        };
        assert_eq!(terms.verdict(&claimed, Place::Page("/")), price, "who only says so pays");
    }

    #[test]
    fn robots_has_a_group_for_those_of_whom_something_else_holds() {
        let terms = terms(&[rule(TRAINING)]);
        let (everybody, groups) = terms.groups();
        assert_eq!(everybody, &Vec::<String>::new());
        assert_eq!(groups.len(), 1);
        let RobotsGroup { products: names, disallowed } = &groups[0];
        assert_eq!(disallowed, &["/manual/"]);
        assert!(names.contains(&"GPTBot".to_owned()) && !names.contains(&"Googlebot".to_owned()), "{names:?}");
    }

    #[test]
    fn who_may_come_with_a_proof_is_not_told_to_stay_away() {
        let unproven = rule("kind = \"deny\"\nbots = [\"unverified\"]\npaths = [\"/*\"]\n");
        assert_eq!(terms(&[unproven]).groups(), &(Vec::new(), Vec::new()));
        let all = rule("kind = \"deny\"\nbots = [\"*\"]\npaths = [\"/*\"]\n");
        assert_eq!(terms(&[all]).groups(), &(vec!["/".to_owned()], Vec::new()));
    }

    #[test]
    fn patterns_are_written_as_robots_has_them() {
        for (pattern, written) in [("/*", "/"), ("/manual/*", "/manual/"), ("/a*b", "/a*b$"), ("/", "/$"), ("*", "/")] {
            assert_eq!(robots_pattern(&pattern.parse().unwrap()), written);
        }
    }

    #[test]
    fn rules_for_everybody_and_answers_are_apart_from_pages() {
        let everybody = rule("kind = \"deny\"\nnetworks = [\"203.0.113.0/24\"]\n");
        assert!(terms(&[everybody]).is_empty());
        let chef: Handle = "chef".parse().unwrap();
        let answers = rule("kind = \"deny\"\nbots = [\"*\"]\nagents = [\"chef\"]\n");
        let terms = terms(&[answers]);
        assert_eq!(terms.for_purpose(BotPurpose::Search, Place::Answers(&chef)), TermVerdict::Refused);
        assert_eq!(terms.for_purpose(BotPurpose::Search, Place::Page("/~chef")), TermVerdict::Free);
    }
}
