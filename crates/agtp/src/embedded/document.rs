//! A document as JSON, as YAML, or as a page for people. Base 3.1, DESCRIBE.

use bytes::Bytes;
use forecourt_agtp_wire::status::Status;
use forecourt_core::yaml;
use forecourt_pages::escape;
use serde_json::{Map, Value};

use crate::reply::{Body, Reply};

/// The forms of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON.
    Json,
    /// YAML, in block style.
    Yaml,
    /// A page.
    Html,
}

impl Form {
    /// The words by which a caller may name one.
    pub(super) const WORDS: [&'static str; 3] = ["json", "yaml", "html"];

    /// The form that a caller named, else the first of `Accept` that there is.
    pub(super) fn wanted(named: Option<&str>, accept: Option<&str>) -> Self {
        let of_type =
            |range: &str| match range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
                "text/html" | "application/xhtml+xml" => Some(Self::Html),
                name if name.ends_with("yaml") => Some(Self::Yaml),
                name if name.ends_with("json") => Some(Self::Json),
                _ => None,
            };
        match named {
            Some("yaml") => Self::Yaml,
            Some("html") => Self::Html,
            Some(_) => Self::Json,
            None => accept.and_then(|accept| accept.split(',').find_map(of_type)).unwrap_or(Self::Json),
        }
    }
}

/// A document in a form, under the media types of identity documents. S 17.2.
pub(super) fn render(document: &Map<String, Value>, title: &str, form: Form) -> Reply {
    let (media_type, text) = match form {
        Form::Json => {
            let text = serde_json::to_string_pretty(document).unwrap_or_default();
            ("application/vnd.agtp.identity+json", text)
        }
        Form::Yaml => {
            ("application/vnd.agtp.identity+yaml", yaml::write(&Value::Object(document.clone())).unwrap_or_default())
        }
        Form::Html => ("text/html; charset=utf-8", page(document, title)),
    };
    Reply { status: Status::OK, fields: Vec::new(), body: Body::Made { media_type, bytes: Bytes::from(text) } }
}

/// A page without script or style: names and values, nested ones as lists.
fn page(document: &Map<String, Value>, title: &str) -> String {
    let title = escape::text(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head>\n<body><h1>{title}</h1>\n"
    );
    list(document, &mut out);
    out.push_str("</body></html>\n");
    out
}

fn list(fields: &Map<String, Value>, out: &mut String) {
    out.push_str("<dl>\n");
    for (name, value) in fields {
        out.push_str(&format!("<dt>{}</dt><dd>", escape::text(name)));
        detail(value, out);
        out.push_str("</dd>\n");
    }
    out.push_str("</dl>\n");
}

fn detail(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => list(fields, out),
        Value::Array(items) => {
            out.push_str("<ul>");
            for item in items {
                out.push_str("<li>");
                detail(item, out);
                out.push_str("</li>");
            }
            out.push_str("</ul>");
        }
        Value::String(text) => out.push_str(&escape::text(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::yaml::{YamlBounds, parse};
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn yaml_reads_back_as_it_was() {
        let document = object(json!({
            "a": [1, -2.5, null, true, "", {"b c": []}, {}], "no": "no", "n": "1e3", "d": "2026-01-15", "s": " x: #y\n",
        }));
        let Body::Made { media_type, bytes } = render(&document, "t", Form::Yaml).body else { panic!("not made") };
        assert_eq!(media_type, "application/vnd.agtp.identity+yaml");
        let bounds = YamlBounds { nodes_max: 10_000, repeated_max: 10 };
        assert_eq!(parse(&bytes, bounds), Ok(Value::Object(document)));
    }

    #[test]
    fn a_page_holds_no_markup_of_others() {
        let page = page(&object(json!({"<b>": ["<script>", {"x": "\"&"}]})), "<i>");
        assert!(!page.contains("<b>") && !page.contains("<script>") && !page.contains("<i>"), "{page}");
    }

    #[test]
    fn s3_1_the_form_is_that_of_accept() {
        let rows = [
            (None, None, Form::Json),
            (None, Some("text/html,application/xhtml+xml;q=0.9"), Form::Html),
            (None, Some("application/vnd.agtp.identity+yaml"), Form::Yaml),
            (None, Some("image/png, */*"), Form::Json),
            (Some("yaml"), Some("text/html"), Form::Yaml),
        ];
        for (named, accept, form) in rows {
            assert_eq!(Form::wanted(named, accept), form, "{named:?} {accept:?}");
        }
    }
}
