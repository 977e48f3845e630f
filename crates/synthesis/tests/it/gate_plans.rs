//! Endpoints described from their plans, for calls of what is not there. Sections 10.1, 10.5 and 10.7.

use forecourt_contract::semantic::Impact;
use forecourt_contract::{Caller, Catalog, Dispatcher, Method, RequestPath, Schema};
use forecourt_synthesis::Synthesis;
use forecourt_synthesis::plan::for_request;
use forecourt_synthesis::proposal::{ProposalRefusal, RejectionReason};
use forecourt_synthesis::settings::SynthesisSettings;
use serde_json::{Value, json};

use crate::planning::{STEPS_MAX, caller, closed, host, looks, object, open, rejection, semantic};

const STAY: &str = r##"
[[recipe]]
name = "stay"
version = "2"
description = "Looks at a room and books it."
pattern = { name_exact = "RESERVE", path_regex = "/weekends/[^/]+" }
steps = [
    { method = "QUERY", path = "/rooms/{room}", capture_as = "room", parameters = { room = { kind = "proposal", value = "room_id" } } },
    { method = "BOOK", path = "/rooms", parameters = { room_id = { kind = "proposal", value = "room_id" }, guest = { kind = "proposal", value = "guest" }, note = { kind = "proposal", value = "note" }, nights = { kind = "constant", value = 2 } } },
]
[recipe.aggregation]
mode = "MODE"
"##;

fn rooms() -> Vec<forecourt_contract::endpoint::Definition> {
    let look = looks(
        "QUERY",
        "/rooms/{id}",
        closed(json!({"id": {"type": "string", "minLength": 1}}), &["id"]),
        closed(json!({"beds": {"type": "integer"}, "price": {"$ref": "#/$defs/price"}}), &["beds"])
            .as_object()
            .map(|schema| {
                let mut schema = schema.clone();
                schema.insert("$defs".into(), json!({"price": {"type": "number"}}));
                Value::Object(schema)
            })
            .unwrap(),
    );
    let input = json!({
        "type": "object",
        "properties": {
            "room_id": {"$ref": "#/$defs/id"}, "guest": {"type": "string"}, "nights": {"type": "integer"},
            "note": {"type": "string"},
        },
        "required": ["room_id", "guest", "nights"],
        "additionalProperties": false,
        "$defs": {"id": {"type": "string", "maxLength": 40}},
    });
    let mut book =
        looks("BOOK", "/rooms", input, open(json!({"reservation_id": {"type": "string"}}), &["reservation_id"]));
    book.semantic = semantic("irreversible");
    book.semantic["outcome"] = json!("The room is booked.");
    book.required_scopes = vec!["booking:room".into()];
    vec![look, book]
}

fn ask(host: &Dispatcher, pair: (&str, &str), input: Value, caller: &Caller) -> Result<Synthesis, ProposalRefusal> {
    let path = RequestPath::parse(pair.1, &Catalog::shipped()).unwrap();
    let method = Method::parse(pair.0).unwrap();
    for_request(host, &SynthesisSettings::default(), STEPS_MAX, (&method, &path), &object(input), caller)
}

fn stay(mode: &str) -> Synthesis {
    let host = host(rooms(), &STAY.replace("MODE", mode));
    ask(&host, ("RESERVE", "/weekends/w1"), json!({}), &caller("booking:room")).unwrap()
}

#[test]
fn s10_7_the_endpoint_takes_what_its_steps_take_of_the_caller() {
    let made = stay("last");
    let endpoint = &made.endpoint;
    assert_eq!((endpoint.method.as_str(), endpoint.path.as_str()), ("RESERVE", "/weekends/w1"));
    let input = endpoint.input.source();
    assert_eq!(input["required"], json!(["guest", "room_id"]));
    assert_eq!(input["additionalProperties"], json!(false));
    assert_eq!(input["properties"]["note"], json!({"type": "string"}));
    assert!(!input.to_string().contains("$ref"), "{input}");
    let fits = |value: Value| endpoint.input.check(&value).is_ok();
    assert!(
        fits(json!({"room_id": "7", "guest": "Ada"})) && fits(json!({"room_id": "7", "guest": "Ada", "note": "x"}))
    );
    for wrong in [
        json!({"guest": "Ada"}),
        json!({"room_id": "7", "guest": 1}),
        json!({"room_id": "7", "guest": "A", "nights": 3}),
    ] {
        assert!(!fits(wrong.clone()), "{wrong}");
    }
    assert!(!fits(json!({"room_id": "x".repeat(41), "guest": "Ada"})), "both steps take it");
}

