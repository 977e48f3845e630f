//! Sections 5.3, 5.9, 6 and 13.2: what may be registered, and how it is shown.

use forecourt_contract::RecipeBook;
use forecourt_contract::endpoint::{Binding, Definition, DeprecatedSettings, SuccessorSettings};
use forecourt_contract::limits::{DECLARED_ERRORS_MAX, ERROR_CHARS_MAX, HANDLER_TIME_DEFAULT};
use serde_json::{Value, json};

use crate::support::{definition, register, register_with};

fn tags(definition: Definition) -> Vec<String> {
    register(definition).expect_err("refused").into_iter().map(|fault| fault.tag.into_owned()).collect()
}

fn book(change: impl FnOnce(&mut Definition)) -> Definition {
    let mut definition = definition("BOOK", "/room");
    change(&mut definition);
    definition
}

#[test]
fn s6_3_every_required_field_is_missed_by_its_name() {
    assert_eq!(tags(book(|d| d.method = None)), ["method-missing"]);
    assert_eq!(tags(book(|d| d.path = None)), ["path-missing"]);
    assert_eq!(tags(book(|d| d.description = None)), ["description-missing"]);
    assert_eq!(tags(book(|d| d.description = Some("  ".into()))), ["description-missing"]);
    assert_eq!(tags(book(|d| d.semantic = Value::Null)), ["semantic-missing"]);
    assert_eq!(tags(book(|d| d.input_schema = None)), ["input-schema-missing"]);
    assert_eq!(tags(book(|d| d.output_schema = None)), ["output-schema-missing"]);
    assert_eq!(tags(book(|d| d.errors = None)), ["errors-missing"]);
    assert_eq!(tags(book(|d| d.binding = None)), ["handler-missing"]);
    assert_eq!(tags(Definition::default()).len(), 8, "all at once");
}

#[test]
fn s6_4_the_method_is_in_the_catalog_or_custom() {
    for name in ["RESERVATION", "book", "", "LEARN"] {
        assert_eq!(tags(definition(name, "/room")), ["verb-not-in-catalog"], "{name}");
    }
    assert!(register(definition("FROBNICATE", "/room")).is_ok(), "custom");
}

#[test]
fn s3_6_a_verb_of_http_names_no_endpoint() {
    let faults = register(definition("GET", "/room")).unwrap_err();
    assert_eq!(faults[0].tag, "verb-not-in-catalog");
    assert!(faults[0].message.contains("FETCH"), "{}", faults[0]);
}

#[test]
fn s6_4_the_path_keeps_the_grammar() {
    for (path, tag) in [
        ("room", "no-leading-slash"),
        ("/room/", "trailing-slash"),
        ("/order/5", "method-name"),
        ("/r oom", "bad-character"),
        ("/a/{id}/{id}", "duplicate-parameter"),
        ("/a/x{id}", "bad-parameter"),
        ("/a/{?q}", "bad-parameter"),
        ("/a//b", "empty-segment"),
    ] {
        assert_eq!(tags(book(|d| d.path = Some(path.into()))), [format!("path-grammar:{tag}")]);
    }
}

#[test]
fn s5_3_a_parameter_is_declared_in_the_input() {
    let undeclared = book(|d| d.path = Some("/rooms/{room_id}/{floor}".into()));
    assert_eq!(tags(undeclared), ["path-parameter-undeclared:room_id", "path-parameter-undeclared:floor"]);
    assert!(register(definition("BOOK", "/rooms/{room_id}")).is_ok());
}

#[test]
fn s5_9_what_the_host_answers_itself_is_not_registered() {
    for path in ["/methods", "/toolset", "/contracts/history", "/", "/{any}"] {
        assert_eq!(tags(definition("DISCOVER", path)), ["reserved-path"], "{path}");
    }
    assert_eq!(tags(definition("QUERY", "/")), ["reserved-path"]);
    assert!(register(definition("QUERY", "/methods")).is_ok());
    assert!(register(definition("DISCOVER", "/rooms")).is_ok());
}

#[test]
fn s5_9_an_operator_may_answer_a_reserved_pair_by_saying_so() {
    let none = RecipeBook::default();
    assert!(register_with(definition("DISCOVER", "/tools"), &none, &["/tools"]).is_ok());
    assert!(register_with(definition("DISCOVER", "/methods"), &none, &["/tools"]).is_err());
    assert!(
        register_with(definition("DISCOVER", "/tools/v2"), &none, &["/tools/v2"]).is_err(),
        "no pair of the host's"
    );
}

#[test]
fn s6_4_schemas_are_valid_and_inputs_closed() {
    let open = json!({"type": "object", "properties": {"n": {}}});
    assert_eq!(tags(book(|d| d.input_schema = Some(open))), ["input-schema-invalid"]);
    assert_eq!(tags(book(|d| d.input_schema = Some(json!({"type": "array"})))), ["input-schema-invalid"]);
    assert_eq!(tags(book(|d| d.output_schema = Some(json!({"type": "thing"})))), ["output-schema-invalid"]);
    assert_eq!(
        tags(book(|d| d.output_schema = Some(json!({"$ref": "https://evil.example"})))),
        ["output-schema-invalid"]
    );
}

