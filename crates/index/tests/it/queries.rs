//! What a query may ask, and what it may not do.

use forecourt_core::Language;
use forecourt_index::Query;
use forecourt_index::limits::{FACET_ITEMS_MAX, FACET_VALUES_MAX, HITS_MAX};
use forecourt_testkit::dear;
use forecourt_understanding::limits::{FILTERS_MAX, QUERY_BYTES_MAX, QUERY_WORDS_MAX};
use forecourt_understanding::{Filter, Test};
use proptest::prelude::*;

use crate::common::Shelf;

fn pantry() -> Shelf {
    let shelf = Shelf::new();
    shelf.put(
        "a.jsonl",
        r#"{"@type":"Recipe","name":"Pea Soup","totalTime":"PT20M","recipeIngredient":["2 cups peas","salt"],"genre":"Starter"}
{"@type":"Recipe","name":"Walnut Cake","totalTime":"PT1H","recipeIngredient":["flour","100 g walnuts"],"recipeCategory":"Cakes"}
{"@type":"Product","name":"Soup Spoon","url":"https://e.org/spoon","offers":{"price":"12.50","priceCurrency":"EUR"},"brand":{"name":"Café Olé"}}
{"@type":"Recipe","name":"Käsekuchen","inLanguage":"de","description":"Ein Kuchen mit Quark, gebacken."}
{"@type":"Event","name":"Soup Night","startDate":"2026-03-01","location":{"geo":{"latitude":48.1}},"isAccessibleForFree":true}
"#,
    );
    shelf.index();
    shelf
}

fn filtered(shelf: &Shelf, text: &str, filters: Vec<Filter>) -> Vec<String> {
    let query = Query { filters, ..Query::new(text) };
    let mut names: Vec<String> = shelf.library.search(&query).unwrap().into_iter().map(|hit| hit.name).collect();
    names.sort();
    names
}

#[test]
fn any_property_can_be_a_filter() {
    let shelf = pantry();
    let one = |filter: Filter| filtered(&shelf, "", vec![filter]);
    assert_eq!(one(Filter::is("genre", "STARTER ")), ["Pea Soup"]);
    assert_eq!(one(Filter::is("@type", "recipe")), ["Käsekuchen", "Pea Soup", "Walnut Cake"]);
    assert_eq!(one(Filter::is("brand.name", "cafe ole")), ["Soup Spoon"]);
    assert_eq!(one(Filter::is("isAccessibleForFree", "true")), ["Soup Night"]);
    assert_eq!(one(Filter::mentions("recipeIngredient", "pea")), ["Pea Soup"]);
    assert_eq!(one(Filter::mentions("recipeIngredient", "walnut flour")), ["Walnut Cake"]);
    assert_eq!(one(Filter::within("totalTime", None, Some(30.0))), ["Pea Soup"]);
    assert_eq!(one(Filter::within("totalTime", Some(60.0), Some(60.0))), ["Walnut Cake"]);
    assert_eq!(one(Filter::within("offers.price", Some(12.5), None)), ["Soup Spoon"]);
    assert_eq!(one(Filter::within("location.geo.latitude", Some(48.0), Some(49.0))), ["Soup Night"]);
    assert_eq!(one(Filter::within("startDate", Some(20_513.0), Some(20_513.0))), ["Soup Night"]);
    assert_eq!(one(Filter::is("url", "https://e.org/spoon")), ["Soup Spoon"]);
    assert!(one(Filter::within("nothing", None, Some(30.0))).is_empty());
    assert!(one(Filter::is("genre", "start")).is_empty());
}

#[test]
fn filters_hold_together_with_text() {
    let shelf = pantry();
    let lacks = |word: &str| Filter {
        fields: vec![],
        test: Test::Without { classes: vec![], words: vec![word.to_owned()] },
        words: format!("no {word}"),
    };
    assert_eq!(filtered(&shelf, "soup", vec![lacks("spoons")]), ["Pea Soup", "Soup Night"]);
    assert_eq!(filtered(&shelf, "soup cake", vec![Filter::is("@type", "Recipe"), lacks("walnut")]), ["Pea Soup"]);
    assert_eq!(filtered(&shelf, "", vec![lacks("soup")]), ["Käsekuchen", "Walnut Cake"]);
    let quick = Filter::within("totalTime", None, Some(30.0));
    assert_eq!(filtered(&shelf, "dinner ideas", vec![quick.clone()]), ["Pea Soup"]);
    assert!(filtered(&shelf, "walnut", vec![quick]).is_empty());
}

