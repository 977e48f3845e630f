//! Sections 5.1 to 5.4: what a path may look like.

use forecourt_contract::limits::{TEMPLATE_BYTES_MAX, TEMPLATE_SEGMENTS_MAX};
use forecourt_contract::path::TemplateError;
use forecourt_contract::{Catalog, RequestPath, Template};
use forecourt_testkit::vectors;
use proptest::prelude::*;

fn path(raw: &str) -> Result<RequestPath, (String, &'static str)> {
    RequestPath::parse(raw, &Catalog::shipped()).map_err(|fault| (fault.segment, fault.wrong.tag()))
}

fn offence(raw: &str) -> (String, &'static str) {
    path(raw).expect_err(raw)
}

fn template(raw: &str) -> Result<Template, TemplateError> {
    Template::parse(raw, &Catalog::shipped())
}

#[test]
fn s5_1_a_path_begins_with_a_slash() {
    assert_eq!(offence("room/5"), ("room".into(), "no-leading-slash"));
    assert_eq!(offence(""), (String::new(), "no-leading-slash"));
    assert_eq!(offence("*"), ("*".into(), "no-leading-slash"));
}

#[test]
fn s5_1_a_path_does_not_end_with_a_slash_but_the_root_does() {
    assert_eq!(offence("/room/"), (String::new(), "trailing-slash"));
    assert_eq!(offence("/room/5/"), (String::new(), "trailing-slash"));
    assert_eq!(path("/").unwrap().segments().count(), 0);
}

#[test]
fn s5_1_no_segment_spells_a_method_in_any_case() {
    for segment in ["order", "ORDER", "Order", "or-der", "check_in", "check-In", "get", "Delete"] {
        assert_eq!(offence(&format!("/shop/{segment}/5")), (segment.into(), "method-name"));
    }
    assert!(path("/orders/5").is_ok() && path("/reservation").is_ok());
}

#[test]
fn s5_1_a_method_does_not_hide_behind_percent_signs() {
    assert_eq!(offence("/%6Frder"), ("%6Frder".into(), "method-name"));
    assert_eq!(offence("/%42%4F%4Fk"), ("%42%4F%4Fk".into(), "method-name"));
}

#[test]
fn s5_3_a_value_may_spell_a_method_where_an_endpoint_takes_it() {
    assert_eq!(offence("/customers/order").1, "method-name", "nothing takes it");
    let catalog = Catalog::shipped();
    let taken = RequestPath::called("/customers/order", &catalog, |_| true).unwrap();
    assert_eq!(taken.value(1), Some("order"));
    let fault = RequestPath::called("/customers/a b", &catalog, |_| true).unwrap_err();
    assert_eq!(fault.wrong.tag(), "bad-character", "other rules hold all the same");
}

#[test]
fn s5_1_a_parameter_in_braces_is_exempt() {
    assert!(path("/customers/{order}").is_ok());
    assert!(template("/customers/{order}").is_ok());
}

#[test]
fn s5_2_only_characters_of_a_segment() {
    for (raw, segment) in [
        ("/a b", "a b"),
        ("/a/b\"c", "b\"c"),
        ("/a\\b", "a\\b"),
        ("/caf\u{e9}", "caf\u{e9}"),
        ("/a?b", "a?b"),
        ("/a#b", "a#b"),
        ("/x/%", "%"),
        ("/x/%4", "%4"),
        ("/x/%zz", "%zz"),
        ("/pre-{id}", "pre-{id}"),
        ("/{}", "{}"),
        ("/{a-b}", "{a-b}"),
    ] {
        assert_eq!(offence(raw), (segment.into(), "bad-character"));
    }
    assert!(path("/-._~!$&'()*+,;=:@%20").is_ok());
}

#[test]
fn s5_2_what_is_no_text_when_decoded_is_refused() {
    for segment in ["%00", "a%0Ab", "%7F", "%c0%ae", "%ff", "%c2%85"] {
        assert_eq!(offence(&format!("/x/{segment}")), (segment.into(), "not-text"));
    }
}

#[test]
fn s5_2_the_first_segment_is_not_empty_and_later_ones_are_kept() {
    assert_eq!(offence("//a"), (String::new(), "empty-segment"));
    assert_eq!(path("/a//b").unwrap().segments().collect::<Vec<_>>(), ["a", "", "b"]);
}

#[test]
fn s5_2_nothing_is_normalised_and_dots_are_no_values() {
    let parsed = path("/a/../%2e%2E/./b").unwrap();
    assert_eq!(parsed.segments().collect::<Vec<_>>(), ["a", "..", "%2e%2E", ".", "b"]);
    let values: Vec<_> = (0..5).map(|at| parsed.value(at)).collect();
    assert_eq!(values, [Some("a"), None, None, None, Some("b")]);
}

