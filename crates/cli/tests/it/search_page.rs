//! An agent that finds things, as a person sees it: results, what narrows them down, and URLs that
//! another person can open.

use serde_json::{Value, json};

use crate::browser::{Browser, ENTER, View};
use crate::pages::{assert_fits, assert_quiet};
use crate::support::{Deployment, Served, within};

/// The key that goes down.
const DOWN: &str = "\u{e015}";
/// The key that goes up.
const UP: &str = "\u{e013}";

const GENRES: [&str; 3] = ["Drama", "Comedy", "Horror"];

/// Films about the sea, of three genres and two decades.
fn films() -> String {
    let film = |n: usize| {
        let section = ["Old", "New"][n % 2];
        json!({
            "@type": "Movie", "@id": format!("https://films.example/{n}"), "url": format!("https://films.example/{n}"),
            "name": format!("Film {n}"), "datePublished": format!("{}", 1990 + n), "genre": GENRES[n % 3],
            "articleSection": section, "description": format!("Number {n} tells of the sea and its ships."),
        })
    };
    (0..24).map(|n| film(n).to_string() + "\n").collect()
}

/// A cinema, with more in its backend.
fn cinema(backend: &str) -> Deployment {
    let settings = format!("kind = \"search\"\ncontent = [\"films.jsonl\"]\nitem_label = \"films\"\n{backend}");
    Deployment::of_backend(&settings).and("films.jsonl", &films())
}

/// Opens a deployment and a browser. Ends the test where there is no browser.
macro_rules! looking {
    ($view:expr, $deployment:expr) => {
        match Browser::open($view) {
            Some(browser) => ($deployment.serve(), browser),
            None => return,
        }
    };
}

