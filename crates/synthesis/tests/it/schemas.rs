//! Plans out of registered endpoints, by their schemas. Section 10.7.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use forecourt_contract::endpoint::Definition;
use forecourt_contract::recipe::Run;
use forecourt_contract::semantic::Impact;
use forecourt_contract::{Dispatcher, RequestPath};
use forecourt_synthesis::Synthesis;
use forecourt_synthesis::proposal::{ProposalRefusal, RejectionReason};
use forecourt_synthesis::settings::{PlanSource, SynthesisSettings};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::planning::{
    STEPS_MAX, caller, closed, evaluate_with, host, host_with, looks, object, open, proposal, rejection, semantic, with,
};

fn settings() -> SynthesisSettings {
    SynthesisSettings { policies: vec![PlanSource::Recipes, PlanSource::Schemas], ..SynthesisSettings::default() }
}

fn made(host: &Dispatcher, parameters: Value) -> Result<Synthesis, ProposalRefusal> {
    evaluate_with(host, parameters, &caller("shop:read"), &settings())
}

fn text() -> Value {
    json!({"type": "string"})
}

/// From a customer's number to a customer, from there to an invoice, from there to what is owed.
fn shop() -> Vec<Definition> {
    vec![
        looks(
            "FETCH",
            "/customers/{number}",
            closed(json!({"number": text()}), &["number"]),
            open(json!({"customer_key": text(), "email": text()}), &["customer_key"]),
        ),
        looks(
            "FETCH",
            "/invoices",
            closed(json!({"customer_key": text(), "year": {"type": "integer"}}), &["customer_key"]),
            open(json!({"invoice_key": text(), "due": text()}), &["invoice_key"]),
        ),
        looks(
            "CALCULATE",
            "/debts",
            closed(json!({"invoice_key": text()}), &["invoice_key"]),
            open(json!({"owed": {"type": "number"}}), &["owed"]),
        ),
        looks(
            "FETCH",
            "/weather",
            closed(json!({"place": text()}), &["place"]),
            open(json!({"rain": {"type": "number"}}), &["rain"]),
        ),
    ]
}

/// What a customer owes, by number.
fn owed() -> Value {
    let input = closed(json!({"number": text(), "year": {"type": "integer"}}), &["number"]);
    let proposed = proposal("ASSESS", "/debtors", input, open(json!({"owed": {"type": "number"}}), &["owed"]));
    let said = with(proposed, "description", json!("Say how large the debt of an invoice of a customer is."));
    with(said, "semantic", semantic("informational"))
}

#[test]
fn s10_7_a_plan_is_put_together_from_what_is_registered() {
    let made = made(&host(shop(), ""), owed()).unwrap();
    let steps: Vec<String> =
        made.plan.steps.iter().map(|step| format!("{} {}", step.method, step.path.as_ref().unwrap())).collect();
    assert_eq!(steps, ["FETCH /customers/{number}", "FETCH /invoices", "CALCULATE /debts"]);
    assert_eq!(made.lineage, None);
    let taken = "   takes `invoice_key` (invoice.key) from `invoice_key` of FETCH /invoices";
    assert!(made.log.iter().any(|line| line == taken), "{:#?}", made.log);
    let parameters = &made.plan.steps[1].parameters;
    assert!(parameters.contains_key("year"), "what the caller may give goes along");
    assert!((made.endpoint.semantic.confidence - 0.729).abs() < 1e-9);
}

#[test]
fn s10_7_it_is_off_unless_it_is_listed() {
    let refused = evaluate_with(&host(shop(), ""), owed(), &caller(""), &SynthesisSettings::default());
    assert_eq!(rejection(refused).0, RejectionReason::CompositionImpossible);
}

