//! Words of a deployment: questions find items by other names, the operator's words win and count while it is served, and
//! the program proposes more.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{Deployment, Served, within};

/// A shop of instruments and of things for the garden, in English.
fn shop() -> Deployment {
    let shop = Deployment::of_backend("kind = \"search\"\ncontent = [\"content\"]\n");
    let item = |id: &str, name: &str, more: Value| {
        let mut item = json!({"@type": "Product", "@id": format!("https://shop.example/{id}"), "name": name});
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{item}\n")
    };
    let items = [
        item("fiddle", "Violin for beginners", json!({"bodyWood": "spruce top", "description": "In grey colour"})),
        item("cello", "Cello with bow", json!({"bodyWood": "spruce top", "description": "In gray colour"})),
        item("mower", "Lawn mower", json!({"bodyWood": "none at all", "description": "A gray color"})),
        item("hose", "Garden hose, 20 m", json!({"description": "A grey color"})),
        item("widget", "Flarn of brass", json!({"@type": "Zonker"})),
    ];
    shop.write("content/items.jsonl", &items.concat());
    shop
}

/// The ids of what is found for a question.
fn found(served: &Served, question: &str) -> Vec<String> {
    let asked = format!("user={question}");
    let answer = served.curl("/~agent", &["-H", "accept: application/json", "-F", &asked]).with_status(200).json();
    let parts = answer["parts"].as_array().unwrap().iter();
    let ids = parts.filter_map(|part| part["data"]["@id"].as_str());
    ids.map(|id| id.rsplit('/').next().unwrap().to_owned()).collect()
}

#[test]
fn items_are_found_by_names_of_other_languages() {
    let served = shop().serve();
    for (question, id) in [
        ("Geige", "fiddle"),
        ("violon", "fiddle"),
        ("Rasenmäher", "mower"),
        ("violonchelo", "cello"),
        ("Gartenschlauch", "hose"),
    ] {
        assert_eq!(found(&served, question), [id], "{question}");
    }
    assert!(found(&served, "Klavier").is_empty());
}

#[test]
fn words_of_a_deployment_win_and_a_change_counts_while_it_is_served() {
    let served = shop().serve();
    assert!(found(&served, "gnurp").is_empty());
    served.deployment.write("vocabulary/own.toml", "[[synonym]]\nen = [\"flarn\", \"gnurp\"]\nde = [\"geige\"]\n");
    within("its words to count", || (found(&served, "gnurp") == ["widget"]).then_some(()));
    assert_eq!(found(&served, "Geige"), ["widget"], "a word of the deployment means what it says");
    assert!(found(&served, "violon").contains(&"fiddle".to_owned()), "other languages keep theirs");
    let checked = served.deployment.run("check", [served.deployment.path()]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let warned = checked.stderr.lines().find(|line| line.starts_with("warning: ")).unwrap_or_default().to_owned();
    assert!(
        warned.contains("vocabulary/own.toml:3: this `[[synonym]]`") && warned.contains("subjects/"),
        "{checked:?}"
    );
}

#[test]
fn words_are_proposed_by_items_and_by_questions_into_a_new_file() {
    let served = shop().with("questions", "log = true\n").serve();
    for _ in 0..3 {
        assert!(found(&served, "blivet").is_empty());
    }
    served.signal(Signal::SIGTERM);
    let (_, _, shop) = served.ended();
    let data = shop.data().display().to_string();
    let dir = shop.path().display().to_string();
    let suggest = |more: &[&str]| shop.run("vocabulary", [&["suggest", &dir, "--data", &data], more].concat());
    let told = suggest(&[]).fine();
    for wanted in [
        "# Asked 3 times without a good answer, and no item has `blivet`: “blivet”",
        "# en = [\"blivet\", \"\"]",
        "[[kind]]\ntypes = [\"Zonker\"]\nen.names = [\"zonker\"]\n# de.names = [\"\"]",
        "[[property]]\nid = \"body-wood\"\npaths = [\"bodyWood\"]\nen.names = [\"body wood\"]",
    ] {
        assert!(told.contains(wanted), "{wanted}\n{told}");
    }
    let file = shop.path().join("vocabulary/proposed.toml");
    let path = file.display().to_string();
    suggest(&["--write", &path]).fine();
    let written = fs::read_to_string(&file).unwrap();
    assert_eq!(written.trim_end(), told.trim_end());
    assert!(suggest(&["--write", &path]).failed(1).contains("nothing is overwritten"));
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    assert_eq!(shop.run("check", [shop.path()]).code, Some(0), "what is proposed can be read");
    assert!(suggest(&["--agent", "nobody"]).failed(1).contains("no agent @nobody"));
}
