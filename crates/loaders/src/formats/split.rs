//! Cutting a JSON file into its items without parsing it: only brackets and quotes are looked at,
//! so one broken element does not take the others with it, and nothing is held but the element.

use std::io::{self, BufRead};

use super::json_feed::VERSION;
use super::{At, Input};
use crate::limits::ITEM_BYTES_MAX;

/// Keys of a top-level object whose array holds the items.
const LISTS: &[(&[u8], List)] = &[
    (b"\"@graph\"", List::Graph),
    (b"\"itemListElement\"", List::Items),
    (b"\"dataFeedElement\"", List::Items),
    (b"\"items\"", List::Feed),
    (b"\"products\"", List::Products),
];

/// The kind of a list of items in a JSON document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// Items.
    Items,
    /// Nodes of JSON-LD, which refer to each other.
    Graph,
    /// Entries of a JSON Feed.
    Feed,
    /// Products of a shop.
    Products,
}

/// The bytes of one value, `None` when they are too many.
pub(super) struct Piece<'s> {
    pub(super) at: At,
    /// The list of a top-level object that it is in.
    pub(super) list: Option<List>,
    /// The language that the object says it is in, before its list.
    pub(super) language: Option<&'s str>,
    pub(super) bytes: Option<&'s [u8]>,
}

/// Walks through a file.
pub(super) struct Splitter<'i, 'a> {
    input: &'i mut Input<'a>,
    place: Place,
    value: CapturedValue,
    /// The members of a top-level object that are not its list of items.
    object: CapturedValue,
    object_at: At,
    had_list: bool,
    language: Option<String>,
}

/// Which part of the file comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Top,
    /// Between the elements of a list; which one, when it lies in a top-level object.
    List(Option<List>),
    Object,
}

/// What is kept of a value while its end is looked for.
#[derive(Default)]
struct CapturedValue {
    bytes: Vec<u8>,
    too_long: bool,
}

impl CapturedValue {
    fn clear(&mut self) {
        self.bytes.clear();
        self.too_long = false;
    }

