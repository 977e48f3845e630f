//! What APIs call things that the catalog has another word for, and what its verbs do to the world.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use forecourt_contract::Catalog;

/// Words of other APIs and the verb of the catalog that says the same. `get`, `post`, `put` and `patch`
/// say no more than the HTTP method does.
const SYNONYMS: [(&str, &str); 84] = [
    ("abandon", "CANCEL"),
    ("add", "CREATE"),
    ("all", "LIST"),
    ("associate", "ATTACH"),
    ("ban", "BLOCK"),
    ("call", "INVOKE"),
    ("clone", "DUPLICATE"),
    ("complete", "CLOSE"),
    ("copy", "DUPLICATE"),
    ("delete", "REMOVE"),
    ("destroy", "REMOVE"),
    ("disassociate", "DETACH"),
    ("dismiss", "REJECT"),
    ("display", "FETCH"),
    ("dissociate", "DETACH"),
    ("drop", "REMOVE"),
    ("email", "MESSAGE"),
    ("end", "STOP"),
    ("erase", "PURGE"),
    ("finalise", "COMMIT"),
    ("finalize", "COMMIT"),
    ("finish", "CLOSE"),
    ("get", "FETCH"),
    ("halt", "STOP"),
    ("hold", "PAUSE"),
    ("index", "LIST"),
    ("kick", "EVICT"),
    ("kill", "TERMINATE"),
    ("launch", "START"),
    ("leave", "WITHDRAW"),
    ("list", "LIST"),
    ("lock", "BLOCK"),
    ("login", "AUTHENTICATE"),
    ("logout", "EXPIRE"),
    ("make", "CREATE"),
    ("mark", "FLAG"),
    ("migrate", "MIGRATE"),
    ("move", "TRANSFER"),
    ("mute", "BLOCK"),
    ("new", "CREATE"),
    ("obtain", "FETCH"),
    ("pin", "FLAG"),
    ("preview", "SIMULATE"),
    ("read", "FETCH"),
    ("recreate", "REPLACE"),
    ("regenerate", "ROTATE"),
    ("reopen", "RESUME"),
    ("rerun", "RETRY"),
    ("resend", "RETRY"),
    ("retrieve", "FETCH"),
    ("return", "FETCH"),
    ("run", "EXECUTE"),
    ("save", "REPLACE"),
    ("send", "DISPATCH"),
    ("share", "GRANT"),
    ("show", "FETCH"),
    ("signin", "AUTHENTICATE"),
    ("signout", "EXPIRE"),
    ("signup", "REGISTER"),
    ("snooze", "PAUSE"),
    ("star", "FLAG"),
    ("store", "CREATE"),
    ("sync", "RECONCILE"),
    ("synchronize", "RECONCILE"),
    ("tag", "ANNOTATE"),
    ("test", "CHECK"),
    ("trash", "REMOVE"),
    ("trigger", "INITIATE"),
    ("turn", "SET"),
    ("unban", "ALLOW"),
    ("unblock", "ALLOW"),
    ("uncancel", "REINSTATE"),
    ("undelete", "RESTORE"),
    ("unlock", "ALLOW"),
    ("unmute", "ALLOW"),
    ("unpause", "RESUME"),
    ("unpublish", "WITHDRAW"),
    ("unregister", "DEREGISTER"),
    ("unset", "RESET"),
    ("unsuspend", "REINSTATE"),
    ("upload", "INGEST"),
    ("upsert", "REPLACE"),
    ("view", "FETCH"),
    ("write", "REPLACE"),
];

/// Words that are verbs in what people write about APIs, though no endpoint is called by them.
const OTHERS: [&str; 31] = [
    "bump",
    "consume",
    "deauthorize",
    "decrement",
    "increment",
    "indicate",
    "invalidate",
    "prune",
    "toggle",
    "wipe",
    "post",
    "put",
    "patch",
    "give",
    "provide",
    "perform",
    "dequeue",
    "enqueue",
    "manage",
    "unstar",
    "unfollow",
    "unpin",
    "unassign",
    "unlink",
    "look",
    "allow",
    "handle",
    "determine",
    "try",
    "apply",
    "acknowledge",
];

