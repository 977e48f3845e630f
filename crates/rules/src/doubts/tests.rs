use serde_json::{Value, json};

use super::*;

fn possible() -> PossibleProofs {
    PossibleProofs {
        issuers: vec!["https://login.example".to_owned()],
        subject_prefixes: vec!["oauth:https://login.example#".to_owned()],
        payment_families: vec!["x402".to_owned()],
    }
}

fn told(rule: Value, possible: &PossibleProofs) -> Vec<String> {
    doubts(&serde_json::from_value(rule).unwrap(), possible).iter().map(ToString::to_string).collect()
}

#[test]
fn an_issuer_that_is_not_set_up_is_told() {
    let of = |issuer: &str| told(json!({"kind": "require_identity", "issuers": [issuer]}), &possible()).len();
    for (issuer, doubts) in [
        ("https://login.example", 0),
        ("https://login.*", 0),
        ("*", 0),
        ("https://login.example/", 1),
        ("https://other.example", 1),
        ("https://other.*", 1),
        ("there.example", 0),
    ] {
        assert_eq!(of(issuer), doubts, "{issuer}");
    }
    assert_eq!(told(json!({"kind": "require_identity"}), &PossibleProofs::default()), [""; 0]);
}

#[test]
fn subjects_of_issuers_that_are_not_set_up_are_told() {
    for kind in ["require_identity", "allow"] {
        for (subject, doubts) in [
            ("oauth:https://login.example#ann", 0),
            ("oauth:https://login.example#*", 0),
            ("oauth:*", 0),
            ("key:ci", 0),
            ("@bot@there.example", 0),
            ("oauth:https://other.example#ann", 1),
            ("oidc:https://login.example#ann", 1),
        ] {
            let rule = json!({"kind": kind, "subjects": [subject]});
            assert_eq!(told(rule, &possible()).len(), doubts, "{kind} {subject}");
        }
    }
}

#[test]
fn a_payment_that_nobody_checks_is_told() {
    let of = |offers: Value| told(json!({"kind": "require_payment", "price": "1", "offers": offers}), &possible());
    let offer = |scheme: &str| json!({"scheme": scheme, "payload": {}});
    assert_eq!(
        of(json!([offer("ln.bolt11")])),
        ["`offers`: nobody can pay: payments of `ln` are not checked here (see [payments])"]
    );
    assert_eq!(of(json!([offer("ln.bolt11"), offer("x402.exact")])), [""; 0]);
    assert_eq!(of(json!([{"x402": {"network": "base"}}])), [""; 0]);
    let shorthand = json!({"kind": "require_payment", "price": "1", "offers": [{"x402": {"network": "base"}}]});
    assert_eq!(told(shorthand, &PossibleProofs::default()).len(), 1, "there is no facilitator");
}

#[test]
fn caps_below_what_a_message_costs_are_told() {
    let of = |turn: &str, period: &str| {
        let rule = json!({
            "kind": "require_payment", "price": "0.05 USDC", "per": "credit",
            "offers": [{"scheme": "x402.exact", "payload": {}}],
            "credit": {"per_turn": "0.05", "unit": "USDC", "decimals": 6},
            "auto_deduct": {"per_turn_max_usd": turn, "period_max_usd": period, "period": "daily"},
        });
        told(rule, &possible()).len()
    };
    assert_eq!((of("0.05", "10.00"), of("0.049999", "10.00"), of("0.06", "0.04")), (0, 1, 1));
}