#[test]
fn s10_7_the_endpoint_gives_what_its_steps_come_to() {
    let output = |mode: &str| stay(mode).endpoint.output.source().clone();
    assert_eq!(output("last")["required"], json!(["reservation_id"]));
    let merged = output("merge");
    assert_eq!(merged["required"], json!(["beds", "reservation_id"]));
    assert_eq!(merged["properties"]["reservation_id"], json!({"type": "string"}));
    assert_eq!(merged["properties"]["beds"], json!({}), "the last step may say something else of it");
    let list = Schema::output(output("list"), false).unwrap();
    assert!(list.check(&json!([{"beds": 1}, {"reservation_id": "r"}])).is_ok());
    assert!(list.check(&json!([{"beds": 1}])).is_err());
    assert!(list.check(&json!([{"reservation_id": "r"}, {"beds": 1}])).is_err());
}

#[test]
fn s16_2_the_block_says_what_the_steps_do() {
    let made = stay("last");
    let semantic = &made.endpoint.semantic;
    assert_eq!((semantic.impact, semantic.is_idempotent), (Impact::Irreversible, false));
    assert_eq!((semantic.confidence, semantic.capability.as_str()), (0.81, "transaction"));
    assert_eq!(semantic.intent, "Looks at a room and books it.");
    assert!(semantic.outcome.ends_with("The room is booked."));
    assert_eq!(made.endpoint.errors, ["composition_failed"]);
    assert_eq!(made.endpoint.required_scopes[0].as_str(), "booking:room");
    assert_eq!(made.lineage.unwrap().recipe_version, "2");
    assert_eq!(made.log.last().unwrap(), "It calls QUERY /rooms/{room}, then BOOK /rooms.");
}

#[test]
fn s10_7_a_caller_without_a_step_s_scope_gets_none() {
    let host = host(rooms(), &STAY.replace("MODE", "last"));
    let refused = ask(&host, ("RESERVE", "/weekends/w1"), json!({}), &caller("")).unwrap_err();
    assert!(matches!(refused, ProposalRefusal::Scope { missing } if missing[0].as_str() == "booking:room"));
}

#[test]
fn s10_1_what_no_recipe_answers_is_impossible() {
    let host = host(rooms(), &STAY.replace("MODE", "last"));
    for pair in
        [("RESERVE", "/weekends/a/b"), ("RESERVE", "/other"), ("FETCH", "/weekends/w1"), ("RESERVE", "/weekends/{id}")]
    {
        let (reason, _) = rejection(ask(&host, pair, json!({}), &caller("booking:room")));
        assert_eq!(reason, RejectionReason::CompositionImpossible, "{pair:?}");
    }
}

#[test]
fn s5_9_nothing_is_made_under_the_host_s_own_paths() {
    let any = "[[recipe]]\nname = \"any\"\npattern = { path_regex = \".*\" }\nsteps = [{ method = \"QUERY\" }]\n";
    for path in ["/toolset", "/contracts/history"] {
        let (reason, _) = rejection(ask(&host(vec![], any), ("DISCOVER", path), json!({}), &caller("")));
        assert_eq!(reason, RejectionReason::PolicyRefused, "{path}");
    }
}

#[test]
fn base_9_7_parameters_are_what_the_call_gives() {
    let recipes = "[[recipe]]\nname = \"one\"\npattern = { name_exact = \"RESERVE\", has_parameters = [\"guest\"] }\n\
                   steps = [{ method = \"PLAN\", parameters = { goal = { kind = \"proposal\", value = \"guest\" } } }]\n";
    let host = host(vec![], recipes);
    assert!(ask(&host, ("RESERVE", "/x"), json!({}), &caller("")).is_err());
    let made = ask(&host, ("RESERVE", "/x"), json!({"guest": "Ada"}), &caller("")).unwrap();
    assert_eq!(made.endpoint.input.source()["required"], json!(["guest"]), "PLAN can't be called without a goal");
    assert_eq!(made.endpoint.semantic.impact, Impact::Informational);
    assert_eq!(made.endpoint.semantic.intent, "Reserve /x by way of PLAN /.");
}
