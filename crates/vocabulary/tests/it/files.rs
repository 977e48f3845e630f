//! Files of a deployment: what they add and override, and what is said about their mistakes.

use std::path::Path;
use std::sync::Arc;

use forecourt_vocabulary::Vocabulary;
use forecourt_vocabulary::limits::{FILES_MAX, LIST_WORDS_MAX, PHRASE_CHARS_MAX, PHRASE_WORDS_MAX};
use proptest::prelude::*;
use tempfile::TempDir;

fn deployment(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("vocabulary")).unwrap();
    std::fs::write(folder.path().join("vocabulary/shop.toml"), text).unwrap();
    folder
}

/// A problem: its line, what it says, and the hint.
type FileProblem = (Option<usize>, String, Option<String>);

fn read(text: &str) -> Result<Arc<Vocabulary>, Vec<FileProblem>> {
    let folder = deployment(text);
    Vocabulary::of_deployment(folder.path()).map_err(|problems| {
        let told = problems
            .iter()
            .map(|problem| (problem.line(), problem.message().to_owned(), problem.next_step().map(str::to_owned)));
        told.collect()
    })
}

/// The only problem of a file.
fn problem(text: &str) -> (Option<usize>, String, String) {
    let mut problems = read(text).unwrap_err();
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    let (line, message, hint) = problems.remove(0);
    (line, message, hint.unwrap_or_default())
}

#[test]
fn without_files_words_mean_what_was_shipped() {
    let folder = tempfile::tempdir().unwrap();
    let read = Vocabulary::of_deployment(folder.path()).unwrap();
    assert!(Arc::ptr_eq(&read, &Vocabulary::shipped()));
    assert!(Arc::ptr_eq(&Vocabulary::of_deployment(Path::new("/nowhere/at/all")).unwrap(), &Vocabulary::shipped()));
}

#[test]
fn a_file_adds_to_classes_and_overrides_them() {
    let words = read(
        r#"
        about = "Our shop"
        class_area = "food"
        [[class]]
        id = "nuts"
        en.members = ["crunchy mix", "nutmeg"]
        en.exceptions = ["brand x walnut flavour"]
        [[class]]
        id = "nordic"
        en.names = ["nordic food"]
        en.members = ["surstromming"]
        includes = ["fish"]
        [[synonym]]
        en = ["knäckebröd", "crispbread"]
        "#,
    )
    .unwrap();
    let of = |phrase: &str| words.classes_in(phrase, "en").of;
    assert!(of("200 g crunchy mix").contains(&"nuts".to_owned()));
    assert!(of("1 tsp nutmeg").contains(&"nuts".to_owned()), "an exception was taken back");
    assert!(!of("brand x walnut flavour").contains(&"walnuts".to_owned()) || !of("x").contains(&"nuts".to_owned()));
    assert!(of("1 walnut").contains(&"nuts".to_owned()), "what was shipped stays");
    assert_eq!(words.class_named("nordic foods").map(|class| class.id.as_str()), Some("nordic"));
    assert!(of("salmon").contains(&"nordic".to_owned()));
    assert_eq!(words.synonyms_of("crispbread"), ["knäckebröd"]);
    assert_ne!(words.revision(), Vocabulary::shipped().revision());
}

#[test]
fn properties_and_values_of_a_deployment_are_known_beside_those_that_are_shipped() {
    let words = read(
        "[[property]]\nid = \"fill-power\"\npaths = [\"fillPower\"]\nen.most = [\"loftiest\"]\n\
         [[value]]\nid = \"women\"\nvalues = [\"W\"]\nde.names = [\"mädels\"]\n",
    )
    .unwrap();
    assert_eq!(words.property("fill-power").unwrap().ends(true, "en"), ["loftiest"]);
    let women = words.values().iter().find(|value| value.id == "women").unwrap();
    assert!(women.values.contains(&"W".to_owned()) && women.values.contains(&"female".to_owned()));
    assert!(women.names("de").contains(&"mädels".to_owned()) && women.names("de").contains(&"damen".to_owned()));
    let named = read("[[value]]\nid = \"women\"\nde.names = [\"mädels\"]\n").unwrap();
    assert!(named.values().iter().any(|value| value.names("de").contains(&"mädels".to_owned())));
    for (file, fault) in
        [("en.names = [\"y\"]", "needs `values`"), ("ages = [60, 16]", "from the younger to the older")]
    {
        let (line, message, _) = problem(&format!("[[value]]\nid = \"x\"\n{file}\n"));
        assert!(line == Some(2) && message.contains(fault), "{message}");
    }
    let (_, message, hint) = problem("[[value]]\nid = \"x\"\nvalue = [\"y\"]\n");
    assert!(hint.contains("`values`"), "{message}: {hint}");
}

