//! The search box on a site of another origin, in Chromium: with the strictest policy that can work, by keyboard, on a
//! phone, in the dark, and on a site that is not listed.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};

use crate::browser::{Browser, ENTER, ESCAPE, View};
use crate::support::{Deployment, Served, within};

/// The key that goes down.
const DOWN: &str = "\u{e015}";
/// The key that goes up.
const UP: &str = "\u{e013}";
/// What a shop has: what, for how much, and whether it is there.
const GOODS: [(&str, &str, f64, &str); 6] = [
    ("Rain jacket for children", "Keeps the rain out of the school run.", 49.9, "InStock"),
    ("Rain jacket for grown-ups", "A jacket for long rain.", 89.0, "InStock"),
    ("Rain hat", "A hat with a brim for rain.", 19.5, "OutOfStock"),
    ("Rubber boots", "Boots for puddles and rain.", 35.0, "LimitedAvailability"),
    ("Umbrella", "Opens by itself when rain comes.", 15.0, "InStock"),
    ("Sun hat", "For the other days.", 12.0, "InStock"),
];

/// A site that is somebody else's: every path is one page, but for pictures.
struct Site {
    port: u16,
}

impl Site {
    /// Serves a page that embeds the box of the host at `host`, from a port of its own.
    fn open(listener: TcpListener, host: &str, attributes: &str) -> Self {
        Self::asking(listener, host, "@agent", attributes)
    }

    /// The same with a box that asks these agents.
    fn asking(listener: TcpListener, host: &str, agents: &str, attributes: &str) -> Self {
        let port = listener.local_addr().unwrap().port();
        let html = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>Rain &amp; Co</title><h1>Rain &amp; Co</h1><p>Gear for every weather.</p>\
             <p><input id=\"own\" aria-label=\"Newsletter\"></p>\
             <script src=\"{host}/widget.js\" data-agent=\"{agents}\" {attributes} async></script>"
        );
        let policy = format!(
            "default-src 'none'; script-src {host}; connect-src {host}; img-src http://localhost:{port}; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
        );
        let picture = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"84\" height=\"84\"><rect width=\"84\" height=\"84\" \
                       fill=\"#4a7a9c\"/></svg>";
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut head = [0; 4096];
                let read = stream.read(&mut head).unwrap_or_default();
                let asked = String::from_utf8_lossy(&head[..read]).into_owned();
                let (status, mime, body) = match asked.split(' ').nth(1) {
                    Some("/missing.png") => ("404 Not Found", "text/plain", ""),
                    Some(path) if path.ends_with(".svg") => ("200 OK", "image/svg+xml", picture),
                    _ => ("200 OK", "text/html; charset=utf-8", html.as_str()),
                };
                let fields = format!("content-type: {mime}\r\ncontent-security-policy: {policy}\r\nconnection: close");
                let length = body.len();
                let _ = write!(stream, "HTTP/1.1 {status}\r\n{fields}\r\ncontent-length: {length}\r\n\r\n{body}");
            }
        });
        Self { port }
    }

    fn url(&self, host: &str) -> String {
        format!("http://{host}:{}/", self.port)
    }
}