#[test]
fn hits_say_what_they_satisfy() {
    let shelf = pantry();
    let query = Query { filters: vec![Filter::within("totalTime", None, Some(30.0))], ..Query::new("soup") };
    let hit = shelf.library.search(&query).unwrap().remove(0);
    assert_eq!(hit.matched[0].constraint, "totalTime at most 30");
    assert_eq!((hit.matched[0].field.as_deref(), hit.matched[0].value.as_deref()), (Some("totalTime"), Some("PT20M")));
    assert_eq!(hit.item["recipeIngredient"][1], "salt");
    assert_eq!(hit.id, "a.jsonl#L1");
    assert_eq!(shelf.library.item(&hit.id).unwrap(), Some(hit.item));
    assert_eq!(shelf.library.item("urn:nothing").unwrap(), None);
}

#[test]
fn languages_are_stemmed_their_own_way() {
    let shelf = pantry();
    assert_eq!(shelf.names("kasekuchen"), ["Käsekuchen"]);
    let query = Query { language: Language::parse("de-AT"), ..Query::new("mit backen Kuchens") };
    assert_eq!(shelf.library.search(&query).unwrap()[0].name, "Käsekuchen");
}

#[test]
fn unknown_words_are_dropped_and_stop_words_too() {
    let shelf = pantry();
    assert_eq!(shelf.names("what is the xyzzy walnut")[0], "Walnut Cake");
    assert!(shelf.names("xyzzy").is_empty());
    assert!(shelf.names("the of").is_empty());
    assert_eq!(shelf.names("").len(), 5);
    assert_eq!(filtered(&shelf, "something", vec![Filter::is("genre", "starter")]), ["Pea Soup"]);
    assert!(filtered(&shelf, "xyzzy", vec![Filter::is("genre", "starter")]).is_empty());
}

#[test]
fn a_typing_error_is_forgiven_and_two_in_a_long_word() {
    let shelf = pantry();
    assert_eq!(shelf.names("wlanut"), ["Walnut Cake"]);
    assert_eq!(shelf.names("walnt soup")[0], "Walnut Cake");
    assert_eq!(shelf.names("please show me what there is with some wallnuts in it")[0], "Walnut Cake");
    assert!(shelf.names("wlnts").is_empty(), "two errors in a short word");
    assert!(shelf.names("spon").is_empty(), "short words become others too easily");
    assert!(shelf.names("12345").is_empty());
    shelf.put("b.csv", "name\nVegetarian Chickpea Spaghetti\nRatatouille\n");
    shelf.index();
    for query in ["chikpea", "vegitarian", "spagetti", "spagheti", "vegeterain", "chickpeaspaghetti"] {
        assert_eq!(shelf.names(query), ["Vegetarian Chickpea Spaghetti"], "{query}");
    }
    assert_eq!(shelf.names("ratatuile"), ["Ratatouille"]);
    assert!(shelf.names("ratatouillexyz").is_empty());
}

/// Errors as people make them: by ear, in doubled letters, with letters swapped, left out or without a space.
#[test]
fn words_are_corrected_as_they_are_written_and_it_is_told() {
    let shelf = Shelf::new();
    let names = [
        "Chocolate Mousse",
        "Lasagna al Forno",
        "Spaghetti",
        "Broccoli Gratin",
        "Zucchini",
        "Chicken Soup",
        "Cinnamon",
    ];
    shelf.put("a.csv", &format!("name\n{}\n", names.join("\n")));
    shelf.index();
    for (written, read_as, name) in [
        ("choclate", "chocolate", "Chocolate Mousse"),
        ("choccolate", "chocolate", "Chocolate Mousse"),
        ("lasanya", "lasagna", "Lasagna al Forno"),
        ("spageti", "spaghetti", "Spaghetti"),
        ("brocoli", "broccoli", "Broccoli Gratin"),
        ("zuccini", "zucchini", "Zucchini"),
        ("chickensoup", "chicken soup", "Chicken Soup"),
        ("cinammon", "cinnamon", "Cinnamon"),
    ] {
        assert_eq!(shelf.names(written)[0], name, "{written}");
        let corrections = shelf.library.corrections(&Query::new(written)).unwrap();
        let told: Vec<(&str, String)> = corrections.iter().map(|one| (one.written.as_str(), one.read_as())).collect();
        assert_eq!(told, [(written, read_as.to_owned())]);
    }
    for right in ["chocolate", "the soup of chickens", "xyzzyx", "12345", ""] {
        assert!(shelf.library.corrections(&Query::new(right)).unwrap().is_empty(), "{right}");
    }
}

