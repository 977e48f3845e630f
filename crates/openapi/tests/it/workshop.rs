//! A whole API of more than thirty operations: what each becomes.

use std::collections::BTreeSet;

use forecourt_contract::endpoint::{AnswerKind, Binding, BodyMedia, UPSTREAM_ERRORS};
use forecourt_openapi::{Import, ImportFate, Options, Part, import};
use serde_json::json;

use crate::support::{WORKSHOP, one, registered, written};

fn workshop() -> Import {
    import(WORKSHOP.as_bytes(), &Options::default()).unwrap()
}

/// The operation that became `method` at `path`.
fn found<'a>(import: &'a Import, method: &str, path: &str) -> &'a forecourt_openapi::EndpointFiles {
    let all =
        import.operations.iter().filter(|operation| matches!(operation.fate, ImportFate::Written(_))).map(written);
    all.into_iter().find(|written| written.method == method && written.path == path).expect(path)
}

#[test]
fn s14_1_every_operation_gets_a_verb_of_the_catalog() {
    let expected = [
        ("GET /appointments", "LIST /appointments"),
        ("POST /appointments", "BOOK /appointments"),
        ("GET /appointments/slots", "FIND /appointments/slots"),
        ("GET /appointments/{id}", "FETCH /appointments/{id}"),
        ("POST /appointments/{id}/cancel", "CANCEL /appointments/{id}"),
        ("POST /appointments/{id}/confirm", "CONFIRM /appointments/{id}"),
        ("POST /appointments/{id}/reschedule", "RESCHEDULE /appointments/{id}"),
        ("GET /bikes/{bike-id}", "FETCH /bikes/{bike_id}"),
        ("DELETE /bikes/{bike-id}", "REMOVE /bikes/{bike_id}"),
        ("GET /customers", "LIST /customers"),
        ("POST /customers", "CREATE /customers"),
        ("GET /customers/{customerId}", "FETCH /customers/{customerId}"),
        ("PUT /customers/{customerId}", "REPLACE /customers/{customerId}"),
        ("DELETE /customers/{customerId}", "REMOVE /customers/{customerId}"),
        ("PATCH /customers/{customerId}", "UPDATE /customers/{customerId}"),
        ("GET /customers/{customerId}/bikes", "LIST /customers/{customerId}/bikes"),
        ("POST /customers/{customerId}/bikes", "CREATE /customers/{customerId}/bikes"),
        ("GET /health", "FETCH /health"),
        ("GET /invoices/{number}", "FETCH /invoices/{number}"),
        ("POST /invoices/{number}/pay", "PAY /invoices/{number}"),
        ("GET /invoices/{number}/pdf", "DOWNLOAD /invoices/{number}/pdf"),
        ("GET /jobs", "LIST /jobs"),
        ("POST /jobs", "OPEN /jobs"),
        ("GET /jobs/{id}", "FETCH /jobs/{id}"),
        ("POST /jobs/{id}/approve", "APPROVE /jobs/{id}"),
        ("POST /jobs/{id}/close", "CLOSE /jobs/{id}"),
        ("POST /jobs/{id}/comment", "COMMENT /jobs/{id}"),
        ("GET /order", "LIST /orders"),
        ("POST /order", "ORDER /orders"),
        ("GET /parts", "SEARCH /parts"),
        ("GET /parts/low-stock", "LIST /parts/low-stock"),
        ("GET /parts/{sku}.json", "FETCH /parts/{sku}"),
        ("POST /parts/{sku}/reserve", "RESERVE /parts/{sku}"),
        ("POST /photos", "INGEST /photos"),
        ("POST /quote", "QUOTE /quotes"),
        ("GET /reports/revenue", "FETCH /reports/revenue"),
    ];
    let import = workshop();
    let became: Vec<(String, String)> = import
        .operations
        .iter()
        .filter(|operation| matches!(operation.fate, ImportFate::Written(_)))
        .map(|operation| {
            let written = written(operation);
            (format!("{} {}", operation.http, operation.path), format!("{} {}", written.method, written.path))
        })
        .collect();
    let became: Vec<(&str, &str)> = became.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    assert_eq!(became, expected);
}

#[test]
fn what_no_endpoint_can_be_is_said() {
    let import = workshop();
    let others: Vec<String> = import
        .operations
        .iter()
        .filter_map(|operation| match &operation.fate {
            ImportFate::Written(_) | ImportFate::NotChosen => None,
            ImportFate::Skipped(reason) => Some(format!("skipped {} {}: {reason}", operation.http, operation.path)),
            ImportFate::Failed(reason) => Some(format!("failed {} {}: {reason}", operation.http, operation.path)),
        })
        .collect();
    assert_eq!(others, ["skipped HEAD /health: HEAD answers with nothing to read"]);
    let losses = &found(&import, "LIST", "/customers").notes.losses;
    assert_eq!(losses.len(), 1, "{losses:?}");
    assert!(losses[0].contains("headers of the answer"), "{losses:?}");
}

