//! Sections 6.4 and 13.3: schemas, strict on the way in and permissive on the way out.

use forecourt_contract::limits::{
    CHECKS_MAX, PATTERN_BYTES_MAX, PATTERNS_MAX, SCHEMA_BYTES_MAX, SCHEMA_CHAIN_MAX, SCHEMA_DEPTH_MAX, SUBSCHEMAS_MAX,
    VIOLATION_CHARS_MAX,
};
use forecourt_contract::schema::{Formats, SchemaError};
use forecourt_contract::{Schema, Violation};
use proptest::prelude::*;
use serde_json::{Value, json};

fn input(properties: Value) -> Schema {
    Schema::input(json!({ "type": "object", "properties": properties, "additionalProperties": false })).unwrap()
}

fn violation(schema: &Schema, value: Value) -> Violation {
    schema.check(&value).expect_err(&value.to_string())
}

fn fault(schema: Value) -> SchemaError {
    Schema::compile(schema).expect_err("refused")
}

#[test]
fn s6_4_an_input_is_declared_an_object() {
    for schema in [json!({}), json!(true), json!(false), json!({"type": "array"}), json!({"type": ["object"]})] {
        assert_eq!(Schema::input(schema).unwrap_err(), SchemaError::NotAnObject);
    }
}

#[test]
fn s6_4_an_input_is_closed() {
    for rest in [json!({}), json!({"additionalProperties": true}), json!({"additionalProperties": {}})] {
        let mut schema = json!({"type": "object", "properties": {"a": {}}});
        schema.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        assert_eq!(Schema::input(schema).unwrap_err(), SchemaError::NotStrict);
    }
}

#[test]
fn s13_3_an_undeclared_field_is_refused_by_its_name() {
    let schema = input(json!({"a": {"type": "integer"}}));
    assert!(schema.check(&json!({"a": 1})).is_ok());
    let found = violation(&schema, json!({"a": 1, "zz/z~": 1}));
    assert_eq!((found.field.as_str(), found.schema_path.as_str()), ("/zz~1z~0", "/additionalProperties"));
}

#[test]
fn s13_3_strictness_goes_all_the_way_down() {
    let schema = input(json!({
        "plain": {"type": "object", "properties": {"x": {}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"x": {}}}},
        "both": {"allOf": [{"properties": {"x": {}}}, {"properties": {"y": {}}}]},
        "open": {"type": "object", "properties": {"x": {}}, "additionalProperties": true},
        "free": {"type": "object"},
    }));
    assert_eq!(violation(&schema, json!({"plain": {"y": 1}})).field, "/plain/y");
    assert_eq!(violation(&schema, json!({"list": [{"x": 1}, {"z": 1}]})).field, "/list/1/z");
    assert_eq!(violation(&schema, json!({"both": {"x": 1, "y": 2, "z": 3}})).field, "/both/z");
    for fine in [json!({"both": {"x": 1, "y": 2}}), json!({"open": {"y": 1}}), json!({"free": {"y": 1}})] {
        assert_eq!(schema.check(&fine), Ok(()));
    }
}

#[test]
fn s13_3_strictness_follows_references() {
    let mut schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"to": {"$ref": "#/$defs/address"}, "via": {"items": {"$ref": "#/$defs/address"}}},
        "$defs": {"address": {"anyOf": [{"$ref": "#/$defs/street"}, {"$ref": "#/$defs/box"}]},
                  "street": {"properties": {"street": {}}, "required": ["street"]},
                  "box": {"properties": {"box": {}}, "required": ["box"]}},
    });
    let compiled = Schema::input(schema.clone()).unwrap();
    assert_eq!(compiled.check(&json!({"to": {"street": 1}, "via": [{"box": 2}]})), Ok(()));
    assert_eq!(violation(&compiled, json!({"via": [{"box": 2, "x": 1}]})).field, "/via/0/x");
    assert_eq!(*compiled.source(), schema, "what is published is what was declared");
    schema["properties"]["to"] = json!({"not": {"properties": {"x": {"const": 1}}, "required": ["x"]}});
    let negated = Schema::input(schema).unwrap();
    assert!(negated.check(&json!({"to": {"x": 1, "y": 2}})).is_err(), "closing what is negated would open it");
}

