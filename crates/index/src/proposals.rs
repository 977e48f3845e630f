//! Words that a vocabulary could say more of: what items state without a name in it, words that they spell in two ways,
//! and words of questions that no item has.

mod spellings;

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_understanding::{UnnamedProperty, name_in_words, unnamed};
use forecourt_vocabulary::{ProposedEntry, WordProposal};

use crate::analysis::{LanguageAnalyzer, is_generic_word};
use crate::error::Result;
use crate::index::Snapshot;
use crate::limits::{PROPOSALS_MAX, PROPOSED_VALUES_MAX};
use crate::search::{UnknownWord, unknown_words};

/// A question without a good answer, and how often it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnansweredQuestion {
    /// The question, as it is kept.
    pub question: String,
    /// How often it was asked.
    pub asked: u64,
}

/// Questions that are told for one word.
const EXAMPLES: usize = 3;

/// What a vocabulary lacks, what says most first: at most [`PROPOSALS_MAX`]. `view` gives what is looked at for a
/// question.
pub(crate) fn proposals(
    snapshot: &Snapshot,
    tongue: LanguageAnalyzer,
    unanswered: &[UnansweredQuestion],
    view: impl Fn(&str) -> Result<Arc<Snapshot>>,
) -> Result<Vec<WordProposal>> {
    let mut all = of_questions(tongue, unanswered, view)?;
    all.extend(of_kinds(snapshot, tongue));
    for property in unnamed(snapshot.sample().stated(), &snapshot.vocabulary) {
        all.extend(of_property(snapshot, tongue, &property));
    }
    all.extend(spellings::proposals(snapshot, tongue)?);
    all.truncate(PROPOSALS_MAX);
    Ok(all)
}

/// Words of questions that no item has, those that were asked for most first.
fn of_questions(
    tongue: LanguageAnalyzer,
    unanswered: &[UnansweredQuestion],
    view: impl Fn(&str) -> Result<Arc<Snapshot>>,
) -> Result<Vec<WordProposal>> {
    let mut asked: BTreeMap<String, (u64, Vec<&str>, Vec<String>)> = BTreeMap::new();
    for UnansweredQuestion { question, asked: times } in unanswered {
        for UnknownWord { word, nearest } in unknown_words(&*view(question)?, question, tongue) {
            let (count, questions, known) = asked.entry(word).or_default();
            *count += times;
            questions.push(question);
            *known = nearest;
        }
    }
    let mut words: Vec<_> = asked.into_iter().filter(|(word, _)| !is_generic_word(word, tongue)).collect();
    words.sort_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| a.0.cmp(&b.0)));
    let proposal = |(word, (count, questions, nearest)): (String, (u64, Vec<&str>, Vec<String>))| {
        let examples: Vec<String> = questions.iter().take(EXAMPLES).map(|question| format!("“{question}”")).collect();
        let evidence =
            format!("Asked {count} times without a good answer, and no item has `{word}`: {}", examples.join(", "));
        let what = "If it means something that items say otherwise, complete this and take the `#` away.".to_owned();
        WordProposal::new(ProposedEntry::UnknownWord { word, nearest }, tongue.code(), vec![evidence, what])
    };
    Ok(words.into_iter().filter_map(proposal).collect())
}

/// Types of items that no kind of the vocabulary has.
fn of_kinds(snapshot: &Snapshot, tongue: LanguageAnalyzer) -> Vec<WordProposal> {
    let is_known = |name: &str| snapshot.vocabulary.kinds().iter().any(|kind| kind.types.iter().any(|one| one == name));
    let sample = snapshot.sample();
    let unknown = sample.types().filter(|(name, _)| !name.is_empty() && !is_known(name));
    let proposal = |(name, items): (&str, usize)| {
        let evidence = format!("{items} of {} items that were looked at are of the type `{name}`", sample.len());
        let entry = ProposedEntry::Kind { name: name.to_owned(), words: name_in_words(name) };
        WordProposal::new(entry, tongue.code(), vec![evidence])
    };
    unknown.filter_map(proposal).collect()
}

/// A property without a name, and values of it that mean nothing in the vocabulary.
fn of_property(snapshot: &Snapshot, tongue: LanguageAnalyzer, property: &UnnamedProperty) -> Vec<WordProposal> {
    let UnnamedProperty { path, name, share, is_unnamed, unnamed_values } = property;
    let percent = (share * 100.0).round();
    // Words that mean something are found in all languages without an entry.
    let means_something = |value: &&String| {
        let words: Vec<&str> = value.split_whitespace().collect();
        !snapshot.vocabulary.subjects_in(&words).is_empty()
    };
    let values: Vec<&String> = unnamed_values.iter().filter(|value| !means_something(value)).collect();
    let mut all = Vec::new();
    if *is_unnamed {
        let examples: Vec<&str> = values.iter().take(EXAMPLES).map(|value| value.as_str()).collect();
        let examples = if examples.is_empty() { String::new() } else { format!(": {}", examples.join(", ")) };
        let evidence = format!("About {percent} % of the items that could state `{path}` do{examples}");
        let entry = ProposedEntry::Property { path: path.clone(), name: name.clone() };
        all.extend(WordProposal::new(entry, tongue.code(), vec![evidence]));
    }
    if values.len() <= PROPOSED_VALUES_MAX {
        let value = |value: &&String| {
            let evidence = format!("A value of `{path}`, which about {percent} % of the items that could state it do");
            WordProposal::new(ProposedEntry::Value { value: (*value).clone() }, tongue.code(), vec![evidence])
        };
        all.extend(values.iter().filter_map(value));
    }
    all
}
