//! Sections 4.5, 5.4, 9.4, 12.1 and 13.2: the files of a deployment, what is refused of them, and that
//! the rest is served.

use forecourt_contract::{Catalog, HostHandle};
use forecourt_endpoints::load::catalog;
use forecourt_endpoints::{RegistrationTerms, load};
use forecourt_settings::files::FILE_BYTES_MAX;
use forecourt_testkit::vectors;
use serde_json::{Value, json};

use crate::s12_1_compositions::composition;
use crate::support::{answer, call, deployment, endpoint, function, loaded, loaded_with, opened, problems, terms};

/// The pairs that are served.
fn served(loaded: &forecourt_endpoints::LoadReport) -> Vec<String> {
    let pair = |registered: &forecourt_contract::registry::RegisteredEndpoint| {
        format!("{} {}", registered.endpoint.method, registered.endpoint.path)
    };
    loaded.dispatcher.registry.iter().map(pair).collect()
}

fn recipe(name: &str, steps: &str) -> String {
    format!("[[recipe]]\nname = \"{name}\"\nsteps = [{steps}]\n")
}

#[test]
fn a_deployment_without_endpoints_is_fine() {
    let loaded = loaded(deployment(&[]).path());
    assert!(loaded.refused.is_empty() && loaded.skipped.is_empty() && loaded.dispatcher.registry.is_empty());
}

#[tokio::test]
async fn s13_2_what_is_wrong_is_refused_and_the_rest_is_served() {
    let folder = deployment(&[
        ("endpoints/b.toml", &function("LEARN", "/b", "same")),
        ("endpoints/a.toml", &function("QUERY", "/a", "same")),
        ("endpoints/c.toml", "this is no TOML"),
        ("endpoints/d.toml", &endpoint("QUERY", "/d", "")),
        ("endpoints/e.toml", &function("QUERY", "/e", "same").replace("description", "descrption")),
    ]);
    let loaded = loaded(folder.path());
    let problems = problems(&loaded);
    assert!(problems[0].starts_with("b.toml:3: verb-not-in-catalog"), "{problems:?}");
    assert!(problems[1].starts_with("c.toml:1: "), "{problems:?}");
    assert!(problems[2].starts_with("d.toml:") && problems[2].contains("errors-missing"), "{problems:?}");
    assert!(problems[3].starts_with("d.toml:") && problems[3].contains("handler-missing"), "{problems:?}");
    assert!(problems[4].starts_with("e.toml:5: unknown key"), "{problems:?}");
    assert_eq!(served(&loaded), ["QUERY /a"]);
    assert!(answer(&loaded, call("QUERY", "/a", json!({}))).await.is_ok());
}

#[test]
fn only_plain_files_of_the_folder_itself_are_read() {
    let text = function("QUERY", "/a", "same");
    let folder = deployment(&[
        ("endpoints/.a.toml", "hidden"),
        ("endpoints/a.toml~", "left by an editor"),
        ("endpoints/a.json", "{}"),
        ("endpoints/deeper/a.toml", "not looked at"),
        ("endpoints/folder.toml/x", "a folder"),
        ("endpoints/a.toml", &text),
    ]);
    let loaded = loaded(folder.path());
    assert_eq!((problems(&loaded), served(&loaded)), (Vec::new(), vec!["QUERY /a".to_owned()]));
}

#[test]
fn a_file_has_a_bound() {
    let text = function("QUERY", "/a", "same");
    let padded = |bytes: usize| format!("{text}#{}", " ".repeat(bytes - text.len() - 1));
    let found = |text: &str| problems(&loaded(deployment(&[("endpoints/a.toml", text)]).path()));
    assert_eq!(found(&padded(FILE_BYTES_MAX)), Vec::<String>::new());
    assert!(found(&padded(FILE_BYTES_MAX + 1))[0].contains("is larger than"));
    let folder = deployment(&[]);
    std::fs::create_dir_all(folder.path().join("endpoints")).unwrap();
    std::fs::write(folder.path().join("endpoints/a.toml"), [0xff, 0xfe]).unwrap();
    assert_eq!(problems(&loaded(folder.path())), ["a.toml:0: is not UTF-8 text"]);
}