#[test]
fn s13_3_a_packed_schema_holds_what_it_held() {
    let source = json!({
        "type": "object", "additionalProperties": false, "required": ["day"],
        "properties": {"day": {"type": "string", "format": "date"}, "code": {"type": "string", "pattern": "^[a-z]+$"},
                       "to": {"properties": {"x": {}}}},
    });
    let whole = Schema::input(source.clone()).unwrap().with_formats(Formats::Check);
    let packed = whole.clone().packed();
    assert_eq!(packed.shared_source().text(), Some(source.to_string().as_str()));
    assert!(packed.is_object() && !Schema::compile(json!({"type": ["object"]})).unwrap().packed().is_object());
    for value in [
        json!({"day": "2026-02-28", "code": "a", "to": {"x": 1}}),
        json!({"day": "2026-02-30"}),
        json!({"day": "2026-02-28", "code": "A"}),
        json!({"day": "2026-02-28", "to": {"y": 1}}),
        json!({}),
    ] {
        assert_eq!(packed.check(&value), whole.check(&value), "{value}");
    }
    assert_eq!((packed.source(), packed.types_of("code")), (&source, vec!["string"]));
}

#[test]
fn s13_3_conditions_are_left_as_they_were_written() {
    let nested =
        json!({"properties": {"kind": {"properties": {"x": {"const": 1}}, "required": ["x"]}}, "required": ["kind"]});
    let schema = Schema::input(json!({
        "type": "object", "additionalProperties": false, "properties": {"kind": {"type": "object"}, "list": {}},
        "if": nested, "then": false,
        "not": {"properties": {"kind": {"properties": {"y": {"const": 1}}, "required": ["y"]}}, "required": ["kind"]},
    }));
    let schema = schema.unwrap();
    for dodge in [json!({"kind": {"x": 1, "more": 1}}), json!({"kind": {"y": 1, "more": 1}})] {
        assert!(schema.check(&dodge).is_err(), "{dodge}");
    }
    assert_eq!(schema.check(&json!({"kind": {"z": 1}})), Ok(()));
}

#[test]
fn s13_3_an_output_lets_more_through_unless_it_is_made_strict() {
    let silent = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let mut open = silent.clone();
    open["additionalProperties"] = json!(true);
    for declared in [silent, open] {
        let permissive = Schema::output(declared.clone(), false).unwrap();
        assert_eq!(permissive.check(&json!({"id": "1", "more": 1})), Ok(()));
        assert_eq!(violation(&permissive, json!({"more": 1})).field, "/id");
        let strict = Schema::output(declared, true).unwrap();
        assert_eq!(violation(&strict, json!({"id": "1", "more": 1})).field, "/more");
        assert_eq!(strict.check(&json!({"id": "1"})), Ok(()));
    }
}

#[test]
fn s6_4_a_format_refuses_nothing_as_in_its_draft() {
    let schema =
        input(json!({"id": {"type": "string", "format": "uuid"}, "day": {"type": "string", "format": "date"}}));
    assert_eq!(schema.check(&json!({"id": "seven", "day": "2026-02-30"})), Ok(()));
    assert_eq!(violation(&schema, json!({"id": 7})).field, "/id");
}

#[test]
fn a_violation_names_the_place_and_does_not_repeat_the_value() {
    let schema = input(json!({"a": {"type": "array", "items": {"type": "string", "maxLength": 3}}}));
    let found = violation(&schema, json!({"a": ["x", "secret!"]}));
    assert_eq!((found.field.as_str(), found.schema_path.as_str()), ("/a/1", "/properties/a/items/maxLength"));
    assert!(!found.detail.contains("secret"), "{}", found.detail);
    let long = violation(&schema, json!({"x".repeat(10_000): 1}));
    assert!(long.detail.chars().count() <= VIOLATION_CHARS_MAX + 1);
}

