//! Where a request goes: a URL of the operator's, in whose path and query fields of the input stand.
//!
//! What a caller says is percent-encoded into one segment of the path or one value of the query. It
//! never reaches the host, and never makes a segment that leads up.

use std::borrow::Cow;
use std::collections::BTreeSet;

use forecourt_contract::Violation;
use forecourt_contract::endpoint::Style;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::encoding::{encoded, word};
use super::pairs::named_items;
use crate::unfit::HandlerProblem;

/// A URL with `{name}` after its host.
#[derive(Debug)]
pub(super) struct Address {
    /// Scheme, host and port, as they were written.
    origin: String,
    /// The segments of the path.
    path: Vec<Pieces>,
    /// The pairs of the query.
    query: Vec<Pieces>,
    /// Bytes that it may have once it is filled in.
    bytes_max: usize,
}

/// A text in which fields of the input stand.
type Pieces = Vec<Piece>;

#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    Field(String),
    /// A field of the path that has parts, the service's name for it, and how they are written.
    Styled(String, String, Style),
}

impl Piece {
    fn field(&self) -> Option<&str> {
        match self {
            Piece::Text(_) => None,
            Piece::Field(name) | Piece::Styled(name, ..) => Some(name),
        }
    }
}

impl Address {
    /// Reads a URL that has at most `bytes_max` bytes once it is filled in.
    ///
    /// # Errors
    /// Braces that are not `{name}`, or that stand in the name of a pair.
    pub(super) fn parse(url: &str, bytes_max: usize) -> Result<Address, HandlerProblem> {
        // The URL is cut here and not by a parser, which would refuse or encode the braces.
        let host = url.find("://").map_or(0, |at| at + 3);
        let end = url[host..].find(['/', '?']).map_or(url.len(), |at| host + at);
        let (origin, rest) = url.split_at(end);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let segments = path.split('/').skip(1).map(pieces).collect::<Result<_, _>>()?;
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect::<Result<_, _>>()?;
        Ok(Address { origin: origin.to_owned(), path: segments, query: pairs, bytes_max })
    }

    /// The fields that stand in it.
    pub(super) fn fields(&self) -> BTreeSet<&str> {
        let all = self.path.iter().chain(&self.query).flatten();
        all.filter_map(Piece::field).collect()
    }

    /// Has a field of the path written in a style of its own, under the service's name for it.
    ///
    /// # Errors
    /// It does not stand in the path.
    pub(super) fn style(&mut self, field: &str, theirs: &str, style: Style) -> Result<(), HandlerProblem> {
        let mut is_there = false;
        for piece in self.path.iter_mut().flatten().filter(|piece| piece.field() == Some(field)) {
            *piece = Piece::Styled(field.to_owned(), theirs.to_owned(), style);
            is_there = true;
        }
        let message = format!("`input_styles` writes `{field}` into the path, where `url` must take it");
        let problem = || HandlerProblem::new(format!("external-service-style-undeclared:{field}"), message);
        is_there.then_some(()).ok_or_else(problem)
    }

    /// The URL for an input: its fields in their places, and `more` behind the query, encoded already. A
    /// pair whose field was not given is left out.
    ///
    /// # Errors
    /// A field of the path that was not given or can't stand there, a name of `more` that the operator gave a
    /// value, or too much for a URL.
    pub(super) fn fill(&self, input: &Map<String, Value>, more: &[String]) -> Result<String, Violation> {
        let mut url = self.origin.clone();
        for segment in &self.path {
            url.push('/');
            url.push_str(&segment_text(segment, input)?);
        }
        let mut pairs: Vec<String> = Vec::new();
        for pieces in &self.query {
            pairs.extend(filled(pieces, input)?);
        }
        // Services differ over which of two equal names counts; a caller must not be able to override the operator's
        // `api_key=…`.
        if let Some(name) = more.iter().map(|pair| name_of(pair)).find(|name| self.is_set(name)) {
            return Err(Violation::new("", format!("`{name}` is said in the address of the service already")));
        }
        pairs.extend(more.iter().cloned());
        if !pairs.is_empty() {
            url.push('?');
            url.push_str(&pairs.join("&"));
        }
        // Checked here as well as by egress, so that the caller learns which of its fields are too much, and not
        // "unreachable".
        if url.len() > self.bytes_max {
            let most = self.bytes_max;
            let detail = format!(
                "this makes an address of the service of more than {most} bytes, which is all that it may have"
            );
            return Err(Violation::new("", detail));
        }
        Ok(url)
    }

