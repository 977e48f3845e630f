use forecourt_core::policy::{AcceptedPayment, Charge, ConsentTerms, Translation};
use forecourt_testkit::card;
use serde_json::json;

use super::*;
use crate::testing::{Tag, naughty_strings, tags};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn consent(words: &str) -> Requirement {
    let demand = Demand::Consent(ConsentTerms {
        scope: object(json!({"text": words, "nested": {words: [words]}})),
        lifetime_seconds: Some(30 * 86_400),
    });
    requirement(words, demand)
}

fn payment(words: &str) -> Requirement {
    let offer = json!({"x402Version": 1, "accepts": [{"scheme": "exact", "payTo": words, "extra": {"name": words}}]});
    let accepted = vec![
        AcceptedPayment { scheme: "x402.exact".to_owned(), payload: object(offer) },
        AcceptedPayment { scheme: words.to_owned(), payload: object(json!({words: words})) },
    ];
    let (price, covers) = (words.to_owned(), PaidFor::Turn);
    requirement(words, Demand::Payment(PaymentTerms { accepted, price, covers, credit: None, charge: Charge::After }))
}

fn requirement(words: &str, demand: Demand) -> Requirement {
    let german = Translation { title: Some("Zustimmung".to_owned()), message: "Bitte zustimmen.".to_owned() };
    Requirement {
        rule: "terms".to_owned(),
        title: Some(words.to_owned()),
        message: words.to_owned(),
        message_translations: [("de".to_owned(), german)].into(),
        demand,
    }
}

fn shown(requirement: &Requirement, status: DecisionStatus, words: &str, language: Option<&str>) -> String {
    seen_by(requirement, status, words, language, DecisionVisitor::MayDecide)
}

fn seen_by(
    requirement: &Requirement,
    status: DecisionStatus,
    words: &str,
    language: Option<&str>,
    visitor: DecisionVisitor<'_>,
) -> String {
    let asked = [Part::text(words), Part::data(json!({"a": 1}))];
    DecisionPage {
        brand: &Branding::default(),
        card: &card("chef"),
        url: "https://demo.localhost/consent/S",
        language: language.and_then(Language::parse).as_ref(),
        requirement,
        asked: &asked,
        agent_path: "/~chef",
        path: "/consent/S",
        token: "T",
        return_to: Some("/~chef?state=S"),
        time_left: Duration::from_secs(3_540),
        status,
        fault: Some(words),
        receipt_callback: Some("https://adapter.example/a?b=\"<"),
        visitor,
        networks: &["Base".to_owned(), words.to_owned()],
        wallet: None,
        by_card: None,
        credit: Some(words),
    }
    .render()
}

/// The page on which a wallet pays, with words of strangers wherever they could stand.
fn with_wallet(words: &str, language: Option<&str>, status: DecisionStatus) -> (String, String) {
    let (brand, card, requirement, asked) = (Branding::default(), card("chef"), payment(words), [Part::text(words)]);
    let (language, networks) = (language.and_then(Language::parse), ["Base".to_owned()]);
    let (payees, amounts) = ([words.to_owned()], [(1, words.to_owned()), (20, words.to_owned())]);
    let page = DecisionPage {
        brand: &brand,
        card: &card,
        url: "https://demo.localhost/pay/S",
        language: language.as_ref(),
        requirement: &requirement,
        asked: &asked,
        agent_path: "/~chef",
        path: "/pay/S",
        token: "T",
        return_to: Some("/~chef?state=S"),
        time_left: Duration::from_secs(600),
        status,
        fault: None,
        receipt_callback: None,
        visitor: DecisionVisitor::MayDecide,
        networks: &networks,
        wallet: Some(WalletPanel {
            ways: json!([{"network": words}]),
            payees: &payees,
            amounts: &amounts,
            now: 1_767_225_600,
        }),
        by_card: None,
        credit: Some(words),
    };
    (page.render(), page.policy().into_owned())
}

/// The page on which a card pays.
fn with_card(amounts: &[(u32, String)], is_begun: bool, status: DecisionStatus) -> (String, String) {
    let (brand, card, requirement) = (Branding::default(), card("chef"), payment("Pay."));
    let page = DecisionPage {
        brand: &brand,
        card: &card,
        url: "https://demo.localhost/pay/S",
        language: None,
        requirement: &requirement,
        asked: &[],
        agent_path: "/~chef",
        path: "/pay/S",
        token: "T",
        return_to: None,
        time_left: Duration::from_secs(600),
        status,
        fault: None,
        receipt_callback: None,
        visitor: DecisionVisitor::MayDecide,
        networks: &[],
        wallet: None,
        by_card: Some(CardPanel { origin: "https://pay.example", amounts, is_begun }),
        credit: None,
    };
    (page.render(), page.policy().into_owned())
}

