//! The pages about a site itself: its front page, what search engines may list, and the languages of pages.

use crate::browser::{Browser, View};
use crate::pages::{assert_fits, assert_quiet};
use crate::support::{Deployment, Served, within};

const HTML: [&str; 2] = ["-H", "Accept: text/html"];

fn page(served: &Served, path: &str, more: &[&str]) -> String {
    served.curl(path, &[&HTML[..], more].concat()).with_status(200).text()
}

#[test]
fn the_box_of_the_front_page_asks_the_agent_beside_it() {
    let served = Deployment::gatehouse().serve();
    let asked = |query: &str| served.curl(&format!("/?{query}"), &HTML).with_status(303).named("location");
    assert_eq!(asked("user=a+%26+b&agent=echo"), "/~echo?user=a+%26+b");
    assert_eq!(asked("user=hi"), "/~gate?user=hi");
    assert_eq!(asked("user=hi&agent=..%2Fnobody"), "/~gate?user=hi", "an agent that is none is not asked");
    for query in ["user=", "user=+", "agent=echo"] {
        served.curl(&format!("/?{query}"), &HTML).with_status(200);
    }
    served.curl("/?user=hi", &["-H", "Accept: application/json"]).with_status(200);
}

#[test]
fn titles_name_the_site() {
    let served = Deployment::kitchen().serve();
    for (path, wanted) in [
        ("/", "<title>Demo kitchen</title>"),
        ("/~chef", "<title>Chef · Demo kitchen</title>"),
        ("/~gate", "<title>Gate · Demo kitchen</title>"),
        ("/~chef?user=soup", "<title>soup · Demo kitchen · @chef@demo.localhost</title>"),
        ("/~gate?user=file", "<title>file · Demo kitchen · @gate@demo.localhost</title>"),
    ] {
        let page = page(&served, path, &[]);
        assert!(page.contains(wanted), "{wanted} in {page}");
        assert!(!page.contains("— Mentionable"), "{page}");
    }
}

#[test]
fn pages_speak_the_language_of_who_reads_them() {
    let served = Deployment::kitchen().serve();
    for (wanted, language, front, found) in [
        ("de-AT, en;q=0.5", "de-AT", ">Fragen<", ">Neue Suche<"),
        ("fr", "fr", ">Demander<", ">Nouvelle recherche<"),
        ("ja, es;q=0.8", "es", ">Preguntar<", ">Nueva búsqueda<"),
        ("ja", "en", ">Ask<", ">New search<"),
    ] {
        let header = format!("Accept-Language: {wanted}");
        let home = page(&served, "/", &["-H", &header]);
        assert!(home.contains(&format!("<html lang=\"{language}\"")) && home.contains(front), "{wanted}: {home}");
        let results = page(&served, "/~chef?user=soup", &["-H", &header]);
        // An answer goes by the first language that is asked for.
        assert!(wanted.starts_with("ja") || results.contains(found), "{wanted}: {results}");
    }
}

#[test]
fn refusals_and_failures_are_in_the_language_of_who_reads_them() {
    let served = Deployment::gatehouse().serve();
    for (wanted, refused, missing) in [
        ("de", "Zu viele Anfragen", "Diesen Agenten gibt es nicht"),
        ("fr", "Trop de demandes", "Cet agent n’existe pas"),
        ("es", "Demasiadas solicitudes", "Este agente no existe"),
        ("en", "Too many requests", "No such agent"),
    ] {
        let header = format!("Accept-Language: {wanted}");
        let html = ["-H", &header, "-H", "Accept: text/html"];
        for (path, said) in [("/~gate?user=flood", refused), ("/~nobody", missing)] {
            let page = served.curl(path, &html).text();
            assert!(
                page.contains(said) && page.contains(&format!("<html lang=\"{wanted}\"")),
                "{path} {wanted}: {page}"
            );
        }
        // A program reads what it read before, whatever its language.
        let json = served.curl("/~nobody", &["-H", &header, "-H", "Accept: application/json"]).json();
        assert!(json.to_string().contains("no agent of that name lives here"), "{json}");
    }
}

#[test]
fn search_engines_list_nothing_unless_the_operator_says_so() {
    let served = Deployment::gatehouse().serve();
    served.curl("/sitemap.xml", &[]).with_status(404);
    assert!(!served.curl("/robots.txt", &[]).text().contains("Sitemap:"));
    for path in ["/", "/~gate", "/manual/", "/~gate?user=file"] {
        assert!(page(&served, path, &[]).contains("content=\"noindex"), "{path}");
    }
    assert_eq!(served.curl("/", &HTML).named("x-robots-tag"), "noindex, nofollow, noarchive");
}

