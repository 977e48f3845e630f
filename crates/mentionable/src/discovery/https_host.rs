//! The host that an address is on, as cards name hosts.

use forecourt_egress::CheckedUrl;

/// The host of an https URL, with its port unless that is the usual one.
pub(super) fn https_host(url: &str) -> Option<String> {
    let target = CheckedUrl::parse(url).ok().filter(CheckedUrl::is_https)?;
    let host = target.url().host_str()?;
    Some(match target.url().port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}