#[test]
fn a_card_is_paid_elsewhere_and_the_form_may_lead_there_alone() {
    let one = [(1, "0.50 EUR".to_owned())];
    let (page, policy) = with_card(&one, false, DecisionStatus::Open);
    assert!(page.contains("Pay 0.50 EUR by card") && page.contains("never sees your card"), "{page}");
    assert!(policy.contains("form-action 'self' https://pay.example;") && !policy.contains("script-src"), "{policy}");
    let found = tags(&page);
    assert!(find(&found, "input", "name", "times").is_some_and(|tag| tag.attribute("value") == Some("1")));
    assert!(find(&found, "button", "value", "checkout").is_some());
    assert!(!page.contains("can’t take this payment"), "{page}");
    let (begun, _) = with_card(&one, true, DecisionStatus::Open);
    assert!(begun.contains("Go on to the card payment") && begun.contains("nothing was paid there so far"));
    let two = [(20, "1.00 EUR".to_owned()), (50, "2.50 EUR".to_owned())];
    let (choice, _) = with_card(&two, false, DecisionStatus::Open);
    assert!(choice.contains("1.00 EUR: this question and 19 more") && choice.contains("value=\"50\""), "{choice}");
    for status in [DecisionStatus::Reserved, DecisionStatus::Done, DecisionStatus::Pending, DecisionStatus::Declined] {
        let (page, policy) = with_card(&one, false, status);
        assert!(!page.contains("checkout") && !policy.contains("pay.example"), "{page}");
    }
}

fn open(requirement: &Requirement) -> String {
    shown(requirement, DecisionStatus::Open, "chickpea soup", None)
}

fn find<'a>(tags: &'a [Tag], name: &str, key: &str, value: &str) -> Option<&'a Tag> {
    tags.iter().find(|tag| tag.name == name && tag.attribute(key) == Some(value))
}

#[test]
fn policy3_3_4_a_person_sees_what_is_asked_by_whom_for_how_long_and_what_was_asked() {
    let page = open(&consent("Your name is kept."));
    for words in ["Your name is kept.", "chef", "@chef@demo.localhost", "30 days", "chickpea soup", "59 minutes"] {
        assert!(page.contains(words), "{words} in {page}");
    }
    assert!(page.contains("One file or link came with it"), "{page}");
    assert!(!page.contains("{&quot;") && !page.contains("&#34;"), "no JSON: {page}");
}

#[test]
fn policy3_3_4_terms_that_are_the_message_are_told_once() {
    let page = open(&consent("You agree that your questions are kept."));
    assert!(!page.contains("<dt>The terms</dt>"), "{page}");
    let page = shown(&consent("You agree that your questions are kept."), DecisionStatus::Open, "x", Some("de"));
    assert!(page.contains("<dt>Die Bedingungen</dt>"), "what binds is told beside its translation: {page}");
}

#[test]
fn policy5_3_a_decision_is_a_form_that_works_without_a_script() {
    for (requirement, yes) in [(consent("x"), "accept"), (payment("x"), "pay")] {
        let tags = tags(&open(&requirement));
        let forms: Vec<&Tag> = tags.iter().filter(|tag| tag.name == "form").collect();
        assert!(!forms.is_empty());
        for form in forms {
            assert_eq!((form.attribute("method"), form.attribute("action")), (Some("post"), Some("/consent/S")));
        }
        assert!(find(&tags, "input", "name", "token").is_some_and(|field| field.attribute("value") == Some("T")));
        for value in [yes, "decline"] {
            assert!(find(&tags, "button", "value", value).is_some(), "{value}");
        }
        assert!(!tags.iter().any(|tag| tag.name == "script"));
    }
}