/// A shop that the site at `http://localhost:PORT` may ask.
fn shop(port: u16, more: &str) -> Deployment {
    let item = |(at, (name, about, price, stock)): (usize, &(&str, &str, f64, &str))| {
        let picture = if at == 1 { "missing.png".to_owned() } else { format!("{at}.svg") };
        json!({
            "@type": "Product", "@id": format!("https://rain.example/{at}"), "url": format!("https://rain.example/{at}"),
            "name": name, "description": about, "image": format!("http://localhost:{port}/{picture}"),
            "material": ["taffeta for rain", "cotton", "rubber"],
            "offers": {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": format!("https://schema.org/{stock}")},
        })
    };
    let goods: String = GOODS.iter().enumerate().map(|good| item(good).to_string() + "\n").collect();
    Deployment::of_backend("kind = \"search\"\ncontent = [\"goods.jsonl\"]\nitem_label = \"articles\"")
        .and("goods.jsonl", &goods)
        .with("pages", &format!("embed = [\"http://localhost:{port}\"]\n{more}"))
}

/// A shop, a site that embeds its search, and a browser. Ends the test where there is no browser.
macro_rules! looking {
    ($view:expr, $attributes:expr) => {{
        let Some(browser) = Browser::open($view) else { return };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let served = shop(listener.local_addr().unwrap().port(), "").serve();
        let site = Site::open(listener, &served.url(""), $attributes);
        (served, site, browser)
    }};
}

/// What an expression is within the box, where `$` finds one element and `$$` the texts of all.
fn within_box(browser: &Browser, expression: &str) -> Value {
    browser.value(&format!(
        "(() => {{ const root = document.querySelector('forecourt-ask')?.shadowRoot; \
         const $ = selector => root?.querySelector(selector); \
         const $$ = selector => [...root?.querySelectorAll(selector) ?? []].map(node => node.textContent); \
         return {expression}; }})()"
    ))
}

#[track_caller]
fn becomes(browser: &Browser, expression: &str, wanted: &Value) {
    within(&format!("{expression} is {wanted}"), || (within_box(browser, expression) == *wanted).then_some(()));
}

#[track_caller]
fn ready(browser: &Browser) {
    becomes(browser, "$('input')?.placeholder", &json!("Ask Agent …"));
}

#[track_caller]
fn quiet(browser: &Browser, but: &str) {
    let complaints = browser.complaints();
    let unexpected: Vec<_> = complaints.iter().filter(|line| but.is_empty() || !line.contains(but)).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

#[test]
fn cards_come_while_somebody_types_and_the_keyboard_goes_through_them() {
    let (_served, site, browser) = looking!(View::Desk, "data-lang=\"en\"");
    browser.go(&site.url("localhost"));
    ready(&browser);
    browser.press("/");
    assert_eq!(browser.value("document.activeElement.localName"), "forecourt-ask", "`/` jumps into the box");
    browser.press("rain jack");
    browser.press("et");
    becomes(
        &browser,
        "$$('.title').slice(0, 2).sort()",
        &json!(["Rain jacket for children (opens in a new tab)", "Rain jacket for grown-ups (opens in a new tab)",]),
    );
    let price = within_box(&browser, "$$('.price').find(text => text.includes('49'))");
    assert_eq!(price, "€49.90In stock");
    assert!(within_box(&browser, "$$('mark')").as_array().unwrap().contains(&json!("jacket")));
    assert!(within_box(&browser, "$$('.soft')").to_string().contains("taffeta for rain"), "matching entries of lists");
    // A picture that does not come leaves its letter.
    becomes(&browser, "$$('div.picture').includes('R')", &json!(true));
    browser.picture("embed-typing");
    browser.press(DOWN);
    assert_eq!(within_box(&browser, "root.activeElement.localName"), "a");
    browser.press(DOWN);
    browser.press(UP);
    browser.press(UP);
    assert_eq!(within_box(&browser, "root.activeElement.localName"), "input");
    browser.press(ENTER);
    becomes(
        &browser,
        "$('.said').textContent.length > 0 && $('.status').textContent.endsWith('results')",
        &json!(true),
    );
    assert_eq!(within_box(&browser, "$('.follow').hidden"), false, "one can ask on");
    browser.picture("embed-answer");
    browser.press(ESCAPE);
    assert_eq!(within_box(&browser, "$('.panel').hidden"), true);
    assert_eq!(browser.value("document.cookie + Object.keys(localStorage) + Object.keys(sessionStorage)"), "");
    quiet(&browser, "missing.png");
}

#[test]
fn a_follow_up_goes_on_and_starting_over_does_not() {
    let (_served, site, browser) = looking!(View::Desk, "data-mode=\"inline\"");
    browser.go(&site.url("localhost"));
    ready(&browser);
    browser.press(&format!("/rain gear{ENTER}"));
    becomes(&browser, "$('.follow')?.hidden", &json!(false));
    within_box(&browser, "$('.follow input').focus()");
    browser.press(&format!("only hats{ENTER}"));
    becomes(&browser, "$('.trail').textContent.startsWith('rain gear› only hats')", &json!(true));
    becomes(
        &browser,
        "$('.busy') === null && $$('.title').slice(0, 2).filter(title => title.includes(' hat')).length === 2",
        &json!(true),
    );
    within_box(&browser, "$('.trail button').click()");
    assert_eq!(within_box(&browser, "$('.panel').hidden && $('input').value"), "");
    quiet(&browser, "missing.png");
}

#[test]
fn a_key_that_somebody_types_elsewhere_is_left_alone() {
    let (_served, site, browser) = looking!(View::Desk, "");
    browser.go(&site.url("localhost"));
    ready(&browser);
    browser.find("#own").r#type("a/b");
    assert_eq!(browser.find("#own").property("value"), "a/b");
}

#[test]
fn a_phone_and_the_dark_are_no_trouble() {
    for (view, name) in [(View::Phone, "phone"), (View::Dark, "dark")] {
        let (_served, site, browser) = looking!(view, "");
        browser.go(&site.url("localhost"));
        ready(&browser);
        browser.press(&format!("/rain{ENTER}"));
        becomes(&browser, "$('.status')?.textContent", &json!("5 results"));
        let width = browser.value("document.documentElement.scrollWidth <= innerWidth");
        assert_eq!(width, true, "nothing is wider than the {name}");
        let contrast = within_box(&browser, "getComputedStyle($('.panel')).backgroundColor");
        let wanted = if matches!(view, View::Dark) { "rgb(26, 31, 30)" } else { "rgb(255, 255, 255)" };
        assert_eq!(contrast, wanted, "{name}");
        browser.picture(&format!("embed-{name}"));
        quiet(&browser, "missing.png");
    }
}

#[test]
fn a_site_that_is_not_listed_is_told_why_in_the_console() {
    let (served, site, browser) = looking!(View::Desk, "");
    browser.go(&site.url("127.0.0.1"));
    within("the box is hidden", || {
        (browser.value("document.querySelector('forecourt-ask')?.hidden") == true).then_some(())
    });
    let said = browser.complaints().join("\n");
    assert!(
        said.contains("is not listed there") && said.contains(&format!("http://127.0.0.1:{}", site.port)),
        "{said}"
    );
    // What the box would ask can't be read from there either.
    let asked = browser
        .value(&format!("fetch('{}').then(() => 'read', () => 'refused')", served.url("/~agent/ask?query=rain")));
    assert_eq!(asked, "refused");
    assert_eq!(asked_from(&served, "http://evil.example"), None);
    assert_eq!(asked_from(&served, "null"), None);
    let listed = site.url("localhost");
    let listed = listed.trim_end_matches('/');
    assert_eq!(asked_from(&served, listed).as_deref(), Some(listed));
}

/// `Access-Control-Allow-Origin` of an answer to a page of an origin.
fn asked_from(served: &Served, origin: &str) -> Option<String> {
    let origin = format!("Origin: {origin}");
    let answer = served.curl("/~agent/ask?query=rain&streaming=false", &["-H", &origin]).with_status(200);
    answer.field("access-control-allow-origin")
}

#[test]
fn a_visitor_who_asks_too_much_is_told_how_long_to_wait() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let deployment =
        shop(listener.local_addr().unwrap().port(), "").with("limits", "per_address = { burst = 3, per_second = 1 }");
    let served = deployment.serve();
    let site = Site::open(listener, &served.url(""), "");
    browser.go(&site.url("localhost"));
    ready(&browser);
    browser.press("/");
    let said = || {
        browser.press(ENTER);
        let words = within_box(&browser, "$('.said').textContent");
        words.as_str().is_some_and(|words| words.contains("Too many questions at once")).then_some(())
    };
    browser.press("rain");
    within("the visitor is told to wait", said);
}

/// Ten of a shop's products as its program exports them: nothing of it is a rain jacket for six years, under 60, not blue.
const TABLE: &str = "id,item_group_id,title,description,category,color,size,age,price,availability,link
1,puddle,Puddle Rain Jacket,With a hood and reflective strips.,Rain jackets,blue,110,5-7,49.95 EUR,in stock,https://gear.example/puddle
2,puddle,Puddle Rain Jacket,With a hood and reflective strips.,Rain jackets,navy,116,5-7,44.95 EUR,in stock,https://gear.example/puddle-navy
3,storm,Storm Rain Jacket,Three layers with taped seams.,Rain jackets,yellow,110,5-7,64.95 EUR,in stock,https://gear.example/storm
4,storm,Storm Rain Jacket,Three layers with taped seams.,Rain jackets,red,116,5-7,64.95 EUR,in stock,https://gear.example/storm-red
5,drop,Drop Rain Jacket,Soft and with mitten loops.,Rain jackets,green,92,2-4,39.95 EUR,in stock,https://gear.example/drop
6,ridge,Ridge Rain Jacket,For grown-ups and with pit zips.,Rain jackets,black,M,14-99,59.00 EUR,in stock,https://gear.example/ridge
7,fox,Fox Fleece Jacket,Warm and light.,Fleece,black,116,5-7,19.95 EUR,in stock,https://gear.example/fox
8,pine,Pine Rain Trousers,To go over others.,Rain trousers,red,116,5-7,29.95 EUR,in stock,https://gear.example/pine
9,moss,Moss Backpack,Fifteen litres.,Backpacks,green,one size,8-12,49.00 EUR,in stock,https://gear.example/moss
10,lake,Lake Tent,For three people.,Tents,grey,one size,,199.00 EUR,in stock,https://gear.example/lake
";

#[test]
fn a_table_of_products_is_asked_in_the_box_of_another_site() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let embed = format!("embed = [\"http://localhost:{}\"]", listener.local_addr().unwrap().port());
    let shop = Deployment::of_backend("kind = \"search\"\ncontent = [\"products.csv\"]");
    let served = shop.and("products.csv", TABLE).with("pages", &embed).serve();
    let site = Site::open(listener, &served.url(""), "data-lang=\"en\" data-mode=\"inline\"");
    browser.go(&site.url("localhost"));
    ready(&browser);
    browser.press("/");
    browser.press(&format!("a rain jacket for a six-year-old under 60, not blue{ENTER}"));
    becomes(&browser, "$('.status').textContent", &json!("Nothing found"));
    assert_eq!(within_box(&browser, "$$('.card').length"), 0, "nothing that breaks a limit is a result");
    let near = within_box(&browser, "$$('.said li')");
    for (limit, name) in [
        ("at most 60", "Storm Rain Jacket (64.95 EUR)"),
        ("6 years", "Drop Rain Jacket"),
        ("not blue", "Puddle Rain Jacket"),
        ("a rain jacket", "Pine Rain Trousers"),
    ] {
        let is_told = |line: &Value| line.as_str().is_some_and(|line| line.contains(limit) && line.contains(name));
        assert!(near.as_array().unwrap().iter().any(is_told), "{name} is near but for {limit}: {near}");
    }
    browser.picture("embed-table");
    // What there is comes as a card, with what it costs.
    browser.value("document.querySelector('forecourt-ask').shadowRoot.querySelector('input').value = ''");
    browser.press(&format!("rain jacket for a six-year-old under 70, not blue{ENTER}"));
    becomes(&browser, "$$('.title')[0]", &json!("Storm Rain Jacket (opens in a new tab)"));
    quiet(&browser, "");
}

