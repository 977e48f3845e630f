//! Which verb, and at which path.

use forecourt_contract::endpoint::{AnswerKind, Binding, BodyMedia};
use serde_json::{Value, json};

use crate::support::{answering, document, endpoint, imported, one, registered, taking, written};

fn became(http: &str, path: &str, mut operation: Value, more: Value) -> String {
    operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let import = imported(&one(http, path, operation));
    let written = written(&import.operations[0]);
    registered(written);
    format!("{} {}", written.method, written.path)
}

#[test]
fn s14_1_the_id_goes_before_the_path_and_the_path_before_the_summary() {
    let post = |path: &str, more: Value| became("post", path, taking(json!({"properties": {"a": {}}})), more);
    assert_eq!(post("/rooms", json!({"operationId": "reserveRoom", "summary": "Book a room"})), "RESERVE /rooms");
    assert_eq!(post("/rooms/{id}/release", json!({"summary": "Book it"})), "BOOK /rooms/{id}/release");
    assert_eq!(post("/rooms/{id}/book", json!({})), "BOOK /rooms/{id}");
    assert_eq!(post("/rooms", json!({"summary": "Refund what was paid"})), "REFUND /rooms");
    assert_eq!(post("/bookings", json!({})), "BOOK /bookings");
    assert_eq!(post("/v2", json!({"tags": ["payments"]})), "PAY /v2");
    assert_eq!(post("/rooms", json!({"operationId": "rooms_create"})), "CREATE /rooms");
    assert_eq!(post("/mails", json!({"operationId": "sendMail"})), "MESSAGE /mails");
    assert_eq!(post("/things", json!({})), "CREATE /things");
}

#[test]
fn s14_1_what_is_safe_becomes_a_verb_that_changes_nothing() {
    let get = |path: &str, schema: Value, more: Value| became("get", path, answering(schema), more);
    let list = json!({"type": "array", "items": {}});
    assert_eq!(get("/rooms", list.clone(), json!({})), "LIST /rooms");
    assert_eq!(get("/rooms", json!({"properties": {"data": {"type": "array"}}}), json!({})), "LIST /rooms");
    let (narrow, wide) = (json!({"type": "array", "items": {"type": "string"}}), json!({"type": "array"}));
    let joined = json!({"allOf": [{"properties": {"data": wide}}, {"properties": {"data": narrow, "links": {}}}]});
    assert_eq!(get("/rooms", joined, json!({"operationId": "get-rooms"})), "LIST /rooms");
    assert_eq!(get("/rooms", json!({}), json!({"operationId": "getRooms", "summary": "List rooms"})), "LIST /rooms");
    assert_eq!(get("/rooms/{id}", list.clone(), json!({"operationId": "getRoom"})), "FETCH /rooms/{id}");
    assert_eq!(get("/orders/cancel", json!({}), json!({"operationId": "cancelOrder"})), "FETCH /orders/cancels");
    assert_eq!(get("/rooms/search", list.clone(), json!({})), "SEARCH /rooms");
    let wanted = json!({"parameters": [{"name": "q", "in": "query", "required": true, "schema": {"type": "string"}}]});
    assert_eq!(get("/rooms", list, wanted), "SEARCH /rooms");
}

#[test]
fn s14_1_words_of_a_thing_are_no_verbs() {
    let patch = json!({"operationId": "patchAppsNamespacedReplicaSet", "summary": "partially update the ReplicaSet"});
    let body = taking(json!({"properties": {"a": {}}}));
    assert_eq!(became("patch", "/apps/replicasets/{name}", body.clone(), patch), "UPDATE /apps/replicasets/{name}");
    let list = json!({"operationId": "users/list-attestations-bulk", "summary": "List attestations by bulk digests"});
    let said = became("post", "/users/{name}/attestations/bulk-list", body.clone(), list);
    assert_eq!(said, "LIST /users/{name}/attestations/bulk-list", "id and summary say the same");
    let order = json!({"operationId": "sendOrder", "summary": "Order details are sent"});
    assert_eq!(became("post", "/orders", body, order), "DISPATCH /orders");
}

#[test]
fn s14_1_one_thing_is_fetched_whatever_lists_it_has() {
    let lists = answering(json!({"type": "object", "properties": {"members": {"type": "array"}}}));
    let get = |path: &str, summary: &str| became("get", path, lists.clone(), json!({ "summary": summary }));
    assert_eq!(get("/users.identity", "Get a user's identity."), "FETCH /users.identity");
    assert_eq!(get("/talks.info", "Retrieve information about a conversation."), "FETCH /talks.info");
    assert_eq!(get("/users.all", "Get a list of users."), "LIST /users.all");
    assert_eq!(get("/users.team", "Get the users of a team."), "LIST /users.team");
}

#[test]
fn s14_1_the_catalog_says_what_other_methods_mean() {
    let body = || taking(json!({"properties": {"a": {}}}));
    assert_eq!(became("put", "/rooms/{id}", body(), json!({})), "REPLACE /rooms/{id}");
    assert_eq!(became("patch", "/rooms/{id}", body(), json!({})), "MODIFY /rooms/{id}");
    assert_eq!(became("delete", "/rooms/{id}", answering(json!({})), json!({})), "REMOVE /rooms/{id}");
    assert_eq!(
        became("delete", "/r/{id}", answering(json!({})), json!({"operationId": "revokeKey"})),
        "REVOKE /r/{id}"
    );
    assert_eq!(became("put", "/r/{id}", body(), json!({"operationId": "listThings"})), "REPLACE /r/{id}");
}

