//! What a person sees, in a real browser: no page may complain about itself.

use crate::browser::{Browser, ENTER, ESCAPE, Element, View};
use crate::support::{Deployment, within};

/// An answer that is whole.
const ANSWERED: &str = ".turn:last-child .reply:not(.waiting)";

/// Opens a deployment and a browser. Ends the test where there is no browser.
macro_rules! looking {
    ($view:expr) => {
        match Browser::open($view) {
            Some(browser) => (Deployment::kitchen().serve(), browser),
            None => return,
        }
    };
}

/// Types a message and sends it; gives the answer when it is whole.
#[track_caller]
fn ask<'a>(browser: &'a Browser, text: &str) -> Element<'a> {
    let turns = browser.all(".turn").len();
    browser.find("#user").r#type(&format!("{text}{ENTER}"));
    within("a turn begins", || (browser.all(".turn").len() > turns).then_some(()));
    browser.find(ANSWERED)
}

/// The pages of a kitchen, one of each kind, with the statuses that browsers tell the console.
const PAGES: [(&str, &str); 7] = [
    ("/", ""),
    ("/~chef", ""),
    ("/~gate", ""),
    ("/~chef?user=chickpea%20soup%20under%2040%20minutes", ""),
    ("/~gate?user=file", ""),
    ("/~gate?user=pay", "status of 402"),
    ("/~nobody?user=hi", "status of 404"),
];

#[track_caller]
pub(crate) fn assert_quiet(browser: &Browser, but: &str) {
    let complaints = browser.complaints();
    let unexpected: Vec<&String> =
        complaints.iter().filter(|complaint| but.is_empty() || !complaint.contains(but)).collect();
    assert!(unexpected.is_empty(), "{}: {unexpected:#?}", browser.url());
}

#[test]
fn a_person_finds_an_agent_asks_and_follows_up() {
    let (served, browser) = looking!(View::Desk);
    browser.go(&served.https_url("/"));
    assert_eq!(browser.find("h1").text(), "Demo kitchen");
    let front = browser.find("main").text();
    for agent in ["Chef", "Echo", "Gate"] {
        assert!(front.contains(agent), "no {agent} in {front}");
    }
    assert!(!front.contains("@chef@demo.localhost"), "how programs reach agents is folded away: {front}");
    browser.find(".developers > summary").click();
    within("it unfolds", || browser.find("main").text().contains("@chef@demo.localhost").then_some(()));
    browser.picture("front");
    browser.find("main a[href$='/~chef']").click();
    within("the agent's page opens", || browser.url().ends_with("/~chef").then_some(()));
    assert_eq!(browser.find("h1").text(), "Chef");
    browser.picture("agent");
    browser.find("#q").r#type(&format!("chickpea soup{ENTER}"));
    let first = browser.find("#found .results").text();
    assert!(first.contains("Chickpea"), "{first}");
    let links = browser.all(".result h3 a[href^='https://en.wikibooks.org/']");
    assert!(links.len() >= 3, "each result has its own link: {first}");
    browser.find("#talk").click();
    within("a conversation goes on", || browser.all("#user").first().map(|_| ()));
    let narrowed = ask(&browser, "only under 40 minutes").text();
    assert!(narrowed.contains("40 min") && narrowed.contains("Chickpea"), "{narrowed}");
    assert_eq!(browser.all(".turn").len(), 1);
    browser.picture("follow-up");
    assert_quiet(&browser, "");
}

#[test]
fn refusals_tools_and_failures_in_the_chat() {
    let (served, browser) = looking!(View::Desk);
    browser.go(&served.url("/~gate"));
    ask(&browser, "pay");
    let card = browser.find(&format!("{ANSWERED} .notice"));
    assert!(card.text().contains("Payment required") && card.text().contains("Two coins."), "{}", card.text());
    let action = browser.find(&format!("{ANSWERED} .notice a.button"));
    assert_eq!(action.text(), "Pay two coins");
    assert_eq!(action.property("href"), served.url("/~gate?user=paid"));
    browser.picture("refusal-in-chat");
    assert!(ask(&browser, "tool").text().contains("There are three."));
    assert_eq!(browser.all(&format!("{ANSWERED} .steps li.done")).len(), 1);
    let failed = ask(&browser, "fail").text();
    assert!(failed.contains("I will try.") && failed.contains("Try again"), "{failed}");
    browser.picture("failure-in-chat");
    assert_quiet(&browser, "");
}

#[test]
fn an_answer_can_be_stopped() {
    let (served, browser) = looking!(View::Desk);
    browser.go(&served.url("/~gate"));
    browser.find("#user").r#type(&format!("slow{ENTER}"));
    let begun = || browser.all(".turn .reply.waiting .prose p").first().map(|_| ());
    within("words stream in", begun);
    browser.find("#user").r#type(ESCAPE);
    let stopped = browser.find(ANSWERED).text();
    assert!(stopped.contains("This takes a while") && stopped.contains("Stopped."), "{stopped}");
    assert!(ask(&browser, "tool").text().contains("There are three."), "the next question works");
    assert_quiet(&browser, "");
}

