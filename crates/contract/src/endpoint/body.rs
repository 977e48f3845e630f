//! This module reads how the body of a request to an external service is written. Section 12.3 knows JSON alone;
//! services also take forms, files and texts.

use std::collections::BTreeMap;

use super::style::styles;
use super::{BodySettings, DefinitionProblem, Style, StylePlace};

/// What `media` says when a request has no body.
const NONE: &str = "none";

/// The body of a request to an external service.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestBody {
    /// How it is written.
    pub media: BodyMedia,
    /// Whether there is one even when a caller gives nothing for it.
    pub is_required: bool,
    /// The field whose value is the whole body. `None`: all fields that go nowhere else are its members.
    pub field: Option<String>,
    /// How fields are written in a form, by our names.
    pub styles: BTreeMap<String, Style>,
    /// Fields that are files, by our names, and their media types where they do not say them.
    pub files: BTreeMap<String, String>,
}

/// How a body is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyMedia {
    /// There is none: what goes nowhere else goes into the query.
    Nothing,
    /// JSON, of this media type.
    Json(String),
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
    /// A text, of this media type.
    Text(String),
    /// Bytes out of base64 or a `data:` URL, of this media type.
    Bytes(String),
}

impl BodyMedia {
    /// What a media type is written as. `None`: it is no media type.
    ///
    /// ```
    /// use forecourt_contract::endpoint::BodyMedia;
    ///
    /// assert_eq!(BodyMedia::read("application/x-www-form-urlencoded"), Some(BodyMedia::Form));
    /// assert_eq!(BodyMedia::read("text/csv"), Some(BodyMedia::Text("text/csv".into())));
    /// assert_eq!(BodyMedia::read("csv"), None);
    /// ```
    pub fn read(media: &str) -> Option<BodyMedia> {
        if media == NONE {
            return Some(BodyMedia::Nothing);
        }
        let essence = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let (kind, subtype) = essence.split_once('/')?;
        let is_token = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
        };
        // It becomes the value of `Content-Type` as it is: a line break in it would begin another field.
        let is_plain = media.bytes().all(|b| (b' '..=b'~').contains(&b));
        if !is_token(kind) || !is_token(subtype) || !is_plain {
            return None;
        }
        // Subtypes of `application` that are texts; whatever is not known here is bytes, which loses nothing.
        let is_text = kind == "text"
            || ["xml", "yaml", "x-yaml", "x-ndjson", "jsonl", "javascript", "sql", "graphql", "csv"].contains(&subtype)
            || subtype.ends_with("+xml")
            || subtype.ends_with("+yaml");
        Some(match essence.as_str() {
            "application/x-www-form-urlencoded" => BodyMedia::Form,
            "multipart/form-data" => BodyMedia::Multipart,
            "application/json" | "text/json" => BodyMedia::Json(media.to_owned()),
            _ if subtype.ends_with("+json") => BodyMedia::Json(media.to_owned()),
            _ if is_text => BodyMedia::Text(media.to_owned()),
            _ => BodyMedia::Bytes(media.to_owned()),
        })
    }

    /// Whether it has members, so that fields of an input can be these.
    fn has_members(&self) -> bool {
        matches!(self, BodyMedia::Json(_) | BodyMedia::Form | BodyMedia::Multipart)
    }
}

/// Reads the table `body`.
///
/// # Errors
/// A media type that is none, a body without members and without its field, or styles and files where a body
/// has none.
pub(super) fn body(mut settings: BodySettings) -> Result<RequestBody, DefinitionProblem> {
    let written = settings.media.take().unwrap_or_default();
    let Some(media) = BodyMedia::read(&written) else {
        return Err(wrong(format!("`media` is a media type such as application/json, or `none`, not `{written}`")));
    };
    let is_nothing = media == BodyMedia::Nothing;
    if settings.field.is_none() && !is_nothing && !media.has_members() {
        return Err(wrong(format!("a body of {written} needs `field`, the field of the input that it is")));
    }
    if is_nothing && (settings.field.is_some() || settings.is_required) {
        return Err(wrong("without a body there is no `field` of it, and it is not required".to_owned()));
    }
    let is_formed = matches!(media, BodyMedia::Form | BodyMedia::Multipart);
    if !is_formed && !settings.styles.is_empty() {
        return Err(wrong("`styles` are those of a form".to_owned()));
    }
    if media != BodyMedia::Multipart && !settings.files.is_empty() {
        return Err(wrong("`files` are those of multipart/form-data".to_owned()));
    }
    let is_media = |media: &str| !matches!(BodyMedia::read(media), None | Some(BodyMedia::Nothing));
    if let Some((field, media)) = settings.files.iter().find(|(_, media)| !is_media(media)) {
        return Err(wrong(format!("`files` leads from `{field}` to a media type, not to `{media}`")));
    }
    let styles = styles("body.styles", std::mem::take(&mut settings.styles))?;
    if let Some((field, style)) = styles.iter().find(|(_, style)| style.place() != StylePlace::Query) {
        return Err(wrong(format!("`{}` is no style of a field in a form, such as `{field}`", style.name())));
    }
    let BodySettings { is_required, field, files, .. } = settings;
    Ok(RequestBody { media, is_required, field, styles, files })
}

fn wrong(message: String) -> DefinitionProblem {
    DefinitionProblem::new("handler", "external-service-bad-body", message)
}
