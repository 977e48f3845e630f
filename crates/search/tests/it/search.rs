//! `search`: what is asked, what is found, and what is said about it.

use std::path::Path;

use forecourt_agents::{BuiltAgent, Context};
use forecourt_core::findings::AppliedLimit;
use forecourt_core::policy::RefusalKind;
use forecourt_core::reply::collect;
use forecourt_core::{
    CollectedReply, Ending, Event, Findings, FindingsDetail, Message, Part, QuestionAnswer, Role, SearchOptions,
    SearchRefinement, Turn, findings,
};
use forecourt_search::limits::{CONTENT_SOURCES_MAX, RESULTS_MAX};
use futures::StreamExt;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ask, ask_after, build, events, in_folder, message, problems, section, stream};

const SETTINGS: &str =
    "[backend]\nkind = \"search\"\ncontent = [\"recipes.jsonl\"]\nitem_label = \"recipes\"\nresults = 3\n";

fn recipes() -> Vec<Value> {
    let recipe = |name: &str, time: Option<&str>, ingredients: &[&str]| {
        let mut item = json!({
            "@context": "https://schema.org",
            "@type": "Recipe",
            "@id": format!("https://r.example/{}", name.replace(' ', "-")),
            "url": format!("https://r.example/{}", name.replace(' ', "-")),
            "name": name,
            "recipeIngredient": ingredients,
        });
        if let Some(time) = time {
            item["totalTime"] = time.into();
        }
        item
    };
    vec![
        recipe("Hummus", Some("PT20M"), &["1 can chickpeas", "tahini"]),
        recipe("Chickpea stew", Some("PT2H"), &["chickpeas", "tomatoes"]),
        recipe("Chickpea and almond salad", Some("PT10M"), &["chickpeas", "almonds"]),
        recipe("Chickpea curry", None, &["chickpeas", "coconut milk"]),
        recipe("Chickpea *soup* [thick]", Some("PT30M"), &["chickpeas", "chicken stock"]),
        recipe("Plain bread", Some("PT4H"), &["flour", "yeast"]),
    ]
}

fn write(folder: &Path, items: &[Value]) {
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    std::fs::write(folder.join("recipes.jsonl"), lines).unwrap();
}

fn deployment() -> (TempDir, Context) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &recipes());
    let context = in_folder(folder.path());
    (folder, context)
}

/// The kitchen, indexed.
fn kitchen() -> (TempDir, BuiltAgent) {
    let (folder, context) = deployment();
    let built = build(SETTINGS, &context);
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    (folder, built)
}

fn names(answer: &CollectedReply) -> Vec<String> {
    let data = answer.parts.iter().filter_map(|part| match part {
        Part::Data(data) => data.data["name"].as_str().map(str::to_owned),
        _ => None,
    });
    data.collect()
}

