//! This module has the styles in which fields are written into requests to an external service. Section 12.3; the
//! styles are those of OpenAPI's parameters.

use std::collections::BTreeMap;

use super::DefinitionProblem;

/// Header fields that no caller has a say in: the connection's own, and those that say who somebody is.
const KEPT: [&str; 18] = [
    "accept-encoding",
    "agtp-agent-id",
    "agtp-principal-id",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-real-ip",
];

/// A way of writing a field that is not the usual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// In the query; a list repeats the name: `a=1&a=2`.
    Repeat,
    /// In the query: `a=1,2`. Members of an object are listed by name and value.
    Comma,
    /// In the query: `a=1%202`.
    Space,
    /// In the query: `a=1%7C2`.
    Pipe,
    /// In the query, members and items by their names and places in brackets: `a[b]=1&a[c][0]=2`.
    Deep,
    /// In the query, the members of an object as pairs of their own: `b=1`.
    Fields,
    /// In the query, as JSON.
    Json,
    /// In the query, with reserved characters as they are where a query may have them: `a=x/y:z`.
    Reserved,
    /// As a header field; a list with commas, members of an object by name and value.
    Header,
    /// The same, with members of an object as `b=1`.
    HeaderPairs,
    /// As a header field, as JSON.
    HeaderJson,
    /// As a cookie; a list repeats the name.
    Cookie,
    /// In the path, the items of a list, or of a text, between commas: `1,2`.
    Simple,
    /// The same, with members of an object as `b=1`.
    SimplePairs,
    /// In the path, behind a dot: `.1,2`.
    Label,
    /// The same, with a dot before each item: `.1.2`.
    LabelEach,
    /// In the path, as a parameter of its segment: `;a=1,2`.
    Matrix,
    /// The same, with the name before each item: `;a=1;a=2`.
    MatrixEach,
}

/// Where a style puts its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StylePlace {
    /// Behind the `?` of the URL, or into a form.
    Query,
    /// Among the header fields.
    Header,
    /// Into the header field `Cookie`.
    Cookie,
    /// Where the path of the URL names it.
    Path,
}

/// The ways, by their names in files.
const NAMES: [(&str, Style); 18] = [
    ("repeat", Style::Repeat),
    ("comma", Style::Comma),
    ("space", Style::Space),
    ("pipe", Style::Pipe),
    ("deep", Style::Deep),
    ("fields", Style::Fields),
    ("json", Style::Json),
    ("reserved", Style::Reserved),
    ("header", Style::Header),
    ("header-pairs", Style::HeaderPairs),
    ("header-json", Style::HeaderJson),
    ("cookie", Style::Cookie),
    ("simple", Style::Simple),
    ("simple-pairs", Style::SimplePairs),
    ("label", Style::Label),
    ("label-each", Style::LabelEach),
    ("matrix", Style::Matrix),
    ("matrix-each", Style::MatrixEach),
];

impl Style {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, style)| *style == self).map_or("", |(name, _)| name)
    }

    /// Where it puts its field.
    pub fn place(self) -> StylePlace {
        match self {
            Style::Repeat
            | Style::Comma
            | Style::Space
            | Style::Pipe
            | Style::Deep
            | Style::Fields
            | Style::Json
            | Style::Reserved => StylePlace::Query,
            Style::Header | Style::HeaderPairs | Style::HeaderJson => StylePlace::Header,
            Style::Cookie => StylePlace::Cookie,
            Style::Simple
            | Style::SimplePairs
            | Style::Label
            | Style::LabelEach
            | Style::Matrix
            | Style::MatrixEach => StylePlace::Path,
        }
    }
}

/// Reads a table of styles, which is the value of `key`.
///
/// # Errors
/// A style that is none.
pub(super) fn styles(key: &str, table: BTreeMap<String, String>) -> Result<BTreeMap<String, Style>, DefinitionProblem> {
    let style = |(field, name): (String, String)| match NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, style)) => Ok((field, *style)),
        None => {
            let known = NAMES.map(|(name, _)| name).join(", ");
            Err(wrong(format!("`{key}` takes {known} for `{field}`, not `{name}`")))
        }
    };
    table.into_iter().map(style).collect()
}

/// Whether callers may fill a cookie: the operator's own `Cookie` does not have it already.
///
/// # Errors
/// It has.
pub(super) fn is_cookie_for_callers(name: &str, headers: &BTreeMap<String, String>) -> Result<(), DefinitionProblem> {
    // Services differ in which of two cookies of one name they take: the operator's must be the only one.
    let own = headers.iter().filter(|(header, _)| header.eq_ignore_ascii_case("cookie")).map(|(_, value)| value);
    let names = own.flat_map(|value| value.split(';')).filter_map(|pair| pair.split('=').next());
    match names.into_iter().any(|other| other.trim() == name) {
        true => Err(wrong(format!("the cookie `{name}` is not for callers to fill"))),
        false => Ok(()),
    }
}

/// Whether callers may fill a header field that the operator does not fill. `name` is the service's.
///
/// # Errors
/// It is the connection's own, says who somebody is, or is among the operator's `headers`.
pub(super) fn is_for_callers(name: &str, headers: &BTreeMap<String, String>) -> Result<(), DefinitionProblem> {
    let lower = name.to_ascii_lowercase();
    // A caller that fills these could name itself as another client or agent to the service behind.
    let is_kept = KEPT.contains(&lower.as_str()) || lower.starts_with("x-forwarded-");
    if is_kept || headers.keys().any(|other| other.eq_ignore_ascii_case(name)) {
        return Err(wrong(format!("the header field `{name}` is not for callers to fill")));
    }
    Ok(())
}

fn wrong(message: String) -> DefinitionProblem {
    DefinitionProblem::new("handler", "external-service-bad-style", message)
}
