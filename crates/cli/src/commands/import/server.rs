//! `forecourt import mcp`: a server of others, put behind a deployment.

use std::collections::BTreeMap;

use forecourt::registry::SERVER_FUNCTION_ERRORS;
use forecourt::registry::server_survey::{ServerSurvey, SurveyTarget, SurveyedTool};
use forecourt_core::{Glob, Handle};
use forecourt_openapi::reimport::{FileChange, ImportPlan, PlannedFile, plan};
use forecourt_openapi::{
    EndpointFiles, File, Import, ImportChoices, ImportFate, ImportNotes, ImportedOperation, ToolDescription,
    ToolServer, import_tools,
};
use forecourt_surface::SERVER_FUNCTIONS;
use serde_json::{Value, json};

use super::folder::{self, Disk};
use super::summary;
use crate::args::ImportServer;
use crate::commands::printable::line;
use crate::commands::servers::changes::{ListChange, changes};
use crate::commands::servers::definition::ServerDefinition;
use crate::commands::servers::{self, FOLDER, definition_file, kept_lists};
use crate::output::{Failure, Outcome, print_json, stderrln};

/// The folder of endpoints in a deployment.
const ENDPOINTS: &str = "endpoints";
/// Characters of a sentence about a tool.
const SENTENCE_CHARS_MAX: usize = 80;
/// Tools that are named where none was chosen.
const NAMED_MAX: usize = 20;

/// What is asked, and what is to be written of it.
struct ServerRequest {
    /// Where to ask, with values.
    target: SurveyTarget,
    /// What is to be written, with `${VAR}` where values are secrets.
    definition: ServerDefinition,
    /// The variables that were made for values, and what each is.
    variables: BTreeMap<String, String>,
}

/// Header fields, or variables of an environment.
type Pairs = BTreeMap<String, String>;

/// What an import found and does.
struct ServerImport {
    name: String,
    survey: ServerSurvey,
    chosen: Vec<SurveyedTool>,
    variables: BTreeMap<String, String>,
    /// The definition and its folder's record.
    definition: ImportPlan,
    /// The endpoints and their record, where they are wanted.
    endpoints: Option<(Import, ImportPlan)>,
    /// What changed since the lists were taken over last. `None`: they were not.
    changes: Option<Vec<ListChange>>,
}

/// Asks the server and writes what it has.
pub(super) async fn run(asked: &ImportServer) -> Outcome {
    if !asked.into.is_dir() {
        return Err(Failure::yours(format!("{} is no folder", asked.into.display()))
            .hint("`forecourt init DIR` makes a deployment"));
    }
    let wanted = wanted(asked)?;
    let survey = servers::ask(&wanted.target).await?;
    let import = planned(asked, wanted, survey)?;
    let (of_servers, of_endpoints) = (asked.into.join(FOLDER), asked.into.join(ENDPOINTS));
    folder::check(&import.definition, &of_servers)?;
    if let Some((_, plan)) = &import.endpoints {
        folder::check(plan, &of_endpoints)?;
    }
    if !asked.dry_run {
        folder::write(&import.definition, &of_servers, None)?;
        let lists = serde_json::to_string_pretty(&import.survey.lists).unwrap_or_default() + "\n";
        folder::put(&of_servers, &format!("{}.tools.json", import.name), &lists)?;
        if let Some((_, plan)) = &import.endpoints {
            folder::write(plan, &of_endpoints, None)?;
        }
    }
    match asked.json {
        true => print_json(&import.json(asked.dry_run))?,
        false => import.print(asked),
    }
    match import.conflicts() {
        0 => Ok(()),
        conflicts => {
            Err(Failure::yours(format!("{conflicts} files need a person: the server and somebody changed the same")))
        }
    }
}

