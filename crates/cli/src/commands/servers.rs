//! The servers behind a deployment: their files as commands read them, and what became of a server since.

mod connect;
pub(super) mod definition;

use std::path::{Path, PathBuf};

use forecourt::registry::server_survey::{ServerSurvey, SurveyError, SurveyTarget, survey};
use forecourt_client::network;
use forecourt_egress::EgressConfig;
use serde_json::Value;

use crate::commands::changes::WORDS_CHARS_MAX;
use crate::commands::printable::line;
use crate::output::Failure;

pub(super) use connect::run as connect;

/// The folder of the files.
pub(super) const FOLDER: &str = "servers";

/// Where the definition of a server lies.
pub(super) fn definition_file(deployment: &Path, name: &str) -> PathBuf {
    deployment.join(FOLDER).join(format!("{name}.toml"))
}

/// Where its lists lie as they were when it was imported.
fn lists_file(deployment: &Path, name: &str) -> PathBuf {
    deployment.join(FOLDER).join(format!("{name}.tools.json"))
}

/// Asks a server for all it has.
pub(super) async fn ask(target: &SurveyTarget) -> Result<ServerSurvey, Failure> {
    let egress = network::build(EgressConfig::default(), None)?;
    survey(target, &egress).await.map_err(|error| failure(target, &error))
}

/// The address of a server, or its program.
pub(super) fn shown(target: &SurveyTarget) -> String {
    match target {
        SurveyTarget::Url { url, .. } => line(url, WORDS_CHARS_MAX),
        SurveyTarget::Program { command, .. } => format!("`{}`", line(&command.join(" "), WORDS_CHARS_MAX)),
    }
}

/// Why a server was not asked, and what to do about it.
fn failure(target: &SurveyTarget, error: &SurveyError) -> Failure {
    let SurveyError::Program { why, last_words } = error else {
        let failure = Failure::yours(format!("{}: {}", shown(target), line(&error.to_string(), WORDS_CHARS_MAX)));
        return match error {
            SurveyError::Unconnected(_) => failure.hint("is it running, and is the address right?"),
            SurveyError::SignIn(_) => failure.hint("--header \"Authorization=Bearer TOKEN\" says who asks"),
            SurveyError::OtherProtocol(_) => failure.hint("is this an MCP endpoint, such as https://example.com/mcp?"),
            SurveyError::Unstarted(_) => failure.hint("is it installed, and in PATH?"),
            _ => failure,
        };
    };
    let mut message = format!("{}: {}", shown(target), line(&why.to_string(), WORDS_CHARS_MAX));
    for words in last_words {
        message.push_str(&format!("\n  it said: {}", line(words, WORDS_CHARS_MAX)));
    }
    Failure::yours(message).hint("does it speak MCP on standard input and output? Run it by hand to see what it lacks")
}

/// The lists that lie beside a definition, if any do.
pub(super) fn kept_lists(deployment: &Path, name: &str) -> Result<Option<Value>, Failure> {
    let file = lists_file(deployment, name);
    if !file.exists() {
        return Ok(None);
    }
    let wrong = |why: String| {
        Failure::yours(format!("{} cannot be read: {why}", file.display())).hint(format!(
            "import the server again: forecourt import mcp --into {} --name {name}",
            deployment.display()
        ))
    };
    let text = std::fs::read(&file).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_slice(&text).map(Some).map_err(|error| wrong(error.to_string()))
}
