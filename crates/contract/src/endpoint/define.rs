//! This module turns a definition into an endpoint: every rule of registration is here, and all that are broken are
//! reported at once. Sections 5.3, 5.9, 6.3, 6.4 and 13.2.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Binding, DefinitionProblem, DeprecatedSettings, Deprecation, Endpoint, EndpointOffer};
use crate::catalog::{Catalog, LEGACY};
use crate::limits::{DECLARED_ERRORS_MAX, ERROR_CHARS_MAX, SCOPES_MAX};
use crate::method::Method;
use crate::path::Template;
use crate::policy::MethodPolicy;
use crate::recipe::RecipeBook;
use crate::reserved;
use crate::schema::{Formats, Schema, SchemaError};
use crate::scope::Scope;
use crate::semantic::Semantic;

/// A definition that someone wants to register: from a file, a program or a proposal. Section 6.2.
#[derive(Clone, Debug, Default)]
pub struct Definition {
    /// The method.
    pub method: Option<String>,
    /// The path.
    pub path: Option<String>,
    /// A sentence for people.
    pub description: Option<String>,
    /// A label to sort it under, without effect.
    pub namespace: Option<String>,
    /// The semantic block.
    pub semantic: Value,
    /// The schema of the input.
    pub input_schema: Option<Value>,
    /// The schema of the output.
    pub output_schema: Option<Value>,
    /// What formats in both schemas do.
    pub formats: Formats,
    /// The errors by name.
    pub errors: Option<Vec<String>>,
    /// The scopes that a caller must hold.
    pub required_scopes: Vec<String>,
    /// Its deprecation, when callers should use another endpoint. Section 6.5.
    pub deprecated: Option<DeprecatedSettings>,
    /// What other protocols offer it as.
    pub offers: Vec<EndpointOffer>,
    /// The kind of handler, with its settings. Section 12.
    pub binding: Option<Binding>,
}

/// The catalog, policy and recipes that a definition is checked against.
#[derive(Clone, Copy, Debug)]
pub struct RegistrationContext<'a> {
    /// The vocabulary in use.
    pub catalog: &'a Catalog,
    /// Which methods are the host's own.
    pub policy: &'a MethodPolicy,
    /// The recipes that compositions name.
    pub recipes: &'a RecipeBook,
    /// The paths of the host's own that the operator answers instead. Section 5.9.
    pub overrides: &'a BTreeSet<String>,
    /// Whether outputs are held to what they declare and nothing more. Section 13.3.
    pub is_output_strict: bool,
    /// Whether services elsewhere may be plain `http`, which section 12.3 forbids: for development,
    /// where the operator opened it. Which ones may be is for whoever connects to them to decide.
    pub is_http_open: bool,
}

/// No path.
static NONE: BTreeSet<String> = BTreeSet::new();

