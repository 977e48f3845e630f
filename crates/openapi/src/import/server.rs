//! Where the service is: `servers` of the operation, of its path or of the document.

use serde_json::Value;
use url::{Host, ParseError, Url};

use super::operation::Operation;

/// Where the service is of a document that names no server, from where the document is (OpenAPI 3.1, 4.8.1).
const USUAL: &str = "/";

/// The start of the URLs of an operation, without a slash at its end: the first of its servers that is
/// reached over https, else the first that is on this machine. What is no whole URL begins at the `address` of the
/// document (OpenAPI 3.1, 4.8.5), if that is known.
///
/// # Errors
/// None of the servers can be used, in a sentence.
pub(super) fn base(operation: &Operation<'_>, address: Option<&Url>) -> Result<String, String> {
    // The nearest `servers` replaces those further out (OpenAPI 3.1, 4.8.10).
    let owners = [operation.value, operation.item, operation.document.root()];
    let servers = owners.into_iter().find_map(|owner| owner["servers"].as_array().filter(|list| !list.is_empty()));
    let mut urls: Vec<String> = servers.into_iter().flatten().filter_map(filled).collect();
    if let Some(address) = address {
        if urls.is_empty() {
            urls.push(USUAL.to_owned());
        }
        urls.iter_mut().for_each(|url| *url = whole(url, address));
    }
    let usable = |fits: fn(&Url) -> bool| urls.iter().find_map(|url| checked(url, fits).ok());
    usable(is_https).or_else(|| usable(is_here)).ok_or_else(|| match urls.first() {
        Some(url) => format!("its server is {url}, which is not an absolute https URL: give one with --base-url"),
        None => "the document names no server: give one with --base-url".to_owned(),
    })
}

/// A base that was given, which may be plain HTTP.
///
/// # Errors
/// It can't stand before paths.
pub(super) fn given(text: &str) -> Result<String, String> {
    let wrong = format!("{text} is not a base URL: one begins with https:// and has no user, query and fragment");
    checked(text, |url| matches!(url.scheme(), "https" | "http")).map_err(|()| wrong)
}

/// Whether a URL is plain HTTP, which a deployment takes only where it says so. Section 12.3.
pub(super) fn is_plain(url: &str) -> bool {
    url.starts_with("http://")
}

fn checked(text: &str, fits: impl Fn(&Url) -> bool) -> Result<String, ()> {
    let url = Url::parse(text).map_err(|_| ())?;
    // Credentials in a URL would stand in the file and in logs; they go into header fields, as variables.
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    let is_start = url.fragment().is_none() && url.query().is_none() && url.host_str().is_some();
    let is_clean = !text.contains(['{', '}', '\\']) && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    let all = is_anonymous && is_start && is_clean && fits(&url);
    if all { Ok(text.trim_end_matches('/').to_owned()) } else { Err(()) }
}

fn is_https(url: &Url) -> bool {
    url.scheme() == "https"
}

fn is_here(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "http" && is_loopback
}

/// The URL of a server that may be a path from the address of its document.
fn whole(url: &str, address: &Url) -> String {
    match Url::parse(url) {
        Err(ParseError::RelativeUrlWithoutBase) if !url.contains('{') => {
            address.join(url).map_or_else(|_| url.to_owned(), String::from)
        }
        _ => url.to_owned(),
    }
}

/// The URL of a server with the defaults of its variables.
fn filled(server: &Value) -> Option<String> {
    let url = server["url"].as_str()?.trim().to_owned();
    let variables = server["variables"].as_object().into_iter().flatten();
    Some(variables.fold(url, |url, (name, variable)| match &variable["default"] {
        Value::String(default) => url.replace(&format!("{{{name}}}"), default),
        _ => url,
    }))
}
