//! One fact of one item, with its source: what the item states, or that it doesn't. Never a guess from other
//! items.

use forecourt_index::{Error, Hit, Library};
use forecourt_understanding::Filter;
use forecourt_vocabulary::folded;
use unicode_segmentation::UnicodeSegmentation;

use crate::asked_data::asked;
use crate::contains;
use crate::fact_context::FactContext;
use crate::fact_data::{self, FactKind};
use crate::fact_question::{FactQuestion, FactReading};
use crate::facts::facts;
use crate::limits::FACT_ENTRIES_MAX;
use crate::markdown::{link, plain};
use crate::mentioned;
use crate::name_role::is_same;
use crate::named_item::named;
use crate::own_property;
use crate::own_text;
use crate::values::{at, parts};
use crate::variant;

/// Other items of the same name that are named.
const OTHERS_MAX: usize = 3;

/// Where it is looked up what a question limits.
pub(crate) trait LimitLookup {
    /// What a text says as limits.
    fn said(&self, text: &str) -> Vec<Filter>;
    /// Whether any item keeps these limits.
    fn has_items(&self, limits: &[Filter]) -> bool;
}

/// A fact, and the item that states it or doesn't.
#[derive(Debug)]
pub(crate) struct FactAnswer {
    /// In markdown, with a link to the item.
    pub(crate) text: String,
    pub(crate) hit: Hit,
}