/// Verbs of the catalog that are nouns as often: a word of these is a verb only at the beginning, and not
/// where the path or the tags have the noun.
const NOUNS: [&str; 74] = [
    "abstract",
    "access",
    "alert",
    "auction",
    "audit",
    "beacon",
    "benchmark",
    "bid",
    "bill",
    "branch",
    "bucket",
    "buffer",
    "build",
    "cache",
    "challenge",
    "change",
    "charge",
    "check",
    "checkout",
    "checkpoint",
    "claim",
    "cluster",
    "comment",
    "credit",
    "debit",
    "deposit",
    "design",
    "draft",
    "dump",
    "escrow",
    "estimate",
    "exchange",
    "extract",
    "filter",
    "flag",
    "forecast",
    "fork",
    "fund",
    "grade",
    "grant",
    "group",
    "hash",
    "heartbeat",
    "index",
    "invoice",
    "lease",
    "license",
    "link",
    "list",
    "mask",
    "match",
    "measure",
    "message",
    "model",
    "mount",
    "order",
    "pair",
    "plan",
    "price",
    "profile",
    "project",
    "prompt",
    "quote",
    "rank",
    "rate",
    "report",
    "request",
    "review",
    "sample",
    "score",
    "segment",
    "signal",
    "template",
    "transfer",
];

/// The same among the words of other APIs.
const NOUN_SYNONYMS: [&str; 16] = [
    "all", "call", "display", "email", "end", "hold", "index", "list", "mark", "new", "share", "star", "store", "tag",
    "test", "view",
];

/// Verbs that say no more than create, read, change and delete: a word that says more goes before them.
const PLAIN: [&str; 11] =
    ["CREATE", "FETCH", "LIST", "UPDATE", "MODIFY", "REPLACE", "REMOVE", "EDIT", "CHANGE", "SET", "PROCESS"];

/// Verbs that change nothing whatever HTTP method they come by.
const READING: [&str; 36] = [
    "ANALYZE",
    "BROWSE",
    "CALCULATE",
    "CLASSIFY",
    "COMPARE",
    "COMPUTE",
    "COUNT",
    "DECODE",
    "DESCRIBE",
    "DETECT",
    "DOWNLOAD",
    "ENCODE",
    "ENUMERATE",
    "ESTIMATE",
    "EVALUATE",
    "EXAMINE",
    "EXPLORE",
    "FETCH",
    "FIND",
    "FORECAST",
    "HASH",
    "IDENTIFY",
    "INSPECT",
    "LIST",
    "LOCATE",
    "LOOKUP",
    "MATCH",
    "MEASURE",
    "PARSE",
    "PREDICT",
    "QUERY",
    "RETRIEVE",
    "SEARCH",
    "SIMULATE",
    "SUMMARIZE",
    "VALIDATE",
];

/// Verbs of the reading categories that change something after all, so that no GET becomes one.
const TAKING: [&str; 11] = [
    "ACQUIRE",
    "CAPTURE",
    "CHECKIN",
    "CHECKOUT",
    "FOLLOW",
    "IMPORT",
    "INGEST",
    "LOAD",
    "OPEN",
    "REPLICATE",
    "SUBSCRIBE",
];

