//! Documents in the styles of other APIs: what their operations become, in the words of each.

use serde_json::{Value, json};

use crate::support::{document, imported, registered, written};

/// Verb, path, file, intent and outcome of the one operation.
fn became(http: &str, path: &str, operation: Value) -> [String; 5] {
    let mut operation = operation;
    if operation.get("responses").is_none() {
        operation["responses"] = json!({"204": {"description": "No content"}});
    }
    let import = imported(&document(json!({ path: { http: operation } })));
    let found = written(&import.operations[0]);
    let semantic = registered(found).semantic;
    let file = found.files[0].name.clone();
    [found.method.clone(), found.path.clone(), file, semantic.intent, semantic.outcome]
}

#[test]
fn s14_1_ids_with_a_group_before_the_verb() {
    let github = |http, path, id: &str, summary: &str| {
        became(http, path, json!({"operationId": id, "tags": [id.split('/').next()], "summary": summary}))
    };
    assert_eq!(
        github("get", "/orgs/{org}/repos", "repos/list-for-org", "List organization repositories"),
        [
            "LIST",
            "/orgs/{org}/repos",
            "list_org_repos.toml",
            "List organization repositories.",
            "The caller has organization repositories; nothing changed."
        ]
    );
    assert_eq!(
        github("put", "/repos/{r}/pulls/{n}/merge", "pulls/merge", "Merge a pull request")[..3],
        ["MERGE", "/repos/{r}/pulls/{n}", "merge_repo_pull.toml"]
    );
    assert_eq!(
        github("get", "/search/repositories", "search/repos", "Search repositories")[..3],
        ["SEARCH", "/repositories", "search_repositories.toml"]
    );
    assert_eq!(
        github("get", "/repos/{r}/collaborators/{u}", "repos/check-collaborator", "Check if a user is a collaborator")
            [4],
        "The caller knows if a user is a collaborator; nothing changed."
    );
    assert_eq!(github("post", "/runs/{id}/rerun", "actions/re-run-workflow", "Re-run a workflow")[0], "RETRY");
}

#[test]
fn s14_1_ids_that_say_no_more_than_http_does() {
    let stripe = |http, path, id: &str, text: &str| became(http, path, json!({"operationId": id, "description": text}));
    assert_eq!(
        stripe(
            "get",
            "/v1/customers",
            "GetCustomers",
            "<p>Returns a list of your <a href=\"x\">customers</a>. They are sorted.</p>"
        ),
        [
            "LIST",
            "/v1/customers",
            "list_customers.toml",
            "Return a list of your customers.",
            "The caller has a list of your customers; nothing changed."
        ]
    );
    let update = "<p>Updates the specified customer by setting the values of the parameters passed.</p>";
    assert_eq!(
        stripe("post", "/v1/customers/{customer}", "PostCustomersCustomer", update)[..3],
        ["UPDATE", "/v1/customers/{customer}", "update_customer.toml"]
    );
    assert_eq!(
        stripe(
            "delete",
            "/v1/customers/{customer}",
            "DeleteCustomersCustomer",
            "<p>Permanently deletes a customer.</p>"
        )[3..],
        ["Permanently delete a customer.", "A customer is gone."]
    );
    assert_eq!(
        stripe("post", "/v1/refunds", "PostRefunds", "<p>When you create a new refund, you must say of what.</p>")[3],
        "Create a refund."
    );
    assert_eq!(
        stripe(
            "post",
            "/v1/intents/{intent}/capture",
            "PostIntentsIntentCapture",
            "<p>Capture the funds of an intent.</p>"
        )[..2],
        ["CAPTURE", "/v1/intents/{intent}"]
    );
}

#[test]
fn s14_1_descriptions_that_tell_how_http_does_it() {
    let droplets = |http, id: &str, summary: &str, text: &str| {
        became(
            http,
            "/v2/droplets",
            json!({"operationId": id, "tags": ["Droplets"], "summary": summary, "description": text}),
        )
    };
    let list = "To list all Droplets in your account, send a GET request to `/v2/droplets`.\n\nThe response body will be a JSON object.";
    assert_eq!(droplets("get", "droplets_list", "List All Droplets", list)[3], "List all Droplets.");
    assert_eq!(droplets("get", "droplets_list", "", list)[3], "List all Droplets in your account.");
    let delete = "To delete **all** Droplets of a tag, include the `tag_name` query parameter in your DELETE request.";
    assert_eq!(
        droplets("delete", "droplets_destroy_byTag", "Deleting Droplets by Tag", delete)[..4],
        ["REMOVE", "/v2/droplets", "remove_droplets.toml", "Delete Droplets by Tag."]
    );
}

#[test]
fn s14_1_what_is_said_beside_the_matter_is_left_out() {
    let text = "List existing incidents.\n\nAn incident represents a problem that needs to be resolved.\n\n\
                For more information see the [Concepts](../../concepts.md)\n\nScoped OAuth requires: `incidents.read`\n";
    let operation = json!({"operationId": "listIncidents", "summary": "List incidents", "description": text,
        "responses": {"200": {"description": "A paginated array of incidents."}}});
    let import = imported(&document(json!({"/incidents": {"get": operation}})));
    let endpoint = registered(written(&import.operations[0]));
    assert_eq!(endpoint.description, "List incidents. An incident represents a problem that needs to be resolved.");
    assert_eq!(endpoint.semantic.outcome, "The caller has a paginated array of incidents; nothing changed.");
}

