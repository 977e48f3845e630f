//! This module reads an endpoint's file, and gives every problem its line.

use std::path::Path;

use forecourt_core::json;
use forecourt_settings::{Problem, Problems, Section};
use serde::Deserialize;
use serde_json::Value;

use super::bind::bind;
use super::parameters::{input_schema, output_schema};
use super::{
    Definition, DefinitionProblem, Endpoint, EndpointOffer, EndpointSettings, ErrorsSettings, RegistrationContext,
    SchemaSettings,
};
use crate::schema::Formats;

/// Gives the bytes of a file, or says why not. Reading is the caller's, and so is its bound.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> Result<Vec<u8>, String>;

/// What stands in the file beside `[endpoint]`: nothing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Reads a file that holds one table `[endpoint]`.
///
/// # Errors
/// Every problem of the file: unknown keys, values of a wrong type, and every rule of registration
/// that is broken, with its tag first.
pub fn read(
    mut file: Section,
    around: &RegistrationContext<'_>,
    read_file: ReadFile<'_>,
) -> Result<Endpoint, Problems> {
    let mut problems = Problems::new();
    let endpoint = file.take("endpoint");
    problems.absorb(file.read::<Nothing>());
    let Some(section) = endpoint else {
        problems.push(file.problem(Some("endpoint"), "endpoint-missing: the file needs a table [endpoint]"));
        return Err(problems);
    };
    let settings = problems.absorb(section.read::<EndpointSettings>());
    let Some(settings) = settings.filter(|_| problems.is_empty()) else { return Err(problems) };
    registered(settings, &section, around, read_file).map_err(|faults| at_lines(&section, faults))
}

fn registered(
    settings: EndpointSettings,
    section: &Section,
    around: &RegistrationContext<'_>,
    read_file: ReadFile<'_>,
) -> Result<Endpoint, Vec<DefinitionProblem>> {
    let (definition, mut faults) = definition(settings, around.is_http_open, &|name| {
        let bytes = read_file(&section.resolve_path(name))?;
        json::parse(&bytes)
    });
    match Endpoint::register(definition, around) {
        Ok(endpoint) if faults.is_empty() => Ok(endpoint),
        Ok(_) => Err(faults),
        // A field that could not be read must not be reported as missing as well.
        Err(more) => {
            let said: Vec<&'static str> = faults.iter().map(|fault| fault.key).collect();
            faults.extend(more.into_iter().filter(|fault| !said.contains(&fault.key)));
            Err(faults)
        }
    }
}

fn at_lines(section: &Section, faults: Vec<DefinitionProblem>) -> Problems {
    let at = |fault: DefinitionProblem| -> Problem {
        // `input` and `input_schema` are two spellings of one field: point at the one that the file has.
        let spelled = match fault.key {
            "input_schema" if !section.has("input_schema") => "input",
            "output_schema" if !section.has("output_schema") => "output",
            key => key,
        };
        section.problem(Some(spelled), fault.to_string())
    };
    let mut problems = Problems::new();
    problems.extend(faults.into_iter().map(at));
    problems
}

/// What the file says, and what of it can't be said.
fn definition(
    settings: EndpointSettings,
    is_http_open: bool,
    read_json: &dyn Fn(&str) -> Result<Value, String>,
) -> (Definition, Vec<DefinitionProblem>) {
    let mut faults = Vec::new();
    // A file that lists parameters may leave out the lists that would be empty.
    let lists = settings.input.is_some() || settings.output.is_some();
    let input = settings.input.or_else(|| (lists && settings.input_schema.is_none()).then(Default::default));
    let output = settings.output.or_else(|| (lists && settings.output_schema.is_none()).then(Vec::new));
    let input = one(input.map(|input| input_schema(&input)), settings.input_schema, "input_schema", read_json);
    let output = one(output.map(|output| output_schema(&output)), settings.output_schema, "output_schema", read_json);
    let errors = settings.errors.map(|errors| match errors {
        ErrorsSettings::Names(list) | ErrorsSettings::Table { list } => list,
    });
    let definition = Definition {
        method: settings.method,
        path: settings.path,
        description: settings.description,
        namespace: settings.namespace,
        semantic: settings.semantic.map(|block| serde_json::to_value(block).unwrap_or_default()).unwrap_or_default(),
        input_schema: kept(input, &mut faults),
        output_schema: kept(output, &mut faults),
        formats: settings.format.unwrap_or(Formats::Check),
        errors: errors.or_else(|| lists.then(Vec::new)),
        required_scopes: settings.required_scopes,
        deprecated: settings.deprecated,
        offers: settings.offer_as.unwrap_or_else(|| EndpointOffer::ALL.to_vec()),
        binding: kept(
            settings.handler.map(|handler| bind(handler, is_http_open)).transpose().map_err(|fault| vec![fault]),
            &mut faults,
        ),
    };
    (definition, faults)
}

fn kept<T>(result: Result<Option<T>, Vec<DefinitionProblem>>, faults: &mut Vec<DefinitionProblem>) -> Option<T> {
    result.map_err(|found| faults.extend(found)).ok().flatten()
}

/// The one schema that a list of parameters or a schema gives, when there is one.
fn one(
    listed: Option<Result<Value, Vec<DefinitionProblem>>>,
    whole: Option<SchemaSettings>,
    key: &'static str,
    read_json: &dyn Fn(&str) -> Result<Value, String>,
) -> Result<Option<Value>, Vec<DefinitionProblem>> {
    let refused =
        |message: String| vec![DefinitionProblem::new(key, format!("{}-invalid", key.replace('_', "-")), message)];
    match (listed, whole) {
        (Some(_), Some(_)) => Err(refused(format!("write a list of parameters or `{key}`, not both"))),
        (Some(listed), None) => listed.map(Some),
        (None, Some(SchemaSettings::Inline(schema))) => Ok(Some(schema)),
        (None, Some(SchemaSettings::File(name))) => {
            read_json(&name).map(Some).map_err(|fault| refused(format!("`{key}`, from `{name}`: {fault}")))
        }
        (None, None) => Ok(None),
    }
}
