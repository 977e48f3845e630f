//! `forecourt manifest`: whether a manifest of AGTP keeps the rules. AGTP-API A.3.

use std::path::Path;

use forecourt_agtp_wire::media_types::MANIFEST;
use forecourt_client::output::{Failure, Outcome, print_json, stdout};
use forecourt_client::printable::line;
use forecourt_client::serving::Serving;
use forecourt_core::Timestamp;
use forecourt_settings::files;
use serde_json::json;

use super::call::{Line, Wish, parse};
use crate::client::RequestBuilder;
use crate::commands::args::{ManifestArguments, ManifestCheck, ManifestWhat};
use crate::manifest::{ManifestFinding, ManifestVerdict, Signature, Weight, check, check_response};

/// The data folder of a deployment, unless it was told otherwise.
const DATA_FOLDER: &str = ".forecourt";
/// Bytes of a file that is read: more than any manifest that is fetched.
const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Characters of a finding that are shown.
const FINDING_CHARS_MAX: usize = 300;

/// Does what was asked for.
pub(crate) async fn run(manifest: ManifestArguments) -> Outcome {
    match manifest.what {
        ManifestWhat::Check(check) => run_check(&check).await,
    }
}

async fn run_check(arguments: &ManifestCheck) -> Outcome {
    let what = Path::new(&arguments.what);
    let verdict = match arguments.what.contains("://") {
        true => fetched(&arguments.what, Wish::of_check(arguments)).await?,
        false if what.is_dir() => {
            let data = arguments.trust.data.clone().unwrap_or_else(|| what.join(DATA_FOLDER));
            fetched(&served(&data)?, Wish::of_check(arguments).at(data)).await?
        }
        false => check(&read(what)?, Timestamp::now()),
    };
    match arguments.json {
        true => print_json(&json!({"what": arguments.what, "ok": verdict.is_fine(), "verdict": verdict}))?,
        false => stdout(format_args!("{}", report(&arguments.what, &verdict))),
    }
    let wrong = verdict.findings.iter().filter(|finding| finding.weight == Weight::Wrong).count();
    match wrong {
        0 => Ok(()),
        1 => Err(Failure::yours("the manifest breaks a rule")),
        _ => Err(Failure::yours(format!("the manifest breaks {wrong} rules"))),
    }
}

/// Asks a server for its manifest: DISCOVER without a path and without saying who asks. AGTP-API 8.10.
async fn fetched(uri: &str, wish: Wish<'_>) -> Result<ManifestVerdict, Failure> {
    let server = Line::to(&parse(uri)?, &wish)?;
    let request = RequestBuilder::new("DISCOVER", None).field("Accept", MANIFEST).finish();
    let response = server.send(&request.map_err(|error| Failure::ours(error.to_string()))?).await?;
    match response.start.code {
        200 => Ok(check_response(&response, Timestamp::now())),
        262 => Err(Failure::yours(format!("{uri} shows its manifest to nobody who does not say who they are"))
            .hint("that is `anonymous_discovery = false`; check a file instead")),
        code => Err(Failure::yours(format!("{uri} answers {code} {}", line(&response.start.reason, 80)))),
    }
}

/// Where the deployment with this data folder is served.
fn served(data: &Path) -> Result<String, Failure> {
    let serving = Serving::of_data(data).ok_or_else(|| {
        let failure = Failure::unreachable(format!("no deployment is served from {}", data.display()));
        failure.hint("`forecourt serve DIR` starts one; --data names another data folder")
    })?;
    Ok(format!("agtp://{}", serving.domain))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    files::bytes_of(file, FILE_BYTES_MAX).map_err(|why| {
        Failure::yours(format!("{} {why}", file.display()))
            .hint("name an agtp:// URI, the folder of a deployment that is being served, or a file")
    })
}

/// The verdict for people, a line to each finding.
fn report(what: &str, verdict: &ManifestVerdict) -> String {
    let mut text = format!("{what}\n");
    verdict.findings.iter().for_each(|finding| text.push_str(&report_line(finding)));
    text.push_str(&match &verdict.signature {
        Signature::Valid { kid: Some(kid) } => format!("  signed by {}\n", line(kid, 100)),
        Signature::Valid { kid: None } => "  signed\n".to_owned(),
        Signature::Absent | Signature::Invalid { .. } => String::new(),
    });
    if verdict.is_fine() {
        text.push_str("  it keeps the rules\n");
    }
    text
}

fn report_line(finding: &ManifestFinding) -> String {
    let weight = match finding.weight {
        Weight::Wrong => "wrong ",
        Weight::Advice => "advice",
    };
    let at = if finding.at.is_empty() { "the whole" } else { &finding.at };
    format!(
        "  {weight}  section {:<5} {}: {}\n",
        finding.section,
        line(at, 100),
        line(&finding.message, FINDING_CHARS_MAX)
    )
}