#[tokio::test]
async fn an_answer_has_a_lead_a_list_and_the_items_as_data() {
    let (_folder, built) = kitchen();
    let answer = ask(&built, "something quick with chickpeas, no nuts").await;
    let text = answer.text();
    assert_eq!(names(&answer), ["Chickpea *soup* [thick]", "Hummus"], "{text}");
    for wanted in [
        r"2 recipes match; the best is **[Chickpea \*soup\* \[thick\]](https://r.example/Chickpea-*soup*-[thick])** (30 minutes).",
        "Limits: 30 minutes or less; no nuts; with chickpeas.",
        "left out",
        "\n2. **[Hummus](https://r.example/Hummus)**: 20 minutes",
        "With 1 can chickpeas",
        "Fits: 30 minutes or less (20 minutes); no nuts",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert_eq!(answer.ending, Ending::Complete);
    let Part::Data(first) = &answer.parts[1] else { panic!("{answer:?}") };
    let mut item = (*first.data).clone();
    let grounding = item.as_object_mut().and_then(|fields| fields.remove("grounding")).unwrap_or_default();
    assert_eq!(grounding["source_urls"][0], item["url"]);
    assert_eq!(item, recipes()[4], "the item as it was loaded");
}

#[tokio::test]
async fn items_come_one_by_one_and_the_same_way_each_time() {
    let (_folder, built) = kitchen();
    let first = events(&built, message(vec![Part::text("chickpeas")])).await;
    let texts = first.iter().filter(|event| matches!(event, Event::Text(_))).count();
    assert_eq!(texts, 5, "lead, three items, how to go on: {first:?}");
    assert_eq!(first, events(&built, message(vec![Part::text("chickpeas")])).await);
}

#[tokio::test]
async fn more_goes_on_and_then_says_that_it_was_all() {
    let (_folder, built) = kitchen();
    let first = ask(&built, "chickpeas").await;
    assert!(first.text().contains("Say *more*"), "{}", first.text());
    let asked = |count: usize| {
        std::iter::once("chickpeas")
            .chain(std::iter::repeat_n("more", count))
            .map(|t| Turn::text(Role::User, t))
            .collect()
    };
    let second = ask_after(&built, asked(0), "more").await;
    assert!(second.text().contains("\n4. ") && second.text().starts_with("Recipes 4 to 5"), "{}", second.text());
    assert!(names(&second).iter().all(|name| !names(&first).contains(name)));
    let third = ask_after(&built, asked(1), "more recipes please").await;
    assert!(third.text().contains("That was all"), "{}", third.text());
}

#[tokio::test]
async fn a_follow_up_narrows_down_what_was_asked() {
    let (_folder, built) = kitchen();
    let history = vec![Turn::text(Role::User, "chickpeas, no nuts"), Turn::text(Role::Assistant, "…")];
    let answer = ask_after(&built, history, "and under 21 minutes?").await;
    assert_eq!(names(&answer), ["Hummus"], "{}", answer.text());
    assert!(answer.text().contains("One match: **[Hummus]"), "{}", answer.text());
}

#[tokio::test]
async fn nothing_is_said_honestly_with_what_to_relax() {
    let (_folder, built) = kitchen();
    let answer = ask(&built, "chickpeas with almonds under 15 minutes, no nuts").await;
    assert!(names(&answer).is_empty());
    let text = answer.text();
    for wanted in ["I found no recipes for this.", "Limits:", "- Without “no nuts”: **[Chickpea and almond salad]"]
    {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    let text = ask(&built, "xyzzy plugh").await.text();
    assert!(text.contains("None of them mentions any of these words"), "{text}");
}

#[tokio::test]
async fn a_greeting_is_answered_with_what_can_be_asked() {
    let (_folder, built) = kitchen();
    for text in ["", "hello", "help"] {
        let answer = ask(&built, text).await;
        for wanted in ["I am **Agent**.", "“under 30 minutes”", "“no nuts”", "I know 6 of them."] {
            assert!(answer.text().contains(wanted), "{wanted}\n{}", answer.text());
        }
        assert!(!answer.text().contains("1999"), "limits that the content does not know are not offered");
    }
}

#[tokio::test]
async fn values_asked_for_by_name_hold_or_are_named_as_ignored() {
    let (_folder, built) = kitchen();
    let filters =
        Part::data(json!({"filters": {"itemType": "Recipe", "recipeIngredient": "almonds", "colour": "blue"}}));
    let answer = forecourt_core::reply::collect(
        crate::support::stream(&built, message(vec![Part::text("chickpeas"), filters])).await,
    )
    .await;
    assert_eq!(names(&answer), ["Chickpea and almond salad"]);
    assert!(answer.text().contains("Not applied, since no item has it: colour: blue."), "{}", answer.text());
}

#[tokio::test]
async fn what_is_known_of_the_caller_constrains_is_named_and_can_be_set_aside() {
    let (_folder, built) = kitchen();
    let asking = async |text: &str, context: Value| {
        let parts = vec![Part::text(text), Part::data(json!({ "context": context }))];
        forecourt_core::reply::collect(crate::support::stream(&built, message(parts)).await).await
    };
    let answer = asking("chickpeas", json!({"memory": "vegetarian, no nuts, under 30 minutes"})).await;
    assert_eq!(names(&answer), ["Hummus"], "{}", answer.text());
    assert!(answer.text().contains("As you told before: 30 minutes or less; no nuts; vegetarian"), "{}", answer.text());
    let aside = asking("chickpeas, ignore my preferences", json!({"memory": "vegetarian, no nuts"})).await;
    assert_eq!(names(&aside).len(), 3, "{}", aside.text());
    let leaning = asking("chickpeas", json!({"text": "cooking for people who love tomatoes"})).await;
    assert_eq!(names(&leaning)[0], "Chickpea stew", "{}", leaning.text());
    let custom = json!({"@type": "UserDiet", "@context": "https://x.example/diet", "allergies": ["nuts"]});
    assert!(!names(&asking("chickpeas", custom).await).contains(&"Chickpea and almond salad".to_owned()));
}

#[tokio::test]
async fn more_keeps_the_filters_by_name() {
    let (_folder, built) = kitchen();
    let filters = Part::data(json!({"filters": {"recipeIngredient": "chickpeas"}}));
    let first = Turn { parts: vec![Part::text("recipes"), filters], ..Turn::text(Role::User, "recipes") };
    let more = ask_after(&built, vec![first, Turn::text(Role::Assistant, "…")], "more").await;
    assert_eq!(names(&more).len(), 2, "{}", more.text());
    assert!(more.text().contains("Recipes 4 to 5"), "{}", more.text());
}

#[tokio::test]
async fn whoever_wishes_for_findings_is_told_them_before_the_answer() {
    let (_folder, built) = kitchen();
    let asking = |text: &str, wishes: bool| {
        let filters = Part::data(json!({"filters": {"colour": "blue", "x": [1]}}));
        let mut message = message(vec![Part::text(text), filters]);
        message.search.findings = if wishes { FindingsDetail::Summary } else { FindingsDetail::None };
        message
    };
    let told = async |text: &str, wishes: bool| {
        let first = crate::support::stream(&built, asking(text, wishes)).await.next().await;
        match first {
            Some(Event::Findings(findings)) => Some(*findings),
            _ => None,
        }
    };
    let found = told("chickpeas", true).await.expect("findings");
    assert_eq!((found.count > 0, found.items.len(), found.more), (true, found.count, true));
    assert_eq!(found.ignored, ["colour", "x"]);
    let applied = told("chickpeas, no nuts", true).await.expect("findings").applied;
    assert_eq!(applied, [AppliedLimit { words: "no nuts".to_owned(), said: Some("no nuts".to_owned()) }]);
    assert!(found.summary.contains("match") && !found.summary.contains("\n1."), "{}", found.summary);
    let nothing = told("zzxqqq", true).await.expect("findings");
    assert_eq!((nothing.count, nothing.items.len()), (0, 0));
    assert!(nothing.summary.contains("I found no"), "{}", nothing.summary);
    assert_eq!(told("chickpeas", false).await, None);
    assert_eq!(told("hello", false).await, None);
}

#[tokio::test]
async fn before_the_first_run_callers_are_asked_to_wait() {
    let (_folder, context) = deployment();
    let answer = ask(&build(SETTINGS, &context), "chickpeas").await;
    let Ending::Refused(part) = answer.ending else { panic!("{answer:?}") };
    assert_eq!(part.kind, RefusalKind::ServiceUnavailable { retry_after_seconds: Some(2) });
}

#[test]
fn keys_of_the_release_before_are_taken_and_told() {
    let section = section(
        "[backend]\nkind = \"search\"\ncontent = [\"a\"]\nnoun = \"recipes\"\n[backend.sharpen]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\n",
    );
    let read = section.clone();
    assert!(forecourt_search::build(section, &in_folder(Path::new("."))).is_ok());
    let told: Vec<String> = read.moved_keys().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("agents/agent.toml:4: `backend.noun` is now `backend.item_label`"), "{told:?}");
    assert!(told[1].contains("agents/agent.toml:5: `backend.sharpen` is now `backend.rerank`"), "{told:?}");
}

/// Whether the index of the deployment at this path is the one that it needs, without another run.
fn is_current(folder: &Path) -> bool {
    let indexing = build(SETTINGS, &in_folder(folder)).indexing.unwrap();
    indexing.is_current(indexing.fingerprint().unwrap())
}

#[tokio::test]
async fn an_index_stays_current_however_its_deployment_is_spelled() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("site");
    std::fs::create_dir_all(folder.join("sub")).unwrap();
    write(&folder, &recipes());
    build(SETTINGS, &in_folder(&folder)).indexing.unwrap().index(&mut |_| {}).unwrap();
    assert!(is_current(&folder));
    assert!(is_current(&folder.join("sub/..")), "another spelling");
    #[cfg(unix)]
    {
        let link = parent.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert!(is_current(&link), "a symlink");
    }
    let moved = parent.path().join("moved");
    std::fs::rename(&folder, &moved).unwrap();
    assert!(is_current(&moved), "a moved folder");
    let indexed = build(SETTINGS, &in_folder(&moved)).indexing.unwrap().index(&mut |_| {}).unwrap();
    assert_eq!((indexed.loaded, indexed.updated, indexed.unchanged), (0, 0, 6), "no item is written again");
    write(&moved, &recipes()[..2]);
    assert!(!is_current(&moved));
}