/// Verbs of which nothing takes the effect back: what is gone, what was said, what was paid.
const FINAL: [&str; 56] = [
    "ALERT",
    "ANNOUNCE",
    "ANONYMIZE",
    "BILL",
    "BOOK",
    "BROADCAST",
    "BUY",
    "CANCEL",
    "CHARGE",
    "CHARGEBACK",
    "COMMIT",
    "CREDIT",
    "DEBIT",
    "DELIVER",
    "DEPROVISION",
    "DISBURSE",
    "DISCLOSE",
    "DISPATCH",
    "EMIT",
    "ESCALATE",
    "EVICT",
    "EXCHANGE",
    "EXECUTE",
    "EXPIRE",
    "FORWARD",
    "INFORM",
    "INVITE",
    "INVOKE",
    "MERGE",
    "MESSAGE",
    "NOTIFY",
    "ORDER",
    "PAY",
    "PURCHASE",
    "PURGE",
    "REDACT",
    "REDEEM",
    "REFUND",
    "REIMBURSE",
    "REMIND",
    "REMIT",
    "REMOVE",
    "REPLY",
    "RESERVE",
    "RESPOND",
    "REVOKE",
    "ROTATE",
    "SELL",
    "SETTLE",
    "SHIP",
    "SIGN",
    "SUBMIT",
    "TERMINATE",
    "TRANSFER",
    "VERIFY",
    "VOID",
];

/// Things that can't be taken back once they were made: money that moved, words that went out. Singular.
const FINAL_THINGS: [&str; 24] = [
    "alert",
    "broadcast",
    "call",
    "charge",
    "disbursement",
    "dispute",
    "email",
    "fax",
    "mail",
    "message",
    "notification",
    "order",
    "payment",
    "payout",
    "purchase",
    "refund",
    "remittance",
    "reply",
    "sms",
    "transaction",
    "transfer",
    "verification",
    "withdrawal",
    "invitation",
];

/// The verb that a word stands for in the vocabulary of other APIs, or else the word as a verb of the catalog.
pub(super) fn meant(word: &str, catalog: &Catalog) -> Option<String> {
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == word).map(|(_, verb)| (*verb).to_owned());
    let verb = synonym.unwrap_or_else(|| word.to_ascii_uppercase());
    catalog.verb(&verb).is_some().then_some(verb)
}

/// Whether a word, in lower case, is a verb in the imperative.
pub(super) fn is_verb(word: &str) -> bool {
    static VERBS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let catalog = Catalog::shipped();
        let own = catalog.verbs().map(|(name, _)| name.to_ascii_lowercase());
        let others = SYNONYMS.iter().map(|(word, _)| *word).chain(OTHERS).map(str::to_owned);
        own.chain(others).filter(|word| !matches!(word.as_str(), "all" | "new")).collect()
    });
    VERBS.contains(word)
}

/// The imperative of a verb in the third person: `lists` is `list`, `copies` is `copy`. `None`: it is none.
pub(super) fn to_base(word: &str) -> Option<String> {
    let stem = word.strip_suffix('s')?;
    let candidates = [
        Some(stem.to_owned()),
        stem.strip_suffix('e').map(str::to_owned),
        stem.strip_suffix("ie").map(|stem| format!("{stem}y")),
    ];
    candidates.into_iter().flatten().find(|base| is_verb(base))
}

/// The verb that a word in -ing is made of: `deleting` is `delete`. `None`: it is none, or a noun as often.
pub(super) fn of_gerund(word: &str) -> Option<String> {
    let stem = word.strip_suffix("ing").filter(|stem| stem.len() > 2)?;
    let doubled =
        stem.char_indices().next_back().filter(|(at, last)| stem[..*at].ends_with(*last)).map(|(at, _)| &stem[..at]);
    // `listing`, `creating` and `getting`, in this order.
    let candidates = [Some(stem.to_owned()), Some(format!("{stem}e")), doubled.map(str::to_owned)];
    candidates.into_iter().flatten().find(|base| is_verb(base) && !is_noun_too(base))
}

/// The verb of a noun for a deed: `creation`, in the imperative.
pub(super) fn of_deed(noun: &str) -> Option<&'static str> {
    const DEEDS: [(&str, &str); 10] = [
        ("creation", "create"),
        ("deletion", "delete"),
        ("list", "list"),
        ("listing", "list"),
        ("login", "authenticate"),
        ("registration", "register"),
        ("removal", "remove"),
        ("retrieval", "retrieve"),
        ("search", "search"),
        ("update", "update"),
    ];
    DEEDS.iter().find(|(deed, _)| *deed == noun).map(|(_, verb)| *verb)
}

