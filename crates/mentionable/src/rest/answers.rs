//! Answers to several questions at once, by parameters and fields of our own: `answer.{question}`, named by the id
//! or the words of a question. Agents read them as words, a line for each question; agents that know nothing of
//! questions do, too.

use super::limits::ENTRIES_MAX;
use super::wire::Entry;

/// Answers as they are read, each with its question, in the order of the first value of each.
#[derive(Debug, Default)]
pub(super) struct Answers(Vec<(String, Vec<String>)>);

impl Answers {
    /// Takes one value. An empty one leaves its question open; a second one of the same question is a further
    /// choice. Those of more questions than a turn has entries are dropped, as the turn is refused then.
    pub(super) fn take(&mut self, question: &str, value: &str) {
        let value = value.trim();
        if question.trim().is_empty() || value.is_empty() {
            return;
        }
        match self.0.iter().position(|(known, _)| known == question) {
            Some(at) => self.0[at].1.push(value.to_owned()),
            None if self.0.len() <= ENTRIES_MAX => self.0.push((question.to_owned(), vec![value.to_owned()])),
            None => {}
        }
    }

    /// The answers as entries of a turn: `Which kind? Pea, Bean`, `minutes: 20`.
    pub(super) fn into_entries(self) -> impl Iterator<Item = Entry> {
        self.0.into_iter().map(|(question, values)| {
            let question = question.trim();
            let colon = if question.ends_with(|c: char| c.is_alphanumeric() || c == '_') { ":" } else { "" };
            Entry::text(format!("{question}{colon} {}", values.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(given: &[(&str, &str)]) -> Vec<Entry> {
        let mut answers = Answers::default();
        given.iter().for_each(|(question, value)| answers.take(question, value));
        answers.into_entries().collect()
    }

    #[test]
    fn each_question_is_a_line_with_all_that_was_chosen() {
        let given = [("Which kind?", "Pea"), ("minutes", " 20 "), ("open", " "), ("Which kind?", "Bean"), ("", "x")];
        assert_eq!(lines(&given), ["Which kind? Pea, Bean", "minutes: 20"].map(Entry::text));
    }

    #[test]
    fn questions_are_bounded_one_above_what_a_turn_takes() {
        let names: Vec<String> = (0..ENTRIES_MAX + 2).map(|n| n.to_string()).collect();
        let given: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
        assert_eq!(lines(&given).len(), ENTRIES_MAX + 1, "so that the turn is refused");
    }
}
