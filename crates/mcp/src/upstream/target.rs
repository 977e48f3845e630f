//! Where a server is and how it is asked: the keys that agents and servers behind this host have in common.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_agents::Context;
use forecourt_agents::on_behalf_of::{self, OnBehalfOfSettings, TokenExchange};
use forecourt_agents::settings::{fields, upstream_url};
use forecourt_process::Program;
use forecourt_settings::{Problems, Section};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;

/// The keys of a section that say where a server is, as they are written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetSettings {
    /// The endpoint of the server, such as `https://example.com/mcp`. Either this or `command`. Any http or https URL:
    /// you wrote it, so it may be private.
    url: Option<String>,
    /// Fields to send with each request, such as `{ Authorization = "Bearer ${TOKEN}" }`. At most 32. Nothing that a
    /// caller sends in its own fields reaches the server.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Asks the server in the name of the caller, with a token of the caller's for it. Each caller then has connections
    /// of its own.
    on_behalf_of: Option<OnBehalfOfSettings>,
    /// A program that speaks MCP on its standard input and output, and its arguments, such as
    /// `["npx", "-y", "some-server"]`. Either this or `url`. No shell is involved.
    #[serde(default)]
    command: Vec<String>,
    /// Further variables of the program's environment, which otherwise holds nothing but `PATH`.
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The same, checked.
pub(crate) struct CheckedTarget {
    pub(crate) target: Target,
    /// Where tokens of callers come from that the server is asked with.
    pub(crate) exchange: Option<Arc<TokenExchange>>,
}

/// Where the server is: a URL, or a program that is started.
#[derive(Clone)]
pub(crate) enum Target {
    Url { url: String, headers: HeaderMap },
    Program(Program),
}

impl Target {
    /// The same, shown this token.
    pub(crate) fn authorized(&self, authorization: HeaderValue) -> Self {
        let mut target = self.clone();
        if let Self::Url { headers, .. } = &mut target {
            headers.insert(AUTHORIZATION, authorization);
        }
        target
    }
}

impl TargetSettings {
    /// Checks the keys of `section`, which is that of `what`. `None` where it is not known where the server is; every
    /// problem is in `problems`.
    pub(crate) fn check(
        self,
        what: &str,
        section: &Section,
        context: &Context,
        problems: &mut Problems,
    ) -> Option<CheckedTarget> {
        let headers = fields(section, &self.headers, problems);
        let exchange = on_behalf_of::read(self.on_behalf_of, section, &headers, context, problems);
        if exchange.is_some() && self.url.is_none() {
            let message = "`on_behalf_of` needs `url`: a program is shown no token";
            problems.push(section.problem(Some("on_behalf_of"), message));
        }
        let target = match (self.url, self.command.split_first()) {
            (Some(url), None) => {
                upstream_url(section, "url", &url, problems);
                Target::Url { url, headers }
            }
            (None, Some((file, arguments))) => Target::Program(Program {
                // A bare name is looked for in `PATH`; a path is taken from the folder.
                file: if file.contains('/') { context.resolve(file) } else { file.into() },
                arguments: arguments.to_vec(),
                folder: context.folder.clone(),
                path_variable: context.path_variable.clone(),
                variables: self.env,
            }),
            _ => {
                problems.push(section.problem(None, format!("{what} needs either `url` or `command`")));
                return None;
            }
        };
        Some(CheckedTarget { target, exchange })
    }
}
