//! Answers to some of the forms of a task's question, until the others are answered too. They end with the
//! host: whoever asks then sees all forms open again.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::limits::PARTIAL_ANSWERS_MAX;

/// What was said to the forms of one question, by the form.
type FormAnswers = BTreeMap<String, Map<String, Value>>;

/// The questions that are answered in part, oldest first. The oldest make room.
#[derive(Default)]
pub(crate) struct Partial(Mutex<VecDeque<(String, FormAnswers)>>);

impl Partial {
    /// What was said to a question so far.
    pub(crate) fn said(&self, question: &str) -> FormAnswers {
        let kept = self.0.lock();
        kept.iter().find(|(of, _)| of == question).map(|(_, said)| said.clone()).unwrap_or_default()
    }

    /// Keeps what was said to one form of a question.
    pub(crate) fn add(&self, question: &str, form: &str, answers: Map<String, Value>) {
        let mut kept = self.0.lock();
        if let Some((_, said)) = kept.iter_mut().find(|(of, _)| of == question) {
            said.insert(form.to_owned(), answers);
            return;
        }
        kept.push_back((question.to_owned(), FormAnswers::from([(form.to_owned(), answers)])));
        if kept.len() > PARTIAL_ANSWERS_MAX {
            kept.pop_front();
        }
    }

    /// Forgets a question that is answered.
    pub(crate) fn forget(&self, question: &str) {
        self.0.lock().retain(|(of, _)| of != question);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_questions_are_kept_and_no_more() {
        let partial = Partial::default();
        for n in 0..PARTIAL_ANSWERS_MAX {
            partial.add(&n.to_string(), "a", Map::new());
        }
        partial.add("0", "b", Map::new());
        assert_eq!(partial.said("0").len(), 2);
        partial.add("one more", "a", Map::new());
        assert_eq!((partial.said("0").len(), partial.said("1").len()), (0, 1));
        partial.forget("1");
        assert!(partial.said("1").is_empty());
    }
}
