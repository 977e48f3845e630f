//! The reference of all settings, from the types that read them.

use std::fmt::Write as _;

use schemars::Schema;
use serde_json::{Map, Value};

/// How deep nested tables are followed; a schema that refers to itself ends here.
const DEPTH_MAX: usize = 8;

/// A section and the type that reads it.
#[derive(Clone, Copy, Debug)]
pub struct DocumentedSection {
    /// Where it stands, such as `forecourt.toml [limits]`.
    pub section: &'static str,
    /// What it is for, in a sentence or two of Markdown.
    pub about: &'static str,
    /// The schema of the type, such as `|| schemars::schema_for!(Limits)`.
    pub schema: fn() -> Schema,
}

/// One key of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyReference {
    /// Dotted path below the section; `[]` stands for each item of a list.
    pub key: String,
    /// Its type in TOML's words.
    pub kind: String,
    /// The default as TOML, `required`, or empty when leaving it out has a meaning of its own.
    pub default: String,
    /// The doc comment of the field. Empty: undocumented, which [`Reference::undocumented`] lists.
    pub meaning: String,
}

/// All sections with all of their keys.
#[derive(Clone, Debug)]
pub struct Reference {
    sections: Vec<(DocumentedSection, Vec<KeyReference>)>,
}

/// The reference of the given sections, in their order.
pub fn document(sections: &[DocumentedSection]) -> Reference {
    let keys = |section: &DocumentedSection| Walk::new((section.schema)().to_value()).keys();
    Reference { sections: sections.iter().map(|section| (*section, keys(section))).collect() }
}

impl Reference {
    /// The keys of each section.
    pub fn sections(&self) -> impl Iterator<Item = (&DocumentedSection, &[KeyReference])> {
        self.sections.iter().map(|(section, keys)| (section, keys.as_slice()))
    }

    /// `section: key` of every key that has no description.
    pub fn undocumented(&self) -> Vec<String> {
        let names = |(section, keys): &(DocumentedSection, Vec<KeyReference>)| {
            let section = section.section;
            keys.iter()
                .filter(|key| key.meaning.is_empty())
                .map(|key| format!("{section}: {}", key.key))
                .collect::<Vec<_>>()
        };
        self.sections.iter().flat_map(names).collect()
    }

    /// A Markdown page: a heading, a sentence and a table for each section.
    pub fn markdown(&self) -> String {
        let mut page = String::new();
        for (section, keys) in &self.sections {
            // Writing to a string does not fail.
            let _ = write!(page, "\n## {}\n\n{}\n", section.section, section.about);
            if keys.is_empty() {
                continue;
            }
            page.push_str("\n| key | type | default | meaning |\n|---|---|---|---|\n");
            for key in keys {
                let default = if key.default.is_empty() || key.default == "required" {
                    key.default.clone()
                } else {
                    format!("`{}`", cell(&key.default))
                };
                let _ = writeln!(page, "| `{}` | {} | {default} | {} |", key.key, cell(&key.kind), cell(&key.meaning));
            }
        }
        page
    }
}

/// A table cell: one line, with the column separator escaped.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// A walk over one schema and its definitions.
struct Walk {
    root: Value,
}

impl Walk {
    fn new(root: Value) -> Walk {
        Walk { root }
    }

    fn keys(&self) -> Vec<KeyReference> {
        let mut keys = Vec::new();
        self.table(&self.root, "", 0, &mut keys);
        keys
    }

    /// Adds the keys of a table; of a choice between tables, those of each.
    fn table(&self, schema: &Value, prefix: &str, depth: usize, keys: &mut Vec<KeyReference>) {
        let schema = self.resolve(schema);
        if depth > DEPTH_MAX {
            return;
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            // The variants of a choice share keys such as `kind`.
            if !keys.iter().any(|key| key.key == path) {
                self.field(field, path, required.contains(&name.as_str()), depth, keys);
            }
        }
        keys.extend(tag_of_choice(schema, prefix));
        for variant in choices(schema) {
            self.table(variant, prefix, depth + 1, keys);
        }
    }

