//! What another server has, asked once: for `forecourt import`, and to see what changed since.

mod error;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use forecourt_egress::{Egress, Purpose};
use forecourt_process::{Program, RunningProgram, each_line, printable};
use futures::future::LocalBoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion, Tool};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, Peer, RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::client;
use crate::limits::{COMPLAINT_BYTES_MAX, LAST_WORDS_MAX, LAST_WORDS_TIME_MAX, MESSAGE_BYTES_MAX, SURVEY_TIME_MAX};
use crate::servers::catalog::Catalog;
use crate::servers::lister::Lister;
use crate::upstream::bounded::Lines;

pub use error::SurveyError;

/// Where a server is.
#[derive(Debug, Clone)]
pub enum SurveyTarget {
    /// On HTTP.
    Url {
        /// Its endpoint.
        url: String,
        /// Header fields for each request.
        headers: BTreeMap<String, String>,
    },
    /// A program that is started.
    Program {
        /// Its file, looked for in `PATH` when it is a bare name, and its arguments.
        command: Vec<String>,
        /// Variables of its environment beside `PATH`.
        variables: BTreeMap<String, String>,
        /// Where it starts, and where paths are taken from.
        folder: PathBuf,
    },
}

/// What a server has.
#[derive(Debug, Clone)]
pub struct ServerSurvey {
    /// What it calls itself; empty when it does not say.
    pub name: String,
    /// Its version; empty when it does not say.
    pub version: String,
    /// Its tools, as far as they are bounded: at most 1,000.
    pub tools: Vec<SurveyedTool>,
    /// All lists in the protocol's own JSON: `tools`, `resources`, `templates`, `prompts`, and `server`.
    pub lists: Value,
    /// What was left out, in a sentence each.
    pub losses: Vec<String>,
}

/// A tool, as far as it concerns who imports it.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyedTool {
    /// The server's name for it.
    pub name: String,
    /// A name for people; empty without one.
    pub title: String,
    /// What it does; empty when the server does not say.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input: Value,
    /// The JSON schema of its structured result, if it promises one.
    pub output: Option<Value>,
    /// Whether it changes nothing, if the server says so.
    pub reads_only: Option<bool>,
    /// Whether it destroys something, if the server says so.
    pub is_destructive: Option<bool>,
    /// Whether calling it again changes nothing more, if the server says so.
    pub is_idempotent: Option<bool>,
}

/// Asks a server for all that it says it has, within [`SURVEY_TIME_MAX`].
///
/// # Errors
/// It can't be reached, wants to know who asks, or speaks something else.
pub fn survey<'a>(
    target: &'a SurveyTarget,
    egress: &'a Egress,
) -> LocalBoxFuture<'a, Result<ServerSurvey, SurveyError>> {
    Box::pin(async move {
        match target {
            SurveyTarget::Url { url, headers } => over_http(url, headers, egress).await,
            SurveyTarget::Program { command, variables, folder } => {
                let Some((file, arguments)) = command.split_first() else { return Err(SurveyError::NoProgram) };
                let program = Program {
                    file: if file.contains('/') { folder.join(file) } else { file.into() },
                    arguments: arguments.to_vec(),
                    folder: folder.clone(),
                    path_variable: std::env::var("PATH").ok(),
                    variables: variables.clone(),
                };
                over_pipes(&program).await
            }
        }
    })
}

async fn over_http(
    url: &str,
    headers: &BTreeMap<String, String>,
    egress: &Egress,
) -> Result<ServerSurvey, SurveyError> {
    let headers = fields(headers)?;
    let connection = || client::connection(egress.clone(), Purpose::Upstream, url, headers.clone());
    let newest = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let begin = async {
        match Surveyor.serve_with_lifecycle(connection(), newest).await.map_err(|error| SurveyError::begun(&error)) {
            // Some older servers answer the probe with what is no answer at all.
            Err(SurveyError::OtherProtocol(_)) => {
                let older = Surveyor.serve_with_lifecycle(connection(), ClientLifecycleMode::Initialize).await;
                older.map_err(|error| SurveyError::begun(&error))
            }
            begun => begun,
        }
    };
    let work = async { asked(begin.await?).await };
    timeout(SURVEY_TIME_MAX, work).await.map_err(|_| SurveyError::Late)?
}