/// The names of the results on the page.
fn names(browser: &Browser) -> Vec<String> {
    let names = browser.value("[...document.querySelectorAll('.result h3')].map(it => it.textContent.trim())");
    names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Waits until nothing is being fetched, and this is what the heading over the results says.
#[track_caller]
fn settled(browser: &Browser, heading: &str) {
    let said =
        || browser.value("document.body.classList.contains('busy') || document.querySelector('#count')?.textContent");
    within(&format!("`{heading}`"), || (said() == heading).then_some(()));
}

/// Clicks on a value of a facet.
#[track_caller]
fn click_value(browser: &Browser, value: &str) {
    let at = format!(
        "[...document.querySelectorAll('.facet a')].findIndex(it => it.querySelector('.value').textContent === '{value}')"
    );
    let index = usize::try_from(browser.value(&at).as_i64().unwrap()).unwrap_or_else(|_| panic!("no {value}"));
    browser.all(".facet a")[index].click();
}

#[track_caller]
fn search(browser: &Browser, text: &str) {
    browser.find("#q").r#type(&format!("{text}{ENTER}"));
}

/// The names of the items that a program gets from a URL of the page.
fn names_for_programs(served: &Served, path: &str) -> Vec<String> {
    let answer: Value = served.curl(path, &["-H", "Accept: application/json"]).with_status(200).json();
    let parts = answer["parts"].as_array().unwrap().iter();
    parts.filter_map(|part| part["data"]["name"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_search_is_narrowed_widened_and_gone_back_in() {
    let (served, browser) = looking!(View::Desk, cinema("results = 5"));
    browser.go(&served.url("/~agent"));
    browser.picture("search-empty");
    search(&browser, "sea ships");
    settled(&browser, "5 of 24 results");
    assert!(browser.url().ends_with("/~agent?user=sea+ships"), "{}", browser.url());
    assert!(browser.find(".summary").text().contains("Best match: "));
    assert_eq!(browser.value("document.querySelector('.summary a').href.startsWith('https://films.example/')"), true);
    assert_eq!(browser.find(".result .source").text(), "films.example");
    assert!(browser.find(".result .snippet").text().contains("tells of the sea"));
    assert!(browser.value("document.title").as_str().unwrap().starts_with("sea ships · "));
    assert_eq!(browser.find("#searched").property("textContent"), "5 of 24 results");
    browser.picture("search-results");
    click_value(&browser, "Drama");
    settled(&browser, "5 of 8 results");
    assert_eq!(browser.find(".facet:not(.order) a[aria-current] .value").text(), "Drama");
    assert_eq!(browser.value("document.activeElement.querySelector('.value').textContent"), "Drama", "focus stays");
    click_value(&browser, "New");
    settled(&browser, "4 results");
    assert!(browser.url().contains("filter.genre=Drama&filter.articleSection=New"), "{}", browser.url());
    browser.picture("search-narrowed");
    let two = names(&browser);
    click_value(&browser, "New");
    settled(&browser, "5 of 8 results");
    browser.find("#more").click();
    settled(&browser, "8 results");
    assert_eq!(browser.value("document.activeElement.closest('li').id"), "result-6", "focus is on what is new");
    let eight = names(&browser);
    browser.value("history.go(-2)");
    settled(&browser, "4 results");
    assert_eq!(names(&browser), two);
    browser.value("history.forward()");
    settled(&browser, "5 of 8 results");
    assert_eq!(names(&browser), eight[..5]);
    browser.find(".chosen a").click();
    settled(&browser, "5 of 24 results");
    assert_quiet(&browser, "");
}

#[test]
fn a_shared_url_shows_the_same_to_everybody() {
    let (served, browser) = looking!(View::Desk, cinema("results = 5"));
    browser.go(&served.url("/~agent"));
    search(&browser, "sea");
    settled(&browser, "5 of 24 results");
    click_value(&browser, "Horror");
    settled(&browser, "5 of 8 results");
    browser.find("#more").click();
    settled(&browser, "8 results");
    let (shown, url) = (names(&browser), browser.url());
    let fresh = Browser::open(View::NoScript).unwrap();
    fresh.go(&url);
    settled(&fresh, "8 results");
    assert_eq!(names(&fresh), shown);
    assert_eq!(fresh.find("#q").property("value"), "sea");
    let path = url.split_once("/~agent").map(|(_, query)| format!("/~agent{query}")).unwrap();
    assert_eq!(names_for_programs(&served, path.split('#').next().unwrap()), shown);
    assert!(!url.contains("session"), "{url}");
    assert_quiet(&fresh, "");
}

#[test]
fn a_search_works_without_javascript() {
    let (served, browser) = looking!(View::NoScript, cinema("results = 5\nelicit = { over = 10 }"));
    browser.go(&served.url("/~agent"));
    search(&browser, "sea");
    let asked = browser.find(".asking");
    assert!(asked.text().starts_with("24 films could fit.\nWhich genre?\n"), "{}", asked.text());
    browser.picture("search-question-no-script");
    browser.find(".asking input[value=Comedy]").click();
    browser.find(".asking button").click();
    settled(&browser, "5 of 8 results");
    assert!(browser.url().contains("filter.genre=Comedy"), "{}", browser.url());
    // Drivers take what stands in closed details for hidden, even where style shows it.
    let old = browser.value("[...document.querySelectorAll('.facet a')].find(it => /Old/.test(it.textContent)).href");
    browser.go(old.as_str().unwrap());
    settled(&browser, "4 results");
    browser.picture("search-no-script");
    browser.find(".chosen a[aria-label='Remove Old']").click();
    settled(&browser, "5 of 8 results");
    browser.find("#more").click();
    settled(&browser, "8 results");
    assert!(browser.url().ends_with("#result-6"), "{}", browser.url());
    assert_quiet(&browser, "");
}

#[test]
fn a_question_back_is_a_form_that_can_be_skipped() {
    let (served, browser) = looking!(View::Desk, cinema("results = 5\nelicit = { over = 10 }"));
    browser.go(&served.url("/~agent?user=sea"));
    browser.find(".asking");
    browser.picture("search-question");
    browser.find(".asking .meta a").click();
    settled(&browser, "5 of 24 results");
    assert!(browser.url().ends_with("ask=no"), "{}", browser.url());
    browser.go(&served.url("/~agent?user=sea"));
    browser.find(".asking input[value=Horror]").click();
    browser.find(".asking button").click();
    settled(&browser, "5 of 8 results");
    assert_eq!(browser.find(".chosen a").text().trim_end_matches(['×', ' ', '\n']), "Horror");
    assert_quiet(&browser, "");
}

/// An agent that asks in every way that there is, and says what it was told.
const ASKING: &str = r#"kind = "script"

[[backend.rule]]
text = "^dinner"
events = [{ question = { text = "Tell me **more**.", questions = [
  { id = "diet", text = "Which diets?", type = "multi_select", options = ["vegan", "halal", "kosher"], default = ["vegan"] },
  { id = "protein", text = "Which protein?", type = "single_select", options = ["tofu", "<b>fish</b>"], default = "tofu" },
  { id = "minutes", text = "How long?", type = "number", default = 30 },
  { id = "spicy", text = "Spicy?", type = "boolean", default = true },
  { id = "else", text = "Anything else?", type = "free_text", default = "no" },
] } }]

[[backend.rule]]
text = "vegan"
events = [{ message = "I heard you." }]
"#;

#[test]
fn every_type_of_question_can_be_answered() {
    for view in [View::Desk, View::NoScript] {
        let (served, browser) = looking!(view, Deployment::of_backend(ASKING));
        browser.go(&served.url("/~agent?user=dinner"));
        let state = "[...document.forms[0]].filter(it => it.checked || it.value && it.type != 'checkbox' && it.type != 'radio' \
                     && it.type != 'hidden').map(it => it.value)";
        assert_eq!(browser.value(state), json!(["vegan", "tofu", "30", "yes", "no"]), "defaults");
        browser.picture("questions");
        browser.find("input[type=checkbox][value=kosher]").click();
        browser.find("input[type=radio][value='<b>fish</b>']").click();
        browser.find("input[type=radio][value=no]").click();
        browser.find("input[type=number]").r#type("5");
        browser.find("input[type=text]").r#type(" nuts");
        browser.find("form button").click();
        within("the answer comes", || browser.find("article").text().contains("I heard you").then_some(()));
        let url = browser.url();
        let query = url.split_once('?').unwrap().1;
        let sent: Vec<(String, String)> = form_pairs(query);
        let said = [
            ("answer.Which diets?", "vegan"),
            ("answer.Which diets?", "kosher"),
            ("answer.Which protein?", "<b>fish</b>"),
            ("answer.How long?", "530"),
            ("answer.Spicy?", "no"),
            ("answer.Anything else?", "no nuts"),
        ];
        let said: Vec<_> = said.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(sent.into_iter().filter(|(name, _)| name != "session").collect::<Vec<_>>(), said);
        assert_quiet(&browser, "");
    }
}

fn form_pairs(query: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

#[test]
fn nothing_found_and_an_agent_that_is_not_ready_say_so() {
    let (served, browser) = looking!(View::Desk, cinema("results = 5"));
    browser.go(&served.url("/~agent?user=zzxqqq"));
    assert!(browser.find(".summary.notice").text().contains("Nothing found"));
    assert!(browser.all(".result").is_empty());
    browser.picture("search-nothing");
    browser.go(&served.url("/~agent?user=sea&filter.genre=Drama&filter.articleSection=Nowhere"));
    within("it is said", || browser.find(".summary").text().contains("Nowhere").then_some(()));
    assert!(browser.all(".result").is_empty(), "no item has this value");
    assert_quiet(&browser, "");
}

#[test]
fn a_phone_folds_what_narrows_down() {
    let (served, browser) = looking!(View::Phone, cinema("results = 5"));
    browser.go(&served.url("/~agent?user=sea&filter.genre=Drama"));
    settled(&browser, "5 of 8 results");
    assert_fits(&browser);
    let is_seen = || browser.value("document.querySelector('.facet a').checkVisibility()");
    assert_eq!(is_seen(), false);
    browser.picture("search-phone");
    browser.find(".facets summary").click();
    within("the facets unfold", || (is_seen() == true).then_some(()));
    assert_fits(&browser);
    browser.picture("search-phone-facets");
    click_value(&browser, "New");
    settled(&browser, "4 results");
    assert_quiet(&browser, "");
}

#[test]
fn what_items_say_is_never_markup_and_their_pictures_are_seen() {
    let (served, browser) = looking!(View::Desk, cinema(""));
    let evil = json!({
        "@type": "Movie", "@id": "evil", "name": "<img src=x onerror=\"document.title='owned'\"> sealion",
        "url": "javascript:document.title='owned'", "description": "<script>document.title='owned'</script> sealion",
        "genre": "\"><svg onload=\"document.title='owned'\">", "image": served.https_url("/assets/forecourt.svg"),
    });
    served.deployment.write("films.jsonl", &format!("{}{evil}\n", films()));
    within("the item is there", || {
        let found = names_for_programs(&served, "/~agent?user=sealion");
        found.first().filter(|name| name.contains("sealion")).map(|_| ())
    });
    browser.go(&served.url("/~agent"));
    search(&browser, "sealion");
    within("the picture is there", || {
        (browser.value("document.querySelector('.result img')?.naturalWidth > 0") == true).then_some(())
    });
    assert!(names(&browser)[0].starts_with("<img src=x"), "{:?}", names(&browser));
    assert_eq!(browser.all("#found script, #found svg, #found img[onerror], #found a[href^=javascript]").len(), 0);
    assert!(!browser.value("document.title").as_str().unwrap().contains("owned"));
    browser.picture("search-hostile");
    assert_quiet(&browser, "");
}

#[test]
fn a_search_is_dark_where_that_is_wanted() {
    let (served, browser) = looking!(View::Dark, cinema("results = 5"));
    browser.go(&served.url("/~agent?user=sea&filter.genre=Drama"));
    settled(&browser, "5 of 8 results");
    assert_ne!(
        browser.value("getComputedStyle(document.querySelector('.card')).backgroundColor"),
        "rgb(255, 255, 255)"
    );
    browser.picture("search-dark");
    assert_quiet(&browser, "");
}

#[test]
fn an_answer_is_rated_and_copied_and_asked_again() {
    let (served, browser) = looking!(View::Desk, cinema("results = 5").with("questions", "log = true"));
    browser.go(&served.url("/~agent"));
    assert_eq!(browser.value("document.getElementById('recent')"), Value::Null, "nothing was asked yet");
    search(&browser, "sea ships");
    settled(&browser, "5 of 24 results");
    let tools = "[...document.querySelectorAll('.tools button')].map(it => it.textContent.trim() || it.ariaLabel)";
    assert_eq!(
        browser.value(tools),
        json!(["Copy", "Copy link", "Yes, this helped", "No, this did not help"]),
        "{}",
        browser.find(".summary").text()
    );
    assert_eq!(browser.all(".quote").len(), 5);
    browser.find(".rate [value=false]").click();
    within("the thumb is counted", || (browser.find(".rate").text() == "Thank you.").then_some(()));
    browser.press("/");
    assert_eq!(browser.value("document.activeElement.id"), "q", "`/` leads to the box");
    browser.press(DOWN);
    assert_eq!(browser.value("document.activeElement.closest('li').id"), "result-1");
    browser.press(UP);
    assert_eq!(browser.value("document.activeElement.id"), "q");
    browser.go(&served.url("/"));
    assert_eq!(browser.find("#recent a").text(), "sea ships");
    browser.picture("front-recent");
    // Whoever else wrote into this store leads nowhere else.
    let foreign =
        [r"/\other.example/", "//other.example/", "https://other.example/", "javascript:alert(1)", "http://["];
    let entries: Vec<Value> = foreign.iter().map(|url| json!({"question": "x", "url": url})).collect();
    browser.value(&format!(
        "localStorage.setItem('asked', JSON.stringify({}.concat(JSON.parse(localStorage.asked))))",
        json!(entries)
    ));
    browser.go(&served.url("/"));
    assert_eq!(browser.all("#recent a").len(), 1);
    // The box of the front page leads to a page without a script, and is remembered all the same.
    search(&browser, "waves");
    within("the page of results", || browser.url().contains("user=waves").then_some(()));
    browser.go(&served.url("/"));
    assert_eq!(browser.find("#recent a").text(), "waves");
    browser.find("#recent a").click();
    within("the page of results", || browser.url().contains("user=waves").then_some(()));
    browser.go(&served.url("/"));
    browser.find("#recent button").click();
    assert_eq!(
        browser.value("localStorage.length + document.querySelectorAll('#recent').length"),
        0,
        "it is forgotten"
    );
    assert_quiet(&browser, "");
}

#[test]
fn a_thumb_is_a_form_where_no_script_runs() {
    let (served, browser) = looking!(View::NoScript, cinema("results = 5").with("questions", "log = true"));
    browser.go(&served.url("/~agent?user=sea"));
    let before = browser.url();
    browser.find(".rate [value=true]").click();
    assert_eq!(browser.url(), before, "it leads nowhere");
    let form = ["-H", "content-type: application/x-www-form-urlencoded", "-d", "question=sea&good=true"];
    // Who is no browser says nothing of where a form is from, and a browser of another site does.
    served.curl("/~agent/feedback", &form).with_status(204);
    for origin in ["origin: null", "origin: https://other.example"] {
        served.curl("/~agent/feedback", &[&form[..], &["-H", origin]].concat()).with_status(403);
    }
    let text = ["-H", "content-type: text/plain", "-d", "question=sea&good=true"];
    served.curl("/~agent/feedback", &text).with_status(415);
    let own = [&form[..], &["-H", "sec-fetch-site: same-origin"]].concat();
    served.curl("/~agent/feedback", &own).with_status(204);
    let foreign = [&form[..], &["-H", "sec-fetch-site: cross-site"]].concat();
    served.curl("/~agent/feedback", &foreign).with_status(403);
    // Where no questions are counted there are no thumbs.
    let quiet = cinema("results = 5").serve();
    browser.go(&quiet.url("/~agent?user=sea"));
    assert!(browser.all(".rate").is_empty());
}

/// A cinema that counts what people ask, and whose operator may read that.
fn logging() -> Deployment {
    cinema("results = 5").with("questions", "log = true").with("admin", "token = \"a-token-of-the-operator\"")
}

/// The lists of the log of questions, as its operator reads them.
fn counted(served: &Served) -> Value {
    served.deployment.run("admin", ["questions", "--json"]).json()
}

#[test]
fn clicks_on_results_are_counted_with_and_without_a_script() {
    let (served, browser) = looking!(View::Desk, logging());
    browser.go(&served.url("/~agent"));
    search(&browser, "sea ships");
    settled(&browser, "5 of 24 results");
    assert_eq!(browser.value("document.querySelectorAll('.result [ping]').length"), 0, "the script tells of clicks");
    // Where it leads is not there; that it was clicked is told all the same.
    browser.value("document.querySelector('#result-2 h3 a').setAttribute('target', '_blank')");
    browser.find("#result-2 h3 a").click();
    let clicked = || (counted(&served)["clicks"] == 1).then_some(());
    within("the click is counted", clicked);
    let told = counted(&served);
    assert_eq!((&told["average_place"], &told["clicked_most"][0]["place"]), (&json!(2.0), &json!(2.0)));
    assert_eq!((&told["top"][0]["clicked"], told["never_clicked"].as_array().unwrap().len()), (&json!(1), 4));
    // A page without a script has links that tell by themselves, which its policy allows.
    let page = served.curl("/~agent?user=sea%20ships", &["-H", "Accept: text/html"]).with_status(200);
    assert!(page.field("content-security-policy").unwrap().contains("connect-src 'self'"));
    assert!(!page.field("content-security-policy").unwrap().contains("script-src"));
    browser.go(&served.url("/~agent?user=sea%20ships"));
    browser.value("document.querySelector('#result-1 h3 a').setAttribute('target', '_blank')");
    browser.find("#result-1 h3 a").click();
    within("the ping is counted", || (counted(&served)["clicks"] == 2).then_some(()));
    assert_quiet(&browser, "films.example");
    let csv = served.deployment.run("admin", ["questions", "--csv", "clicked"]).fine();
    assert!(csv.starts_with("shown,clicked,place,agent,question,item\r\n"), "{csv}");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let text = served.deployment.run("admin", ["questions"]).fine();
    for heading in ["asked most", "without a good answer", "clicked most", "shown and never clicked"] {
        assert!(text.contains(heading), "{text}");
    }
}

#[test]
fn a_click_that_somebody_makes_up_counts_nothing() {
    let served = logging().serve();
    served.curl("/~agent?user=sea", &["-H", "Accept: text/html"]).with_status(200);
    let path = |question: &str, item: &str| format!("/~agent/click?question={question}&item={item}");
    let shown = counted(&served)["never_clicked"][0]["item"].as_str().unwrap().to_owned();
    let post = ["-X", "POST"];
    for (path, status) in [
        (path("sea", "https://evil.example/"), 404),
        (path("nothing+that+was+asked", &shown), 404),
        ("/~agent/click".to_owned(), 400),
        ("/~nobody/click?question=sea&item=x".to_owned(), 404),
    ] {
        served.curl(&path, &post).with_status(status);
    }
    let of_another_site = [&post[..], &["-H", "sec-fetch-site: cross-site"]].concat();
    served.curl(&path("sea", &shown), &of_another_site).with_status(403);
    served.curl(&path("sea", &shown), &post).with_status(204);
    served.curl(&path("sea", &shown), &post).with_status(404);
    assert_eq!(counted(&served)["clicks"], 1, "no more often than it was shown");
    // What programs are answered has no links to click, and is no result that nobody clicked.
    served.curl("/~agent?user=ships", &["-H", "Accept: application/json"]).with_status(200);
    let told = counted(&served);
    assert!(told["never_clicked"].as_array().unwrap().iter().all(|one| one["question"] == "sea"), "{told}");
    let quiet = cinema("results = 5").serve();
    let page = quiet.curl("/~agent?user=sea", &["-H", "Accept: text/html"]).with_status(200);
    assert!(!page.text().contains("ping=") && !page.field("content-security-policy").unwrap().contains("connect-src"));
    quiet.curl(&path("sea", &shown), &post).with_status(404);
}

#[test]
fn what_narrows_a_search_down_is_called_as_people_do_in_the_language_of_the_page() {
    let recipe = |n: usize| {
        let (kind, diet, genre) = match n % 2 {
            0 => ("Recipe", "https://schema.org/VeganDiet", "Hausmannskost"),
            _ => ("HowTo", "GlutenFreeDiet", "Haute Cuisine"),
        };
        json!({
            "@type": kind, "@id": format!("https://r.example/{n}"), "name": format!("Suppe {n}"),
            "suitableForDiet": diet, "genre": genre, "description": "Eine Suppe.",
        })
    };
    let recipes: String = (0..12).map(|n| recipe(n).to_string() + "\n").collect();
    let served = Deployment::of_backend("kind = \"search\"\ncontent = [\"r.jsonl\"]").and("r.jsonl", &recipes).serve();
    for (language, words) in [
        ("de", ["Ernährung", "Vegan", "Glutenfrei", "Art", "Rezept", "Anleitung", "Genre", "Hausmannskost"]),
        ("fr", ["Régime", "Végane", "Sans gluten", "Type", "Recette", "Mode d’emploi", "Genre", "Hausmannskost"]),
        ("es", ["Dieta", "Vegana", "Sin gluten", "Tipo", "Receta", "Instrucciones", "Género", "Hausmannskost"]),
        ("en", ["Diet", "Vegan", "Gluten-free", "Kind", "Recipe", "Instructions", "Genre", "Hausmannskost"]),
    ] {
        let wanted = format!("Accept-Language: {language}");
        let page =
            served.curl("/~agent?user=suppe", &["-H", "Accept: text/html", "-H", &wanted]).with_status(200).text();
        let facets = &page[page.find("class=\"facets\"").unwrap()..];
        for word in words {
            assert!(facets.contains(&format!(">{word}<")), "{language}: no {word} in {facets}");
        }
    }
    let german = ["-H", "Accept: text/html", "-H", "Accept-Language: de"];
    let chosen = served.curl("/~agent?user=suppe&filter.suitableForDiet=https://schema.org/VeganDiet", &german);
    assert!(chosen.text().contains("aria-label=\"Vegan entfernen\""), "{}", chosen.text());
}
