//! JSON and JSON-LD files: an object, an array of objects, or an object that lists them under
//! `@graph`, `itemListElement` or `dataFeedElement`. Lists are read element by element.

use super::split::{Piece, Splitter};
use super::{At, Input, Reason, Sink, Stop, linked};

pub(super) fn load(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut splitter = Splitter::new(input);
    loop {
        match splitter.next_piece() {
            Ok(None) => return Ok(()),
            Ok(Some(Piece { at, bytes: Some(bytes) })) => offer(bytes, at, sink)?,
            Ok(Some(Piece { at, bytes: None })) => sink.skip(at, Reason::TooLong)?,
            Err(error) => return Err(Stop::rest(splitter.line(), error)),
        }
    }
}

/// Parses one value and passes on the items in it. What is no item is passed on as skipped.
pub(super) fn offer(bytes: &[u8], at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
    if std::str::from_utf8(bytes).is_err() {
        return sink.skip(at, Reason::NotUtf8);
    }
    match forecourt_core::json::parse(bytes) {
        Ok(value) => linked::each_item(&value, &mut |item| match item.is_object() {
            true => sink.item(at, item, std::ptr::eq(item, &value).then_some(bytes)),
            false => sink.skip(at, Reason::NotAnObject),
        }),
        Err(error) => sink.skip(at, Reason::Broken(format!("broken JSON: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{load_bytes, names};
    use super::*;

    #[test]
    fn arrays_are_read_element_by_element() {
        let bytes = b"[\n{\"name\":\"a\"},\n{\"name\":\"b\",, },\n 17,\n{\"name\":\"c\"}\n]\n";
        let heap = load_bytes(Format::Json, bytes);
        assert_eq!(names(&heap), ["a", "c"]);
        assert_eq!(heap.lines, [2, 5]);
        assert_eq!(heap.skipped.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn one_object_is_one_item() {
        let heap = load_bytes(Format::Json, b" {\"@type\":\"Recipe\",\"name\":\"a ] } b\",\"x\":[1,{\"y\":[]}]} ");
        assert_eq!(names(&heap), ["a ] } b"]);
        assert_eq!(heap.items[0]["x"][1]["y"], serde_json::json!([]));
    }

    #[test]
    fn graphs_and_lists_are_streamed() {
        let graph = b"{\"@context\":\"https://schema.org\",\"@graph\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"x\":1}";
        assert_eq!(names(&load_bytes(Format::Json, graph)), ["a", "b"]);
        let list = b"{\"@type\":\"ItemList\",\"name\":\"L\",\"itemListElement\":[{\"@type\":\"ListItem\",\"item\":{\"name\":\"a\"}}]}";
        assert_eq!(names(&load_bytes(Format::Json, list)), ["a"]);
    }

    #[test]
    fn what_follows_is_read_too() {
        assert_eq!(
            names(&load_bytes(Format::Json, b"{\"name\":\"a\"}\n{\"name\":\"b\"}[{\"name\":\"c\"}]")),
            ["a", "b", "c"]
        );
    }

    #[test]
    fn a_file_that_ends_early_says_so() {
        for bytes in [&b"[{\"name\":\"a\"},"[..], b"[{\"name\":\"a\"}, {\"na", b"{\"@graph\":[{\"name\":\"a\"}"] {
            let heap = load_bytes(Format::Json, bytes);
            assert_eq!(names(&heap), ["a"]);
            assert!(matches!(heap.skipped.as_slice(), [(1, Reason::Rest(_))]), "{:?}", heap.skipped);
        }
    }

    #[test]
    fn an_element_is_too_long_past_the_bound() {
        let element = |bytes: usize| format!("[{{\"name\":\"{}\"}},{{\"name\":\"b\"}}]", "x".repeat(bytes - 11));
        let exact = load_bytes(Format::Json, element(crate::limits::ITEM_BYTES_MAX).as_bytes());
        assert_eq!((exact.items.len(), exact.skipped.len()), (2, 0));
        let longer = load_bytes(Format::Json, element(crate::limits::ITEM_BYTES_MAX + 1).as_bytes());
        assert_eq!(names(&longer), ["b"]);
        assert_eq!(longer.skipped, [(1, Reason::TooLong)]);
    }
}