#[test]
fn search_engines_list_the_site_and_no_answer_where_the_operator_says_so() {
    let served = Deployment::gatehouse().with("pages", "search_engines = true\nmanual = false").serve();
    let sitemap = served.curl("/sitemap.xml", &[]).with_status(200);
    assert_eq!(sitemap.named("content-type"), "application/xml; charset=utf-8");
    let sitemap = sitemap.text();
    for path in ["/", "/~gate", "/~echo"] {
        assert!(sitemap.contains(&format!("<loc>{}</loc>", served.url(path))), "{path} in {sitemap}");
        assert!(page(&served, path, &[]).contains("content=\"index, follow\""), "{path}");
        assert_eq!(served.curl(path, &HTML).named("x-robots-tag"), "index, follow", "{path}");
    }
    assert!(served.curl("/robots.txt", &[]).text().contains(&format!("Sitemap: {}", served.url("/sitemap.xml"))));
    let answer = served.curl("/~gate?user=file", &HTML).with_status(200);
    assert_eq!(answer.named("x-robots-tag"), "noindex, nofollow, noarchive");
    assert!(answer.text().contains("content=\"noindex, nofollow, noarchive\""));
    assert!(!sitemap.contains("/manual/"));
    served.curl("/manual/", &HTML).with_status(404);
}

#[test]
fn a_site_has_an_icon_under_its_old_name() {
    let served = Deployment::gatehouse().serve();
    let icon = served.curl("/favicon.ico", &[]).with_status(200);
    assert_eq!(icon.named("content-type"), "image/x-icon");
    assert_eq!(icon.named("cache-control"), "public, max-age=86400");
}

#[test]
fn a_page_of_the_manual_leads_on_and_is_searched() {
    let Some(browser) = Browser::open(View::Phone) else { return };
    let served = Deployment::gatehouse().serve();
    browser.go(&served.url("/manual/getting-started"));
    assert_fits(&browser);
    browser.find("a[rel=next]").click();
    within("the next page opens", || browser.url().ends_with("/manual/tutorial-shop").then_some(()));
    browser.find("a[rel=prev]").click();
    within("the page before opens", || browser.url().ends_with("/manual/getting-started").then_some(()));
    browser.picture("manual");
    assert_eq!(browser.all(".copy > button").len(), browser.all("pre").len(), "each block of code can be copied");
    // The same in several languages: one is shown, and still is on the next page.
    browser.go(&served.url("/manual/talking"));
    assert_fits(&browser);
    browser.all("[role=tab]")[1].click();
    browser.go(&served.url("/manual/talking"));
    let hidden = browser.value("[...document.querySelectorAll('[role=tabpanel]')].map(panel => panel.hidden)");
    assert_eq!(hidden, serde_json::json!([true, false, true]));
    assert_quiet(&browser, "");
}

#[test]
fn a_limit_is_taken_away_by_a_click() {
    let Some(browser) = Browser::open(View::Desk) else { return };
    let served = Deployment::kitchen().serve();
    browser.go(&served.url("/~chef"));
    browser.find("#q").r#type(&format!("chickpea soup under 40 minutes{}", crate::browser::ENTER));
    let chip = browser.find(".understood a");
    assert!(chip.text().starts_with("40 minutes or less"), "{}", chip.text());
    let answer = browser.find(".summary > .prose").text();
    assert!(
        answer.contains("Chickpea") && !answer.contains("40 minutes"),
        "the answer comes without its limits: {answer}"
    );
    browser.picture("search-limits");
    chip.click();
    within("the question is asked without it", || {
        let asked = browser.value("document.querySelector('#q').value");
        (asked == "chickpea soup" && browser.all(".understood a").is_empty()).then_some(())
    });
    assert!(browser.url().ends_with("/~chef?user=chickpea%20soup"), "{}", browser.url());
    assert_quiet(&browser, "");
}

/// Controls that a finger has to hit, on every page of the site.
const CONTROLS: &str = "[...document.querySelectorAll('button, .button, .chip, select, input[type=search], summary, \
                        .facet a, .bar a')].filter(it => it.checkVisibility() && it.getBoundingClientRect().height > 0 && \
                        it.getBoundingClientRect().height < 43.5).map(it => it.outerHTML.slice(0, 120))";

#[test]
fn a_finger_hits_every_control() {
    let Some(browser) = Browser::open(View::Phone) else { return };
    let served = Deployment::kitchen().serve();
    for path in
        ["/", "/~chef", "/~chef?user=soup%20under%2040%20minutes", "/~gate", "/~gate?user=file", "/manual/agents"]
    {
        browser.go(&served.url(path));
        assert_fits(&browser);
        assert_eq!(browser.value(CONTROLS), serde_json::json!([]), "{path}");
    }
}