#[test]
fn repeated_words_of_a_question_count_as_often() {
    let shelf = Shelf::new();
    shelf.put("a.csv", "name\nTea with Lemon\nTea with Mint\n");
    shelf.index();
    assert_eq!(shelf.names("mint or lemon, lemon above all")[0], "Tea with Lemon");
    assert_eq!(shelf.names("mint, lemon, mint")[0], "Tea with Mint");
}

#[test]
fn what_is_of_the_kind_comes_before_what_mentions_it() {
    let shelf = Shelf::new();
    let item = |n: usize, kind: &str, text: &str| {
        format!("{{\"name\":\"Thing {n}\",\"category\":\"{kind}\",\"description\":\"{text}\"}}\n")
    };
    let talk = "After this, have a dessert, dessert, dessert; dessert wine goes with dessert.";
    let long = "Sugar, eggs, flour, butter, milk, salt, lemon, honey and many other good things, slowly baked.";
    let items = (0..10).map(|n| item(n, "Dessert", long)).chain((10..20).map(|n| item(n, "Main dish", talk)));
    shelf.put("a.jsonl", &items.collect::<String>());
    shelf.index();
    let query = Query { limit: 20, ..Query::new("desserts") };
    let kinds: Vec<String> = shelf
        .library
        .search(&query)
        .unwrap()
        .iter()
        .map(|hit| hit.item.get("category").and_then(|kind| kind.as_str()).unwrap_or_default().to_owned())
        .collect();
    assert_eq!(kinds[..10], vec!["Dessert".to_owned(); 10]);
    assert_eq!(kinds[10..], vec!["Main dish".to_owned(); 10]);
}

/// A few dishes from Ethiopia, none of which is called a dish, among many side dishes.
#[test]
fn a_kind_never_outranks_the_rare_word_that_an_item_lacks() {
    let shelf = Shelf::new();
    let side = |n: usize| format!("{{\"name\":\"Potatoes {n}\",\"category\":\"Side dish\"}}\n");
    let main = |n: usize| format!("{{\"name\":\"Rice {n}\",\"category\":\"Main course\"}}\n");
    let long =
        "Lentils, onions, ginger, garlic, oil, salt and water, slowly cooked in a clay pot; eaten with flat bread.";
    let rare = |n: usize| format!("{{\"name\":\"Stew {n}\",\"description\":\"Ethiopian. {long}\"}}\n");
    let items = (0..30).map(side).chain((0..30).map(main)).chain((0..3).map(rare));
    shelf.put("a.jsonl", &items.collect::<String>());
    shelf.index();
    let names = shelf.names("ethiopian dishes");
    assert!(names[..3].iter().all(|name| name.starts_with("Stew")), "{names:?}");
    assert!(names[3..].iter().all(|name| name.starts_with("Potatoes")), "{names:?}");
}

#[test]
fn a_corrected_word_counts_in_names_too() {
    let shelf = Shelf::new();
    shelf.put("a.csv", "name\nSalad of Moroccan Oranges\nMoroccan Salad\nMoroccan Rice Salad\n");
    shelf.index();
    assert_eq!(shelf.names("moriccan salad")[0], "Moroccan Salad");
    let place = |query: &str| shelf.hits(query)[0].score;
    assert!(place("moriccan salad") > 0.8 * place("moroccan salad"));
}

#[test]
fn a_word_that_is_half_typed_is_found() {
    let shelf = Shelf::new();
    shelf.put("a.csv", "name\nChocolate Mousse\nVinaigrette\nRatatouille\n");
    shelf.index();
    for (written, name) in [("choco", "Chocolate Mousse"), ("vinaigr", "Vinaigrette"), ("ratato", "Ratatouille")] {
        assert_eq!(shelf.names(written), [name], "{written}");
    }
    for written in ["rat", "choc"] {
        assert!(shelf.names(written).is_empty(), "{written}: less than four letters, or than half of the word");
    }
}

/// The same texts, of which some begin with the title: it says nothing about them.
#[test]
fn a_text_that_begins_with_its_title_has_the_title_once() {
    let scores = |text: &str| {
        let shelf = Shelf::new();
        let item = format!("{{\"title\":\"Shear flow\",\"text\":\"{text}\"}}\n{{\"name\":\"Other\"}}\n");
        shelf.put("a.jsonl", &item);
        shelf.index();
        shelf.hits("shear flow")[0].score
    };
    assert_eq!(scores("Shear flow. Past a plate."), scores(". Past a plate."));
    assert_eq!(scores("SHEAR FLOW past a plate."), scores("past a plate."));
    assert!(scores("Shear flows past a plate.") > scores("past a plate."));
}

