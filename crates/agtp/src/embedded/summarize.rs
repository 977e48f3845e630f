//! SUMMARIZE: a text in fewer words. Base 3.1.

use std::borrow::Cow;

use aws_lc_rs::digest::{SHA256, digest};
use bytes::Bytes;
use forecourt_agtp_wire::status::Status;
use forecourt_core::part::{File, FileSource};
use forecourt_core::{CollectedReply, Ending, Error, Handle, Part};
use forecourt_egress::data_url;
use forecourt_index::{SummaryWish, summary};
use forecourt_loaders::read_page;
use serde_json::{Value, json};
use url::Url;

use super::agents::HostAgents;
use super::ambient::Ambient;
use super::call::MethodCall;
use super::messenger::{Messenger, parts};
use crate::reply::{Problem, Reply};

const LENGTHS: [&str; 3] = ["brief", "standard", "detailed"];
const FORMATS: [&str; 3] = ["bullets", "prose", "structured"];
/// Words in a sentence, more or less, for callers who count words.
const WORDS_PER_SENTENCE: usize = 20;
/// Words of a summary at most.
const WORDS_MAX: usize = 2_000;

/// Members of an answer that hold words for people.
const TEXT_MEMBERS: [&str; 7] = ["content", "summary", "text", "name", "title", "description", "articleBody"];

/// What is to be made of a text.
struct Wish<'a> {
    length: &'static str,
    format: &'static str,
    focus: Option<&'a str>,
    audience: Option<&'a str>,
    words: Option<usize>,
}

/// A text, and where it is from.
struct Source {
    text: String,
    /// SHA-256 of what the text was read from.
    hash: String,
    url: Option<String>,
}

/// A text in fewer words: the agent's, or its own.
pub(super) struct SummarizeMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    pub messenger: Messenger<'a>,
    pub ambient: Ambient<'a>,
}