#[test]
fn s5_2_literal_and_parameter_do_not_mix() {
    for raw in ["/pre-{id}", "/{id}.json", "/{a}{b}", "/{", "/}", "/{}", "/{a b}", "/x{"] {
        assert!(matches!(template(raw), Err(TemplateError::Form(_))), "{raw}");
    }
}

#[test]
fn s5_3_only_the_plain_form_of_a_parameter() {
    for raw in ["/{?query,page}", "/{+reserved}", "/{#fragment}", "/{a*}", "/{a:3}", "/{a,b}"] {
        assert!(matches!(template(raw), Err(TemplateError::Form(_))), "{raw}");
    }
}

#[test]
fn s5_2_parameter_names_are_unique() {
    assert_eq!(template("/a/{id}/b/{id}"), Err(TemplateError::Twice("id".into())));
    assert!(template("/a/{id}/b/{ID}").is_ok());
}

#[test]
fn s5_3_any_depth_and_case_is_valid() {
    for raw in ["/", "/Customers/{customer_id}", "/orders/{o}/line-items/{l}", "/a_b/c-d/E.f", "/v1"] {
        assert_eq!(template(raw).unwrap().as_str(), raw);
    }
}

#[test]
fn s5_4_a_template_that_no_call_can_have_is_refused() {
    for raw in ["/a//b", "/a/..", "/./a", "/%2e%2e"] {
        assert_eq!(template(raw), Err(TemplateError::NeverMatches), "{raw}");
    }
    assert_eq!(template("/a/").unwrap_err().tag(), "trailing-slash");
    assert_eq!(template("/order/{id}").unwrap_err().tag(), "method-name");
}

#[test]
fn templates_have_bounds() {
    let deep = |segments: usize| template(&"/a".repeat(segments));
    assert!(deep(TEMPLATE_SEGMENTS_MAX).is_ok());
    assert_eq!(deep(TEMPLATE_SEGMENTS_MAX + 1), Err(TemplateError::TooLong));
    let long = |bytes: usize| template(&format!("/{}", "a".repeat(bytes - 1)));
    assert!(long(TEMPLATE_BYTES_MAX).is_ok());
    assert_eq!(long(TEMPLATE_BYTES_MAX + 1), Err(TemplateError::TooLong));
}

#[test]
fn a_filled_template_keeps_each_value_in_its_segment() {
    let template = template("/a/{x}/b").unwrap();
    let filled = |value: &str| template.fill(|_| Some(value.to_owned()));
    assert_eq!(filled("1/../2?q#f").as_deref(), Some("/a/1%2F..%2F2%3Fq%23f/b"));
    assert_eq!(filled("caf\u{e9} {y}").as_deref(), Some("/a/caf%C3%A9%20%7By%7D/b"));
    for impossible in ["", ".", "..", "a\nb"] {
        assert_eq!(filled(impossible), None, "{impossible:?}");
    }
    assert_eq!(template.fill(|_| None), None);
    assert_eq!(Template::parse("/", &Catalog::shipped()).unwrap().fill(|_| None).as_deref(), Some("/"));
}

#[test]
fn hostile_segments_are_refused_or_stay_one_plain_value() {
    for set in ["paths/ids.json", "paths/traversal.json"] {
        let Some(bytes) = vectors(set) else { return };
        for text in serde_json::from_slice::<Vec<String>>(&bytes).unwrap() {
            let Ok(parsed) = RequestPath::parse(&format!("/items/{text}"), &Catalog::shipped()) else { continue };
            for value in (0..parsed.segments().count()).filter_map(|at| parsed.value(at)) {
                assert!(!matches!(value, "" | "." | "..") && !value.chars().any(char::is_control), "{text}");
            }
        }
    }
}

proptest! {
    #[test]
    fn reading_a_path_never_panics_and_names_a_segment_of_it(raw in "[/a-z%{}. ?#0-9é\u{0}]{0,40}") {
        match RequestPath::parse(&raw, &Catalog::shipped()) {
            Ok(parsed) => prop_assert_eq!(parsed.as_str(), raw),
            Err(fault) => prop_assert!(fault.segment.is_empty() || raw.split('/').any(|s| s == fault.segment)),
        }
    }

    #[test]
    fn what_a_template_was_filled_with_is_what_a_parameter_takes(value in "\\PC{1,20}") {
        let catalog = Catalog::shipped();
        let template = Template::parse("/a/{x}", &catalog).unwrap();
        if let Some(filled) = template.fill(|_| Some(value.clone()))
            && let Ok(parsed) = RequestPath::parse(&filled, &catalog)
        {
            prop_assert_eq!(parsed.value(1), Some(value.as_str()));
        }
    }
}