#[test]
fn s10_7_recipes_go_before_it_in_the_order_of_the_settings() {
    let recipe = "[[recipe]]\nname = \"own\"\npattern = { name_exact = \"ASSESS\" }\nsteps = [{ method = \"CALCULATE\", \
                  path = \"/debts\", parameters = { invoice_key = { kind = \"proposal\", value = \"number\" } } }]\n";
    let host = host(shop(), recipe);
    assert_eq!(made(&host, owed()).unwrap().lineage.unwrap().recipe_name, "own");
    let settings = SynthesisSettings { policies: vec![PlanSource::Schemas, PlanSource::Recipes], ..settings() };
    assert_eq!(evaluate_with(&host, owed(), &caller(""), &settings).unwrap().lineage, None);
}

#[test]
fn s10_7_several_results_make_one_that_has_what_was_wanted_and_no_more() {
    let output = closed(json!({"owed": {"type": "number"}, "customer_key": text()}), &["owed", "customer_key"]);
    let made = made(&host(shop(), ""), with(owed(), "output_schema", output)).unwrap();
    let mut run = Run::new(made.plan, object(json!({"number": "7"})));
    for result in [json!({"customer_key": "c", "email": "secret"}), json!({"invoice_key": "i"}), json!({"owed": 3})] {
        run.next_call().unwrap().unwrap();
        run.record(result);
    }
    assert_eq!(run.finish(), json!({"customer_key": "c", "owed": 3}));
}

#[test]
fn s10_7_nothing_is_called_that_the_caller_could_not_call() {
    let mut endpoints = shop();
    endpoints[1].required_scopes = vec!["shop:read".into()];
    let host = host(endpoints, "");
    assert!(made(&host, owed()).is_ok());
    let refused = evaluate_with(&host, owed(), &caller("shop:write"), &settings());
    let Err(ProposalRefusal::Scope { missing }) = refused else { panic!("{refused:?}") };
    assert_eq!(missing.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(), ["shop:read"], "10.7");
    let host = host_with(shop(), "", json!({"disallow": ["CALCULATE"]}));
    assert!(made(&host, owed()).is_err());
    let host = host_with(shop(), "", json!({"redirects": [{"from_method": "CALCULATE", "to_method": "FETCH"}]}));
    assert!(made(&host, owed()).is_err());
}

#[test]
fn s16_2_nothing_is_called_that_does_more_than_was_proposed() {
    for impact in ["reversible", "irreversible"] {
        let mut endpoints = shop();
        endpoints[2].semantic = semantic(impact);
        let host = host(endpoints, "");
        assert_eq!(rejection(made(&host, owed())).0, RejectionReason::CompositionImpossible, "{impact}");
        // To assess is not to calculate: what changes something is the act that is named, or nothing.
        let other = with(owed(), "semantic", semantic(impact));
        assert_eq!(rejection(made(&host, other.clone())).0, RejectionReason::CompositionImpossible, "{impact}");
        assert!(made(&host, with(other, "method", json!("CALCULATE"))).is_ok(), "{impact}");
    }
}

#[test]
fn s10_7_two_plans_that_are_as_good_are_named_and_none_is_chosen() {
    let debts = |path: &str| {
        looks(
            "CALCULATE",
            path,
            closed(json!({"invoice_key": text()}), &["invoice_key"]),
            open(json!({"owed": {"type": "number"}}), &["owed"]),
        )
    };
    let mut endpoints = shop();
    endpoints[2] = debts("/a/debts");
    endpoints.push(debts("/b/debts"));
    let (reason, explanation) = rejection(made(&host(endpoints.clone(), ""), owed()));
    assert_eq!(reason, RejectionReason::Ambiguous);
    assert!(explanation.contains("/a/debts") && explanation.contains("/b/debts"), "{explanation}");
    // How sure an endpoint is says nothing of which is meant.
    endpoints[4].semantic["confidence"] = json!(0.95);
    assert_eq!(rejection(made(&host(endpoints, ""), owed())).0, RejectionReason::Ambiguous);
}

