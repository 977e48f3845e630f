//! This module indexes descriptions and ranks them by a question.

use std::collections::HashMap;

use crate::description::Description;
use crate::limits::FIELD_WORDS_MAX;
use crate::names::nearest;
use crate::operation::Operation;
use crate::question::{Question, Term};
use crate::schema::members;
use crate::words::{Stems, words};

/// How soon more of one word adds nothing. BM25.
const SATURATION: f32 = 2.4;
/// The fields of a description: how much a word in each counts, and how much a long one takes from that. BM25F.
const FIELDS: [Field; FIELD_COUNT] = [
    Field { weight: 4.0, length_norm: 0.4 },
    Field { weight: 3.0, length_norm: 0.4 },
    Field { weight: 0.8, length_norm: 0.45 },
    Field { weight: 0.8, length_norm: 0.7 },
    Field { weight: 0.3, length_norm: 0.7 },
];
const FIELD_COUNT: usize = 5;
/// What is left of the score of a description that has none of the question's words; in between it is in proportion.
const UNCOVERED: f32 = 0.8;
/// The same for one whose title has nothing of the question: a title that says more than was asked is of something
/// more special.
const UNASKED: f32 = 0.45;
/// The same for one whose name has nothing of it.
const UNASKED_NAME: f32 = 0.4;
/// How much the rarity of a word itself counts, beside that of all words that mean the same.
const OWN_RARITY: f32 = 0.5;
/// How much a word that says what to do can tell at most, however rare it is.
const ACTION_RARITY_MAX: f32 = 5.0;

struct Field {
    weight: f32,
    length_norm: f32,
}

/// An operation that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Its place among the descriptions.
    pub at: usize,
    /// How well it fits, above 0. Comparable within one search only.
    pub score: f32,
}

/// Descriptions, indexed once and then searched.
#[derive(Debug, Default)]
pub struct Ranking {
    /// The places of stems in `postings`.
    terms: HashMap<String, usize>,
    /// For each stem, the descriptions that have it.
    postings: Vec<Vec<Posting>>,
    operations: Vec<Operation>,
    names: Vec<String>,
}

/// That a description has a stem.
#[derive(Debug, Clone, Copy)]
struct Posting {
    /// The place of the description.
    at: u32,
    /// How much of it, by the weights of the fields.
    amount: f32,
    /// Whether the title has it, or the name where there is no title.
    in_title: bool,
    /// Whether the name has it.
    in_name: bool,
}

/// One description as words, before lengths are known.
struct Draft {
    counts: HashMap<usize, [u32; FIELD_COUNT]>,
    lengths: [u32; FIELD_COUNT],
}

