//! Connectors whose credentials are tried once, and where a deployment's connectors are told of events.

use std::path::Path;
use std::sync::Arc;

use forecourt_settings::{Problems, ProcessEnvironment};
use forecourt_surface::CONNECTORS as FOLDER;
use futures::future::BoxFuture;

use crate::deployment::Deployment;
use crate::house;
use crate::registry::CONNECTORS;
use crate::servers::read_connectors;

/// What became of the credentials of one connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorReport {
    /// Its file, from the folder of the deployment on.
    pub file: String,
    /// Whom they are for, or what is wrong with them.
    pub found: Result<String, String>,
}

/// Asks each platform whether the credentials in its files are good. Nothing where the deployment can't be read, which a
/// check tells anyway.
pub fn try_connectors(folder: &Path) -> BoxFuture<'_, Vec<ConnectorReport>> {
    Box::pin(async move {
        let (files, _) = read_connectors(folder, &ProcessEnvironment);
        let Ok(deployment) = Deployment::read(folder) else { return Vec::new() };
        let Ok(egress) = house::egress(&deployment, &house::site(&deployment)).map(Arc::new) else { return Vec::new() };
        let mut reports = Vec::with_capacity(files.len());
        for file in files {
            let Some(kind) = CONNECTORS.iter().find(|kind| kind.protocol.name == file.kind) else { continue };
            let found = (kind.try_credentials)(file.definition.section, egress.clone()).await;
            reports.push(ConnectorReport { file: format!("{FOLDER}/{}.toml", file.definition.name), found });
        }
        reports
    })
}

/// The base of the URLs of a deployment, to which platforms send events.
///
/// # Errors
/// Everything that is wrong with it.
pub fn base_url(folder: &Path) -> Result<String, Problems> {
    Ok(house::site(&Deployment::read(folder)?).base)
}