#[test]
fn a_word_that_is_there_is_never_read_as_another() {
    let shelf = Shelf::new();
    shelf.put("a.csv", "name\nPasta\nPesto\nPaste\n");
    shelf.index();
    assert_eq!(shelf.names("paste"), ["Paste"]);
    assert_eq!(shelf.names("pesto"), ["Pesto"]);
}

#[test]
fn words_of_many_languages_meet_in_spite_of_endings_accents_and_errors() {
    let shelf = Shelf::new();
    let item = |name: &str, language: &str| format!("{{\"name\":\"{name}\",\"inLanguage\":\"{language}\"}}\n");
    let items = [
        ("Gebackene Äpfel mit Nüssen", "de"),
        ("Champignons à la crème fraîche", "fr"),
        ("Garbanzos con espinacas y limón", "es"),
        ("番茄炒鸡蛋", "zh"),
        ("親子丼の作り方", "ja"),
        ("Борщ со сметаной", "ru"),
        ("ส้มตำไทย", "th"),
    ];
    shelf.put("a.jsonl", &items.map(|(name, language)| item(name, language)).concat());
    shelf.index();
    for (asked, language, place) in [
        ("apfel nuss", "de", 0),
        ("gebackenner Apfel", "de", 0),
        ("champignon creme", "fr", 1),
        ("champingon", "fr", 1),
        ("espinaca", "es", 2),
        ("garbanso", "es", 2),
        ("鸡蛋", "zh", 3),
        ("番茄鸡蛋", "zh", 3),
        ("親子丼", "ja", 4),
        ("борщ сметана", "ru", 5),
        ("ส้มตำ", "th", 6),
    ] {
        let query = Query { language: Language::parse(language), ..Query::new(asked) };
        let hits = shelf.library.search(&query).unwrap();
        assert_eq!(hits.first().map(|hit| hit.name.as_str()), Some(items[place].0), "{asked}");
    }
}

#[test]
fn nothing_a_stranger_types_is_syntax() {
    let shelf = pantry();
    for text in [
        "name:soup",
        "soup AND",
        "\"soup",
        "(soup",
        "soup^9 -pea",
        "+soup -spoon",
        "soup~",
        "soup*",
        "[a TO b]",
        "\\soup",
    ] {
        let names = shelf.names(text);
        assert!(text.contains("[a") || names.contains(&"Soup Spoon".to_owned()), "{text}: {names:?}");
    }
}

#[test]
fn bounds_of_a_query() {
    let shelf = pantry();
    let search = |query: &Query| shelf.library.search(query).unwrap().len();
    let filters = |n: usize| vec![Filter::is("@type", "Recipe"); n];
    assert_eq!(search(&Query { filters: filters(FILTERS_MAX), ..Query::new("") }), 3);
    assert_eq!(search(&Query { filters: filters(FILTERS_MAX + 1), ..Query::new("") }), 0);
    assert_eq!(search(&Query { offset: 3, limit: usize::MAX, ..Query::new("") }), 2);
    assert_eq!(search(&Query { offset: HITS_MAX, ..Query::new("") }), 0);
    assert_eq!(search(&Query { limit: 0, ..Query::new("soup") }), 0);
    let late = |bytes: usize| format!("{}walnut", " ".repeat(bytes));
    assert_eq!(search(&Query::new(late(QUERY_BYTES_MAX - 6))), 1);
    assert_eq!(search(&Query::new(late(QUERY_BYTES_MAX))), 0);
}

#[test]
fn words_past_the_bound_are_not_searched() {
    let shelf = Shelf::new();
    let words: Vec<String> = (0..=QUERY_WORDS_MAX).map(|n| format!("word{n}")).collect();
    let lines: Vec<String> = words.iter().map(|word| format!("{{\"name\":\"{word}\"}}")).collect();
    shelf.put("a.jsonl", &lines.join("\n"));
    shelf.index();
    let query = Query { limit: 100, ..Query::new(words.join(" ")) };
    assert_eq!(shelf.library.search(&query).unwrap().len(), QUERY_WORDS_MAX);
}