#[test]
fn s13_2_everything_that_is_written_registers() {
    let import = workshop();
    let written: Vec<_> =
        import.operations.iter().filter(|o| matches!(o.fate, ImportFate::Written(_))).map(written).collect();
    let mut names = BTreeSet::new();
    for written in &written {
        let endpoint = registered(written);
        assert_eq!(
            (endpoint.method.as_str(), endpoint.path.as_str()),
            (written.method.as_str(), written.path.as_str())
        );
        assert!(UPSTREAM_ERRORS.iter().all(|error| endpoint.declares_error(error)), "{}", written.path);
        assert!(written.files.iter().all(|file| names.insert(file.name.clone())), "a name twice");
    }
    assert_eq!(written.len(), 36);
}

#[test]
fn s12_3_the_service_keeps_its_own_url_and_names() {
    let import = workshop();
    let service = |method: &str, path: &str| match registered(found(&import, method, path)).binding {
        Binding::ExternalService(service) => *service,
        other => panic!("{other:?}"),
    };
    let book = service("BOOK", "/appointments");
    assert_eq!(book.url, "http://127.0.0.1:8790/v1/appointments?notify={notify}");
    assert_eq!(book.headers.0["X-Workshop-Key"], "s3cret");
    assert_eq!(book.error_map["409"], "conflict");
    assert_eq!(service("FETCH", "/parts/{sku}").url, "http://127.0.0.1:8790/v1/parts/{sku}.json");
    assert_eq!(service("CANCEL", "/appointments/{id}").url, "http://127.0.0.1:8790/v1/appointments/{id}/cancel");
    assert_eq!(service("REMOVE", "/bikes/{bike_id}").url, "http://127.0.0.1:8790/v1/bikes/{bike_id}");
    let comment = service("COMMENT", "/jobs/{id}");
    assert_eq!(comment.input_transform["body_id"], "id");
    let update = service("UPDATE", "/customers/{customerId}");
    let body = update.body.unwrap();
    assert_eq!(body.media, BodyMedia::Json("application/merge-patch+json".to_owned()));
    assert_eq!(service("FETCH", "/bikes/{bike_id}").body, None, "no method of its own has one");
    let photo = service("INGEST", "/photos");
    assert_eq!(photo.body.unwrap().media, BodyMedia::Multipart);
    assert_eq!(service("DOWNLOAD", "/invoices/{number}/pdf").answer, AnswerKind::Bytes);
    assert!(service("FETCH", "/health").headers.0.is_empty(), "it needs no key");
    assert_eq!(import.variables.keys().collect::<Vec<_>>(), ["UPSTREAM_SPOKE_WORKSHOP_WORKSHOP_KEY"]);
}

