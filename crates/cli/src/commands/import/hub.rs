//! `forecourt import a2a`: a hub elsewhere, whose agents a deployment fronts.

use std::collections::BTreeMap;
use std::path::Path;

use forecourt::hub_survey::{HUBS, HubSurvey, LIST_SUFFIX};
use forecourt_core::Handle;
use forecourt_openapi::File;
use forecourt_openapi::reimport::{ImportPlan, plan};
use forecourt_settings::files;
use serde_json::{Value, json};

use super::definition::{as_import, globs, print_changes, print_files};
use super::folder::{self, Disk};
use super::pairs::{SecretVariable, TakenPairs, taken};
use super::summary;
use crate::args::ImportHub;
use crate::commands::changes::{ListChange, WORDS_CHARS_MAX};
use crate::commands::hubs::definition::{HubDefinition, HubHeaders, host_of};
use crate::commands::hubs::{definition_file, hub_changes, left_out, look};
use crate::commands::printable::line;
use crate::output::{Failure, Outcome, print_json, stderrln};

/// Characters of a sentence about an agent.
const SENTENCE_CHARS_MAX: usize = 80;

/// What an import found and does.
struct HubImport {
    name: String,
    survey: HubSurvey,
    /// The definition and its folder's record.
    definition: ImportPlan,
    variables: BTreeMap<String, SecretVariable>,
    /// What changed since the agents were seen last. `None`: they never were.
    changes: Option<Vec<ListChange>>,
}

/// Reads the hub and writes what it has.
pub(super) async fn run(asked: &ImportHub) -> Outcome {
    if !asked.written.into.is_dir() {
        return Err(Failure::yours(format!("{} is no folder", asked.written.into.display()))
            .hint("`forecourt init DIR` makes a deployment"));
    }
    let import = planned(asked).await?;
    let out = asked.written.into.join(HUBS);
    folder::check(&import.definition, &out)?;
    if let Some(handle) = import.survey.taken.first() {
        let count = import.survey.taken.len();
        let message = format!("{count} of its agents have handles that others have here, such as `{handle}`");
        return Err(Failure::yours(message).hint("--prefix gives them others, and --except leaves some of them out"));
    }
    if !asked.written.dry_run {
        folder::write(&import.definition, &out, None)?;
        let list = serde_json::to_string_pretty(&import.survey.look.list).unwrap_or_default() + "\n";
        folder::put(&out, &format!("{}{LIST_SUFFIX}", import.name), &list)?;
    }
    match asked.written.json {
        true => print_json(&import.json(asked.written.dry_run))?,
        false => import.print(asked),
    }
    match import.definition.conflicts().count() {
        0 => Ok(()),
        _ => Err(Failure::yours(format!(
            "{HUBS}/{}.toml needs a person: somebody changed what the flags say, too",
            import.name
        ))),
    }
}

/// Plans the definition, and looks at the hub that it will be.
async fn planned(asked: &ImportHub) -> Result<HubImport, Failure> {
    let name = name_of(asked)?;
    let TakenPairs { written, variables, .. } = taken(&asked.written.header, "--header", &name)?;
    let definition = wanted(asked, &name, written)?;
    let out = asked.written.into.join(HUBS);
    let file = File { name: format!("{name}.toml"), text: definition.text() };
    let record = folder::record(&out)?;
    let disk = Disk { endpoints: &out, functions: None };
    let plan = plan(&as_import("HUB", &name, "", file), record, &disk, asked.written.force);
    let values = variables.iter().map(|(name, variable)| (name.clone(), variable.value.clone())).collect();
    let survey =
        look(&asked.written.into, &name, &text(&plan, &definition, &asked.written.into, &name)?, &values).await?;
    let changes = hub_changes(&survey);
    Ok(HubImport { name, survey, definition: plan, variables, changes })
}

/// The definition as it will lie there, with what people wrote into it.
fn text(plan: &ImportPlan, definition: &HubDefinition, deployment: &Path, name: &str) -> Result<String, Failure> {
    if let Some(text) = plan.files.first().and_then(|file| file.text.clone()) {
        return Ok(text);
    }
    let file = definition_file(deployment, name);
    match file.exists() {
        true => files::text_of(&file).map_err(|problem| Failure::yours(problem.to_string())),
        false => Ok(definition.text()),
    }
}

/// What the hub is called here: by the flag, else by the first part of its domain.
fn name_of(asked: &ImportHub) -> Result<String, Failure> {
    if let Some(name) = &asked.name {
        let handle = Handle::parse(name).map_err(|error| Failure::usage(format!("--name: {error}")))?;
        return Ok(handle.as_str().to_owned());
    }
    let address = asked.address.as_deref().ok_or_else(lacks)?;
    let label = host_of(address).trim_start_matches("www.").split(['.', ':']).next().unwrap_or_default();
    // A number is the first part of an address, and says nothing.
    let named = Handle::parse(label).ok().filter(|name| name.as_str().parse::<u8>().is_err());
    let none = || Failure::usage("the address says no name that fits: give it one with --name");
    named.map(|name| name.as_str().to_owned()).ok_or_else(none)
}

fn lacks() -> Failure {
    Failure::usage("name a hub: its domain, the URL of its card, or one in `hubs/` by --name")
}