#[test]
fn a_schema_may_lie_beside_its_endpoint() {
    let text = function("QUERY", "/a", "same");
    let start = text.find("input_schema").unwrap();
    let end = start + text[start..].find('\n').unwrap();
    let named = format!("{}input_schema = \"a.schema.json\"{}", &text[..start], &text[end..]);
    let found = |files: &[(&str, &str)]| {
        let folder = deployment(files);
        problems(&loaded(folder.path()))
    };
    let schema = r#"{"type": "object", "additionalProperties": false}"#;
    assert_eq!(found(&[("endpoints/a.toml", &named), ("endpoints/a.schema.json", schema)]), Vec::<String>::new());
    let missing = found(&[("endpoints/a.toml", &named)]);
    assert!(missing[0].contains("input-schema-invalid") && missing[0].contains("is not there"), "{missing:?}");
    let large = format!("{schema}{}", " ".repeat(64 * 1024));
    assert!(found(&[("endpoints/a.toml", &named), ("endpoints/a.schema.json", &large)])[0].contains("is larger than"));
}

#[tokio::test]
async fn s5_4_of_two_in_each_others_way_the_first_file_counts() {
    let folder = deployment(&[
        ("endpoints/1.toml", &function("QUERY", "/rooms/{id}", "same")),
        ("endpoints/2.toml", &function("QUERY", "/rooms/{n}", "echo")),
        ("endpoints/3.toml", &function("BOOK", "/halls", "same")),
        ("endpoints/4.toml", &function("BOOK", "/halls", "echo")),
    ]);
    let loaded = loaded(folder.path());
    let problems = problems(&loaded);
    assert!(
        problems[0].starts_with("2.toml:4: ") && problems[1].starts_with("4.toml:4: endpoint-duplicate"),
        "{problems:?}"
    );
    assert_eq!((problems.len(), served(&loaded).len()), (2, 2));
    assert_eq!(answer(&loaded, call("BOOK", "/halls", json!({}))).await, Ok(json!({})), "the first one answers");
}

#[test]
fn s12_1_a_composition_names_a_recipe_that_is_there() {
    let folder = deployment(&[("endpoints/a.toml", &composition("PLAN", "/a", "none", ""))]);
    let problems = problems(&loaded(folder.path()));
    assert!(problems.len() == 1 && problems[0].starts_with("a.toml:10: recipe-not-found"), "{problems:?}");
}

#[test]
fn s13_2_a_composition_is_made_of_what_is_there() {
    let recipes = recipe("one", "{ method = \"QUERY\", path = \"/q\" }, { method = \"QUERY\", path = \"/gone\" }")
        + &recipe("two", "{ method = \"PLAN\", path = \"/one\" }")
        + &recipe(
            "three",
            "{ method = \"QUERY\", path = \"/q\" }, { method = \"QUERY\", path = \"/{x}\", parameters = { x = { kind = \"constant\", value = \"gone\" } } }",
        );
    let folder = deployment(&[
        ("recipes.toml", &recipes),
        ("endpoints/one.toml", &composition("PLAN", "/one", "one", "")),
        ("endpoints/two.toml", &composition("PLAN", "/two", "two", "")),
        ("endpoints/three.toml", &composition("PLAN", "/three", "three", "")),
        ("endpoints/q.toml", &function("QUERY", "/q", "same")),
        ("endpoints/gone.toml", &function("QUERY", "/gone", "missing")),
    ]);
    let loaded = loaded(folder.path());
    assert_eq!(
        problems(&loaded),
        [
            "gone.toml:10: function-not-found: there is no function named `missing`",
            "one.toml:10: recipe-step-missing: step 1 of `one` calls QUERY /gone, where nothing answers",
            "two.toml:10: recipe-step-missing: step 0 of `two` calls PLAN /one, where nothing answers",
        ]
    );
    assert_eq!(served(&loaded), ["QUERY /q", "PLAN /three"], "what is found out at the call stays");
}

#[test]
fn compositions_do_not_lead_back_to_themselves() {
    let recipes = recipe("self", "{ method = \"PLAN\", path = \"/self\" }")
        + &recipe("a", "{ method = \"PLAN\", path = \"/b\" }")
        + &recipe("b", "{ method = \"PLAN\", path = \"/a\" }")
        + &recipe("outside", "{ method = \"PLAN\", path = \"/a\" }");
    let folder = deployment(&[
        ("recipes.toml", &recipes),
        ("endpoints/self.toml", &composition("PLAN", "/self", "self", "")),
        ("endpoints/a.toml", &composition("PLAN", "/a", "a", "")),
        ("endpoints/b.toml", &composition("PLAN", "/b", "b", "")),
        ("endpoints/outside.toml", &composition("PLAN", "/outside", "outside", "")),
    ]);
    let loaded = loaded(folder.path());
    let tags: Vec<String> =
        problems(&loaded).iter().map(|problem| problem.splitn(4, ':').take(3).collect::<Vec<_>>().join(":")).collect();
    assert_eq!(
        tags,
        [
            "a.toml:10: recipe-circular",
            "b.toml:10: recipe-circular",
            "self.toml:10: recipe-circular",
            "outside.toml:10: recipe-step-missing"
        ]
    );
    assert!(loaded.dispatcher.registry.is_empty());
}

