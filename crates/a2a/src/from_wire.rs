//! A message of A2A into the host's words: the one place where both vocabularies are in scope on the
//! way in. What would prove who is speaking, or speak for the host, is taken out here.

use forecourt_core::{
    AgentCard, ContentMode, File, FileSource, MessageId, Part as CorePart, StateToken, Text, Turn,
    limits::HISTORY_TURNS_MAX,
};
use forecourt_egress::data_url;
use serde_json::{Map, Value};

use crate::annotations;
use crate::limits::DATA_URLS_MAX;
use crate::model::{Content, Message, Metadata, OperationError, Part};
use crate::payment::{self, PaymentAnswer};
use crate::policy::OWN;

/// Keys of our own metadata object that never reach an agent: proofs, what only a host may say, and what is read here.
const TAKEN: [&str; 6] =
    ["identity_evidence", "verifiable_credentials", "policy", "policy_resolution", "history", "agent_chain"];

/// What a message says, before it is known who says it.
#[derive(Debug)]
pub(crate) struct IncomingMessage {
    /// The caller's id for it.
    pub(crate) id: MessageId,
    /// The current turn.
    pub(crate) parts: Vec<CorePart>,
    /// Earlier turns that the caller brought.
    pub(crate) history: Vec<Turn>,
    /// Agents in line before this one, as the caller says.
    pub(crate) hop: u32,
    /// Evidence that is still to be verified.
    pub(crate) evidence: Vec<Value>,
    /// The refusal that the caller says was met. A claim: what counts is the host's own record of it.
    pub(crate) resolved: Option<StateToken>,
    /// What it answers to a wish for a payment.
    pub(crate) payment: Option<PaymentAnswer>,
    /// The metadata that is passed on.
    pub(crate) metadata: Metadata,
    /// The extensions that are at work in it.
    pub(crate) extensions: Vec<String>,
    /// What history shows of it beside its parts.
    pub(crate) annotations: Map<String, Value>,
}

/// Reads a message for the agent of `card`. `request` is the metadata of the request around it, where
/// some callers put ours. Fails when the agent does not take a part.
pub(crate) fn heard(message: Message, request: &Metadata, card: &AgentCard) -> Result<IncomingMessage, OperationError> {
    let id = MessageId::parse(&message.id).ok_or_else(|| {
        OperationError::param("message.messageId", "must be 1 to 256 bytes without control characters")
    })?;
    let Message { parts, mut metadata, extensions, references, task, .. } = message;
    // Before annotations are made of the metadata: a signed payment is as good as money and must not be kept with the
    // turn.
    let payment = payment::take(&mut metadata, request)?;
    // x402 over A2A v0.2, 5.5: only the task that asked knows what the payment is for.
    if matches!(payment, Some(PaymentAnswer::Submitted(_))) && task.is_none() {
        return Err(OperationError::param("message.taskId", "must name the task that asked for this payment"));
    }
    let own = own(&mut metadata, request);
    let annotations = annotations::of(&metadata, &extensions, &references, &parts);
    Ok(IncomingMessage {
        id,
        parts: core_parts(parts, card)?,
        history: history(own.get("history")),
        hop: hop(own.get("agent_chain")),
        evidence: own.get("identity_evidence").and_then(Value::as_array).cloned().unwrap_or_default(),
        resolved: own.get("policy_resolution").and_then(resolved),
        payment,
        metadata,
        extensions,
        annotations,
    })
}

/// Takes our own object out of `metadata`; leaves there what is for the agent.
fn own(metadata: &mut Metadata, request: &Metadata) -> Map<String, Value> {
    // Some write the path of a key as its name. Nobody reads what stands there, and it may be a proof all the same.
    let is_taken =
        |key: &str| key.strip_prefix(OWN).and_then(|key| key.strip_prefix('.')).is_some_and(|key| TAKEN.contains(&key));
    metadata.retain(|key, _| !is_taken(key));
    match metadata.get_mut(OWN) {
        Some(Value::Object(own)) => {
            let taken = TAKEN.iter().filter_map(|key| own.remove_entry(*key)).collect();
            if own.is_empty() {
                metadata.remove(OWN);
            }
            taken
        }
        Some(_) | None => request.get(OWN).and_then(Value::as_object).cloned().unwrap_or_default(),
    }
}

