//! Plans from recipes, held against what is proposed. Sections 10.5 and 10.6, 6; base protocol, recipes.

use forecourt_synthesis::proposal::RejectionReason;
use serde_json::{Value, json};

use crate::planning::{STEPS_MAX, caller, closed, evaluate, host, host_with, looks, open, proposal, rejection};

/// Takes `id`, which is needed, and `limit`; gives an object with an `order`.
fn orders() -> Vec<forecourt_contract::endpoint::Definition> {
    let order = json!({"type": "object", "properties": {"id": {"type": "string"}, "lines": {"type": "array",
        "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}}}, "required": ["id"]});
    let input = closed(json!({"id": {"type": "string"}, "limit": {"type": "integer"}}), &["id"]);
    vec![
        looks("FETCH", "/orders", input, closed(json!({"order": order}), &["order"])),
        looks(
            "TRACK",
            "/shipments",
            closed(json!({"order_id": {"type": "string"}}), &["order_id"]),
            open(json!({"status": {"type": "string"}}), &["status"]),
        ),
    ]
}

fn recipe(name: &str, steps: &str) -> String {
    format!("[[recipe]]\nname = \"{name}\"\npattern = {{ name_exact = \"FOLLOW\" }}\nsteps = [{steps}]\n")
}

fn propose(recipes: &str, input: Value, output: Value) -> Result<String, String> {
    let found = evaluate(&host(orders(), recipes), proposal("FOLLOW", "/parcels", input, output), &caller(""));
    match found {
        Ok(made) => Ok(made.lineage.unwrap().recipe_name),
        Err(_) => {
            let (reason, explanation) = rejection(found);
            assert_eq!(reason, RejectionReason::CompositionImpossible);
            Err(explanation)
        }
    }
}

const FETCH: &str = "{ method = \"FETCH\", path = \"/orders\", capture_as = \"found\", parameters = { id = { kind = \
                     \"proposal\", value = \"order\" } } }";

fn order() -> Value {
    closed(json!({"order": {"type": "string"}}), &["order"])
}

#[test]
fn base_9_7_the_first_recipe_that_matches_and_leads_somewhere_wins() {
    let gone = recipe("gone", "{ method = \"FETCH\", path = \"/nowhere\" }");
    let recipes = gone.clone() + &recipe("first", FETCH) + &recipe("second", FETCH);
    assert_eq!(propose(&recipes, order(), json!({})).as_deref(), Ok("first"));
    assert!(propose(&gone, order(), json!({})).unwrap_err().contains("calls FETCH /nowhere, which nothing answers"));
}

#[test]
fn base_9_7_a_plan_longer_than_the_bound_is_skipped() {
    let steps = |count: usize| vec![FETCH.replace(", capture_as = \"found\"", ""); count].join(", ");
    assert!(propose(&recipe("long", &steps(STEPS_MAX)), order(), json!({})).is_ok());
    let long = recipe("long", &steps(STEPS_MAX + 1));
    assert!(propose(&long, order(), json!({})).unwrap_err().contains("at most 8"));
    assert_eq!(propose(&(long + &recipe("short", FETCH)), order(), json!({})).as_deref(), Ok("short"));
}

#[test]
fn s9_a_step_that_the_policy_refuses_is_no_step() {
    let recipes = recipe("refused", FETCH);
    let host = host_with(orders(), &recipes, json!({"disallow": ["FETCH"]}));
    let (_, explanation) = rejection(evaluate(&host, proposal("FOLLOW", "/parcels", order(), json!({})), &caller("")));
    assert!(explanation.contains("which nothing answers"), "{explanation}");
}

#[test]
fn s10_6_6_what_a_step_needs_is_what_the_proposal_gives() {
    let recipes = recipe("one", FETCH);
    let other = closed(json!({"number": {"type": "string"}}), &["number"]);
    let explanation = propose(&recipes, other, json!({})).unwrap_err();
    assert!(explanation.contains("needs `id`, which comes from `order` of the proposed input"), "{explanation}");
    let number = closed(json!({"order": {"type": "integer"}}), &["order"]);
    assert!(propose(&recipes, number, json!({})).unwrap_err().contains("takes `id` of another type"));
    let loose = closed(json!({"order": {}}), &[]);
    assert!(propose(&recipes, loose, json!({})).is_ok(), "what nobody knows is not refused");
}

#[test]
fn s10_6_6_what_a_step_is_given_is_what_it_takes() {
    let with = |parameters: &str| {
        let step = format!("{{ method = \"FETCH\", path = \"/orders\", parameters = {{ {parameters} }} }}");
        propose(&recipe("one", &step), order(), json!({}))
    };
    let id = "id = { kind = \"proposal\", value = \"order\" }";
    assert!(with("").unwrap_err().contains("needs `id`, which the recipe does not give it"));
    assert!(
        with(&format!("{id}, colour = {{ kind = \"constant\", value = 1 }}"))
            .unwrap_err()
            .contains("takes no `colour`")
    );
    assert!(
        with(&format!("{id}, limit = {{ kind = \"constant\", value = \"x\" }}")).unwrap_err().contains("no string")
    );
    assert!(with(&format!("{id}, limit = {{ kind = \"proposal\", value = \"max\" }}")).is_ok(), "it can do without");
}

#[test]
fn s12_1_a_step_takes_a_member_of_an_earlier_result() {
    let then = |value: &str| {
        let step = "{ method = \"TRACK\", path = \"/shipments\", parameters = { order_id = { kind = \"previous_step\", \
                    value = VALUE } } }";
        propose(&recipe("two", &format!("{FETCH}, {}", step.replace("VALUE", value))), order(), json!({}))
    };
    for fine in ["\"found.order.id\"", "\"found.order.lines.0.sku\"", "{ step = \"found\", pointer = \"/order/id\" }"] {
        assert!(then(fine).is_ok(), "{fine}: {:?}", then(fine));
    }
    assert!(then("\"found.order.lines\"").unwrap_err().contains("another type"));
    assert!(then("\"found\"").unwrap_err().contains("another type"));
    assert!(then("\"found.customer\"").unwrap_err().contains("that is not declared"));
}

#[test]
fn s10_6_6_what_the_steps_come_to_is_what_was_proposed() {
    let recipes = recipe("one", FETCH);
    let wanting = |output: Value| propose(&recipes, order(), output);
    assert!(wanting(open(json!({"order": {"type": "object"}}), &["order"])).is_ok());
    for other in [
        json!({"type": "array"}),
        open(json!({"total": {"type": "number"}}), &["total"]),
        open(json!({"order": {"type": "string"}}), &["order"]),
    ] {
        assert!(wanting(other).unwrap_err().contains("not what the proposed output declares"));
    }
    let list = recipes + "aggregation = { mode = \"list\" }\n";
    assert!(propose(&list, order(), json!({"type": "array"})).is_ok());
    assert!(propose(&list, order(), json!({"type": "object"})).is_err());
}

#[test]
fn s12_1_a_result_is_made_of_fields() {
    let recipes =
        recipe("one", FETCH) + "[recipe.aggregation]\nmode = \"fields\"\nfields = { id = \"found.order.id\" }\n";
    assert!(propose(&recipes, order(), closed(json!({"id": {"type": "string"}}), &["id"])).is_ok());
    assert!(propose(&recipes, order(), closed(json!({"id": {"type": "integer"}}), &["id"])).is_err());
    assert!(propose(&recipes, order(), open(json!({}), &["number"])).is_err());
}

#[test]
fn s6_1_the_host_s_own_methods_are_steps() {
    let steps = "{ method = \"QUERY\", capture_as = \"found\", parameters = { intent = { kind = \"proposal\", value = \
                 \"order\" } } }, { method = \"SUMMARIZE\", parameters = { source = { kind = \"previous_step\", value = \
                 \"found.results\" } } }";
    assert!(propose(&recipe("native", steps), order(), json!({})).is_ok());
}
