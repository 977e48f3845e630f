//! What a browser may do with each kind of page. Mentionable REST 8.2, security sheet section 3. The policies of
//! answers are [`crate::Branding`]'s, since they name the hash of its style.

use base64::{Engine, engine::general_purpose::STANDARD};

/// `Content-Security-Policy` of the host's own pages: [`crate::FrontPage`] and
/// [`crate::AgentPage`]. Style, script, chat and form all stay on this origin; files of answers are opened from memory.
pub const PAGE: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                        img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// `Content-Security-Policy` of [`crate::SearchPage`] on which nothing was asked yet: as [`PAGE`], and
/// pictures of items from where these say, by https alone, since its script shows results on it. How
/// pictures are asked for is said in `item/picture.rs`.
pub const SEARCH: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                          img-src 'self' https:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// `Content-Security-Policy` of [`crate::SearchPage`] with results: an answer, so that it has no script,
/// and what an item says can't become any.
pub(crate) const FOUND: &str = "default-src 'none'; style-src 'self'; img-src 'self' https:; form-action 'self'; \
                         base-uri 'none'; frame-ancestors 'none'";

/// The same on a site that counts clicks on results: their links tell this origin of a click (`ping`), without a script.
pub(crate) const FOUND_COUNTED: &str = "default-src 'none'; style-src 'self'; img-src 'self' https:; \
                                        connect-src 'self'; form-action 'self'; base-uri 'none'; \
                                        frame-ancestors 'none'";

/// `Content-Security-Policy` of a picture, which may be opened by itself: an SVG can hold a script.
pub const PICTURE: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// What goes beside the policy on every HTML answer. Session tokens ride in query strings, so no
/// referrer is ever sent.
pub const HEADERS: [(&str, &str); 3] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// The policy of pages that carry their style, known by its hash, in themselves.
pub(crate) fn bare(style: &str, form_action: &str, has_logo: bool) -> String {
    let pictures = if has_logo { " img-src 'self';" } else { "" };
    format!(
        "default-src 'none'; style-src 'sha256-{style}';{pictures} base-uri 'none'; form-action {form_action}; \
         frame-ancestors 'none'"
    )
}

/// The policy of the page on which wallets pay. No page may frame it, or a click on its button would be one that somebody
/// meant for another page.
pub(crate) fn paying(style: &str) -> String {
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}

pub(crate) fn sha256_base64(text: &str) -> String {
    STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes()))
}
