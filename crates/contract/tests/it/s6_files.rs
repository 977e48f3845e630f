//! An endpoint in a file of its own: its tables, its lines, and what of it is refused.

use std::path::Path;

use forecourt_contract::endpoint::{Binding, RegistrationContext, UPSTREAM_ERRORS, read};
use forecourt_contract::{Catalog, Endpoint, RecipeBook};
use forecourt_settings::Problems;
use serde_json::json;

use crate::support::{policy, section};

fn read_file(text: &str) -> Result<Endpoint, Problems> {
    let (catalog, policy, recipes) = (Catalog::shipped(), policy(json!({})), RecipeBook::default());
    let around = RegistrationContext::new(&catalog, &policy, &recipes);
    let files = |path: &Path| match path.to_str() {
        Some("endpoints/in.json") => Ok(br#"{"type":"object","properties":{},"additionalProperties":false}"#.to_vec()),
        Some("endpoints/broken.json") => Ok(b"{".to_vec()),
        _ => Err("there is no such file".to_owned()),
    };
    read(section(text), &around, &files)
}

/// The problems as `line: message`.
fn problems(text: &str) -> Vec<String> {
    let found = read_file(text).expect_err("refused");
    found.iter().map(|problem| format!("{}: {}", problem.line().unwrap_or(0), problem.message())).collect()
}

#[test]
fn s6_4_formats_are_checked_unless_a_file_says_otherwise() {
    let endpoint = read_file(LISTS).unwrap();
    let call = json!({ "room_id": "7" });
    assert_eq!(endpoint.input.check(&call).unwrap_err().field, "/room_id");
    let open = LISTS.replace("method = \"BOOK\"", "method = \"BOOK\"\nformat = \"annotate\"");
    assert!(read_file(&open).unwrap().input.check(&call).is_ok());
    let wrong = LISTS.replace("method = \"BOOK\"", "method = \"BOOK\"\nformat = \"ignore\"");
    assert!(problems(&wrong)[0].contains("annotate"), "{:?}", problems(&wrong));
}

const LISTS: &str = r#"
[endpoint]
method = "BOOK"
path = "/rooms/{room_id}"
description = "Books a room."
required_scopes = ["booking:room"]
[endpoint.semantic]
intent = "Book a room."
actor = "agent"
outcome = "A room is booked."
capability = "transaction"
confidence = 0.85
impact = "irreversible"
is_idempotent = false
[[endpoint.input.required]]
name = "room_id"
type = "string"
format = "uuid"
description = "The room."
[[endpoint.input.optional]]
name = "guests"
type = "integer"
description = "How many come."
schema = { minimum = 1 }
[[endpoint.output]]
name = "reservation_id"
type = "string"
description = "The booking."
[endpoint.errors]
list = ["room_unavailable"]
[endpoint.handler]
type = "registered_function"
function = "rooms.book"
timeout_seconds = 2.5
"#;

fn changed(from: &str, to: &str) -> String {
    assert!(LISTS.contains(from), "{from}");
    LISTS.replace(from, to)
}

#[test]
fn lists_of_parameters_become_schemas() {
    let endpoint = read_file(LISTS).unwrap();
    let input = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "room_id": {"type": "string", "format": "uuid", "description": "The room."},
            "guests": {"type": "integer", "description": "How many come.", "minimum": 1},
        },
        "required": ["room_id"],
        "additionalProperties": false,
    });
    assert_eq!(*endpoint.input.source(), input);
    assert_eq!(endpoint.output.source()["required"], json!(["reservation_id"]));
    assert_eq!(endpoint.output.source()["additionalProperties"], true);
    assert_eq!(endpoint.errors, ["room_unavailable"]);
    let Binding::RegisteredFunction { function, timeout } = &endpoint.binding else { panic!("{:?}", endpoint.binding) };
    assert_eq!((function.as_str(), timeout.as_millis()), ("rooms.book", 2_500));
}

#[test]
fn every_problem_has_its_tag_and_line() {
    let text =
        changed("method = \"BOOK\"", "method = \"BUK\"").replace("impact = \"irreversible\"", "impact = \"none\"");
    let found = problems(&text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("3: verb-not-in-catalog: `BUK`") && found[0].contains("BUY"), "{found:?}");
    assert!(found[1].starts_with("7: semantic-bad-impact:"), "{found:?}");
}

