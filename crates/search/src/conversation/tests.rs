use forecourt_core::{Handle, MessageId, Part, SearchRefinement, Turn};
use serde_json::{Value, json};

use forecourt_understanding::{ClassLimit, Filter, ParsedQuestion, PartRole, ReadPart};
use proptest::prelude::*;

use forecourt_vocabulary::Vocabulary;

use super::super::name_role::is_same;
use super::*;

/// Understands minutes, nuts and vegetarians.
struct Cook;

impl super::super::request::QuestionParser for Cook {
    fn understand(&self, text: &str) -> ParsedQuestion {
        understand(text)
    }

    fn named(&self, name: &str, value: &Value) -> Vec<Filter> {
        value.as_str().map(|text| Filter::mentions(name, text)).into_iter().collect()
    }

    fn class_names(&self, class: &str) -> Vec<String> {
        vec![class.to_owned()]
    }
}

impl ItemLookup for Cook {
    fn names(&self, words: &str) -> Vec<String> {
        let has = |name: &&&str| words.split(' ').any(|word| name.split(' ').any(|other| is_same(word, other)));
        NAMES.iter().filter(has).map(|name| (*name).to_owned()).collect()
    }

    fn has_items(&self, _: &[Filter]) -> bool {
        false
    }

    fn asks_back(&self, _: &SearchRequest) -> Option<Question> {
        None
    }

    fn is_about(&self, _: &[String]) -> bool {
        false
    }

    fn are_alike(&self, one: &str, other: &str) -> bool {
        let meat = ["chicken", "beef"];
        meat.contains(&one) && meat.contains(&other)
    }

    fn area_of(&self, class: &str) -> Option<String> {
        Vocabulary::shipped().class(class).map(|class| class.area.clone())
    }

    fn language(&self) -> &str {
        "en"
    }
}

const NAMES: [&str; 13] = [
    "Chicken Soup",
    "Chicken Soup with Rice",
    "Tomato Soup",
    "Beef Soup",
    "Fish Soup",
    "Fish Pie",
    "Beef Stew",
    "Garlic Bread",
    "Rye Bread",
    "Blueberry Muffins",
    "Blueberry Pie",
    "Banana Muffins",
    "Lamb Stew",
];

fn understand(text: &str) -> ParsedQuestion {
    let mut out = ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() };
    for minutes in [20, 30] {
        let words = format!("under {minutes} minutes");
        if out.text.contains(&words) {
            out.reading.extend(said(text, &words));
            out.text = out.text.replace(&words, "");
            let to = Some(f64::from(minutes));
            out.filters.push(Filter { words, ..Filter::within("totalTime", None, to) });
            out.notes = vec!["Some do not say.".to_owned()];
        }
    }
    for (words, without) in [("no nuts", ""), ("vegetarian", "vegetarian")] {
        if out.text.contains(words) {
            out.reading.extend(said(text, words));
            out.text = out.text.replace(words, without);
            out.filters.push(Filter { words: words.to_owned(), ..Filter::mentions("x", words) });
        }
    }
    out
}

/// The part of a text that says a limit in these words.
fn said(text: &str, words: &str) -> Option<ReadPart> {
    let role = PartRole::Limit(vec![words.to_owned()]);
    text.find(words).map(|at| ReadPart { bytes: at..at + words.len(), role })
}

fn message(text: &str, history: &[&str]) -> Message {
    let (id, recipient) = (MessageId::parse("1").unwrap(), Handle::parse("a").unwrap());
    let history =
        history.iter().flat_map(|text| [Turn::text(Role::User, *text), Turn::text(Role::Assistant, "hello more")]);
    let now = forecourt_core::Timestamp::UNIX_EPOCH;
    Message { history: history.collect(), ..Message::new(id, recipient, vec![Part::text(text)], "test", now) }
}

fn wished(text: &str, history: &[&str]) -> SearchIntent {
    wish(&message(text, history), "recipes", 10, &Cook)
}

