//! Style and script of the host's own pages, compiled in, and files as they are served.

use bytes::Bytes;

/// The style of answers, which carry it inline.
pub(crate) const ANSWER_CSS: &str = include_str!("../assets/answer.css");
/// The style of the host's own pages.
pub(crate) const PAGE_CSS: &str = concat!(
    include_str!("../assets/answer.css"),
    "\n",
    include_str!("../assets/page.css"),
    "\n",
    include_str!("../assets/search.css")
);
/// The script of the host's own pages.
pub(crate) const PAGE_JS: &str = concat!(include_str!("../assets/forecourt.js"), include_str!("../assets/search.js"));
/// The script of the page on which wallets pay.
pub(crate) const PAYMENT_JS: &str = include_str!("../assets/payment.js");
/// The script of the manual.
pub(crate) const MANUAL_JS: &str = include_str!("../assets/manual.js");
/// The usual icon.
pub(crate) const ICON_SVG: &str = include_str!("../assets/forecourt.svg");
/// The usual icon for who asks for it by its old name.
pub(crate) const ICON_ICO: &[u8] = include_bytes!("../assets/favicon.ico");
/// The search box for other sites.
pub(crate) const WIDGET_JS: &str = include_str!("../assets/widget.js");

/// A script without what only its readers need: lines that are comments, and what stands before a line. Strings over
/// several lines hold style alone, in which neither means anything.
pub(crate) fn lean(script: &str) -> String {
    let is_comment = |line: &str| line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
    let lines = script.lines().map(str::trim_start).filter(|line| !line.is_empty() && !is_comment(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// A file that never changes while a deployment is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// The content.
    pub bytes: Bytes,
    /// The media type, charset included.
    pub mime: &'static str,
    /// A strong entity tag with its quotes, from the hash of the content.
    pub etag: String,
}

impl Asset {
    pub(crate) fn new(bytes: Bytes, mime: &'static str) -> Self {
        let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &bytes);
        // Eight bytes tell versions of one file apart; nobody gains by a collision.
        let digits: String = hash.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { bytes, mime, etag: format!("\"{digits}\"") }
    }

    /// Its path with the version that makes a browser ask anew after a change.
    pub(crate) fn versioned(&self, path: &str) -> String {
        format!("{path}?v={}", self.etag.trim_matches('"'))
    }
}