impl FactContext<'_> {
    /// The answer to a question about an item that it names. `None` when it is none, or when nothing is called so.
    pub(crate) fn answer(&self, library: &Library, question: &str) -> Result<Option<FactAnswer>, Error> {
        let whole = question;
        let Some(question) = FactQuestion::read(question) else { return Ok(None) };
        let readings = question.readings();
        let meant = readings.iter().filter(|reading| !reading.has_pronoun() && contains::is_meant(self, reading));
        for reading in meant {
            let mut hits = named(library, &reading.names())?;
            if hits.is_empty() {
                continue;
            }
            // Of several of one name, one that states the fact answers; the others are named.
            let best = hits.iter().position(|hit| self.states(hit, reading)).unwrap_or_default();
            let hit = hits.remove(best);
            // An item of that name that can't have such a fact leaves the question to the next way to read it.
            let told = self.stated_as(&hit, reading).or_else(|| self.own_or_unstated(&hit, reading, whole));
            let Some(mut text) = told else { continue };
            if !hits.is_empty() {
                let others: Vec<String> = hits.iter().take(OTHERS_MAX).map(|hit| self.tell_apart(hit)).collect();
                text = format!("{text} {}", self.say.fact_others(&others.join(", ")));
            }
            return Ok(Some(FactAnswer { text, hit }));
        }
        self.own(library, whole)
    }

    /// What an item states in a property of its site's own, else that it doesn't state the fact.
    fn own_or_unstated(&self, hit: &Hit, reading: &FactReading<'_>, question: &str) -> Option<String> {
        let about = mentioned::without_name(question, &hit.name);
        own_property::answer(self, hit, &about, &[]).or_else(|| self.tell(hit, reading))
    }

    /// The answer to a question for a property of a site's own, of an item whose name stands somewhere in it.
    fn own(&self, library: &Library, question: &str) -> Result<Option<FactAnswer>, Error> {
        let Some(hit) = mentioned::item(library, question)? else { return Ok(None) };
        let about = mentioned::without_name(question, &hit.name);
        let told = own_property::answer(self, &hit, &about, &[]).or_else(|| self.of_kind(&hit, question, &about));
        Ok(told.map(|text| FactAnswer { text, hit }))
    }

    /// What an item states of the kind that is asked for, where the question is for no fact that items are known to have.
    fn of_kind(&self, hit: &Hit, question: &str, about: &str) -> Option<String> {
        let is_fact = self.read(question).is_some_and(|question| !question.readings().is_empty());
        if is_fact { None } else { own_property::of_kind(self, hit, about) }
    }

    /// The answer to a question about an item that is known, such as one that was shown before. `None` when the
    /// question is for no fact. `limits`: reads what it says as limits.
    pub(crate) fn answer_about(&self, hit: &Hit, question: &str, limits: &dyn LimitLookup) -> Option<String> {
        let told = self.stated_about(hit, question, limits);
        let told = told.or_else(|| self.read(question)?.readings().iter().find_map(|reading| self.tell(hit, reading)));
        told.or_else(|| own_text::quoted(hit, &mentioned::without_name(question, &hit.name)))
    }

    /// What an item that is known states of what is asked. `None`: nothing, or no fact is asked for.
    pub(crate) fn stated_about(&self, hit: &Hit, question: &str, limits: &dyn LimitLookup) -> Option<String> {
        let stated = self.read(question).and_then(|question| {
            let readings = question.readings();
            let of_variant = readings.iter().find_map(|reading| variant::answer(self, hit, reading));
            let mut of_it = readings.iter().filter(|reading| speaks_of(reading, hit));
            of_variant.or_else(|| of_it.find_map(|reading| self.stated_as(hit, reading)))
        });
        // What an item states in a property of its site's own goes before that it doesn't state a fact of another kind.
        stated.or_else(|| {
            // The name of an item limits nothing: "is the Kronos one dimmable?".
            let about = mentioned::without_name(question, &hit.name);
            let limits = own_property::limits(self, hit, &about, limits.said(&about), &|all| limits.has_items(all));
            let own = own_property::answer(self, hit, &about, &limits);
            let known = || asked().facts_in(&about).find_map(|fact| self.stated(hit, fact_data::facts().kind(fact)?));
            own.or_else(known).or_else(|| self.of_kind(hit, question, &about))
        })
    }

    /// When an item is open, as far as it states that.
    pub(crate) fn hours(&self, hit: &Hit) -> Option<String> {
        self.stated(hit, fact_data::facts().kind("hours")?)
    }

    /// A question for a fact, or one that leaves out which item it is for: "¿cuándo empieza?".
    fn read(&self, question: &str) -> Option<FactQuestion> {
        let asked = FactQuestion::read(question)?;
        if asked.readings().is_empty() { FactQuestion::elided(question) } else { Some(asked) }
    }

    /// What an item states of a fact, and no word of what it doesn't.
    fn stated_as(&self, hit: &Hit, reading: &FactReading<'_>) -> Option<String> {
        match fact_data::facts().kind(&reading.ask.fact) {
            Some(kind) => self.stated(hit, kind),
            None => {
                let so = own_property::is_so(self, hit, reading.what.unwrap_or_default());
                so.or_else(|| contains::is_stated(&hit.item).then(|| self.tell(hit, reading)).flatten())
            }
        }
    }

    /// An item with the fact that tells it from others of its name.
    fn tell_apart(&self, hit: &Hit) -> String {
        let name = link(&hit.name, hit.url.as_deref());
        match facts(self.say, &hit.item).first() {
            Some(fact) => format!("{name} ({})", plain(fact)),
            None => name,
        }
    }

    /// Whether an item states what is asked for.
    fn states(&self, hit: &Hit, reading: &FactReading<'_>) -> bool {
        match fact_data::facts().kind(&reading.ask.fact) {
            Some(kind) => self.stated(hit, kind).is_some(),
            None => contains::has_entries(&hit.item),
        }
    }

    /// What an item says of it. `None` when the question is not for a fact that such an item could have.
    fn tell(&self, hit: &Hit, reading: &FactReading<'_>) -> Option<String> {
        let item = link(&hit.name, hit.url.as_deref());
        let Some(kind) = fact_data::facts().kind(&reading.ask.fact) else {
            return contains::answer(self, hit, &item, reading);
        };
        if let Some(text) = self.stated(hit, kind) {
            return Some(text);
        }
        // A section of a text has no facts: what it says is found by a search.
        if facts(self.say, &hit.item).is_empty() {
            return None;
        }
        let what = self.say.fact_name(&kind.id)?;
        Some(match self.quoted(hit, &kind.id) {
            Some(quote) => self.say.fact_quoted(&item, &what, &plain(&quote)),
            None => self.say.fact_unstated(&item, &what),
        })
    }

    /// The sentence that says what an item states.
    fn stated(&self, hit: &Hit, kind: &FactKind) -> Option<String> {
        let item = link(&hit.name, hit.url.as_deref());
        kind.sources.iter().find_map(|source| {
            let value = parts(self.say, source.form, at(&hit.item, &source.property)?, FACT_ENTRIES_MAX)?;
            let value: Vec<String> = value.iter().map(|part| plain(part)).collect();
            self.say.fact(source.says.as_deref().unwrap_or(&kind.id), &item, &value.join(", "))
        })
    }

    /// The sentence of an item's own text that states a fact, as it is written.
    fn quoted(&self, hit: &Hit, fact: &str) -> Option<String> {
        let asks = fact_data::questions().iter().flat_map(|language| &language.asks);
        let cues: Vec<_> = asks.filter(|ask| ask.fact == fact).filter_map(|ask| ask.cues.as_ref()).collect();
        let text = own_text::of(hit)?;
        let states = |sentence: &&str| {
            let sentence = folded(sentence);
            cues.iter().any(|cues| cues.is_match(&sentence))
        };
        text.unicode_sentences().map(str::trim).find(states).map(str::to_owned)
    }
}

/// Whether a reading is of an item: a pronoun stands for it, or words of its name or of its sort.
fn speaks_of(reading: &FactReading<'_>, hit: &Hit) -> bool {
    let sorts =
        ["@type", "category"].iter().filter_map(|key| hit.item.get(*key)).flat_map(|value| match value.as_array() {
            Some(all) => all.iter().filter_map(|one| one.as_str()).collect(),
            None => value.as_str().into_iter().collect::<Vec<_>>(),
        });
    let own: Vec<String> = sorts.chain([hit.name.as_str()]).map(folded).collect();
    let own = || own.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    let said = reading.names().last().copied().unwrap_or_default();
    reading.has_pronoun() || said.split(' ').all(|word| own().any(|other| is_same(other, word)))
}