impl Ranking {
    /// Indexes descriptions, which keep their places.
    pub fn new<'a>(descriptions: impl IntoIterator<Item = Description<'a>>) -> Self {
        let mut stems = Stems::new();
        let mut ranking = Self::default();
        let mut drafts = Vec::new();
        for description in descriptions {
            let draft = ranking.draft(&description, &mut stems);
            drafts.push(draft);
            ranking.operations.push(Operation::of(&description, &mut stems));
            ranking.names.push(description.name.to_owned());
        }
        let count = drafts.len().max(1) as f32;
        let mut mean = [0.0; FIELD_COUNT];
        for (field, mean) in mean.iter_mut().enumerate() {
            let all: u64 = drafts.iter().map(|draft| u64::from(draft.lengths[field])).sum();
            *mean = (all as f32 / count).max(1.0);
        }
        ranking.postings = vec![Vec::new(); ranking.terms.len()];
        for (at, draft) in drafts.iter().enumerate() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            for (term, counts) in &draft.counts {
                let in_title = counts[1] > 0 || (counts[0] > 0 && draft.lengths[1] == 0);
                let in_name = counts[0] > 0;
                ranking.postings[*term].push(Posting { at, amount: draft.weight(counts, &mean), in_title, in_name });
            }
        }
        for postings in &ranking.postings {
            let rarity = rarity(drafts.len(), postings.len());
            for posting in postings {
                let operation = &mut ranking.operations[posting.at as usize];
                operation.title_worth += if posting.in_title { rarity } else { 0.0 };
                operation.name_worth += if posting.in_name { rarity } else { 0.0 };
            }
        }
        ranking
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The operations that fit a question, the best first; of equals the earlier ones. At most `limit`. Empty when no
    /// word of it occurs.
    pub fn search(&self, question: &str, limit: usize) -> Vec<Match> {
        let question = Question::read(question);
        let mut tallies = vec![Tally::default(); self.operations.len()];
        let mut wanted = 0.0;
        for term in &question.terms {
            wanted += self.tally(term, &mut tallies);
        }
        let scored = tallies.iter().zip(&self.operations).enumerate();
        let found = scored.filter(|(_, (tally, _))| tally.score > 0.0);
        let mut found: Vec<Match> = found
            .map(|(at, (tally, operation))| Match { at, score: tally.total(wanted, operation, &question) })
            .collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.at.cmp(&b.at)));
        found.truncate(limit);
        found
    }

    /// The places of the operations whose names are spelled most like one, the most like first. At most `limit`; empty
    /// when none has much in common with it.
    pub fn nearest(&self, name: &str, limit: usize) -> Vec<usize> {
        nearest(self.names.iter().map(String::as_str), name, limit)
    }

    /// Adds what a term is worth to whoever has it: the best of the words that stand for it. Gives what it is worth to
    /// one that has all of it.
    fn tally(&self, term: &Term, tallies: &mut [Tally]) -> f32 {
        let all = self.operations.len();
        let postings =
            |stem: &str| self.terms.get(stem).and_then(|at| self.postings.get(*at)).map_or(&[][..], Vec::as_slice);
        let together: usize = term.stems.iter().map(|(stem, _)| postings(stem).len()).sum();
        // Words that mean the same are one word in many spellings: it is as rare as all of them together.
        let shared = rarity(all, together.min(all));
        let mut most = 0.0_f32;
        let mut touched = Vec::new();
        for (place, (stem, weight)) in term.stems.iter().enumerate() {
            let postings = postings(stem);
            let most_rare = if term.is_action { ACTION_RARITY_MAX } else { f32::INFINITY };
            let own = rarity(all, postings.len()).min(most_rare);
            let rarity = if place == 0 { OWN_RARITY * own + (1.0 - OWN_RARITY) * shared } else { shared.min(own) };
            if !postings.is_empty() {
                most = most.max(weight * rarity);
            }
            for posting in postings {
                let tally = &mut tallies[posting.at as usize];
                let score = weight * rarity * posting.amount * (SATURATION + 1.0) / (posting.amount + SATURATION);
                if tally.best == 0.0 {
                    touched.push(posting.at as usize);
                }
                tally.best = tally.best.max(score);
                tally.worth = tally.worth.max(weight * rarity);
                if posting.in_title {
                    tally.in_title = tally.in_title.max(weight * own);
                }
                if posting.in_name {
                    tally.in_name = tally.in_name.max(weight * own);
                }
            }
        }
        touched.into_iter().for_each(|at| tallies[at].close());
        most
    }

    fn draft(&mut self, description: &Description<'_>, stems: &mut Stems) -> Draft {
        let mut draft = Draft { counts: HashMap::new(), lengths: [0; FIELD_COUNT] };
        let mut take = |field: usize, text: &str| {
            for word in words(text) {
                if draft.lengths[field] as usize >= FIELD_WORDS_MAX {
                    return;
                }
                let stem = stems.stem(&word);
                let next = self.terms.len();
                let term = match self.terms.get(stem) {
                    Some(term) => *term,
                    None => *self.terms.entry(stem.to_owned()).or_insert(next),
                };
                draft.counts.entry(term).or_default()[field] += 1;
                draft.lengths[field] += 1;
            }
        };
        take(0, description.name);
        take(1, description.headline());
        take(2, description.text);
        for member in description.input.map(members).unwrap_or_default() {
            take(3, member.name);
            take(4, member.text);
        }
        draft
    }
}

/// How much a stem tells that so many of all have. BM25.
fn rarity(all: usize, count: usize) -> f32 {
    let (all, count) = (all as f32, count as f32);
    (1.0 + (all - count + 0.5) / (count + 0.5)).ln()
}

/// What a search has found out about one operation so far.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    score: f32,
    /// How much of what is looked for it has.
    covered: f32,
    /// How much of its title is looked for, and of its name.
    titled: f32,
    named: f32,
    /// Of the term at hand: the best score of its words, what that is worth, and what it is worth in the title and in the
    /// name.
    best: f32,
    worth: f32,
    in_title: f32,
    in_name: f32,
}

impl Tally {
    /// Ends the term at hand.
    fn close(&mut self) {
        self.score += self.best;
        self.covered += self.worth;
        self.titled += self.in_title;
        self.named += self.in_name;
        (self.best, self.worth, self.in_title, self.in_name) = (0.0, 0.0, 0.0, 0.0);
    }