#[test]
fn s6_4_errors_are_names() {
    for wrong in ["", "no spaces", "t\u{e9}", "a\n"] {
        assert_eq!(tags(book(|d| d.errors = Some(vec![wrong.into()]))), [format!("errors-bad-shape:{wrong}")]);
    }
    assert_eq!(tags(book(|d| d.errors = Some(vec!["a".into(), "a".into()]))), ["errors-bad-shape:a"]);
    assert!(register(book(|d| d.errors = Some(Vec::new()))).is_ok(), "the list may be empty");
}

#[test]
fn errors_have_bounds() {
    let many = |count: usize| book(|d| d.errors = Some((0..count).map(|at| format!("e{at}")).collect()));
    assert!(register(many(DECLARED_ERRORS_MAX)).is_ok());
    assert_eq!(tags(many(DECLARED_ERRORS_MAX + 1)), ["errors-bad-shape:count"]);
    let long = |chars: usize| book(|d| d.errors = Some(vec!["e".repeat(chars)]));
    assert!(register(long(ERROR_CHARS_MAX)).is_ok());
    assert!(register(long(ERROR_CHARS_MAX + 1)).is_err());
}

#[test]
fn s6_4_required_scopes_are_plain_tokens() {
    for wrong in ["booking", "booking:*", "Booking:room", ""] {
        assert_eq!(tags(book(|d| d.required_scopes = vec![wrong.into()])), ["required-scopes-bad-shape"]);
    }
}

#[test]
fn s12_1_a_composition_names_a_recipe_and_its_error() {
    let composition = || Some(Binding::Composition { recipe: "none".into(), timeout: HANDLER_TIME_DEFAULT });
    let found = tags(book(|d| d.binding = composition()));
    assert_eq!(found, ["composition-missing-error-code", "recipe-not-found"]);
    let listed = book(|d| {
        d.binding = composition();
        d.errors = Some(vec!["composition_failed".into()]);
    });
    assert_eq!(tags(listed), ["recipe-not-found"]);
}

fn deprecated(successor: Option<(Option<&str>, Option<&str>)>, removed_in: Option<&str>) -> DeprecatedSettings {
    DeprecatedSettings {
        deprecated_in: "2.1.0".into(),
        removed_in: removed_in.map(str::to_owned),
        successor: successor.map(|(method, path)| SuccessorSettings {
            method: method.map(str::to_owned),
            path: path.map(str::to_owned),
        }),
    }
}

#[test]
fn s6_5_what_would_forge_the_notice_is_refused() {
    for settings in [
        deprecated(None, Some("3; successor=EVIL")),
        deprecated(None, Some("")),
        deprecated(Some((Some("reserve"), None)), None),
        deprecated(Some((None, Some("/a; removed_in=1 "))), None),
    ] {
        let faults = tags(book(|d| d.deprecated = Some(settings)));
        assert!(faults[0].starts_with("deprecated-bad-field:"), "{faults:?}");
    }
}

#[test]
fn s6_5_the_notice_says_what_is_declared_and_nothing_else() {
    let notice = |settings| register(book(|d| d.deprecated = Some(settings))).unwrap().notice().unwrap();
    let both = deprecated(Some((Some("RESERVE"), Some("/rooms"))), Some("3.0.0"));
    assert_eq!(notice(both), "deprecated; successor=RESERVE /rooms; removed_in=3.0.0");
    assert_eq!(notice(deprecated(Some((Some("RESERVE"), None)), None)), "deprecated; successor=RESERVE");
    assert_eq!(notice(deprecated(Some((None, Some("/rooms"))), None)), "deprecated; successor=/rooms");
    assert_eq!(notice(deprecated(Some((None, None)), None)), "deprecated");
    assert_eq!(register(book(|_| {})).unwrap().notice(), None);
}

#[test]
fn s8_9_of_the_handler_only_the_kind_is_shown() {
    let endpoint = register(book(|d| {
        d.namespace = Some("reservations".into());
        d.required_scopes = vec!["booking:room".into()];
        d.deprecated = Some(deprecated(Some((Some("RESERVE"), None)), None));
    }));
    let shown = endpoint.unwrap().projection();
    assert_eq!(shown["handler"], json!({"type": "registered_function"}));
    assert_eq!(shown["deprecated"], json!({"deprecated_in": "2.1.0", "successor": {"method": "RESERVE"}}));
    assert_eq!((&shown["method"], &shown["path"]), (&json!("BOOK"), &json!("/room")));
    assert_eq!((&shown["namespace"], &shown["required_scopes"]), (&json!("reservations"), &json!(["booking:room"])));
    assert_eq!(shown["input_schema"]["additionalProperties"], false);
    assert_eq!(shown["semantic"]["confidence"], 0.9);
    let bare = register(book(|_| {})).unwrap().projection();
    for optional in ["namespace", "required_scopes", "deprecated"] {
        assert!(bare.get(optional).is_none(), "{optional}");
    }
}
