//! Which server a program is to be connected to.

use std::path::{Path, PathBuf};

use forecourt_client::network::is_here;
use forecourt_client::output::Failure;
use forecourt_client::serving::Serving;
use forecourt_core::{Address, Domain};
use url::Url;

use crate::target;

/// The data folder of a deployment, unless it was told otherwise.
const DATA_FOLDER: &str = ".forecourt";
/// What makes a folder a deployment.
const DEPLOYMENT_FILE: &str = "forecourt.toml";

/// A server, as programs are told where it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ServerAddress {
    /// A deployment on this machine, in a folder. It may be served at an address, or be started over a pipe.
    Folder { folder: PathBuf, served: Option<Box<Serving>> },
    /// One at a URL, known by a name.
    Url { url: Url, name: String },
}

impl ServerAddress {
    /// Reads what was typed: a folder, a URL, an agent's address or a domain. Fails for what is none of these, and for a
    /// domain of this machine that is not served.
    pub(super) fn read(typed: &str) -> Result<Self, Failure> {
        if typed.starts_with("http://") || typed.starts_with("https://") {
            return Self::of_url(typed);
        }
        if let Some(address) = typed.starts_with('@').then(|| Address::parse(typed)) {
            let wrong = |error| Failure::yours(format!("{typed} is no address: {error}"));
            let address = address.map_err(wrong)?;
            let url = base(address.domain())?.join(&target::path_of(Some(address.local()))).map_err(unjoined)?;
            return Ok(Self::Url { url, name: address.local().to_string() });
        }
        let folder = Path::new(typed);
        if folder.join(DEPLOYMENT_FILE).is_file() {
            let folder = folder.canonicalize().map_err(Failure::from)?;
            let served = Serving::of_data(&folder.join(DATA_FOLDER)).map(Box::new);
            return Ok(Self::Folder { folder, served });
        }
        match Domain::parse(typed) {
            Ok(domain) if typed != "." => {
                let url = base(&domain)?.join(target::PATH).map_err(unjoined)?;
                Ok(Self::Url { url, name: short(&domain) })
            }
            _ => {
                let what = if typed == "." { "this folder".to_owned() } else { format!("`{typed}`") };
                let failure = Failure::yours(format!("{what} is no deployment: it has no {DEPLOYMENT_FILE}"));
                Err(failure.hint("name its folder, a domain, an address such as @chef@demo.localhost, or a URL"))
            }
        }
    }

    fn of_url(typed: &str) -> Result<Self, Failure> {
        let mut url = Url::parse(typed).map_err(|error| Failure::yours(format!("{typed} is no URL: {error}")))?;
        if !url.username().is_empty() || url.password().is_some() {
            let failure = Failure::yours("a URL with a password in it would be written into settings");
            return Err(failure.hint("leave it out; --token-variable names where a token is"));
        }
        if url.path() == "/" {
            url.set_path(target::PATH);
        }
        let of_agent = target::read(url.path()).flatten().map(|agent| agent.to_string());
        let host = url.host_str().unwrap_or_default();
        let name =
            of_agent.unwrap_or_else(|| Domain::parse(host).map_or_else(|_| host.replace('.', "-"), |d| short(&d)));
        Ok(Self::Url { url, name })
    }

    /// What a program calls it, unless the user says otherwise.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Url { name, .. } => name.clone(),
            Self::Folder { served: Some(serving), .. } => short(&serving.domain),
            Self::Folder { folder, .. } => {
                folder.file_name().map_or_else(|| "forecourt".to_owned(), |name| name.to_string_lossy().into_owned())
            }
        }
    }

    /// Its URL. Fails for a deployment that was never served.
    pub(super) fn url(&self) -> Result<String, Failure> {
        match self {
            Self::Url { url, .. } => Ok(url.to_string()),
            Self::Folder { served: Some(serving), .. } => Ok(format!("{}{}", origin(serving), target::PATH)),
            Self::Folder { folder, served: None } => {
                let failure =
                    Failure::unreachable(format!("{} was never served, so it has no address", folder.display()));
                Err(failure.hint(format!("start it first: forecourt serve {}", folder.display())))
            }
        }
    }

    /// What `forecourt mcp` is told.
    pub(super) fn piped(&self) -> String {
        match self {
            Self::Url { url, .. } => url.to_string(),
            Self::Folder { folder, .. } => folder.display().to_string(),
        }
    }

    /// Whether what is sent to it crosses a network that anybody can read.
    pub(super) fn is_in_the_clear(&self) -> bool {
        matches!(self, Self::Url { url, .. } if url.scheme() == "http" && !is_here(url))
    }

    /// What the user should know of it.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::Folder { folder, served: Some(serving) } if !serving.is_served() => {
                Some(format!("it is not served at the moment: `forecourt serve {}` starts it", folder.display()))
            }
            _ => None,
        }
    }
}

/// Where a domain is. Names under `.localhost` mean what is served on this machine.
fn base(domain: &Domain) -> Result<Url, Failure> {
    let origin = match domain.is_local() {
        false => format!("https://{domain}"),
        true => match Serving::find(domain, None) {
            Some(serving) => origin(&serving),
            None => {
                let failure = Failure::unreachable(format!("no deployment of {domain} is served on this machine"));
                return Err(failure.hint("`forecourt serve DIR` starts one; or name its folder, or its URL"));
            }
        },
    };
    Url::parse(&origin).map_err(unjoined)
}

/// The origin of a deployment on this machine that programs can use: plain where it has a plain one, since few programs
/// trust its own authority.
fn origin(serving: &Serving) -> String {
    match serving.http_port {
        Some(port) => format!("http://127.0.0.1:{port}"),
        None => format!("https://{}:{}", serving.domain, serving.https_port),
    }
}

fn unjoined(error: url::ParseError) -> Failure {
    Failure::ours(format!("the address makes no URL: {error}"))
}

/// A domain as a name: `demo` for `demo.localhost`, `example-com` for `example.com`.
fn short(domain: &Domain) -> String {
    let name = domain.as_str();
    name.strip_suffix(".localhost").unwrap_or(name).replace('.', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(typed: &str) -> (String, String) {
        let server = ServerAddress::read(typed).unwrap_or_else(|_| panic!("{typed}"));
        (server.url().unwrap_or_default(), server.name())
    }

    #[test]
    fn what_is_typed_leads_to_an_endpoint() {
        let leads = |typed: &str, to: &str, name: &str| assert_eq!(url(typed), (to.to_owned(), name.to_owned()));
        leads("example.com", "https://example.com/mcp", "example-com");
        leads("@chef@example.com", "https://example.com/mcp/chef", "chef");
        leads("https://example.com", "https://example.com/mcp", "example-com");
        leads("https://example.com/mcp/chef", "https://example.com/mcp/chef", "chef");
        leads("http://127.0.0.1:8080/", "http://127.0.0.1:8080/mcp", "127-0-0-1");
        leads("https://example.com/own/path?x=1", "https://example.com/own/path?x=1", "example-com");
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        for typed in ["https://user:secret@example.com", "https://", "@chef", "@@", "no such folder", "", "http://[::1"]
        {
            assert!(ServerAddress::read(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn a_folder_that_was_never_served_has_a_pipe_and_no_url() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(DEPLOYMENT_FILE), "").unwrap();
        let server = ServerAddress::read(&folder.path().display().to_string()).ok().unwrap();
        assert!(server.url().is_err());
        assert_eq!(server.piped(), folder.path().canonicalize().unwrap().display().to_string());
    }
}
