//! Sections 10.5 and 12.1: recipes, their patterns and their steps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_contract::limits::{ELEMENTS_MAX, PATTERN_BYTES_MAX, RECIPES_MAX, RESULT_MEMBERS_MAX, STEPS_MAX};
use forecourt_contract::recipe::{BadReference, Candidate, Run, StepCall, read};
use forecourt_contract::{Catalog, Method, Recipe, RecipeBook};
use forecourt_testkit::vectors;
use serde_json::{Value, json};

use crate::support::{object, policy, section};

fn book(text: &str) -> Result<RecipeBook, Vec<String>> {
    let (book, problems) = read(section(text), &Catalog::shipped(), &policy(json!({})));
    let problems = problems.into_result(book);
    problems.map_err(|problems| problems.iter().map(|problem| problem.message().to_owned()).collect())
}

fn recipe(rest: &str) -> Result<Arc<Recipe>, String> {
    let book = book(&format!("[[recipe]]\nname = \"r\"\n{rest}")).map_err(|mut faults| faults.remove(0))?;
    Ok(Arc::clone(book.get("r").unwrap()))
}

fn pattern(pattern: &str) -> Result<Arc<Recipe>, String> {
    recipe(&format!("steps = [{{ method = \"QUERY\" }}]\npattern = {{ {pattern} }}"))
}

fn matches(recipe: &Recipe, method: &str, path: &str) -> bool {
    let (method, catalog) = (Method::parse(method).unwrap(), Catalog::shipped());
    let parameters = ["guest".to_owned()];
    let candidate = Candidate { method: &method, path, parameters: &parameters, catalog: &catalog };
    recipe.pattern.as_ref().unwrap().matches(&candidate)
}

#[test]
fn recipes_have_names_of_their_own() {
    let step = "steps = [{ method = \"QUERY\" }]";
    let twice = book(&format!("[[recipe]]\nname = \"a\"\n{step}\n[[recipe]]\nname = \"a\"\n{step}")).unwrap_err();
    assert!(twice.len() == 1 && twice[0].starts_with("recipe-duplicate"), "{twice:?}");
    assert!(book(&format!("[[recipe]]\nname = \" \"\n{step}")).unwrap_err()[0].starts_with("recipe-name-missing"));
    assert!(book(&format!("[[recipe]]\n{step}")).unwrap_err()[0].contains("missing key `name`"));
    assert!(book("[[recipes]]\nname = \"a\"").unwrap_err()[0].contains("unknown key"));
}

#[test]
fn s4_5_a_recipe_that_is_wrong_does_not_take_others_with_it() {
    let text = "[[recipe]]\nname = \"a\"\nsteps = [{ method = \"LEARN\" }]\n\
                [[recipe]]\nname = \"b\"\nsteps = [{ method = \"QUERY\" }]\n\
                [[recipe]]\nname = \"b\"\nsteps = [{ method = \"PLAN\" }]";
    let (book, problems) = read(section(text), &Catalog::shipped(), &policy(json!({})));
    assert_eq!(problems.iter().map(|problem| problem.line()).collect::<Vec<_>>(), [Some(3), Some(8)]);
    assert_eq!(book.iter().map(|recipe| recipe.steps[0].method.as_str()).collect::<Vec<_>>(), ["QUERY"]);
}

#[test]
fn s10_5_a_version_is_an_opaque_text() {
    let version =
        |text: &str| recipe(&format!("{text}\nsteps = [{{ method = \"QUERY\" }}]")).map(|r| r.version.clone());
    assert_eq!(version("").as_deref(), Ok("1"));
    assert_eq!(version("version = 3").as_deref(), Ok("3"));
    assert_eq!(version("version = \"2026-01\"").as_deref(), Ok("2026-01"));
    for wrong in ["version = \"\"", "version = true", "version = []"] {
        assert!(version(wrong).unwrap_err().starts_with("recipe-bad-version"), "{wrong}");
    }
}

#[test]
fn s4_5_a_step_under_a_method_that_is_gone_is_refused() {
    for method in ["LEARN", "query", "GET"] {
        let fault = recipe(&format!("steps = [{{ method = \"{method}\" }}]")).unwrap_err();
        assert!(fault.starts_with("recipe-step-method-missing"), "{fault}");
    }
    assert!(
        recipe("steps = [{ method = \"QUERY\", path = \"/order\" }]")
            .unwrap_err()
            .starts_with("recipe-step-path:method-name")
    );
}

