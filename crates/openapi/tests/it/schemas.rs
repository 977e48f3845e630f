//! Schemas of both dialects, as Draft 2020-12.

use forecourt_contract::endpoint::Binding;
use forecourt_openapi::limits::EXAMPLE_BYTES_MAX;
use serde_json::{Value, json};

use crate::support::{answering, endpoint, imported, one, taking, written};

/// What a schema of an answer becomes, in the dialect of 3.0.
fn of_3_0(schema: Value) -> Value {
    let mut document = one("get", "/a", answering(schema));
    document["openapi"] = json!("3.0.3");
    endpoint(&document).output.source().clone()
}

/// The same in the dialect of 3.1.
fn of_3_1(schema: Value) -> Value {
    endpoint(&one("get", "/a", answering(schema))).output.source().clone()
}

#[test]
fn what_may_be_null_in_3_0_says_so_in_its_type() {
    let cases = [
        (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
        (json!({"type": "string", "nullable": false}), json!({"type": "string"})),
        (
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (
            json!({"nullable": true, "oneOf": [{"type": "string"}]}),
            json!({"anyOf": [{"anyOf": [{"type": "string"}]}, {"type": "null"}]}),
        ),
        (json!({"nullable": true}), json!({})),
    ];
    for (theirs, ours) in cases {
        assert_eq!(of_3_0(theirs.clone()), ours, "{theirs}");
    }
}

#[test]
fn the_values_of_a_text_are_texts() {
    let theirs = json!({"type": "string", "enum": [1, 2.5, true, "on", null]});
    assert_eq!(of_3_0(theirs.clone()), json!({"type": "string", "enum": ["1", "2.5", "true", "on", null]}));
    assert_eq!(of_3_1(theirs)["enum"], json!(["1", "2.5", "true", "on", null]));
    let theirs = json!({"type": ["string", "null"], "enum": [1, "on", null], "default": 1});
    let ours = json!({"type": ["string", "null"], "enum": ["1", "on", null], "default": "1"});
    assert_eq!(of_3_1(theirs), ours);
    assert_eq!(of_3_1(json!({"type": "string", "const": 2})), json!({"type": "string", "const": "2"}));
    for theirs in [
        json!({"type": "integer", "enum": [1, 2], "default": 1}),
        json!({"type": ["string", "integer"], "enum": [1, "on"], "default": 1}),
        json!({"type": "string", "default": [1]}),
    ] {
        assert_eq!(of_3_1(theirs.clone()), theirs);
    }
}

#[test]
fn exclusive_bounds_are_numbers() {
    let theirs =
        json!({"type": "number", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false});
    assert_eq!(of_3_0(theirs), json!({"type": "number", "exclusiveMinimum": 1, "maximum": 9}));
    let theirs = json!({"type": "number", "exclusiveMinimum": 1});
    assert_eq!(of_3_1(theirs.clone()), theirs);
}

#[test]
fn keywords_of_openapi_alone_are_left_out() {
    let theirs = json!({
        "type": "object", "xml": {"name": "x"}, "externalDocs": {}, "discriminator": {"propertyName": "k"},
        "x-internal": true, "example": {"k": 1}, "properties": {"k": {"type": "integer", "format": "int32"}},
    });
    let ours = json!({
        "type": "object", "examples": [{"k": 1}], "properties": {"k": {"type": "integer", "format": "int32"}},
    });
    assert_eq!(of_3_0(theirs), ours);
}

#[test]
fn what_3_1_has_of_json_schema_stays() {
    let theirs = json!({
        "type": ["object", "null"],
        "properties": {
            "kind": {"const": "a"},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
            "map": {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false},
        },
        "dependentRequired": {"pair": ["kind"]},
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["pair"]},
        "unevaluatedProperties": false,
        "examples": [{"kind": "a"}],
    });
    let mut document = one("get", "/a", answering(theirs.clone()));
    document["x-agtp-losses"] = json!([]);
    assert_eq!(endpoint(&document).output.source(), &theirs);
    let ours = of_3_1(theirs);
    assert_eq!(ours.get("unevaluatedProperties"), None, "answers grow: section 13.3");
    assert_eq!(ours["properties"]["map"].get("additionalProperties"), None);
}

#[test]
fn references_are_kept_as_definitions_and_circles_end() {
    let mut document = one("get", "/a", answering(json!({"$ref": "#/components/schemas/Node"})));
    document["components"] = json!({"schemas": {
        "Node": {"type": "object", "properties": {
            "next": {"$ref": "#/components/schemas/Node"},
            "leaf": {"$ref": "#/components/schemas/Leaf", "description": "A leaf."},
        }},
        "Leaf": {"type": "string"},
    }});
    let ours = endpoint(&document).output.source().clone();
    assert_eq!(ours["properties"]["next"], json!({"$ref": "#/$defs/Node"}));
    assert_eq!(ours["properties"]["leaf"], json!({"$ref": "#/$defs/Leaf", "description": "A leaf."}));
    assert_eq!(ours["$defs"]["Leaf"], json!({"type": "string"}));
    document["openapi"] = json!("3.0.0");
    let ours = endpoint(&document).output.source().clone();
    assert_eq!(ours["properties"]["leaf"], json!({"$ref": "#/$defs/Leaf"}), "siblings do not count in 3.0");
}

#[test]
fn two_places_of_one_name_stay_two() {
    let mut document = one(
        "get",
        "/a",
        answering(json!({"type": "object", "properties": {
            "a": {"$ref": "#/components/schemas/X"}, "b": {"$ref": "#/components/other/X"},
        }})),
    );
    document["components"] = json!({"schemas": {"X": {"type": "string"}}, "other": {"X": {"type": "integer"}}});
    let ours = endpoint(&document).output.source().clone();
    assert_eq!(ours["$defs"], json!({"X": {"type": "string"}, "X_2": {"type": "integer"}}));
}

#[test]
fn a_circle_without_an_end_becomes_anything() {
    let mut document = one("get", "/a", answering(json!({"$ref": "#/components/schemas/A"})));
    document["components"] = json!({"schemas": {
        "A": {"allOf": [{"$ref": "#/components/schemas/B"}]}, "B": {"allOf": [{"$ref": "#/components/schemas/A"}]},
        "C": {"$ref": "#/components/schemas/C"},
    }});
    let import = imported(&document);
    let notes = &written(&import.operations[0]).notes.reviews;
    assert!(notes.iter().any(|review| review.text().contains("refers to itself")), "{notes:?}");
    endpoint(&one(
        "get",
        "/a",
        answering(json!({"type": "object", "properties": {"c": {"$ref": "#/components/schemas/C"}}})),
    ));
}

#[test]
fn references_out_of_the_document_take_anything_and_say_so() {
    for outside in ["other.yaml#/X", "https://example.com/x.json", "#/nowhere", "#anchor"] {
        let document = one("get", "/a", answering(json!({"type": "object", "properties": {"a": {"$ref": outside}}})));
        let import = imported(&document);
        let notes = &written(&import.operations[0]).notes.reviews;
        assert!(notes.iter().any(|review| review.text().contains(outside)), "{notes:?}");
    }
}

#[test]
fn what_goes_one_way_only_is_left_out_of_the_other() {
    let schema = json!({"type": "object", "required": ["id", "secret"], "properties": {
        "id": {"type": "integer", "readOnly": true}, "secret": {"type": "string", "writeOnly": true},
        "inner": {"type": "object", "required": ["id"], "properties": {"id": {"readOnly": true}, "n": {}}},
    }});
    let output = of_3_1(schema.clone());
    assert_eq!(output["required"], json!(["id"]));
    assert!(output["properties"].get("secret").is_none());
    let input = endpoint(&one("post", "/a", taking(schema))).input.source().clone();
    assert_eq!(input["required"], json!(["secret"]));
    assert_eq!(input["properties"]["inner"], json!({"type": "object", "properties": {"n": {}}}));
}

#[test]
fn nonsense_in_a_schema_is_left_out() {
    let theirs = json!({
        "type": "date", "minLength": -1, "maximum": "9", "required": true, "enum": [], "pattern": 7, "multipleOf": 0,
        "properties": {"a": 3, "b": {"type": ["string", "nope"]}}, "allOf": [], "items": "x", "format": 1,
    });
    assert_eq!(of_3_1(theirs), json!({"properties": {"a": true, "b": {"type": "string"}}}));
}

#[test]
fn patterns_that_no_linear_engine_runs_are_noted() {
    let document = one(
        "post",
        "/a",
        taking(json!({"properties": {
            "a": {"type": "string", "pattern": "^(?!x)"}, "b": {"type": "string", "pattern": "^[a-z]{1,3}${"},
        }})),
    );
    let import = imported(&document);
    assert!(written(&import.operations[0]).notes.reviews.iter().any(|review| review.text().contains("(?!x)")));
    assert!(endpoint(&document).input.source()["properties"]["a"].get("pattern").is_none());
}

#[test]
fn variables_in_texts_are_no_variables() {
    let document = one(
        "post",
        "/a",
        taking(json!({"properties": {
            "a": {"type": "string", "description": "${HOME} \\ \"q\"\n\u{1}", "default": "$${X}", "pattern": "^\\$\\{[a-z]+\\}$"},
            "${k}": {"type": "string"},
        }})),
    );
    let ours = endpoint(&document).input.source().clone();
    assert_eq!(ours["properties"]["a"]["description"], "${HOME} \\ \"q\"\n\u{1}");
    assert_eq!(ours["properties"]["a"]["default"], "$${X}");
    assert_eq!(ours["properties"]["a"]["pattern"], "^\\$\\{[a-z]+\\}$");
    assert!(ours["properties"].get("k").is_some());
    let Binding::ExternalService(service) = endpoint(&document).binding else { panic!() };
    assert_eq!(service.input_transform["k"], "${k}");
}

#[test]
fn a_schema_with_a_null_or_of_many_lines_lies_beside() {
    let with_null = imported(&one("get", "/a", answering(json!({"enum": ["a", null]}))));
    let files = &written(&with_null.operations[0]).files;
    assert_eq!(
        files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
        ["fetch_a.toml", "fetch_a.output.json"]
    );
    let many: serde_json::Map<_, _> = (0..60).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
    let document = one("post", "/a", taking(json!({ "properties": many })));
    let import = imported(&document);
    assert_eq!(written(&import.operations[0]).files[1].name, "create_a.input.json");
    assert_eq!(endpoint(&document).input.properties().unwrap().len(), 60);
}

#[test]
fn what_is_too_large_is_cut_and_says_so() {
    let many: serde_json::Map<String, Value> = (0..400)
        .map(|n| {
            let next = format!("#/components/schemas/S{}", (n + 1) % 400);
            (format!("S{n}"), json!({"type": "object", "properties": {"a": {"$ref": next}, "b": {"type": "object", "properties": {"c": {"type": "string"}, "d": {"type": "string"}}}}}))
        })
        .collect();
    let mut document = one("get", "/a", answering(json!({"$ref": "#/components/schemas/S0"})));
    document["components"] = json!({ "schemas": many });
    let import = imported(&document);
    let notes = &written(&import.operations[0]).notes.reviews;
    assert!(notes.iter().any(|review| review.text().contains("less is checked")), "{notes:?}");
    let ours = endpoint(&document).output.source().clone();
    assert!(ours["$defs"].as_object().unwrap().len() <= 4, "{ours}");
}

#[test]
fn examples_and_defaults_are_kept_while_they_are_short() {
    let of = |bytes: usize| {
        of_3_1(json!({"type": "string", "example": "x".repeat(bytes - 2), "default": "x".repeat(bytes - 2)}))
    };
    let kept = of(EXAMPLE_BYTES_MAX);
    assert!(kept.get("examples").is_some() && kept.get("default").is_some());
    assert_eq!(of(EXAMPLE_BYTES_MAX + 1), json!({"type": "string"}));
}

/// Two kinds of pets that a discriminator tells apart, and nothing else does.
fn pets() -> Value {
    let kind = |more: &str| json!({"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}, more: {}}});
    json!({"oneOf": [kind("lives"), kind("barks")], "discriminator": {"propertyName": "kind"}})
}

#[test]
fn s14_1_alternatives_may_overlap() {
    let given = endpoint(&one("get", "/a", answering(pets())));
    assert_eq!(given.output.check(&json!({"kind": "cat", "lives": 9})), Ok(()), "it fits both");
    let taken = endpoint(&one("post", "/a", taking(json!({"type": "object", "properties": {"pet": pets()}}))));
    assert_eq!(taken.input.check(&json!({"pet": {"kind": "cat", "lives": 9}})), Ok(()));
    let neither = json!({"pet": {"lives": 9}});
    assert!(taken.input.check(&neither).is_err(), "one of them must fit");
}

#[test]
fn s14_1_what_was_made_of_endpoints_is_meant_to_the_letter() {
    let mut document = one("get", "/a", answering(json!({"oneOf": [{"type": "integer"}, {"minimum": 5}]})));
    document["x-agtp-losses"] = json!([]);
    assert!(endpoint(&document).output.source().get("oneOf").is_some());
}

#[test]
fn s5_3_a_parameter_of_the_path_is_a_text_whatever_the_service_makes_of_it() {
    let parameter = json!({"name": "ids", "in": "path", "required": true, "style": "simple",
        "schema": {"type": "array", "items": {"type": "integer"}}});
    let mut operation = answering(json!({"type": "object"}));
    operation["parameters"] = json!([parameter]);
    let document = one("get", "/a/{ids}", operation);
    let ids = endpoint(&document).input.source()["properties"]["ids"].clone();
    assert_eq!(ids["type"], "string");
    assert_eq!(ids["pattern"], "^(0|-?[1-9][0-9]{0,17})(,(0|-?[1-9][0-9]{0,17}))*$");
    assert!(written(&imported(&document).operations[0]).files[0].text.contains("ids = \"simple\""));
}
