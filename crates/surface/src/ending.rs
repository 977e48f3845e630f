//! This module spells endings without an answer, the same for every protocol over HTTP: status, challenges, and the
//! code in metadata. Refusals are in [`crate::refusal`], since they are content.

use forecourt_core::limits::{CHALLENGES_BYTES_MAX, CHALLENGES_MAX};
use forecourt_core::policy::AuthChallenge;
use forecourt_core::{Ending, FailureCause, SignIn};
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, StatusCode};

use serde_json::{Map, Value, json};

use crate::refusal;

/// The key under which metadata has the code of an ending: our own, so that no protocol can mean something else by it.
pub(crate) const ENDING_KEY: &str = "forecourt/ending";

/// Bytes of one challenge from another host, so that [`CHALLENGES_MAX`] of them keep within [`CHALLENGES_BYTES_MAX`].
const CHALLENGE_BYTES_MAX: usize = CHALLENGES_BYTES_MAX / CHALLENGES_MAX;

/// The `error` of our own challenge where the agent wants a sign-in of its own: a token for this host does not help.
/// RFC 9470 3.
const MORE_SIGN_IN: &str = "insufficient_user_authentication";

/// The status that an ending has where the transport tells of it: 200 for answers, and for what is asked back.
pub fn status(ending: &Ending) -> StatusCode {
    match ending {
        Ending::Complete | Ending::Message(_) | Ending::Question(_) => StatusCode::OK,
        Ending::SignIn(_) => StatusCode::UNAUTHORIZED,
        Ending::Refused(part) => refusal::status(&part.kind),
        Ending::Declined { .. } => StatusCode::FORBIDDEN,
        Ending::Failed { cause, .. } => of_cause(*cause),
        Ending::Canceled => StatusCode::BAD_GATEWAY,
    }
}

/// The status of a failure. This host is the gateway to its agents: what fails behind it is never its own 500.
fn of_cause(cause: FailureCause) -> StatusCode {
    match cause {
        FailureCause::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        FailureCause::NodeLost => StatusCode::SERVICE_UNAVAILABLE,
        FailureCause::Agent
        | FailureCause::Unreachable
        | FailureCause::UpstreamRefused
        | FailureCause::CutOff
        | FailureCause::OverBound => StatusCode::BAD_GATEWAY,
    }
}

/// Adds what the agent's server challenges with. RFC 9110 15.5.2 wants one challenge at least: without any it is this
/// host's, that says who has to be signed in.
pub fn add_challenges(head: &mut HeaderMap, wanted: &SignIn, canonical_host: &str) {
    let mut challenges: Vec<String> = wanted.challenges.iter().filter_map(AuthChallenge::encode).collect();
    if challenges.is_empty() {
        let own = AuthChallenge::new("Bearer").with("realm", canonical_host).with("error", MORE_SIGN_IN);
        challenges.extend(own.encode());
    }
    for challenge in challenges {
        if let Ok(value) = HeaderValue::from_str(&challenge) {
            head.append(WWW_AUTHENTICATE, value);
        }
    }
}

/// Puts the code of an ending that is no answer and no refusal into metadata, with what it challenges with.
pub fn put_code(metadata: &mut Map<String, Value>, ending: &Ending) {
    let code = match ending {
        Ending::Complete | Ending::Message(_) | Ending::Question(_) | Ending::Refused(_) => return,
        Ending::SignIn(wanted) if !wanted.challenges.is_empty() => {
            json!({"code": ending.code(), "challenges": wanted.challenges})
        }
        Ending::SignIn(_) | Ending::Declined { .. } | Ending::Failed { .. } | Ending::Canceled => {
            json!({"code": ending.code()})
        }
    };
    metadata.insert(ENDING_KEY.to_owned(), code);
}

/// The cause that a failure of another host like this one names in its metadata; else that the agent failed.
pub fn read_cause(metadata: &Map<String, Value>) -> FailureCause {
    let code = metadata.get(ENDING_KEY).and_then(|ending| ending["code"].as_str());
    code.and_then(FailureCause::from_code).unwrap_or_default()
}

/// What another host like this one challenges with in its metadata. What can't be written into a header is left out, and
/// so is what is more than [`CHALLENGES_MAX`].
pub fn read_challenges(metadata: &Map<String, Value>) -> Vec<AuthChallenge> {
    let challenges = metadata.get(ENDING_KEY).and_then(|ending| ending["challenges"].as_array());
    let read = |challenge: &Value| serde_json::from_value::<AuthChallenge>(challenge.clone()).ok();
    // PolicyPart 3.3.1 wants it of decoders too: a relay would hand on what breaks out of its header.
    let fits = |challenge: &AuthChallenge| challenge.encode().is_some_and(|text| text.len() <= CHALLENGE_BYTES_MAX);
    challenges.into_iter().flatten().take(CHALLENGES_MAX).filter_map(read).filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_without_an_answer_is_never_success() {
        for row in forecourt_core::codes::endings() {
            assert!(status(&row.sample).as_u16() >= 400, "{}", row.code);
        }
    }

    #[test]
    fn http15_5_2_a_401_has_a_challenge() {
        let challenges = |wanted: &SignIn| {
            let mut head = HeaderMap::new();
            add_challenges(&mut head, wanted, "demo.localhost");
            head.get_all(WWW_AUTHENTICATE).iter().map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let none = SignIn::default();
        let own = r#"Bearer error="insufficient_user_authentication", realm="demo.localhost""#;
        assert_eq!(challenges(&none), [own]);
        let given = SignIn { challenges: vec![AuthChallenge::new("Bearer").with("realm", "far")], ..none };
        assert_eq!(challenges(&given), [r#"Bearer realm="far""#]);
    }

    #[test]
    fn what_is_put_into_metadata_is_read_and_nothing_else_is() {
        let put = |ending: &Ending| {
            let mut metadata = Map::new();
            put_code(&mut metadata, ending);
            metadata
        };
        for cause in FailureCause::ALL {
            assert_eq!(read_cause(&put(&cause.ending("No."))), cause);
        }
        let challenges = vec![AuthChallenge::new("Bearer").with("realm", "far")];
        let wanted = SignIn { challenges: challenges.clone(), ..SignIn::default() };
        assert_eq!(read_challenges(&put(&Ending::SignIn(Box::new(wanted)))), challenges);
        assert!(put(&Ending::Complete).is_empty());
        let strange = |value: Value| Map::from_iter([(ENDING_KEY.to_owned(), value)]);
        for value in [json!(7), json!({"code": "declined"}), json!({"code": ["timed-out"]})] {
            assert_eq!(read_cause(&strange(value)), FailureCause::Agent);
        }
        let breaks_out = json!({"scheme": "Bearer", "params": {"realm": "a\r\nSet-Cookie: b"}});
        let long = json!({"scheme": "Bearer", "params": {"realm": "x".repeat(CHALLENGE_BYTES_MAX)}});
        let fine = json!({"scheme": "Bearer"});
        let one_too_many = vec![fine.clone(); CHALLENGES_MAX + 1];
        assert!(read_challenges(&strange(json!({"challenges": [breaks_out, long, 7]}))).is_empty());
        assert_eq!(read_challenges(&strange(json!({"challenges": one_too_many}))).len(), CHALLENGES_MAX);
    }
}
