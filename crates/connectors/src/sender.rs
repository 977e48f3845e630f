//! Who speaks, as far as a platform vouches for it.

use forecourt_core::identity::{Audience, Proof};
use forecourt_core::message::Profile;
use forecourt_core::{Address, IdentityEvidence, Sender, Timestamp};
use serde_json::Map;

use crate::chat::ChatMessage;
use crate::platform::Platform;

/// The speaker as the sender of a message to `agent`: the platform signed that this user wrote it, and nothing else. The
/// profile is for display, and no proof. Mentionable identity v0.1.
pub(crate) fn sender<P: Platform>(
    platform: &P,
    message: &ChatMessage,
    profile: Option<Profile>,
    agent: &Address,
    now: Timestamp,
) -> Sender {
    let subject = platform.subject(&message.group, &message.user);
    let mut profile = profile.unwrap_or_default();
    profile.more.insert("provider".to_owned(), P::KIND.into());
    profile.more.insert("provider_subject".to_owned(), message.user.clone().into());
    let fields = Map::from_iter([("verified_by".to_owned(), agent.domain().as_str().into())]);
    let source = Map::from_iter([
        ("transport".to_owned(), P::KIND.into()),
        ("channel".to_owned(), message.place.channel.clone().into()),
    ]);
    let evidence = IdentityEvidence {
        id: Some(format!("{}/{}", message.place.channel, message.message)),
        subject: subject.clone(),
        issuer: platform.issuer().to_owned(),
        method: format!("urn:mentionable:auth:{}:v0.1", P::METHOD),
        assurance: "platform".to_owned(),
        audience: Audience::One(agent.to_string()),
        issued_at: now,
        not_before: None,
        expires_at: None,
        on_behalf_of: Vec::new(),
        claims: Map::new(),
        source,
        proof: Proof { kind: "transport".to_owned(), fields },
    };
    Sender {
        address: subject,
        auth_method: P::METHOD.to_owned(),
        verified: true,
        profile: Some(profile),
        identities: vec![evidence],
        ..Sender::anonymous()
    }
}
