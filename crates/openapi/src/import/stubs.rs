//! Functions to be filled in, for a service that moves behind its endpoints instead of staying where it
//! is. Appendix B.2.

use forecourt_contract::endpoint::UPSTREAM_ERRORS;
use serde_json::Value;

use super::draft::{Draft, Pair};
use super::words::{line, snake};
use super::{AnsweredBy, Base, File};
use crate::limits::SENTENCE_CHARS_MAX;

/// Methods of the catalog that are words of Python's own.
pub(super) const KEYWORDS: [&str; 3] = ["await", "import", "yield"];

/// The functions of one document, which go into one Python file.
#[derive(Debug, Default)]
pub(super) struct Stubs(Vec<String>);

/// The name of the Python module of a document, with a word more than any of the standard library has.
pub(super) fn module(title: &str) -> String {
    let name = snake(title);
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts_well { format!("{name}_endpoints") } else { format!("api_{name}_endpoints") }
}

impl Stubs {
    /// Adds the function of an endpoint whose file has that name.
    pub(super) fn add(&mut self, name: &str, draft: &Draft<'_>, pair: &Pair) {
        let own = draft.failures.names.iter().filter(|error| !UPSTREAM_ERRORS.contains(&error.as_str()));
        let lines = [
            ("Takes", fields(&draft.input.schema)),
            ("Gives", fields(&draft.success.schema)),
            ("Errors", own.cloned().collect::<Vec<_>>().join(", ")),
        ];
        let about = text(&format!("{} {}: {}", pair.verb, pair.path, pair.semantic.intent));
        let mut stub = format!("def {name}(ctx):\n    \"\"\"{about}\n\n");
        for (what, said) in lines.iter().filter(|(_, said)| !said.is_empty()) {
            stub.push_str(&format!("    {what}: {}\n", text(said)));
        }
        stub.push_str("    \"\"\"\n    raise NotImplementedError\n");
        self.0.push(stub);
    }

    /// The file of all functions. `None`: there are none.
    pub(super) fn file(self, base: &Base) -> Option<File> {
        let AnsweredBy::Functions(module) = &base.answered else { return None };
        if self.0.is_empty() {
            return None;
        }
        let head = format!("\"\"\"What answers the endpoints that were imported from {}.\n\n", text(&base.title));
        let help = "Each function gets a context with the validated `input` and returns what the endpoint's output\n\
                    allows. `raise forecourt.EndpointError(code, message)` ends in one of its errors.\n\"\"\"\n";
        let text = format!("{head}{help}\n\n{}", self.0.join("\n\n"));
        Some(File { name: format!("{module}.py"), text })
    }
}

/// The names of the fields of a schema, those that may be missing with a question mark.
fn fields(schema: &Value) -> String {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let named = |name: &String| format!("{name}{}", if required.contains(&name.as_str()) { "" } else { "?" });
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| named(name)).collect::<Vec<_>>().join(", ")
}

/// A text that ends no docstring and escapes nothing.
fn text(said: &str) -> String {
    line(said, SENTENCE_CHARS_MAX).replace('\\', "/").replace('"', "'")
}