#[test]
fn references_lead_somewhere() {
    for steps in [
        "[{ method = \"QUERY\", parameters = { x = { kind = \"previous_step\", value = \"a\" } } }]",
        "[{ method = \"QUERY\", capture_as = \"a\", parameters = { x = { kind = \"previous_step\", value = \"a\" }}}]",
        "[{ method = \"QUERY\", capture_as = \"a\" }, { method = \"PLAN\", capture_as = \"a\" }]",
        "[{ method = \"QUERY\", path = \"/rooms/{id}\" }]",
        "[{ method = \"QUERY\", path = \"/rooms/{id}\", parameters = { id = { kind = \"constant\", value = \"..\" } } }]",
        "[{ method = \"QUERY\", path = \"/rooms/{id}\", parameters = { id = { kind = \"constant\", value = [1] } } }]",
        "[{ method = \"QUERY\", parameters = { x = { kind = \"proposal\", value = 3 } } }]",
    ] {
        assert!(recipe(&format!("steps = {steps}")).unwrap_err().starts_with("recipe-bad-reference"), "{steps}");
    }
    assert!(recipe("steps = [{ method = \"QUERY\", parameters = { x = { kind = \"magic\", value = 3 } } }]").is_err());
}

#[test]
fn recipes_have_bounds() {
    let steps = |count: usize| recipe(&format!("steps = [{}]", vec!["{ method = \"QUERY\" }"; count].join(",")));
    assert!(steps(STEPS_MAX).is_ok());
    for count in [0, STEPS_MAX + 1] {
        assert!(steps(count).unwrap_err().starts_with("recipe-bad-steps"));
    }
    let recipes = |count: usize| {
        let one = |at| format!("[[recipe]]\nname = \"r{at}\"\nsteps = [{{ method = \"QUERY\" }}]\n");
        book(&(0..count).map(one).collect::<String>())
    };
    assert!(recipes(RECIPES_MAX).is_ok());
    assert!(recipes(RECIPES_MAX + 1).is_err());
    let regex = |bytes: usize| pattern(&format!("path_regex = \"{}\"", "a".repeat(bytes)));
    assert!(regex(PATTERN_BYTES_MAX).is_ok());
    assert!(regex(PATTERN_BYTES_MAX + 1).unwrap_err().starts_with("recipe-bad-pattern"));
}

#[test]
fn a_pattern_has_a_condition_and_no_two_on_one_thing() {
    for wrong in [
        "",
        "path_exact = \"/a\", path_regex = \"/a\"",
        "name_exact = \"BOOK\", name_regex = \"B.*\"",
        "category = \"compute\"",
        "path_regex = \"\"",
        "path_regex = \"a)|(b\"",
        "path_regex = \"(?x)a #\"",
        "name_exact = \"CONDENSE\"",
    ] {
        assert!(pattern(wrong).unwrap_err().starts_with("recipe-bad-pattern"), "{wrong}");
    }
}

#[test]
fn every_condition_must_hold() {
    let recipe = pattern(
        "name_regex = \"B.*K\", category = \"transaction\", has_parameters = [\"guest\"], path_exact = \"/room\"",
    )
    .unwrap();
    assert!(matches(&recipe, "BOOK", "/room"));
    assert!(!matches(&recipe, "BOOK", "/rooms") && !matches(&recipe, "BUY", "/room"));
    assert!(!matches(&recipe, "BENCHMARK", "/room"), "another category");
    let other = pattern("has_parameters = [\"guest\", \"room\"]").unwrap();
    assert!(!matches(&other, "BOOK", "/room"), "a parameter that is not there");
}

#[test]
fn expressions_match_the_whole_text() {
    let recipe = pattern("path_regex = \"/a|/ab\"").unwrap();
    assert!(matches(&recipe, "BOOK", "/a") && matches(&recipe, "BOOK", "/ab"));
    assert!(!matches(&recipe, "BOOK", "/abc") && !matches(&recipe, "BOOK", "x/a"));
    assert_eq!(recipe.pattern.as_ref().unwrap().path_regex().as_deref(), Some("^(?:/a|/ab)$"));
    let any = pattern("name_exact = \"BOOK\"").unwrap();
    assert_eq!(any.pattern.as_ref().unwrap().path_regex().as_deref(), Some("^/.*$"));
    assert_eq!(any.pattern.as_ref().unwrap().method(), Some("BOOK"));
}

