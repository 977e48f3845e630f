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

/// How much is not wanted, which is a wish and rules nothing out: "not too spicy".
const DEGREES: &[&str] = &["too", "so", "very", "zu", "sehr", "allzu", "trop", "tres", "muy", "demasiado", "tan"];

/// "Not in German", "nicht aus der Tüte".
pub(crate) fn read_not(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let behind = reader.class(at, WordClass::Not)?;
    let is_degree = reader.token(behind).is_some_and(|token| DEGREES.contains(&token.word.as_str()));
    if is_degree || !reader.states_facts() || reader.is_name() {
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