#[test]
fn s5_4_two_operations_never_become_one_pair() {
    let import = imported(&document(json!({
        "/rooms": { "get": answering(json!({"type": "array"})) },
        "/rooms/": { "get": answering(json!({"type": "array"})) },
        "/rooms/list": { "get": answering(json!({"type": "array"})) },
    })));
    let pairs: Vec<String> =
        import.operations.iter().map(written).map(|found| format!("{} {}", found.method, found.path)).collect();
    assert_eq!(pairs, ["LIST /rooms", "FETCH /rooms", "LIST /rooms/lists"]);
    let notes = &written(&import.operations[1]).notes;
    assert!(notes.reviews.iter().any(|review| review.cause.contains("stands at this path already")), "{notes:?}");
}

#[test]
fn s5_9_what_belongs_to_the_host_is_left_to_it() {
    let stated = json!({"x-agtp-method": "DISCOVER", "responses": {}});
    let import = imported(&one("get", "/agents", stated));
    assert_eq!(written(&import.operations[0]).method, "FETCH");
    let stated = json!({"x-agtp-method": "FROBNICATE", "responses": {}});
    assert_eq!(written(&imported(&one("get", "/agents", stated)).operations[0]).method, "FETCH", "never invented");
}

#[test]
fn s14_1_bodies_and_answers_that_are_no_json_objects_are_one_field() {
    let bound = |document: &Value| {
        let endpoint = endpoint(document);
        let Binding::ExternalService(service) = endpoint.binding.clone() else { panic!() };
        (endpoint, *service)
    };
    let external = taking(json!({"$ref": "other.json#/X"}));
    let notes = &written(&imported(&one("post", "/a", external.clone())).operations[0]).notes.clone();
    assert!(notes.reviews.iter().any(|review| review.text().contains("leads out of the document")), "{notes:?}");
    let xml = json!({"requestBody": {"required": true, "content": {"application/xml": {}}}, "responses": {}});
    let upload = json!({"requestBody": {"content": {"multipart/form-data": {}}}, "responses": {}});
    for (operation, media) in [
        (external, BodyMedia::Json("application/json".into())),
        (taking(json!({"type": "array"})), BodyMedia::Json("application/json".into())),
        (taking(json!({"type": "object"})), BodyMedia::Json("application/json".into())),
        (xml, BodyMedia::Text("application/xml".into())),
        (upload, BodyMedia::Multipart),
    ] {
        let (endpoint, service) = bound(&one("post", "/a", operation));
        let body = service.body.unwrap();
        assert_eq!((body.media, body.field.as_deref()), (media, Some("body")));
        assert!(endpoint.input.declares("body"));
    }
    let csv = json!({"responses": {"200": {"description": "", "content": {"text/csv": {}}}}});
    let (endpoint, service) = bound(&one("get", "/a", csv));
    assert_eq!((service.answer, service.headers.0["Accept"].as_str()), (AnswerKind::Text, "text/csv"));
    endpoint.output.check(&json!({"text": "a,b", "media_type": "text/csv"})).unwrap();
}

#[test]
fn s14_1_an_id_that_two_operations_have_says_nothing_of_either() {
    let operation = json!({"operationId": "createItem", "responses": {"204": {"description": "Done"}}});
    let both = document(json!({
        "/items": {"post": operation},
        "/items/{id}/cancel": {"post": operation},
    }));
    let import = imported(&both);
    let methods: Vec<&str> = import.operations.iter().map(|found| written(found).method.as_str()).collect();
    assert_eq!(methods, ["CREATE", "CANCEL"]);
}

#[test]
fn s7_1_a_post_that_asks_and_does_something_besides_is_not_informational() {
    let impact = |path: &str, summary: &str, description: &str| {
        let mut operation = taking(json!({"properties": {"q": {"type": "string"}}}));
        let more = json!({"summary": summary, "description": description});
        operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let import = imported(&one("post", path, operation));
        serde_json::to_value(&registered(written(&import.operations[0])).semantic).unwrap()["impact"].clone()
    };
    let asking = |path: &str| impact(path, "Search for matching users.", "");
    for path in ["/users/search", "/orders/{id}/users:search", "/transfers/{id}/search", "/{id}:search"] {
        assert_eq!(asking(path), "informational", "{path}");
    }
    for path in ["/purge/{id}/search", "/users/reset-{id}/search", "/users/{id}:purge/search", "/{id}/wipe/x/search"] {
        assert_ne!(asking(path), "informational", "{path}");
    }
    for (summary, besides) in [
        ("Search for matching users.", "The system sends each of them an invitation."),
        ("Finds stale users, deletes them.", ""),
        ("Search for users.", "Our service then charges the account; it removes old results."),
    ] {
        assert_ne!(impact("/users/search", summary, besides), "informational", "{summary} {besides}");
    }
}