fn asked(text: &str, history: &[&str]) -> (String, Vec<String>, usize) {
    match wished(text, history) {
        SearchIntent::Items(asked) => {
            (asked.text, asked.filters.into_iter().map(|filter| filter.words).collect(), asked.offset)
        }
        other => panic!("`{text}` asks for {other:?}"),
    }
}

#[test]
fn greetings_and_empty_turns_ask_for_an_introduction() {
    for text in ["", " ", "hello", "Hi there!", "help", "?", "what can you do?", "Who are you", "more"] {
        assert_eq!(wish(&message(text, &[]), "recipes", 10, &Cook), SearchIntent::Introduction, "{text}");
    }
    for text in ["hello dolly", "help me with soup", "hi-fi"] {
        assert_eq!(asked(text, &["soup"]).0, text, "{text}");
    }
}

#[test]
fn more_goes_on_from_where_the_answer_was() {
    for text in ["more", "More please!", "show me more", "next page", "more recipes", "some more of them?", "go on"] {
        assert_eq!(asked(text, &["soup"]), ("soup".to_owned(), vec![], 10), "{text}");
    }
    assert_eq!(asked("more", &["soup", "more", "hello", "more"]).2, 30);
    assert_eq!(asked("more soup", &["bread"]), ("more soup".to_owned(), vec![], 0));
}

#[test]
fn a_follow_up_narrows_the_question_down() {
    for (text, wanted) in [
        ("only vegetarian ones", ("soup vegetarian", vec!["vegetarian"])),
        ("and under 20 minutes?", ("soup", vec!["under 20 minutes"])),
        ("no nuts", ("soup", vec!["no nuts"])),
        ("vegetarian?", ("soup vegetarian", vec!["vegetarian"])),
        ("which of them are under 30 minutes?", ("soup", vec!["under 30 minutes"])),
        ("but with rice", ("soup rice", vec![])),
        ("those with rice", ("soup rice", vec![])),
    ] {
        let (left, filters, offset) = asked(text, &["soup", "more"]);
        assert_eq!(
            (left.as_str(), filters.iter().map(String::as_str).collect(), offset),
            (wanted.0, wanted.1, 0),
            "{text}"
        );
    }
}

#[test]
fn another_limit_replaces_the_earlier_one() {
    let (_, filters, _) = asked("and under 20 minutes", &["soup under 30 minutes, no nuts", "only vegetarian ones"]);
    assert_eq!(filters, ["no nuts", "vegetarian", "under 20 minutes"]);
}

#[test]
fn a_limit_may_be_let_go_of_and_what_was_shown_is_counted() {
    let before = ["soup under 30 minutes, no nuts", "more"];
    let (text, filters, offset) = asked("the minutes don't matter", &before);
    assert_eq!((text.trim_matches([' ', ',']), filters, offset), ("soup", vec!["no nuts".to_owned()], 0));
    // Another limit of the same property is no word for the old one.
    assert_eq!(asked("any under 20 minutes?", &before).1, ["no nuts", "under 20 minutes"]);
    let (text, filters, offset) = asked("how many are there?", &before);
    assert_eq!((text.trim_matches([' ', ',']), filters.len(), offset), ("soup", 2, 0));
}

#[test]
fn a_question_of_its_own_forgets_the_earlier_one() {
    for text in ["bread without yeast", "vegetarian lasagne", "no bake cookies", "cake under 30 minutes"] {
        assert!(!asked(text, &["soup"]).0.contains("soup"), "{text}");
    }
}

#[test]
fn only_so_many_earlier_turns_count() {
    let turns =
        |count: usize| std::iter::once("soup").chain(std::iter::repeat_n("more", count - 1)).collect::<Vec<_>>();
    assert_eq!(asked("more", &turns(FOLLOW_UPS_MAX)).2, FOLLOW_UPS_MAX * 10);
    assert_eq!(wish(&message("more", &turns(FOLLOW_UPS_MAX + 1)), "recipes", 10, &Cook), SearchIntent::Introduction);
}