#[test]
fn recipes_are_read_from_one_file_under_either_name() {
    let one = recipe("one", "{ method = \"QUERY\" }");
    for name in ["recipes.toml", "endpoints/recipes.toml", "agtp-recipes.toml", "endpoints/agtp-recipes.toml"] {
        let loaded = loaded(deployment(&[(name, &one)]).path());
        assert_eq!(problems(&loaded), Vec::<String>::new(), "{name}");
        assert!(loaded.dispatcher.recipes.get("one").is_some(), "{name}");
    }
    let both = deployment(&[("recipes.toml", &one), ("agtp-recipes.toml", &recipe("two", "{ method = \"QUERY\" }"))]);
    let loaded = loaded(both.path());
    assert!(problems(&loaded)[0].starts_with("agtp-recipes.toml:0: recipes-twice"));
    assert!(loaded.dispatcher.recipes.get("one").is_some() && loaded.dispatcher.recipes.get("two").is_none());
}

#[test]
fn a_recipe_that_is_wrong_does_not_take_others_with_it() {
    let recipes = recipe("bad", "{ method = \"LEARN\" }") + &recipe("good", "{ method = \"QUERY\", path = \"/q\" }");
    let folder = deployment(&[
        ("recipes.toml", &recipes),
        ("endpoints/bad.toml", &composition("PLAN", "/bad", "bad", "")),
        ("endpoints/good.toml", &composition("PLAN", "/good", "good", "")),
        ("endpoints/q.toml", &function("QUERY", "/q", "same")),
    ]);
    let loaded = loaded(folder.path());
    let problems = problems(&loaded);
    assert!(problems[0].starts_with("recipes.toml:3: recipe-step-method-missing"), "{problems:?}");
    assert!(problems[1].starts_with("bad.toml:10: recipe-not-found"), "{problems:?}");
    assert_eq!(served(&loaded), ["PLAN /good", "QUERY /q"]);
}

