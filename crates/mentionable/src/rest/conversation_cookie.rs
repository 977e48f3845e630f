//! The conversations of one browser that were asked for a consent or a payment, in a cookie.
//!
//! A person leaves the answer page for the page of a decision, and comes back with its state alone. The state says
//! what was asked, and the cookie that it was asked here: whoever else is given the address of a decision may agree
//! or pay, and is not shown the answer. It counts for nothing else: no request continues a conversation that it does
//! not name, and one without a state begins a new one, which is asked for its consent anew.

use forecourt_core::ThreadId;
use forecourt_issuance::Issuance;
use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::limits::{CONVERSATIONS_WAITING_MAX, COOKIE_BYTES_MAX};

/// Kept by browsers for this origin alone. RFC 6265bis 4.1.3.2.
const NAME: &str = "__Host-conversation";
/// Seconds for which it is kept: as long as the host keeps what was agreed to in a conversation.
const MAX_AGE_SECONDS: u64 = 30 * 24 * 60 * 60;
/// Between two conversations; no token holds it.
const BETWEEN: char = '.';
static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The conversations of this browser, the latest first. What is none of our tokens is passed over.
pub(crate) fn of(headers: &HeaderMap) -> Vec<ThreadId> {
    let fields = headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
    let short = fields.filter(|field| field.len() <= COOKIE_BYTES_MAX);
    let mut pairs = short.flat_map(|field| field.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let value = pairs.find(|(name, _)| *name == NAME).map_or("", |(_, value)| value);
    value.split(BETWEEN).filter_map(ThreadId::parse).take(CONVERSATIONS_WAITING_MAX).collect()
}

/// Whether a browser asks, which keeps cookies. Programs are left alone.
pub(crate) fn is_browser(headers: &HeaderMap) -> bool {
    headers.contains_key(&SEC_FETCH_SITE)
}

/// Adds a conversation; the oldest above [`CONVERSATIONS_WAITING_MAX`] is forgotten.
pub(crate) fn add(head: &mut HeaderMap, asked: &HeaderMap, thread: &ThreadId) {
    // A name that a client made up opens nothing by itself, and must not begin to by way of a cookie.
    if thread.is_adopted() {
        return;
    }
    let others = of(asked).into_iter().filter(|other| other != thread);
    let all: Vec<ThreadId> = [thread.clone()].into_iter().chain(others).take(CONVERSATIONS_WAITING_MAX).collect();
    let value: Vec<&str> = all.iter().map(ThreadId::expose).collect();
    let value = value.join(&BETWEEN.to_string());
    // Lax, so that it comes along when a payment page elsewhere leads back.
    let text = format!("{NAME}={value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={MAX_AGE_SECONDS}");
    if let Ok(mut field) = HeaderValue::from_str(&text) {
        field.set_sensitive(true);
        head.append(SET_COOKIE, field);
    }
}

/// The conversation of an issuance, where this browser waits for it.
pub(crate) fn waiting_thread(headers: &HeaderMap, issuance: &Issuance) -> Option<ThreadId> {
    let thread = issuance.holder.thread.as_ref()?;
    of(headers).into_iter().find(|waiting| waiting == thread)
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::CountedEntropy;
    use proptest::prelude::*;

    use super::*;

    fn threads(count: usize) -> Vec<ThreadId> {
        let entropy = CountedEntropy::default();
        (0..count).map(|_| ThreadId::mint(&entropy)).collect()
    }

    /// What a browser would send after these answers.
    fn sent(head: &HeaderMap) -> HeaderMap {
        let Some(field) = head.get_all(SET_COOKIE).iter().next_back() else { return HeaderMap::new() };
        let pair = field.to_str().unwrap().split(';').next().unwrap().to_owned();
        HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(&format!("a=b; {pair}; c=d")).unwrap())])
    }

    #[test]
    fn conversations_are_bounded_the_latest_first() {
        let all = threads(CONVERSATIONS_WAITING_MAX + 1);
        let mut asked = HeaderMap::new();
        for (n, thread) in all.iter().enumerate() {
            let mut head = HeaderMap::new();
            add(&mut head, &asked, thread);
            asked = sent(&head);
            assert_eq!(of(&asked).len(), (n + 1).min(CONVERSATIONS_WAITING_MAX));
            assert_eq!(of(&asked)[0], *thread);
        }
        assert!(!of(&asked).contains(&all[0]));
    }

    #[test]
    fn s8_3_no_other_page_reads_it_and_no_script() {
        let mut head = HeaderMap::new();
        add(&mut head, &HeaderMap::new(), &threads(1)[0]);
        let text = head[SET_COOKIE].to_str().unwrap();
        for word in ["__Host-conversation=", "Path=/;", "Secure", "HttpOnly", "SameSite=Lax"] {
            assert!(text.contains(word), "{text}");
        }
        assert!(head[SET_COOKIE].is_sensitive());
    }

    proptest! {
        #[test]
        fn nothing_but_tokens_is_read(value in "\\PC{0,80}") {
            let Ok(field) = HeaderValue::from_str(&format!("{NAME}={value}")) else { return Ok(()) };
            for thread in of(&HeaderMap::from_iter([(COOKIE, field)])) {
                prop_assert!(value.contains(thread.expose()));
            }
        }
    }
}
