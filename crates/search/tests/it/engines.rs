//! Items that an engine outside keeps: the same questions get the same claims, and what happens when it is away.

mod content;
mod running;

use std::collections::BTreeMap;

use forecourt_core::reply::collect;
use forecourt_core::{Ending, FindingsDetail, Message, Part, SearchOptions};

use forecourt_testkit::free_port;

use crate::support::{ask, build, in_folder, message, problems, stream};
use content::{KITCHEN, NURSERY, PLANTS, SHOP, TOWN, recipes, shop, town};
use forecourt_agents::BuiltAgent;
use running::{engines, opensearch, settings};

/// What is claimed in answer to a question.
#[derive(Debug, PartialEq)]
struct Claims {
    /// Ids of the first ten items.
    ids: Vec<String>,
    /// Limits that hold for each of them, and those that were not understood.
    limits: Vec<String>,
    not_understood: Vec<String>,
    /// What was left out for not stating what a limit asks about, and how many.
    left_out: Vec<(String, usize)>,
    /// What was looked for instead of misspelled words.
    corrections: Vec<String>,
}

async fn claims(built: &BuiltAgent, question: &str) -> Claims {
    let search = SearchOptions { findings: FindingsDetail::Summary, ..SearchOptions::default() };
    let answer = collect(stream(built, Message { search, ..message(vec![Part::text(question)]) }).await).await;
    let id = |part: &Part| match part {
        Part::Data(data) => data.data["@id"].as_str().map(str::to_owned),
        _ => None,
    };
    let findings = answer.findings.clone().unwrap_or_else(|| panic!("{question}: {:?}", answer.ending));
    Claims {
        ids: answer.parts.iter().filter_map(id).collect(),
        limits: findings.applied.iter().map(|limit| format!("{limit:?}")).collect(),
        not_understood: findings.not_understood.clone(),
        left_out: findings.left_out.iter().map(|left| (left.limit.clone(), left.items)).collect(),
        corrections: findings.corrections.iter().map(|correction| format!("{correction:?}")).collect(),
    }
}

/// Asks all questions of the index here and of every engine. Those that differ, by engine and question.
async fn differing(items: &str, questions: &[&str]) -> BTreeMap<(&'static str, String), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("items.jsonl"), items).unwrap();
    let context = in_folder(folder.path());
    let here = build(&settings(""), &context);
    here.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    let mut differ = BTreeMap::new();
    for running in engines() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("items.jsonl"), items).unwrap();
        let built = build(&settings(&running.section), &in_folder(folder.path()));
        let report = built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
        assert_eq!((report.loaded, report.skipped), (items.lines().count() as u64, 0), "{}", running.name);
        for question in questions {
            let (expected, found) = (claims(&here, question).await, claims(&built, question).await);
            if found != expected {
                let told = format!("here {expected:#?}\n{} {found:#?}", running.name);
                differ.insert((running.name, (*question).to_owned()), told);
            }
        }
    }
    differ
}

