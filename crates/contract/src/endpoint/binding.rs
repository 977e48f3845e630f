//! This module has what answers an endpoint, as data. Section 12. Callers see its kind and nothing else.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::{RequestBody, Style};

/// The error that every composition declares. Section 12.1.
pub const COMPOSITION_ERROR: &str = "composition_failed";

/// The errors that every external service declares. Section 12.3.
pub const UPSTREAM_ERRORS: [&str; 5] = [
    "upstream_timeout",
    "upstream_connection_error",
    "upstream_malformed_response",
    "upstream_authentication_failed",
    "upstream_error",
];

/// The handler of an endpoint, as data. Section 12.
#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// By calls of other endpoints here. Section 12.1.
    Composition {
        /// The name of a recipe.
        recipe: String,
        /// How long all of its steps may take together.
        timeout: Duration,
    },
    /// By a function of the program or of the deployment. Section 12.2.
    RegisteredFunction {
        /// Its dotted path.
        function: String,
        /// How long it may take.
        timeout: Duration,
    },
    /// By a service elsewhere. Section 12.3.
    ExternalService(Box<ExternalService>),
}

/// A service elsewhere and what its requests and answers are turned into.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalService {
    /// An absolute https URL; `{name}` in its path or query stands for a field of the input.
    pub url: String,
    /// The HTTP method.
    pub method: String,
    /// Header fields that go with every request.
    pub headers: Headers,
    /// Field of the input to the service's name for it.
    pub input_transform: BTreeMap<String, String>,
    /// How fields are written where that is not the usual way.
    pub styles: BTreeMap<String, Style>,
    /// What the body is. `None`: JSON where the method usually has a body, else nothing.
    pub body: Option<RequestBody>,
    /// What a successful answer is read as.
    pub answer: AnswerKind,
    /// Whether callers learn what the service says of a failure.
    pub passes_reasons: bool,
    /// Field of the output to the service's name for it.
    pub output_transform: BTreeMap<String, String>,
    /// The service's status to a declared error.
    pub error_map: BTreeMap<String, String>,
    /// Bytes of the address under which it is asked.
    pub address_bytes_max: usize,
    /// Bytes of its answer, and of the result that is made of it.
    pub answer_bytes_max: usize,
    /// How long it may take.
    pub timeout: Duration,
}

/// What a successful answer of a service is read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerKind {
    /// JSON, which is the output.
    #[default]
    Json,
    /// A text: an object with `text` and `media_type`.
    Text,
    /// Bytes: an object with `data` in base64 and `media_type`.
    Bytes,
    /// A redirect, which is not followed: an object with `location`.
    Location,
}

/// The kinds of answers, by their names in files.
const ANSWERS: [(&str, AnswerKind); 4] = [
    ("json", AnswerKind::Json),
    ("text", AnswerKind::Text),
    ("bytes", AnswerKind::Bytes),
    ("location", AnswerKind::Location),
];

impl AnswerKind {
    /// The kind of that name in files.
    pub fn read(name: &str) -> Option<AnswerKind> {
        ANSWERS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        ANSWERS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// Header fields by name. They hold secrets, so that printing them shows the names alone.
#[derive(Clone, Default, PartialEq)]
pub struct Headers(pub BTreeMap<String, String>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Binding {
    /// The kind, which is all that others learn. Section 8.9.
    pub fn kind(&self) -> &'static str {
        match self {
            Binding::Composition { .. } => "composition",
            Binding::RegisteredFunction { .. } => "registered_function",
            Binding::ExternalService(_) => "external_service",
        }
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        match self {
            Binding::Composition { timeout, .. } | Binding::RegisteredFunction { timeout, .. } => *timeout,
            Binding::ExternalService(service) => service.timeout,
        }
    }

    /// The errors that an endpoint of this kind must declare. Section 6.4.
    pub(crate) fn required_errors(&self) -> &'static [&'static str] {
        match self {
            Binding::Composition { .. } => &[COMPOSITION_ERROR],
            Binding::RegisteredFunction { .. } => &[],
            Binding::ExternalService(_) => &UPSTREAM_ERRORS,
        }
    }
}
