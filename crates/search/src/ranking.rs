//! An operator's rules for the order of items: pins, boosts and what is buried, for questions with certain words and in
//! certain weeks. A rule changes the order of what fits and never lifts what breaks a limit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use forecourt_agents::settings::count;
use forecourt_core::{Language, Timestamp};
use forecourt_index::{Adjustment, Effect, Error, ItemsState, Library, Query};
use forecourt_settings::{Problems, Section};
use forecourt_understanding::Filter;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limits::{
    RANKING_FACTOR_MAX, RANKING_IDS_MAX, RANKING_PHRASES_MAX, RANKING_PROPERTIES_MAX, RANKING_RULES_MAX,
    RANKING_TEXT_BYTES_MAX,
};

/// A rule for the order of items. It is in force as soon as the file is saved.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RankingSettings {
    /// What the rule is called where a ranking is explained, such as `"spring sale"`.
    name: String,
    /// What it does: `"pin"` puts its items first, 10 at most and in the order in which they are named; `"boost"` lets
    /// them come earlier; `"bury"` puts them behind the rest of the first 50. What breaks a limit of the question is
    /// not shown whatever the rule says, and an order that is asked for ("the cheapest") stays.
    effect: EffectSettings,
    /// How many times the score counts of what is boosted, above 1 and up to 10.
    #[serde(default = "factor")]
    factor: f32,
    /// Words of the questions that it is for, such as `["rain jacket", "raincoat"]`: all words of one entry have to be
    /// in the question, in any form. Without it, it is for every question that finds something.
    #[serde(default)]
    words: Vec<String>,
    /// Ids of the items that it is about (`@id`, or the URL where there is none).
    #[serde(default)]
    items: Vec<String>,
    /// Properties of the items that it is about, and their values: `{ "brand.name" = "Alder", "offers.price" =
    /// "under 50" }`, 20 at most. All of them hold.
    #[serde(default)]
    properties: BTreeMap<String, String>,
    /// The first day on which it counts, such as `"2026-12-01"`, in UTC.
    #[schemars(with = "Option<String>")]
    from: Option<Date>,
    /// The last day on which it counts.
    #[schemars(with = "Option<String>")]
    until: Option<Date>,
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EffectSettings {
    /// Its items come first.
    Pin,
    /// They come earlier.
    Boost,
    /// They come last.
    Bury,
}

fn factor() -> f32 {
    2.0
}

/// The rules of one agent.
#[derive(Debug, Default)]
pub(crate) struct RankingRules {
    rules: Vec<RankingSettings>,
    /// What the rules are about, as it was understood for an earlier question.
    understood: Mutex<Option<Arc<UnderstoodRules>>>,
}

/// What rules are about in one state of the items. Each is understood when a question first needs it.
#[derive(Debug)]
struct UnderstoodRules {
    state: ItemsState,
    /// By rule: the items that pass all filters of one of the lists.
    items: Vec<OnceLock<Arc<[Vec<Filter>]>>>,
}

impl RankingRules {
    /// Checks the rules of a section.
    pub(super) fn read(section: &Section, rules: &[RankingSettings], problems: &mut Problems) -> Self {
        count(section, "ranking", rules.len(), 0, RANKING_RULES_MAX, problems);
        for rule in rules {
            for problem in rule.problems() {
                problems.push(section.problem(Some("ranking"), format!("the rule `{}` {problem}", rule.name)));
            }
        }
        Self { rules: rules.to_vec(), understood: Mutex::default() }
    }

    /// What the rules do to the items of a question that was put at `now`.
    pub(crate) fn adjustments(&self, library: &Library, question: &str, now: Timestamp) -> Vec<Adjustment> {
        // Most agents have none.
        if self.rules.is_empty() {
            return Vec::new();
        }
        let (today, understood) = (library.clock(now).date(), self.understood(library));
        let rules = self.rules.iter().zip(&understood.items);
        let counting = rules.filter(|(rule, _)| rule.counts_on(today) && rule.is_for(library, question));
        counting.map(|(rule, items)| rule.adjustment(items.get_or_init(|| rule.filters(library).into()))).collect()
    }

    /// What the rules are about in the state that the items are in now.
    fn understood(&self, library: &Library) -> Arc<UnderstoodRules> {
        let state = library.items_state();
        let mut understood = self.understood.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = understood.as_ref().filter(|known| known.state == state) {
            return known.clone();
        }
        let items = self.rules.iter().map(|_| OnceLock::new()).collect();
        understood.insert(Arc::new(UnderstoodRules { state, items })).clone()
    }

    /// Rules that change nothing, and why, in a sentence each. Fails when the index cannot be read.
    pub(crate) fn idle(&self, library: &Library, now: Timestamp) -> Result<Vec<String>, Error> {
        let today = library.clock(now).date();
        let mut told = Vec::new();
        for rule in &self.rules {
            if let Some(until) = rule.until.filter(|until| *until < today) {
                told.push(format!("the ranking rule `{}` ended on {until}", rule.name));
                continue;
            }
            for missing in rule.missing(library)? {
                told.push(format!("the ranking rule `{}` {missing}", rule.name));
            }
        }
        Ok(told)
    }
}