#[test]
fn nothing_in_a_schema_leads_out_of_it() {
    for reference in ["https://evil.example/s.json", "file:///etc/passwd", "x.json", "//evil.example", "", "other#/a"] {
        assert_eq!(fault(json!({"$ref": reference})), SchemaError::Reference(reference.into()));
        assert_eq!(fault(json!({"$dynamicRef": reference})), SchemaError::Reference(reference.into()));
    }
    assert_eq!(fault(json!({"$ref": "#/$defs/none"})), SchemaError::Reference("#/$defs/none".into()));
    assert_eq!(fault(json!({"$ref": "#none"})), SchemaError::Reference("#none".into()));
    assert_eq!(fault(json!({"$ref": "#/enum/0", "enum": [{}]})), SchemaError::Reference("#/enum/0".into()));
    assert_eq!(fault(json!({"$schema": "https://evil.example/meta"})), SchemaError::Dialect);
    assert_eq!(fault(json!({"$schema": "http://json-schema.org/draft-07/schema#"})), SchemaError::Dialect);
    assert_eq!(fault(json!({"items": {"$id": "https://evil.example/"}})), SchemaError::NestedId);
}

#[test]
fn a_circle_is_refused_and_recursion_is_not() {
    assert_eq!(fault(json!({"$ref": "#"})), SchemaError::Circular("#".into()));
    let mutual = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}});
    assert!(matches!(fault(mutual), SchemaError::Circular(_)));
    let list = Schema::compile(json!({"type": "object", "properties": {"next": {"$ref": "#"}}})).unwrap();
    assert_eq!(list.check(&json!({"next": {"next": {}}})), Ok(()));
    assert_eq!(violation(&list, json!({"next": {"next": 1}})).field, "/next/next");
}

#[test]
fn work_that_multiplies_is_refused_before_it_is_done() {
    let mut defs = serde_json::Map::new();
    for at in 0..14 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        defs.insert(format!("d{at}"), json!({"allOf": [next, next]}));
    }
    defs.insert("d14".into(), json!({"type": "string"}));
    assert_eq!(fault(json!({"$defs": defs.clone(), "$ref": "#/$defs/d0"})), SchemaError::TooMuchWork);
    let inside = json!({"$defs": defs, "items": {"$ref": "#/$defs/d0"}});
    assert_eq!(fault(inside), SchemaError::TooMuchWork);
}

#[test]
fn work_that_multiplies_by_level_ends_with_the_level() {
    let twice = json!({"anyOf": [{"properties": {"n": {"$ref": "#"}}}, {"properties": {"n": {"$ref": "#"}}}]});
    let schema = Schema::compile(twice).unwrap();
    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"n": inner}));
    assert_eq!(schema.check(&nested(10)), Ok(()));
    assert!(violation(&schema, nested(40)).detail.contains("too deeply"));
}

#[test]
fn a_value_too_large_for_its_schema_is_refused() {
    let alternatives: Vec<Value> = (0..500).map(|at| json!({"const": at})).collect();
    let schema = Schema::compile(json!({"items": {"anyOf": alternatives}})).unwrap();
    let values = |count: u64| Value::from(vec![499; usize::try_from(count).unwrap()]);
    let fits = (CHECKS_MAX - 1) / 501;
    assert!(violation(&schema, values(fits + 1)).detail.contains("too large"));
    assert_eq!(schema.check(&values(100)), Ok(()));
}

/// Schemas in a row, each checked in place of the one before by a keyword, and again for the field
/// `n` of the value.
fn chain(links: usize, link: impl Fn(Value) -> Value) -> Value {
    let again = json!({"properties": {"n": {"$ref": "#/$defs/d0"}}});
    let next = |at: usize| json!({"$ref": format!("#/$defs/d{}", at + 1)});
    let named = |at: usize| (format!("d{at}"), if at == links { again.clone() } else { link(next(at)) });
    let defs: serde_json::Map<_, _> = (0..=links).map(named).collect();
    json!({"$defs": defs, "properties": {"n": {"$ref": "#/$defs/d0"}}})
}

#[test]
fn schemas_in_a_row_have_a_bound() {
    let plain = |links: usize| Schema::compile(chain(links, |next| next));
    assert!(plain(SCHEMA_CHAIN_MAX - 1).is_ok(), "the property's own reference is a link too");
    assert_eq!(plain(SCHEMA_CHAIN_MAX).unwrap_err(), SchemaError::TooChained);
}