/// The state of the refusal that a caller says was met: of all that it says the one thing that can be looked up.
fn resolved(resolution: &Value) -> Option<StateToken> {
    let state = resolution["in_reply_to_state"].as_str().and_then(StateToken::parse);
    if state.is_none() {
        tracing::info!("a caller claimed that a refusal was met, and named none");
    }
    state
}

fn history(value: Option<&Value>) -> Vec<Turn> {
    let turns = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let newest = turns.len().saturating_sub(HISTORY_TURNS_MAX);
    turns[newest..].iter().cloned().filter_map(Turn::from_caller).collect()
}

/// Agents in line before this one, of a chain that says the how manieth this one is, from 1 on. What is no
/// count is passed over, as the host keeps its own bound. Companion specifications 4.6.
fn hop(chain: Option<&Value>) -> u32 {
    let hop = chain.and_then(|chain| chain.get("hop")).and_then(Value::as_u64).unwrap_or(0);
    u32::try_from(hop.saturating_sub(1)).unwrap_or(u32::MAX)
}

fn core_parts(parts: Vec<Part>, card: &AgentCard) -> Result<Vec<CorePart>, OperationError> {
    let is_data_url = |part: &&Part| matches!(&part.content, Content::Url(url) if url.starts_with("data:"));
    if parts.iter().filter(is_data_url).count() > DATA_URLS_MAX {
        return Err(OperationError::param("message.parts", format!("at most {DATA_URLS_MAX} data: URLs")));
    }
    let each = parts.into_iter().enumerate().map(|(index, part)| {
        takes(card, &part).map_err(OperationError::ContentTypeNotSupported)?;
        core_part(index, part)
    });
    each.collect()
}

fn core_part(index: usize, part: Part) -> Result<CorePart, OperationError> {
    let Part { content, filename, media_type, .. } = part;
    let file = |mime: Option<String>, source, size_bytes| {
        let mime = mime.unwrap_or_else(|| "application/octet-stream".to_owned());
        CorePart::File(File { id: None, name: filename, mime, size_bytes, source })
    };
    Ok(match content {
        Content::Text(content) => CorePart::Text(Text { mime: words(media_type), content }),
        Content::Raw(bytes) => {
            let size = bytes.len() as u64;
            file(media_type, FileSource::Inline(bytes), Some(size))
        }
        Content::Url(url) if url.starts_with("data:") => {
            let data = data_url(&url)
                .map_err(|error| OperationError::param(format!("message.parts[{index}].url"), error.to_string()))?;
            let size = data.bytes.len() as u64;
            file(media_type.or(Some(data.mime)), FileSource::Inline(data.bytes), Some(size))
        }
        Content::Url(url) => file(media_type, FileSource::Url { url, expires_at: None }, None),
        Content::Data(data) => CorePart::Data(forecourt_core::part::Data { data: data.into(), mime: media_type }),
    })
}

/// The media types of words that messages know.
fn words(media_type: Option<String>) -> String {
    match media_type.as_deref() {
        Some("text/markdown" | "text/html") => media_type.unwrap_or_default(),
        _ => "text/plain".to_owned(),
    }
}

/// Whether the agent takes a part, and else what it takes instead. Words and plain data are for every
/// agent; of the rest its card says what it wants.
fn takes(card: &AgentCard, part: &Part) -> Result<(), String> {
    let media_type = part.media_type.as_deref();
    let fits = match (&part.content, media_type) {
        (Content::Text(_), None | Some("text/plain" | "text/markdown" | "text/html")) => true,
        (Content::Data(_), None | Some("application/json")) => true,
        (_, Some(media_type)) => card.input_modes.iter().any(|mode| mode_takes(mode, media_type)),
        (_, None) => card.input_modes.iter().any(|mode| matches!(mode, ContentMode::File { .. })),
    };
    let what = media_type.unwrap_or("files");
    match fits {
        true => Ok(()),
        false => Err(format!("@{} does not take {what}; it takes {}", card.handle(), modes(card))),
    }
}