    /// Whether the query has a pair of that name, so that a second one would contradict the operator's.
    fn is_set(&self, name: &str) -> bool {
        let starts = self.query.iter().filter_map(|pieces| pieces.first());
        starts.into_iter().any(|start| matches!(start, Piece::Text(text) if name_of(text) == name))
    }

    /// A URL as it could be, to look at before there is a call.
    pub(super) fn sample(&self) -> Result<String, Violation> {
        let input = self.fields().into_iter().map(|name| (name.to_owned(), Value::from("x"))).collect();
        self.fill(&input, &[])
    }
}

/// A segment with its fields filled in. Nothing that means a folder must come out of it: decoded, since it
/// means one however it is spelled, and cut where services cut that decode before they look.
fn segment_text(segment: &Pieces, input: &Map<String, Value>) -> Result<String, Violation> {
    let field = segment.iter().find_map(Piece::field);
    let text = filled(segment, input)?;
    let Some(name) = field else { return Ok(text.unwrap_or_default()) };
    let fits = |text: &String| {
        // `%2e%2e` is `..` to a service that decodes first, and `..%2f` is one after it was cut.
        let text = percent_decode_str(text).decode_utf8_lossy();
        let leads_up = text.split(['/', '\\']).any(|piece| matches!(piece, "." | ".."));
        !text.is_empty() && !leads_up && !text.chars().any(char::is_control)
    };
    text.filter(fits).ok_or_else(|| Violation::of_field(name, "this can't be part of the path of the service"))
}

/// The text with its fields filled in. `None`: one of them was not given.
fn filled(pieces: &Pieces, input: &Map<String, Value>) -> Result<Option<String>, Violation> {
    let mut whole = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => whole.push_str(text),
            Piece::Styled(field, theirs, style) => match input.get(field) {
                None | Some(Value::Null) => return Ok(None),
                Some(value) => whole.push_str(&parted(value, theirs, *style)),
            },
            Piece::Field(name) => match input.get(name) {
                None | Some(Value::Null) => return Ok(None),
                Some(value) => {
                    let text = word(value).ok_or_else(|| {
                        Violation::of_field(
                            name,
                            "only a text, a number or a truth value fits into the address of the service",
                        )
                    })?;
                    whole.push_str(&encoded(&text));
                }
            },
        }
    }
    Ok(Some(whole))
}

/// A value in the path that may have parts: those of a list or an object, or of a text between commas.
/// RFC 6570 3.2.
fn parted(value: &Value, name: &str, style: Style) -> String {
    let parts: Vec<(Option<String>, String)> = match value {
        Value::String(text) => text.split(',').map(|item| (None, item.to_owned())).collect(),
        value => named_items(value),
    };
    let plain = || {
        let words = parts.iter().flat_map(|(name, item)| name.iter().chain([item])).map(|word| encoded(word));
        words.collect::<Vec<_>>().join(",")
    };
    let each = |before: &str, between: &str, name: &str| {
        let paired = |(own, item): &(Option<String>, String)| match own {
            Some(own) => format!("{}={}", encoded(own), encoded(item)),
            None if name.is_empty() => encoded(item),
            None => format!("{}={}", encoded(name), encoded(item)),
        };
        format!("{before}{}", parts.iter().map(paired).collect::<Vec<_>>().join(between))
    };
    match style {
        Style::SimplePairs => each("", ",", ""),
        Style::Label => format!(".{}", plain()),
        Style::LabelEach => each(".", ".", ""),
        Style::Matrix => format!(";{}={}", encoded(name), plain()),
        Style::MatrixEach => each(";", ";", name),
        _ => plain(),
    }
}

/// The name of a pair, decoded: one name has many spellings.
fn name_of(pair: &str) -> Cow<'_, str> {
    percent_decode_str(pair.split('=').next().unwrap_or_default()).decode_utf8_lossy()
}

/// One pair of the query, in whose name no field stands.
fn pair(text: &str) -> Result<Pieces, HandlerProblem> {
    let name = text.split('=').next().unwrap_or_default();
    if name.contains(['{', '}']) {
        return Err(bad());
    }
    pieces(text)
}

fn pieces(text: &str) -> Result<Pieces, HandlerProblem> {
    let (mut pieces, mut rest) = (Pieces::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(bad)?;
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        if !is_name || before.contains('}') {
            return Err(bad());
        }
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(Piece::Field(name.to_owned()));
        rest = after;
    }
    if rest.contains('}') {
        return Err(bad());
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Ok(pieces)
}

/// Says nothing of the text, which may hold a secret of the environment.
fn bad() -> HandlerProblem {
    let message = "a field of the input is written {name} in `url`, in its path or in a value of its query";
    HandlerProblem::new("external-service-bad-placeholder", message)
}

#[cfg(test)]
mod tests;
