//! `forecourt connect PLATFORM`: what an operator does so that agents can be mentioned there; and whether the
//! credentials of the connectors are good, for `check --connect`.

use std::path::Path;

use clap::{ArgMatches, FromArgMatches};
use forecourt::connector_survey::{
    ConnectorReport, NetworkReport, base_url, network_steps as steps_of, try_connectors, try_networks,
};
use forecourt_core::Handle;
use forecourt_surface::connector::{ConnectorKind, NetworkKind};
use serde_json::{Value, json};

use super::printable::line;
use crate::args::{NetworkArguments, PlatformArguments};
use crate::output::{Failure, Outcome, stdout, stdoutln};

/// Characters of what a platform says that are shown.
const WORDS_CHARS_MAX: usize = 300;

/// Prints the steps.
pub(super) fn steps(kind: &ConnectorKind, typed: &ArgMatches) -> Outcome {
    let arguments = PlatformArguments::from_arg_matches(typed).map_err(|error| Failure::usage(error.to_string()))?;
    let name = arguments.name.unwrap_or_else(|| kind.protocol.name.to_owned());
    let name = Handle::parse(&name).map_err(|error| Failure::usage(format!("`{name}` is no name: {error}")))?;
    let base = base_url(&arguments.dir)?;
    stdout(format_args!("{}", (kind.steps)(&name, &base)));
    Ok(())
}

/// Prints how agents are found in a network.
pub(super) fn network_steps(kind: &NetworkKind, typed: &ArgMatches) -> Outcome {
    let arguments = NetworkArguments::from_arg_matches(typed).map_err(|error| Failure::usage(error.to_string()))?;
    stdout(format_args!("{}", steps_of(kind, &arguments.dir)?));
    Ok(())
}

/// Looks for the agents in the networks that they are in, and tells. Gives the same as JSON, and a failure where some
/// are not found.
pub(super) async fn networks(deployment: &Path, is_json: bool) -> (Value, Outcome) {
    let reports = try_networks(deployment).await;
    let mut failed = 0;
    for NetworkReport { network, address, found } in &reports {
        failed += usize::from(found.is_err());
        let words = found.as_ref().unwrap_or_else(|wrong| wrong);
        if !is_json {
            stdoutln!("{network}: {address}: {}", line(words, WORDS_CHARS_MAX));
        }
    }
    let value = |report: &NetworkReport| match &report.found {
        Ok(place) => json!({"network": report.network, "address": report.address, "found": place}),
        Err(wrong) => json!({"network": report.network, "address": report.address, "error": wrong}),
    };
    let outcome = match failed {
        0 => Ok(()),
        _ => Err(Failure::yours(format!("{failed} of {} addresses are not found by others", reports.len()))
            .hint("is it served, and reached over HTTPS from the internet?")),
    };
    (reports.iter().map(value).collect(), outcome)
}

/// Tries the credentials of every connector, and tells. Gives the same as JSON, and a failure where some are not good.
pub(super) async fn connect(deployment: &Path, is_json: bool) -> (Value, Outcome) {
    let reports = try_connectors(deployment).await;
    let mut failed = 0;
    for ConnectorReport { file, found } in &reports {
        failed += usize::from(found.is_err());
        let words = found.as_ref().unwrap_or_else(|wrong| wrong);
        if !is_json {
            stdoutln!("{file}: {}", line(words, WORDS_CHARS_MAX));
        }
    }
    let value = |report: &ConnectorReport| match &report.found {
        Ok(whom) => json!({"file": report.file, "connected": whom}),
        Err(wrong) => json!({"file": report.file, "error": wrong}),
    };
    let outcome = match failed {
        0 => Ok(()),
        _ => Err(Failure::yours(format!("{failed} of {} connectors can't be used", reports.len()))),
    };
    (reports.iter().map(value).collect(), outcome)
}