#[test]
fn the_box_takes_the_font_of_its_page_and_the_colours_that_it_is_given() {
    let (_served, site, browser) = looking!(View::Desk, "data-lang=\"en\"");
    browser.go(&site.url("localhost"));
    ready(&browser);
    // As a style sheet of the page would, which the policy of this one forbids in words.
    browser.value(
        "(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync('body { font-family: Georgia, serif } \
         forecourt-ask { --forecourt-accent: rgb(168, 50, 30); --forecourt-radius: 3px }'); \
         document.adoptedStyleSheets = [sheet]; })()",
    );
    let style = |property: &str| within_box(&browser, &format!("getComputedStyle($('form.box button')).{property}"));
    assert_eq!(style("fontFamily"), "Georgia, serif");
    assert_eq!((style("backgroundColor"), style("borderRadius")), (json!("rgb(168, 50, 30)"), json!("3px")));
}

#[test]
fn one_box_asks_several_agents_and_groups_what_they_find() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let films = json!({"@type": "Movie", "@id": "https://films.example/1", "url": "https://films.example/1", "name": "Rain Man"});
    let gate = "handle = \"gate\"\nname = \"Gate\"\n[[policy.rules]]\nkind = \"require_consent\"\ntext = \"We keep it.\"\n\
                version = \"1\"\n[backend]\nkind = \"search\"\ncontent = [\"goods.jsonl\"]";
    let cinema = "handle = \"cinema\"\nname = \"Cinema\"\n[backend]\nkind = \"search\"\ncontent = [\"films.jsonl\"]";
    let served = shop(listener.local_addr().unwrap().port(), "")
        .and("agents/cinema.toml", cinema)
        .and("films.jsonl", &films.to_string())
        .and("agents/gate.toml", gate)
        .serve();
    let site = Site::asking(listener, &served.url(""), "all", "data-lang=\"en\" data-mode=\"inline\"");
    browser.go(&site.url("localhost"));
    becomes(&browser, "$('input')?.placeholder", &json!("Ask demo.localhost …"));
    browser.press(&format!("/rain{ENTER}"));
    becomes(&browser, "$('.busy') === null && $$('.group').length", &json!(3));
    browser.picture("embed-several");
    let groups = within_box(&browser, "$$('.group')");
    let of = |name: &str| -> String {
        let found = groups.as_array().unwrap().iter().map(|group| group.as_str().unwrap());
        found.filter(|group| group.starts_with(name)).collect()
    };
    assert!(of("Agent").contains("Rain jacket"), "{groups}");
    assert!(of("Cinema").contains("Rain Man") && of("Cinema").contains("Go on with Cinema"), "{groups}");
    assert!(of("Gate").contains("consent or a payment first") && !of("Gate").contains("Rain jacket"), "{groups}");
    assert_eq!(within_box(&browser, "$('.follow').hidden"), true, "one asks on with one agent");
    browser.value("document.querySelector('forecourt-ask').shadowRoot.querySelector('input').value = ''");
    browser.press(&format!("@cinema rain{ENTER}"));
    becomes(&browser, "$('.busy') === null && $$('.group').length", &json!(1));
    assert_eq!(within_box(&browser, "$('.group .title').textContent"), "Cinema");
    let complaints = browser.complaints();
    let is_expected = |line: &String| line.contains("missing.png") || line.contains("/~gate/ask");
    assert!(complaints.iter().all(is_expected), "{complaints:#?}");
}
