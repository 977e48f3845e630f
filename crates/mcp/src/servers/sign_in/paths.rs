//! Where the pages of sign-ins at servers are.

use forecourt_core::Handle;

/// Where authorization servers send browsers back to.
pub(crate) const CALLBACK: &str = "/servers/sign-in/callback";
/// The page of a server, as a pattern, and where it posts to have a sign-in forgotten.
pub(crate) const PAGE: &str = "/servers/{name}/sign-in";
pub(crate) const FORGET: &str = "/servers/{name}/sign-out";

/// The page on which a person signs in at a server.
pub(crate) fn page_path(name: &Handle) -> String {
    format!("/servers/{name}/sign-in")
}

/// Where that page posts to have a sign-in forgotten.
pub(crate) fn forget_path(name: &Handle) -> String {
    format!("/servers/{name}/sign-out")
}
