//! Section 12: what answers an endpoint, as its file declares it.

use std::collections::BTreeSet;

use forecourt_contract::endpoint::{Binding, RegistrationContext, UPSTREAM_ERRORS, read};
use forecourt_contract::{Catalog, Endpoint, RecipeBook};
use serde_json::json;

use crate::support::{policy, section};

fn read_with(errors: &[&str], handler: &str) -> Result<Endpoint, Vec<String>> {
    read_where(false, errors, handler)
}

fn read_where(is_http_open: bool, errors: &[&str], handler: &str) -> Result<Endpoint, Vec<String>> {
    let (catalog, policy, recipes, overrides) =
        (Catalog::shipped(), policy(json!({})), RecipeBook::default(), BTreeSet::new());
    let around = RegistrationContext {
        catalog: &catalog,
        policy: &policy,
        recipes: &recipes,
        overrides: &overrides,
        is_output_strict: false,
        is_http_open,
    };
    let text = format!(
        "[endpoint]\nmethod = \"BOOK\"\npath = \"/room\"\ndescription = \"d\"\nerrors = {errors:?}\n\
         input_schema = {{ type = \"object\", additionalProperties = false }}\noutput_schema = {{}}\n\
         semantic = {{ intent = \"i\", actor = \"a\", outcome = \"o\", capability = \"retrieval\", confidence = 1, \
         impact = \"informational\", is_idempotent = true }}\n[endpoint.handler]\n{handler}\n"
    );
    read(section(&text), &around, &|_| Err(String::new()))
        .map_err(|problems| problems.iter().map(|problem| problem.message().to_owned()).collect())
}

fn fault(handler: &str) -> String {
    let mut faults = read_with(&UPSTREAM_ERRORS, handler).expect_err(handler);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.remove(0)
}

const SERVICE: &str = "type = \"external_service\"\nurl = \"https://api.example/v1\"\nmethod = \"POST\"\n";

#[test]
fn s12_a_handler_is_of_a_known_kind() {
    assert!(fault("").starts_with("handler-bad-type"));
    assert!(fault("type = \"magic\"").starts_with("handler-bad-type"));
    assert!(fault("type = \"composition\"\nfunction = \"f\"\nrecipe = \"r\"").starts_with("handler-bad-type"));
    assert!(
        fault("type = \"registered_function\"\nfunction = \"f\"\nurl = \"https://x.example\"")
            .starts_with("handler-bad-type")
    );
}

#[test]
fn s12_a_reference_is_not_empty() {
    for handler in
        ["type = \"composition\"", "type = \"registered_function\"\nfunction = \" \"", "type = \"external_service\""]
    {
        assert!(fault(handler).starts_with("handler-empty-reference"), "{handler}");
    }
    for path in ["a..b", ".a", "a/b", "a b", "os.system('x')"] {
        assert!(
            fault(&format!("type = \"registered_function\"\nfunction = \"{path}\""))
                .starts_with("handler-bad-reference")
        );
    }
}

#[test]
fn s12_3_a_service_is_reached_over_https() {
    let with = |url: &str| fault(&SERVICE.replace("https://api.example/v1", url));
    assert!(with("http://api.example/v1").starts_with("external-service-bad-scheme"));
    assert!(with("ftp://api.example").starts_with("external-service-bad-scheme"));
    for url in [
        "/v1",
        "api.example",
        "https://u:p@api.example",
        "https://api.example/#x",
        "https://{host}/v1",
        "https://a{b}.example/",
    ] {
        assert!(with(url).starts_with("external-service-bad-url"), "{url}");
    }
    assert!(read_with(&UPSTREAM_ERRORS, &SERVICE.replace("/v1", "/v1/{id}?q={q}")).is_ok());
}

#[test]
fn s12_3_plain_http_is_taken_only_where_it_was_opened_for_development() {
    let plain = SERVICE.replace("https://", "http://");
    assert!(fault(&plain).starts_with("external-service-bad-scheme"));
    assert!(read_where(true, &UPSTREAM_ERRORS, &plain).is_ok());
    let other = read_where(true, &UPSTREAM_ERRORS, &SERVICE.replace("https://", "ftp://"));
    assert!(other.expect_err("no scheme of ours")[0].starts_with("external-service-bad-scheme"));
}

#[test]
fn s12_3_the_http_method_is_required_and_known() {
    assert!(fault(&SERVICE.replace("method = \"POST\"\n", "")).starts_with("external-service-missing-method"));
    for method in ["TRACE", "post", "CONNECT", ""] {
        assert!(fault(&SERVICE.replace("POST", method)).starts_with("external-service-bad-method"), "{method}");
    }
}

#[test]
fn s12_3_the_five_upstream_errors_are_declared() {
    for missing in UPSTREAM_ERRORS {
        let rest: Vec<&str> = UPSTREAM_ERRORS.into_iter().filter(|code| *code != missing).collect();
        let faults = read_with(&rest, SERVICE).unwrap_err();
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with(&format!("external-service-missing-error-code:{missing}")), "{faults:?}");
    }
}

