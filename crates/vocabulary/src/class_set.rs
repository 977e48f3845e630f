//! Some of the classes of one vocabulary.

use crate::limits::CLASSES_MAX;

const WORDS: usize = CLASSES_MAX / 64;

/// A set of classes, by their place in the vocabulary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClassSet([u64; WORDS]);

impl ClassSet {
    pub(crate) fn of(class: usize) -> Self {
        let mut set = Self::default();
        set.add(class);
        set
    }

    /// Adds a class by its place. Places over [`CLASSES_MAX`] are passed over: files with more classes are refused when
    /// they are read.
    pub(crate) fn add(&mut self, class: usize) {
        if let Some(word) = self.0.get_mut(class / 64) {
            *word |= 1 << (class % 64);
        }
    }

    pub(crate) fn has(&self, class: usize) -> bool {
        self.0.get(class / 64).is_some_and(|word| word & (1 << (class % 64)) != 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    #[must_use]
    pub(crate) fn with(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    #[must_use]
    pub(crate) fn without(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }

    /// Those that both have.
    #[must_use]
    pub(crate) fn only(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..CLASSES_MAX).filter(move |class| self.has(*class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_added_up_to_the_bound() {
        let mut set = ClassSet::of(3);
        set.add(CLASSES_MAX - 1);
        set.add(CLASSES_MAX);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, CLASSES_MAX - 1]);
        assert_eq!(set.without(ClassSet::of(3)), ClassSet::of(CLASSES_MAX - 1));
        assert!(set.without(set).is_empty() && set.with(ClassSet::of(9)).has(9));
    }
}