fn filtered(text: &str, data: Value, results: usize) -> Turn {
    let narrowing = SearchRefinement { results: Some(results), ..SearchRefinement::default() };
    Turn { narrowing, ..Turn::new(Role::User, vec![Part::text(text), Part::data(data)]) }
}

/// The words of the filters, and the offset.
fn paged(history: Vec<Turn>, text: &str) -> (Vec<String>, usize) {
    let message = Message { history: history.into(), ..message(text, &[]) };
    let SearchIntent::Items(asked) = wish(&message, "recipes", 10, &Cook) else { panic!("items") };
    (asked.named.into_iter().map(|named| named.filter.words).collect(), asked.offset)
}

#[test]
fn more_and_follow_ups_keep_filters_by_name_and_a_question_of_its_own_does_not() {
    let history = || vec![filtered("soup", json!({"filters": {"cuisine": "Indian", "kind": "x"}}), 3)];
    let both = vec!["cuisine: Indian".to_owned(), "kind: x".to_owned()];
    assert_eq!(paged(history(), "more"), (both.clone(), 3));
    assert_eq!(paged(history(), "and under 20 minutes"), (both, 0));
    assert_eq!(paged(history(), "bread"), (vec![], 0));
    let mut changed = history();
    changed.push(filtered("more", json!({"filters": {"cuisine": "Thai"}}), 5));
    assert_eq!(paged(changed, "more"), (vec!["kind: x".to_owned(), "cuisine: Thai".to_owned()], 8));
}

#[test]
fn filters_of_all_turns_end_at_the_bound() {
    let words = |count: usize| {
        let turn = |n: usize| {
            filtered(
                if n == 0 { "soup" } else { "more" },
                json!({"filters": {format!("k{n}"): "v", format!("l{n}"): "v"}}),
                1,
            )
        };
        paged((0..count).map(turn).collect(), "more").0
    };
    let turns = QUESTION_FILTERS_MAX / 2;
    assert_eq!(words(turns).len(), QUESTION_FILTERS_MAX);
    let last = words(turns + 1);
    assert_eq!((last.len(), last[0].as_str()), (QUESTION_FILTERS_MAX, "k1: v"), "the newest hold");
}

#[test]
fn an_answer_by_name_goes_on_with_what_was_asked() {
    for (text, value) in [("Soup", json!("soup")), ("Soup, Stew", json!(["soup", "stew"])), ("any", json!("any"))] {
        let mut asking = message(text, &[]);
        asking.history = vec![Turn::text(Role::User, "pumpkin")].into();
        asking.parts.push(Part::data(json!({"filters": {"recipeCategory": value}})));
        let SearchIntent::Items(asked) = wish(&asking, "recipes", 10, &Cook) else { panic!("items") };
        assert_eq!((asked.text.as_str(), asked.was_asked_back), ("pumpkin", true), "{text}");
    }
}

/// The words that are searched for, the filters, and the question in words.
fn after(turns: &[&str]) -> (String, Vec<String>, Option<String>) {
    let (last, history) = turns.split_last().unwrap();
    match wished(last, history) {
        SearchIntent::Items(asked) => {
            (asked.text, asked.filters.into_iter().map(|filter| filter.words).collect(), asked.decontextualized)
        }
        other => panic!("{turns:?}: {other:?}"),
    }
}

#[test]
fn a_follow_up_adds_to_the_question() {
    for (turns, text, whole) in [
        (&["chicken soup", "with rice"][..], "chicken soup rice", "chicken soup with rice"),
        (&["muffins", "blueberry"], "muffins blueberry", "blueberry muffins"),
        (&["chicken", "soup"], "chicken soup", "chicken soup"),
        (&["soup", "and under 20 minutes?"], "soup", "soup under 20 minutes"),
    ] {
        let (found, _, wording) = after(turns);
        assert_eq!((found.as_str(), wording.as_deref()), (text, Some(whole)), "{turns:?}");
    }
}

