//! Section 5.4: which endpoint a call is for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_contract::registry::RegistryError;
use forecourt_contract::{Method, Registry};
use proptest::prelude::*;

use crate::support::{definition, handler, path, register};

fn insert(registry: &mut Registry, method: &str, path: &str) -> Result<(), RegistryError> {
    registry.insert(Arc::new(register(definition(method, path)).unwrap()), handler())
}

fn registry(pairs: &[(&str, &str)]) -> Registry {
    let mut registry = Registry::default();
    pairs.iter().for_each(|(method, path)| insert(&mut registry, method, path).unwrap());
    registry
}

/// The template that a call is for, and the values that it takes.
fn found(registry: &Registry, method: &str, raw: &str) -> Option<(String, Vec<String>)> {
    let matched = registry.find(&Method::parse(method).unwrap(), &path(raw))?;
    let values = matched.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Some((matched.registered.endpoint.path.to_string(), values))
}

fn of(template: &str, values: &[&str]) -> Option<(String, Vec<String>)> {
    Some((template.to_owned(), values.iter().map(|value| (*value).to_owned()).collect()))
}

#[test]
fn s5_4_no_match_is_no_match() {
    let registry = registry(&[("FETCH", "/rooms/{id}"), ("FETCH", "/rooms")]);
    for raw in ["/", "/room", "/rooms/1/2", "/Rooms/1", "/rooms/..", "/rooms/%2e%2e", "/a//b", "/r%6Foms/1"] {
        assert_eq!(found(&registry, "FETCH", raw), None, "{raw}");
    }
    assert_eq!(found(&registry, "BOOK", "/rooms/1"), None);
    let twice = self::registry(&[("FETCH", "/a/{x}/{y}")]);
    assert_eq!(found(&twice, "FETCH", "/a//b"), None, "an empty segment is no value");
}

#[test]
fn s5_4_an_exact_path_is_before_a_template() {
    let registry = registry(&[("FETCH", "/rooms/{id}"), ("FETCH", "/rooms/best")]);
    assert_eq!(found(&registry, "FETCH", "/rooms/best"), of("/rooms/best", &[]));
    assert_eq!(found(&registry, "FETCH", "/rooms/Best"), of("/rooms/{id}", &["id=Best"]));
}

#[test]
fn s5_4_the_fewest_parameters_win() {
    let registry =
        registry(&[("FETCH", "/{a}/{b}/{c}"), ("FETCH", "/x/{b}/{c}"), ("FETCH", "/x/{b}/z"), ("FETCH", "/{a}/y/w")]);
    assert_eq!(found(&registry, "FETCH", "/x/1/z"), of("/x/{b}/z", &["b=1"]));
    assert_eq!(found(&registry, "FETCH", "/x/1/2"), of("/x/{b}/{c}", &["b=1", "c=2"]));
    assert_eq!(found(&registry, "FETCH", "/q/y/w"), of("/{a}/y/w", &["a=q"]));
    assert_eq!(found(&registry, "FETCH", "/q/y/v"), of("/{a}/{b}/{c}", &["a=q", "b=y", "c=v"]));
}

#[test]
fn s5_4_captured_values_are_decoded() {
    let registry = registry(&[("FETCH", "/rooms/{id}")]);
    assert_eq!(found(&registry, "FETCH", "/rooms/caf%C3%A9%2F1"), of("/rooms/{id}", &["id=caf\u{e9}/1"]));
}

#[test]
fn s5_4_ambiguity_is_refused_at_registration() {
    for (first, second) in
        [("/a/{x}", "/a/{y}"), ("/a/{x}", "/{y}/b"), ("/{x}/b/{y}", "/a/{x}/{y}"), ("/{a}/{b}", "/{b}/{a}")]
    {
        let mut registry = registry(&[("FETCH", first)]);
        let fault = insert(&mut registry, "FETCH", second).unwrap_err();
        assert!(matches!(fault, RegistryError::Ambiguous(..)), "{first} {second}: {fault:?}");
        assert_eq!(registry.len(), 1);
        assert_eq!(insert(&mut registry, "BOOK", second), Ok(()), "another method is no rival");
    }
    for (first, second) in
        [("/a/{x}/b", "/{x}/c/{y}"), ("/a/{x}", "/b/{x}"), ("/{x}/b", "/{x}/c"), ("/a/{x}", "/a/{x}/{y}")]
    {
        let mut registry = registry(&[("FETCH", first)]);
        assert_eq!(insert(&mut registry, "FETCH", second), Ok(()), "{first} {second}");
    }
}