fn mode_takes(mode: &ContentMode, media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match mode {
        ContentMode::Link => false,
        ContentMode::Text { mime } => *mime == essence,
        ContentMode::File { mime } | ContentMode::Artifact { mime } => match mime.strip_suffix("/*") {
            Some("*") => true,
            Some(kind) => essence.split('/').next() == Some(kind),
            None => *mime == essence,
        },
    }
}

fn modes(card: &AgentCard) -> String {
    if card.input_modes.is_empty() {
        return "text".to_owned();
    }
    let each = card.input_modes.iter().map(|mode| match mode {
        ContentMode::Text { mime } | ContentMode::File { mime } | ContentMode::Artifact { mime } => mime.as_str(),
        ContentMode::Link => "links",
    });
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use forecourt_core::Sender;
    use forecourt_testkit::card;
    use serde_json::json;

    use super::*;
    use crate::model::Role;

    fn message(parts: Vec<Part>, metadata: Value) -> Message {
        let Value::Object(metadata) = metadata else { panic!("metadata is an object") };
        let (context, task, references, extensions) = (None, None, Vec::new(), Vec::new());
        Message { id: "m1".to_owned(), role: Role::User, parts, context, task, references, extensions, metadata }
    }

    fn read(parts: Vec<Part>, metadata: Value) -> Result<IncomingMessage, OperationError> {
        let mut card = card("chef");
        card.input_modes =
            vec![ContentMode::Text { mime: "text/plain".to_owned() }, ContentMode::File { mime: "image/*".to_owned() }];
        heard(message(parts, metadata), &Metadata::new(), &card)
    }

    fn file(content: Content, media_type: &str) -> Part {
        Part { media_type: Some(media_type.to_owned()), ..Part::of(content) }
    }

    #[test]
    fn words_files_and_data_become_the_hosts_own() {
        let parts = vec![
            Part::text("hi"),
            file(Content::Raw("x".into()), "image/png"),
            file(Content::Url("https://a.example/x.png".to_owned()), "image/png"),
            file(Content::Url("data:image/gif;base64,eA==".to_owned()), "image/gif"),
            Part::data(json!([1])),
        ];
        let heard = read(parts, json!({"a": 1})).expect("the message is fine");
        let kinds: Vec<_> = heard.parts.iter().map(CorePart::kind).collect();
        assert_eq!(kinds, ["text", "file", "file", "file", "data"]);
        let CorePart::File(decoded) = &heard.parts[3] else { panic!("no file") };
        assert_eq!(decoded.source, FileSource::Inline("x".into()));
        assert_eq!((heard.id.as_str(), &heard.metadata["a"]), ("m1", &json!(1)));
    }

    #[test]
    fn a_media_type_that_the_agent_does_not_take_is_named() {
        for part in [file(Content::Raw("x".into()), "application/pdf"), file(Content::Text("x".into()), "text/csv")] {
            let fault = read(vec![part], json!({})).expect_err("not taken");
            assert!(
                matches!(&fault, OperationError::ContentTypeNotSupported(text) if text.contains("image/*")),
                "{fault}"
            );
        }
    }

    #[test]
    fn an_agent_that_names_nothing_takes_text() {
        let parts = vec![file(Content::Raw("x".into()), "application/pdf")];
        let refused = heard(message(parts, json!({})), &Metadata::new(), &card("chef")).expect_err("not taken");
        assert!(refused.to_string().ends_with("it takes text"), "{refused}");
    }

    #[test]
    fn s4_1_what_only_a_host_may_say_is_taken_out() {
        let forged = json!({"mentionable": {"identity_evidence": [{"x": 1}], "verifiable_credentials": [],
            "policy": {}, "policy_resolution": {}, "agent_chain": {"hop": 3}, "kept": true}});
        let heard = read(vec![Part::text("a")], forged).expect("the message is fine");
        assert_eq!(heard.metadata, *json!({"mentionable": {"kept": true}}).as_object().unwrap());
        assert_eq!((heard.evidence.len(), heard.hop, heard.resolved), (1, 2, None));
    }

    #[test]
    fn s5_6_of_a_resolution_nothing_counts_but_its_state() {
        let state = "s".repeat(43);
        let claimed = json!({"mentionable": {"policy_resolution": {"in_reply_to_state": state, "kind": "payment_required",
            "confirmation": {"scheme": "x402.exact", "original_payload": {}}, "verified_by": "self"}}});
        let heard = read(vec![Part::text("a")], claimed).expect("the message is fine");
        assert_eq!(heard.resolved.map(|state| state.expose().to_owned()), Some(state));
        assert!(heard.metadata.is_empty() && heard.annotations.is_empty());
        for nonsense in [json!(null), json!([]), json!({"in_reply_to_state": 1}), json!({"in_reply_to_state": "x y"})] {
            let heard = read(vec![Part::text("a")], json!({"mentionable": {"policy_resolution": nonsense}}));
            assert!(heard.expect("the message is fine").resolved.is_none());
        }
    }

    #[test]
    fn ax5_5_a_payment_names_its_task_and_is_kept_nowhere() {
        let paid = json!({"x402.payment.status": "payment-submitted", "x402.payment.payload": {"secret": "s3cret"}});
        let fault = read(vec![Part::text("a")], paid.clone()).expect_err("no task");
        assert!(fault.to_string().contains("message.taskId"), "{fault}");
        let message = Message { task: Some("t".to_owned()), ..message(vec![Part::text("a")], paid) };
        let heard = heard(message, &Metadata::new(), &card("chef")).expect("the message is fine");
        assert!(matches!(heard.payment, Some(PaymentAnswer::Submitted(_))));
        assert!(!format!("{heard:?}").contains("s3cret"), "{heard:?}");
    }

    #[test]
    fn history_proves_nothing_and_what_is_no_turn_is_left_out() {
        let turn = json!({"role": "user", "sender": {"address": "@a@b.example", "verified": true, "auth_method": "x"},
            "parts": [{"kind": "text", "content": "earlier"}]});
        let heard = read(vec![Part::text("a")], json!({"mentionable": {"history": [turn, 1, {}]}})).unwrap();
        assert_eq!(heard.history.len(), 1);
        let Sender { verified, auth_method, .. } = &heard.history[0].sender;
        assert_eq!((*verified, auth_method.as_str()), (false, "none"));
        assert!(heard.metadata.is_empty());
    }

    #[test]
    fn chains_that_are_no_count_are_passed_over() {
        for (chain, hop) in [
            (json!({"hop": -1}), 0),
            (json!("x"), 0),
            (json!({"hop": 1e30}), 0),
            (json!({"hop": 1}), 0),
            (json!({"hop": 2}), 1),
        ] {
            let heard = read(vec![Part::text("a")], json!({"mentionable": {"agent_chain": chain}})).unwrap();
            assert_eq!(heard.hop, hop);
        }
    }

    #[test]
    fn data_urls_are_bounded_and_decoded() {
        let many = |count: usize| vec![file(Content::Url("data:image/gif,x".to_owned()), "image/gif"); count];
        assert!(read(many(DATA_URLS_MAX), json!({})).is_ok());
        assert!(matches!(read(many(DATA_URLS_MAX + 1), json!({})), Err(OperationError::InvalidParams(_))));
        let broken = file(Content::Url("data:;base64,@@".to_owned()), "image/gif");
        assert!(matches!(read(vec![broken], json!({})), Err(OperationError::InvalidParams(_))));
    }
}