/// Where to ask, by the flags or by the definition that is there.
fn wanted(asked: &ImportServer) -> Result<ServerRequest, Failure> {
    let mut variables = BTreeMap::new();
    if asked.url.is_none() && asked.command.is_empty() {
        let lacks = || Failure::usage("name a server: its URL, a program after `--`, or one in `servers/` by --name");
        let name = asked.name.as_deref().ok_or_else(lacks)?;
        let missing = || Failure::yours(format!("file not found: {}", definition_file(&asked.into, name).display()));
        let known = ServerDefinition::read(&asked.into, name)?.ok_or_else(missing)?;
        let target = known.target(&asked.into).ok_or_else(lacks)?;
        let written = ServerDefinition::read_as_written(&asked.into, name)?.unwrap_or_default();
        let definition = with_flags(written, asked)?;
        return Ok(ServerRequest { target, definition, variables });
    }
    let stem = asked.name.clone().unwrap_or_else(|| stem(asked));
    let mut values = |pairs: &[String], flag: &str| taken(pairs, flag, &stem, &mut variables);
    let (target, written) = match &asked.url {
        Some(url) => {
            if !asked.env.is_empty() {
                return Err(Failure::usage("--env is for a program: a URL has --header"));
            }
            let (headers, written) = values(&asked.header, "--header")?;
            let at = |headers| SurveyTarget::Url { url: url.clone(), headers };
            (at(headers), at(written))
        }
        None => {
            if !asked.header.is_empty() {
                return Err(Failure::usage("--header is for a URL: a program has --env"));
            }
            let (variables, written) = values(&asked.env, "--env")?;
            let folder = asked.into.clone();
            let at =
                |variables| SurveyTarget::Program { command: asked.command.clone(), variables, folder: folder.clone() };
            (at(variables), at(written))
        }
    };
    let definition = with_flags(ServerDefinition::of(&written), asked)?;
    Ok(ServerRequest { target, definition, variables })
}

/// What the flags say of a definition.
fn with_flags(mut definition: ServerDefinition, asked: &ImportServer) -> Result<ServerDefinition, Failure> {
    let globs = |texts: &[String], flag: &str| -> Result<Vec<Glob>, Failure> {
        let glob = |text: &String| text.parse().map_err(|error| Failure::usage(format!("{flag} `{text}`: {error}")));
        texts.iter().map(glob).collect()
    };
    if !asked.only.is_empty() {
        definition.only = globs(&asked.only, "--only")?;
    }
    if !asked.except.is_empty() {
        definition.except = globs(&asked.except, "--except")?;
    }
    if asked.prefix.is_some() {
        definition.prefix.clone_from(&asked.prefix);
    }
    Ok(definition)
}

/// A word for a server that has not said its name yet.
fn stem(asked: &ImportServer) -> String {
    let url = asked.url.as_deref().and_then(|url| url::Url::parse(url).ok());
    let host = url.as_ref().and_then(|url| url.host_str()).map(|host| host.trim_start_matches("mcp."));
    let label = host.and_then(|host| host.split('.').next());
    label.map_or_else(|| "server".to_owned(), str::to_owned)
}

/// Pairs of the command line, with their values and as they are to be written: where a value is no `${VAR}` itself, a
/// variable is made for it.
fn taken(
    pairs: &[String],
    flag: &str,
    stem: &str,
    variables: &mut BTreeMap<String, String>,
) -> Result<(Pairs, Pairs), Failure> {
    let (mut values, mut written) = (BTreeMap::new(), BTreeMap::new());
    for pair in pairs {
        let wrong = || Failure::usage(format!("{flag} takes NAME=VALUE"));
        let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(wrong());
        }
        if value.contains("${") {
            values.insert(name.to_owned(), filled(value, flag)?);
            written.insert(name.to_owned(), value.to_owned());
            continue;
        }
        // The scheme is no secret, and tells what the variable is.
        let (scheme, _) = value.split_once(' ').filter(|(scheme, _)| *scheme == "Bearer").unwrap_or_default();
        let is_variable = flag == "--env";
        let variable = if is_variable { name.to_owned() } else { upper(&format!("{stem} {name}")) };
        let about = match (is_variable, scheme) {
            (true, _) => "the program wants it".to_owned(),
            (false, "") => format!("the value of the header field {name}"),
            (false, _) => format!("the token in the header field {name}"),
        };
        let space = if scheme.is_empty() { "" } else { " " };
        written.insert(name.to_owned(), format!("{scheme}{space}${{{variable}}}"));
        variables.insert(variable, about);
        values.insert(name.to_owned(), value.to_owned());
    }
    Ok((values, written))
}

