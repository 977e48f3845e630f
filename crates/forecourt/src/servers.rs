//! The files of the servers behind a deployment, and of its connectors.

use std::path::Path;

use forecourt_core::Handle;
use forecourt_rules::ServerRuleSettings;
use forecourt_settings::{Environment, Problems, Section, files};
use forecourt_surface::{CONNECTORS, ConnectorDefinition, SERVERS};

use crate::named_file::name_of_file;

/// Files of servers, or of connectors, in one deployment.
const FILES_MAX: usize = 1_000;
/// The key of a connector's file that says what it connects.
const KIND: &str = "kind";

/// A server behind the deployment: a file of `servers/`.
pub(crate) struct ServerFile {
    /// Its name: that of the file.
    pub name: Handle,
    /// What the file says but for its rules.
    pub section: Section,
    /// The rules before it, each with its place.
    pub rules: Vec<(ServerRuleSettings, Section)>,
}

/// A connector of the deployment: a file of `connectors/`.
pub(crate) struct ConnectorFile {
    /// What it connects.
    pub kind: String,
    /// What the protocol of that kind is given.
    pub definition: ConnectorDefinition,
}

/// The servers that can be read, and what is wrong with the others.
pub(crate) fn read_servers(folder: &Path, environment: &dyn Environment) -> (Vec<ServerFile>, Problems) {
    read_all(&folder.join(SERVERS), |file| read_server(file, environment))
}

/// The connectors that can be read, and what is wrong with the others.
pub(crate) fn read_connectors(folder: &Path, environment: &dyn Environment) -> (Vec<ConnectorFile>, Problems) {
    read_all(&folder.join(CONNECTORS), |file| read_connector(file, environment))
}

/// What each file of a folder defines, where it can be read.
fn read_all<T>(folder: &Path, read: impl Fn(&Path) -> Result<T, Problems>) -> (Vec<T>, Problems) {
    let files = match files::files_in(folder, FILES_MAX) {
        Ok(files) => files,
        Err(problem) => return (Vec::new(), problem.into()),
    };
    let mut problems = Problems::new();
    let all = files.iter().filter_map(|file| problems.absorb(read(file))).collect();
    (all, problems)
}

fn read_connector(file: &Path, environment: &dyn Environment) -> Result<ConnectorFile, Problems> {
    let name = name_of_file(file, "connector", "connectors/team.toml")?;
    let section = Section::parse(file, &files::text_of(file)?, environment)?;
    let kind = section.text(KIND).map(str::to_owned);
    let kind = kind.ok_or_else(|| section.problem(None, "a connector needs a `kind`, such as `kind = \"slack\"`"))?;
    Ok(ConnectorFile { kind, definition: ConnectorDefinition { name, section } })
}

fn read_server(file: &Path, environment: &dyn Environment) -> Result<ServerFile, Problems> {
    let name = name_of_file(file, "server", "servers/weather.toml")?;
    let mut section = Section::parse(file, &files::text_of(file)?, environment)?;
    let mut problems = Problems::new();
    let rules = section.take_list("policy").into_iter();
    let rules = rules.filter_map(|rule| Some((problems.absorb(rule.read())?, rule))).collect();
    problems.into_result(ServerFile { name, section, rules })
}