#[test]
fn mistakes_are_told_with_their_line_and_the_nearest_word() {
    let (line, message, hint) = problem("[[class]]\nid = \"nuts\"\nen.member = [\"x\"]\n");
    assert_eq!((line, hint.as_str()), (Some(3), "did you mean `members`?"), "{message}");
    let (line, message, hint) = problem("[[class]]\nid = \"nuts\"\nincludes = [\"dairy\", \"penuts\"]\n");
    assert_eq!((line, hint.as_str()), (Some(3), "did you mean `peanuts`?"), "{message}");
    let (line, message, hint) = problem("[[diet]]\nid = \"mine\"\nwithout = [\n  \"meet\",\n]\n");
    assert_eq!((line, message.as_str()), (Some(4), "there is no class `meet`"), "{hint}");
    assert_eq!(hint, "did you mean `meat`?");
    let (line, message, hint) = problem("[[class]]\nid = \"nuts\"\nxx.members = [\"x\"]\n");
    assert_eq!((line, message.as_str()), (Some(3), "unknown language `xx`"), "{hint}");
    let (line, message, _) =
        problem("[[class]]\nid = \"nuts\"\nen.members = [\n  \"pie crumb\",\n  \"Pie crumbs\",\n]\n");
    assert_eq!(line, Some(5), "{message}");
    assert!(message.contains("count as the same word"), "{message}");
    let (line, message, _) = problem("[[class]]\nid = \"nuts\"\nen.members = [\"abc\"]\nen.exceptions = [\"abc\"]\n");
    assert_eq!(line, Some(1), "{message}");
    assert!(message.contains("an exception from it"), "{message}");
    let (_, message, _) = problem("[[class]]\nid = \"novel\"\nen.members = [\"x\"]\n");
    assert!(message.contains("needs an `area`"), "{message}");
    let (_, message, hint) = problem("[[class]]\nid = \"novel\"\narea = \"fod\"\n");
    assert_eq!((message.as_str(), hint.as_str()), ("there is no area `fod`", "did you mean `food`?"));
    let (line, message, _) = problem("[[class]]\nid = \"Nuts!\"\n");
    assert_eq!(line, Some(2), "{message}");
    let (_, message, hint) = problem("[[klass]]\nid = \"nuts\"\n");
    assert_eq!((message.as_str(), hint.as_str()), ("unknown key `klass`", "did you mean `class`?"));
    let (line, message, _) = problem("[[class]]\nid = \"nuts\"\nen.members = [\"…\"]\n");
    assert_eq!((line, message.as_str()), (Some(3), "`…` has no letters"));
    let (_, message, _) = problem("[[synonym]]\nen = [\"alone\"]\n");
    assert!(message.contains("two words at least"), "{message}");
}

#[test]
fn classes_that_include_themselves_are_found() {
    let file = "class_area = \"food\"\n[[class]]\nid = \"aaa\"\nincludes = [\"bbb\"]\n[[class]]\nid = \"bbb\"\nincludes = [\"aaa\"]\n";
    let (line, message, _) = problem(file);
    assert!(line.is_some() && message.contains("includes itself"), "{message}");
    assert!(problem("[[class]]\nid = \"nuts\"\nincludes = [\"nuts\"]\n").1.contains("includes itself"));
    assert!(problem("[[class]]\nid = \"tree-nuts\"\nincludes = [\"nuts\"]\n").1.contains("includes itself"));
}

#[test]
fn lists_phrases_and_files_have_bounds() {
    let members = |words: &[String]| format!("[[class]]\nid = \"nuts\"\nen.members = {words:?}\n");
    let one = |word: String| members(&[word]);
    assert!(read(&one("x".repeat(PHRASE_CHARS_MAX))).is_ok());
    assert!(problem(&one("x".repeat(PHRASE_CHARS_MAX + 1))).1.contains("characters"));
    assert!(read(&one("x y ".repeat(PHRASE_WORDS_MAX / 2))).is_ok());
    assert!(problem(&one(format!("{}z", "x y ".repeat(PHRASE_WORDS_MAX / 2)))).1.contains("words"));
    let many = |count: usize| members(&(0..count).map(|n| format!("w{n}")).collect::<Vec<_>>());
    assert!(read(&many(LIST_WORDS_MAX)).is_ok());
    assert!(problem(&many(LIST_WORDS_MAX + 1)).1.contains("more than"));
    let folder = deployment("");
    let fill = |count: usize| {
        (1..count).for_each(|n| std::fs::write(folder.path().join(format!("vocabulary/{n}.toml")), "").unwrap());
        Vocabulary::of_deployment(folder.path())
    };
    assert!(fill(FILES_MAX).is_ok());
    assert!(fill(FILES_MAX + 1).is_err());
}