#[tokio::test]
async fn an_index_is_current_until_its_files_or_settings_change() {
    let (folder, context) = deployment();
    let built = build(SETTINGS, &context);
    let indexing = built.indexing.clone().unwrap();
    let current = |built: &BuiltAgent| {
        let indexing = built.indexing.as_ref().unwrap();
        indexing.is_current(indexing.fingerprint().unwrap())
    };
    assert!(!current(&built));
    let mut steps = 0;
    let indexed = indexing.index(&mut |_| steps += 1).unwrap();
    assert_eq!((indexed.items, indexed.loaded, indexed.warnings.len(), steps > 0), (6, 6, 0, true));
    assert!(current(&built));
    write(folder.path(), &recipes()[..2]);
    assert!(!current(&built));
    let indexed = indexing.index(&mut |_| {}).unwrap();
    assert_eq!((indexed.items, indexed.removed, indexed.unchanged), (2, 4, 2));
    assert_eq!(names(&ask(&built, "bread").await).len(), 0);
    drop((built, indexing));
    let german = build(&format!("{SETTINGS}language = \"de\"\n"), &context);
    assert!(!current(&german), "other settings make another index");
    drop(german);
    assert!(current(&build(SETTINGS, &context)), "and the mark outlives the process");
}

#[tokio::test]
async fn missing_content_is_an_error_of_the_run() {
    let (folder, context) = deployment();
    std::fs::remove_file(folder.path().join("recipes.jsonl")).unwrap();
    let built = build(SETTINGS, &context);
    let indexing = built.indexing.unwrap();
    assert!(indexing.fingerprint().is_err());
    assert!(indexing.index(&mut |_| {}).unwrap_err().to_string().contains("recipes.jsonl"));
    assert_eq!(indexing.sources(), [folder.path().join("recipes.jsonl")]);
}

