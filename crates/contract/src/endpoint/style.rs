//! How fields are written into the requests of an external service. Section 12.3; the styles are those
//! of OpenAPI's parameters.

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
    /// In the query, the members of an object by their names in brackets: `a[b]=1`.
    Deep,
    /// In the query, the members of an object as pairs of their own: `b=1`.
    Fields,
    /// In the query, as JSON.
    Json,
    /// As a header field; a list with commas.
    Header,
}

/// The ways, by their names in files.
const NAMES: [(&str, Style); 8] = [
    ("repeat", Style::Repeat),
    ("comma", Style::Comma),
    ("space", Style::Space),
    ("pipe", Style::Pipe),
    ("deep", Style::Deep),
    ("fields", Style::Fields),
    ("json", Style::Json),
    ("header", Style::Header),
];

impl Style {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, style)| *style == self).map_or("", |(name, _)| name)
    }
}

/// Reads the table of styles.
///
/// # Errors
/// A style that is none.
pub(super) fn styles(table: BTreeMap<String, String>) -> Result<BTreeMap<String, Style>, DefinitionProblem> {
    let style = |(field, name): (String, String)| match NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, style)) => Ok((field, *style)),
        None => {
            let known = NAMES.map(|(name, _)| name).join(", ");
            Err(wrong(format!("`input_styles` takes {known} for `{field}`, not `{name}`")))
        }
    };
    table.into_iter().map(style).collect()
}

/// Whether callers may fill a header field that the operator does not fill. `name` is the service's.
///
/// # Errors
/// It is the connection's own, says who somebody is, or is among the operator's `headers`.
pub(super) fn is_for_callers(name: &str, headers: &BTreeMap<String, String>) -> Result<(), DefinitionProblem> {
    let lower = name.to_ascii_lowercase();
    let is_kept = KEPT.contains(&lower.as_str()) || lower.starts_with("x-forwarded-");
    if is_kept || headers.keys().any(|other| other.eq_ignore_ascii_case(name)) {
        return Err(wrong(format!("the header field `{name}` is not for callers to fill")));
    }
    Ok(())
}

fn wrong(message: String) -> DefinitionProblem {
    DefinitionProblem::new("handler", "external-service-bad-style", message)
}
