//! The definition of a proposal, held to the rules of endpoints. Sections 6.3, 6.4, 7.1 and 10.6, 1 to 4.

use forecourt_contract::limits::{DECLARED_ERRORS_MAX, ERROR_CHARS_MAX};
use forecourt_contract::path::TemplateError;
use forecourt_contract::refusal::Refusal;
use forecourt_contract::schema::SchemaError;
use forecourt_contract::{Dispatcher, Method, Schema, Scope, Semantic, Template};
use serde_json::{Map, Value, json};

use super::read::{malformed, text, tokens_of};
use super::{Proposal, ProposalRefusal};
use crate::limits::SENTENCE_CHARS_MAX;

/// What is proposed, well formed.
pub(super) struct Definition {
    pub(super) method: Method,
    pub(super) path: Template,
    pub(super) description: String,
    pub(super) namespace: Option<String>,
    pub(super) semantic: Semantic,
    /// None in the legacy form alone: the steps say what they take.
    pub(super) input: Option<Schema>,
    /// None in the legacy form alone: the steps say what they come to.
    pub(super) output: Option<Schema>,
    pub(super) errors: Vec<String>,
    pub(super) required_scopes: Vec<Scope>,
}

impl Proposal {
    /// The first two evaluations, which need nothing but the catalog and the policy.
    ///
    /// # Errors
    /// [`ProposalRefusal::Grammar`].
    pub fn grammar(&self, dispatcher: &Dispatcher) -> Result<(), ProposalRefusal> {
        self.proposed_method(dispatcher)?;
        self.proposed_path(dispatcher).map(drop)
    }

    /// The first four evaluations, in their order.
    pub(super) fn definition(&self, dispatcher: &Dispatcher) -> Result<Definition, ProposalRefusal> {
        // The order is that of section 10.6, 1 to 4: the first evaluation that fails decides the status.
        let method = self.proposed_method(dispatcher)?;
        let path = self.proposed_path(dispatcher)?;
        let semantic = self.semantic(dispatcher)?;
        let input = self.input(&path)?;
        let output = self.schema("output_schema", |source| Schema::output(source, false))?;
        let description = match self.sentence("description")? {
            Some(text) if !text.trim().is_empty() => text,
            _ => semantic.intent.clone(),
        };
        Ok(Definition {
            method,
            path,
            description,
            namespace: self.sentence("namespace")?,
            semantic,
            input,
            output,
            errors: self.errors()?,
            required_scopes: self.required_scopes()?,
        })
    }

    /// Section 10.6, 1.
    fn proposed_method(&self, dispatcher: &Dispatcher) -> Result<Method, ProposalRefusal> {
        let known = Method::parse(&self.method).ok();
        let known = known.filter(|method| dispatcher.policy.knows(method, &dispatcher.catalog));
        known.ok_or_else(|| {
            ProposalRefusal::Grammar(Box::new(Refusal::Method {
                method: self.method.clone(),
                suggestions: dispatcher.catalog.suggest(&self.method),
                catalog_version: dispatcher.catalog.version().to_owned(),
            }))
        })
    }

    /// Section 10.6, 2.
    fn proposed_path(&self, dispatcher: &Dispatcher) -> Result<Template, ProposalRefusal> {
        Template::parse(&self.path, &dispatcher.catalog).map_err(|error| {
            let reason = error.to_string();
            let segment = match error {
                TemplateError::Path(error) => error.segment,
                TemplateError::Form(segment) => segment,
                TemplateError::Twice(name) => format!("{{{name}}}"),
                TemplateError::NeverMatches | TemplateError::TooLong => String::new(),
            };
            ProposalRefusal::Grammar(Box::new(Refusal::Path { path: self.path.clone(), segment, reason }))
        })
    }

    /// Section 10.6, 3: all seven fields.
    fn semantic(&self, dispatcher: &Dispatcher) -> Result<Semantic, ProposalRefusal> {
        let field = self.field("semantic");
        let block = self.definition.get("semantic").unwrap_or(&Value::Null);
        let semantic = Semantic::read(block, &dispatcher.catalog).map_err(|problems| {
            let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            malformed("malformed-semantic-block", field.clone(), told.join("; "))
        })?;
        let texts = [("intent", &semantic.intent), ("actor", &semantic.actor), ("outcome", &semantic.outcome)];
        let too_long = texts.into_iter().find(|(_, text)| text.chars().count() > SENTENCE_CHARS_MAX);
        if let Some((name, _)) = too_long {
            let message = format!("`{name}` has at most {SENTENCE_CHARS_MAX} characters");
            return Err(malformed("malformed-semantic-block", format!("{field}/{name}"), message));
        }
        Ok(semantic)
    }