#[test]
fn policy3_3_4_who_was_not_asked_sees_no_form() {
    let seen = |visitor| seen_by(&consent("x"), DecisionStatus::Open, "x", None, visitor);
    let page = seen(DecisionVisitor::SignedOut("https://demo.localhost/sign-in?return_to=%2Fconsent%2FS".to_owned()));
    let tags_there = tags(&page);
    let link = find(&tags_there, "a", "href", "https://demo.localhost/sign-in?return_to=%2Fconsent%2FS");
    assert!(link.is_some() && !tags_there.iter().any(|tag| tag.name == "form"), "{page}");
    let page = seen(DecisionVisitor::AnotherPerson("<b>Bob"));
    assert!(page.contains("&#60;b&#62;Bob") && !tags(&page).iter().any(|tag| tag.name == "form"), "{page}");
}

#[test]
fn policy5_3_a_signed_payment_has_a_labelled_field_and_its_callback_goes_along() {
    let tags = tags(&open(&payment("x")));
    let field = find(&tags, "textarea", "name", "payment").unwrap();
    assert!(find(&tags, "label", "for", field.attribute("id").unwrap()).is_some());
    let callback = find(&tags, "input", "name", "receipt_callback").unwrap();
    assert_eq!(callback.attribute("value"), Some("https://adapter.example/a?b=\"<"));
    let targets = tags.iter().filter_map(|tag| tag.attribute("href").or(tag.attribute("action")));
    assert!(!targets.into_iter().any(|target| target.contains("adapter.example")), "never a target");
}

#[test]
fn policy3_2_the_words_are_those_of_the_readers_language() {
    let page = shown(&consent("Please agree."), DecisionStatus::Open, "hi", Some("de-AT"));
    assert!(page.contains("<html lang=\"de-AT\">") && page.contains("Bitte zustimmen."), "{page}");
    let page = shown(&consent("Please agree."), DecisionStatus::Open, "hi", Some("fr"));
    assert!(
        page.contains("<html lang=\"fr\">") && page.contains("<p class=\"said\" lang=\"en\">Please agree."),
        "{page}"
    );
    assert!(page.contains("J’accepte") && page.contains("30 jours"), "{page}");
    let page = shown(&consent("Please agree."), DecisionStatus::Open, "hi", Some("ja"));
    assert!(page.contains("<html lang=\"en\">") && page.contains("Please agree."), "{page}");
}

#[test]
fn policy3_3_4_terms_that_cannot_be_shown_cannot_be_agreed_to() {
    let mut long = consent("x");
    let Demand::Consent(terms) = &mut long.demand else { panic!("it is a consent") };
    terms.scope.insert("text".to_owned(), "x".repeat(crate::limits::TERMS_CHARS_MAX).into());
    let page = open(&long);
    assert!(find(&tags(&page), "button", "value", "accept").is_none() && page.contains("too long"), "{page}");
}

#[test]
fn what_was_decided_is_said_and_can_not_be_decided_again() {
    for requirement in [consent("x"), payment("2 coins")] {
        for (status, said) in [
            (DecisionStatus::Done, "can answer your question now"),
            (DecisionStatus::Reserved, "can answer your question now"),
            (DecisionStatus::Declined, "You said no"),
            (DecisionStatus::Pending, "being confirmed"),
        ] {
            let page = shown(&requirement, status, "hi", None);
            assert!(page.contains(said), "{page}");
            assert!(!tags(&page).iter().any(|tag| tag.name == "form"), "{page}");
        }
        let done = tags(&shown(&requirement, DecisionStatus::Done, "hi", None));
        assert!(find(&done, "a", "href", "/~chef?state=S").is_some());
    }
}

#[test]
fn a_wallet_pays_on_a_page_that_nobody_frames_and_with_one_script_of_this_host() {
    let (page, policy) = with_wallet("2 coins", None, DecisionStatus::Open);
    for part in ["script-src 'self';", "connect-src 'self'", "img-src 'self' data:", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{part} in {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("https:"), "{policy}");
    let all = tags(&page);
    let scripts: Vec<_> = all.iter().filter(|tag| tag.name == "script").collect();
    assert_eq!(scripts.len(), 2, "{page}");
    assert!(scripts[0].attribute("src").is_some_and(|src| src.starts_with("/assets/payment.js?v=")));
    assert_eq!(scripts[1].attribute("type"), Some("application/json"));
    for words in ["2 coins on Base", "2 coins: this question and 19 more", "10 minutes", "Pay with a phone", "<svg"] {
        assert!(page.contains(words), "{words} in {page}");
    }
    for never in ["x402.exact", "eip155", "exact"] {
        assert!(!page.split("payment-data").next().unwrap().contains(never), "{never} is no word for people");
    }
}

#[test]
fn what_is_decided_has_no_script() {
    for status in [DecisionStatus::Done, DecisionStatus::Reserved, DecisionStatus::Declined, DecisionStatus::Pending] {
        let (page, policy) = with_wallet("2 coins", None, status);
        assert!(!page.contains("<script") && !policy.contains("script-src"), "{page}");
    }
}

#[test]
fn s8_2_nothing_breaks_out_of_what_a_wallet_is_given() {
    for text in naughty_strings() {
        let (page, _) = with_wallet(&text, None, DecisionStatus::Open);
        let found = tags(&page);
        assert_eq!(found.iter().filter(|tag| tag.name == "script").count(), 2, "{page}");
        assert_eq!(found.iter().filter(|tag| tag.name == "svg").count(), 1, "{page}");
        assert!(!found.iter().any(|tag| matches!(&*tag.name, "iframe" | "img" | "object" | "base")), "{page}");
        let data = page.split("id=\"payment-data\">").nth(1).unwrap().split("</script>").next().unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["ways"][0]["network"], text);
    }
}