/// Runs on a stack of the size that threads of the runtime have.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(work).unwrap().join().unwrap();
}

#[test]
fn the_deepest_check_fits_a_stack() {
    let links: [fn(Value) -> Value; 9] = [
        |next| next,
        |next| json!({"allOf": [next]}),
        |next| json!({"anyOf": [next]}),
        |next| json!({"oneOf": [next, false]}),
        |next| json!({"not": next}),
        |next| json!({"if": next, "else": false}),
        |next| json!({"if": true, "then": next}),
        |next| json!({"dependentSchemas": {"n": next}}),
        |next| json!({"anyOf": [next], "unevaluatedProperties": {"type": "integer"}}),
    ];
    for link in links {
        // The longest chain that is let in, whatever bound it meets first.
        let schemas = (1..=SCHEMA_CHAIN_MAX).rev().map(move |length| Schema::compile(chain(length, link)));
        let schema = schemas.flatten().next().unwrap();
        on_a_small_stack(move || {
            for innermost in [json!({}), json!({"n": 1}), json!([])] {
                let _ = schema.check(&(0..62).fold(innermost, |inner, _| json!({"n": inner})));
            }
        });
    }
}

#[test]
fn the_longest_way_through_a_schema_compiles_on_a_stack() {
    on_a_small_stack(|| {
        let step = |at: usize| json!({"properties": {"n": {"$ref": format!("#/$defs/d{}", at + 1)}}});
        let last = (SUBSCHEMAS_MAX - 2) / 2;
        let named = |at: usize| (format!("d{at}"), if at == last { json!({}) } else { step(at) });
        let defs: serde_json::Map<_, _> = (0..=last).map(named).collect();
        let schema = json!({"$defs": defs, "$ref": "#/$defs/d0", "type": "object", "additionalProperties": false});
        let compiled = Schema::input(schema).unwrap();
        let _ = compiled.check(&(0..63).fold(json!({}), |inner, _| json!({"n": inner})));
    });
}

#[test]
fn values_that_nest_deeper_than_json_may_are_refused() {
    let schema = Schema::compile(json!(true)).unwrap();
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(schema.check(&nested(64)), Ok(()));
    assert!(schema.check(&nested(65)).is_err());
}