#[test]
fn s10_7_types_line_up_or_nothing_does() {
    let with_types = |given: &Value, taken: &Value| {
        let mut endpoints = shop();
        endpoints[1].output_schema = Some(open(json!({"invoice_key": given}), &["invoice_key"]));
        endpoints[2].input_schema = Some(closed(json!({"invoice_key": taken}), &["invoice_key"]));
        made(&host(endpoints, ""), owed())
    };
    for (given, taken) in [
        (json!({"type": "number"}), json!({"type": "string"})),
        (json!({"type": "array", "items": text()}), json!({"type": "string"})),
        (json!({"enum": [1, 2]}), json!({"type": "string"})),
    ] {
        assert!(with_types(&given, &taken).is_err(), "{given} is never {taken}");
    }
    // Bounds are checked by the call, and what may be absent is missed then.
    for (given, taken) in [
        (json!({"type": ["string", "null"]}), json!({"type": "string"})),
        (json!({}), json!({"type": "string"})),
        (text(), json!({"type": "string", "minLength": 8, "pattern": "^i"})),
    ] {
        assert!(with_types(&given, &taken).is_ok(), "{given} may be {taken}");
    }
}

#[test]
fn s10_7_a_name_is_not_the_thing() {
    let of = |path: &str| {
        looks(
            "FETCH",
            path,
            closed(json!({"order_id": text()}), &["order_id"]),
            open(json!({"email": text()}), &["email"]),
        )
    };
    let host = host(vec![of("/customers/of/{order_id}"), of("/suppliers/of/{order_id}")], "");
    let email = |said: &str| {
        let proposed = proposal(
            "FETCH",
            "/addresses/{order_id}",
            closed(json!({"order_id": text()}), &["order_id"]),
            open(json!({"email": text()}), &["email"]),
        );
        made(&host, with(with(proposed, "description", json!(said)), "semantic", semantic("informational")))
    };
    assert!(email("Get an email address.").is_err(), "nothing says whose");
}

#[test]
fn s10_7_what_the_caller_must_give_is_used() {
    let input = closed(json!({"number": text(), "reason": text()}), &["number", "reason"]);
    let refused = made(&host(shop(), ""), with(owed(), "input_schema", input));
    assert_eq!(rejection(refused).0, RejectionReason::CompositionImpossible);
}

#[test]
fn s10_7_a_name_that_says_nothing_means_the_same_within_one_resource_alone() {
    let endpoints = |second: &str| {
        vec![
            looks(
                "FIND",
                "/customers",
                closed(json!({"number": text()}), &["number"]),
                open(json!({"id": text()}), &["id"]),
            ),
            looks(
                "CALCULATE",
                second,
                closed(json!({"id": text()}), &["id"]),
                open(json!({"owed": {"type": "number"}}), &["owed"]),
            ),
        ]
    };
    let input = closed(json!({"number": text()}), &["number"]);
    let proposed = with(owed(), "input_schema", input);
    assert!(made(&host(endpoints("/customers/{id}/debts"), ""), proposed.clone()).is_ok());
    assert!(made(&host(endpoints("/orders-of/{id}"), ""), proposed).is_err(), "a customer's id is no order's");
}

#[test]
fn s10_7_an_output_that_requires_nothing_is_no_goal() {
    let refused = made(&host(shop(), ""), with(owed(), "output_schema", json!({"type": "object"})));
    assert!(rejection(refused).1.contains("declares nothing"));
}

/// A chain of endpoints, each of which takes what the one before gives.
fn chain(links: usize) -> Vec<Definition> {
    let link = |at: usize| {
        let (from, to) = (format!("k{at}_id"), format!("k{}_id", at + 1));
        looks(
            "FETCH",
            &format!("/l{at}"),
            closed(json!({ from.clone(): text() }), &[&from]),
            open(json!({ to.clone(): text() }), &[&to]),
        )
    };
    (0..links).map(link).collect()
}

