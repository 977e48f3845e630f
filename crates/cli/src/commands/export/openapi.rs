//! `forecourt export openapi`: the endpoints of a deployment as an OpenAPI document.

use forecourt_openapi::{About, export};

use super::HTTPS_PORT;
use crate::args::ExportOpenapi;
use crate::commands::load;
use crate::output::{Failure, Outcome, print_json, stderrln};

/// What stands for a version: endpoints have none in common.
const VERSION: &str = "unversioned";

/// Prints the document, and what it does not say on standard error.
pub(super) fn run(asked: &ExportOpenapi) -> Outcome {
    let mut loaded = load(&asked.place)?;
    loaded.publish_https_port(HTTPS_PORT);
    let (contract, refused) = loaded.endpoints()?;
    let domain = loaded.domain();
    let about = About {
        title: format!("Endpoints of {}", domain),
        version: VERSION.to_owned(),
        manifest: Some(format!("agtp://{}/", domain)),
    };
    let registered = contract.registry.iter().map(|registered| registered.endpoint.as_ref());
    let exported = export(registered, &about, &contract.catalog);
    exported.losses.iter().for_each(|loss| stderrln!("lost: {loss}"));
    print_json(&exported.document)?;
    match refused.is_empty() {
        true => Ok(()),
        false => Err(Failure::yours("the document lacks endpoints that are refused")
            .hint("`forecourt check` names each of them and why")),
    }
}