/// Header fields as they are sent. Their values are sensitive: nothing prints them.
fn fields(named: &BTreeMap<String, String>) -> Result<HeaderMap, SurveyError> {
    let field = |(name, value): (&String, &String)| {
        let wrong = || SurveyError::Header(format!("the header field `{name}` can't be sent like this"));
        let mut field = HeaderValue::from_str(value).map_err(|_| wrong())?;
        field.set_sensitive(true);
        Ok((HeaderName::try_from(name.as_str()).map_err(|_| wrong())?, field))
    };
    named.iter().map(field).collect()
}

async fn over_pipes(program: &Program) -> Result<ServerSurvey, SurveyError> {
    let started = program.start().map_err(|error| SurveyError::Unstarted(error.to_string()))?;
    let RunningProgram { process, stdin, stdout, stderr } = started;
    let last_words = Arc::new(Mutex::new(VecDeque::new()));
    let kept = last_words.clone();
    let hear = move |line: &[u8]| {
        let mut kept = kept.lock();
        if kept.len() == LAST_WORDS_MAX {
            kept.pop_front();
        }
        kept.push_back(printable(line));
    };
    let hearing = tokio::spawn(each_line(stderr, COMPLAINT_BYTES_MAX, hear));
    let transport = AsyncRwTransport::<RoleClient, _, _>::new_client(Lines::new(stdout, MESSAGE_BYTES_MAX), stdin);
    let work = async {
        let service = Surveyor.serve(transport).await.map_err(|error| SurveyError::begun(&error))?;
        asked(service).await
    };
    let found = timeout(SURVEY_TIME_MAX, work).await.map_err(|_| SurveyError::Late).flatten();
    let error = match found {
        Ok(found) => return Ok(found),
        Err(error) => error,
    };
    // What it complained of says more than that it is gone. A program that goes on complaining is not waited for.
    let _ = timeout(LAST_WORDS_TIME_MAX, hearing).await;
    drop(process);
    let words: Vec<String> = last_words.lock().drain(..).filter(|line| !line.trim().is_empty()).collect();
    Err(SurveyError::Program { why: Box::new(error), last_words: words })
}

/// Our side: nobody who could be asked anything.
struct Surveyor;

impl ClientHandler for Surveyor {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("forecourt", env!("CARGO_PKG_VERSION")))
    }
}

async fn asked(service: RunningService<RoleClient, Surveyor>) -> Result<ServerSurvey, SurveyError> {
    let found = lists(service.peer()).await.map_err(|error| SurveyError::asked(&error));
    // A server that doesn't listen any more has nothing to end.
    let _ = timeout(LAST_WORDS_TIME_MAX, service.cancel()).await;
    found
}

async fn lists(peer: &Peer<RoleClient>) -> Result<ServerSurvey, ServiceError> {
    let (catalog, losses) = Catalog::ask(&Lister::new(peer.clone())).await?;
    let server = catalog.server.as_ref();
    let title = server.and_then(|server| server.title.clone()).filter(|title| !title.is_empty());
    let name = title.or_else(|| server.map(|server| server.name.clone())).unwrap_or_default();
    let version = server.map(|server| server.version.clone()).unwrap_or_default();
    let tools = catalog.tools.iter().map(surveyed).collect();
    Ok(ServerSurvey { name, version, tools, lists: json!(catalog), losses })
}

fn surveyed(tool: &Tool) -> SurveyedTool {
    let hints = tool.annotations.as_ref();
    let title = tool.title.clone().or_else(|| hints?.title.clone());
    SurveyedTool {
        name: tool.name.to_string(),
        title: title.unwrap_or_default(),
        description: tool.description.as_deref().unwrap_or_default().to_owned(),
        input: Value::Object((*tool.input_schema).clone()),
        output: tool.output_schema.as_deref().map(|schema| Value::Object(schema.clone())),
        reads_only: hints.and_then(|hints| hints.read_only_hint),
        is_destructive: hints.and_then(|hints| hints.destructive_hint),
        is_idempotent: hints.and_then(|hints| hints.idempotent_hint),
    }
}
