//! The files of the servers behind a deployment.

use std::path::Path;

use forecourt_core::Handle;
use forecourt_rules::ServerRuleSettings;
use forecourt_settings::{Environment, Problems, Section, files};
use forecourt_surface::SERVERS;

use crate::named_file::name_of_file;

/// Files of servers in one deployment.
const FILES_MAX: usize = 1_000;

/// A server behind the deployment: a file of `servers/`.
pub(crate) struct ServerFile {
    /// Its name: that of the file.
    pub name: Handle,
    /// What the file says but for its rules.
    pub section: Section,
    /// The rules before it, each with its place.
    pub rules: Vec<(ServerRuleSettings, Section)>,
}

/// The servers that can be read, and what is wrong with the others.
pub(crate) fn read_servers(folder: &Path, environment: &dyn Environment) -> (Vec<ServerFile>, Problems) {
    let files = match files::files_in(&folder.join(SERVERS), FILES_MAX) {
        Ok(files) => files,
        Err(problem) => return (Vec::new(), problem.into()),
    };
    let mut problems = Problems::new();
    let read = files.iter().filter_map(|file| problems.absorb(read_server(file, environment))).collect();
    (read, problems)
}

fn read_server(file: &Path, environment: &dyn Environment) -> Result<ServerFile, Problems> {
    let name = name_of_file(file, "server", "servers/weather.toml")?;
    let mut section = Section::parse(file, &files::text_of(file)?, environment)?;
    let mut problems = Problems::new();
    let rules = section.take_list("policy").into_iter();
    let rules = rules.filter_map(|rule| Some((problems.absorb(rule.read())?, rule))).collect();
    problems.into_result(ServerFile { name, section, rules })
}
