//! A request into a [`Message`]: the one place where both vocabularies are in scope on the way in.

use std::borrow::Cow;

use forecourt_core::policy::Submission;
use forecourt_core::{
    Allowance, ConsentToken, File, FileSource, FindingsDetail, Handle, Language, Message, MessageId, Part, Role,
    SearchOptions, SearchRefinement, Sender, ThreadId, Timestamp, Turn,
};
use forecourt_egress::data_url;

use super::limits::DATA_URLS_MAX;
use super::wire::{Ask, DecodeError, Entry, Run};

/// The name of this transport in messages. Mentionable normalized-message, `received_via`.
pub(crate) const TRANSPORT: &str = "rest";

/// What a request says beside its body.
pub(crate) struct Envelope {
    /// The addressed agent.
    pub(crate) recipient: Handle,
    /// Proven by headers alone; no body says who is speaking. REST 7.
    pub(crate) sender: Sender,
    /// What `Accept-Language`, or the parameter `lang`, asks for. `None` when neither names a language.
    pub(crate) language: Option<Language>,
    /// Whether the agent finds things, so that a search may be narrowed down.
    pub(crate) finds: bool,
    /// Whether what was found is to be told with everything that narrows it down.
    pub(crate) with_facets: bool,
    /// Whether what a half-typed question may become is all that is wanted.
    pub(crate) completes: bool,
    /// Whether other agents are asked the same at once.
    pub(crate) asks_several: bool,
    /// Agents in line before this one.
    pub(crate) hop: u32,
    /// Our id for the message; REST has none of its own.
    pub(crate) id: MessageId,
    /// What it brings to go on after a refusal: a state, a payment.
    pub(crate) submission: Option<Box<Submission>>,
    /// What may be used up for it.
    pub(crate) allowance: Allowance,
    /// What its browser keeps its consents by, where nobody is signed in.
    pub(crate) consents: Option<ConsentToken>,
    /// The host's clock.
    pub(crate) received_at: Timestamp,
}

/// Puts a message together. URLs are not fetched here: files named by `http(s):` are fetched by the
/// host after its gate, `data:` URLs are decoded in place. REST 3.3.
pub(crate) fn message(ask: Ask, envelope: Envelope) -> Result<Message, DecodeError> {
    let Ask { mut runs, session, parts, history, narrowing, earlier, .. } = ask;
    let current = runs.pop().map(|run| run.entries).unwrap_or_default();
    let parts = dispatch(match parts {
        Some(parts) => parts.into_iter().map(with_url_read).collect(),
        None => current.into_iter().map(part).collect(),
    })?;
    let search = SearchOptions {
        findings: if envelope.with_facets { FindingsDetail::Facets } else { FindingsDetail::None },
        narrowing: if envelope.finds { narrowing } else { SearchRefinement::default() },
        completes: envelope.completes,
        asks_several: envelope.asks_several,
        // A summary that a model has to make is worth its time and cost where one agent was chosen.
        list_only: envelope.asks_several,
        ..SearchOptions::default()
    };
    Ok(Message {
        thread: session.as_deref().and_then(ThreadId::parse),
        sender: Sender { allowance: envelope.allowance, ..envelope.sender },
        history: history.map_or_else(
            || earlier.into_iter().map(asked_before).chain(runs.into_iter().filter_map(turn)).collect(),
            Into::into,
        ),
        language: envelope.language,
        hop: envelope.hop,
        submission: envelope.submission,
        consents: envelope.consents,
        // Nobody has asked this agent anything yet.
        unrecorded: search.is_tentative(),
        search,
        ..Message::new(envelope.id, envelope.recipient, parts, TRANSPORT, envelope.received_at)
    })
}

/// A question of a search that goes on.
fn asked_before(text: String) -> Turn {
    Turn::text(Role::User, text)
}

/// A part of the current turn, or a `data:` URL that is still to be decoded.
enum PendingPart {
    Part(Part),
    DataUrl { url: String, name: Option<String>, mime: Option<String> },
}

/// Decodes the `data:` URLs of a turn, at most [`DATA_URLS_MAX`].
fn dispatch(found: Vec<PendingPart>) -> Result<Vec<Part>, DecodeError> {
    if found.iter().filter(|found| matches!(found, PendingPart::DataUrl { .. })).count() > DATA_URLS_MAX {
        return Err(DecodeError::TooManyDataUrls);
    }
    found.into_iter().map(decoded).collect()
}

fn decoded(found: PendingPart) -> Result<Part, DecodeError> {
    match found {
        PendingPart::Part(part) => Ok(part),
        PendingPart::DataUrl { url, name, mime } => {
            let data = data_url(&url).map_err(|error| DecodeError::DataUrl(error.to_string()))?;
            Ok(Part::File(File::inline(mime.unwrap_or(data.mime), name, data.bytes)))
        }
    }
}

/// One entry of the current turn. REST 3.3.
fn part(entry: Entry) -> PendingPart {
    match entry {
        Entry::File { mime, name, bytes } => PendingPart::Part(Part::File(File::inline(mime, name, bytes))),
        Entry::Text { text, .. } if text.starts_with("data:") => {
            PendingPart::DataUrl { url: text, name: None, mime: None }
        }
        Entry::Text { text, .. } if is_web_address(&text) => {
            PendingPart::Part(Part::File(elsewhere(text.trim().to_owned())))
        }
        Entry::Text { mime, text } => {
            PendingPart::Part(Part::Text(forecourt_core::Text { mime: words_of(mime), content: text }))
        }
    }
}