impl SummarizeMethod<'_> {
    /// Asks the agent for a summary; of agents that don't write, the text's own sentences are one.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        self.call.given.require(&[&["source"]])?;
        let given = match self.call.given.get(&["source"]) {
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(result @ (Value::Object(_) | Value::Array(_))) => Cow::Owned(words_of(result)),
            _ => {
                return Err(self.call.given.wrong(&["source"], "must be text, a URL, or what another method answered"));
            }
        };
        let wish = self.summary_wish()?;
        let (agent, handle) = self.agents.addressed()?;
        let source = self.source(&given, handle).await?;
        let composes = self.agents.card(handle).is_some_and(|card| card.composes);
        // Sentences of the text's own are its own; nobody measured what an agent writes.
        let (text, confidence, basis, kind) = match composes {
            true => (self.written(handle, &source, &wish).await?, 0.5, "unmeasured", "abstractive"),
            false => (self.extracted(handle, &source, &wish)?, 1.0, "verbatim", "extractive"),
        };
        let summary = match wish.format {
            "structured" => json!({"sentences": text, "focus": wish.focus}),
            "bullets" => text.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n").into(),
            _ => text.join(" ").into(),
        };
        let length = text.iter().map(|line| line.chars().count()).sum::<usize>();
        Ok(Reply::ok(json!({
            "method": self.call.method,
            "agent_id": agent.agent_id,
            "summary": summary,
            "format": wish.format,
            "length": wish.length,
            "kind": kind,
            "confidence": confidence,
            "confidence_basis": basis,
            "source": source.url,
            "source_hash": source.hash,
            "source_length": source.text.chars().count(),
            "summary_length": length,
            "issued_at": self.ambient.now(),
        })))
    }

    /// A length as a word, or in words.
    fn length(&self, name: &'static str) -> Result<(Option<&'static str>, Option<usize>), Problem> {
        match self.call.given.get(&[name]) {
            Some(Value::String(_)) => Ok((self.call.given.one_of(&[name], &LENGTHS)?, None)),
            _ => Ok((None, self.call.given.count(&[name], 1..=WORDS_MAX)?)),
        }
    }

    fn summary_wish(&self) -> Result<Wish<'_>, Problem> {
        // Either name takes either form: drafts differ.
        let ((own, own_words), (other, other_words)) = (self.length("length")?, self.length("max_length")?);
        Ok(Wish {
            length: own.or(other).unwrap_or("standard"),
            format: self.call.given.one_of(&["format"], &FORMATS)?.unwrap_or("prose"),
            focus: self.call.given.text(&["focus"])?,
            audience: self.call.given.text(&["audience", "style"])?,
            words: own_words.or(other_words),
        })
    }

    /// The text itself, or what is at its address: fetched after the agent's gate, under the host's guard.
    async fn source(&self, given: &str, handle: &Handle) -> Result<Source, Problem> {
        let url = Url::parse(given).ok().filter(|url| matches!(url.scheme(), "https" | "http" | "data"));
        let Some(url) = url.filter(|_| !given.trim().contains(char::is_whitespace)) else {
            self.admitted(Part::text(given), handle).await?;
            return Ok(Source { text: given.to_owned(), hash: hash(given.as_bytes()), url: None });
        };
        let is_data = url.scheme() == "data";
        let (media_type, bytes) = match is_data {
            true => {
                // There is nothing to fetch, but the agent's gate has to let the caller in all the same.
                self.admitted(Part::text(""), handle).await?;
                data_url(given).map(|data| (data.mime, data.bytes)).map_err(|error| unread(&error.to_string()))?
            }
            false => self.fetched(given, handle).await?,
        };
        let text = readable(&bytes, &media_type, &url);
        let text = text.ok_or_else(|| unread("the source is not text: name a page, a text or JSON"))?;
        Ok(Source { text, hash: hash(&bytes), url: (!is_data).then(|| given.to_owned()) })
    }

    /// What is at an address, with its media type.
    async fn fetched(&self, url: &str, handle: &Handle) -> Result<(String, Bytes), Problem> {
        let source = FileSource::Url { url: url.to_owned(), expires_at: None };
        let mime = "application/octet-stream".to_owned();
        let file = File { id: None, name: None, mime, size_bytes: None, source };
        let parts = self.admitted(Part::File(file), handle).await?;
        let file = parts.into_iter().find_map(|part| match part {
            Part::File(File { mime, source: FileSource::Inline(bytes), .. }) => Some((mime, bytes)),
            _ => None,
        });
        file.ok_or_else(|| unread("there is nothing at this address"))
    }

    /// What the agent would be given, after its gate.
    async fn admitted(&self, part: Part, handle: &Handle) -> Result<Vec<Part>, Problem> {
        match self.messenger.with_attachments(self.messenger.message(handle, vec![part])).await {
            Ok(Ok(message)) => Ok(message.parts),
            Ok(Err(refusal)) => Err(refusal),
            Err(Error::Invalid { .. }) => Err(unread("what is at this address could not be fetched")),
            Err(error) => Err(error.into()),
        }
    }

    /// A summary in the agent's own words.
    async fn written(&self, handle: &Handle, source: &Source, wish: &Wish<'_>) -> Result<Vec<String>, Problem> {
        let mut words = format!("Summarize the text below in about {} sentences.", sentences(wish));
        for (name, wanted) in [("Focus on", wish.focus), ("Write for", wish.audience)] {
            if let Some(wanted) = wanted {
                words.push_str(&format!(" {name}: {wanted}."));
            }
        }
        if wish.format == "bullets" {
            words.push_str(" Write one line for each point.");
        }
        words.push_str(" Answer with the summary alone.\n\n");
        words.push_str(&source.text);
        let answer: CollectedReply = self.messenger.ask(self.messenger.message(handle, parts(words, []))).await?;
        if let Ending::Question(question) = &answer.ending {
            let problem = Problem::new(Status::UNPROCESSABLE, "input-required", question.text.as_str());
            return Err(problem.with("question", json!(question)));
        }
        let text = answer.text();
        let lines = text.lines().map(|line| line.trim_start_matches(['-', '*', '•', ' ']).trim());
        Ok(lines.filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    /// The sentences of the text that say most of what it is about.
    fn extracted(&self, handle: &Handle, source: &Source, wish: &Wish<'_>) -> Result<Vec<String>, Problem> {
        let language = self
            .agents
            .card(handle)
            .map(|card| card.language.clone())
            .unwrap_or_else(forecourt_core::Language::english);
        let about = SummaryWish { sentences: sentences(wish), focus: wish.focus, language: &language };
        let text: Vec<String> = summary(&source.text, about).into_iter().map(one_line).collect();
        if text.is_empty() {
            return Err(unread("the source has no words"));
        }
        Ok(text)
    }
}

/// The words of what a method answered: those of the members that hold words, else all of it.
fn words_of(result: &Value) -> String {
    let mut words = Vec::new();
    gather(result, &mut words);
    match words.is_empty() {
        true => result.to_string(),
        false => words.join("\n\n"),
    }
}

/// Values come within the bound of nesting that JSON from outside has.
fn gather<'v>(value: &'v Value, words: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, words)),
        Value::Object(members) => members.iter().for_each(|(name, member)| match member {
            Value::String(text) if TEXT_MEMBERS.contains(&name.as_str()) => words.push(text),
            Value::Array(_) | Value::Object(_) => gather(member, words),
            _ => {}
        }),
        _ => {}
    }
}

fn unread(message: &str) -> Problem {
    Problem::new(Status::UNPROCESSABLE, "unreadable-source", message).with("field", "/source")
}

fn sentences(wish: &Wish<'_>) -> usize {
    let usual = match wish.length {
        "brief" => 1,
        "detailed" => 8,
        _ => 3,
    };
    wish.words.map_or(usual, |words| (words / WORDS_PER_SENTENCE).max(1))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a page, a text or JSON; `None`: it is something else.
fn readable(bytes: &[u8], media_type: &str, url: &Url) -> Option<String> {
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if matches!(kind.as_str(), "text/html" | "application/xhtml+xml") {
        let items = read_page(bytes, media_type, url);
        let fields = ["name", "description", "text", "articleBody"];
        let words = |item: &Value| {
            fields.iter().filter_map(|name| item.get(*name)?.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let text = items.iter().flat_map(words).collect::<Vec<_>>().join("\n\n");
        return (!text.is_empty()).then_some(text);
    }
    let is_text =
        kind.starts_with("text/") || kind.ends_with("json") || kind.ends_with("xml") || kind.ends_with("yaml");
    is_text.then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn hash(bytes: &[u8]) -> String {
    let digits: String = digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}