#[test]
fn what_is_no_text_is_told() {
    let folder = deployment("");
    std::fs::write(folder.path().join("vocabulary/shop.toml"), [0xFF, 0xFE]).unwrap();
    assert!(Vocabulary::of_deployment(folder.path()).unwrap_err().to_string().contains("UTF-8"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_file_is_read_or_told_about(text in "(\\[\\[class\\]\\]\n|id = \"nuts\"\n|en.members = \\[\"a\"\\]\n|includes = |[a-z\\[\\]\"=\n .]{0,9}){0,9}") {
        let _ = read(&text);
    }
}

proptest! {
    #[test]
    fn any_phrase_is_judged(text in any::<String>(), at in 0..5usize) {
        let language = ["en", "de", "fr", "es", "xx"][at];
        let judged = Vocabulary::shipped().classes_in(&text, language);
        prop_assert!(judged.of.iter().all(|id| !judged.free_of.contains(id)));
    }

    #[test]
    fn almost_phrases_are_judged(text in "(without|no|free|vegan|or|and|nuts?|egg|-|less|butter|milk|peanut|,|\\(|\\)|\\.| ){0,30}") {
        Vocabulary::shipped().classes_in(&text, "en");
    }
}

#[test]
fn names_of_a_deployment_go_before_those_of_the_program_and_that_is_told() {
    let words = read(
        "class_area = \"food\"\n[[class]]\nid = \"hard\"\nen.names = [\"nuts\"]\n\
         [[kind]]\ntypes = [\"Gizmo\"]\nen.names = [\"film\"]\n\
         [[property]]\nid = \"attic\"\npaths = [\"numberOfRooms\"]\nen.names = [\"salary\"]\n\
         [[property]]\nid = \"rooms\"\npaths = [\"numberOfRooms\"]\nen.names = [\"chambers\"]\n",
    )
    .unwrap();
    assert_eq!(words.class_named("nuts").unwrap().id, "hard");
    assert_eq!(words.class_named("fruits à coque").unwrap().id, "nuts", "other languages keep theirs");
    assert_eq!(words.kind_named("films").unwrap().types, ["Gizmo"]);
    assert_eq!(words.properties()[0].id, "attic");
    assert_eq!(words.property("rooms").unwrap().names("en")[0], "chambers");
    let told = words.notices();
    assert_eq!(told.len(), 3, "{told:#?}");
    let class =
        "`nuts` is the class `hard` here, and `nuts` in what comes with the program: questions mean this one first";
    assert!(told[0].contains(class) && told[0].contains("vocabulary/shop.toml:2"), "{}", told[0]);
    assert!(told[1].contains("the kind `Gizmo` here, and `Movie`"), "{}", told[1]);
    assert!(told[2].contains("`salary` is the property `attic`"), "{}", told[2]);
    assert!(Vocabulary::shipped().notices().is_empty());
}

#[test]
fn synonyms_of_a_deployment_take_the_place_of_the_program_s_and_that_is_told() {
    let words = read("[[synonym]]\nen = [\"bike\", \"velocipede\"]\n").unwrap();
    assert!(words.synonyms_of("bike").contains(&"velocipede") && !words.synonyms_of("bike").contains(&"bicycle"));
    assert!(words.synonyms_of("bike").contains(&"fahrrad"), "languages that it leaves out keep theirs");
    let told = words.notices();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(
        told[0].contains("`en` words for `bike`") && told[0].contains("bicycle, cycle no longer counts"),
        "{}",
        told[0]
    );
    assert!(told[0].contains("shop.toml:2"), "{}", told[0]);
    let whole = read("[[synonym]]\nen = [\"bike\", \"bicycle\", \"cycle\", \"velocipede\"]\n").unwrap();
    assert!(whole.notices().is_empty(), "{:?}", whole.notices());
}