#[test]
fn the_first_recipe_that_matches_is_taken() {
    let one = |name: &str, path: &str| {
        format!(
            "[[recipe]]\nname = '{name}'\nsteps = [{{ method = 'QUERY' }}]\npattern = {{ path_regex = '{path}' }}\n"
        )
    };
    let unmatched = "[[recipe]]\nname = \"composition-only\"\nsteps = [{ method = \"QUERY\" }]\n";
    let book = book(&(unmatched.to_owned() + &one("a", "/x") + &one("b", "/.*") + &one("c", "/y"))).unwrap();
    let (method, catalog) = (Method::parse("BOOK").unwrap(), Catalog::shipped());
    let matching = |path| {
        let candidate = Candidate { method: &method, path, parameters: &[], catalog: &catalog };
        book.matching(&candidate).map(|recipe| recipe.name.as_str())
    };
    assert_eq!((matching("/x"), matching("/y"), matching("z")), (Some("a"), Some("b"), None));
}

/// The inputs that the set tells as expressions.
fn told(text: &str) -> String {
    let repeated = |rest: &str| {
        rest.split(' ').next().and_then(|count| count.parse::<usize>().ok()).map(|count| "a".repeat(count))
    };
    let head = text.strip_prefix("'a' * ").and_then(repeated);
    let tail = if text.ends_with("+ '!'") { "!" } else { "" };
    head.map_or_else(|| text.trim_matches('\'').replace("\\n", "\n"), |head| head + tail)
}

#[test]
fn hostile_expressions_are_refused_or_linear() {
    let Some(bytes) = vectors("regex/recipes.json") else { return };
    for case in serde_json::from_slice::<Vec<Value>>(&bytes).unwrap() {
        let (id, expect) = (case["id"].as_str().unwrap(), case["expect"].as_str().unwrap());
        let built = match case["pattern"].as_str() {
            Some(text) if text.starts_with('\'') => pattern(&format!("path_regex = \"{}\"", told(text))),
            Some(text) => pattern(&format!("path_regex = '{text}'")),
            None => pattern("path_exact = \"/a\", path_regex = \"/a\""),
        };
        if expect.starts_with("refused") {
            assert!(built.is_err() || expect.contains("or bounded"), "{id}: {expect}");
            continue;
        }
        let recipe = built.unwrap_or_else(|fault| panic!("{id}: {fault}"));
        let started = Instant::now();
        let found = matches(&recipe, "BOOK", &told(case["input"].as_str().unwrap_or_default()));
        assert!(started.elapsed() < Duration::from_secs(2), "{id} took {:?}", started.elapsed());
        assert!(found == expect.starts_with("match") || expect.starts_with("cannot occur"), "{id}: {expect}");
    }
}

const THREE_STEPS: &str = r#"
[[recipe.steps]]
method = "QUERY"
capture_as = "facts"
[recipe.steps.parameters.intent]
kind = "constant"
value = "ledger"
[recipe.steps.parameters.account]
kind = "proposal"
value = "account_id"
[[recipe.steps]]
method = "FETCH"
path = "/accounts/{id}/lines"
[recipe.steps.parameters.id]
kind = "proposal"
value = "account_id"
[recipe.steps.parameters.facts]
kind = "previous_step"
value = "facts"
[[recipe.steps]]
method = "SUMMARIZE"
"#;

fn three(aggregation: &str) -> Arc<Recipe> {
    recipe(&format!("aggregation = {{ mode = \"{aggregation}\" }}\n{THREE_STEPS}")).unwrap()
}

#[test]
fn s12_1_steps_are_called_in_order_with_what_came_before() {
    let mut run = Run::new(three("last"), object(json!({"account_id": "a/7", "other": 1})));
    let first = StepCall {
        method: Method::parse("QUERY").unwrap(),
        path: "/".into(),
        body: object(json!({"intent": "ledger", "account": "a/7"})),
    };
    assert_eq!(run.next_call(), Some(Ok(first)));
    run.record(json!({"found": 1}));
    let second = run.next_call().unwrap().unwrap();
    assert_eq!(second.path, "/accounts/a%2F7/lines");
    assert_eq!(second.body, object(json!({"facts": {"found": 1}})), "what is in the path is there only");
    run.record(json!([1, 2]));
    assert!(run.next_call().unwrap().unwrap().body.is_empty());
    run.record(json!("done"));
    assert_eq!((run.next_call(), run.done()), (None, 3));
    assert_eq!(run.captured()["facts"], json!({"found": 1}));
    run.record(json!("too much"));
    assert_eq!(run.finish(), json!("done"));
}