#[test]
fn s6_2_a_pair_is_registered_once() {
    for raw in ["/rooms", "/rooms/{id}"] {
        let mut registry = registry(&[("FETCH", raw)]);
        assert!(matches!(insert(&mut registry, "FETCH", raw), Err(RegistryError::Duplicate(_))));
        assert_eq!(insert(&mut registry, "BOOK", raw), Ok(()));
    }
}

#[test]
fn s11_the_methods_of_a_path_come_from_every_match() {
    let registry = registry(&[("FETCH", "/rooms/{id}"), ("BOOK", "/rooms/best"), ("LIST", "/{a}/{b}")]);
    let methods = |raw: &str| registry.methods_at(&path(raw)).iter().map(Method::to_string).collect::<Vec<_>>();
    assert_eq!(methods("/rooms/best"), ["BOOK", "FETCH", "LIST"]);
    assert_eq!(methods("/rooms/7"), ["FETCH", "LIST"]);
    assert!(methods("/rooms").is_empty());
}

#[test]
fn endpoints_are_listed_by_path_and_method() {
    let registry = registry(&[("FETCH", "/b"), ("BOOK", "/b"), ("FETCH", "/a/{x}")]);
    let listed: Vec<_> = registry.iter().map(|one| format!("{} {}", one.endpoint.method, one.endpoint.path)).collect();
    assert_eq!(listed, ["FETCH /a/{x}", "BOOK /b", "FETCH /b"]);
}

#[test]
fn thousands_of_endpoints_are_found_as_fast_as_ten() {
    let of_size = |size: usize| {
        let mut registry = Registry::default();
        for at in 0..size {
            insert(&mut registry, "FETCH", &format!("/api/v{at}/{{id}}")).unwrap();
            insert(&mut registry, "FETCH", &format!("/flat{at}")).unwrap();
        }
        registry
    };
    let time = |registry: &Registry, size: usize| {
        let paths: Vec<_> = (0..10).flat_map(|at| [format!("/api/v{}/7", at % size), format!("/flat{at}")]).collect();
        let paths: Vec<_> = paths.iter().map(|raw| path(raw)).collect();
        let method = Method::parse("FETCH").unwrap();
        let started = Instant::now();
        for _ in 0..500 {
            paths.iter().for_each(|path| assert!(registry.find(&method, path).is_some()));
        }
        started.elapsed()
    };
    let (small, large) = (of_size(10), of_size(1_000));
    let (few, many) = (time(&small, 10), time(&large, 1_000));
    println!("10 endpoints: {few:?}, {} endpoints: {many:?}", large.len());
    assert!(many < few * 10 + Duration::from_millis(200), "{few:?} against {many:?}");
}

proptest! {
    /// What the tree finds is what looking at every template finds.
    #[test]
    fn the_index_finds_what_a_scan_finds(
        templates in proptest::collection::vec("(/(a|b|\\{x\\}|\\{y\\})){1,3}", 1..12),
        raw in "(/(a|b|c)){1,3}",
    ) {
        let mut registry = Registry::default();
        let mut kept = Vec::new();
        for template in templates {
            let Ok(endpoint) = register(definition("FETCH", &template)) else { continue };
            if registry.insert(Arc::new(endpoint), handler()).is_ok() {
                kept.push(template);
            }
        }
        let matches = |template: &&String| {
            let (one, other): (Vec<_>, Vec<_>) = (template.split('/').collect(), raw.split('/').collect());
            one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| one.starts_with('{') || one == other)
        };
        let count = |template: &&String| template.matches('{').count();
        let best = kept.iter().filter(matches).min_by_key(count);
        let as_good = |template: &&String| best.is_some_and(|best| count(&best) == count(template));
        prop_assert!(kept.iter().filter(matches).filter(as_good).count() <= 1, "ambiguity was let in: {:?}", kept);
        prop_assert_eq!(found(&registry, "FETCH", &raw).map(|(template, _)| template), best.cloned());
    }
}
