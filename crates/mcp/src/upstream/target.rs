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

/// The keys of a section that say where a server is, as they are written.
pub(crate) struct TargetSettings {
    pub(crate) url: Option<String>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) on_behalf_of: Option<OnBehalfOfSettings>,
    pub(crate) command: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
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