#[test]
fn a_question_of_its_own_is_as_it_was_asked() {
    for turns in [
        &["soup"][..],
        &["soup", "bread"],
        &["muffins", "lamb stew"],
        &["soup under 30 minutes, no nuts"],
        &["hello", "soup?"],
    ] {
        let (text, _, whole) = after(turns);
        assert_eq!(whole, None, "{turns:?}");
        assert!(turns.last().unwrap().contains(text.trim_matches([' ', ','])), "{turns:?}: {text}");
    }
}

#[test]
fn something_else_takes_the_place_of_what_has_its_role() {
    for (turns, text, whole) in [
        (&["chicken soup", "instead beef"][..], "beef soup", "beef soup"),
        (&["chicken soup with rice", "no, beef"], "beef soup rice", "beef soup with rice"),
        (&["chicken soup", "what about fish?"], "fish soup", "fish soup"),
        (&["chicken soup", "bread instead"], "chicken bread", "chicken bread"),
        (&["chicken soup", "beef instead of chicken"], "beef soup", "beef soup"),
        (&["chicken soup", "with rice", "with noodles instead"], "chicken soup noodles", "chicken soup with noodles"),
    ] {
        let (found, _, wording) = after(turns);
        let found = content(&found);
        assert_eq!((found.as_str(), wording.as_deref()), (text, Some(whole)), "{turns:?}");
    }
}

#[test]
fn items_that_were_shown_are_chosen_and_asked_about() {
    let about = |turns: &[&str]| {
        let (last, history) = turns.split_last().unwrap();
        match wished(last, history) {
            SearchIntent::About(about) => (about.shown.text, about.which, about.question),
            other => panic!("{turns:?}: {other:?}"),
        }
    };
    let position = ShownItem::Position;
    assert_eq!(about(&["soup", "the second one"]), ("soup".to_owned(), position(2), None));
    assert_eq!(about(&["soup", "how long does it take?"]).1, position(1));
    let question = Some("does it contain nuts?".to_owned());
    assert_eq!(about(&["soup", "number 3", "does it contain nuts?"]), ("soup".to_owned(), position(3), question));
    assert_eq!(about(&["soup", "more", "does it contain nuts?"]).1, position(11));
    assert_eq!(about(&["soup", "more", "the last one"]).1, ShownItem::Last);
    let (text, _, offset) = asked("more", &["soup", "the second one", "how long does it take?"]);
    assert_eq!((text.as_str(), offset), ("soup", 10), "the list goes on");
    for text in ["the second one", "how long does it take?"] {
        assert!(matches!(wished(text, &[]), SearchIntent::Items(_)), "{text}: nothing was shown");
    }
}

#[test]
fn what_has_no_answer_here_is_none_and_forgets_nothing() {
    for text in ["thanks!", "tell me a joke", "what is 2+2?"] {
        assert!(matches!(wished(text, &["soup"]), SearchIntent::OffTopic(_)), "{text}");
        assert_eq!(asked("more", &["soup", text]).0, "soup");
    }
}

