//! The settings as they were read, without their secrets.

use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::house::ReadSettings;

/// The settings that this node serves.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Config {
    /// The files, that of the deployment first.
    pub files: Vec<File>,
    /// Files above the bound, which are not shown.
    pub more: u64,
}

/// A file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct File {
    /// Its name within the folder of the deployment.
    pub name: String,
    /// What it says, with secrets masked and without its comments.
    pub text: String,
}

pub(crate) async fn one(ask: Ask) -> Result<Config, ApiError> {
    let read = ask.house.services.get::<ReadSettings>().unwrap_or_default();
    let file = |file: &crate::house::SettingsFile| File { name: file.name.clone(), text: file.text.clone() };
    Ok(Config { files: read.files.iter().map(file).collect(), more: read.more as u64 })
}