/// The English sentences of these pages, without the values in them.
fn english() -> Vec<&'static str> {
    let decisions = include_str!("../../../sentences/data/decisions/en.ftl").lines();
    let lines = decisions.chain(include_str!("../../../sentences/data/payments/en.ftl").lines());
    let worded = lines.filter_map(|line| match line.trim_start().trim_start_matches('*') {
        variant if variant.starts_with('[') => Some(variant.split_once(']')?.1),
        _ => Some(line.split_once(" = ")?.1),
    });
    let outside = worded.flat_map(|text| text.split('{')).map(|text| text.rsplit('}').next().unwrap_or(text));
    // A piece of a word or two between values may be a word of another language.
    outside.map(|text| text.trim_matches([' ', '.', ','])).filter(|words| words.contains(' ')).collect()
}

#[test]
fn what_is_taken_later_is_said_before_and_after() {
    let mut requirement = payment("2 coins");
    let said = |requirement: &Requirement, status| shown(requirement, status, "hi", None);
    assert!(said(&requirement, DecisionStatus::Open).contains("When the answer is complete"));
    let reserved = said(&requirement, DecisionStatus::Reserved);
    assert!(reserved.contains("nothing is taken yet") && !reserved.contains("The payment arrived"), "{reserved}");
    let Demand::Payment(terms) = &mut requirement.demand else { panic!() };
    terms.charge = Charge::Before;
    assert!(said(&requirement, DecisionStatus::Open).contains("Before the answer"));
}

#[test]
fn no_english_is_left_in_a_page_of_another_language() {
    let english = english();
    assert!(english.contains(&"Do you agree?") && english.contains(&"asks for your agreement"), "{english:?}");
    for language in ["de", "fr", "es"] {
        for requirement in [consent("x"), payment("2")] {
            for status in [
                DecisionStatus::Open,
                DecisionStatus::Done,
                DecisionStatus::Reserved,
                DecisionStatus::Declined,
                DecisionStatus::Pending,
            ] {
                let page = shown(&requirement, status, "x", Some(language));
                assert_no_english(&english, &page, language);
            }
        }
        let (page, _) = with_wallet("2", Some(language), DecisionStatus::Open);
        assert_no_english(&english, &page, language);
    }
}

fn assert_no_english(english: &[&str], page: &str, language: &str) {
    let text = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
    let pieces = text.split('<').filter_map(|piece| piece.split_once('>'));
    let said: String = pieces.map(|(_, text)| text).collect::<Vec<_>>().join(" ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = english.iter().find(|words| said.contains(**words));
    assert_eq!(found, None, "{language} in {said}");
}

#[test]
fn s8_2_nothing_breaks_out_of_a_decision() {
    let names = |page: &str| tags(page).into_iter().map(|tag| tag.name).collect::<Vec<_>>();
    for text in naughty_strings() {
        for requirement in [consent(&text), payment(&text)] {
            let page = shown(&requirement, DecisionStatus::Open, &text, None);
            let tags = tags(&page);
            for name in ["script", "iframe", "img", "svg", "object", "base"] {
                assert!(!tags.iter().any(|tag| tag.name == name), "{name} in {page}");
            }
            let attributes = tags.iter().flat_map(|tag| &tag.attributes);
            assert!(!attributes.into_iter().any(|(name, _)| name.starts_with("on")), "{page}");
            assert_eq!(names(&page).iter().filter(|name| *name == "article").count(), 1);
        }
    }
}