#[test]
fn unknown_keys_and_tables_are_refused() {
    assert!(problems(&changed("actor =", "aktor ="))[0].contains("unknown key `aktor`"));
    assert!(problems(&(LISTS.to_owned() + "\n[other]\nx = 1\n"))[0].contains("unknown key `other`"));
    assert!(problems(&changed("format = \"uuid\"", "fmt = \"uuid\""))[0].contains("unknown key `fmt`"));
}

#[test]
fn a_file_without_an_endpoint_says_so() {
    assert!(problems("")[0].contains("endpoint-missing"));
    assert!(problems("endpoint = 3")[0].contains("endpoint"));
}

#[test]
fn parameters_have_a_name_a_type_and_a_description() {
    for (from, to, tag) in [
        ("name = \"guests\"\n", "", "param-bad-shape:?"),
        ("description = \"The room.\"", "description = \" \"", "param-bad-shape:room_id"),
        ("name = \"guests\"", "name = \"room_id\"", "param-bad-shape:room_id"),
        (
            "name = \"reservation_id\"\ntype = \"string\"\n",
            "name = \"reservation_id\"\n",
            "output-bad-shape:reservation_id",
        ),
    ] {
        let found = problems(&changed(from, to));
        assert!(found.len() == 1 && found[0].contains(tag), "{tag}: {found:?}");
    }
    assert!(problems(&changed("type = \"integer\"", "type = \"int\""))[0].contains("int"));
}

#[test]
fn a_list_style_file_may_leave_out_empty_lists() {
    let (head, _) = LISTS.split_once("[endpoint.errors]").unwrap();
    let text = format!("{head}[endpoint.handler]\ntype = \"registered_function\"\nfunction = \"f\"\n");
    assert!(read_file(&text).unwrap().errors.is_empty());
    let errors = changed("[endpoint.errors]\nlist =", "[endpoint.errors]\nlisted =");
    assert!(read_file(&errors).is_err());
}

/// The same endpoint with whole schemas.
fn schemas(input: &str) -> String {
    format!(
        r#"
[endpoint]
method = "QUERY"
path = "/catalogue"
description = "Lists."
errors = []
{input}
output_schema = {{ type = "object" }}
semantic = {{ intent = "i", actor = "a", outcome = "o", capability = "retrieval", confidence = 1, impact = "informational", is_idempotent = true }}
handler = {{ type = "registered_function", function = "f" }}
"#
    )
}

#[test]
fn whole_schemas_stand_in_the_file_or_beside_it() {
    let inline = "input_schema = { type = \"object\", additionalProperties = false, properties = { n = { type = \"integer\" } } }";
    assert!(read_file(&schemas(inline)).unwrap().input.declares("n"));
    assert!(read_file(&schemas("input_schema = \"in.json\"")).is_ok());
    for (name, why) in [("none.json", "no such file"), ("broken.json", "EOF")] {
        let found = problems(&schemas(&format!("input_schema = \"{name}\"")));
        assert!(
            found.len() == 1 && found[0].starts_with("7: input-schema-invalid") && found[0].contains(why),
            "{found:?}"
        );
    }
}

#[test]
fn whole_schemas_must_all_be_there() {
    assert!(problems(&schemas(""))[0].contains("input-schema-missing"));
    let both = schemas("input_schema = \"in.json\"\ninput = { required = [] }");
    assert!(problems(&both)[0].contains("not both"));
    let no_errors = schemas("input_schema = \"in.json\"").replace("errors = []", "");
    assert!(problems(&no_errors)[0].contains("errors-missing"));
}

#[test]
fn s12_3_secrets_come_from_the_environment_and_are_not_shown() {
    let handler = r#"[endpoint.handler]
type = "external_service"
url = "https://api.example/x"
method = "POST"
headers = { Authorization = "Bearer ${TOKEN}" }
"#;
    let text = schemas("input_schema = \"in.json\"")
        .replace("errors = []", &format!("errors = {UPSTREAM_ERRORS:?}"))
        .replace("handler = { type = \"registered_function\", function = \"f\" }", handler);
    let endpoint = read_file(&text).unwrap();
    let Binding::ExternalService(service) = &endpoint.binding else { panic!() };
    assert_eq!(service.headers.0["Authorization"], "Bearer s3cret");
    assert!(!format!("{endpoint:?}").contains("s3cret"));
    assert_eq!(endpoint.projection()["handler"], json!({"type": "external_service"}));
}
