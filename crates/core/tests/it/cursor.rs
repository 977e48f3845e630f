//! Places in lists of tasks, as callers send them back.

use forecourt_core::store::Cursor;
use forecourt_core::{Error, Timestamp};
use proptest::prelude::*;

#[test]
fn what_is_no_cursor_is_invalid() {
    let cursor = Cursor { updated_at: Timestamp::MAX, place: 1 };
    let good = cursor.to_text();
    assert_eq!(Cursor::from_text(&good).unwrap(), cursor);
    let negative = Cursor { place: -1, ..cursor }.to_text();
    let never = "_".repeat(good.len());
    for text in
        ["", "1", "é", &good[1..], &format!("{good}A"), &format!("{good}="), &negative, &never, &"A".repeat(9_999)]
    {
        assert!(matches!(Cursor::from_text(text), Err(Error::Invalid { field: "cursor", .. })), "{text}");
    }
}

proptest! {
    #[test]
    fn a_cursor_reads_back(second in -9_000_000_000i64..9_000_000_000, nano in 0..1_000_000_000i32, place in 0..i64::MAX) {
        let cursor = Cursor { updated_at: Timestamp::new(second, nano).unwrap(), place };
        let text = cursor.to_text();
        prop_assert_eq!(text.len(), 32);
        prop_assert_eq!(Cursor::from_text(&text).unwrap(), cursor);
    }

    #[test]
    fn no_text_breaks_reading(text in any::<String>()) {
        let _ = Cursor::from_text(&text);
    }
}
