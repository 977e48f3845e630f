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

use forecourt_settings::DocumentedSection;
use serde_json::{Map, Value, json};

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

impl Endpoint {
    /// The endpoint as others may see it: of what answers it, the kind alone. Section 8.9.
    pub fn projection(&self) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        put("method", json!(self.method));
        put("path", json!(self.path.as_str()));
        put("description", json!(self.description));
        if let Some(namespace) = &self.namespace {
            put("namespace", json!(namespace));
        }
        put("semantic", json!(self.semantic));
        put("input_schema", self.input.source().clone());
        put("output_schema", self.output.source().clone());
        put("errors", json!(self.errors));
        // Section 8.9: addresses of services, names of functions and headers with secrets are the operator's alone.
        put("handler", json!({ "type": self.binding.kind() }));
        if !self.required_scopes.is_empty() {
            put("required_scopes", json!(self.required_scopes));
        }
        if let Some(deprecated) = &self.deprecated {
            put("deprecated", json!(deprecated));
        }
        Value::Object(fields)
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
