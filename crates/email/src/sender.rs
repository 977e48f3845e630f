//! What was proven about who wrote a message.

use forecourt_core::identity::{Audience, Proof};
use forecourt_core::message::Profile;
use forecourt_core::{Address, IdentityEvidence, Sender, Timestamp};
use serde_json::Map;

use crate::alignment::{Alignment, Signer};
use crate::inbound::InboundMail;

/// The author as the sender of a message to `agent`: verified where a domain that may speak for it vouches for
/// it, and else nobody in particular who claims an address.
pub(crate) fn sender(mail: &InboundMail, alignment: &Alignment, agent: &Address, now: Timestamp) -> Sender {
    let address = format!("@{}", mail.from);
    let name = mail.from_name.clone();
    let profile = name.map(|name| Profile { display_name: Some(name), more: Map::new() });
    let Alignment::Aligned(signer) = alignment else {
        return Sender { claimed_address: Some(address), profile, ..Sender::anonymous() };
    };
    Sender {
        address,
        auth_method: method(signer).to_owned(),
        verified: true,
        key_id: Some(signer.selector.clone()),
        profile,
        identities: vec![evidence(mail, signer, agent, now)],
        ..Sender::anonymous()
    }
}

fn method(signer: &Signer) -> &'static str {
    if signer.by_dmarc { "email-dmarc" } else { "email-dkim" }
}

fn evidence(mail: &InboundMail, signer: &Signer, agent: &Address, now: Timestamp) -> IdentityEvidence {
    let mut fields = Map::new();
    fields.insert("verified_by".to_owned(), agent.domain().as_str().into());
    fields.insert("key_id".to_owned(), signer.selector.clone().into());
    let source = Map::from_iter([("transport".to_owned(), "email".into())]);
    IdentityEvidence {
        id: mail.id.clone(),
        subject: mail.from.subject(),
        issuer: signer.domain.clone(),
        method: format!("urn:mentionable:auth:{}:v0.1", method(signer)),
        // Another domain of the same owner vouches for the domain, and may not know the mailbox.
        assurance: if signer.is_exact { "address" } else { "domain" }.to_owned(),
        audience: Audience::One(agent.to_string()),
        issued_at: now,
        not_before: None,
        expires_at: None,
        on_behalf_of: Vec::new(),
        claims: Map::new(),
        source,
        proof: Proof { kind: "transport".to_owned(), fields },
    }
}
