//! Rules for the order of items: pinned, boosted and buried, by words and by dates, and never past a limit.

use serde_json::{Value, json};

use crate::support::{ask, build, in_folder, problems};

fn coat(id: &str, name: &str, price: f64, brand: &str) -> Value {
    json!({"@type": "Product", "@id": id, "name": name, "brand": {"name": brand},
        "offers": {"price": price, "priceCurrency": "EUR"}})
}

fn shop(folder: &tempfile::TempDir, rules: &str) -> forecourt_agents::BuiltAgent {
    let items = [
        coat("a", "Rain coat Aspen", 30.0, "Alder"),
        coat("b", "Rain coat Birch", 50.0, "Birk"),
        coat("c", "Rain coat Cedar", 90.0, "Cole"),
        coat("d", "Umbrella", 10.0, "Alder"),
    ];
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    std::fs::write(folder.path().join("items.jsonl"), lines).unwrap();
    let toml = format!("[backend]\nkind = \"search\"\ncontent = [\"items.jsonl\"]\n{rules}");
    let built = build(&toml, &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    built
}

/// The names in the order in which an answer has them.
async fn order(rules: &str, question: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let text = ask(&shop(&folder, rules), question).await.text();
    let list = text.split_once("1.").map_or(text.as_str(), |(_, list)| list);
    let mut found: Vec<(usize, &str)> =
        ["Aspen", "Birch", "Cedar", "Umbrella"].iter().filter_map(|name| Some((list.find(name)?, *name))).collect();
    found.sort_unstable();
    found.iter().map(|(_, name)| &name[..1]).collect()
}

fn rule(what: &str) -> String {
    format!("[[backend.ranking]]\nname = \"r\"\n{what}\n")
}

#[tokio::test]
async fn items_are_pinned_boosted_and_buried() {
    let plain = order("", "rain coat").await;
    assert_eq!(plain.len(), 3, "{plain}");
    let pinned = order(&rule("effect = \"pin\"\nitems = [\"c\", \"b\"]"), "rain coat").await;
    assert_eq!(pinned, "CBA");
    let boosted = order(&rule("effect = \"boost\"\nproperties = { \"brand.name\" = \"Cole\" }"), "rain coat").await;
    assert!(boosted.starts_with('C'), "{boosted}");
    let first = plain[..1].to_owned();
    let buried =
        order(&rule("effect = \"bury\"\nproperties = { \"offers.price\" = \"under 1000\" }"), "rain coat").await;
    assert_eq!(buried, plain, "all of them");
    let id = [("A", "a"), ("B", "b"), ("C", "c")].into_iter().find(|(name, _)| *name == first).unwrap().1;
    let buried = order(&rule(&format!("effect = \"bury\"\nitems = [\"{id}\"]")), "rain coat").await;
    assert!(buried.ends_with(&first), "{buried}");
}

#[tokio::test]
async fn a_pinned_item_that_breaks_a_limit_is_not_shown() {
    let pin = rule("effect = \"pin\"\nitems = [\"c\", \"b\"]");
    assert_eq!(order(&pin, "rain coat under 60 euros").await, "BA");
    assert_eq!(order(&pin, "the cheapest rain coat").await, "ABC", "an order that is asked for stays");
}

#[tokio::test]
async fn a_rule_counts_for_its_words_and_its_days() {
    let pin = rule("effect = \"pin\"\nitems = [\"d\"]\nwords = [\"rain coats\", \"drizzle\"]");
    assert!(order(&pin, "a coat for the rain").await.starts_with('U'));
    assert!(order(&pin, "drizzle").await.starts_with('U'), "even where nothing else is found");
    assert!(!order(&pin, "coat").await.contains('U'));
    let any = rule("effect = \"pin\"\nitems = [\"d\"]");
    assert!(!order(&any, "submarines").await.contains('U'), "nothing else is found");
    for (days, counts) in
        [("from = \"1999-01-01\"", true), ("until = \"1999-01-01\"", false), ("from = \"2999-01-01\"", false)]
    {
        let pin = rule(&format!("effect = \"pin\"\nitems = [\"d\"]\n{days}"));
        assert_eq!(order(&pin, "coat").await.starts_with('U'), counts, "{days}");
    }
}

#[tokio::test]
async fn so_many_are_pinned_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..11)
        .map(|n| format!("{}\n", json!({"@id": format!("hat-{n}"), "name": format!("Hat {n}"), "kind": "hat"})))
        .chain([format!("{}\n", json!({"@id": "c", "name": "Coat"}))])
        .collect();
    std::fs::write(folder.path().join("items.jsonl"), lines).unwrap();
    let pin = rule("effect = \"pin\"\nproperties = { kind = \"hat\" }");
    let toml = format!("[backend]\nkind = \"search\"\nresults = 50\ncontent = [\"items.jsonl\"]\n{pin}");
    let built = build(&toml, &in_folder(folder.path()));
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap();
    let text = ask(&built, "coat").await.text();
    assert_eq!(text.matches("**Hat ").count() - 1, 10, "the best, and ten in the list: {text}");
}