/// Whether an entry is words, and no address of something else.
pub(crate) fn is_words(text: &str) -> bool {
    !text.starts_with("data:") && !is_web_address(text)
}

/// Whether an entry is nothing but an address. One with words behind it ("https://… is this safe?")
/// can't be a URL, and is what a person wrote.
fn is_web_address(text: &str) -> bool {
    let schemed = text.starts_with("http://") || text.starts_with("https://");
    schemed && !text.trim_end().contains(|c: char| c.is_whitespace() || c.is_control())
}

fn elsewhere(url: String) -> File {
    File {
        id: None,
        name: None,
        mime: "application/octet-stream".to_owned(),
        size_bytes: None,
        source: FileSource::Url { url, expires_at: None },
    }
}

/// The media types of words that messages know.
fn words_of(mime: String) -> String {
    match mime.as_str() {
        "text/markdown" | "text/html" => mime,
        _ => "text/plain".to_owned(),
    }
}

/// A part of the sidecar; one that names a `data:` URL is decoded like an entry.
fn with_url_read(part: Part) -> PendingPart {
    match part {
        Part::File(File { source: FileSource::Url { url, .. }, name, mime, .. }) if url.starts_with("data:") => {
            PendingPart::DataUrl { url, name, mime: Some(mime) }
        }
        other => PendingPart::Part(other),
    }
}

/// An earlier turn of the transcript. History is text only (REST 3.2.3): files are mentioned, URLs
/// stay words, and a turn without words is left out.
fn turn(run: Run) -> Option<Turn> {
    let texts = run.entries.iter().map(entry_text).filter(|text| !text.is_empty());
    let parts: Vec<Part> = texts.map(Part::text).collect();
    (!parts.is_empty()).then(|| Turn::new(run.role, parts))
}

fn entry_text(entry: &Entry) -> Cow<'_, str> {
    match entry {
        Entry::Text { text, .. } => text.into(),
        Entry::File { mime, name, .. } => format!("[{}, {mime}]", name.as_deref().unwrap_or("attachment")).into(),
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Clock, Role, SystemClock};

    use super::*;

    fn asking(text: &str) -> Ask {
        Ask { runs: vec![Run { role: Role::User, entries: vec![Entry::text(text)] }], ..Ask::default() }
    }

    fn read(ask: Ask) -> Result<Message, DecodeError> {
        let envelope = Envelope {
            recipient: Handle::parse("echo").expect("a handle"),
            sender: Sender::anonymous(),
            language: None,
            finds: false,
            with_facets: false,
            completes: false,
            asks_several: false,
            hop: 0,
            id: MessageId::parse("m1").expect("an id"),
            submission: None,
            allowance: Allowance::Whole,
            consents: None,
            received_at: SystemClock.now(),
        };
        message(ask, envelope)
    }

    fn only_part(text: &str) -> Part {
        read(asking(text)).expect(text).parts.remove(0)
    }

    #[test]
    fn s3_3_addresses_are_files_elsewhere() {
        for text in ["https://a.example/x.png", "http://a.example/", "https://a.example/x.png\n"] {
            let part = only_part(text);
            let Part::File(File { source: FileSource::Url { url, .. }, .. }) = &part else { panic!("{part:?}") };
            assert_eq!(url, text.trim());
        }
    }

    #[test]
    fn s3_3_what_only_looks_like_an_address_is_words() {
        for text in
            [" https://a.example/", "HTTPS://a.example/", "https://a.example/ is nice", "DATA:,x", " data:,x", "httpx"]
        {
            assert_eq!(only_part(text).as_text(), Some(text));
        }
    }

    #[test]
    fn s3_3_data_urls_are_bytes_one_level_deep() {
        let Part::File(file) = only_part("data:text/plain,data:text/plain,hi") else { panic!("not a file") };
        assert_eq!(file.source, FileSource::Inline("data:text/plain,hi".into()));
        assert!(matches!(read(asking("data:;base64,@@@")), Err(DecodeError::DataUrl(_))));
    }

    #[test]
    fn s3_3_data_urls_are_bounded() {
        let many = |count: usize| {
            let entries = vec![Entry::text("data:,x"); count];
            read(Ask { runs: vec![Run { role: Role::User, entries }], ..Ask::default() })
        };
        assert!(many(DATA_URLS_MAX).is_ok());
        assert_eq!(many(DATA_URLS_MAX + 1).err(), Some(DecodeError::TooManyDataUrls));
    }

    #[test]
    fn s3_2_3_history_is_text_and_never_empty() {
        let file = Entry::File { mime: "image/png".into(), name: Some("a.png".into()), bytes: "x".into() };
        let run = |role, entries| Run { role, entries };
        let mut ask = asking("now");
        let earlier = [
            run(Role::User, vec![file, Entry::text("https://a.example/")]),
            run(Role::Assistant, vec![Entry::text("")]),
        ];
        ask.runs.splice(0..0, earlier);
        let message = read(ask).expect("the message is fine");
        assert_eq!(message.history.len(), 1);
        assert_eq!(
            forecourt_core::message::text_of(&message.history[0].parts),
            "[a.png, image/png]\nhttps://a.example/"
        );
    }

    #[test]
    fn s6_unknown_tokens_begin_afresh() {
        let ask = Ask { session: Some("x' OR 1=1".into()), ..asking("hi") };
        let message = read(ask).expect("the message is fine");
        assert_eq!(message.thread, None);
    }
}