fn custom_catalog(verbs: &str) -> std::sync::Arc<Catalog> {
    let folder = deployment(&[("catalog.json", &format!(r#"{{"version": "2.0.0", "verbs": {{{verbs}}}}}"#))]);
    catalog(&folder.path().join("catalog.json")).unwrap()
}

#[test]
fn s4_5_a_catalog_without_a_verb_refuses_what_was_made_with_it() {
    let folder = deployment(&[
        (
            "recipes.toml",
            &(recipe("old", "{ method = \"BOOK\", path = \"/b\" }")
                + &recipe("new", "{ method = \"FROB\", path = \"/f\" }")),
        ),
        ("endpoints/b.toml", &function("BOOK", "/b", "same")),
        ("endpoints/f.toml", &function("FROB", "/f", "same")),
        ("endpoints/new.toml", &composition("PLAN", "/new", "new", "")),
        ("endpoints/old.toml", &composition("PLAN", "/old", "old", "")),
    ]);
    let settings = json!({"disallow": ["BOOK", "FROB"], "aliases": {}, "allow": ["BOOK"],
        "redirects": [{"from_method": "BOOK", "to_method": "FROB"}]});
    let settings = serde_json::from_value(settings).unwrap();
    let terms = RegistrationTerms::new(&settings, custom_catalog(r#""FROB": {"category": "mechanics"}"#)).unwrap();
    let loaded = loaded_with(folder.path(), terms, opened());
    let problems = problems(&loaded);
    assert!(problems[0].starts_with("recipes.toml:3: recipe-step-method-missing"), "{problems:?}");
    assert!(problems[1].starts_with("b.toml:3: verb-not-in-catalog"), "{problems:?}");
    assert!(problems[2].starts_with("old.toml:10: recipe-not-found"), "{problems:?}");
    assert_eq!(served(&loaded), ["FROB /f", "PLAN /new"]);
    let skipped: Vec<String> =
        loaded.skipped.iter().map(|skipped| format!("{} {}", skipped.directive, skipped.method)).collect();
    assert_eq!(skipped, ["allow BOOK", "disallow BOOK", "redirects BOOK"], "section 9.4");
    assert_eq!(loaded.dispatcher.catalog.version(), "2.0.0");
}

#[test]
fn s4_9_a_file_that_is_no_catalog_is_refused() {
    let folder = deployment(&[("catalog.json", "{}")]);
    assert!(catalog(&folder.path().join("catalog.json")).is_err());
    assert!(catalog(&folder.path().join("none.json")).is_err());
    assert!(catalog(folder.path()).is_err());
}

#[test]
fn s5_9_a_path_of_the_hosts_own_is_left_alone_unless_the_operator_says_so() {
    let folder = deployment(&[("endpoints/a.toml", &function("DISCOVER", "/agents", "same"))]);
    assert!(problems(&loaded(folder.path()))[0].starts_with("a.toml:4: reserved-path"));
    let mut terms = terms(json!({}));
    terms.overrides.insert("/agents".into());
    assert_eq!(served(&loaded_with(folder.path(), terms, opened())), ["DISCOVER /agents"]);
}

#[tokio::test]
async fn s13_3_outputs_may_be_held_to_the_letter() {
    let closed = "output_schema = { type = \"object\", properties = { id = {} } }";
    let text = function("QUERY", "/a", "same").replace("output_schema = { type = \"object\" }", closed);
    let folder = deployment(&[("endpoints/a.toml", &text)]);
    let terms = RegistrationTerms { is_output_strict: true, ..terms(json!({})) };
    let loaded = loaded_with(folder.path(), terms, opened());
    let found = answer(&loaded, call("QUERY", "/a", json!({"n": 1}))).await;
    assert_eq!(found.unwrap_err().kind(), "output-validation-failed");
}

#[test]
fn hostile_recipes_are_refused_at_load() {
    let Some(bytes) = vectors("regex/recipes.json") else { return };
    for case in serde_json::from_slice::<Vec<Value>>(&bytes).unwrap() {
        let (id, expect) = (case["id"].as_str().unwrap(), case["expect"].as_str().unwrap());
        let pattern = match (id, case["pattern"].as_str()) {
            ("re-long", _) => json!({"path_regex": "a".repeat(100_000)}),
            (_, Some(pattern)) => json!({ "path_regex": pattern }),
            (_, None) => case["recipe"].clone(),
        };
        let keys =
            pattern.as_object().unwrap().iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>();
        let text = format!(
            "{}pattern = {{ {} }}\n{}",
            recipe("r", "{ method = \"QUERY\" }"),
            keys.join(", "),
            recipe("next", "{ method = \"QUERY\" }")
        );
        let started = std::time::Instant::now();
        let loaded = loaded(deployment(&[("recipes.toml", &text)]).path());
        assert!(started.elapsed().as_secs() < 30, "{id}");
        let is_refused = loaded.dispatcher.recipes.get("r").is_none();
        assert!(is_refused == expect.starts_with("refused") || expect.contains(" or bounded"), "{id}: {expect}");
        assert!(loaded.dispatcher.recipes.get("next").is_some(), "{id} takes no other recipe with it");
    }
}

#[test]
fn what_is_refused_goes_to_the_log_too() {
    let folder = deployment(&[("endpoints/a.toml", "")]);
    loaded(folder.path()).warn();
}

#[test]
fn schemas_are_kept_as_texts_until_somebody_calls() {
    let folder = deployment(&[("endpoints/a.toml", &function("QUERY", "/a", "same"))]);
    let loaded = loaded(folder.path());
    let endpoint = &loaded.dispatcher.registry.iter().next().unwrap().endpoint;
    for schema in [&endpoint.input, &endpoint.output] {
        let text = schema.shared_source().text().map(str::to_owned);
        assert_eq!(text, Some(schema.source().to_string()));
    }
}

#[test]
fn loading_needs_no_environment() {
    let folder = deployment(&[("endpoints/a.toml", &function("QUERY", "/a", "same"))]);
    let kinds = forecourt_endpoints::Kinds {
        egress: opened(),
        functions: crate::support::functions(),
        host: HostHandle::default(),
    };
    assert!(load(folder.path(), terms(json!({})), &|_: &str| None, &kinds).refused.is_empty());
}
