//! The body of a request: as fields of the input where it is an object with names, else as one field.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::endpoint::{BodyMedia, Style};
use serde_json::{Map, Value, json};

use super::body::{self, Fields};
use super::dialect::is_flagged;
use super::fields::{Field, name, plain};
use super::media::{self, Representation};
use super::notes::{ImportNotes, Part};
use super::operation::Operation;
use super::rules::{of_optional, rules};
use super::style::{self, Shape};
use crate::limits::FIELDS_MAX;

/// The methods that have a body without it being said.
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];
/// The media type of files that do not say theirs.
const ANY_FILE: &str = "application/octet-stream";

/// What an endpoint's file says of the body.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BodyBinding {
    /// The media type, or `none`.
    pub(super) media: String,
    pub(super) is_required: bool,
    /// The field that is the whole body.
    pub(super) field: Option<String>,
    /// How fields are written in a form, by our names.
    pub(super) styles: BTreeMap<String, Style>,
    /// Fields that are files, by our names.
    pub(super) files: BTreeMap<String, String>,
}

/// The body of an operation, before its fields have names.
pub(super) struct DeclaredBody<'a> {
    found: Representation<'a>,
    is_required: bool,
    /// `None`: it is one field as a whole.
    fields: Option<Fields>,
}

/// What became of a body.
#[derive(Default)]
pub(super) struct BoundBody {
    /// `None`: it is what its method usually has.
    pub(super) binding: Option<BodyBinding>,
    /// Our names of its fields to the service's, where they differ.
    pub(super) transform: BTreeMap<String, String>,
    /// Which fields go together, as keywords of the input.
    pub(super) rules: Map<String, Value>,
}

/// What an operation without a body says of it.
pub(super) fn without(operation: &Operation<'_>) -> BoundBody {
    let none = || BodyBinding { media: "none".to_owned(), ..BodyBinding::default() };
    BoundBody { binding: WITH_BODY.contains(&operation.http.as_str()).then(none), ..BoundBody::default() }
}

