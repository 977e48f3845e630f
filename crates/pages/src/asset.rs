//! Style and script of the host's own pages, compiled in.

use std::sync::LazyLock;

/// The style of answers, which carry it inline.
pub(crate) const ANSWER_CSS: &str = include_str!("../assets/answer.css");
const PAGE_CSS: &str = concat!(
    include_str!("../assets/answer.css"),
    "\n",
    include_str!("../assets/page.css"),
    "\n",
    include_str!("../assets/search.css")
);
const PAGE_JS: &str = concat!(include_str!("../assets/forecourt.js"), include_str!("../assets/search.js"));
const ICON_SVG: &str = include_str!("../assets/forecourt.svg");

/// A file that never changes while the process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    /// The content.
    pub bytes: &'static [u8],
    /// The media type, charset included.
    pub mime: &'static str,
    /// A strong entity tag with its quotes, from the hash of the content.
    pub etag: &'static str,
}

/// The file at a path such as `/assets/forecourt.css`, without query. Pages link to it with a
/// `?v=` of its hash, so it may be cached for long.
pub fn asset(path: &str) -> Option<Asset> {
    ASSETS.iter().find(|(name, _)| *name == path).map(|(_, asset)| *asset)
}

/// The paths that [`asset`] knows.
pub fn asset_paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, _, _)| *path)
}

/// A path of [`asset`] with the version that makes a browser ask anew after an update.
pub(crate) fn versioned(path: &str) -> String {
    let version = asset(path).map_or("", |asset| asset.etag.trim_matches('"'));
    format!("{path}?v={version}")
}

const FILES: [(&str, &str, &str); 3] = [
    ("/assets/forecourt.css", "text/css; charset=utf-8", PAGE_CSS),
    ("/assets/forecourt.js", "text/javascript; charset=utf-8", PAGE_JS),
    ("/assets/forecourt.svg", "image/svg+xml", ICON_SVG),
];

static ETAGS: LazyLock<[String; 3]> = LazyLock::new(|| FILES.map(|(_, _, content)| etag(content)));

static ASSETS: LazyLock<Vec<(&str, Asset)>> = LazyLock::new(|| {
    let with_tag = FILES.iter().zip(ETAGS.iter());
    with_tag.map(|((path, mime, content), etag)| (*path, Asset { bytes: content.as_bytes(), mime, etag })).collect()
});

/// Sixteen hexadecimal digits of the SHA-256, quoted.
fn etag(content: &str) -> String {
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, content.as_bytes());
    let digits: String = hash.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_an_asset_and_others_have_none() {
        for path in asset_paths() {
            let asset = asset(path).expect(path);
            assert!(!asset.bytes.is_empty());
            assert_eq!(asset.etag.len(), 18, "{path}");
        }
        for path in ["", "/", "/assets/", "/assets/../lib.rs", "/assets/forecourt.css?v=1", "assets/forecourt.css"] {
            assert_eq!(asset(path), None, "{path}");
        }
    }
}