#[test]
fn a_suggestion_is_a_question() {
    let (served, browser) = looking!(View::Desk);
    browser.go(&served.url("/~gate"));
    browser.find("#suggestions a").click();
    let answer = browser.find(ANSWERED).text();
    assert!(answer.contains("One question first"), "{answer}");
    assert!(browser.url().contains("/~gate#q="), "{}", browser.url());
    assert_quiet(&browser, "");
}

#[test]
fn an_answer_of_its_own_leads_back_into_the_conversation() {
    let (served, browser) = looking!(View::Desk);
    browser.go(&served.url("/~chef?user=chickpeas"));
    assert!(browser.all(".card").len() >= 3, "results are cards");
    browser.picture("answer-page");
    browser.find("a[href*='#session=']").click();
    browser.find("#user");
    let more = ask(&browser, "only under 40 minutes").text();
    assert!(more.contains("Chickpea") && more.contains("40 min"), "{more}");
    assert_quiet(&browser, "");
}

#[test]
fn no_page_complains() {
    let (served, browser) = looking!(View::Desk);
    for (path, expected) in PAGES {
        browser.go(&served.url(path));
        assert_quiet(&browser, expected);
    }
    browser.go(&served.url("/~gate?user=pay"));
    let action = browser.find("a.button");
    assert_eq!((action.text().as_str(), action.property("href")), ("Pay two coins", served.url("/~gate?user=paid")));
    browser.picture("refusal-page");
    action.click();
    within("the action's page opens", || browser.find("article").text().contains("No money moved").then_some(()));
    browser.find(".name a").click();
    within("an answer leads to its agent", || browser.find("h1").text().contains("Gate").then_some(()));
    browser.go(&served.url("/~nobody?user=hi"));
    browser.picture("error-page");
    browser.find("article a").click();
    within("an error leads to who is there", || browser.find("h1").text().contains("Demo kitchen").then_some(()));
}

#[test]
fn what_people_and_agents_say_never_becomes_markup() {
    let (served, browser) = looking!(View::Desk);
    browser.go(&served.url("/~echo"));
    let evil = "<img src=x onerror=\"document.title='owned'\"> [x](javascript:alert(1)) <script>alert(1)</script>";
    let said = ask(&browser, evil).text();
    assert!(said.contains("<img src=x") && said.contains("<script>"), "{said}");
    assert!(browser.all("#log img, #log script, #log a[href^='javascript']").is_empty());
    browser.go(&served.url("/~echo?user=%3Cimg%20src=x%20onerror=%22document.title='owned'%22%3E"));
    assert!(browser.all("article img").is_empty());
    assert_ne!(browser.value("document.title"), "owned");
    assert_quiet(&browser, "");
}

#[test]
fn everything_works_without_javascript() {
    let (served, browser) = looking!(View::NoScript);
    browser.go(&served.url("/"));
    browser.find("main a[href$='/~chef']").click();
    browser.find("#q").r#type("chickpea soup");
    browser.find("#go").click();
    within("the form leads to the answer's page", || browser.url().contains("?user=chickpea+soup").then_some(()));
    assert!(browser.find("article").text().contains("Chickpea"));
    browser.picture("no-script");
    assert_quiet(&browser, "");
}

#[test]
fn nothing_is_wider_than_a_phone() {
    let (served, browser) = looking!(View::Phone);
    for (at, (path, _)) in PAGES.into_iter().enumerate() {
        browser.go(&served.url(path));
        assert_fits(&browser);
        browser.picture(&format!("phone-{at}"));
    }
    browser.go(&served.url("/~echo"));
    ask(&browser, "chickpea soup");
    assert_fits(&browser);
    browser.picture("phone-chat");
}

#[track_caller]
pub(crate) fn assert_fits(browser: &Browser) {
    let width = |of: &str| browser.value(&format!("document.documentElement.{of}")).as_u64().unwrap();
    assert_eq!(browser.value("window.innerWidth"), 360, "{}", browser.url());
    assert!(width("scrollWidth") <= width("clientWidth"), "{} scrolls sideways", browser.url());
}

#[test]
fn pages_are_dark_where_that_is_wanted() {
    let (served, browser) = looking!(View::Dark);
    for (at, (path, _)) in PAGES.into_iter().enumerate() {
        browser.go(&served.url(path));
        let (paper, ink) = (brightness(&browser, "backgroundColor"), brightness(&browser, "color"));
        assert!(paper < 64 && ink > 160, "{path}: {ink} on {paper}");
        browser.picture(&format!("dark-{at}"));
    }
}

/// The mean of red, green and blue of a colour of the page.
fn brightness(browser: &Browser, property: &str) -> u32 {
    let colour = browser.value(&format!("getComputedStyle(document.body).{property}"));
    let colour = colour.as_str().unwrap();
    let numbers = colour.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_end_matches(')').split(',');
    let numbers: Vec<u32> = numbers.filter_map(|number| number.trim().parse().ok()).collect();
    assert_eq!(numbers.len(), 3, "{colour}");
    numbers.iter().sum::<u32>() / 3
}