#[test]
fn s12_3_the_error_map_leads_from_failures_to_declared_errors() {
    let map = |entry: &str| fault(&format!("{SERVICE}error_map = {{ {entry} }}"));
    assert!(map("\"404\" = \"room_not_found\"").starts_with("external-service-error-map-undeclared:room_not_found"));
    for status in ["200", "4xx", "4040", "+40", "600"] {
        assert!(
            map(&format!("\"{status}\" = \"upstream_error\"")).starts_with("external-service-bad-error-map"),
            "{status}"
        );
    }
    assert!(read_with(&UPSTREAM_ERRORS, &format!("{SERVICE}error_map = {{ 404 = \"upstream_error\" }}")).is_ok());
}

#[test]
fn s12_3_a_timeout_is_positive_and_bounded() {
    for seconds in ["0", "-1", "0.0", "600.5", "1e300"] {
        let faults = read_with(&UPSTREAM_ERRORS, &format!("{SERVICE}timeout_seconds = {seconds}")).unwrap_err();
        assert_eq!(faults.len(), 1, "{seconds}: {faults:?}");
    }
    for (key, most) in [("address_bytes_max", 65_536_u64), ("answer_bytes_max", 16_777_216)] {
        for (bytes, is_fine) in [(0, false), (1, true), (most, true), (most + 1, false)] {
            let found = read_with(&UPSTREAM_ERRORS, &format!("{SERVICE}{key} = {bytes}"));
            assert_eq!(found.is_ok(), is_fine, "{key} = {bytes}");
        }
    }
    let endpoint = read_with(&UPSTREAM_ERRORS, &format!("{SERVICE}timeout_seconds = 600")).unwrap();
    let Binding::ExternalService(service) = endpoint.binding else { panic!() };
    assert_eq!(service.timeout.as_secs(), 600);
    let default = read_with(&UPSTREAM_ERRORS, SERVICE).unwrap();
    assert!(matches!(default.binding, Binding::ExternalService(service) if service.timeout.as_secs() == 30));
}

#[test]
fn s12_3_callers_fill_no_header_field_that_says_who_they_are() {
    for name in ["Authorization", "cookie", "AGTP-Agent-ID", "X-Forwarded-For", "Host", "content-length", "x-key"] {
        let more = format!("headers = {{ X-Key = \"k\" }}\ninput_transform = {{ id = \"{name}\" }}\n");
        let found = fault(&format!("{SERVICE}{more}input_styles = {{ id = \"header\" }}"));
        assert!(found.starts_with("external-service-bad-style"), "{name}: {found}");
    }
    let found = fault(&format!("{SERVICE}input_styles = {{ id = \"spread\" }}"));
    assert!(found.contains("repeat, comma, space, pipe, deep, fields, json, reserved, header"), "{found}");
    let cookie = "headers = { cookie = \"a=1; id=2\" }\ninput_styles = { id = \"cookie\" }";
    assert!(fault(&format!("{SERVICE}{cookie}")).contains("the cookie `id` is not for callers"));
}

#[test]
fn s12_3_a_body_is_of_a_kind_that_can_be_written() {
    for (body, why) in [
        ("{ }", "media type"),
        ("{ media = \"csv\" }", "media type"),
        ("{ media = \"text/csv\" }", "needs `field`"),
        ("{ media = \"none\", is_required = true }", "without a body"),
        ("{ media = \"application/json\", styles = { id = \"deep\" } }", "those of a form"),
        ("{ media = \"application/x-www-form-urlencoded\", styles = { id = \"header\" } }", "no style of a field"),
        ("{ media = \"application/x-www-form-urlencoded\", files = { id = \"image/png\" } }", "multipart"),
        ("{ media = \"multipart/form-data\", files = { id = \"none\" } }", "to a media type"),
        ("{ media = \"multipart/form-data\", form = true }", "unknown"),
    ] {
        let found = read_with(&UPSTREAM_ERRORS, &format!("{SERVICE}body = {body}")).unwrap_err();
        assert!(found.len() == 1 && found[0].contains(why), "{body}: {found:?}");
    }
    assert!(fault(&format!("{SERVICE}answer = \"html\"")).starts_with("external-service-bad-answer"));
    for body in
        ["{ media = \"none\" }", "{ media = \"text/csv\", field = \"id\" }", "{ media = \"application/a+json\" }"]
    {
        read_with(&UPSTREAM_ERRORS, &format!("{SERVICE}body = {body}\nanswer = \"bytes\"\npass_reasons = true"))
            .unwrap();
    }
}

#[test]
fn s12_3_headers_are_plain_and_not_the_connections_own() {
    for header in [
        "\"Host\" = \"x\"",
        "\"content-length\" = \"1\"",
        "\"X Y\" = \"1\"",
        "\"X\" = \"a\\r\\nY: 1\"",
        "\"X\" = \"caf\u{e9}\"",
        "\"\" = \"x\"",
    ] {
        let found = fault(&format!("{SERVICE}headers = {{ {header} }}"));
        assert!(found.starts_with("external-service-bad-header"), "{header}");
    }
}
