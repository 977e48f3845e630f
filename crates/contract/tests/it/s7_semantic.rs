//! Section 7.1: the seven fields.

use forecourt_contract::{Catalog, Semantic};
use serde_json::{Value, json};

use crate::support::semantic;

fn tags(block: &Value) -> Vec<String> {
    let faults = Semantic::read(block, &Catalog::shipped()).expect_err("refused");
    faults.into_iter().map(|fault| fault.tag.into_owned()).collect()
}

fn with(field: &str, value: Value) -> Value {
    let mut block = semantic();
    block[field] = value;
    block
}

#[test]
fn s7_1_a_missing_block_is_one_fault() {
    for block in [Value::Null, json!("x"), json!([])] {
        assert_eq!(tags(&block), ["semantic-missing"]);
    }
}

#[test]
fn s7_1_every_field_is_required() {
    for field in ["intent", "actor", "outcome", "capability", "confidence", "impact", "is_idempotent"] {
        assert_eq!(tags(&with(field, Value::Null)), [format!("semantic-missing-field:{field}")]);
    }
    assert_eq!(tags(&json!({})).len(), 7, "all of them are named at once");
}

#[test]
fn s7_1_sentences_say_something() {
    for field in ["intent", "actor", "outcome", "capability"] {
        for empty in [json!(""), json!("  "), json!(3)] {
            assert_eq!(tags(&with(field, empty)), [format!("semantic-bad-field:{field}")]);
        }
    }
}

#[test]
fn s7_1_the_capability_is_a_category() {
    assert_eq!(tags(&with("capability", json!("compute"))), ["semantic-bad-capability"]);
    for (name, _) in Catalog::shipped().categories() {
        assert!(Semantic::read(&with("capability", json!(name)), &Catalog::shipped()).is_ok());
    }
}

#[test]
fn s7_1_the_confidence_is_from_zero_to_one() {
    for wrong in [json!(-0.01), json!(1.01), json!("0.5"), json!(true), json!([1])] {
        assert_eq!(tags(&with("confidence", wrong)), ["semantic-bad-confidence"]);
    }
    for fine in [json!(0), json!(1), json!(0.0), json!(1.0)] {
        assert!(Semantic::read(&with("confidence", fine), &Catalog::shipped()).is_ok());
    }
}

#[test]
fn s7_1_the_impact_is_one_of_three() {
    for wrong in [json!("harmless"), json!("Reversible"), json!(1)] {
        assert_eq!(tags(&with("impact", wrong)), ["semantic-bad-impact"]);
    }
}

#[test]
fn s7_1_idempotency_is_a_truth_value() {
    assert_eq!(tags(&with("is_idempotent", json!("yes"))), ["semantic-bad-field:is_idempotent"]);
}

#[test]
fn s7_1_any_actor_will_do_and_the_block_reads_back() {
    let block = with("actor", json!("beekeeper"));
    let read = Semantic::read(&block, &Catalog::shipped()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), block);
}