#[tokio::test]
async fn built_in_content_is_found_by_its_name() {
    let (folder, context) = deployment();
    std::fs::create_dir(folder.path().join("pages")).unwrap();
    std::fs::write(folder.path().join("pages/a.md"), "# Adding an agent\n\nPut a file into agents.\n").unwrap();
    let context = Context { builtin: vec![("manual".to_owned(), folder.path().join("pages"))], ..context };
    let toml = "[backend]\nkind = \"search\"\ncontent = [\"builtin:manual\"]\nitem_label = \"sections\"\n\
                urls = { \"builtin:manual\" = \"https://docs.example/\" }\n";
    let built = build(toml, &context);
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    let text = ask(&built, "how do I add an agent?").await.text();
    assert!(text.starts_with("Put a file into agents.\n\nFrom "), "what a text says leads the answer: {text}");
    assert_eq!(text.matches("Put a file").count(), 1, "{text}");
    assert!(text.contains("[Adding an agent](https://docs.example/"), "{text}");
}

#[test]
fn settings_are_checked() {
    let with = |more: &str| format!("[backend]\nkind = \"search\"\n{more}");
    for (more, wanted) in [
        ("", "`content` must be between 1 and"),
        ("content = []\n", "`content` must be between 1 and"),
        ("content = [\"builtin:x\"]\n", "there is no `builtin:x`"),
        ("content = [\"a\"]\nresults = 0\n", "between 1 and 50"),
        ("content = [\"a\"]\nresults = 51\n", "between 1 and 50"),
        ("content = [\"a\"]\nitem_label = \" \"\n", "`item_label` is a word"),
        ("content = [\"a\"]\nurls = { b = \"https://x.example/\" }\n", "`b`, which is not in `content`"),
        ("content = [\"a\"]\nurls = { a = \"/x\" }\n", "that begins with https://"),
        ("content = [\"a\"]\nlanguage = \"??\"\n", "language tag"),
        ("content = [\"a\"]\ntime_zone = \"Europe/Atlantis\"\n", "there is no time zone `Europe/Atlantis`"),
        ("content = [\"a\"]\ntime_zone = \"\"\n", "there is no time zone"),
        ("content = [\"a\"]\nmodel = \"x\"\n", "known keys are"),
    ] {
        let said = problems(&with(more));
        assert!(said.contains(wanted), "{said}");
    }
    let (_folder, context) = deployment();
    build(&with(&format!("content = [\"a\"]\nresults = {RESULTS_MAX}\n")), &context);
    let many = |count: usize| with(&format!("content = [{}]\n", "\"a\", ".repeat(count)));
    build(&many(CONTENT_SOURCES_MAX), &context);
    assert!(problems(&many(CONTENT_SOURCES_MAX + 1)).contains("`content` must be between"));
}

