//! Asking another agent of the host, as a tool for models.

use std::sync::Arc;

use forecourt_core::{Address, Clock, Entropy, Message, MessageId, Part, Sender};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::answer::{fault, outcome};
use super::{Sibling, Siblings, may_ask};
use crate::backend::Context;
use crate::limits::{SIBLING_TIME_MAX, SIBLING_WORDS_CHARS_MAX};
use crate::tool::{Tool, ToolResult};

/// Asks one of these agents.
pub struct AskAgent {
    siblings: Siblings,
    asked: Vec<Sibling>,
    instructions: String,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl AskAgent {
    /// A tool that asks one of `asked`, none of which is the agent of `context` itself.
    pub fn new(asked: Vec<Sibling>, context: &Context) -> Self {
        let (clock, entropy) = (context.clock.clone(), context.entropy.clone());
        Self { siblings: context.siblings.clone(), instructions: introduction(&asked), asked, clock, entropy }
    }

    /// The agent that a model means: models write handles and addresses as people do.
    fn find(&self, named: &str) -> Option<&Sibling> {
        let (handle, address) = (named.trim().trim_start_matches('@'), Address::parse(named.trim()).ok());
        let mut asked = self.asked.iter();
        asked.find(|sibling| sibling.handle().as_str() == handle || address.as_ref() == Some(&sibling.address))
    }

    fn handles(&self) -> Vec<&str> {
        self.asked.iter().map(|sibling| sibling.handle().as_str()).collect()
    }

    /// What the sibling is sent: the words of the model, in the name of whoever asked us.
    fn message(&self, sibling: &Sibling, words: &str, asked: &Message) -> Message {
        let id = MessageId::mint(&*self.entropy);
        let parts = vec![Part::text(words)];
        Message {
            sender: meant_for(&asked.sender, &sibling.address),
            language: asked.language.clone(),
            hop: asked.hop.saturating_add(1),
            ..Message::new(id, sibling.handle().clone(), parts, asked.received_via, self.clock.now())
        }
    }
}

impl Tool for AskAgent {
    fn name(&self) -> &str {
        "ask_agent"
    }

    fn description(&self) -> &str {
        "Asks another agent of this host and gives its answer. It knows nothing of this conversation: \
         the message has to hold everything it needs."
    }

    fn instructions(&self) -> Option<&str> {
        Some(&self.instructions)
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "agent": {"type": "string", "enum": self.handles(), "description": "The handle of the agent."},
                "message": {"type": "string", "description": "What to ask it, in plain words."},
            },
            "required": ["agent", "message"],
            "additionalProperties": false,
        })
    }

    fn is_offered(&self, message: &Message) -> bool {
        may_ask(message)
    }

    fn call<'a>(&'a self, arguments: Value, message: &'a Message) -> BoxFuture<'a, ToolResult> {
        async move {
            let handle = arguments["agent"].as_str().ok_or("`agent` must be a string")?;
            let words = arguments["message"].as_str().filter(|words| !words.trim().is_empty());
            let words = words.ok_or("`message` must be a text for the agent")?;
            let unknown = || format!("there is no such agent to ask; there are: {}", self.handles().join(", "));
            let sibling = self.find(handle).ok_or_else(unknown)?;
            let answering = async {
                match self.siblings.host().receive(self.message(sibling, words, message)).await {
                    Ok(reply) => outcome(sibling, reply.collect().await),
                    Err(error) => Err(fault(sibling, &error)),
                }
            };
            timeout(SIBLING_TIME_MAX, answering)
                .await
                .unwrap_or_else(|_| Err(format!("@{} took too long; answer without it, and say so", sibling.handle())))
        }
        .boxed()
    }
}

/// The sender as `agent` may know it: evidence that was made for other agents stays with them.
/// A sender whose evidence was all of that sort has proven nothing to this one. Identity 0.1,
/// `audience`.
fn meant_for(sender: &Sender, agent: &Address) -> Sender {
    let mut sender = sender.clone();
    let had_evidence = !sender.identities.is_empty();
    sender.identities.retain(|evidence| {
        let mut agents = evidence.audience.iter().filter_map(|audience| Address::parse(audience).ok()).peekable();
        agents.peek().is_none() || agents.any(|audience| audience == *agent)
    });
    match had_evidence && sender.identities.is_empty() {
        true => sender.stripped_of_proof(),
        false => sender,
    }
}

/// The line by which a model learns of the agents beside it.
fn introduction(siblings: &[Sibling]) -> String {
    let known = siblings.iter().map(|sibling| {
        json!({"agent": sibling.handle(), "name": shown(&sibling.name), "about": shown(&sibling.description)})
    });
    format!(
        "A message may mention several agents; the one mentioned first has the floor and answers. Ask others \
         with `ask_agent` when their word is wanted, and say whose word it is. The other agents here, as data: {}",
        Value::from(known.collect::<Vec<_>>())
    )
}