#[test]
fn a_value_that_was_not_sent_is_left_out_but_not_of_a_path() {
    let mut run = Run::new(three("last"), object(json!({})));
    assert_eq!(run.next_call().unwrap().unwrap().body, object(json!({"intent": "ledger"})));
    run.record(json!({}));
    assert_eq!((run.next_call(), run.unfit()), (Some(Err(BadReference::Path)), Some("account_id")));
    assert_eq!(Run::new(three("last"), object(json!({"account_id": "a/b"}))).unfit(), None);
    for wrong in [json!({}), json!(".."), json!(""), json!(null), json!([1])] {
        let mut run = Run::new(three("last"), object(json!({"account_id": wrong})));
        assert_eq!(run.unfit(), Some("account_id"));
        run.record(json!({}));
        assert_eq!(run.next_call(), Some(Err(BadReference::Path)));
    }
}

#[test]
fn results_are_aggregated_as_the_recipe_says() {
    let result = |aggregation: &str| {
        let mut run = Run::new(three(aggregation), object(json!({"account_id": 7})));
        [json!({"a": 1, "b": 1}), json!([1]), json!({"b": 2})].into_iter().for_each(|output| run.record(output));
        run.finish()
    };
    assert_eq!(result("last"), json!({"b": 2}));
    assert_eq!(result("merge"), json!({"a": 1, "b": 2}));
    assert_eq!(result("list"), json!([{"a": 1, "b": 1}, [1], {"b": 2}]));
}

/// A recipe whose second step takes `value` of the first one's result.
fn taking(value: &str) -> Result<Arc<Recipe>, String> {
    recipe(&format!(
        "steps = [{{ method = \"QUERY\", capture_as = \"a\" }}, {{ method = \"QUERY\", capture_as = \"a.b\" }}, \
         {{ method = \"SUMMARIZE\", parameters = {{ source = {{ kind = \"previous_step\", value = {value} }} }} }}]"
    ))
}

#[test]
fn s12_1_a_step_takes_what_lies_inside_an_earlier_result() {
    let results = [json!({"b": "of a", "list": [{"c.d": "in the list"}], "none": null}), json!({"c": "of a.b"})];
    let taken = |value: &str| {
        let mut run = Run::new(taking(value).unwrap_or_else(|why| panic!("{value}: {why}")), object(json!({})));
        for result in results.clone() {
            run.next_call().unwrap().unwrap();
            run.record(result);
        }
        run.next_call().unwrap().unwrap().body.get("source").cloned()
    };
    assert_eq!(taken("\"a\""), Some(results[0].clone()));
    assert_eq!(taken("\"a.b\""), Some(results[1].clone()), "the whole name goes before a part of it");
    assert_eq!(taken("\"a.b.c\""), Some(json!("of a.b")));
    assert_eq!(taken("\"a.none\""), Some(Value::Null));
    assert_eq!(taken("{ step = \"a\", pointer = \"/b\" }"), Some(json!("of a")));
    assert_eq!(taken("{ step = \"a\", pointer = \"/list/0/c.d\" }"), Some(json!("in the list")));
    assert_eq!(taken("{ step = \"a\", pointer = \"\" }"), Some(results[0].clone()));
    for nothing in ["\"a.list.1\"", "\"a.list.00\"", "\"a.list.-1\"", "\"a.b2\"", "\"a.list.0.c\"", "\"a.none.x\""] {
        assert_eq!(taken(nothing), None, "{nothing}");
    }
}

#[test]
fn s12_1_a_reference_into_a_result_leads_somewhere() {
    for wrong in [
        "\"x.b\"",
        "\"a.\"",
        "\"a..b\"",
        "3",
        "{ step = \"a\" }",
        "{ step = \"a\", pointer = \"b\" }",
        "{ step = \"x\", pointer = \"/b\" }",
        "{ step = \"a\", pointer = \"/b\", more = 1 }",
    ] {
        assert!(taking(wrong).unwrap_err().starts_with("recipe-bad-reference"), "{wrong}");
    }
    let deep = |members: usize| taking(&format!("\"a{}\"", ".x".repeat(members)));
    assert!(deep(RESULT_MEMBERS_MAX).is_ok() && deep(RESULT_MEMBERS_MAX + 1).is_err());
}