#[test]
fn s6_4_path_query_and_body_are_one_input() {
    let import = workshop();
    let input = registered(found(&import, "COMMENT", "/jobs/{id}")).input.source().clone();
    assert_eq!(input["required"], json!(["body_id", "id", "text"]));
    assert_eq!(input["properties"]["id"], json!({"type": "integer", "minimum": 1, "description": "Which one"}));
    assert_eq!(input["additionalProperties"], false);
    let customer = registered(found(&import, "REPLACE", "/customers/{customerId}")).input.source().clone();
    let names: Vec<_> = customer["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["customerId", "email", "name", "phone"], "what is read-only is not asked for");
    let quote = registered(found(&import, "QUOTE", "/quotes"));
    assert_eq!(quote.input.source()["required"], json!(["work"]), "what all alternatives require");
    assert!(quote.input.declares("bikeId") && quote.input.declares("model"));
    let works = &quote.input.source()["properties"]["work"];
    assert!(quote.input.check(&json!({"work": ["x"]})).is_err(), "one of the alternatives: {works}");
}

#[test]
fn answers_are_carried_over_with_their_optional_fields() {
    let import = workshop();
    let part = registered(found(&import, "FETCH", "/parts/{sku}"));
    let output = part.output.source();
    assert_eq!(output["type"], "object");
    assert_eq!(output["properties"]["substitutes"]["items"]["$ref"], "#/$defs/Part");
    part.output.check(&json!({"sku": "a", "name": "b", "stock": 1, "substitutes": [], "more": 1})).unwrap();
    assert!(part.output.check(&json!({"sku": "a", "name": "b"})).is_err());
    let job = registered(found(&import, "FETCH", "/jobs/{id}"));
    assert_eq!(job.output.source()["type"], "object", "what is composed of objects is one");
    assert_eq!(registered(found(&import, "LIST", "/jobs")).output.source()["type"], "array");
}

#[test]
fn s7_the_semantic_block_follows_verb_and_method() {
    let import = workshop();
    let semantic = |method: &str, path: &str| registered(found(&import, method, path)).semantic;
    let book = semantic("BOOK", "/appointments");
    assert_eq!((book.intent.as_str(), book.capability.as_str()), ("Book an appointment.", "transaction"));
    assert_eq!(book.outcome, "The appointment is booked.");
    assert_eq!(json!(book.impact), "irreversible");
    assert!(!book.is_idempotent && semantic("REPLACE", "/customers/{customerId}").is_idempotent);
    let created = semantic("CREATE", "/customers");
    assert_eq!((created.capability.as_str(), json!(created.impact)), ("creation", json!("reversible")));
    assert_eq!(json!(semantic("LIST", "/jobs").impact), "informational");
    assert_eq!(semantic("FIND", "/appointments/slots").capability, "discovery");
}

#[test]
fn s14_1_every_guess_is_marked() {
    let import = workshop();
    let parts = |method: &str, path: &str| -> BTreeSet<Part> {
        found(&import, method, path).notes.reviews.iter().map(|review| review.part).collect()
    };
    let plain = BTreeSet::from([Part::Handler]);
    let grave = BTreeSet::from([Part::Handler, Part::Semantic]);
    assert_eq!(parts("BOOK", "/appointments"), plain, "the document has the verb");
    assert_eq!(parts("REMOVE", "/customers/{customerId}"), grave, "nobody knows whether it can be undone");
    assert_eq!(parts("SEARCH", "/parts"), plain, "what a GET reads is told by its answer");
    let order = found(&import, "ORDER", "/orders");
    assert!(order.notes.remarks.iter().any(|(part, remark)| *part == Part::Path && remark.contains("/order")));
    assert_eq!(order.notes.made_up_scope.as_deref(), Some("orders:write"));
    let revenue = found(&import, "FETCH", "/reports/revenue");
    assert!(revenue.files[0].text.contains("deprecated_in = \"2.3.0\""));
    assert!(revenue.notes.reviews.iter().any(|review| review.part == Part::Input && review.cause.contains("linear")));
    let files = import.operations.iter().filter_map(|operation| operation.fate.written());
    let counts = |word: &str| files.clone().map(|found| found.files[0].text.matches(word).count()).sum::<usize>();
    assert_eq!(counts("# REVIEW"), import.causes.len(), "each cause is marked once: {:#?}", import.causes);
    let all: usize = files.clone().map(|found| found.notes.reviews.len()).sum();
    assert_eq!(counts("# REVIEW") + counts("# As marked in "), all);
    assert_eq!(import.causes.iter().map(|cause| cause.count).sum::<usize>(), all);
}

#[test]
fn a_file_reads_well() {
    let import = workshop();
    let file = &found(&import, "RESERVE", "/parts/{sku}").files[0];
    assert_eq!(file.name, "reserve_part.toml");
    assert_eq!(file.text, include_str!("reserve_part.toml"));
}

#[test]
fn b_2_a_service_that_moves_gets_functions_to_fill_in() {
    let options = Options { is_rehosted: true, ..Options::default() };
    let import = import(WORKSHOP.as_bytes(), &options).unwrap();
    let endpoint = registered(found(&import, "BOOK", "/appointments"));
    let Binding::RegisteredFunction { function, .. } = &endpoint.binding else { panic!("{:?}", endpoint.binding) };
    assert_eq!(function, "spoke_workshop_endpoints.book_appointment");
    assert_eq!(endpoint.errors, ["conflict", "not_found"], "there is nothing upstream");
    let stubs = import.stubs.as_ref().unwrap();
    assert_eq!(stubs.name, "spoke_workshop_endpoints.py");
    assert_eq!(stubs.text.matches("\ndef ").count(), 36);
    assert!(stubs.text.contains("Takes: customerId, minutes?, note?, notify?, start\n"), "{}", stubs.text);
    let slots = registered(found(&import, "FIND", "/appointments/slots"));
    slots.output.check(&json!({"result": [{"start": "2027-03-01T09:00:00Z", "minutes": 30}]})).unwrap();
    assert!(slots.output.check(&json!({"result": [{"minutes": 30}]})).is_err());
    assert!(import.variables.is_empty(), "it needs no credentials of its own");
}

#[test]
fn b_2_a_function_has_a_name_that_python_takes() {
    let operation = json!({ "x-agtp-method": "IMPORT", "responses": { "204": { "description": "Done" } } });
    let options = Options { is_rehosted: true, ..Options::default() };
    let import = import(one("post", "/", operation).to_string().as_bytes(), &options).unwrap();
    let (written, stubs) = (written(&import.operations[0]), import.stubs.unwrap());
    assert_eq!((written.method.as_str(), written.files[0].name.as_str()), ("IMPORT", "import_2.toml"));
    assert!(stubs.text.contains("\ndef import_2(ctx):"), "{}", stubs.text);
}