#[test]
fn s14_1_what_is_sent_decides_how_it_is_sent() {
    let verb = |path: &str, summary: &str| became("post", path, json!({"summary": summary}))[..2].to_vec();
    assert_eq!(verb("/emails/send", "Sends an email"), ["MESSAGE", "/emails"]);
    assert_eq!(verb("/reminders", "Send a reminder"), ["REMIND", "/reminders"]);
    assert_eq!(verb("/invoices/{id}/send", "Send it"), ["DISPATCH", "/invoices/{id}"]);
}

#[test]
fn s7_1_what_a_call_changes_is_not_made_small() {
    let impact = |http: &str, path: &str, summary: &str| {
        let operation = json!({"summary": summary, "responses": {"204": {"description": "Done"}}});
        let import = imported(&document(json!({ path: { http: operation } })));
        let semantic = registered(written(&import.operations[0])).semantic;
        (json!(semantic.impact), semantic.is_idempotent)
    };
    assert_eq!(impact("delete", "/keys/{id}", "Delete a key"), (json!("irreversible"), true));
    assert_eq!(impact("post", "/messages", "Create a message"), (json!("irreversible"), false));
    assert_eq!(impact("post", "/rooms", "Create a room"), (json!("reversible"), false));
    assert_eq!(impact("post", "/codes", "Verify a code"), (json!("irreversible"), false));
    assert_eq!(impact("post", "/rooms/search", "Search rooms"), (json!("informational"), true));
    assert_eq!(impact("get", "/rooms", "List rooms"), (json!("informational"), true));
}

#[test]
fn s7_1_a_post_asks_only_where_nothing_else_is_said() {
    let impact = |path: &str, operation: Value| {
        let import = imported(&document(json!({ path: { "post": operation } })));
        json!(registered(written(&import.operations[0])).semantic.impact)
    };
    let of = |path: &str, summary: &str, description: &str| {
        impact(
            path,
            json!({ "summary": summary, "description": description,
                "responses": { "200": { "description": "OK" } } }),
        )
    };
    for (path, summary, description) in [
        ("/rooms/search", "Search rooms", "Returns all rooms that fit."),
        ("/rooms/list", "Lists rooms", ""),
        ("/invoices/preview", "Preview an invoice", "Shows what would be due."),
        ("/transfers/get", "Get a transfer", "Returns the transfer that was created before."),
    ] {
        assert_eq!(of(path, summary, description), json!("informational"), "{summary}: {description}");
    }
    for (path, summary, description) in [
        ("/orders/{id}/return", "Return an order", ""),
        ("/rooms", "Search rooms", "only the sentence asks"),
        ("/rooms/search", "", "only the path asks"),
        ("/rooms/search", "Search rooms and delete them", ""),
        ("/rooms/search", "Search rooms", "The search is saved."),
        ("/rooms/search", "Search rooms", "The JSON body is read, and it invalidates the session."),
        ("/tokens/get", "Get an access token", ""),
        ("/rooms/search-and-book", "Search rooms", ""),
        ("/rooms/search", "Search rooms", &"It is long. ".repeat(2_000)),
    ] {
        assert_ne!(of(path, summary, description), json!("informational"), "{path}: {summary}: {description:.60}");
    }
}

#[test]
fn s7_1_a_get_that_says_that_it_changes_something_is_marked() {
    let of = |path: &str, id: &str, summary: &str| {
        let operation =
            json!({ "operationId": id, "summary": summary, "responses": { "200": { "description": "OK" } } });
        let import = imported(&document(json!({ path: { "get": operation } })));
        let found = written(&import.operations[0]).clone();
        let semantic = registered(&found).semantic;
        (json!(semantic.impact) == json!("informational"), semantic.is_idempotent, found.notes.reviews.len())
    };
    for (path, id, summary) in [
        ("/logout", "logout", ""),
        ("/jmx/startExposing", "", ""),
        ("/messages/{id}", "", "Returns a message and marks the message as read"),
        ("/sessions/{id}", "", "Revokes a session"),
    ] {
        assert_eq!(of(path, id, summary), (false, false, of(path, id, summary).2), "{path} {summary}");
        assert!(of(path, id, summary).2 > 0, "{path} {summary}");
    }
    for (path, id, summary) in
        [("/deploy-keys", "listDeployKeys", ""), ("/orders/archive", "", "Get the archive of orders")]
    {
        assert_eq!((of(path, id, summary).0, of(path, id, summary).1), (true, true), "{path} {summary}");
    }
}

#[test]
fn s14_1_what_nobody_says_is_to_be_looked_at() {
    let operation = json!({"operationId": "createValidationRequest", "responses": {"204": {"description": "Done"}}});
    let import = imported(&document(json!({"/callers": {"post": operation}})));
    let found = written(&import.operations[0]);
    let endpoint = registered(found);
    assert_eq!(endpoint.semantic.intent, "Create a validation request.");
    assert!((endpoint.semantic.confidence - 0.7).abs() < 1e-9);
    assert_eq!(found.notes.reviews.len(), 1, "{:?}", found.notes.reviews);
}
