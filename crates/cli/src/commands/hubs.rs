//! The hubs that a deployment follows: their files as commands read and write them, and what became of a hub since.

mod connect;
pub(super) mod definition;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use forecourt::hub_survey::{HUBS, HubRequest, HubSurvey, HubSurveyError, survey};
use forecourt_client::network;
use forecourt_egress::EgressConfig;

use super::changes::WORDS_CHARS_MAX;
use super::printable::line;
use crate::output::Failure;

pub(super) use connect::{hub_changes, left_out, run as connect};

/// Where the definition of a hub lies.
pub(super) fn definition_file(deployment: &Path, name: &str) -> PathBuf {
    deployment.join(HUBS).join(format!("{name}.toml"))
}

/// Looks at the hub that `text` defines, with `variables` before those of the environment.
pub(super) async fn look(
    deployment: &Path,
    name: &str,
    text: &str,
    variables: &BTreeMap<String, String>,
) -> Result<HubSurvey, Failure> {
    let egress = network::build(EgressConfig::default(), None)?;
    let environment = |name: &str| variables.get(name).cloned().or_else(|| std::env::var(name).ok());
    let file = definition_file(deployment, name);
    let request = HubRequest { folder: deployment, file: &file, text, environment: &environment, egress: &egress };
    survey(&request).await.map_err(|error| match error {
        HubSurveyError::Settings(problems) => problems.into(),
        HubSurveyError::Hub { url, why } => {
            let why = line(&why.to_string(), WORDS_CHARS_MAX);
            let failure = Failure::yours(format!("the hub at {} {why}", line(&url, WORDS_CHARS_MAX)));
            match why.starts_with("was not read") {
                true => failure.hint(
                    "is it running, and is the address right? --header \"Authorization=Bearer TOKEN\" says who asks",
                ),
                // What was read says itself what to do.
                false => failure,
            }
        }
    })
}