#[test]
fn schemas_have_bounds() {
    let long = |bytes: usize| Schema::compile(json!({"title": "x".repeat(bytes - r#"{"title":""}"#.len())}));
    assert!(long(SCHEMA_BYTES_MAX).is_ok());
    assert_eq!(long(SCHEMA_BYTES_MAX + 1).unwrap_err(), SchemaError::TooLong);

    let deep = |levels: usize| Schema::compile((0..levels).fold(json!({}), |inner, _| json!({"items": inner})));
    assert!(deep(SCHEMA_DEPTH_MAX).is_ok());
    assert_eq!(deep(SCHEMA_DEPTH_MAX + 1).unwrap_err(), SchemaError::TooDeep);

    let many = |count: usize| Schema::compile(json!({"prefixItems": vec![json!({}); count - 1]}));
    assert!(many(SUBSCHEMAS_MAX).is_ok());
    assert_eq!(many(SUBSCHEMAS_MAX + 1).unwrap_err(), SchemaError::TooMany);

    let patterns = |count: usize| Schema::compile(json!({"allOf": vec![json!({"pattern": "a"}); count]}));
    assert!(patterns(PATTERNS_MAX).is_ok());
    assert_eq!(patterns(PATTERNS_MAX + 1).unwrap_err(), SchemaError::Patterns);

    let pattern = |bytes: usize| Schema::compile(json!({"patternProperties": {"a".repeat(bytes): true}}));
    assert!(pattern(PATTERN_BYTES_MAX).is_ok());
    assert_eq!(pattern(PATTERN_BYTES_MAX + 1).unwrap_err(), SchemaError::Patterns);
}

#[test]
fn patterns_that_no_linear_engine_runs_are_refused() {
    for pattern in ["(", "(a)\\1", "(?=a)a", "a{1000}{1000}"] {
        assert!(matches!(fault(json!({"pattern": pattern})), SchemaError::Invalid(_)), "{pattern}");
    }
}

#[test]
fn what_is_no_schema_is_refused() {
    assert_eq!(fault(json!("x")), SchemaError::NotASchema(String::new()));
    assert_eq!(fault(json!({"items": [1]})), SchemaError::NotASchema("/items".into()));
    for wrong in [json!({"type": "thing"}), json!({"required": "a"}), json!({"minLength": -1}), json!({"allOf": []})] {
        assert!(matches!(fault(wrong), SchemaError::Invalid(_)));
    }
    assert!(Schema::compile(json!(false)).unwrap().check(&json!({})).is_err());
}

#[test]
fn types_are_known_through_references() {
    let schema = Schema::input(json!({
        "type": "object", "additionalProperties": false,
        "properties": {"n": {"$ref": "#/$defs/count"}, "m": {"type": ["integer", "null"]}, "x": {}},
        "$defs": {"count": {"type": "integer"}},
    }));
    let schema = schema.unwrap();
    assert_eq!(schema.types_of("n"), ["integer"]);
    assert_eq!(schema.types_of("m"), ["integer", "null"]);
    assert!(schema.types_of("x").is_empty() && schema.types_of("none").is_empty());
    assert!(schema.declares("x") && !schema.declares("none"));
}

#[test]
fn types_are_known_through_alternatives() {
    let schema = Schema::input(json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "floor": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "either": {"oneOf": [{"$ref": "#/$defs/count"}, {"type": "string"}]},
            "open": {"anyOf": [{"type": "integer"}, {}]},
            "all": {"allOf": [{"title": "X"}, {"$ref": "#/$defs/count"}]},
        },
        "$defs": {"count": {"type": "integer"}},
    }));
    let schema = schema.unwrap();
    assert_eq!(schema.types_of("floor"), ["integer", "null"]);
    assert_eq!(schema.types_of("either"), ["integer", "string"]);
    assert_eq!(schema.types_of("all"), ["integer"]);
    assert!(schema.types_of("open").is_empty(), "any type may be meant");
}

#[test]
fn formats_are_checked_where_that_is_said() {
    let of = |format: &str, text: &str, formats| {
        let schema = Schema::compile(json!({ "type": "string", "format": format })).unwrap().with_formats(formats);
        schema.check(&json!(text)).is_ok()
    };
    for (format, right, wrong) in [
        ("date", "2027-02-28", "2027-02-30"),
        ("time", "09:00:00Z", "25:00:00Z"),
        ("date-time", "2027-02-28T09:00:00Z", "2027-02-30T09:00:00Z"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"),
        ("email", "ann@example.com", "ann"),
        ("uri", "https://example.com/a", "example"),
        ("hostname", "api.example.com", "-a"),
        ("ipv4", "192.0.2.1", "192.0.2.256"),
        ("ipv6", "2001:db8::1", "2001::db8::1"),
    ] {
        assert!(of(format, right, Formats::Check) && !of(format, wrong, Formats::Check), "{format}");
        assert!(of(format, wrong, Formats::Annotate), "{format}");
    }
    assert!(of("regex", "(", Formats::Check), "no text of a caller's is compiled");
    assert!(of("frobnicate", "x", Formats::Check), "what is not known says nothing");
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("type"),
        Just("object"),
        Just("properties"),
        Just("items"),
        Just("$ref"),
        Just("#"),
        Just("#/items"),
        Just("allOf"),
        Just("anyOf"),
        Just("not"),
        Just("additionalProperties"),
        Just("a"),
        Just("unevaluatedItems"),
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        (0..9_i64).prop_map(Value::from),
        words.clone().prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(words.clone().prop_map(str::to_owned), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_document_is_refused_or_checks_any_value(schema in any_json(), value in any_json()) {
        for compiled in [Schema::compile(schema.clone()), Schema::output(schema, true)].into_iter().flatten() {
            let _ = compiled.check(&value);
        }
    }
}