impl<'a> RegistrationContext<'a> {
    /// A context with these and the defaults: no override of the host's own paths, open outputs, services over https
    /// only.
    pub fn new(catalog: &'a Catalog, policy: &'a MethodPolicy, recipes: &'a RecipeBook) -> RegistrationContext<'a> {
        RegistrationContext { catalog, policy, recipes, overrides: &NONE, is_output_strict: false, is_http_open: false }
    }
}

impl Endpoint {
    /// Registers a definition.
    ///
    /// # Errors
    /// Every rule that it breaks.
    pub fn register(
        definition: Definition,
        around: &RegistrationContext<'_>,
    ) -> Result<Endpoint, Vec<DefinitionProblem>> {
        let mut faults = Vec::new();
        let method = keep(method(definition.method, around), &mut faults);
        let path = keep(path(definition.path, around.catalog), &mut faults);
        let description = keep(description(definition.description), &mut faults);
        let semantic = keep_all(Semantic::read(&definition.semantic, around.catalog), &mut faults);
        let formats = definition.formats;
        let input = |source| Ok::<_, SchemaError>(Schema::input(source)?.with_formats(formats));
        let input = keep(schema(definition.input_schema, "input_schema", input), &mut faults);
        let output =
            |source| Ok::<_, SchemaError>(Schema::output(source, around.is_output_strict)?.with_formats(formats));
        let output = keep(schema(definition.output_schema, "output_schema", output), &mut faults);
        let errors = keep(errors(definition.errors), &mut faults);
        let required_scopes = keep(scopes(&definition.required_scopes), &mut faults);
        let deprecated = definition.deprecated.map(|settings| Deprecation::new(settings, around.catalog)).transpose();
        let deprecated = keep(deprecated, &mut faults);
        let binding = keep(binding(definition.binding), &mut faults);

        // Rules about two fields come last, and only where both could be read: an author sees each mistake once.
        faults.extend(method.iter().zip(&path).filter_map(|(method, path)| taken(method, path, around)));
        faults.extend(path.iter().zip(&input).flat_map(|(path, input)| undeclared(path, input)));
        faults.extend(binding.iter().zip(&errors).flat_map(|(binding, errors)| unbound(binding, errors, around)));
        let endpoint = || {
            Some(Endpoint {
                method: method?,
                path: path?,
                description: description?,
                namespace: definition.namespace,
                semantic: semantic?,
                input: input?,
                output: output?,
                errors: errors?,
                required_scopes: required_scopes?,
                deprecated: deprecated?,
                offers: definition.offers,
                binding: binding?,
            })
        };
        if faults.is_empty() { endpoint().ok_or(faults) } else { Err(faults) }
    }
}

fn keep<T>(result: Result<T, DefinitionProblem>, faults: &mut Vec<DefinitionProblem>) -> Option<T> {
    keep_all(result.map_err(|fault| vec![fault]), faults)
}

fn keep_all<T>(result: Result<T, Vec<DefinitionProblem>>, faults: &mut Vec<DefinitionProblem>) -> Option<T> {
    result.map_err(|found| faults.extend(found)).ok()
}

fn method(name: Option<String>, around: &RegistrationContext<'_>) -> Result<Method, DefinitionProblem> {
    let fault = |tag: &'static str, message: String| Err(DefinitionProblem::new("method", tag, message));
    let Some(name) = name else { return fault("method-missing", "an endpoint needs a `method`".into()) };
    let known = Method::parse(&name).ok().filter(|method| around.policy.knows(method, around.catalog));
    let Some(method) = known else {
        let meant = around.catalog.suggest(&name);
        let hint = if meant.is_empty() { String::new() } else { format!("; did you mean {}?", meant.join(" or ")) };
        let why = if LEGACY.contains(&name.as_str()) {
            "a verb of HTTP, which names no endpoint"
        } else {
            "not in the catalog"
        };
        return fault("verb-not-in-catalog", format!("`{name}` is {why}{hint}"));
    };
    Ok(method)
}

fn path(path: Option<String>, catalog: &Catalog) -> Result<Template, DefinitionProblem> {
    let path = path.ok_or_else(|| DefinitionProblem::new("path", "path-missing", "an endpoint needs a `path`"))?;
    Template::parse(&path, catalog).map_err(|fault| {
        DefinitionProblem::new("path", format!("path-grammar:{}", fault.tag()), format!("`{path}`: {fault}"))
    })
}

fn description(text: Option<String>) -> Result<String, DefinitionProblem> {
    let text = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    text.ok_or_else(|| {
        DefinitionProblem::new("description", "description-missing", "an endpoint needs a `description`")
    })
}

fn schema<E: std::fmt::Display>(
    source: Option<Value>,
    key: &'static str,
    compile: impl Fn(Value) -> Result<Schema, E>,
) -> Result<Schema, DefinitionProblem> {
    let name = key.replace('_', "-");
    let source = source.ok_or_else(|| {
        DefinitionProblem::new(key, format!("{name}-missing"), format!("an endpoint needs its `{key}`"))
    })?;
    compile(source).map_err(|fault| DefinitionProblem::new(key, format!("{name}-invalid"), format!("`{key}`: {fault}")))
}

fn errors(names: Option<Vec<String>>) -> Result<Vec<String>, DefinitionProblem> {
    let missing = "an endpoint needs its `errors`, an empty list if it has none";
    let names = names.ok_or_else(|| DefinitionProblem::new("errors", "errors-missing", missing))?;
    let is_name = |name: &String| {
        let fits = (1..=ERROR_CHARS_MAX).contains(&name.len());
        fits && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
    };
    let fault = |tag: String, message: String| Err(DefinitionProblem::new("errors", tag, message));
    if names.len() > DECLARED_ERRORS_MAX {
        return fault("errors-bad-shape:count".into(), format!("an endpoint has at most {DECLARED_ERRORS_MAX} errors"));
    }
    if let Some(wrong) = names.iter().find(|name| !is_name(name)) {
        let message = format!("invalid error name `{wrong}`: letters, digits and _, at most {ERROR_CHARS_MAX}");
        return fault(format!("errors-bad-shape:{wrong}"), message);
    }
    match (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        Some(at) => fault(format!("errors-bad-shape:{}", names[at]), format!("`{}` is declared twice", names[at])),
        None => Ok(names),
    }
}

fn scopes(tokens: &[String]) -> Result<Vec<Scope>, DefinitionProblem> {
    let fault = |message: String| DefinitionProblem::new("required_scopes", "required-scopes-bad-shape", message);
    if tokens.len() > SCOPES_MAX {
        return Err(fault(format!("an endpoint requires at most {SCOPES_MAX} scopes")));
    }
    tokens.iter().map(|token| Scope::parse_required(token)).collect::<Result<_, _>>().map_err(|e| fault(e.to_string()))
}

fn binding(binding: Option<Binding>) -> Result<Binding, DefinitionProblem> {
    binding.ok_or_else(|| DefinitionProblem::new("handler", "handler-missing", "an endpoint needs a `handler`"))
}

/// Section 5.9: what the host answers itself is left alone, unless the operator said otherwise.
fn taken(method: &Method, path: &Template, around: &RegistrationContext<'_>) -> Option<DefinitionProblem> {
    let shadowed = reserved::shadowed(method, path)?;
    // Only pairs that the host answers can be overridden, and not the names that section 5.9 reserves beside them.
    let is_overridden = reserved::is_native(method, path.as_str()) && around.overrides.contains(path.as_str());
    let message = format!("`{method} {path}` would take {shadowed} from the host, which answers it itself");
    (!is_overridden).then(|| DefinitionProblem::new("path", "reserved-path", message))
}

/// Section 5.3: each parameter of the path is a property of the input.
fn undeclared(path: &Template, input: &Schema) -> Vec<DefinitionProblem> {
    let missing = path.parameters().filter(|name| !input.declares(name));
    missing
        .map(|name| {
            let message = format!("the path takes `{name}`, which the input must declare as a property");
            DefinitionProblem::new("path", format!("path-parameter-undeclared:{name}"), message)
        })
        .collect()
}

/// Section 6.4: what a kind of handler needs beside itself.
fn unbound(binding: &Binding, errors: &[String], around: &RegistrationContext<'_>) -> Vec<DefinitionProblem> {
    let mut faults = Vec::new();
    for code in binding.required_errors().iter().filter(|code| !errors.iter().any(|error| error == *code)) {
        let tag = match binding {
            Binding::Composition { .. } => "composition-missing-error-code".to_owned(),
            _ => format!("external-service-missing-error-code:{code}"),
        };
        faults.push(DefinitionProblem::new(
            "errors",
            tag,
            format!("`errors` must list `{code}`, which this kind of handler may end in"),
        ));
    }
    match binding {
        Binding::Composition { recipe, .. } if around.recipes.get(recipe).is_none() => {
            faults.push(DefinitionProblem::new(
                "handler",
                "recipe-not-found",
                format!("there is no recipe named `{recipe}`"),
            ));
        }
        Binding::ExternalService(service) => {
            let undeclared = service.error_map.values().filter(|code| !errors.contains(code));
            faults.extend(undeclared.map(|code| {
                let message = format!("`error_map` leads to `{code}`, which `errors` must list");
                DefinitionProblem::new("handler", format!("external-service-error-map-undeclared:{code}"), message)
            }));
        }
        _ => {}
    }
    faults
}
