//! What methods do as far as their names say it, in one table for all hosts: whether they change anything, and which
//! of them are one.

use std::collections::BTreeMap;

use forecourt_contract::Catalog;

use crate::meaning::words::stem;

/// Whether a method changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodClass {
    /// It looks, and nothing else.
    Reads,
    /// It changes something.
    Changes,
    /// Both are usual: the endpoint says which.
    Either,
}

/// Categories whose methods look, unless they are listed among [`CHANGES`].
const LOOKING: [&str; 3] = ["discovery", "retrieval", "analysis"];
/// Methods of those that change something.
const CHANGES: [&str; 16] = [
    "ACQUIRE",
    "BUFFER",
    "CACHE",
    "CAPTURE",
    "CHECKIN",
    "CHECKOUT",
    "IMPORT",
    "INGEST",
    "LOAD",
    "MIRROR",
    "REPLICATE",
    "SUBSCRIBE",
    "FOLLOW",
    "ANNOTATE",
    "FLAG",
    "RECONCILE",
];
/// Methods of which one host means a look and another one a change.
const EITHER: [&str; 44] = [
    "QUOTE",
    "PRICE",
    "RATE",
    "GRADE",
    "SCORE",
    "VERIFY",
    "VALIDATE",
    "CHECK",
    "CALIBRATE",
    "TUNE",
    "OPTIMIZE",
    "NORMALIZE",
    "CONVERT",
    "TRANSFORM",
    "ENCODE",
    "DECODE",
    "TOKENIZE",
    "HASH",
    "RENDER",
    "COMPOSE",
    "DRAFT",
    "GENERATE",
    "FORMULATE",
    "COMPRESS",
    "DECOMPRESS",
    "ENCRYPT",
    "DECRYPT",
    "MASK",
    "REDACT",
    "COMBINE",
    "JOIN",
    "ECHO",
    "PING",
    "REPORT",
    "ADVISE",
    "DESCRIBE",
    "PLAN",
    "ROUTE",
    "AUTHENTICATE",
    "AWAIT",
    "SIMULATE",
    "COMPILE",
    "EXPORT",
    "DOWNLOAD",
];

/// Methods that are one: who asks for one may be given another of its line.
const SAME: [&[&str]; 14] = [
    &["BUY", "PURCHASE"],
    &["BOOK", "RESERVE"],
    &["UPDATE", "MODIFY", "CHANGE", "EDIT", "ALTER", "AMEND"],
    &["CREATE", "ESTABLISH", "ORIGINATE"],
    &["REGISTER", "ENROLL", "ONBOARD"],
    &["RESCHEDULE", "REBOOK"],
    &["RENEW", "EXTEND"],
    &["MESSAGE", "INFORM"],
    &["SHIP", "DISPATCH"],
    &["APPROVE", "ACCEPT"],
    &["DECLINE", "REJECT"],
    &["STOP", "TERMINATE"],
    &["PAUSE", "SUSPEND"],
    &["ASSIGN", "ALLOCATE"],
];

/// Methods that bring a thing into being, with what it is called: to `ORDER` is to `CREATE` an order.
const BRINGS: [(&str, &str); 12] = [
    ("ORDER", "order"),
    ("BUY", "order"),
    ("PURCHASE", "order"),
    ("BOOK", "booking"),
    ("RESERVE", "reservation"),
    ("INVOICE", "invoice"),
    ("BILL", "bill"),
    ("MESSAGE", "message"),
    ("SUBSCRIBE", "subscription"),
    ("COMMENT", "comment"),
    ("SCHEDULE", "appointment"),
    ("INVITE", "invitation"),
];

/// The method that brings anything into being.
const CREATES: &str = "CREATE";

/// Methods after which what they were done to is not what it was.
const ENDS: [&str; 16] = [
    "CANCEL",
    "REMOVE",
    "PURGE",
    "VOID",
    "REVOKE",
    "TERMINATE",
    "CLOSE",
    "ARCHIVE",
    "ANONYMIZE",
    "EXPIRE",
    "RETIRE",
    "STOP",
    "ABORT",
    "DEREGISTER",
    "DECOMMISSION",
    "REPLACE",
];

/// Whether a method changes anything, by its name. [`MethodClass::Either`] for one that no catalog has.
pub(crate) fn class(method: &str, catalog: &Catalog) -> MethodClass {
    let Some(verb) = catalog.verb(method) else { return MethodClass::Either };
    if EITHER.contains(&method) {
        return MethodClass::Either;
    }
    let looks = verb.categories.first().is_some_and(|category| LOOKING.contains(&category.as_str()));
    match (looks || method == "SUMMARIZE") && !CHANGES.contains(&method) {
        true => MethodClass::Reads,
        false => MethodClass::Changes,
    }
}

/// How an endpoint's method does what another one names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MethodMatch {
    /// It is that method.
    Itself,
    /// It is another name of the same.
    Synonym,
    /// It brings into being what the proposed method is named for.
    Brings,
}

/// Whether an endpoint with `method` on `entity` does what `proposed` names.
pub(crate) fn matches(proposed: &str, method: &str, entity: Option<&str>) -> Option<MethodMatch> {
    if proposed == method {
        return Some(MethodMatch::Itself);
    }
    if SAME.iter().any(|line| line.contains(&proposed) && line.contains(&method)) {
        return Some(MethodMatch::Synonym);
    }
    let brings = |verb: &str| BRINGS.iter().any(|(name, thing)| *name == verb && Some(*thing) == entity);
    let is_creation = (method == CREATES && brings(proposed)) || (proposed == CREATES && brings(method));
    is_creation.then_some(MethodMatch::Brings)
}

/// The verbs of a catalog that change something, by their stems.
pub(crate) fn changing(catalog: &Catalog) -> BTreeMap<String, String> {
    let verbs = catalog.verbs().map(|(name, _)| name).filter(|name| class(name, catalog) == MethodClass::Changes);
    verbs.map(|name| (stem(name), name.to_owned())).collect()
}

/// Whether what a method is done to is not the same afterwards.
pub(crate) fn ends(method: &str) -> bool {
    ENDS.contains(&method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_verbs_of_the_catalog() {
        let catalog = Catalog::shipped();
        let all = CHANGES.iter().chain(&EITHER).chain(&ENDS).chain(SAME.iter().copied().flatten());
        for name in all.chain(BRINGS.iter().map(|(name, _)| name)) {
            assert!(catalog.verb(name).is_some(), "{name}");
        }
        for (name, expected) in [
            ("FETCH", MethodClass::Reads),
            ("QUERY", MethodClass::Reads),
            ("CALCULATE", MethodClass::Reads),
            ("CANCEL", MethodClass::Changes),
            ("IMPORT", MethodClass::Changes),
            ("PRICE", MethodClass::Either),
            ("FROB", MethodClass::Either),
        ] {
            assert_eq!(class(name, &catalog), expected, "{name}");
        }
    }

    #[test]
    fn what_is_not_the_same_is_no_synonym() {
        for (proposed, method) in [("CANCEL", "REMOVE"), ("REFUND", "CANCEL"), ("PAY", "WAIVE"), ("VOID", "CANCEL")] {
            assert_eq!(matches(proposed, method, Some("order")), None);
        }
        assert_eq!(matches("BUY", "CREATE", Some("order")), Some(MethodMatch::Brings));
        assert_eq!(matches("BUY", "CREATE", Some("return")), None);
    }
}