#[test]
fn an_answer_to_a_question_narrows_it_down() {
    let options = json!(["Soup", "Pie", "no preference"]);
    let field = json!({"id": "recipeCategory", "text": "Which?", "type": "single_select", "options": options});
    let question = Question { text: "Which?".to_owned(), questions: vec![field] };
    let asking = Turn { question: Some(Box::new(question)), ..Turn::text(Role::Assistant, "Which?") };
    let answered = |text: &str| {
        let history = vec![Turn::text(Role::User, "dinner"), asking.clone()];
        let message = Message { history: history.into(), ..message(text, &[]) };
        match wish(&message, "recipes", 10, &Cook) {
            SearchIntent::Items(asked) => asked,
            other => panic!("{text}: {other:?}"),
        }
    };
    let named = |asked: &SearchRequest| asked.named.iter().map(|named| named.filter.words.clone()).collect::<Vec<_>>();
    for (text, words, filters) in [
        ("soup", "dinner", &["recipeCategory: Soup"][..]),
        ("2", "dinner", &["recipeCategory: Pie"]),
        ("I would like pasta please", "dinner pasta", &[]),
        ("something with chicken", "dinner chicken", &[]),
        ("a soup with chicken", "dinner chicken", &["recipeCategory: Soup"]),
        ("no preference", "dinner", &[]),
    ] {
        let asked = answered(text);
        assert_eq!(
            (asked.text.as_str(), named(&asked).as_slice()),
            (words, &filters.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>()[..]),
            "{text}"
        );
        assert!(asked.was_asked_back && asked.notes.is_empty(), "{text}");
    }
    assert_eq!(answered("both").named.len(), 0, "the mock reads no lists");
    assert!(answered("7").notes[0].contains("“7”"), "what can't be used is said");
}

/// The limits that hold, each with the words of the newest turn that say it.
fn limits(text: &str, history: &[&str]) -> Vec<(String, Option<String>)> {
    let SearchIntent::Items(asked) = wished(text, history) else { return Vec::new() };
    let said = |filter: &Filter| (filter.words.clone(), asked.reading.saying(&filter.words).map(str::to_owned));
    asked.filters.iter().map(said).collect()
}

#[test]
fn a_limit_is_said_by_the_newest_turn_alone_and_in_its_own_words() {
    let limit = |words: &str, said: Option<&str>| (words.to_owned(), said.map(str::to_owned));
    assert_eq!(limits("@a soup with no nuts", &[]), [limit("no nuts", Some("no nuts"))]);
    let both = [limit("no nuts", None), limit("under 20 minutes", Some("under 20 minutes"))];
    assert_eq!(limits("and under 20 minutes please", &["soup, no nuts"]), both);
    for turn in ["more", "hello", "vegetarian please, forget the nuts"] {
        let told = limits(turn, &["soup under 30 minutes, no nuts"]);
        let is_earlier = |(words, said): &&(String, Option<String>)| words != "vegetarian" && said.is_some();
        assert_eq!(told.iter().find(is_earlier), None, "{turn}");
    }
}

proptest! {
    #[test]
    fn what_says_a_limit_lies_in_the_newest_turn(
        turns in prop::collection::vec(prop::sample::select(TURNS), 1..6),
        mentions in any::<bool>(),
    ) {
        let (newest, earlier) = turns.split_last().expect("one turn at least");
        let newest = if mentions { format!("@a {newest}") } else { (*newest).to_owned() };
        for (words, said) in limits(&newest, earlier) {
            // What this cook reads as a limit, it finds as it is worded.
            prop_assert_eq!(said.is_some(), newest.contains(&words), "{} in {:?}", words, &newest);
            prop_assert!(said.is_none_or(|said| newest.contains(&said)), "{}", newest);
        }
    }
}

const TURNS: &[&str] = &[
    "soup with no nuts",
    "under 20 minutes",
    "only vegetarian ones",
    "fish soup under 30 minutes, no nuts",
    "and no nuts",
    "rather under 30 minutes instead",
    "bread instead of soup",
    "more",
    "hello",
    "thanks",
    "any",
    "I am vegetarian, no nuts",
    "forget my diet",
    "start over",
    "with rice",
    "the second one",
];

#[test]
fn what_is_eaten_stays_out_and_a_material_does_for_one_question() {
    let without = |area: &str| Filter {
        fields: Vec::new(),
        test: Test::Without {
            classes: vec![ClassLimit { class: "x".to_owned(), area: area.to_owned() }],
            words: Vec::new(),
        },
        words: String::new(),
    };
    for (area, is_told, lasts) in [
        (FOOD, false, true),
        (FOOD, true, true),
        ("material", false, false),
        ("color", false, false),
        ("material", true, true),
    ] {
        assert_eq!(is_lasting(&without(area), is_told), lasts, "{area}");
    }
}
