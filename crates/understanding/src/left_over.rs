//! What no other rule takes: words around a question that ask for nothing, and a "not" that nothing was made of. What it
//! forbids must not be looked for: "not in German" is told, and finds no German.

use forecourt_vocabulary::WordClass;

use crate::found::{FoundMeaning, UnderstoodPart};
use crate::reader::Reader;

/// Tokens behind a "not" that go with it.
const FORBIDDEN_TOKENS_MAX: usize = 5;

/// "Right now", "do you have": phrases, since a single word of them may be of a name.
pub(crate) fn read_filler(reader: &Reader<'_>, at: usize, _: usize) -> Option<UnderstoodPart> {
    let end = reader.class(at, WordClass::Filler).filter(|end| *end > at + 1)?;
    (!reader.is_name()).then(|| UnderstoodPart::new(at..end, FoundMeaning::Filler))
}

/// Words behind which a clause says something of what is asked for, without accents.
const RELATIVE: &[&str] = &["who", "that", "which", "qui", "que", "quien"];
/// The same in German, where its verb comes at the end.
const GERMAN_RELATIVE: &[&str] = &["der", "die", "das", "welche", "welcher", "welches"];
/// Words between such a word and what was understood behind it: "who also speaks".
const CLAUSE_WORDS_MAX: usize = 3;

/// The verbs of clauses whose limit was understood: "who speaks English", "das montags offen hat". They say nothing beside
/// it, unless items have the word.
pub(crate) fn clause_verbs(reader: &Reader<'_>, found: &[UnderstoodPart]) -> Vec<UnderstoodPart> {
    let is_free = |at: usize| reader.is_word(at) && found.iter().all(|part| !part.tokens.contains(&at));
    let is_unsaid = |at: usize| !reader.aids.known.has_written(reader.written(at..at + 1));
    let limits = found.iter().filter(|part| matches!(part.meaning, FoundMeaning::Limits(..) | FoundMeaning::Wishes(_)));
    let mut fillers: Vec<UnderstoodPart> = Vec::new();
    for part in limits {
        let start = part.tokens.start;
        // Behind a word: "which soup is there under 5" asks for it.
        let leads = |at: &usize| reader.says(*at, RELATIVE) && *at > 0 && reader.is_word(at - 1);
        let pronoun = (start.saturating_sub(CLAUSE_WORDS_MAX)..start).rev().find(leads);
        let says_nothing =
            |verb: &usize| (*verb..start).all(is_free) && (start == verb + 1 || (*verb..start).all(is_unsaid));
        if let Some(verb) = pronoun.map(|at| at + 1).filter(|verb| *verb < start).filter(says_nothing) {
            fillers.push(UnderstoodPart::new(verb..start, FoundMeaning::Filler));
        }
        let end = part.tokens.end;
        let clause =
            (0..start).rev().find(|at| reader.says(*at, GERMAN_RELATIVE) && *at > 0 && reader.is_mark(at - 1, ','));
        let is_last = reader.token(end + 1).is_none_or(|next| !next.is_word());
        if clause.is_some() && is_free(end) && is_last && is_unsaid(end) {
            fillers.push(UnderstoodPart::new(end..end + 1, FoundMeaning::Filler));
        }
    }
    fillers
}

/// How much is not wanted, which is a wish and rules nothing out: "not too spicy".
pub(crate) const DEGREES: &[&str] =
    &["too", "so", "very", "zu", "sehr", "allzu", "trop", "tres", "muy", "demasiado", "tan"];

/// "Not in German", "nicht aus der Tüte".
pub(crate) fn read_not(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let behind = reader.class(at, WordClass::Not)?;
    if reader.says(behind, DEGREES) || !reader.states_facts() || reader.is_name() {
        return None;
    }
    let leads = [WordClass::Article, WordClass::With, WordClass::For, WordClass::AtTime];
    let first = reader.skip(behind, &leads);
    let rest = (first..reader.tokens.len()).take(FORBIDDEN_TOKENS_MAX).take_while(|at| !reader.ends_clause(*at));
    let end = rest.last()? + 1;
    let start = reader.absorb(at, WordClass::WithoutLead, floor);
    let is_in_words = (first..end).all(|at| reader.is_word(at));
    let meaning = match is_in_words {
        true => FoundMeaning::Unwanted(reader.written(first..end).to_owned()),
        false => FoundMeaning::NotUnderstood,
    };
    Some(UnderstoodPart::new(start..end, meaning))
}

#[cfg(test)]
mod tests {
    use crate::tests::{Everything, understood};

    #[test]
    fn what_must_not_be_is_told_and_not_looked_for() {
        for (text, told, left) in [
            ("soup not in German", "not in German", "soup"),
            ("Suppe, nicht aus der Tüte", "nicht aus der Tüte", "Suppe"),
            ("what soup do you have right now, not salty", "not salty", "what soup"),
        ] {
            let found = understood(text, &Everything);
            assert_eq!(
                (found.not_understood.as_slice(), found.text.as_str()),
                (&[told.to_owned()][..], left),
                "{text}"
            );
        }
        assert_eq!(understood("why not", &Everything).text, "why not");
        assert_eq!(understood("what soup do you have", &Everything).text, "what soup");
    }
}
