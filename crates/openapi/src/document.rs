//! An OpenAPI document as it was read: JSON or YAML, of a version that is known here. Swagger 2.0 is read as
//! OpenAPI 3.0.

mod swagger;

use forecourt_core::yaml::YamlBounds;
use forecourt_core::{json, yaml};
use serde_json::Value;

use crate::limits::{
    DOCUMENT_BYTES_MAX, OPERATIONS_MAX, REFERENCE_HOPS_MAX, SWAGGER_REPEATED_BYTES_MAX, YAML_NODES_MAX,
    YAML_REPEATED_MAX,
};

/// The keys of a path item that are operations.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "patch", "head", "options", "trace", "query"];

/// Where OpenAPI 3.2 has the operations of other methods.
const ADDITIONAL: &str = "additionalOperations";

const YAML: YamlBounds = YamlBounds { nodes_max: YAML_NODES_MAX, repeated_max: YAML_REPEATED_MAX };

/// Where documents that were made of endpoints list what they lost.
pub(crate) const LOSSES: &str = "x-agtp-losses";

/// Why a text is no OpenAPI document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenApiDocumentError {
    /// Too many bytes.
    #[error("an OpenAPI document has at most {DOCUMENT_BYTES_MAX} bytes")]
    TooLong,
    /// The bytes are not UTF-8.
    #[error("the document is not UTF-8")]
    NotText,
    /// Neither JSON nor YAML, or beyond a bound.
    #[error("the document is no {0}: {1}")]
    Syntax(&'static str, String),
    /// JSON or YAML that is no OpenAPI document.
    #[error("the document is not OpenAPI: it has no `openapi` with a version such as \"3.1.0\"")]
    NotOpenApi,
    /// A version that is not known.
    #[error("OpenAPI {0} is not known here: 3.0, 3.1, 3.2 and Swagger 2.0 are")]
    Version(String),
    /// More operations than [`OPERATIONS_MAX`].
    #[error("a document has at most {OPERATIONS_MAX} operations")]
    TooManyOperations,
    /// A Swagger 2.0 document whose parts share more than [`SWAGGER_REPEATED_BYTES_MAX`].
    #[error(
        "what the operations of the document share comes to more than {SWAGGER_REPEATED_BYTES_MAX} bytes: put the \
         schemas of its parameters and responses under `definitions` and refer to them there"
    )]
    Repeated,
}

/// A document and which dialect its schemas are in.
#[derive(Clone, Debug)]
pub struct OpenApiDocument {
    root: Value,
    is_3_0: bool,
}

impl OpenApiDocument {
    /// Reads a document: JSON if it begins with a brace, else YAML.
    ///
    /// # Errors
    /// It can't be read, is beyond a bound, or is not OpenAPI 3.
    pub fn read(bytes: &[u8]) -> Result<OpenApiDocument, OpenApiDocumentError> {
        if bytes.len() > DOCUMENT_BYTES_MAX {
            return Err(OpenApiDocumentError::TooLong);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| OpenApiDocumentError::NotText)?;
        // Editors on Windows write a byte order mark, which is no JSON (RFC 8259 8.1).
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = match text.trim_start().starts_with('{') {
            true => json::parse(text.as_bytes()).map_err(|fault| OpenApiDocumentError::Syntax("JSON", fault))?,
            false => yaml::parse(text.as_bytes(), YAML).map_err(|fault| OpenApiDocumentError::Syntax("YAML", fault))?,
        };
        let is_2_0 = root.get("swagger").is_some_and(is_2_0);
        let is_3_0 = is_2_0 || version(&root)?;
        let document = OpenApiDocument { root, is_3_0 };
        // Before anything is made of them: a few bytes can lead to one operation again and again.
        if document.items().flat_map(|(_, item)| operations(item)).nth(OPERATIONS_MAX).is_some() {
            return Err(OpenApiDocumentError::TooManyOperations);
        }
        // The predecessor says the same in other places.
        Ok(if is_2_0 { OpenApiDocument { root: swagger::upgraded(&document.root)?, is_3_0 } } else { document })
    }

    /// Its paths, each with what stands there.
    pub(crate) fn items(&self) -> impl Iterator<Item = (&str, &Value)> {
        let paths = self.root["paths"].as_object().into_iter().flatten().filter(|(path, _)| path.starts_with('/'));
        paths.filter_map(|(path, item)| Some((path.as_str(), self.resolve(item).ok()?)))
    }

    /// The whole of it.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// Whether its schemas are in the dialect of OpenAPI 3.0, else in that of JSON Schema.
    pub fn is_3_0(&self) -> bool {
        self.is_3_0
    }

    /// Whether it was made of endpoints, so that what stands in it is meant to the letter.
    pub(crate) fn is_exported(&self) -> bool {
        self.root.get(LOSSES).is_some()
    }

    /// A text of `info`; empty when there is none.
    pub fn info(&self, key: &str) -> String {
        match &self.root["info"][key] {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        }
    }

    /// What a value stands for: itself, or what its `$ref` leads to.
    ///
    /// # Errors
    /// The reference leads out of the document, to nothing, or in a circle.
    pub fn resolve<'a>(&'a self, mut value: &'a Value) -> Result<&'a Value, String> {
        for _ in 0..=REFERENCE_HOPS_MAX {
            let Some(reference) = reference(value) else { return Ok(value) };
            value = self.target(reference)?;
        }
        Err("references lead in a circle, or to too many others".to_owned())
    }

    /// What a reference leads to, which may be another reference.
    ///
    /// # Errors
    /// It leads out of the document, or to nothing.
    pub fn target(&self, reference: &str) -> Result<&Value, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!("the reference {reference} leads out of the document"));
        };
        let decoded = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        self.root.pointer(&decoded).ok_or_else(|| format!("the reference {reference} leads to nothing"))
    }
}

/// The operations of a path, each with its method.
pub(crate) fn operations(item: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let usual = METHODS.iter().filter_map(|method| Some((*method, item.get(*method)?)));
    let more = item[ADDITIONAL].as_object().into_iter().flatten().map(|(method, value)| (method.as_str(), value));
    let is_method = |method: &str| !method.is_empty() && method.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
    usual.chain(more).filter(move |(method, value)| value.is_object() && is_method(method))
}

/// The `$ref` of a value.
pub(crate) fn reference(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()
}

/// Whether a version of Swagger is 2.0. Without quotes it is a number in YAML.
fn is_2_0(version: &Value) -> bool {
    version == "2.0" || version.as_f64() == Some(2.0)
}

/// Whether the version is 3.0.
fn version(root: &Value) -> Result<bool, OpenApiDocumentError> {
    let version = match root.get("openapi") {
        Some(Value::String(version)) => version.clone(),
        // YAML without quotes: 3.1 is a number there.
        Some(Value::Number(version)) => version.to_string(),
        _ if root.get("swagger").is_some() => {
            root["swagger"].as_str().map_or_else(|| root["swagger"].to_string(), str::to_owned)
        }
        _ => return Err(OpenApiDocumentError::NotOpenApi),
    };
    let mut numbers = version.split('.');
    match (numbers.next(), numbers.next()) {
        (Some("3"), Some("0")) => Ok(true),
        // 3.2 is additive, and its schemas are in 3.1's dialect.
        (Some("3"), Some("1" | "2")) => Ok(false),
        _ => Err(OpenApiDocumentError::Version(version.chars().take(20).collect())),
    }
}
