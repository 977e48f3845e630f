//! `forecourt import mcp`: a server of others, put behind a deployment.

use std::collections::BTreeMap;

use forecourt::registry::SERVER_FUNCTION_ERRORS;
use forecourt::registry::server_survey::{ServerSurvey, SurveyTarget, SurveyedTool};
use forecourt_core::Handle;
use forecourt_openapi::reimport::{FileChange, ImportPlan, PlannedFile, plan};
use forecourt_openapi::{File, Import, ImportFate, ToolDescription, ToolServer, import_tools};
use forecourt_surface::SERVER_FUNCTIONS;
use serde_json::{Value, json};

use super::definition::{as_import, globs, print_changes, print_files};
use super::folder::{self, Disk};
use super::pairs::{TakenPairs, taken};
use super::summary;
use crate::args::ImportServer;
use crate::commands::changes::{ListChange, changes};
use crate::commands::printable::line;
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
    if !asked.written.into.is_dir() {
        return Err(Failure::yours(format!("{} is no folder", asked.written.into.display()))
            .hint("`forecourt init DIR` makes a deployment"));
    }
    let wanted = wanted(asked)?;
    let survey = servers::ask(&wanted.target).await?;
    let import = planned(asked, wanted, survey)?;
    let (of_servers, of_endpoints) = (asked.written.into.join(FOLDER), asked.written.into.join(ENDPOINTS));
    folder::check(&import.definition, &of_servers)?;
    if let Some((_, plan)) = &import.endpoints {
        folder::check(plan, &of_endpoints)?;
    }
    if !asked.written.dry_run {
        folder::write(&import.definition, &of_servers, None)?;
        let lists = serde_json::to_string_pretty(&import.survey.lists).unwrap_or_default() + "\n";
        folder::put(&of_servers, &format!("{}.tools.json", import.name), &lists)?;
        if let Some((_, plan)) = &import.endpoints {
            folder::write(plan, &of_endpoints, None)?;
        }
    }
    match asked.written.json {
        true => print_json(&import.json(asked.written.dry_run))?,
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
        let missing =
            || Failure::yours(format!("file not found: {}", definition_file(&asked.written.into, name).display()));
        let known = ServerDefinition::read(&asked.written.into, name)?.ok_or_else(missing)?;
        let target = known.target(&asked.written.into).ok_or_else(lacks)?;
        let written = ServerDefinition::read_as_written(&asked.written.into, name)?.unwrap_or_default();
        return Ok(ServerRequest { target, definition: written, variables });
    }
    let stem = asked.name.clone().unwrap_or_else(|| stem(asked));
    let mut values = |pairs: &[String], flag: &str| -> Result<_, Failure> {
        let TakenPairs { values, written, variables: made } = taken(pairs, flag, &stem)?;
        variables.extend(made.into_iter().map(|(name, variable)| (name, variable.about)));
        Ok((values, written))
    };
    let (target, written) = match &asked.url {
        Some(url) => {
            if !asked.env.is_empty() {
                return Err(Failure::usage("--env is for a program: a URL has --header"));
            }
            let (headers, written) = values(&asked.written.header, "--header")?;
            let at = |headers| SurveyTarget::Url { url: url.clone(), headers };
            (at(headers), at(written))
        }
        None => {
            if !asked.written.header.is_empty() {
                return Err(Failure::usage("--header is for a URL: a program has --env"));
            }
            let (variables, written) = values(&asked.env, "--env")?;
            let folder = asked.written.into.clone();
            let at =
                |variables| SurveyTarget::Program { command: asked.command.clone(), variables, folder: folder.clone() };
            (at(variables), at(written))
        }
    };
    let target = match known(asked, &written)? {
        Some(known) => ServerDefinition::of(&target).after(known).target(&asked.written.into).unwrap_or(target),
        None => target,
    };
    Ok(ServerRequest { target, definition: ServerDefinition::of(&written), variables })
}

/// What stands in the file of a server that was imported before under the name that is given, with values. `None`:
/// there is none for the server at `place`, or the flags say what it is asked with.
fn known(asked: &ImportServer, place: &SurveyTarget) -> Result<Option<ServerDefinition>, Failure> {
    let says_nothing = asked.written.header.is_empty() && asked.env.is_empty();
    let Some(name) = asked.name.as_deref().filter(|_| says_nothing) else { return Ok(None) };
    let written = ServerDefinition::read_as_written(&asked.written.into, name)?;
    match written.filter(|written| written.is_at_place_of(&ServerDefinition::of(place))) {
        Some(_) => ServerDefinition::read(&asked.written.into, name),
        None => Ok(None),
    }
}

/// What the flags say of a definition.
fn with_flags(mut definition: ServerDefinition, asked: &ImportServer) -> Result<ServerDefinition, Failure> {
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
    if asked.written.into.join("agents").join(format!("{name}.toml")).exists() {
        let message = format!("`{name}` is an agent here, and /mcp/{name} is that agent's");
        return Err(Failure::yours(message).hint("choose another name with --name"));
    }
    // Whoever imports a server again says only what is to be another: tools that were left out stay left out.
    let definition = match ServerDefinition::read_as_written(&asked.written.into, &name)? {
        Some(known) => definition.after(known),
        None => definition,
    };
    let definition = with_flags(definition, asked)?;
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
    let (of_servers, of_endpoints) = (asked.written.into.join(FOLDER), asked.written.into.join(ENDPOINTS));
    let record = folder::record(&of_servers)?;
    let disk = Disk { endpoints: &of_servers, functions: None };
    let definition = plan(&as_import("SERVER", &name, &survey.version, file), record, &disk, asked.written.force);
    let kept = kept_lists(&asked.written.into, &name)?;
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
            let plan = plan(&import, record, &disk, asked.written.force);
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

impl ServerImport {
    fn conflicts(&self) -> usize {
        let of_endpoints = self.endpoints.iter().flat_map(|(_, plan)| plan.conflicts()).count();
        self.definition.conflicts().count() + of_endpoints
    }

    /// Says it on standard error, where it is in nobody's way.
    fn print(&self, asked: &ImportServer) {
        self.tools();
        self.survey.losses.iter().for_each(|loss| stderrln!("without {}", line(loss, 120)));
        print_changes(self.changes.as_deref(), "it was imported");
        let would = if asked.written.dry_run { "would be " } else { "" };
        print_files(&self.definition, FOLDER, &format!("{}.tools.json", self.name), would);
        if let Some((import, plan)) = &self.endpoints {
            endpoints(import, plan, would);
            summary::needs(import, &asked.written.into.join(ENDPOINTS));
        }
        for (variable, about) in &self.variables {
            stderrln!("set {variable} in the environment of the host: {}", line(about, 120));
        }
        let (dir, name) = (asked.written.into.display(), &self.name);
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
