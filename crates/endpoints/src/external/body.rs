//! The body of a request: JSON, a form, a text or bytes, or none.

use std::collections::BTreeMap;

use bytes::Bytes;
use forecourt_contract::endpoint::{BodyMedia, ExternalService, RequestBody, Style};
use forecourt_contract::{Schema, Violation};
use http::{HeaderValue, Method};
use serde_json::{Map, Value};

use super::file::file;
use super::multipart::Multipart;
use super::pairs::Pairs;
use crate::limits::FORM_BYTES_MAX;
use crate::unfit::HandlerProblem;

/// How the bodies of one service are written.
#[derive(Debug)]
pub(super) struct Body {
    media: BodyMedia,
    is_required: bool,
    field: Option<String>,
    /// By the service's names.
    styles: BTreeMap<String, Style>,
    files: BTreeMap<String, String>,
}

/// A body and its media type.
pub(super) type WrittenBody = (HeaderValue, Bytes);

impl Body {
    /// Reads the service's own part of a binding. `fields` are those of the input that do not stand in its URL.
    ///
    /// # Errors
    /// A field that there is not, or a media type that no header field can have.
    pub(super) fn new(service: &ExternalService, fields: &[&str], input: &Schema) -> Result<Body, HandlerProblem> {
        let Some(body) = service.body.clone() else { return Ok(Body::usual(&service.method)) };
        let RequestBody { media, is_required, field, styles, files } = body;
        let named = field.iter().chain(styles.keys()).chain(files.keys());
        if let Some(name) = named.into_iter().find(|name| !fields.contains(&name.as_str()) || !input.declares(name)) {
            let message = format!("`body` names `{name}`, which the input must declare and `url` must not take");
            return Err(HandlerProblem::new(format!("external-service-body-undeclared:{name}"), message));
        }
        if let Some(name) = field.iter().find(|name| service.styles.contains_key(*name)) {
            let message = format!("`{name}` can't be the body and stand elsewhere by `input_styles`");
            return Err(HandlerProblem::new("external-service-bad-body", message));
        }
        let theirs = |ours: String| service.input_transform.get(&ours).cloned().unwrap_or(ours);
        let body = Body {
            media,
            is_required,
            field,
            styles: styles.into_iter().map(|(name, style)| (theirs(name), style)).collect(),
            files: files.into_iter().map(|(name, media)| (theirs(name), media)).collect(),
        };
        Ok(body)
    }

    /// What a method has when nothing else is said.
    fn usual(method: &str) -> Body {
        let has_body = [Method::POST, Method::PUT, Method::PATCH].iter().any(|other| other.as_str() == method);
        let media = match has_body {
            true => BodyMedia::Json("application/json".to_owned()),
            false => BodyMedia::Nothing,
        };
        Body { media, is_required: has_body, field: None, styles: BTreeMap::new(), files: BTreeMap::new() }
    }

    /// Whether what goes nowhere else goes into the body, and not into the query.
    pub(super) fn takes_the_rest(&self) -> bool {
        self.media != BodyMedia::Nothing && self.field.is_none()
    }

    /// Takes the field that is the whole body.
    pub(super) fn take(&self, input: &mut Map<String, Value>) -> Option<Value> {
        let value = input.remove(self.field.as_ref()?)?;
        let is_json = matches!(self.media, BodyMedia::Json(_));
        // In JSON `null` is a body; as a text or a file it is the absence of one.
        Some(value).filter(|value| is_json || !value.is_null())
    }

    /// The body out of its field, or else out of its members under the service's names. `None`: there is none.
    ///
    /// # Errors
    /// A text that is no base64 where bytes are wanted, or more than fits.
    pub(super) fn write(
        &self,
        whole: Option<Value>,
        members: Map<String, Value>,
    ) -> Result<Option<WrittenBody>, Violation> {
        let is_whole = self.field.is_some();
        let is_given = if is_whole { whole.is_some() } else { !members.is_empty() };
        if self.media == BodyMedia::Nothing || !(is_given || self.is_required) {
            return Ok(None);
        }
        let value = if is_whole { whole.unwrap_or_else(|| self.nothing()) } else { Value::Object(members) };
        let (media, bytes) = match &self.media {
            BodyMedia::Nothing => return Ok(None),
            BodyMedia::Json(media) => (media.clone(), value.to_string().into()),
            BodyMedia::Form => ("application/x-www-form-urlencoded".to_owned(), self.form(&value)?),
            BodyMedia::Multipart => self.multipart(&value)?,
            BodyMedia::Text(media) => text(media, &value),
            BodyMedia::Bytes(media) => {
                let file = file(&value).map_err(|why| self.violation(why))?;
                (media.clone(), file.map(|file| file.bytes).unwrap_or_default())
            }
        };
        let media = HeaderValue::try_from(media).map_err(|_| self.violation("the body has no plain media type"))?;
        Ok(Some((media, bytes)))
    }

    fn nothing(&self) -> Value {
        match self.media {
            BodyMedia::Text(_) | BodyMedia::Bytes(_) => "".into(),
            _ => Value::Object(Map::new()),
        }
    }

    fn form(&self, value: &Value) -> Result<Bytes, Violation> {
        let mut pairs = Pairs::within(FORM_BYTES_MAX);
        for (name, value) in value.as_object().into_iter().flatten() {
            pairs.add(name, value, self.style(name, value));
        }
        let text = pairs.joined().ok_or_else(|| self.violation("this is more than a form for the service may have"))?;
        Ok(text.into())
    }

    /// How a field of a form is written: as its service says, else an object as JSON. OpenAPI 3.1, 4.8.15.
    fn style(&self, name: &str, value: &Value) -> Style {
        let usual = if value.is_object() { Style::Json } else { Style::Repeat };
        self.styles.get(name).copied().unwrap_or(usual)
    }

    fn multipart(&self, value: &Value) -> Result<(String, Bytes), Violation> {
        let mut parts = Multipart::default();
        for (name, value) in value.as_object().into_iter().flatten() {
            let added = match self.files.get(name) {
                Some(media) => parts.files(name, value, media),
                None => parts.add(name, value, self.style(name, value)),
            };
            added.map_err(|why| Violation::of_field(name, why))?;
        }
        Ok(parts.finish())
    }

    fn violation(&self, why: &str) -> Violation {
        match &self.field {
            Some(field) => Violation::of_field(field, why),
            None => Violation::new("", why),
        }
    }
}

/// A text as it is. It is UTF-8, which says so where it is not plain.
fn text(media: &str, value: &Value) -> (String, Bytes) {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_known = text.is_ascii() || !media.starts_with("text/") || media.to_ascii_lowercase().contains("charset");
    let media = if is_known { media.to_owned() } else { format!("{media}; charset=utf-8") };
    (media, text.into())
}