impl RankingSettings {
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut check = |fits: bool, problem: String| problems.extend((!fits).then_some(problem));
        let texts = [&self.name].into_iter().chain(&self.words).chain(&self.items);
        let mut texts = texts.chain(self.properties.iter().flat_map(|(path, value)| [path, value]));
        check(
            texts.all(|text| !text.trim().is_empty() && text.len() <= RANKING_TEXT_BYTES_MAX),
            format!("has an empty text, or one of more than {RANKING_TEXT_BYTES_MAX} bytes"),
        );
        check(
            !(self.items.is_empty() && self.properties.is_empty()),
            "names no items: give their ids in `items`, or `properties` that they have".to_owned(),
        );
        check(self.items.len() <= RANKING_IDS_MAX, format!("has more than {RANKING_IDS_MAX} `items`"));
        check(self.words.len() <= RANKING_PHRASES_MAX, format!("has more than {RANKING_PHRASES_MAX} `words`"));
        check(
            self.properties.len() <= RANKING_PROPERTIES_MAX,
            format!("has more than {RANKING_PROPERTIES_MAX} `properties`"),
        );
        check(
            self.factor > 1.0 && self.factor <= RANKING_FACTOR_MAX,
            format!("has a `factor` that is not above 1 and at most {RANKING_FACTOR_MAX}"),
        );
        let is_in_order = !matches!((self.from, self.until), (Some(from), Some(until)) if from > until);
        check(is_in_order, "ends before it begins: `until` is earlier than `from`".to_owned());
        problems
    }

    fn counts_on(&self, day: Date) -> bool {
        self.from.is_none_or(|from| from <= day) && self.until.is_none_or(|until| day <= until)
    }

    fn is_for(&self, library: &Library, question: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|words| library.says(question, words))
    }

    fn adjustment(&self, items: &Arc<[Vec<Filter>]>) -> Adjustment {
        let effect = match self.effect {
            EffectSettings::Pin => Effect::Pin { even_alone: !self.words.is_empty() },
            EffectSettings::Boost => Effect::Worth(self.factor),
            EffectSettings::Bury => Effect::Worth(0.0),
        };
        Adjustment { name: self.name.clone(), items: items.clone(), effect }
    }

    /// The items that the rule is about: those that pass all filters of one of these lists.
    fn filters(&self, library: &Library) -> Vec<Vec<Filter>> {
        let english = Language::english();
        let named = |(path, value): (&String, &String)| library.named(path, &value.clone().into(), &english);
        let properties: Vec<Filter> = self.properties.iter().flat_map(named).collect();
        let with = |id: &String| [vec![Filter::is("@id", id)], properties.clone()].concat();
        match self.items.is_empty() {
            true => vec![properties],
            false => self.items.iter().map(with).collect(),
        }
    }

    /// What the rule is about and no item is.
    fn missing(&self, library: &Library) -> Result<Vec<String>, Error> {
        let mut missing = Vec::new();
        for (at, filters) in self.filters(library).into_iter().enumerate() {
            let query = Query { filters, limit: 1, items_only: true, ..Query::default() };
            if library.search(&query)?.is_empty() {
                missing.push(match self.items.get(at) {
                    Some(id) if self.properties.is_empty() => format!("names `{id}`, which no item has as its id"),
                    Some(id) => format!("names `{id}`, which is not an item with these properties"),
                    None => "is about properties that no item has together".to_owned(),
                });
            }
        }
        Ok(missing)
    }
}

#[cfg(test)]
mod tests {
    use forecourt_index::Options;
    use forecourt_loaders::ContentSource;

    use super::*;

    #[test]
    fn rules_are_understood_anew_only_when_the_items_are_others() {
        let folder = tempfile::tempdir().unwrap();
        let items = folder.path().join("items.jsonl");
        let library = Library::open(&folder.path().join("index"), Options::default()).unwrap();
        let index = |lines: &str| {
            std::fs::write(&items, lines).unwrap();
            library.index(&[ContentSource::new(&items)], &mut (), &|| false).unwrap();
        };
        index("{\"@id\": \"a\", \"name\": \"Coat\"}\n");
        let rule = "name = \"r\"\neffect = \"pin\"\nproperties = { \"offers.price\" = \"under 50\" }";
        let rules = RankingRules { rules: vec![toml::from_str(rule).unwrap()], understood: Mutex::default() };
        let items = || rules.adjustments(&library, "coat", Timestamp::UNIX_EPOCH)[0].items.clone();
        let first = items();
        assert!(Arc::ptr_eq(&first, &items()), "asked twice, understood once");
        index("{\"@id\": \"a\", \"name\": \"Coat\", \"offers\": {\"price\": 9, \"priceCurrency\": \"EUR\"}}\n");
        let second = items();
        assert!(!Arc::ptr_eq(&first, &second) && Arc::ptr_eq(&second, &items()));
        assert_ne!(first, second, "what has a price now is meant by it");
    }
}
