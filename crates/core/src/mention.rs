//! This module finds the agent that a text mentions. Mentionable hub card 3.1, 3.2. It does not know which agents
//! exist.

use crate::address::{Domain, Handle};
use crate::limits::DOMAIN_BYTES_MAX;

/// The agent that `text` mentions first, known or not: later mentions are never tried.
///
/// A mention is `@handle` or, when the domain is ours, `@handle@domain`; capitals are folded. What
/// stands in an e-mail address or in the path of a URL is none, nor is the address of an agent
/// elsewhere, nor a name that is longer than a handle. Linear in the text.
pub fn first_mention(text: &str, own: &Domain) -> Option<Handle> {
    let mut at = 0;
    while let Some(found) = text[at..].find('@') {
        at += found;
        let token = Token::read(&text[at + 1..]);
        let begins = may_precede(text[..at].chars().next_back());
        if let Some(handle) = token.handle_at(own).filter(|_| begins) {
            return Some(handle);
        }
        // Not past a domain: in `@bob@other.example asks @chef` the next mention counts.
        at += 1 + token.local.len();
    }
    None
}

/// `text` without a leading mention of `handle` and the punctuation behind it; unchanged when it begins with anything
/// else.
pub fn behind_mention<'a>(text: &'a str, handle: &Handle) -> &'a str {
    let Some(mention) = text.trim_start().strip_prefix('@') else { return text };
    let token = Token::read(mention);
    // The domain is not compared: the host has chosen this agent already, whatever name of ours the caller used.
    if !token.local.eq_ignore_ascii_case(handle.as_str()) {
        return text;
    }
    let rest = &mention[token.local.len()..];
    let rest = match token.domain {
        Some(domain) => &rest[1 + run(domain, |c| is_word(c) || c == '.').trim_end_matches(['.', '-']).len()..],
        None => rest,
    };
    rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '-' | '–' | '—'))
}

/// The name after an `@`, and what follows when that is another `@`.
struct Token<'a> {
    local: &'a str,
    domain: Option<&'a str>,
}

impl<'a> Token<'a> {
    fn read(text: &'a str) -> Self {
        let local = run(text, is_word);
        let rest = text[local.len()..].strip_prefix('@');
        // `@chef@ demo` and `@chef@` still mention `chef`: without a letter behind it the second `@` begins no domain.
        Self { local, domain: rest.filter(|rest| rest.starts_with(char::is_alphanumeric)) }
    }

    /// The handle, when this names an agent of `own`.
    fn handle_at(&self, own: &Domain) -> Option<Handle> {
        let handle = Handle::parse(self.local).ok()?;
        self.domain.is_none_or(|domain| begins_with(domain, own)).then_some(handle)
    }
}

/// Whether `text` begins with the whole domain `own`, in A-labels or in Unicode.
fn begins_with(text: &str, own: &Domain) -> bool {
    // The whole run, not a prefix: `@chef@demo.localhost.evil.example` is an agent elsewhere.
    let labels = run(text, |c| is_word(c) || c == '.').trim_end_matches(['.', '-']);
    labels.eq_ignore_ascii_case(own.as_str()) || (own.as_str().contains("xn--") && begins_in_unicode(text, own))
}

fn begins_in_unicode(text: &str, own: &Domain) -> bool {
    let labels = run(text, |c| c.is_alphanumeric() || matches!(c, '-' | '.')).trim_end_matches(['.', '-']);
    let short = !labels.is_ascii() && labels.len() <= 2 * DOMAIN_BYTES_MAX;
    short && Domain::parse(labels).is_ok_and(|domain| domain == *own)
}

/// Whether a mention may begin after this character: not inside a word, as in an e-mail address,
/// nor in a path, as in `https://social.example/@name`.
fn may_precede(before: Option<char>) -> bool {
    before.is_none_or(|c| c == '-' || (c != '/' && !is_word(c)))
}

/// Characters that carry a name on. Letters of other alphabets too, so that `@leán` is not taken for
/// `@le`; but not those of East Asian scripts (U+2E80 and above), which put no space between words.
fn is_word(c: char) -> bool {
    matches!(c, '_' | '-') || (c.is_alphanumeric() && c < '\u{2e80}')
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    &text[..end]
}