#[tokio::test]
async fn rules_are_explained_and_those_that_change_nothing_told() {
    let folder = tempfile::tempdir().unwrap();
    let rules = [
        rule("effect = \"pin\"\nitems = [\"c\", \"nobody\"]"),
        rule("effect = \"boost\"\nproperties = { \"brand.name\" = \"Nope\" }").replace("\"r\"", "\"brand\""),
        rule("effect = \"bury\"\nitems = [\"a\"]\nuntil = \"1999-12-31\"").replace("\"r\"", "\"old\""),
    ];
    let built = shop(&folder, &rules.concat());
    let indexing = built.indexing.as_ref().unwrap();
    let told = indexing.explain("rain coat").unwrap();
    assert!(told.items[0].text.contains("pinned by the rule `r`"), "{}", told.items[0].text);
    let notices = indexing.notices().join("\n");
    for notice in [
        "the ranking rule `r` names `nobody`, which no item has as its id",
        "the ranking rule `brand` is about properties that no item has together",
        "the ranking rule `old` ended on 1999-12-31",
    ] {
        assert!(notices.contains(notice), "{notices}");
    }
}

#[test]
fn rules_that_say_nothing_or_too_much_are_refused() {
    let of = |what: &str| problems(&format!("[backend]\nkind = \"search\"\ncontent = [\"x\"]\n{}", rule(what)));
    assert!(of("effect = \"pin\"").contains("the rule `r` names no items"));
    assert!(of("effect = \"boost\"\nfactor = 1.0\nitems = [\"a\"]").contains("`factor`"));
    assert!(of("effect = \"boost\"\nfactor = 10.5\nitems = [\"a\"]").contains("at most 10"));
    assert!(of("effect = \"pin\"\nitems = [\" \"]").contains("an empty text"));
    assert!(of("effect = \"pin\"\nitems = [\"a\"]\nfrom = \"2026-02-01\"\nuntil = \"2026-01-01\"").contains("`until`"));
    let fits = |what: String| {
        let toml = format!("[backend]\nkind = \"search\"\ncontent = [\"x\"]\n{}", rule(&what));
        build(&toml, &in_folder(tempfile::tempdir().unwrap().path())).indexing.is_some()
    };
    assert!(fits("effect = \"boost\"\nfactor = 10.0\nitems = [\"a\"]".to_owned()));
    let words = |count: usize| format!("effect = \"pin\"\nitems = [\"a\"]\nwords = {:?}", vec!["w"; count]);
    assert!(fits(words(20)) && of(&words(21)).contains("more than 20 `words`"));
    let text = |bytes: usize| format!("effect = \"pin\"\nitems = [\"{}\"]", "x".repeat(bytes));
    assert!(fits(text(500)) && of(&text(501)).contains("more than 500 bytes"));
    let properties = |count: usize| {
        let all: Vec<String> = (0..count).map(|n| format!("p{n} = \"x\"")).collect();
        format!("effect = \"pin\"\nproperties = {{ {} }}", all.join(", "))
    };
    assert!(fits(properties(20)) && of(&properties(21)).contains("more than 20 `properties`"));
    let rules = |count: usize| {
        let all = rule("effect = \"pin\"\nitems = [\"a\"]").repeat(count);
        problems(&format!("[backend]\nkind = \"search\"\ncontent = []\n{all}")).contains("`ranking`")
    };
    assert!(!rules(100) && rules(101));
    let many = |count: usize| format!("effect = \"pin\"\nitems = {:?}", vec!["a"; count]);
    assert!(of(&many(51)).contains("more than 50 `items`"));
    assert!(fits(many(50)));
}