/// A value with `${VAR}` from the environment.
fn filled(value: &str, flag: &str) -> Result<String, Failure> {
    let mut filled = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let wrong = || Failure::usage(format!("{flag}: a `${{` without its `}}`"));
        let (name, more) = after.split_once('}').ok_or_else(wrong)?;
        let unset = |_| Failure::yours(format!("{flag}: the variable {name} is not set"));
        filled.push_str(before);
        filled.push_str(&std::env::var(name).map_err(unset)?);
        rest = more;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// A name as one of a variable.
fn upper(text: &str) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    plain.trim_matches('_').to_owned()
}

/// What the server is called here: by the flag, else by its own word for itself, else by its address.
fn name_of(asked: &ImportServer, survey: &ServerSurvey) -> Result<String, Failure> {
    if let Some(name) = &asked.name {
        let handle = Handle::parse(name).map_err(|error| Failure::usage(format!("--name: {error}")))?;
        return Ok(handle.as_str().to_owned());
    }
    let own = survey.lists["server"]["name"].as_str().unwrap_or_default();
    let plain = |text: &str| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> =
            words.map(str::to_lowercase).filter(|word| word != "mcp" && word != "server").collect();
        words.join("-")
    };
    // A path such as `modelcontextprotocol/servers/everything` is named by its end.
    let candidates = [plain(own.rsplit('/').next().unwrap_or(own)), plain(&stem(asked))];
    let named = candidates.iter().find_map(|name| Handle::parse(name).ok());
    let none = || Failure::usage("the server says no name that fits: give it one with --name");
    named.map(|handle| handle.as_str().to_owned()).ok_or_else(none)
}

fn planned(asked: &ImportServer, wanted: ServerRequest, survey: ServerSurvey) -> Result<ServerImport, Failure> {
    let ServerRequest { target, definition, variables } = wanted;
    let name = name_of(asked, &survey)?;
    if asked.into.join("agents").join(format!("{name}.toml")).exists() {
        let message = format!("`{name}` is an agent here, and /mcp/{name} is that agent's");
        return Err(Failure::yours(message).hint("choose another name with --name"));
    }
    if survey.tools.is_empty() {
        return Err(Failure::yours(format!("{} has no tools", servers::shown(&target))));
    }
    let chosen: Vec<SurveyedTool> = survey.tools.iter().filter(|tool| definition.takes(&tool.name)).cloned().collect();
    if chosen.is_empty() {
        let all: Vec<&str> = survey.tools.iter().take(NAMED_MAX).map(|tool| tool.name.as_str()).collect();
        return Err(Failure::yours("none of its tools is taken by --only and --except")
            .hint(format!("its tools are {}", line(&all.join(", "), 1_000))));
    }
    let about = match (survey.name.as_str(), survey.version.as_str()) {
        ("", _) => name.clone(),
        (title, "") => line(title, SENTENCE_CHARS_MAX),
        (title, version) => format!("{} {}", line(title, SENTENCE_CHARS_MAX), line(version, 40)),
    };
    let file = File { name: format!("{name}.toml"), text: definition.text(&name, &about) };
    let (of_servers, of_endpoints) = (asked.into.join(FOLDER), asked.into.join(ENDPOINTS));
    let record = folder::record(&of_servers)?;
    let disk = Disk { endpoints: &of_servers, functions: None };
    let definition = plan(&as_import(&name, &survey.version, file), record, &disk, asked.force);
    let kept = kept_lists(&asked.into, &name)?;
    let changes = kept.map(|kept| changes(&kept, &survey.lists));
    let endpoints = match asked.no_endpoints {
        true => None,
        false => {
            let record = folder::record(&of_endpoints)?;
            let server = ToolServer {
                name: name.clone(),
                title: survey.name.clone(),
                version: survey.version.clone(),
                functions: format!("{SERVER_FUNCTIONS}{name}."),
                errors: SERVER_FUNCTION_ERRORS.map(str::to_owned).to_vec(),
            };
            let tools: Vec<ToolDescription> = chosen.iter().map(described).collect();
            let import = import_tools(&server, &tools, &record)
                .map_err(|error| Failure::yours(format!("{}: {error}", servers::shown(&target))))?;
            let disk = Disk { endpoints: &of_endpoints, functions: None };
            let plan = plan(&import, record, &disk, asked.force);
            Some((import, plan))
        }
    };
    Ok(ServerImport { name, survey, chosen, variables, definition, endpoints, changes })
}

