//! A cache of what is counted of a term, such as how many documents have it: a question asks that of each of its words
//! several times, and questions have words in common. The numbers of a snapshot do not change.

use std::collections::HashMap;

use parking_lot::Mutex;
use tantivy::Term;

use crate::limits::FREQUENCIES_KEPT;

/// The numbers of one snapshot.
pub(super) struct TermNumbers<T>(Mutex<Generations<T>>);

impl<T> Default for TermNumbers<T> {
    fn default() -> Self {
        Self(Mutex::new(Generations { new: HashMap::new(), old: HashMap::new() }))
    }
}

/// The terms that were looked up lately, and those of the time before.
struct Generations<T> {
    new: HashMap<Term, T>,
    old: HashMap<Term, T>,
}

impl<T: Clone> TermNumbers<T> {
    /// The number of a term; `count` finds one that is not remembered.
    pub(super) fn of<E>(&self, term: &Term, count: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        {
            let kept = self.0.lock();
            if let Some(known) = kept.new.get(term).or_else(|| kept.old.get(term)) {
                return Ok(known.clone());
            }
        }
        // Counting reads dictionaries, so the lock is not held. Two callers may count the same term and find the same.
        let found = count()?;
        let mut kept = self.0.lock();
        if kept.new.len() >= FREQUENCIES_KEPT {
            kept.old = std::mem::take(&mut kept.new);
        }
        kept.new.insert(term.clone(), found.clone());
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tantivy::schema::Field;

    use super::*;

    #[test]
    fn numbers_are_found_once_and_kept_up_to_the_bound() {
        let kept = TermNumbers::default();
        let term = |n: usize| Term::from_field_u64(Field::from_field_id(0), n as u64);
        let ask = |n: usize, found: u64| kept.of::<Infallible>(&term(n), || Ok(found)).unwrap();
        assert_eq!((ask(0, 7), ask(0, 8)), (7, 7));
        for n in 0..3 * FREQUENCIES_KEPT {
            ask(n, 1);
        }
        let all = kept.0.lock();
        assert!(all.new.len() <= FREQUENCIES_KEPT && all.old.len() <= FREQUENCIES_KEPT);
        drop(all);
        assert_eq!(ask(0, 9), 9, "it was not asked for lately");
        assert_eq!(kept.of(&term(usize::MAX), || Err("unreadable")), Err("unreadable"));
    }
}
