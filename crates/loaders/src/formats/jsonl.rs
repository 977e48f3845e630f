//! JSON Lines: one object a line. A broken line costs itself only.

use std::io::BufRead;

use super::shop::ShopObjects;
use super::{At, Input, Reason, Sink, Stop, json};
use crate::limits::ITEM_BYTES_MAX;

pub(super) fn load(input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut shop = ShopObjects::new(input.shop_url());
    let mut line = Vec::new();
    loop {
        let start = input.at().line;
        let fits = match next_line(input, &mut line).map_err(|error| Stop::rest(start, error))? {
            None => return shop.finish(sink),
            Some(fits) => fits,
        };
        let at = At { line: start, bytes: input.at().bytes };
        let text = line.trim_ascii();
        match fits {
            false => sink.skip(at, Reason::TooLong)?,
            true if text.is_empty() => {}
            true => json::offer(text, at, &mut shop, sink)?,
        }
    }
}

/// Reads up to and with the next newline. `Some(false)` when the line is too long, which is then
/// passed over without being kept; `None` at the end.
fn next_line(input: &mut Input<'_>, line: &mut Vec<u8>) -> std::io::Result<Option<bool>> {
    line.clear();
    let mut length = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok((length > 0).then_some(length <= ITEM_BYTES_MAX));
        }
        let end = memchr::memchr(b'\n', buffer);
        let part = &buffer[..end.unwrap_or(buffer.len())];
        length += part.len() + usize::from(end.is_some());
        // Not kept past the bound, whatever the length of the line: one newline is no part of the item.
        if length <= ITEM_BYTES_MAX + 1 {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(length <= ITEM_BYTES_MAX + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{load_bytes, names};
    use super::*;

    #[test]
    fn a_broken_line_costs_itself_only() {
        let bytes = b"{\"name\":\"a\"}\r\n\n{oops\n\"text\"\n{\"name\":\"\xFF\"}\n{\"name\":\"b\"}";
        let heap = load_bytes(Format::JsonLines, bytes);
        assert_eq!(names(&heap), ["a", "b"]);
        assert_eq!(heap.lines, [1, 6]);
        let lines: Vec<u64> = heap.skipped.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [3, 4, 5]);
        assert_eq!(heap.skipped[1].1, Reason::NotAnObject);
        assert_eq!(heap.skipped[2].1, Reason::NotUtf8);
    }

    #[test]
    fn the_bytes_of_a_line_are_kept_as_they_are() {
        let heap = load_bytes(Format::JsonLines, b"\xEF\xBB\xBF{\"name\": \"a\",  \"x\": 1.50}\r\n");
        assert_eq!(heap.raw, [Some("{\"name\": \"a\",  \"x\": 1.50}".to_owned())]);
    }

    #[test]
    fn a_line_is_too_long_past_the_bound() {
        let line = |bytes: usize| format!("{{\"name\":\"{}\"}}", "x".repeat(bytes - 11));
        for end in ["", "\n", "\n{\"name\":\"b\"}\n"] {
            let exact = load_bytes(Format::JsonLines, (line(ITEM_BYTES_MAX) + end).as_bytes());
            assert!(exact.skipped.is_empty());
            let longer = load_bytes(Format::JsonLines, (line(ITEM_BYTES_MAX + 1) + end).as_bytes());
            assert_eq!(longer.skipped, [(1, Reason::TooLong)]);
        }
    }

    #[test]
    fn nesting_past_the_bound_is_skipped() {
        let depth = forecourt_core::limits::JSON_DEPTH_MAX;
        let line = |n: usize| format!("{{\"name\":\"a\",\"x\":{}1{}}}", "[".repeat(n), "]".repeat(n));
        assert!(load_bytes(Format::JsonLines, line(depth - 1).as_bytes()).skipped.is_empty());
        assert_eq!(load_bytes(Format::JsonLines, line(depth).as_bytes()).skipped.len(), 1);
        assert_eq!(load_bytes(Format::JsonLines, line(100_000).as_bytes()).skipped.len(), 1);
    }
}