fn described(tool: &SurveyedTool) -> ToolDescription {
    let SurveyedTool { name, title, description, input, output, reads_only, is_destructive, is_idempotent } =
        tool.clone();
    ToolDescription { name, title, description, input, output, reads_only, is_destructive, is_idempotent }
}

/// A definition as an import of one file, so that what people edit in it stays.
fn as_import(name: &str, version: &str, file: File) -> Import {
    let files =
        EndpointFiles { method: String::new(), path: String::new(), files: vec![file], notes: ImportNotes::default() };
    let operation = ImportedOperation {
        http: "SERVER".to_owned(),
        path: name.to_owned(),
        id: String::new(),
        fate: ImportFate::Written(files),
    };
    Import {
        title: name.to_owned(),
        name: name.to_owned(),
        version: version.to_owned(),
        operations: vec![operation],
        choices: ImportChoices::default(),
        causes: Vec::new(),
        variables: BTreeMap::new(),
        losses: Vec::new(),
        stubs: None,
    }
}

impl ServerImport {
    fn conflicts(&self) -> usize {
        let of_endpoints = self.endpoints.iter().flat_map(|(_, plan)| plan.conflicts()).count();
        self.definition.conflicts().count() + of_endpoints
    }

    /// Says it on standard error, where it is in nobody's way.
    fn print(&self, asked: &ImportServer) {
        self.tools();
        self.survey.losses.iter().for_each(|loss| stderrln!("without {}", line(loss, 120)));
        if let Some(changes) = &self.changes {
            stderrln!("since it was imported:");
            changes.iter().for_each(|change| stderrln!("    {}", change.sentence()));
            if changes.is_empty() {
                stderrln!("    nothing changed");
            }
        }
        let would = if asked.dry_run { "would be " } else { "" };
        stderrln!();
        for file in &self.definition.files {
            stderrln!("{would}{:<9} {FOLDER}/{}", summary::word(&file.change), file.name);
            summary::print_details(file);
        }
        stderrln!("{would}{:<9} {FOLDER}/{}.tools.json", "written", self.name);
        if let Some((import, plan)) = &self.endpoints {
            endpoints(import, plan, would);
            summary::needs(import, &asked.into.join(ENDPOINTS));
        }
        for (variable, about) in &self.variables {
            stderrln!("set {variable} in the environment of the host: {}", line(about, 120));
        }
        let (dir, name) = (asked.into.display(), &self.name);
        stderrln!("next: forecourt check {dir}; then its tools are at /mcp and /mcp/{name}");
    }

