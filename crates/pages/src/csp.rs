//! What a browser may do with each kind of page. Mentionable REST 8.2, security sheet section 3.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::asset::ANSWER_CSS;

/// `Content-Security-Policy` of the host's own pages: [`crate::FrontPage`] and
/// [`crate::AgentPage`]. Style, script, chat and form all stay on this origin.
pub const PAGE: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                        img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

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
    static POLICY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            sha256_base64(ANSWER_CSS)
        )
    });
    &POLICY
}

fn sha256_base64(text: &str) -> String {
    STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes()))
}