/// Fails with what differs and is not named, and with what is named and does not differ.
fn is_as_named(differ: &BTreeMap<(&'static str, String), String>, named: &[(&'static str, &str)]) {
    let known = |(engine, question): &(&'static str, String)| named.contains(&(engine, question.as_str()));
    let unnamed: Vec<String> =
        differ.iter().filter(|(of, _)| !known(of)).map(|((_, question), told)| format!("{question}\n{told}")).collect();
    assert!(unnamed.is_empty(), "{} differ\n{}", unnamed.len(), unnamed.join("\n"));
    let of = |(engine, question): &(&'static str, &str)| differ.contains_key(&(*engine, (*question).to_owned()));
    let idle: Vec<_> = named.iter().filter(|named| !of(named)).collect();
    assert!(idle.is_empty(), "these no longer differ: {idle:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_questions_about_recipes_get_the_same_claims() {
    is_as_named(&differing(&recipes(), KITCHEN).await, &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_questions_about_a_shop_get_the_same_claims() {
    is_as_named(&differing(&shop(), SHOP).await, &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_questions_about_plants_places_and_medicines_get_the_same_claims() {
    is_as_named(&differing(PLANTS, NURSERY).await, &[]);
    is_as_named(&differing(&town(), TOWN).await, &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pushed_is_found_and_what_is_removed_is_not() {
    for running in engines() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("items.jsonl"), shop()).unwrap();
        let context = in_folder(folder.path());
        let built = build(&settings(&running.section), &context);
        let content = built.indexing.as_ref().unwrap();
        content.index(&mut |_| {}).unwrap();
        let kite = r#"{"@type": "Product", "@id": "https://shop.example/kite", "name": "Stunt kite", "offers": {"price": 35}}"#;
        let put = content.put(kite.as_bytes(), "application/json").unwrap();
        assert!(put.stored == 1 && put.is_searchable, "{}: {put:?}", running.name);
        assert_eq!(claims(&built, "stunt kite under 40").await.ids, ["https://shop.example/kite"], "{}", running.name);
        // A run over the files leaves what was pushed, and finds nothing else to do.
        let report = content.index(&mut |_| {}).unwrap();
        assert_eq!((report.items, report.unchanged, report.removed), (901, 901, 0), "{}", running.name);
        assert!(content.is_current(content.fingerprint().unwrap()), "{}", running.name);
        let names = ["https://shop.example/kite".to_owned(), "https://shop.example/p/1".to_owned()];
        let removed = content.remove(&names).unwrap();
        assert!(removed.removed == names && removed.is_searchable, "{}: {removed:?}", running.name);
        assert_eq!(claims(&built, "stunt kite").await.ids, [""; 0], "{}", running.name);
        // What vanishes from the files goes, too, and a file that was removed by hand stays away.
        let half: String = shop().lines().take(450).fold(String::new(), |all, line| all + line + "\n");
        std::fs::write(folder.path().join("items.jsonl"), half).unwrap();
        let report = content.index(&mut |_| {}).unwrap();
        assert_eq!((report.items, report.removed, report.overridden), (449, 450, 1), "{}", running.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_is_away_is_a_failure_that_names_it_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("items.jsonl"), shop()).unwrap();
    let port = free_port();
    let built = build(&settings(&opensearch(&format!("http://127.0.0.1:{port}"))), &in_folder(folder.path()));
    let content = built.indexing.as_ref().unwrap();
    let notices = content.notices().join("\n");
    assert!(notices.contains("unavailable") && notices.contains(&port.to_string()), "{notices}");
    let error = content.index(&mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("the search engine is unavailable"), "{error}");
    assert!(content.has_what_was_pushed().unwrap_err().to_string().contains("unavailable"));
    let item = r#"{"@id": "https://shop.example/kite", "name": "Stunt kite"}"#;
    let put = content.put(item.as_bytes(), "application/json").unwrap();
    assert!(put.stored == 1 && !put.is_searchable, "it is kept, and found after the next run: {put:?}");
    let answer = ask(&built, "rain jacket").await;
    assert!(
        matches!(&answer.ending, Ending::Declined { .. } | Ending::Failed { .. } | Ending::Refused(_)),
        "{:?}",
        answer.ending
    );
}

#[test]
fn what_is_wrong_with_an_engine_is_told_with_its_key() {
    let of = |engine: &str| problems(&settings(&format!("[backend.engine]\n{engine}")));
    let postgresql = "kind = \"postgresql\"\nurl = \"postgres://a:b@db/x\"\n";
    for (engine, said) in [
        ("kind = \"solr\"\nurl = \"http://x/\"".to_owned(), "`kind`"),
        ("kind = \"postgresql\"\nurl = \"http://x/\"".to_owned(), "postgres://"),
        ("kind = \"opensearch\"\nurl = \"postgres://x/\"".to_owned(), "`url` must be an absolute"),
        (format!("{postgresql}name = \"a;b\""), "`a;b` is no name"),
        (format!("{postgresql}candidates = 99"), "`candidates` must be between 100 and 1000"),
        (format!("{postgresql}candidates = 1001"), "`candidates` must be between 100 and 1000"),
        (format!("{postgresql}headers = {{ A = \"b\" }}"), "PostgreSQL takes no `headers`"),
        (format!("{postgresql}table = \"x\""), "table"),
    ] {
        let told = of(&engine);
        assert!(told.contains(said), "{engine}: {told}");
    }
    let both = problems(&format!("{}\nmodel_dir = \"m\"\n[backend.engine]\n{postgresql}", settings("")));
    assert!(both.contains("search by meaning needs the index here"), "{both}");
}