    /// Each tool, and whether it was chosen.
    fn tools(&self) {
        let ServerSurvey { name, version, tools, lists, .. } = &self.survey;
        let is_chosen = |tool: &SurveyedTool| self.chosen.iter().any(|chosen| chosen.name == tool.name);
        let width = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or_default().min(40);
        for tool in tools {
            let about = if tool.title.is_empty() { &tool.description } else { &tool.title };
            let about = if is_chosen(tool) { line(about, SENTENCE_CHARS_MAX) } else { "left out".to_owned() };
            stderrln!("{:<width$}  {about}", line(&tool.name, 64));
        }
        let count = |key: &str| lists[key].as_array().map_or(0, Vec::len);
        let title = line(&format!("{name} {version}"), SENTENCE_CHARS_MAX);
        stderrln!(
            "\n{}: {} of {} tools, {} resources, {} templates, {} prompts",
            title.trim(),
            self.chosen.len(),
            tools.len(),
            count("resources"),
            count("templates"),
            count("prompts")
        );
    }

    fn json(&self, is_dry_run: bool) -> Value {
        let files = self.definition.files.iter().map(summary::change).collect::<Vec<_>>();
        let changes = self.changes.as_ref().map(|all| all.iter().map(ListChange::json).collect::<Vec<_>>());
        json!({
            "name": self.name,
            "server": self.survey.lists["server"],
            "tools": self.survey.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
            "chosen": self.chosen.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
            "losses": self.survey.losses,
            "variables": self.variables,
            "definition": files,
            "changes": changes,
            "endpoints": self.endpoints.as_ref().map(|(import, plan)| summary::json(import, plan, is_dry_run)),
            "is_dry_run": is_dry_run,
        })
    }
}

/// What becomes of the endpoints: each that is not as it was.
fn endpoints(import: &Import, plan: &ImportPlan, would: &str) {
    let is_new = |file: &&PlannedFile| file.change == FileChange::Added;
    let added = plan.files.iter().filter(is_new).filter(|file| file.name.ends_with(".toml")).count();
    if added > 0 {
        stderrln!("{would}{:<9} {added} of {} tools as {ENDPOINTS}", "added", import.operations.len());
    }
    for file in plan.files.iter().filter(|file| !matches!(file.change, FileChange::Added | FileChange::Same)) {
        stderrln!("{would}{:<9} {ENDPOINTS}/{}", summary::word(&file.change), file.name);
        summary::print_details(file);
    }
    for operation in &import.operations {
        if let ImportFate::Failed(reason) | ImportFate::Skipped(reason) = &operation.fate {
            stderrln!("no endpoint for the tool {}: {}", line(&operation.id, 64), line(reason, 240));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pair: &str, flag: &str) -> (String, String, Vec<String>) {
        let mut variables = BTreeMap::new();
        let (values, written) = taken(&[pair.to_owned()], flag, "my-far", &mut variables).unwrap();
        let first = |map: BTreeMap<String, String>| map.into_values().next().unwrap();
        (first(values), first(written), variables.into_keys().collect())
    }

    #[test]
    fn values_are_asked_with_and_never_written() {
        let (value, written, variables) = pairs("Authorization=Bearer abc=", "--header");
        assert_eq!((value.as_str(), written.as_str()), ("Bearer abc=", "Bearer ${MY_FAR_AUTHORIZATION}"));
        assert_eq!(variables, ["MY_FAR_AUTHORIZATION"]);
        let (value, written, variables) = pairs("X-Key=k y", "--header");
        assert_eq!((value.as_str(), written.as_str()), ("k y", "${MY_FAR_X_KEY}"));
        assert_eq!(variables, ["MY_FAR_X_KEY"]);
        assert_eq!(pairs("TOKEN=x", "--env").1, "${TOKEN}");
    }

    #[test]
    fn a_variable_is_kept_as_it_is_written() {
        let path = std::env::var("PATH").unwrap();
        let (value, written, variables) = pairs("X=a ${PATH}!", "--header");
        assert_eq!((value, written.as_str(), variables.len()), (format!("a {path}!"), "a ${PATH}!", 0));
        for wrong in ["X", "=x", "X=${A", "X=${NOT_SET_ANYWHERE}"] {
            assert!(taken(&[wrong.to_owned()], "--header", "a", &mut BTreeMap::new()).is_err(), "{wrong}");
        }
    }
}