    fn field(&self, field: &Value, path: String, required: bool, depth: usize, keys: &mut Vec<KeyReference>) {
        let resolved = self.resolve(field);
        // What a field says of itself goes before what its type says.
        let description = field["description"].as_str().or(resolved["description"].as_str()).unwrap_or_default();
        let default = match field.get("default") {
            Some(Value::Null) | None if required => "required".to_owned(),
            Some(Value::Null) | None => String::new(),
            Some(value) => toml_text(value),
        };
        let kind = self.kind(field, depth);
        keys.push(KeyReference { key: path.clone(), kind, default, meaning: description.to_owned() });
        self.inner_tables(field, &path, depth, keys);
    }

    fn inner_tables(&self, schema: &Value, path: &str, depth: usize, keys: &mut Vec<KeyReference>) {
        let resolved = self.resolve(schema);
        if depth > DEPTH_MAX {
            return;
        }
        if resolved.get("properties").is_some() || tag_of_choice(resolved, path).is_some() {
            return self.table(resolved, path, depth + 1, keys);
        }
        if let Some(items) = resolved.get("items") {
            return self.inner_tables(items, &format!("{path}[]"), depth + 1, keys);
        }
        if let Some(values @ Value::Object(_)) = resolved.get("additionalProperties") {
            return self.inner_tables(values, &format!("{path}.*"), depth + 1, keys);
        }
        for variant in choices(resolved) {
            self.inner_tables(variant, path, depth + 1, keys);
        }
    }

    /// The type in TOML's words.
    fn kind(&self, schema: &Value, depth: usize) -> String {
        let resolved = self.resolve(schema);
        if depth > DEPTH_MAX {
            return "table".to_owned();
        }
        if let Some(values) = resolved["enum"].as_array() {
            return values.iter().filter(|value| !value.is_null()).map(toml_text).collect::<Vec<_>>().join(" or ");
        }
        if let Some(value) = resolved.get("const") {
            return toml_text(value);
        }
        let mut kinds: Vec<String> = match &resolved["type"] {
            Value::String(name) => vec![self.named(name, resolved, depth)],
            Value::Array(names) => {
                names.iter().filter_map(Value::as_str).map(|name| self.named(name, resolved, depth)).collect()
            }
            // A choice that may also be left out has `null` among its variants, which TOML can't write.
            _ => choices(resolved)
                .filter(|choice| choice["type"] != "null")
                .map(|choice| self.kind(choice, depth + 1))
                .collect(),
        };
        kinds.retain(|kind| !kind.is_empty());
        kinds.dedup();
        if kinds.is_empty() { "any".to_owned() } else { kinds.join(" or ") }
    }

    fn named(&self, name: &str, schema: &Value, depth: usize) -> String {
        match name {
            "null" => String::new(),
            "object" => "table".to_owned(),
            "array" => {
                format!("list of {}", schema.get("items").map_or("any".to_owned(), |items| self.kind(items, depth + 1)))
            }
            "number" => "float".to_owned(),
            other => other.to_owned(),
        }
    }

    /// Follows `$ref` into the definitions of the same document.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let target = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        target.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema)
    }
}

/// The key that tells the variants of a choice apart, described by what each of them is.
fn tag_of_choice(schema: &Value, prefix: &str) -> Option<KeyReference> {
    let first = choices(schema).next()?["properties"].as_object()?;
    // serde's tag is the one field with a single possible value.
    let (name, _) = first.iter().find(|(_, field)| field.get("const").is_some())?;
    let values = choices(schema).map(|variant| toml_text(&variant["properties"][name]["const"]));
    let about = choices(schema).filter_map(|variant| {
        let about = variant["description"].as_str()?.trim_end_matches('.');
        Some(format!("`{}`: {about}", toml_text(&variant["properties"][name]["const"])))
    });
    Some(KeyReference {
        key: if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") },
        kind: values.collect::<Vec<_>>().join(" or "),
        default: "required".to_owned(),
        meaning: about.collect::<Vec<_>>().join("; "),
    })
}

fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|name| schema[name].as_array()).flatten()
}

/// A JSON value in TOML's inline notation.
fn toml_text(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml_text).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => inline_table(map),
        other => other.to_string(),
    }
}

fn inline_table(map: &Map<String, Value>) -> String {
    let pairs = map.iter().filter(|(_, value)| !value.is_null());
    match pairs.map(|(key, value)| format!("{key} = {}", toml_text(value))).collect::<Vec<_>>() {
        pairs if pairs.is_empty() => "{}".to_owned(),
        pairs => format!("{{ {} }}", pairs.join(", ")),
    }
}