    fn total(&self, wanted: f32, operation: &Operation, question: &Question) -> f32 {
        let part = |of: f32, all: f32| if all > 0.0 { (of / all).min(1.0) } else { 0.0 };
        let covers = UNCOVERED + (1.0 - UNCOVERED) * part(self.covered, wanted);
        let says_no_more = UNASKED + (1.0 - UNASKED) * part(self.titled, operation.title_worth);
        let is_no_more = UNASKED_NAME + (1.0 - UNASKED_NAME) * part(self.named, operation.name_worth);
        self.score * covers * says_no_more * is_no_more * operation.fit(question)
    }
}

impl Draft {
    fn weight(&self, counts: &[u32; FIELD_COUNT], mean: &[f32; FIELD_COUNT]) -> f32 {
        let of_field = |(at, field): (usize, &Field)| {
            let length = self.lengths[at] as f32 / mean[at];
            field.weight * counts[at] as f32 / (1.0 - field.length_norm + field.length_norm * length)
        };
        FIELDS.iter().enumerate().map(of_field).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn ranking(names: &[(&'static str, &'static str)]) -> Ranking {
        let describe = |(name, text): &(&'static str, &'static str)| Description {
            name,
            title: text,
            text,
            ..Description::default()
        };
        Ranking::new(names.iter().map(describe))
    }

    fn first(ranking: &Ranking, question: &str) -> Option<usize> {
        ranking.search(question, 1).first().map(|found| found.at)
    }

    const SHOP: [(&str, &str); 6] = [
        ("listCustomerBikes", "List the bikes of a customer."),
        ("createBike", "Create a bike."),
        ("deleteBike", "Delete a bike."),
        ("list_orders", "List orders."),
        ("updateOrder", "Update an order."),
        ("get_stock", "Get stock levels."),
    ];

    #[test]
    fn people_and_names_use_different_words() {
        let shop = ranking(&SHOP);
        for (question, expected) in [
            ("which bicycles does a client have", 0),
            ("add a new bike", 1),
            ("get rid of a bike", 2),
            ("throw my bicycle away", 2),
            ("show me all purchases", 3),
            ("change a purchase", 4),
        ] {
            assert_eq!(first(&shop, question), Some(expected), "{question}");
        }
    }

    #[test]
    fn what_is_done_counts() {
        let all = ranking(&[("createIssue", "Create an issue."), ("deleteIssue", "Delete an issue.")]);
        assert_eq!((first(&all, "report a bug"), first(&all, "remove a ticket")), (Some(0), Some(1)));
    }

    #[test]
    fn a_verb_may_end_a_name_and_participles_are_none() {
        let all = ranking(&[("shop_bikes_reserved_delete", ""), ("shop_bikes_reserved_insert", "")]);
        assert_eq!((first(&all, "get rid of a bike"), first(&all, "add a bike")), (Some(0), Some(1)));
    }

    #[test]
    fn the_plain_one_comes_before_the_more_special_one() {
        let all = ranking(&[("bucket_analytics_configuration_put", ""), ("bucket_put", "")]);
        assert_eq!(first(&all, "put a bucket"), Some(1));
    }

    #[test]
    fn members_of_schemas_are_found() {
        let schema = json!({"properties": {"iban": {"description": "The account that is charged."}}});
        let plain = Description { name: "a", ..Description::default() };
        let all = Ranking::new([plain, Description { name: "b", input: Some(&schema), ..plain }]);
        assert_eq!((first(&all, "iban"), first(&all, "charged")), (Some(1), Some(1)));
    }

    #[test]
    fn nothing_is_found_for_words_that_nobody_has() {
        let shop = ranking(&SHOP);
        assert!(shop.search("submarine", 3).is_empty() && shop.search("", 3).is_empty());
        assert!(Ranking::default().search("bike", 3).is_empty());
        assert_eq!(shop.search("bike", 2).len(), 2);
    }

    proptest! {
        #[test]
        fn any_question_to_any_description_is_answered(name in any::<String>(), text in any::<String>(), question in any::<String>()) {
            let all = Ranking::new([Description { name: &name, title: &text, text: &text, ..Description::default() }]);
            prop_assert!(all.search(&question, 5).iter().all(|found| found.at == 0 && found.score.is_finite() && found.score > 0.0));
            prop_assert!(all.nearest(&question, 5).len() <= 1);
        }
    }
}
