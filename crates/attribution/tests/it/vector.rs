//! Records byte for byte. Base 8.1.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_attribution::{
    AttributionLog, ContractFields, LogError, PriorAction, RecordDraft, RecordSigner, sha256, to_hex,
};
use forecourt_core::AgentId;
use forecourt_identity::SigningKey;
use forecourt_testkit::HandClock;
use serde_json::{Value, json};

use crate::support::{options, payload, source};

/// The name of the key: the first digits of its fingerprint.
const KID: &str = "ed25519-56475aa75463474c";
const AGENT: &str = "27f2653c2f2b4c0ed8c8e18c6b8385ad2796d343311736d089d1949f78b6ee42";

fn draft(agent: &AgentId) -> RecordDraft<'_> {
    RecordDraft {
        server_id: "srv.example",
        status: 200,
        issued_at: "2026-01-15T09:00:01Z".parse().unwrap(),
        agent: Some(agent),
        owner_id: "acme.tld",
        request_id: "0197a1b2-0000-7000-8000-000000000001",
        response_id: "0197a1b2-0000-7000-8000-000000000002",
        ..RecordDraft::default()
    }
}

async fn recorded(
    signer: RecordSigner,
    draft: RecordDraft<'_>,
) -> Result<forecourt_attribution::SignedRecord, LogError> {
    let folder = tempfile::tempdir().unwrap();
    let source = source(&Arc::new(signer));
    AttributionLog::open(folder.path(), options(), source, Arc::new(HandClock::new())).unwrap().record(draft).await
}

#[tokio::test]
async fn base_8_1_the_vector_comes_out_byte_for_byte() {
    let agent = AgentId::parse(AGENT).unwrap();
    let unsigned = recorded(RecordSigner::unsigned(), draft(&agent)).await.unwrap();
    assert_eq!(unsigned.audit_id, "8b309c90f51b01db237a41f44f4720467e6f5440f591d66cda46dd946a4f05f6");
    assert!(unsigned.jws.ends_with('.') && unsigned.jws.matches('.').count() == 2, "{}", unsigned.jws);
    let signed = recorded(RecordSigner::ed25519(vector_key(), Some(KID)), draft(&agent)).await.unwrap();
    assert_eq!(
        signed.jws.rsplit('.').next(),
        Some("YxtOR54KhUAaVTONnBj_u5k1_ZYDVN7PYgP19w3UPBkR4E4MOJn6XryjZ64sINgI3umhg9IhuPDHiHT9ly5kAg")
    );
    assert_eq!(signed.audit_id, "ead9b94de188448c121ea35105b5b8673ca5bd73334e83d4959a50b3a46d823f");
    assert_eq!(signed.audit_id, to_hex(&sha256(signed.jws.as_bytes())));
}

/// The key of the sheet's examples: 32 bytes `00 01 … 1f`.
fn vector_key() -> SigningKey {
    let seed: Vec<u8> = (0..32).collect();
    // The head of a PKCS #8 Ed25519 key (RFC 8410 7), before its 32 bytes.
    let head = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    let der = base64::engine::general_purpose::STANDARD.encode([&head[..], &seed].concat());
    SigningKey::from_pem(&format!("-----BEGIN PRIVATE KEY-----\n{der}\n-----END PRIVATE KEY-----\n")).unwrap()
}

#[tokio::test]
async fn base_8_1_every_field_stands_where_the_protocol_has_it_and_absent_ones_stay_out() {
    let agent = AgentId::parse(AGENT).unwrap();
    let prior = [PriorAction { agent_id: AGENT.to_owned(), audit_id: "0".repeat(64), agent_uri: None }];
    let whole = RecordDraft {
        request_hash: Some([7; 32]),
        session_id: Some("s\"1\n"),
        task_id: Some("täsk"),
        principal_id: Some("p"),
        acting_principal_id: Some("u"),
        action_id: Some("a"),
        requested_method: Some("GET"),
        contract: Some(ContractFields { synthesis_id: "c", contract_hash: "h", negotiation_origin: "rcns-gate" }),
        prior_actions: &prior,
        identity_assurance: Some("unverified"),
        ..draft(&agent)
    };
    let record = recorded(RecordSigner::unsigned(), whole).await.unwrap();
    let prior = json!([{"agent_id": AGENT, "audit_id": "0".repeat(64)}]);
    let expected = json!({
        "audit_record_version": "1", "server_id": "srv.example", "status": 200, "issued_at": "2026-01-15T09:00:01Z",
        "request_hash": "07".repeat(32), "agent_id": AGENT, "owner_id": "acme.tld",
        "request_id": "0197a1b2-0000-7000-8000-000000000001", "response_id": "0197a1b2-0000-7000-8000-000000000002",
        "previous_audit_id": "0".repeat(64), "session_id": "s\"1\n", "task_id": "täsk", "principal_id": "p",
        "acting_principal_id": "u", "action_id": "a", "requested_method": "GET", "synthesis_id": "c",
        "contract_hash": "h", "negotiation_origin": "rcns-gate", "prior_actions": prior,
        "extra": {"identity_assurance": "unverified", "prior_actions": prior},
    });
    assert_eq!(payload(&record.jws), expected);
    let text = URL_SAFE_NO_PAD.decode(record.jws.split('.').nth(1).unwrap()).unwrap();
    // As canonical JSON has it: keys in order, nothing to spare.
    assert_eq!(text, serde_json::to_vec(&expected).unwrap());
    let least = recorded(RecordSigner::unsigned(), RecordDraft::default()).await.unwrap();
    let names: Vec<String> = payload(&least.jws).as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        names,
        [
            "agent_id",
            "audit_record_version",
            "issued_at",
            "owner_id",
            "previous_audit_id",
            "request_id",
            "response_id",
            "server_id",
            "status"
        ]
    );
    assert_eq!(payload(&least.jws)["agent_id"], Value::from(""));
}

#[tokio::test]
async fn records_over_their_bound_are_refused_and_at_it_are_not() {
    let least = recorded(RecordSigner::unsigned(), RecordDraft::default()).await.unwrap();
    let head = URL_SAFE_NO_PAD.decode(least.jws.split('.').nth(1).unwrap()).unwrap().len();
    let room = forecourt_attribution::limits::PAYLOAD_BYTES_MAX - head;
    let at = "x".repeat(room);
    assert!(recorded(RecordSigner::unsigned(), RecordDraft { owner_id: &at, ..RecordDraft::default() }).await.is_ok());
    let over = "x".repeat(room + 1);
    let refused = recorded(RecordSigner::unsigned(), RecordDraft { owner_id: &over, ..RecordDraft::default() }).await;
    assert!(matches!(refused, Err(LogError::TooLarge)), "{refused:?}");
}