/// An agent that gives files and links, asks for several things at once, and breaks off.
const SHOP: &str = r#"
handle = "shop"
name = "Shop"
description = "Sells soup."
sessions = true

[backend]
kind = "script"

[[backend.rule]]
text = "^look"
events = [
  { text = "Here is what we have." },
  { link = { url = "https://shop.example/menu", title = "The menu", description = "Soups of the week" } },
  { file = { name = "pixel.png", mime = "image/png", base64 = "iVBORw0KGgo=" } },
]

[[backend.rule]]
text = "^order"
events = [
  { text = "Gladly." },
  { question = { text = "Tell me more.", questions = [
    { id = "kind", text = "Which kind?", type = "single_select", options = ["Pea", "Bean"] },
    { id = "extras", text = "What with it?", type = "multi_select", options = ["Rice", "Bread", "Nothing"] },
    { id = "minutes", text = "How long may it take?", type = "number", default = 20 },
  ] } },
]

[[backend.rule]]
text = "^break"
events = [{ text = "Half of an answer" }, { fail = "the stove went out" }]
"#;

fn shop() -> Deployment {
    Deployment::gatehouse().and("agents/shop.toml", SHOP)
}

#[test]
fn files_links_and_several_questions_in_the_chat() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let served = shop().serve();
    browser.go(&served.url("/~shop"));
    let looked = ask(&browser, "look").text();
    for words in ["Here is what we have.", "The menu", "Soups of the week", "pixel.png", "image/png", "8 bytes"] {
        assert!(looked.contains(words), "{words} in {looked}");
    }
    let link = browser.find(&format!("{ANSWERED} .rows a"));
    assert_eq!(link.property("href"), "https://shop.example/menu");
    browser.picture("files-in-chat");
    let asked = ask(&browser, "order").text();
    assert!(asked.contains("Which kind?") && asked.contains("How long may it take?"), "{asked}");
    let form = format!("{ANSWERED} form.questions");
    browser.find(&format!("{form} input[value=Pea]")).click();
    browser.find(&format!("{form} input[value=Rice]")).click();
    browser.find(&format!("{form} input[value=Bread]")).click();
    browser.picture("questions-in-chat");
    browser.find(&format!("{form} button")).click();
    within("the answers are a turn", || (browser.all(".turn").len() == 3).then_some(()));
    let answered = browser.find(ANSWERED).text();
    assert!(answered.contains("kind: Pea") && answered.contains("extras: Rice, Bread"), "{answered}");
    assert!(answered.contains("minutes: 20"), "{answered}");
    let broken = ask(&browser, "break").text();
    assert!(broken.contains("Half of an answer") && broken.contains("the stove went out"), "{broken}");
    browser.picture("broken-in-chat");
    assert_quiet(&browser, "");
}

#[test]
fn several_questions_without_a_script() {
    let Some(browser) = Browser::open(View::NoScript) else { return };
    let served = shop().serve();
    browser.go(&served.url("/~shop?user=order"));
    browser.find("form.questions input[value=Bean]").click();
    browser.find("form.questions input[value=Rice]").click();
    browser.picture("questions-page");
    browser.find("form.questions button").click();
    within("the answers are sent", || browser.url().contains("answer.").then_some(()));
    let page = browser.find("main").text();
    for words in ["Which kind? Bean", "What with it? Rice", "How long may it take? 20"] {
        assert!(page.contains(words), "{words} in {page}");
    }
    browser.go(&served.url("/~shop?user=look"));
    let page = browser.find("main").text();
    assert!(page.contains("The menu") && page.contains("pixel.png"), "{page}");
    browser.picture("files-page");
}

#[test]
fn one_box_asks_all_agents_that_find_things() {
    for (view, name) in [(View::Desk, "desk"), (View::Phone, "phone"), (View::NoScript, "noscript")] {
        let Some(browser) = Browser::open(view) else { return };
        let manual =
            "handle = \"manual\"\nname = \"Manual\"\n[backend]\nkind = \"search\"\ncontent = [\"builtin:manual\"]";
        let served = Deployment::kitchen().and("agents/manual.toml", manual).serve();
        browser.go(&served.url("/"));
        browser.picture(&format!("front-{name}"));
        browser.find("#q").r#type(&format!("chickpea soup{ENTER}"));
        within("the answers of both", || (browser.all(".group").len() == 2).then_some(()));
        assert!(browser.url().contains("user=chickpea+soup"), "{}", browser.url());
        browser.picture(&format!("several-{name}"));
        let chef = browser.find("#of-chef").text();
        assert!(chef.contains("Chef") && chef.contains("Chickpea"), "{chef}");
        if !matches!(view, View::NoScript) {
            let wide = browser.value("document.documentElement.scrollWidth > document.documentElement.clientWidth");
            assert_eq!(wide, false, "{name}");
            assert_quiet(&browser, "");
        }
        browser.find("#of-chef .more a").click();
        within("the page of one agent", || browser.url().contains("/~chef?user=chickpea").then_some(()));
    }
}