fn along(links: usize) -> Value {
    let to = format!("k{links}_id");
    let proposed = proposal(
        "ASSESS",
        "/debtors",
        closed(json!({"k0_id": text()}), &["k0_id"]),
        open(json!({ to.clone(): text() }), &[&to]),
    );
    with(proposed, "semantic", semantic("informational"))
}

#[test]
fn s10_7_a_search_has_bounds() {
    let host = host(chain(STEPS_MAX + 1), "");
    assert_eq!(made(&host, along(STEPS_MAX)).unwrap().plan.steps.len(), STEPS_MAX);
    assert!(made(&host, along(STEPS_MAX + 1)).is_err());
    // Many endpoints, each of which leads anywhere: there is an end, soon, and it is the same one every time.
    let properties: Map<String, Value> = (0..6).map(|at| (format!("k{at}_id"), text())).collect();
    let all = |at: usize| {
        let from = format!("k{}_id", at % 5);
        looks(
            "FETCH",
            &format!("/w{at}"),
            closed(json!({ from.clone(): text() }), &[&from]),
            closed(json!(properties), &["k1_id", "k2_id", "k3_id", "k4_id"]),
        )
    };
    let wide = self::host((0..250).map(all).collect(), "");
    let started = Instant::now();
    let (reason, explanation) = rejection(made(&wide, along(5)));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(rejection(made(&wide, along(5))), (reason, explanation));
}