#[test]
fn s12_1_a_result_is_made_of_the_fields_that_a_recipe_names() {
    let of = |aggregation: &str| {
        recipe(&format!("steps = [{{ method = \"QUERY\", capture_as = \"a\" }}]\naggregation = {{ {aggregation} }}"))
    };
    let made = of("mode = \"fields\", fields = { one = \"a.x\", none = \"a.y\", all = \"a\" }").unwrap();
    let kept = serde_json::to_value(&*made).unwrap();
    assert_eq!(serde_json::from_value::<Recipe>(kept).unwrap(), *made);
    let mut run = Run::new(made, object(json!({})));
    run.next_call().unwrap().unwrap();
    run.record(json!({"x": 1}));
    assert_eq!(run.finish(), json!({"one": 1, "all": {"x": 1}}));
    for wrong in ["mode = \"fields\"", "mode = \"last\", fields = { one = \"a\" }"] {
        assert!(of(wrong).unwrap_err().starts_with("recipe-bad-aggregation"), "{wrong}");
    }
    assert!(of("mode = \"fields\", fields = { one = \"b\" }").unwrap_err().starts_with("recipe-bad-reference"));
}

const FIRST: &str = "[[recipe.steps]]\nmethod = \"FETCH\"\npath = \"/order\"\ncapture_as = \"order\"\n";

#[test]
fn s12_1_a_step_is_called_for_each_element_of_a_list() {
    let each = "[[recipe.steps]]\nmethod = \"FETCH\"\npath = \"/products/{id}\"\ncapture_as = \"products\"\n\
                for_each = \"order.lines\"\nparameters = { id = { kind = \"element\", value = \"product_id\" } }\n\
                [recipe.aggregation]\nmode = \"fields\"\nfields = { names = \"products.*.name\" }\n";
    let first = FIRST.replace("/order\"", "/orders-of\"");
    let made = recipe(&format!("{first}{each}")).unwrap();
    let run = |lines: Value, names: &[&str]| {
        let mut run = Run::new(made.clone(), object(json!({})));
        run.next_call().unwrap().unwrap();
        run.record(json!({ "lines": lines }));
        let mut paths = Vec::new();
        for name in names {
            let call = run.next_call().unwrap().unwrap();
            paths.push(call.path);
            run.record(json!({ "name": name }));
        }
        assert!(run.next_call().is_none() && run.done() == 2);
        (paths, run.finish())
    };
    let (paths, result) = run(json!([{"product_id": "a"}, {"product_id": "b"}]), &["A", "B"]);
    assert_eq!(paths, ["/products/a", "/products/b"]);
    assert_eq!(result, json!({"names": ["A", "B"]}));
    assert_eq!(run(json!([]), &[]).1, json!({"names": []}), "no element, no call");
    let next = |lines: Value| {
        let mut run = Run::new(made.clone(), object(json!({})));
        run.next_call().unwrap().unwrap();
        run.record(json!({ "lines": lines }));
        run.next_call().unwrap().map(|call| call.path)
    };
    let many = |count: usize| json!(vec![json!({"product_id": "a"}); count]);
    assert!(next(many(ELEMENTS_MAX)).is_ok());
    assert_eq!(next(many(ELEMENTS_MAX + 1)), Err(BadReference::Elements));
    assert_eq!(next(json!(3)), Err(BadReference::List));
    let alone = each.replace("for_each = \"order.lines\"\n", "");
    assert!(recipe(&format!("{first}{alone}")).unwrap_err().contains("belong together"));
}

#[test]
fn s12_1_an_element_of_a_list_is_the_one_that_the_caller_names() {
    let first = FIRST.replace("/order\"", "/reviews-of\"").replace("\"order\"", "\"found\"");
    let taken = "[recipe.aggregation]\nmode = \"fields\"\nfields = { rating = { step = \"found\", pointer = \"/reviews\", \
                 where = { member = \"id\", equals = \"review_id\" }, then = \"/rating\" } }\n";
    let made = recipe(&format!("{first}{taken}")).unwrap();
    let rating = |reviews: Value| {
        let mut run = Run::new(made.clone(), object(json!({"review_id": "b"})));
        run.next_call().unwrap().unwrap();
        run.record(json!({ "reviews": reviews }));
        run.finish()
    };
    let (a, b) = (json!({"id": "a", "rating": 1}), json!({"id": "b", "rating": 5}));
    assert_eq!(rating(json!([a, b])), json!({"rating": 5}));
    assert_eq!(rating(json!([a])), json!({}));
    assert_eq!(rating(json!([b, b])), json!({}), "of two nobody knows which is meant");
    let misspelled = taken.replace("equals", "equal");
    assert!(recipe(&format!("{first}{misspelled}")).unwrap_err().contains("where = { member, equals }"));
}
