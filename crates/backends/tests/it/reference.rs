//! Every backend can be documented from its type, and every key says what it is for.

use forecourt_settings::{DocumentedSection, document};

use crate::support::BACKENDS;

#[test]
fn every_key_of_every_backend_is_documented() {
    let sections: Vec<DocumentedSection> = BACKENDS
        .iter()
        .map(|backend| DocumentedSection { section: backend.kind, about: backend.about, schema: backend.schema })
        .collect();
    let reference = document(&sections);
    assert_eq!(reference.undocumented(), Vec::<String>::new());
    for (section, keys) in reference.sections() {
        assert!(keys.iter().any(|key| key.key == "kind"), "{}", section.section);
    }
    let page = reference.markdown();
    for key in ["`rule[].events[].policy.accepted_payments[].scheme`", "`idle_seconds`", "`api_key`", "`content`"] {
        assert!(page.contains(key), "{key}");
    }
}

#[test]
fn kinds_are_unique() {
    let mut kinds: Vec<&str> = BACKENDS.iter().map(|backend| backend.kind).collect();
    kinds.sort_unstable();
    assert!(kinds.windows(2).all(|pair| pair[0] != pair[1]), "{kinds:?}");
}
