//! Content as settings describe it: tables, links, and what is told of what is left out.

use forecourt_agents::IndexReport;
use forecourt_core::Part;

use crate::support::{ask, build, in_folder, problems};

fn settings(more: &str) -> String {
    format!("[backend]\nkind = \"search\"\ncontent = [\"content\"]\n{more}")
}

fn index(built: &forecourt_agents::BuiltAgent) -> IndexReport {
    built.indexing.as_ref().unwrap().index(&mut |_| {}).unwrap()
}

#[tokio::test]
async fn a_table_is_read_as_its_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("content")).unwrap();
    std::fs::write(folder.path().join("content/p.csv"), "Code;Was;VK\n7;Lampe;9,50\n").unwrap();
    let without = build(&settings(""), &in_folder(folder.path()));
    let report = index(&without);
    assert!(report.items == 0 && report.warnings[0].contains("`[backend.tables]`"), "{:?}", report.warnings);
    drop(without);
    let table = "[backend.tables.\"content/p.csv\"]\ntype = \"Product\"\ncolumns = { was = \"name\", VK = \"offers.price\", Code = \"\" }\n";
    let built = build(&settings(table), &in_folder(folder.path()));
    let indexing = built.indexing.clone().unwrap();
    assert!(!indexing.is_current(indexing.fingerprint().unwrap()), "another mapping makes other items");
    let report = index(&built);
    assert_eq!((report.items, report.kinds[0].kind.as_str(), report.kinds[0].files), (1, "CSV", 1));
    let answer = ask(&built, "lampe").await;
    let item =
        answer.parts.iter().find_map(|part| if let Part::Data(data) = part { Some(&data.data) } else { None }).unwrap();
    assert_eq!((&item["@type"], &item["offers"]["price"], item.get("Code")), (&"Product".into(), &"9.50".into(), None));
}

#[test]
fn what_is_left_out_and_what_leads_nowhere_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("content")).unwrap();
    for name in ["a.md", "b.xyz", "c.jsonl"] {
        std::fs::write(folder.path().join("content").join(name), "# a\n").unwrap();
    }
    let built = build(&settings(""), &in_folder(folder.path()));
    let indexing = built.indexing.clone().unwrap();
    let notices = indexing.notices();
    assert!(notices[0].contains("`content` has a document and no URL"), "{notices:?}");
    assert!(notices[1].contains("b.xyz: files that end in .xyz are not read"), "{notices:?}");
    assert!(indexing.left_out().is_empty() && indexing.last_report().is_none());
    let report = index(&built);
    assert_eq!(indexing.left_out(), ["b.xyz: files that end in .xyz are not read"]);
    assert_eq!(indexing.last_report().as_ref(), Some(&report));
    assert!(report.warnings[0].starts_with("c.jsonl:1:"), "{:?}", report.warnings);
    assert_eq!(report.left_out.len(), 2, "{:?}", report.left_out);
    let with_url = settings("urls = { \"content\" = \"https://e.org/{page}\" }\n");
    let notices = build(&with_url, &in_folder(folder.path())).indexing.unwrap().notices();
    assert_eq!(notices.len(), 1);
}

#[test]
fn settings_of_tables_and_urls_are_checked() {
    for (more, wanted) in [
        ("urls = { \"content\" = \"docs\" }\n", "begins with https://"),
        ("urls = { \"content\" = \"https://e.org/#\" }\n", "has a `#`"),
        ("urls = { \"content\" = \"https://e.org/{slug}\" }\n", "`{file}` and `{page}`"),
        ("urls = { \"other\" = \"https://e.org/\" }\n", "not in `content`"),
        ("[backend.tables.\"other.csv\"]\n", "neither in `content`"),
        ("[backend.tables.content]\ndelimiter = \"ab\"\n", "`delimiter` of `content`"),
        ("[backend.tables.content]\ndecimal = \";\"\n", "`decimal` of `content`"),
        ("[backend.tables.content]\ndates = \"DD\"\n", "`dates` of `content`"),
        ("[backend.tables.content]\nlists = { a = \"\" }\n", "`lists` of `content`"),
        ("[backend.tables.content]\nseparator = \",\"\n", "separator"),
    ] {
        let said = problems(&settings(more));
        assert!(said.contains(wanted), "{said}");
    }
}
