//! This module has endpoints: a method at a path, with everything that is promised about it. Section 6.

mod bind;
mod binding;
mod body;
mod define;
mod deprecated;
mod parameters;
mod read;
mod settings;
mod style;

use forecourt_core::LazyJson;
use forecourt_settings::DocumentedSection;
use serde::Serialize;
use serde_json::{Value, json};

pub use binding::{AnswerKind, Binding, COMPOSITION_ERROR, ExternalService, Headers, UPSTREAM_ERRORS};
pub use body::{BodyMedia, RequestBody};
pub use define::{Definition, RegistrationContext};
pub use deprecated::{DeprecatedSettings, Deprecation, SuccessorSettings};
pub use parameters::{ParameterSettings, ParameterType};
pub use read::{ReadFile, read};
pub use settings::{
    BodySettings, EndpointOffer, EndpointSettings, ErrorsSettings, HandlerSettings, InputSettings, SchemaSettings,
    SemanticSettings,
};
pub use style::{Style, StylePlace};

pub use crate::definition_problem::DefinitionProblem;
use crate::method::Method;
use crate::path::Template;
use crate::schema::Schema;
use crate::scope::Scope;
use crate::semantic::Semantic;

/// The keys of an endpoint's file, for the reference of settings.
pub const DOCUMENTED: DocumentedSection = DocumentedSection {
    section: "endpoints/*.toml [endpoint]",
    about: "A method at a path, what it promises and what answers it. One endpoint to a file.",
    schema: || schemars::schema_for!(EndpointSettings),
};

/// An endpoint that keeps all rules of registration. Section 6.2.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The method.
    pub method: Method,
    /// The path it is registered under.
    pub path: Template,
    /// One sentence, for people.
    pub description: String,
    /// A label to sort it under, without effect.
    pub namespace: Option<String>,
    /// The semantic block, for agents. Section 7.
    pub semantic: Semantic,
    /// The schema of its input.
    pub input: Schema,
    /// The schema of its output.
    pub output: Schema,
    /// The errors that it may end in, by name.
    pub errors: Vec<String>,
    /// The scopes that a caller must hold.
    pub required_scopes: Vec<Scope>,
    /// Its deprecation, when callers should use another endpoint. Section 6.5.
    pub deprecated: Option<Deprecation>,
    /// What other protocols offer it as. Never published.
    pub offers: Vec<EndpointOffer>,
    /// The kind of handler, with its settings. Section 12.
    pub binding: Binding,
}

/// An endpoint as others may see it. Its members are in the order in which objects of JSON have theirs here.
#[derive(Debug, Serialize)]
pub struct PublishedEndpoint<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<Value>,
    description: &'a str,
    errors: &'a [String],
    handler: Value,
    input_schema: &'a LazyJson,
    method: &'a Method,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    output_schema: &'a LazyJson,
    path: &'a str,
    #[serde(skip_serializing_if = "<[Scope]>::is_empty")]
    required_scopes: &'a [Scope],
    semantic: Value,
}

impl Endpoint {
    /// The endpoint as others may see it: of what answers it, the kind alone. Section 8.9. It is written without
    /// copies of its schemas.
    pub fn published(&self) -> PublishedEndpoint<'_> {
        PublishedEndpoint {
            deprecated: self.deprecated.as_ref().map(|deprecated| json!(deprecated)),
            description: &self.description,
            errors: &self.errors,
            // Section 8.9: addresses of services, names of functions and headers with secrets are the operator's alone.
            handler: json!({ "type": self.binding.kind() }),
            input_schema: self.input.shared_source(),
            method: &self.method,
            namespace: self.namespace.as_deref(),
            output_schema: self.output.shared_source(),
            path: self.path.as_str(),
            required_scopes: &self.required_scopes,
            semantic: json!(self.semantic),
        }
    }

    /// The same as a value.
    pub fn projection(&self) -> Value {
        json!(self.published())
    }

    /// The notice that goes with every answer of a deprecated endpoint. Section 6.5.
    pub fn notice(&self) -> Option<String> {
        self.deprecated.as_ref().map(Deprecation::notice)
    }

    /// Whether other protocols offer it as `offer`.
    pub fn is_offered_as(&self, offer: EndpointOffer) -> bool {
        self.offers.contains(&offer)
    }

    /// Whether it declared an error of that name.
    pub fn declares_error(&self, code: &str) -> bool {
        self.errors.iter().any(|declared| declared == code)
    }
}