#[test]
fn pages_do_not_overlap_and_ties_keep_their_order() {
    let lines: Vec<String> = (0..60).map(|n| format!("{{\"@id\":\"urn:{n}\",\"name\":\"same soup\"}}\n")).collect();
    let once = Shelf::new();
    once.put("a.jsonl", &lines.concat());
    once.index();
    let twice = Shelf::new();
    twice.put("a.jsonl", &lines[30..].concat());
    twice.index();
    twice.put("b.jsonl", &lines[..30].concat());
    twice.index();
    let ids = |shelf: &Shelf, text: &str, offset: usize, limit: usize| -> Vec<String> {
        let query = Query { offset, limit, ..Query::new(text) };
        shelf.library.search(&query).unwrap().into_iter().map(|hit| hit.id).collect()
    };
    for text in ["soup", ""] {
        let all = ids(&once, text, 0, 60);
        assert_eq!(all.len(), 60);
        assert_eq!(all, ids(&twice, text, 0, 60));
        let pages: Vec<String> = (0..6).flat_map(|page| ids(&twice, text, page * 10, 10)).collect();
        assert_eq!(all, pages);
    }
}

#[test]
fn a_name_with_the_words_side_by_side_comes_first() {
    let shelf = Shelf::new();
    shelf.put("a.csv", "name\nRed Soup with Bean Paste\nPaste with Red Soup Bean\nSoup of Red Bean Paste\n");
    shelf.index();
    assert_eq!(shelf.names("red bean")[0], "Soup of Red Bean Paste");
    shelf.put("b.csv", "name\nBob\nWhat About Bob?\nThe Who\n");
    shelf.index();
    assert_eq!(shelf.names("what about bob")[0], "What About Bob?");
    assert_eq!(shelf.names("the who")[0], "The Who");
}

#[test]
fn arbitrary_questions_find_or_do_not() {
    let shelf = pantry();
    proptest!(dear(64), |(text in any::<String>(), offset in 0..2_000_usize, limit in 0..20_usize)| {
        let understood = shelf.library.understand(&text, &Language::english());
        let query = Query { text: understood.text, filters: understood.filters, offset, limit, ..Query::default() };
        prop_assert!(shelf.library.search(&query).unwrap().len() <= limit);
    });
}

#[test]
fn facets_count_what_sets_the_hits_apart() {
    let shelf = Shelf::new();
    let line =
        |n: usize| format!("{{\"name\":\"Pie {n}\",\"genre\":[\"{}\",\"Warm\",\"Warm\"]}}\n", ["Apple", "Pear"][n % 2]);
    shelf.put("pies.jsonl", &(0..FACET_ITEMS_MAX + 1).map(line).collect::<String>());
    shelf.index();
    let found = shelf.library.facets(&Query::new("pie"), &["genre", "colour"], 0).unwrap();
    assert_eq!((found.total, found.counted), (FACET_ITEMS_MAX + 1, FACET_ITEMS_MAX));
    assert_eq!(found.facets[0].values[0], ("Warm".to_owned(), FACET_ITEMS_MAX));
    assert_eq!((found.facets[0].values.len(), found.facets[0].items), (3, FACET_ITEMS_MAX));
    assert_eq!((found.facets[1].items, found.facets[1].values.len()), (0, 0));
    for (over, counted) in [(FACET_ITEMS_MAX + 1, 0), (FACET_ITEMS_MAX, FACET_ITEMS_MAX)] {
        let found = shelf.library.facets(&Query::new("pie"), &["genre"], over).unwrap();
        assert_eq!((found.total, found.counted), (FACET_ITEMS_MAX + 1, counted), "over {over}");
    }
    assert_eq!(shelf.library.facets(&Query::new("zeppelin"), &["genre"], 0).unwrap().total, 0);
    let many = (0..=FACET_VALUES_MAX).map(|n| format!("\"v{n}\"")).collect::<Vec<_>>().join(",");
    shelf.put("pies.jsonl", &format!("{{\"name\":\"Pie\",\"genre\":[{many}]}}\n"));
    shelf.index();
    let found = shelf.library.facets(&Query::new("pie"), &["genre"], 0).unwrap();
    assert_eq!(found.facets[0].values.len(), FACET_VALUES_MAX);
}

#[test]
fn an_explanation_adds_up_to_the_score() {
    let shelf = pantry();
    let query = Query::new("soup");
    let (hits, explained) = (shelf.hits("soup"), shelf.library.explain(&query).unwrap());
    assert!(!hits.is_empty());
    assert_eq!(
        explained.iter().map(|one| &one.id).collect::<Vec<_>>(),
        hits.iter().map(|hit| &hit.id).collect::<Vec<_>>()
    );
    for (one, hit) in explained.iter().zip(&hits) {
        let sum: f32 = one.terms.iter().map(|(_, _, score)| score).sum();
        assert!((sum - hit.score).abs() < 1e-3, "{one}");
        assert!(one.terms.iter().all(|(field, term, _)| !field.is_empty() && term == "soup"), "{one}");
    }
    assert!(shelf.library.explain(&Query::new("zzz")).unwrap().is_empty());
}