/// Whether a verb, in lower case, is as often a noun or an adjective.
pub(super) fn is_noun_too(word: &str) -> bool {
    NOUNS.contains(&word) || NOUN_SYNONYMS.contains(&word)
}

/// Whether a verb says no more than create, read, change or delete.
pub(super) fn is_plain(verb: &str) -> bool {
    PLAIN.contains(&verb)
}

/// Whether a verb changes nothing, whatever HTTP method it comes by.
pub(super) fn is_reading(verb: &str) -> bool {
    READING.contains(&verb)
}

/// Whether a verb of a category that reads takes something all the same.
pub(super) fn is_taking(verb: &str) -> bool {
    TAKING.contains(&verb)
}

/// Whether nothing takes back what a verb does.
pub(super) fn is_final(verb: &str) -> bool {
    FINAL.contains(&verb)
}

/// Whether a thing, in the singular and in lower case, can't be taken back once it was made.
pub(super) fn is_final_thing(noun: &str) -> bool {
    FINAL_THINGS.contains(&noun)
}

/// The past participle of a verb in lower case, of which something is said to be: `approved`.
pub(super) fn participle(verb: &str) -> String {
    const IRREGULAR: [(&str, &str); 24] = [
        ("bid", "bid"),
        ("build", "built"),
        ("buy", "bought"),
        ("choose", "chosen"),
        ("find", "found"),
        ("freeze", "frozen"),
        ("give", "given"),
        ("hold", "held"),
        ("lend", "lent"),
        ("make", "made"),
        ("override", "overridden"),
        ("overwrite", "overwritten"),
        ("pay", "paid"),
        ("put", "put"),
        ("read", "read"),
        ("run", "run"),
        ("sell", "sold"),
        ("send", "sent"),
        ("set", "set"),
        ("split", "split"),
        ("undo", "undone"),
        ("withdraw", "withdrawn"),
        ("write", "written"),
        ("get", "got"),
    ];
    const DOUBLED: [&str; 14] = [
        "stop", "ban", "drop", "cancel", "commit", "submit", "swap", "tag", "unpin", "pin", "ship", "scan", "star",
        "transfer",
    ];
    if let Some((_, past)) = IRREGULAR.iter().find(|(base, _)| *base == verb) {
        return (*past).to_owned();
    }
    // What is done once more has the form of what is done: `rerun`.
    let again = verb.strip_prefix("re").and_then(|rest| IRREGULAR.iter().find(|(base, _)| *base == rest));
    if let Some((_, past)) = again {
        return format!("re{past}");
    }
    let before_y = verb.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match before_y {
        Some(stem) => format!("{stem}ied"),
        None if verb.ends_with('e') => format!("{verb}d"),
        None if DOUBLED.contains(&verb) => format!("{verb}{}ed", &verb[verb.len() - 1..]),
        None => format!("{verb}ed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s14_1_every_synonym_leads_to_the_catalog() {
        let catalog = Catalog::shipped();
        for (word, verb) in SYNONYMS {
            assert!(catalog.verb(verb).is_some(), "{word} → {verb}");
            assert_eq!(word, word.to_lowercase());
        }
        for verb in PLAIN.iter().chain(&READING).chain(&TAKING).chain(&FINAL) {
            assert!(catalog.verb(verb).is_some(), "{verb}");
        }
        for noun in NOUNS {
            assert!(catalog.verb(&noun.to_uppercase()).is_some(), "{noun}");
        }
    }

    #[test]
    fn verbs_have_forms() {
        for (third, base) in [("lists", "list"), ("copies", "copy"), ("searches", "search"), ("purges", "purge")] {
            assert_eq!(to_base(third).as_deref(), Some(base));
        }
        assert_eq!(to_base("status"), None);
        for (base, past) in [("approve", "approved"), ("pay", "paid"), ("stop", "stopped"), ("verify", "verified")] {
            assert_eq!(participle(base), past);
        }
    }
}
