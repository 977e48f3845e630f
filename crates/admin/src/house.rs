//! What is asked of the program around: the house as it stands when somebody asks.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use forecourt_agents::IndexedContent;
use forecourt_contract::HostServices;
use forecourt_core::{Handle, Timestamp};
use forecourt_host::Host;
use forecourt_surface::tool::Tool;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::editor::DeploymentEditor;
use crate::limits::{SETTINGS_BYTES_MAX, SETTINGS_FILES_MAX};
use crate::masked::masked;

/// The program around.
pub trait DaemonControl: Send + Sync + 'static {
    /// The house as it stands now; `None` while there is none. Held for one request.
    fn now(&self) -> Option<OperatedHouse>;

    /// Whether it can answer, with what it answers without; the text of an error says what is missing.
    fn readiness(&self) -> BoxFuture<'static, Result<Vec<String>, String>>;

    /// What is wrong with the bus, if something is; `None` where there is no bus.
    fn bus_fault(&self) -> Option<Option<String>>;

    /// Whether a collector is told of what happens.
    fn telemetry(&self) -> TelemetryState;

    /// When and how the deployment was read last; `None` where it can't be read again.
    fn reload_status(&self) -> Option<Value>;

    /// Reads the deployment again, in the name of `by`; `None` where it can't be.
    fn reload(&self, by: String) -> BoxFuture<'static, Option<ReloadAnswer>>;

    /// What changes the files of the deployment; `None` where the operator has not turned that on, and where the program
    /// can't read them again.
    fn editor(&self) -> Option<Arc<dyn DeploymentEditor>>;

    /// The certificates that listeners show.
    fn certificates(&self) -> Vec<CertificateInUse>;
}

/// Whether a collector is told of what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TelemetryState {
    /// There is none.
    Off,
    /// It took what it was sent last.
    Sending,
    /// It took nothing last.
    Failing,
}

/// What came of reading a deployment again.
#[derive(Debug, Clone)]
pub struct ReloadAnswer {
    /// Whether it is served now.
    pub is_applied: bool,
    /// Everything about it.
    pub report: Value,
}

/// A house, with a host at work in it.
#[derive(Clone)]
pub struct OperatedHouse {
    /// The host.
    pub host: Arc<Host>,
    /// What its protocols have set up.
    pub services: Arc<HostServices>,
    /// The content behind its agents.
    pub contents: Vec<(Handle, Arc<dyn IndexedContent>)>,
}

/// A certificate that is shown to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateInUse {
    /// The names that it is for.
    pub names: Vec<String>,
    /// Who made it.
    pub issuer: String,
    /// From when on it holds.
    pub not_before: Timestamp,
    /// When it stops to hold.
    pub not_after: Timestamp,
}

/// The operations of a house that carriers of tools offer: set up among its services.
pub struct PlaygroundTools(pub Arc<[Tool]>);

/// The settings of a house as its files said them when it was opened: set up among its services. Secrets are not in
/// here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadSettings {
    /// The files, in the order of their names, after that of the deployment itself.
    pub files: Vec<SettingsFile>,
    /// Files above the bound, which are not shown.
    pub more: usize,
}

/// A file of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// Its name within the folder of the deployment.
    pub name: String,
    /// What it says, with secrets masked and without its comments.
    pub text: String,
}

impl ReadSettings {
    /// Reads the settings in the folder of a deployment. Blocks. A file that can't be read says so.
    pub fn of(folder: &Path) -> Self {
        let mut names = vec!["forecourt.toml".to_owned()];
        for sub in ["agents", "endpoints", "recipes"] {
            let entries = fs::read_dir(folder.join(sub)).into_iter().flatten().flatten();
            let mut found: Vec<String> = entries
                .filter_map(|entry| entry.file_name().into_string().ok())
                .filter(|name| name.ends_with(".toml"))
                .map(|name| format!("{sub}/{name}"))
                .collect();
            found.sort();
            names.append(&mut found);
        }
        let more = names.len().saturating_sub(SETTINGS_FILES_MAX);
        names.truncate(SETTINGS_FILES_MAX);
        let read = |name: String| SettingsFile { text: text_of(&folder.join(&name)), name };
        Self { files: names.into_iter().map(read).collect(), more }
    }
}

fn text_of(file: &Path) -> String {
    match fs::read_to_string(file) {
        Ok(text) if text.len() > SETTINGS_BYTES_MAX => format!("# more than {SETTINGS_BYTES_MAX} bytes\n"),
        Ok(text) => masked(&text),
        Err(error) => format!("# it can't be read: {error}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_deployment_comes_first_and_no_secret_is_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("agents")).unwrap();
        fs::write(folder.path().join("forecourt.toml"), "domain = \"a.example\"\n[admin]\ntoken = \"hunter2\"")
            .unwrap();
        fs::write(folder.path().join("agents/b.toml"), "handle = \"b\"").unwrap();
        fs::write(folder.path().join("agents/notes.md"), "x").unwrap();
        let read = ReadSettings::of(folder.path());
        let names: Vec<_> = read.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["forecourt.toml", "agents/b.toml"]);
        assert!(!format!("{read:?}").contains("hunter2"));
    }
}