/// Forty dishes of two categories, every fourth one from another host than the others.
fn canteen(elicit: &str) -> (TempDir, BuiltAgent) {
    let folder = tempfile::tempdir().unwrap();
    let dish = |n: usize| {
        let category = if n.is_multiple_of(2) { "Soup" } else { "Dessert" };
        let host = if n % 4 < 3 { "a" } else { "b" };
        json!({"@type": "Recipe", "url": format!("https://{host}.example/{n}"), "name": format!("Pumpkin dish {n}"),
            "recipeCategory": category})
    };
    write(folder.path(), &(0..40).map(dish).collect::<Vec<_>>());
    let built = build(&format!("{SETTINGS}{elicit}\n"), &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    (folder, built)
}

fn categories(answer: &CollectedReply) -> Vec<String> {
    let data = answer.parts.iter().filter_map(|part| match part {
        Part::Data(data) => data.data["recipeCategory"].as_str().map(str::to_owned),
        _ => None,
    });
    data.collect()
}

#[tokio::test]
async fn very_many_items_are_asked_back_about_once() {
    let (_folder, built) = canteen("elicit = { over = 39 }");
    let asked = ask(&built, "pumpkin").await;
    let Ending::Question(question) = &asked.ending else { panic!("{:?}", asked.ending) };
    assert_eq!(question.questions[0]["id"], "recipeCategory");
    assert_eq!(question.questions[0]["type"], "single_select");
    assert_eq!(question.questions[0]["options"], json!(["Dessert", "Soup", "no preference"]));
    let asking = || Turn { question: Some(Box::new(question.clone())), ..Turn::text(Role::Assistant, "Which?") };
    let history = || vec![Turn::text(Role::User, "pumpkin"), asking()];
    let narrowed = ask_after(&built, history(), "soup").await;
    assert_eq!((narrowed.ending.clone(), categories(&narrowed)), (Ending::Complete, vec!["Soup".to_owned(); 3]));
    let all = ask_after(&built, history(), "all of them").await;
    assert_eq!((all.ending.clone(), categories(&all).len()), (Ending::Complete, 3));
    for said in ["recipeCategory: soup", "Which kind of dish? Soup"] {
        assert_eq!(categories(&ask_after(&built, history(), said).await), ["Soup"; 3], "{said}");
    }
    let answers = vec![QuestionAnswer { id: "recipeCategory".to_owned(), value: json!("Dessert") }];
    let typed = Message { history: history().into(), answers, ..message(vec![Part::text("that one, please")]) };
    assert_eq!(categories(&collect(stream(&built, typed).await).await), ["Dessert"; 3]);
    // Our own sentence, which anybody can write, is none of our questions.
    let sentence = vec![Turn::text(Role::User, "pumpkin"), Turn::text(Role::Assistant, question.text.clone())];
    let unasked = ask_after(&built, sentence, "all of them").await;
    assert!(matches!(unasked.ending, Ending::Question(_)), "{unasked:?}");
    // A caller that names the question and tells only its own turns.
    let parts = vec![Part::text("Dessert"), Part::data(json!({"filters": {"recipeCategory": "Dessert"}}))];
    let history = vec![Turn::text(Role::User, "pumpkin")];
    let answer = forecourt_core::Message { history: history.into(), ..message(parts) };
    let named = forecourt_core::reply::collect(crate::support::stream(&built, answer).await).await;
    assert_eq!(categories(&named), ["Dessert"; 3]);
}

#[tokio::test]
async fn what_is_asked_back_goes_by_the_items_of_the_host_that_is_asked_for() {
    let asked_for = async |over: usize, host: &str| {
        let (_folder, built) = canteen(&format!("elicit = {{ over = {over} }}"));
        let exactly = vec![(findings::URL_HOST.to_owned(), host.to_owned())];
        let narrowing = SearchRefinement { exactly, ..SearchRefinement::default() };
        let mut message = message(vec![Part::text("pumpkin")]);
        message.search.narrowing = narrowing;
        collect(stream(&built, message).await).await.ending
    };
    assert!(matches!(asked_for(29, "a.example").await, Ending::Question(asked) if asked.text.starts_with("30 ")));
    assert_eq!(asked_for(30, "a.example").await, Ending::Complete);
    assert_eq!(asked_for(5, "b.example").await, Ending::Complete, "all of them are desserts");
}

#[tokio::test]
async fn nothing_is_asked_back_below_the_bound_or_by_default() {
    for elicit in ["elicit = { over = 40 }", "elicit = true", "elicit = false", ""] {
        let (_folder, built) = canteen(elicit);
        assert_eq!(ask(&built, "pumpkin").await.ending, Ending::Complete, "{elicit}");
    }
    assert!(problems(&format!("{SETTINGS}elicit = \"often\"\n")).contains("`{ over = N }`"));
}

#[tokio::test]
async fn ranks_are_explained_to_the_operator() {
    let (_folder, built) = kitchen();
    let told = built.indexing.as_ref().unwrap().explain("chickpea soup under 40 minutes").unwrap();
    let words: Vec<&str> = told.words.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(words, ["“chickpea soup”: subject", "“under 40 minutes”: limit (40 minutes or less)"]);
    let best = &told.items[0];
    assert!(["soup", "BM25", "passes: "].iter().all(|words| best.text.contains(words)), "{best:?}");
    assert!(best.data["score"].is_number() && best.data["filters"].is_array(), "{best:?}");
}

/// Asks with a wish, narrowed down, and gives what is told beside the items.
async fn findings(
    built: &BuiltAgent,
    text: &str,
    findings: FindingsDetail,
    narrowing: Option<SearchRefinement>,
) -> (Findings, CollectedReply) {
    let search = SearchOptions { findings, narrowing: narrowing.unwrap_or_default(), ..SearchOptions::default() };
    let message = Message { search, ..message(vec![Part::text(text)]) };
    let answer = collect(stream(built, message).await).await;
    (*answer.findings.clone().expect("findings are told"), answer)
}

/// Recipes of several kinds.
fn dishes() -> (TempDir, BuiltAgent) {
    let folder = tempfile::tempdir().unwrap();
    let dish = |n: usize| {
        let (category, cuisine) = (["Soup", "Soup dumplings", "Salad"][n % 3], ["Thai", "Greek"][n % 2]);
        json!({"@type": "Recipe", "name": format!("Chickpeas {n}"), "recipeCategory": category,
            "recipeCuisine": cuisine, "totalTime": "PT20M", "description": "Hot chickpeas."})
    };
    write(folder.path(), &(0..12).map(dish).collect::<Vec<_>>());
    let built = build(SETTINGS, &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    (folder, built)
}

#[tokio::test]
async fn facets_and_reasons_are_told_to_who_wishes_for_them() {
    let (_folder, built) = dishes();
    let (told, _) = findings(&built, "chickpeas under 30 minutes", FindingsDetail::Facets, None).await;
    assert_eq!((told.total, told.counted, told.count, told.more), (Some(12), 12, 3, true));
    let facets: Vec<(&str, usize)> = told.facets.iter().map(|f| (f.label.as_str(), f.values.len())).collect();
    assert_eq!(facets, [("kind of dish", 3), ("cuisine", 2)]);
    assert_eq!(told.facets[1].values, [("Greek".to_owned(), 6), ("Thai".to_owned(), 6)]);
    let reason = told.items[0].reason.as_ref().unwrap();
    assert_eq!((told.items.len(), reason.snippet.as_str()), (3, "Hot chickpeas."));
    assert_eq!(reason.fits, ["30 minutes or less (20 minutes)"]);

    let (told, _) = findings(&built, "chickpeas", FindingsDetail::Summary, None).await;
    assert_eq!((told.total, told.facets.len(), told.items[0].reason.clone()), (None, 0, None));
}

#[tokio::test]
async fn what_is_clicked_holds_exactly_and_more_can_be_wanted() {
    let (_folder, built) = dishes();
    let narrowed = |exactly: &[(&str, &str)], results: Option<usize>| {
        let exactly = exactly.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect();
        Some(SearchRefinement { exactly, results, ..SearchRefinement::default() })
    };
    let soups = narrowed(&[("recipeCategory", "Soup")], Some(20));
    let (told, answer) = findings(&built, "chickpeas", FindingsDetail::Facets, soups).await;
    assert_eq!((told.total, told.count, told.more), (Some(4), 4, false), "soup dumplings are no soup");
    assert_eq!(told.facets[0].values, [("Soup".to_owned(), 4)], "what was chosen can be left again");
    assert!(told.caveats.contains("Limits: Soup."), "{}", told.caveats);
    assert_eq!(names(&answer).len(), 4);
    let both = narrowed(&[("recipeCategory", "Soup"), ("recipeCuisine", "Thai")], None);
    assert_eq!(findings(&built, "chickpeas", FindingsDetail::Facets, both).await.0.total, Some(2));
    let loosely = narrowed(&[("recipeCategory", "dumplings")], None);
    assert_eq!(findings(&built, "chickpeas", FindingsDetail::Facets, loosely).await.0.total, Some(4));
    let unknown = narrowed(&[("colour", "red")], Some(usize::MAX));
    let told = findings(&built, "chickpeas", FindingsDetail::Facets, unknown).await.0;
    assert_eq!((told.ignored, told.count), (vec!["colour".to_owned()], 12));
}

#[tokio::test]
async fn where_words_are_not_shown_none_are_made_unless_nothing_is_found() {
    let (_folder, built) = kitchen();
    let asked = async |text: &str, wordless: bool| {
        let search = SearchOptions { findings: FindingsDetail::Summary, wordless, ..SearchOptions::default() };
        collect(stream(&built, Message { search, ..message(vec![Part::text(text)]) }).await).await
    };
    let (with, without) = (asked("chickpeas", false).await, asked("chickpeas", true).await);
    assert!(!with.text().is_empty() && without.text().is_empty());
    assert_eq!((names(&with), with.parts.len()), (names(&without), without.parts.len() + 1), "the items are the same");
    assert!(without.findings.is_some_and(|findings| findings.summary.is_empty() && findings.count == 3));
    let nothing = asked("zzzzxqy", true).await;
    assert!(!nothing.text().is_empty(), "that there is nothing is said");
}