    fn extend(&mut self, bytes: &[u8]) {
        // The end is looked for all the same, so that the next item begins where it does.
        self.too_long |= self.bytes.len() + bytes.len() > ITEM_BYTES_MAX;
        if !self.too_long {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn fitting(&self) -> Option<&[u8]> {
        (!self.too_long).then_some(self.bytes.as_slice())
    }
}

impl<'i, 'a> Splitter<'i, 'a> {
    pub(super) fn new(input: &'i mut Input<'a>) -> Self {
        let object_at = input.at();
        Self {
            input,
            place: Place::Top,
            value: CapturedValue::default(),
            object: CapturedValue::default(),
            object_at,
            had_list: false,
            language: None,
        }
    }

    /// The line that is being read.
    pub(super) fn line(&self) -> u64 {
        self.input.at().line
    }

    /// The next item. Fails when the file ends inside a value.
    pub(super) fn next_piece(&mut self) -> io::Result<Option<Piece<'_>>> {
        loop {
            let next = self.peek_past_space()?;
            match (self.place, next) {
                (Place::Top, None) => return Ok(None),
                (_, None) => return Err(io::Error::other("it ends inside a list or an object")),
                (_, Some(b',')) => self.input.consume(1),
                (Place::Top, Some(b'[')) => self.enter(Place::List(None)),
                (Place::Top, Some(b'{')) => self.enter_object(),
                (Place::List(inside), Some(b']')) => {
                    self.enter(if inside.is_some() { Place::Object } else { Place::Top })
                }
                (Place::Object, Some(b'}')) => {
                    self.enter(Place::Top);
                    // Where a list was read from it, the object is the list's wrapping and no item itself.
                    if !self.had_list {
                        self.object.extend(b"}");
                        return Ok(Some(Piece {
                            at: self.object_at,
                            list: None,
                            language: None,
                            bytes: self.object.fitting(),
                        }));
                    }
                }
                (Place::Object, Some(_)) => self.member()?,
                (Place::Top | Place::List(_), Some(_)) => {
                    let line = self.line();
                    self.capture()?;
                    let at = At { line, bytes: self.input.at().bytes };
                    let list = if let Place::List(list) = self.place { list } else { None };
                    return Ok(Some(Piece {
                        at,
                        list,
                        language: self.language.as_deref(),
                        bytes: self.value.fitting(),
                    }));
                }
            }
        }
    }

    fn enter(&mut self, place: Place) {
        self.input.consume(1);
        self.place = place;
    }

    fn enter_object(&mut self) {
        self.object_at = self.input.at();
        self.object.clear();
        self.object.extend(b"{");
        self.had_list = false;
        self.enter(Place::Object);
    }

    /// One `"key": value`. A list of items is entered, everything else is kept.
    fn member(&mut self) -> io::Result<()> {
        self.capture()?;
        let list = LISTS.iter().find(|(key, _)| *key == self.value.bytes.as_slice()).map(|(_, list)| *list);
        // What is called items may be anything, unless the file has said that it is a feed.
        let is_feed = || memchr::memmem::find(&self.object.bytes, VERSION.as_bytes()).is_some();
        // Behind other members, products may be those of a shop that is the item itself.
        let is_first = self.object.bytes == b"{";
        let list = list.filter(|list| match list {
            List::Feed => is_feed(),
            List::Products => is_first,
            List::Items | List::Graph => true,
        });
        if self.object.bytes.len() > 1 {
            self.object.extend(b",");
        }
        self.keep_value();
        if self.peek_past_space()? != Some(b':') {
            return Ok(());
        }
        self.input.consume(1);
        self.object.extend(b":");
        if let Some(list) = list
            && self.peek_past_space()? == Some(b'[')
        {
            self.had_list = true;
            self.language = (list == List::Feed).then(|| self.said_language()).flatten();
            self.enter(Place::List(Some(list)));
            return Ok(());
        }
        if matches!(self.peek_past_space()?, Some(b'}' | b',')) {
            return Ok(());
        }
        self.capture()?;
        self.keep_value();
        Ok(())
    }

    /// The language that the object has named so far. The key of its list is the last thing in it.
    fn said_language(&self) -> Option<String> {
        // `null` stands in for the list, whose elements are not read yet.
        let whole = [&self.object.bytes, &b"null}"[..]].concat();
        let object: serde_json::Value = serde_json::from_slice(&whole).ok()?;
        Some(object.get("language")?.as_str()?.to_owned())
    }

    fn keep_value(&mut self) {
        self.object.too_long |= self.value.too_long;
        self.object.extend(&self.value.bytes);
    }

    fn peek_past_space(&mut self) -> io::Result<Option<u8>> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            match buffer.iter().position(|b| !b.is_ascii_whitespace()) {
                Some(at) => {
                    let byte = buffer[at];
                    self.input.consume(at);
                    return Ok(Some(byte));
                }
                None => {
                    let all = buffer.len();
                    self.input.consume(all);
                }
            }
        }
    }

    /// Reads one value into `self.value`; the next byte is its first. Always consumes something.
    fn capture(&mut self) -> io::Result<()> {
        self.value.clear();
        let mut scan = Scan::default();
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return match scan.is_open() {
                    true => Err(io::Error::other("it ends inside a value")),
                    false => Ok(()),
                };
            }
            let (used, done) = scan.feed(buffer);
            self.value.extend(&buffer[..used]);
            self.input.consume(used);
            if done {
                return Ok(());
            }
        }
    }
}

/// Finds the end of one value.
#[derive(Default)]
struct Scan {
    depth: usize,
    quoted: bool,
    escaped: bool,
    begun: bool,
}

impl Scan {
    fn is_open(&self) -> bool {
        self.depth > 0 || self.quoted
    }

    /// How many of the bytes belong to the value, and whether it ends with them.
    fn feed(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (at, byte) in bytes.iter().enumerate() {
            let first = !std::mem::replace(&mut self.begun, true);
            if self.quoted {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.quoted = false,
                    _ => {}
                }
                if self.quoted || self.depth > 0 {
                    continue;
                }
                return (at + 1, true);
            }
            match byte {
                // Two values without a comma between them: the first ends here, and both are read.
                b'"' if self.depth == 0 && !first => return (at, true),
                b'"' => self.quoted = true,
                b'{' | b'[' if self.depth == 0 && !first => return (at, true),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 1 => self.depth -= 1,
                b'}' | b']' if self.depth == 1 || first => return (at + 1, true),
                b'}' | b']' => return (at, true),
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => {
                    return (at + usize::from(first), true);
                }
                _ => {}
            }
        }
        (bytes.len(), false)
    }
}
