//! What a browser may do with each kind of page. Mentionable REST 8.2, security sheet section 3.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::asset::ANSWER_CSS;

/// `Content-Security-Policy` of the host's own pages: [`crate::FrontPage`] and
/// [`crate::AgentPage`]. Style, script, chat and form all stay on this origin.
pub const PAGE: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                        img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// `Content-Security-Policy` of [`crate::SearchPage`] on which nothing was asked yet: as [`PAGE`], and
/// pictures of items from where these say, by https alone, since its script shows results on it. How
/// pictures are asked for is said in `item/picture.rs`.
pub const SEARCH: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                          img-src 'self' https:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// `Content-Security-Policy` of [`crate::SearchPage`] with results: an answer, so that it has no script,
/// and what an item says can't become any.
pub const FOUND: &str = "default-src 'none'; style-src 'self'; img-src 'self' https:; form-action 'self'; \
                         base-uri 'none'; frame-ancestors 'none'";

/// What goes beside the policy on every HTML answer. Session tokens ride in query strings, so no
/// referrer is ever sent.
pub const HEADERS: [(&str, &str); 3] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// `Content-Security-Policy` of answers, refusals and errors: nothing but their own style, known
/// by its hash.
pub fn answer() -> &'static str {
    static POLICY: LazyLock<String> = LazyLock::new(|| bare("'none'"));
    &POLICY
}

/// `Content-Security-Policy` of an answer that asks back: its form goes to this origin.
pub fn asking() -> &'static str {
    static POLICY: LazyLock<String> = LazyLock::new(|| bare("'self'"));
    &POLICY
}

fn bare(form_action: &str) -> String {
    let style = sha256_base64(ANSWER_CSS);
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action {form_action}; \
         frame-ancestors 'none'"
    )
}

fn sha256_base64(text: &str) -> String {
    STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes()))
}
