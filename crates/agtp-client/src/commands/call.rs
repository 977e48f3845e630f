//! This module is `forecourt agtp`: one call over AGTP, and its answer.

mod answer;
mod explain;
mod hint;
mod line;
mod session;

use std::io::Read;
use std::path::Path;

use forecourt_agtp_wire::media_types::{JSON, YAML};
use forecourt_agtp_wire::uri::AgtpUri;
use forecourt_client::output::{Failure, Outcome};
use forecourt_core::{AgentId, Clock, SystemClock};
use forecourt_host::SystemEntropy;

use crate::client::RequestBuilder;
use crate::commands::args::CallArguments;

pub(super) use self::line::{Line, Wish};

/// Bytes of a body that is read from a file: more than any server takes.
const BODY_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Calls, and prints the answer.
pub(crate) async fn run(arguments: CallArguments) -> Outcome {
    let uri = parse(&arguments.uri)?;
    let line = Line::to(&uri, &Wish::of(&arguments))?;
    let request = draft(&arguments, &uri, &line)?.finish();
    let request = request.map_err(|error| Failure::usage(format!("this can't be sent: {error}")))?;
    let response = line.send(&request).await?;
    match &arguments.out {
        // A file holds what was asked for, or is not written.
        Some(file) => {
            hint::judge(&response, &request, &uri)?;
            return answer::write(&response, file);
        }
        None if arguments.explain => explain::print(&response)?,
        None => answer::print(&response, &arguments)?,
    }
    hint::judge(&response, &request, &uri)
}

/// The URI that somebody typed.
pub(super) fn parse(text: &str) -> Result<AgtpUri, Failure> {
    let hint =
        "they look like agtp://demo.localhost/methods, agtp://demo.localhost/agents/chef or agtp://ID@demo.localhost";
    AgtpUri::parse(text).map_err(|error| Failure::usage(format!("`{text}` is not a URI of AGTP: {error}")).hint(hint))
}

fn draft(arguments: &CallArguments, uri: &AgtpUri, line: &Line) -> Result<RequestBuilder, Failure> {
    let mut draft = RequestBuilder::new(&arguments.method, uri.target());
    if let Some(agent) = agent(arguments, uri)? {
        draft = draft.agent(&agent);
    }
    if let Some(scope) = &arguments.scope {
        draft = draft.scope(scope);
    }
    let session = arguments.session.clone().unwrap_or_else(|| session::of_terminal(line.server(), &SystemEntropy));
    draft = draft.session(&session).stamped(SystemClock.now(), &SystemEntropy);
    for header in &arguments.headers {
        let Some((name, value)) = header.split_once(':') else {
            return Err(Failure::usage(format!("-H '{header}' has no colon")).hint("write -H 'Name: value'"));
        };
        draft = draft.field(name, value);
    }
    let Some((media_type, body)) = arguments.body.as_deref().map(body).transpose()? else { return Ok(draft) };
    Ok(draft.body(media_type, body))
}

fn agent(arguments: &CallArguments, uri: &AgtpUri) -> Result<Option<AgentId>, Failure> {
    let Some(text) = &arguments.agent_id else { return Ok(uri.agent().cloned()) };
    AgentId::parse(text).map(Some).map_err(|error| Failure::usage(format!("--agent-id: {error}")))
}

/// The body that somebody typed, or the one in the file that they named.
fn body(text: &str) -> Result<(&'static str, Vec<u8>), Failure> {
    let Some(name) = text.strip_prefix('@') else { return Ok((JSON, text.as_bytes().to_vec())) };
    let wrong = |error: std::io::Error| Failure::usage(format!("{name}: {error}"));
    let mut bytes = Vec::new();
    // One byte more tells a file that is too large from one that just fits.
    let limit = BODY_BYTES_MAX + 1;
    let read = match name {
        "-" => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
        _ => std::fs::File::open(name).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    read.map_err(wrong)?;
    if bytes.len() as u64 > BODY_BYTES_MAX {
        return Err(Failure::usage(format!("{name} is larger than {BODY_BYTES_MAX} bytes")));
    }
    let is_yaml = Path::new(name).extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    Ok((if is_yaml { YAML } else { JSON }, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_typed_or_in_a_file_whose_name_says_what_it_is() {
        assert_eq!(body("{\"a\": 1}").unwrap(), (JSON, b"{\"a\": 1}".to_vec()));
        let folder = tempfile::tempdir().unwrap();
        for (name, media_type) in [("a.json", JSON), ("a.yaml", YAML), ("a.yml", YAML), ("a", JSON)] {
            let file = folder.path().join(name);
            std::fs::write(&file, "a: 1").unwrap();
            assert_eq!(body(&format!("@{}", file.display())).unwrap(), (media_type, b"a: 1".to_vec()));
        }
        assert!(body("@nowhere/at/all").is_err());
    }

    #[test]
    fn a_body_in_a_file_has_a_bound_and_is_never_cut() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let named = format!("@{}", file.path().display());
        file.as_file().set_len(BODY_BYTES_MAX).unwrap();
        assert_eq!(body(&named).unwrap().1.len() as u64, BODY_BYTES_MAX);
        file.as_file().set_len(BODY_BYTES_MAX + 1).unwrap();
        assert!(body(&named).is_err());
    }
}
