//! This module decides which turns of a conversation are kept.

use crate::limits::THREAD_BYTES_MAX;

/// How many of the newest turns stay: at most `keep`, of [`THREAD_BYTES_MAX`] bytes together, but
/// the newest whatever its size. `sizes` are bytes, the newest first.
pub(crate) fn kept(sizes: impl IntoIterator<Item = usize>, keep: usize) -> usize {
    let mut bytes = 0usize;
    let fits = |size: &usize| {
        let first = bytes == 0;
        bytes = bytes.saturating_add(*size);
        first || bytes <= THREAD_BYTES_MAX
    };
    sizes.into_iter().take(keep).take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_keep_turns_stay() {
        assert_eq!(kept([1; 10], 3), 3);
        assert_eq!(kept([1; 2], 3), 2);
        assert_eq!(kept([1; 2], 0), 0);
    }

    #[test]
    fn the_bytes_of_a_conversation_are_bounded() {
        let half = THREAD_BYTES_MAX / 2;
        assert_eq!(kept([half, half, 1], 10), 2);
        assert_eq!(kept([half, half + 1], 10), 1);
    }

    #[test]
    fn the_newest_turn_stays_whatever_its_size() {
        assert_eq!(kept([THREAD_BYTES_MAX + 1, 1], 10), 1);
    }
}