    /// Section 10.6, 4, and 5.3: the input declares what the path takes.
    fn input(&self, path: &Template) -> Result<Option<Schema>, ProposalRefusal> {
        let declared = self.schema("input_schema", Schema::input)?;
        let input = match (declared, self.legacy_parameters()) {
            (None, Some(parameters)) => {
                let from_parameters = Schema::input(parameters);
                Some(from_parameters.map_err(|error| self.malformed_schema("parameters", &error))?)
            }
            (declared, _) => declared,
        };
        let undeclared = |input: &Schema| path.parameters().find(|name| !input.declares(name)).map(str::to_owned);
        match input.as_ref().and_then(undeclared) {
            Some(name) => {
                let message = format!("the path takes `{name}`, which the input must declare as a property");
                Err(malformed("malformed-schema", self.field("input_schema/properties"), message))
            }
            None => Ok(input),
        }
    }

    fn schema(
        &self,
        name: &str,
        compile: impl Fn(Value) -> Result<Schema, SchemaError>,
    ) -> Result<Option<Schema>, ProposalRefusal> {
        match self.definition.get(name).filter(|source| !source.is_null()) {
            Some(source) => compile(source.clone()).map(Some).map_err(|error| self.malformed_schema(name, &error)),
            None if self.is_legacy => Ok(None),
            None => {
                let message = format!("the proposed endpoint needs its `{name}`");
                Err(malformed("missing-required-field", self.field(name), message))
            }
        }
    }

    fn malformed_schema(&self, name: &str, error: &SchemaError) -> ProposalRefusal {
        malformed("malformed-schema", self.field(name), format!("`{name}`: {error}"))
    }

    /// The map `parameters` of the legacy form as a schema: each is a schema, the name of a type, or whatever else
    /// somebody writes there, of which nothing is known.
    fn legacy_parameters(&self) -> Option<Value> {
        let declared = self.definition.get("parameters").filter(|_| self.is_legacy)?.as_object()?;
        const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
        let schema = |value: &Value| match value {
            Value::Object(_) if Schema::compile(value.clone()).is_ok() => value.clone(),
            Value::String(name) if TYPES.contains(&name.as_str()) => json!({ "type": name }),
            _ => json!({}),
        };
        let properties: Map<String, Value> =
            declared.iter().map(|(name, value)| (name.clone(), schema(value))).collect();
        Some(json!({ "type": "object", "properties": properties, "additionalProperties": false }))
    }

    fn errors(&self) -> Result<Vec<String>, ProposalRefusal> {
        let wrong = |message: String| malformed("malformed-field", self.field("errors"), message);
        let names = match self.definition.get("errors") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(names)) => names,
            Some(_) => return Err(wrong("`errors` is a list of names".to_owned())),
        };
        // One more is added to them: `composition_failed`.
        if names.len() >= DECLARED_ERRORS_MAX {
            return Err(wrong(format!("at most {} errors", DECLARED_ERRORS_MAX - 1)));
        }
        let is_name = |name: &&str| {
            let fits = (1..=ERROR_CHARS_MAX).contains(&name.len());
            fits && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        };
        let mut errors: Vec<String> = Vec::with_capacity(names.len() + 1);
        for name in names {
            let name = name.as_str().filter(is_name);
            let name = name.ok_or_else(|| {
                wrong(format!("an error's name has 1 to {ERROR_CHARS_MAX} letters, digits, `_`, `-` and `.`"))
            })?;
            if !errors.iter().any(|known| known == name) {
                errors.push(name.to_owned());
            }
        }
        Ok(errors)
    }

    fn required_scopes(&self) -> Result<Vec<Scope>, ProposalRefusal> {
        let field = self.field("required_scopes");
        let texts: Option<Vec<&str>> = match self.definition.get("required_scopes") {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(tokens)) => tokens.iter().map(Value::as_str).collect(),
            Some(_) => None,
        };
        let texts = texts.ok_or_else(|| malformed("malformed-scope", field.clone(), "scopes are texts in a list"))?;
        tokens_of(&texts, &field, Scope::parse_required)
    }

    /// A text that is not too long.
    fn sentence(&self, name: &str) -> Result<Option<String>, ProposalRefusal> {
        let found = text(&self.definition, name, if self.is_legacy { "" } else { "/endpoint" })?;
        match found.as_ref().is_some_and(|text| text.chars().count() > SENTENCE_CHARS_MAX) {
            true => {
                let message = format!("`{name}` has at most {SENTENCE_CHARS_MAX} characters");
                Err(malformed("malformed-field", self.field(name), message))
            }
            false => Ok(found),
        }
    }

    /// Where a member of the definition stands in the parameters.
    fn field(&self, name: &str) -> String {
        if self.is_legacy { format!("/{name}") } else { format!("/endpoint/{name}") }
    }
}
