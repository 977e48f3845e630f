//! An endpoint as it stands in a file of its own, under `[endpoint]`. Section 6.2.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{DeprecatedSettings, ParameterSettings};
use crate::schema::Formats;

/// The table `endpoint`. What must be there is said all at once by the rules of registration, so
/// that everything is optional here.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EndpointSettings {
    /// The method: a verb of the catalog, or one of the host's own. Required.
    pub method: Option<String>,
    /// The path; `{name}` is a parameter, declared in the input. Required.
    pub path: Option<String>,
    /// What it does, in one sentence for people. Required.
    pub description: Option<String>,
    /// A label to sort it under.
    pub namespace: Option<String>,
    /// What it means, for agents. Required.
    pub semantic: Option<SemanticSettings>,
    /// What it takes, as lists of parameters; or write `input_schema`.
    pub input: Option<InputSettings>,
    /// What it takes, as a JSON Schema: a table, or the name of a JSON file beside this one.
    pub input_schema: Option<SchemaSettings>,
    /// What it gives, as a list of parameters; or write `output_schema`.
    pub output: Option<Vec<ParameterSettings>>,
    /// What it gives, as a JSON Schema: a table, or the name of a JSON file beside this one.
    pub output_schema: Option<SchemaSettings>,
    /// What `format` does in both schemas: `"check"`, the default, refuses a text that is not of its format, such as
    /// 30 February as a `date`; `"annotate"` only tells what a text means.
    pub format: Option<Formats>,
    /// The errors it may end in, by name. Required, may be empty.
    pub errors: Option<ErrorsSettings>,
    /// What a caller must hold, such as `booking:room`.
    pub required_scopes: Vec<String>,
    /// Set when callers should move on.
    pub deprecated: Option<DeprecatedSettings>,
    /// What it is besides, for callers of other protocols: `"tool"` for models, `"skill"` for agents.
    /// Both when left out.
    pub offer_as: Option<Vec<EndpointOffer>>,
    /// What answers it. Required.
    pub handler: Option<HandlerSettings>,
}

/// What an endpoint is for callers of protocols that have no endpoints. The checks are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EndpointOffer {
    /// A tool, for models.
    Tool,
    /// A skill, for agents.
    Skill,
}

impl EndpointOffer {
    /// All that there are.
    pub const ALL: [EndpointOffer; 2] = [EndpointOffer::Tool, EndpointOffer::Skill];
}

/// The table `endpoint.semantic`: all seven are required. Section 7.1.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SemanticSettings {
    /// What it sets out to do, in one imperative sentence.
    pub intent: Option<String>,
    /// Who should call it, such as `agent` or `customer`.
    pub actor: Option<String>,
    /// What is true afterwards.
    pub outcome: Option<String>,
    /// The kind of effect: a category of the catalog, such as `transaction`.
    pub capability: Option<String>,
    /// How sure the outcome is, from 0.0 to 1.0.
    pub confidence: Option<Value>,
    /// `informational`, `reversible` or `irreversible`.
    pub impact: Option<String>,
    /// Whether calling it again changes nothing more.
    pub is_idempotent: Option<Value>,
}

/// The table `endpoint.input`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InputSettings {
    /// What must be given.
    pub required: Vec<ParameterSettings>,
    /// What may be given.
    pub optional: Vec<ParameterSettings>,
}

/// A schema in place, or the file that it is in.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SchemaSettings {
    /// The name of a JSON file, relative to this one.
    File(String),
    /// The schema.
    Inline(Value),
}

/// Names of errors, as a list or as a table with one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ErrorsSettings {
    /// The names.
    Names(Vec<String>),
    /// The names under `list`.
    Table {
        /// The names.
        list: Vec<String>,
    },
}

/// The table `endpoint.handler`. Which keys go with which type is in section 12.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HandlerSettings {
    /// `composition`, `registered_function` or `external_service`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// composition: the name of a recipe.
    pub recipe: Option<String>,
    /// registered_function: the function's dotted path.
    pub function: Option<String>,
    /// external_service: an absolute https URL; `{name}` in its path or query is a field of the input.
    pub url: Option<String>,
    /// external_service: the HTTP method.
    pub method: Option<String>,
    /// external_service: header fields, with `${VAR}` for what is secret.
    pub headers: BTreeMap<String, String>,
    /// external_service: field of the input to the service's name for it.
    pub input_transform: BTreeMap<String, String>,
    /// external_service: how a field is written where that is not the usual way: `repeat`, `comma`, `space`,
    /// `pipe`, `deep`, `fields`, `json` or `reserved` in the query; `header`, `header-pairs` or `header-json` for a
    /// header field of its name; `cookie`; and `simple`, `simple-pairs`, `label`, `label-each`, `matrix` or
    /// `matrix-each` for one that `url` takes in its path.
    pub input_styles: BTreeMap<String, String>,
    /// external_service: what the request's body is. When left out, JSON for POST, PUT and PATCH, and none for
    /// other methods.
    pub body: Option<BodySettings>,
    /// external_service: what a successful answer is read as: `json`, which is usual, `text` or `bytes` (an object
    /// with `text` or with `data` in base64, and `media_type`), or `location` (where a redirect leads, as
    /// `location`).
    pub answer: Option<String>,
    /// external_service: whether callers learn what the service says of a failure, in one line without addresses
    /// and secrets.
    pub pass_reasons: bool,
    /// external_service: field of the output to the service's name for it.
    pub output_transform: BTreeMap<String, String>,
    /// external_service: the service's status to a declared error.
    pub error_map: BTreeMap<String, String>,
    /// external_service: bytes of the address under which the service is asked, query included: at most 65,536, and
    /// 8,192 when left out. Many services take no more.
    pub address_bytes_max: Option<u64>,
    /// external_service: bytes of what the service answers, and of the result that is made of it: at most
    /// 16,777,216, and 1,048,576 when left out.
    pub answer_bytes_max: Option<u64>,
    /// How long it may take, in seconds; 30 when left out.
    pub timeout_seconds: Option<f64>,
}

/// The table `endpoint.handler.body`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BodySettings {
    /// The media type, which says how it is written: JSON, `application/x-www-form-urlencoded`,
    /// `multipart/form-data`, a text, or else bytes. `none`: there is no body, and what goes nowhere else goes into
    /// the query. Required.
    pub media: Option<String>,
    /// Whether there is one even when a caller gives nothing for it.
    pub is_required: bool,
    /// The field of the input that is the whole body. When left out, all fields that go nowhere else are its
    /// members.
    pub field: Option<String>,
    /// How fields are written in a form: `repeat`, which is usual, `comma`, `space`, `pipe`, `deep`, `fields`,
    /// `json` or `reserved`.
    pub styles: BTreeMap<String, String>,
    /// Fields of `multipart/form-data` that are files, in base64 or as `data:` URLs, with their media types.
    pub files: BTreeMap<String, String>,
}