/// The schemas of the property test, by their places; none fits all others.
fn schema(at: usize) -> Value {
    let all = [
        text(),
        json!({"type": "string", "minLength": 2}),
        json!({"type": "string", "enum": ["ab", "cd"]}),
        json!({"type": "integer"}),
        json!({"type": "integer", "minimum": 0, "maximum": 9}),
        json!({"type": "number"}),
        json!({"type": "boolean"}),
        json!({"type": ["string", "null"]}),
        json!({"type": "array", "items": {"type": "string", "minLength": 2}}),
        json!({"type": "array", "items": text(), "maxItems": 3}),
        closed(json!({"x": text(), "y": {"type": "integer"}}), &["x"]),
        open(json!({"x": text()}), &["x"]),
        json!({"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["ab"]}]}),
        json!({"$ref": "#/$defs/key"}),
        json!({}),
    ];
    all[at % all.len()].clone()
}

/// Some value that keeps a schema; which one is for `choice` to say.
fn value(schema: &Value, choice: &mut u64) -> Value {
    let mut next = |of: u64| {
        *choice = choice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*choice >> 33) % of
    };
    if let Some(values) = schema["enum"].as_array() {
        return values[usize::try_from(next(values.len() as u64)).unwrap()].clone();
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        let branch = branches[usize::try_from(next(branches.len() as u64)).unwrap()].clone();
        return value(&branch, choice);
    }
    if schema.get("$ref").is_some() {
        return json!("ef");
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[usize::try_from(next(kinds.len() as u64)).unwrap()].clone(),
        kind => kind.clone(),
    };
    match kind.as_str() {
        Some("string") if schema.get("minLength").is_some() => json!("long"),
        Some("string") => json!(["v", "with blank/and slash", "7", "true"][usize::try_from(next(4)).unwrap()]),
        Some("integer") => json!(next(10)),
        Some("number") => json!([0.5, 3.0, 1e21][usize::try_from(next(3)).unwrap()]),
        Some("boolean") => json!(next(2) == 0),
        Some("null") => Value::Null,
        Some("array") => {
            let count = next(3);
            (0..count).map(|_| value(&schema["items"], choice)).collect()
        }
        Some("object") => {
            let required: Vec<String> = serde_json::from_value(schema["required"].clone()).unwrap_or_default();
            let mut fields = Map::new();
            for (name, of) in schema["properties"].as_object().into_iter().flatten() {
                if required.contains(name) || value(&json!({"type": "boolean"}), choice) == json!(true) {
                    fields.insert(name.clone(), value(of, choice));
                }
            }
            if schema.get("additionalProperties").is_none() {
                // What nobody declared may be there.
                for name in NAMES.into_iter().filter(|name| schema["properties"].get(*name).is_none()) {
                    fields.entry(name).or_insert(json!({"un": "declared"}));
                }
            }
            Value::Object(fields)
        }
        _ => [json!(1), json!("any"), json!([]), Value::Null][usize::try_from(next(4)).unwrap()].clone(),
    }
}

const NAMES: [&str; 6] = ["ticket_id", "account_id", "region_id", "e1_amount", "id", "note"];

/// Members by name: which schema where it is not the one that the name mostly has, and whether it is always there.
type Members = BTreeMap<usize, (Option<usize>, bool)>;

fn members(max: usize) -> impl Strategy<Value = Members> {
    let which = prop::option::weighted(0.25, 0..15_usize);
    prop::collection::btree_map(0..NAMES.len(), (which, prop::bool::weighted(0.85)), 1..=max)
}

fn schema_of(members: &Members, mostly: &[usize], is_open: bool, is_strict: bool) -> Value {
    let of = |name: usize, which: Option<usize>| schema(which.unwrap_or(mostly[name]));
    let properties: Map<String, Value> =
        members.iter().map(|(name, (which, _))| (NAMES[*name].to_owned(), of(*name, *which))).collect();
    let required: Vec<&str> =
        members.iter().filter(|(_, (_, always))| *always || is_strict).map(|(name, _)| NAMES[*name]).collect();
    let mut schema = if is_open { open(json!(properties), &required) } else { closed(json!(properties), &required) };
    schema["$defs"] = json!({"key": {"type": "string", "minLength": 2}});
    schema
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn s10_7_a_plan_only_looks_and_gives_only_what_was_proposed_whatever_its_endpoints_answer(
        mostly in prop::collection::vec(0..15_usize, NAMES.len()),
        endpoints in prop::collection::vec((members(1), members(2), any::<bool>(), any::<bool>(), any::<bool>()), 6..16),
        input in members(1),
        output in members(2),
        is_open: bool,
        seed: u64,
    ) {
        let define = |(at, (takes, gives, is_open, in_path, changes)): (usize, (Members, Members, bool, bool, bool))| {
            let first = takes.keys().next().copied().filter(|_| in_path).map(|name| NAMES[name]);
            let path = first.map_or_else(|| format!("/e{at}"), |name| format!("/e{at}/{{{name}}}"));
            let input = schema_of(&takes, &mostly, false, false);
            let mut definition = looks("FETCH", &path, input, schema_of(&gives, &mostly, is_open, false));
            if changes {
                definition.semantic = semantic("irreversible");
            }
            definition
        };
        let host = host(endpoints.into_iter().enumerate().map(define).collect(), "");
        let proposed = proposal("ASSESS", "/debtors", schema_of(&input, &mostly, false, true), schema_of(&output, &mostly, is_open, true));
        let Ok(made) = made(&host, with(proposed, "semantic", semantic("informational"))) else { return Ok(()) };
        let mut choice = seed;
        for _ in 0..4 {
            let given = value(made.endpoint.input.source(), &mut choice);
            let mut run = Run::new(made.plan.clone(), object(given));
            while let Some(call) = run.next_call() {
                // What an answer may leave out can be missing in a path.
                let Ok(call) = call else { return Ok(()) };
                let path = RequestPath::parse(&call.path, &host.catalog).unwrap();
                let found = host.registry.find(&call.method, &path).unwrap();
                let endpoint = &found.registered.endpoint;
                prop_assert_eq!(endpoint.semantic.impact, Impact::Informational);
                let answer = value(endpoint.output.source(), &mut choice);
                run.record(answer);
            }
            let result = run.finish();
            for name in result.as_object().unwrap().keys() {
                prop_assert!(made.endpoint.output.declares(name), "{name}");
            }
        }
    }
}
