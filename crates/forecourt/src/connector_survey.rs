//! Connectors whose credentials are tried once, where a deployment's connectors are told of events, and whether its
//! agents are found in networks.

use std::path::Path;
use std::sync::Arc;

use forecourt_egress::Egress;
use forecourt_settings::{Problems, ProcessEnvironment};
use forecourt_surface::CONNECTORS as FOLDER;
use forecourt_surface::connector::NetworkKind;
use futures::future::BoxFuture;

use crate::deployment::Deployment;
use crate::house;
use crate::registry::{CONNECTORS, NETWORKS};
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

/// What became of looking for one agent in a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkReport {
    /// The network.
    pub network: &'static str,
    /// The agent's address.
    pub address: String,
    /// Where it was found, or what is wrong.
    pub found: Result<String, String>,
}

/// Agents of a deployment that are looked for in a network.
const LOOKED_FOR_MAX: usize = 20;

/// Looks for the agents of a deployment in the networks that they are in, as others do: the first 20 of each. Nothing
/// where the deployment can't be read, which a check tells anyway, and where it is this machine alone.
pub fn try_networks(folder: &Path) -> BoxFuture<'_, Vec<NetworkReport>> {
    Box::pin(async move {
        let Ok(house) = Deployment::read(folder).and_then(Deployment::build) else { return Vec::new() };
        let site = house.site().clone();
        if site.domain.as_str().ends_with("localhost") {
            return Vec::new();
        }
        // The way out of a host is closed to its own names, which are to be asked for here.
        let egress = Egress::builder(house.egress.config().clone()).base(folder).build();
        let Ok(egress) = egress.map(Arc::new) else { return Vec::new() };
        let mut reports = Vec::new();
        for kind in NETWORKS {
            let cards = house.cards_over(kind.protocol);
            let agents = cards.iter().take(LOOKED_FOR_MAX).map(|card| card.handle().clone()).collect();
            for (agent, found) in (kind.try_addresses)(site.clone(), agents, egress.clone()).await {
                reports.push(NetworkReport { network: kind.name, address: site.address(&agent).to_string(), found });
            }
        }
        reports
    })
}

/// What an operator does so that the agents of a deployment are found in a network.
///
/// # Errors
/// Everything that is wrong with the deployment.
pub fn network_steps(kind: &NetworkKind, folder: &Path) -> Result<String, Problems> {
    let house = Deployment::read(folder)?.build()?;
    Ok((kind.steps)(house.site(), &house.cards_over(kind.protocol)))
}

/// The base of the URLs of a deployment, to which platforms send events.
///
/// # Errors
/// Everything that is wrong with it.
pub fn base_url(folder: &Path) -> Result<String, Problems> {
    Ok(house::site(&Deployment::read(folder)?).base)
}