/// What is to be written, by the flags and by the definition that is there.
fn wanted(asked: &ImportHub, name: &str, headers: BTreeMap<String, String>) -> Result<HubDefinition, Failure> {
    let missing =
        || Failure::yours(format!("file not found: {}", definition_file(&asked.written.into, name).display()));
    let known = HubDefinition::read_as_written(&asked.written.into, name)?;
    // Whoever imports a hub again says only what is to be another: agents that were left out stay left out.
    let mut definition = match &asked.address {
        Some(address) => known.unwrap_or_else(|| HubDefinition::of(address)).at(address),
        None => known.ok_or_else(missing)?,
    };
    if !headers.is_empty() {
        definition.backend = HubHeaders { headers };
    }
    if !asked.only.is_empty() {
        definition.only = globs(&asked.only, "--only")?;
    }
    if !asked.except.is_empty() {
        definition.except = globs(&asked.except, "--except")?;
    }
    if let Some(prefix) = &asked.prefix {
        definition.prefix.clone_from(prefix);
    }
    Ok(definition)
}

impl HubImport {
    /// Says it on standard error, where it is in nobody's way.
    fn print(&self, asked: &ImportHub) {
        let HubSurvey { look, handles, .. } = &self.survey;
        let width = handles.iter().map(|handle| handle.as_str().len()).max().unwrap_or_default();
        for (handle, agent) in handles.iter().zip(&look.list.agents) {
            let about = if agent.description.is_empty() { &agent.name } else { &agent.description };
            stderrln!("{:<width$}  {}", handle.as_str(), line(about, SENTENCE_CHARS_MAX));
        }
        for agent in &look.left_out {
            stderrln!("without {}: {}", line(&agent.handle, 60), line(&agent.why, WORDS_CHARS_MAX));
        }
        let signed = if look.list.is_signed { ", whose card is signed" } else { "" };
        stderrln!("\n{}: {} agents{signed}", line(&look.name, SENTENCE_CHARS_MAX), handles.len());
        print_changes(self.changes.as_deref(), "they were seen last");
        let would = if asked.written.dry_run { "would be " } else { "" };
        print_files(&self.definition, HUBS, &format!("{}{LIST_SUFFIX}", self.name), would);
        for (variable, secret) in &self.variables {
            stderrln!("set {variable} in the environment of the host: {}", line(&secret.about, 120));
        }
        stderrln!("next: forecourt check {0}; then forecourt serve {0} follows the hub", asked.written.into.display());
    }

    fn json(&self, is_dry_run: bool) -> Value {
        let variables: BTreeMap<_, _> = self.variables.iter().map(|(name, secret)| (name, &secret.about)).collect();
        json!({
            "name": self.name,
            "title": self.survey.look.name,
            "is_signed": self.survey.look.list.is_signed,
            "agents": self.survey.handles,
            "left_out": left_out(&self.survey),
            "variables": variables,
            "definition": self.definition.files.iter().map(summary::change).collect::<Vec<_>>(),
            "changes": self.changes.as_ref().map(|all| all.iter().map(ListChange::json).collect::<Vec<_>>()),
            "is_dry_run": is_dry_run,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ImportedFiles;

    fn asked(address: &str) -> ImportHub {
        ImportHub {
            address: Some(address.to_owned()),
            name: None,
            only: Vec::new(),
            except: Vec::new(),
            prefix: None,
            written: ImportedFiles {
                into: "/srv".into(),
                header: Vec::new(),
                force: false,
                dry_run: false,
                json: false,
            },
        }
    }

    #[test]
    fn who_imports_a_hub_again_says_only_what_is_to_be_another() {
        let folder = tempfile::tempdir().unwrap();
        let asked = |address: &str| {
            let asked = asked(address);
            ImportHub { written: ImportedFiles { into: folder.path().to_path_buf(), ..asked.written }, ..asked }
        };
        let headers = || BTreeMap::from([("Authorization".to_owned(), "Bearer ${TOKEN}".to_owned())]);
        let first = ImportHub {
            prefix: Some("far-".to_owned()),
            only: vec!["shop*".to_owned()],
            except: vec!["shop-test".to_owned()],
            ..asked("far.example")
        };
        let first = wanted(&first, "far", headers()).unwrap();
        folder::put(&folder.path().join(HUBS), "far.toml", &first.text()).unwrap();
        let again = wanted(&asked("far.example"), "far", BTreeMap::new()).unwrap();
        assert_eq!(again, first);
        let other = ImportHub { prefix: Some("f-".to_owned()), ..asked("far.example") };
        let other = wanted(&other, "far", BTreeMap::new()).unwrap();
        assert_eq!(other, HubDefinition { prefix: "f-".to_owned(), ..first });
    }

    #[test]
    fn a_hub_is_called_by_the_first_part_of_its_domain() {
        for (address, name) in [
            ("example.com", "example"),
            ("www.example.com:8443", "example"),
            ("@chef@kitchen.localhost:8081", "kitchen"),
            ("https://hub.example/card.json", "hub"),
        ] {
            assert_eq!(name_of(&asked(address)).unwrap(), name, "{address}");
        }
        assert!(name_of(&asked("http://127.0.0.1:8080/")).is_err());
    }
}