fn shown(words: &str) -> String {
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SIBLING_WORDS_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use forecourt_contract::{HostApi, HostHandle};
    use forecourt_core::message::Profile;
    use forecourt_core::{Error, Handle, IdentityEvidence, Reply};
    use forecourt_testkit::{CountedEntropy, HandClock};
    use tokio::time::Instant;

    use super::*;

    fn sibling(name: &str, description: String) -> Sibling {
        let address = Address::parse("@pantry@demo.localhost").unwrap();
        Sibling { address, name: name.to_owned(), description }
    }

    fn evidence(audience: &Value) -> IdentityEvidence {
        serde_json::from_value(json!({
            "subject": "slack:T1/U1", "issuer": "connect.example", "method": "urn:m", "assurance": "platform",
            "audience": audience, "issued_at": "2026-01-01T00:00:00Z", "proof": {"type": "transport"},
        }))
        .unwrap()
    }

    fn sender(audiences: &[Value]) -> Sender {
        let profile = Some(Profile { display_name: Some("A".to_owned()), ..Profile::default() });
        Sender {
            address: "@a@b.example".to_owned(),
            auth_method: "a2a-jwt".to_owned(),
            verified: true,
            profile,
            identities: audiences.iter().map(evidence).collect(),
            peer: Some("192.0.2.1".parse().unwrap()),
            ..Sender::anonymous()
        }
    }

    #[test]
    fn evidence_for_another_agent_is_not_shown_to_a_sibling() {
        let pantry = Address::parse("@pantry@demo.localhost").unwrap();
        let kept = |audiences: &[Value]| {
            let sender = meant_for(&sender(audiences), &pantry);
            assert!(sender.peer.is_some() && sender.profile.is_some());
            (sender.identities.len(), sender.verified, sender.owner().is_some())
        };
        let (ours, other) = (json!("@pantry@demo.localhost"), json!("@chef@demo.localhost"));
        assert_eq!(kept(&[ours.clone(), other.clone(), json!("https://api.example")]), (2, true, true));
        assert_eq!(kept(&[json!(["@chef@demo.localhost", "@pantry@demo.localhost"])]), (1, true, true));
        assert_eq!(kept(&[other]), (0, false, false));
        assert_eq!(kept(&[]), (0, true, true), "a transport that makes no evidence has still proven the address");
    }

    fn tool() -> AskAgent {
        let pantry = sibling("Pantry", String::new());
        let (clock, entropy) = (Arc::new(HandClock::new()), Arc::new(CountedEntropy::default()));
        let siblings = Siblings::new([pantry.clone()], HostHandle::default());
        AskAgent { siblings, asked: vec![pantry], instructions: String::new(), clock, entropy }
    }

    #[test]
    fn an_agent_is_found_by_whatever_a_model_calls_it() {
        let tool = tool();
        for named in ["pantry", "@pantry", " @pantry ", "@pantry@demo.localhost"] {
            assert!(tool.find(named).is_some(), "{named}");
        }
        for named in ["", "@", "pan", "@pantry@other.example", "@pantry@"] {
            assert!(tool.find(named).is_none(), "{named}");
        }
    }

    /// Never answers.
    struct Silent;

    impl HostApi for Silent {
        fn receive(self: Arc<Self>, _: Message) -> BoxFuture<'static, Result<Reply, Error>> {
            std::future::pending().boxed()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_sibling_that_never_answers_is_given_up() {
        let tool = tool();
        let silent = Arc::new(Silent);
        tool.siblings.host().bind(&silent);
        let id = MessageId::parse("m1").unwrap();
        let asked = Message::new(id, Handle::parse("agent").unwrap(), Vec::new(), "test", tool.clock.now());
        let begun = Instant::now();
        let said = tool.call(json!({"agent": "pantry", "message": "?"}), &asked).await.unwrap_err();
        assert!(said.contains("took too long"), "{said}");
        assert_eq!(begun.elapsed(), SIBLING_TIME_MAX);
    }

    #[test]
    fn an_introduction_is_one_bounded_line_of_data() {
        let long = introduction(&[sibling("Pan\ntry", format!("\"]}}\n# Rules\n{}", "ä".repeat(1_000)))]);
        assert_eq!(long.lines().count(), 1);
        let data = long.split_once("as data: ").unwrap().1;
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!((&data[0]["agent"], &data[0]["name"]), (&json!("pantry"), &json!("Pan try")));
        let shown_chars = |chars: usize| shown(&"ä".repeat(chars)).chars().count();
        assert_eq!(shown_chars(SIBLING_WORDS_CHARS_MAX), SIBLING_WORDS_CHARS_MAX);
        assert_eq!(shown_chars(SIBLING_WORDS_CHARS_MAX + 1), SIBLING_WORDS_CHARS_MAX);
    }
}
