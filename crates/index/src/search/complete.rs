//! What a question that is being typed may become: names of items and kinds of them that begin so, or have a word that
//! does.
//!
//! The dictionary of names is asked first, in which every short name stands as a whole: it costs the same for ten items
//! and for ten million. Names that have the words further behind are searched for from the third letter on.

use std::collections::BTreeSet;

use tantivy::query::{BooleanQuery, Occur, Query as Search, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, TERMINATED, Term};

use super::rank::by_key;
use super::spelling::beginning_with;
use crate::analysis::{LanguageAnalyzer, Words, fold_text, whole_name};
use crate::error::Result;
use crate::index::Snapshot;
use crate::limits::{COMPLETED_BYTES_MAX, COMPLETED_NAMES_READ, COMPLETED_WORDS_READ};

/// Letters of the last word from which on names are found by words behind their first one.
const LETTERS_MIN: usize = 3;

/// What was typed may become this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The words.
    pub text: String,
    /// Whether it is a kind of items, such as a category, and not the name of one.
    pub is_kind: bool,
}

/// At most `wanted` completions of what was typed, kinds first, each once.
pub(crate) fn complete(
    snapshot: &Snapshot,
    typed: &str,
    wanted: usize,
    default: LanguageAnalyzer,
) -> Result<Vec<Completion>> {
    let typed = typed.trim_start();
    let begun = fold_text(typed.trim_end());
    if begun.is_empty() || typed.len() > COMPLETED_BYTES_MAX {
        return Ok(Vec::new());
    }
    let kinds = snapshot.sample().kind_names().filter(|kind| has_beginning(&fold_text(kind), &begun));
    let kinds: BTreeSet<String> = kinds.map(str::to_owned).collect();
    let mut found: Vec<Completion> =
        kinds.into_iter().take(wanted / 2).map(|text| Completion { text, is_kind: true }).collect();
    for address in beginning(snapshot, typed, default)? {
        take(snapshot, address, &begun, &mut found, wanted)?;
    }
    let letters = begun.rsplit(' ').next().unwrap_or_default().chars().count();
    if found.len() < wanted && letters >= LETTERS_MIN {
        for address in having(snapshot, &begun, default)? {
            take(snapshot, address, &begun, &mut found, wanted)?;
        }
    }
    Ok(found)
}

/// Whether a name, or what follows one of its spaces, begins with what was typed.
fn has_beginning(name: &str, begun: &str) -> bool {
    name.starts_with(begun) || name.match_indices(' ').any(|(at, _)| name[at + 1..].starts_with(begun))
}

/// Adds the name of an item that fits, once.
fn take(
    snapshot: &Snapshot,
    address: DocAddress,
    begun: &str,
    found: &mut Vec<Completion>,
    wanted: usize,
) -> Result<()> {
    if found.len() >= wanted {
        return Ok(());
    }
    let name = snapshot.stored(address)?.name;
    let folded = fold_text(&name);
    // Stems cut endings off and letters are folded: the name itself decides.
    let fits = name.len() <= COMPLETED_BYTES_MAX
        && begun.split(' ').all(|word| folded.split(|c: char| !c.is_alphanumeric()).any(|one| one.starts_with(word)));
    if fits && found.iter().all(|one| fold_text(&one.text) != folded) {
        found.push(Completion { text: name, is_kind: false });
    }
    Ok(())
}

/// One living item of each name that begins with what was typed, at most [`COMPLETED_NAMES_READ`].
fn beginning(snapshot: &Snapshot, typed: &str, default: LanguageAnalyzer) -> Result<Vec<DocAddress>> {
    let written = Words::of(typed, LanguageAnalyzer::OTHER);
    let Some(last) = written.iter().last() else { return Ok(Vec::new()) };
    let mut starts = BTreeSet::new();
    for tongue in std::iter::once(default).chain(snapshot.summary.tongues()) {
        let stems = Words::of(typed, tongue);
        let whole: Vec<&str> = stems.iter().collect();
        // The last word is half typed, and then it is no stem; or it is whole, and then it may be.
        let mut half = whole.clone();
        half.pop();
        half.push(last);
        starts.extend([whole_name(&half), whole_name(&whole)]);
    }
    let mut found = Vec::new();
    for start in starts {
        for (segment, reader) in (0..).zip(snapshot.searcher.segment_readers()) {
            let names = reader.inverted_index(snapshot.fields.pairs)?;
            let mut stream = names.terms().range().ge(&start).into_stream().map_err(tantivy::TantivyError::from)?;
            while found.len() < COMPLETED_NAMES_READ
                && let Some((name, info)) = stream.next()
                && name.starts_with(start.as_bytes())
            {
                let info = info.clone();
                let mut docs = names
                    .read_postings_from_terminfo(&info, IndexRecordOption::Basic)
                    .map_err(tantivy::TantivyError::from)?;
                let mut doc = docs.doc();
                while doc != TERMINATED && reader.is_deleted(doc) {
                    doc = docs.advance();
                }
                found.extend((doc != TERMINATED).then(|| DocAddress::new(segment, doc)));
            }
        }
    }
    Ok(found)
}

/// Items that have all words but the last, and a word that begins with that.
fn having(snapshot: &Snapshot, begun: &str, default: LanguageAnalyzer) -> Result<Vec<DocAddress>> {
    let (before, last) = begun.rsplit_once(' ').unwrap_or(("", begun));
    let mut words: Vec<(String, u32)> = beginning_with(snapshot, last)?.into_iter().collect();
    words.sort_by(|(word, items), (other, others)| others.cmp(items).then_with(|| word.cmp(other)));
    let one = |field, word: &str| -> Box<dyn Search> {
        Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::Basic))
    };
    let spelled = words.iter().take(COMPLETED_WORDS_READ).map(|(word, _)| one(snapshot.fields.spelled, word));
    let mut clauses: Vec<(Occur, Box<dyn Search>)> =
        vec![(Occur::Must, Box::new(BooleanQuery::union(spelled.collect())))];
    for at in 0..before.split_whitespace().count() {
        let stems = std::iter::once(default).chain(snapshot.summary.tongues());
        let stems: BTreeSet<String> =
            stems.filter_map(|tongue| Words::of(before, tongue).get(at).map(str::to_owned)).collect();
        let terms = stems.iter().map(|stem| one(snapshot.fields.text, stem));
        clauses.push((Occur::Must, Box::new(BooleanQuery::union(terms.collect()))));
    }
    let found = by_key(snapshot, &BooleanQuery::new(clauses), COMPLETED_NAMES_READ)?;
    Ok(found.into_iter().map(|one| one.address).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_at_each_of_its_words() {
        for (name, begun, is) in [
            ("rain jacket", "rain j", true),
            ("rain jacket", "jack", true),
            ("rain jacket", "ain", false),
            ("rain", "rain j", false),
        ] {
            assert_eq!(has_beginning(name, begun), is, "{begun}");
        }
    }
}