impl<'a> DeclaredBody<'a> {
    /// Reads the body of an operation. `None`: it has none.
    ///
    /// # Errors
    /// It is declared by a reference that leads nowhere.
    pub(super) fn read(operation: &Operation<'a>) -> Result<Option<DeclaredBody<'a>>, String> {
        let Some(body) = operation.value.get("requestBody") else { return Ok(None) };
        let body = operation.document.resolve(body)?;
        let Some(found) = media::best(body) else { return Ok(None) };
        let fields = fields(operation, &found);
        // Who leaves `required` out of a form whose fields are required means it.
        let is_form = matches!(found.kind, BodyMedia::Form | BodyMedia::Multipart);
        let needs = fields.as_ref().is_some_and(|fields| fields.declared.values().any(|(_, needed)| *needed));
        let is_meant = body.get("required").is_none() && is_form && needs;
        let is_required = body["required"] == Value::Bool(true) || is_meant;
        Ok(Some(DeclaredBody { found, is_required, fields }))
    }

    /// Whether what goes nowhere else goes into it.
    pub(super) fn takes_the_rest(&self) -> bool {
        self.fields.is_some()
    }

    /// Gives its fields names among those that there are.
    pub(super) fn bind(self, operation: &Operation<'_>, fields: &mut Vec<Field>, notes: &mut ImportNotes) -> BoundBody {
        let media = match &self.found.kind {
            BodyMedia::Json(media) | BodyMedia::Text(media) | BodyMedia::Bytes(media) => media.clone(),
            _ => self.found.media.to_owned(),
        };
        let binding = BodyBinding { media, is_required: self.is_required, ..BodyBinding::default() };
        let mut bound = BoundBody { binding: Some(binding), ..BoundBody::default() };
        match self.fields {
            None => {
                let ours = name(fields, "body", "request");
                let schema = whole(&self.found);
                fields.push(Field { ours: ours.clone(), schema, is_required: self.is_required, description: None });
                bound.binding.iter_mut().for_each(|binding| binding.field = Some(ours.clone()));
            }
            Some(declared) => {
                declared.notes.iter().for_each(|doubt| notes.review(Part::Input, doubt.clone()));
                let members = Members { operation, found: &self.found, is_required: self.is_required };
                members.bind(declared, fields, &mut bound);
            }
        }
        let is_usual = |binding: &BodyBinding| {
            let usual =
                BodyBinding { media: "application/json".to_owned(), is_required: true, ..BodyBinding::default() };
            *binding == usual && WITH_BODY.contains(&operation.http.as_str())
        };
        bound.binding = bound.binding.filter(|binding| !is_usual(binding));
        bound
    }
}

/// The fields of a body. `None`: it is none that has names, or too many of them.
fn fields(operation: &Operation<'_>, found: &Representation<'_>) -> Option<Fields> {
    if !matches!(found.kind, BodyMedia::Json(_) | BodyMedia::Form | BodyMedia::Multipart) {
        return None;
    }
    let fields = body::fields(operation.document, found.schema);
    let is_form = !matches!(found.kind, BodyMedia::Json(_));
    let is_empty = fields.declared.is_empty() && (fields.is_open || !fields.is_object);
    let has_names =
        !is_empty && (is_form || !fields.is_other) && fields.declared.len() + operation.parameters.len() <= FIELDS_MAX;
    has_names.then_some(fields)
}

/// The schema of a body that is one field.
fn whole(found: &Representation<'_>) -> Value {
    match &found.kind {
        BodyMedia::Text(_) => json!({ "type": "string", "description": format!("The body, as {}.", found.media) }),
        BodyMedia::Bytes(media) => file(&format!("The body, {media}")),
        // A form has fields, whatever they are.
        BodyMedia::Form | BodyMedia::Multipart if !found.schema.is_object() => json!({ "type": "object" }),
        _ => found.schema.clone(),
    }
}

/// The schema of a file.
fn file(about: &str) -> Value {
    let description = format!("{about}: in base64, or as a data: URL.");
    json!({ "type": "string", "contentEncoding": "base64", "description": description })
}

/// The members of a body that are fields.
struct Members<'o, 'a> {
    operation: &'o Operation<'a>,
    found: &'o Representation<'a>,
    is_required: bool,
}

impl Members<'_, '_> {
    fn bind(&self, declared: Fields, fields: &mut Vec<Field>, bound: &mut BoundBody) {
        let document = self.operation.document;
        let (mut names, mut needed_names) = (BTreeMap::new(), Vec::new());
        for (theirs, (schema, needed)) in declared.declared {
            if is_flagged(document, &schema, "readOnly") {
                continue;
            }
            let ours = name(fields, &plain(&theirs), "body");
            let schema = self.written(&theirs, &ours, schema, bound);
            needed_names.extend(needed.then(|| ours.clone()));
            fields.push(Field {
                ours: ours.clone(),
                schema,
                is_required: needed && self.is_required,
                description: None,
            });
            if ours != theirs {
                bound.transform.insert(ours.clone(), theirs.clone());
            }
            names.insert(theirs, ours);
        }
        let rules = rules(document, self.found.schema, &names);
        let needed: BTreeSet<&str> = needed_names.iter().map(String::as_str).collect();
        bound.rules = match self.is_required {
            true => rules,
            false => of_optional(&names, &needed.into_iter().collect::<Vec<_>>(), rules),
        };
    }

    /// Says how a field is written in a form, and gives its schema.
    fn written(&self, theirs: &str, ours: &str, schema: Value, bound: &mut BoundBody) -> Value {
        let document = self.operation.document;
        let (Some(binding), encoding) = (bound.binding.as_mut(), &self.found.encoding[theirs]) else { return schema };
        if self.found.kind == BodyMedia::Multipart
            && let Some(media) = self.file(&schema, encoding)
        {
            binding.files.insert(ours.to_owned(), media);
            let one = file("A file");
            return match Shape::of(document, &schema).is_list {
                true => json!({ "type": "array", "items": one }),
                false => one,
            };
        }
        if matches!(self.found.kind, BodyMedia::Form | BodyMedia::Multipart) {
            let style = style::of_form(document, &schema, encoding);
            binding.styles.extend(style.map(|style| (ours.to_owned(), style)));
        }
        schema
    }

    /// The media type of a field that is a file, or a list of them.
    fn file(&self, schema: &Value, encoding: &Value) -> Option<String> {
        let document = self.operation.document;
        let found = document.resolve(schema).unwrap_or(schema);
        let found = document.resolve(&found["items"]).ok().filter(|items| items.is_object()).unwrap_or(found);
        let said = encoding["contentType"].as_str().or_else(|| found["contentMediaType"].as_str()).unwrap_or_default();
        let media = said.split([',', ';']).next().unwrap_or_default().trim();
        let kind = BodyMedia::read(media);
        let is_bytes = matches!(kind, Some(BodyMedia::Bytes(_))) || media.ends_with("/*");
        let is_text = found.get("type").is_none_or(|kind| kind == "string");
        let is_file = found["format"] == "binary" || (is_text && is_bytes && found.get("contentEncoding").is_none());
        is_file.then(|| if kind.is_some() { media.to_owned() } else { ANY_FILE.to_owned() })
    }
}
