//! JSON and JSON-LD files: an object, an array of objects, or an object that lists them under
//! `@graph`, `itemListElement` or `dataFeedElement`. Lists are read element by element.

use serde_json::Value;

use super::shop::ShopObjects;
use super::split::{List, Piece, Splitter};
use super::{At, Input, Reason, Sink, Stop, json_feed, linked};
use crate::limits::JOINED_BYTES_MAX;

pub(super) fn load(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut shop = ShopObjects::new(input.shop_url());
    let mut splitter = Splitter::new(input);
    let mut graph = Graph::default();
    loop {
        match splitter.next_piece() {
            Ok(Some(Piece { at, list: Some(List::Graph), bytes: Some(bytes), .. })) => graph.take(bytes, at, sink)?,
            Ok(Some(Piece { at, list: Some(List::Feed), language, bytes: Some(bytes) })) => {
                if let Some(entry) = parsed(bytes, at, sink)? {
                    sink.item(at, &json_feed::item(&entry, language), None)?;
                }
            }
            Ok(Some(Piece { at, bytes: Some(bytes), .. })) => {
                graph.finish(sink)?;
                offer(bytes, at, &mut shop, sink)?;
            }
            Ok(Some(Piece { at, bytes: None, .. })) => sink.skip(at, Reason::TooLong)?,
            Ok(None) => {
                graph.finish(sink)?;
                return shop.finish(sink);
            }
            Err(error) => {
                // The items before the break are items all the same.
                let line = splitter.line();
                graph.finish(sink)?;
                return Err(Stop::rest(line, error));
            }
        }
    }
}

/// The nodes of a graph, which are read together, since they refer to each other.
#[derive(Default)]
struct Graph {
    nodes: Vec<Value>,
    /// Where each is, and how it is written.
    places: Vec<(At, Vec<u8>)>,
    bytes: usize,
}

impl Graph {
    fn take(&mut self, bytes: &[u8], at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Some(node) = parsed(bytes, at, sink)? else { return Ok(()) };
        linked::tell_price(&node, at, sink)?;
        // A graph that is longer is joined in parts: references between these do not hold, and memory does.
        if self.bytes + bytes.len() > JOINED_BYTES_MAX {
            self.finish(sink)?;
        }
        self.bytes += bytes.len();
        self.nodes.push(node);
        self.places.push((at, bytes.to_vec()));
        Ok(())
    }

    fn finish(&mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Self { nodes, places, .. } = std::mem::take(self);
        linked::of_graph(&nodes, &mut |at, item| {
            let Some((node, (place, bytes))) = nodes.get(at).zip(places.get(at)) else { return Ok(()) };
            match item.is_object() {
                // Only a node that was not joined still is as the file has it.
                true => sink.item(*place, item, (node == item).then_some(bytes)),
                false => sink.skip(*place, Reason::NotAnObject),
            }
        })
    }
}

/// Parses one value and passes on the items in it. What is no item is passed on as skipped.
pub(super) fn offer(bytes: &[u8], at: At, shop: &mut ShopObjects, sink: &mut dyn Sink) -> Result<(), Stop> {
    match parsed(bytes, at, sink)? {
        Some(value) if ShopObjects::are(&value) => shop.take(&value, at, sink),
        Some(value) => linked::offer(&value, at, Some(bytes), sink),
        None => Ok(()),
    }
}

fn parsed(bytes: &[u8], at: At, sink: &mut dyn Sink) -> Result<Option<Value>, Stop> {
    if std::str::from_utf8(bytes).is_err() {
        return sink.skip(at, Reason::NotUtf8).map(|()| None);
    }
    match forecourt_core::json::parse(bytes) {
        Ok(value) => Ok(Some(value)),
        Err(error) => sink.skip(at, Reason::Broken(format!("broken JSON: {error}"))).map(|()| None),
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
