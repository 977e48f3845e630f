//! The tables of `forecourt admin`: which members of the API's answers are its columns, told once.

/// A table of rows that an answer of the API has.
pub(super) struct Table {
    /// The member of the answer that holds the rows.
    pub(super) rows: &'static str,
    /// Each column's heading, and the member of a row that stands in it.
    pub(super) columns: &'static [(&'static str, &'static str)],
    /// What is said instead of a table without rows.
    pub(super) empty: &'static str,
}

/// The agents, with what they did.
pub(super) const AGENTS: Table = Table {
    rows: "agents",
    columns: &[
        ("AGENT", "handle"),
        ("STATE", "state"),
        ("AT WORK", "running"),
        ("TASKS", "tasks"),
        ("ANSWERS HERE", "answers"),
        ("NAME", "name"),
    ],
    empty: "no agent",
};

/// Tasks, the newest first.
pub(super) const TASKS: Table = Table {
    rows: "tasks",
    columns: &[
        ("TASK", "task"),
        ("AGENT", "agent"),
        ("STATE", "state"),
        ("OVER", "via"),
        ("CHANGED", "updated_at"),
        ("NODE", "node"),
    ],
    empty: "no task",
};

/// The events of a task.
pub(super) const EVENTS: Table =
    Table { rows: "events", columns: &[("NO.", "number"), ("WHAT", "kind"), ("SAID", "text")], empty: "no event yet" };

/// Who is logged in to the console.
pub(super) const CONSOLE_SESSIONS: Table = Table {
    rows: "console",
    columns: &[("SESSION", "id"), ("WHO", "who"), ("ROLE", "role"), ("BEGUN", "begun_at"), ("UNTIL", "until")],
    empty: "nobody is logged in",
};

/// Who signed in to talk to agents.
pub(super) const PEOPLE: Table = Table {
    rows: "people",
    columns: &[("SIGNED IN", "id"), ("WHO", "who"), ("SINCE", "begun_at"), ("SEEN", "seen_at"), ("UNTIL", "until")],
    empty: "nobody is signed in to talk to agents",
};

/// Open sessions of protocols.
pub(super) const PROTOCOLS: Table = Table {
    rows: "protocols",
    columns: &[("PROTOCOL", "protocol"), ("OPEN", "open")],
    empty: "no sessions of protocols",
};

/// What was refused, and by which rule.
pub(super) const REFUSALS: Table = Table {
    rows: "records",
    columns: &[
        ("WHEN", "at"),
        ("AGENT", "agent"),
        ("OUTCOME", "outcome"),
        ("KIND", "kind"),
        ("RULE", "rule"),
        ("OVER", "via"),
        ("OF", "who"),
    ],
    empty: "no record",
};

/// What callers agreed to.
pub(super) const CONSENTS: Table = Table {
    rows: "consents",
    columns: &[
        ("NO.", "id"),
        ("WHEN", "at"),
        ("AGENT", "agent"),
        ("OF", "who"),
        ("STATE", "status"),
        ("UNTIL", "until"),
        ("RULE", "rule"),
        ("AGREED TO", "message"),
    ],
    empty: "no consent",
};

/// What callers paid.
pub(super) const PAYMENTS: Table = Table {
    rows: "payments",
    columns: &[
        ("NO.", "id"),
        ("WHEN", "at"),
        ("AGENT", "agent"),
        ("OF", "who"),
        ("STATE", "status"),
        ("PRICE", "price"),
        ("RULE", "rule"),
        ("TRANSACTION", "transaction"),
    ],
    empty: "no payment",
};

/// What models used, a line for each model of each answer.
pub(super) const USAGE: Table = Table {
    rows: "answers",
    columns: &[
        ("WHEN", "at"),
        ("AGENT", "agent"),
        ("OVER", "via"),
        ("FOR", "who"),
        ("MODEL", "model"),
        ("READ", "input_tokens"),
        ("CACHED", "cached_tokens"),
        ("WRITTEN", "output_tokens"),
        ("COST", "cost"),
    ],
    empty: "no model was asked",
};

/// Crawlers that came.
pub(super) const BOTS: Table = Table {
    rows: "bots",
    columns: &[
        ("CRAWLER", "name"),
        ("VERIFIED", "is_verified"),
        ("PURPOSE", "purpose"),
        ("REQUESTS", "requests"),
        ("TAKEN", "taken"),
        ("REFUSED", "refused"),
        ("TOLD A PRICE", "prices_told"),
        ("PAID", "paid"),
        ("OWED", "owed"),
        ("BILLED", "billed"),
        ("LAST", "last_at"),
    ],
    empty: "no crawler came within 30 days",
};

/// Contracts that hold.
pub(super) const CONTRACTS: Table = Table {
    rows: "contracts",
    columns: &[("CONTRACT", "id"), ("CALL", "call"), ("HOLDER", "holder"), ("UNTIL", "expires_at")],
    empty: "no contract",
};

/// Deliveries that wait.
pub(super) const DELIVERIES: Table = Table {
    rows: "deliveries",
    columns: &[
        ("NO.", "id"),
        ("STATE", "state"),
        ("OF", "of"),
        ("TO", "to"),
        ("TASK", "task"),
        ("ATTEMPTS", "attempts"),
        ("NEXT", "due_at"),
    ],
    empty: "no delivery waits",
};

/// Questions that wait for somebody.
pub(super) const QUESTIONS: Table = Table {
    rows: "questions",
    columns: &[
        ("QUESTION", "id"),
        ("ABOUT", "subject"),
        ("WHY", "reason"),
        ("URGENCY", "urgency"),
        ("ASKED", "asked_at"),
        ("ANSWER", "decision"),
    ],
    empty: "no question waits",
};

/// What was asked most.
pub(super) const ASKED: Table = Table { rows: "top", columns: ASKED_COLUMNS, empty: "nothing" };

/// What was asked without a good answer.
pub(super) const UNANSWERED: Table = Table { rows: "without_good_answer", columns: ASKED_COLUMNS, empty: "nothing" };

const ASKED_COLUMNS: &[(&str, &str)] = &[
    ("ASKED", "asked"),
    ("NOTHING FOUND", "nothing_found"),
    ("NOT UNDERSTOOD", "not_understood"),
    ("GOOD", "good"),
    ("BAD", "bad"),
    ("CLICKS", "clicked"),
    ("AGENT", "agent"),
    ("QUESTION", "question"),
];

/// The results that were clicked most.
pub(super) const CLICKED: Table = Table { rows: "clicked_most", columns: RESULT_COLUMNS, empty: "nothing" };

/// The results that were shown most and never clicked.
pub(super) const NEVER_CLICKED: Table = Table { rows: "never_clicked", columns: RESULT_COLUMNS, empty: "nothing" };

const RESULT_COLUMNS: &[(&str, &str)] = &[
    ("SHOWN", "shown"),
    ("CLICKED", "clicked"),
    ("PLACE", "place"),
    ("AGENT", "agent"),
    ("QUESTION", "question"),
    ("RESULT", "item"),
];

/// Who ran into which bound.
pub(super) const LIMITS: Table = Table {
    rows: "limits",
    columns: &[("BOUND", "limit"), ("CALLER", "caller"), ("TIMES", "count"), ("LAST", "last_at")],
    empty: "nobody ran into a bound",
};

/// The content of agents.
pub(super) const CONTENTS: Table = Table {
    rows: "contents",
    columns: &[
        ("AGENT", "agent"),
        ("ITEMS", "items"),
        ("CURRENT", "is_current"),
        ("READ", "read_at"),
        ("CHANGED", "changed_at"),
        ("PROBLEMS", "problems"),
    ],
    empty: "no agent has content",
};

/// The servers behind the host.
pub(super) const SERVERS: Table = Table {
    rows: "servers",
    columns: &[
        ("SERVER", "server"),
        ("ANSWERS", "answers"),
        ("TOOLS", "tools"),
        ("SESSIONS", "sessions"),
        ("LAST ERROR", "last_error"),
    ],
    empty: "no server behind this host",
};

/// The hubs elsewhere whose agents the host fronts.
pub(super) const HUBS: Table = Table {
    rows: "hubs",
    columns: &[
        ("HUB", "hub"),
        ("ANSWERS", "answers"),
        ("AGENTS", "agents"),
        ("SEEN", "seen_at"),
        ("LAST ERROR", "last_error"),
        ("LEFT OUT", "left_out"),
    ],
    empty: "no hub is followed",
};

/// Connectors, the Fediverse and mail.
pub(super) const CHATS: Table = Table {
    rows: "chats",
    columns: &[
        ("PLATFORM", "platform"),
        ("CONNECTOR", "name"),
        ("AGENTS", "agents"),
        ("LAST EVENT", "last_event_at"),
        ("TAKEN", "taken"),
        ("REFUSED", "refused"),
        ("LAST REFUSAL", "last_refusal"),
        ("AT", "last_refusal_at"),
    ],
    empty: "no connector; `forecourt connect slack` shows the steps for one",
};

/// What is under way by platform.
pub(super) const CHAT_PLATFORMS: Table = Table {
    rows: "platforms",
    columns: &[
        ("PLATFORM", "platform"),
        ("UNDER WAY", "under_way"),
        ("WAITING", "waiting"),
        ("FAILING", "failing"),
        ("GIVEN UP", "given_up"),
    ],
    empty: "nothing is under way",
};

/// What was asked last over chats.
pub(super) const CHAT_THREADS: Table = Table {
    rows: "threads",
    columns: &[
        ("TASK", "task"),
        ("AGENT", "agent"),
        ("OVER", "via"),
        ("STATE", "state"),
        ("CHANGED", "updated_at"),
        ("ASKED", "created_at"),
    ],
    empty: "nobody has asked lately",
};

/// The nodes of the deployment, each with what it said of itself beside it.
pub(super) const NODES: Table = Table {
    rows: "nodes",
    columns: &[
        ("NODE", "node"),
        ("THIS", "is_this"),
        ("VERSION", "version"),
        ("SINCE", "started_at"),
        ("SETTINGS", "settings"),
        ("LOAD", "load"),
        ("REQUESTS", "requests"),
        ("REFUSALS", "refusals"),
        ("P50", "latency_p50"),
        ("P95", "latency_p95"),
        ("TASKS", "tasks"),
        ("WAIT", "store_waiting"),
        ("CLOCK", "clock_seconds"),
        ("DIFFERS", "differs"),
    ],
    empty: "no node",
};

/// What happened, as it is found.
pub(super) const HITS: Table = Table { rows: "hits", columns: HIT_COLUMNS, empty: "nothing" };

const HIT_COLUMNS: &[(&str, &str)] = &[
    ("WHEN", "at"),
    ("WHAT", "kind"),
    ("AGENT", "agent"),
    ("OUTCOME", "outcome"),
    ("OF", "who"),
    ("TASK", "task"),
    ("STATE", "state"),
    ("ABOUT", "about"),
];

/// Refusals and steps on the way of a task.
pub(super) const TASK_RECORDS: Table =
    Table { rows: "records", columns: HIT_COLUMNS, empty: "no refusal, consent or payment" };

/// Consents and payments that were used for a task.
pub(super) const TASK_HOLDINGS: Table =
    Table { rows: "holdings", columns: HIT_COLUMNS, empty: "no consent or payment was used" };

/// What models used for a task.
pub(super) const TASK_USAGE: Table = Table { rows: "usage", columns: HIT_COLUMNS, empty: "no model was asked" };

/// Tasks beside one.
pub(super) const RELATED: Table = Table {
    rows: "related",
    columns: &[
        ("HOW", "relation"),
        ("OTHER TASK", "task"),
        ("AGENT", "agent"),
        ("STATE", "state"),
        ("BEGUN", "created_at"),
    ],
    empty: "no other task",
};

/// Alerts that are firing.
pub(super) const FIRING: Table = Table {
    rows: "firing",
    columns: &[
        ("SEVERITY", "severity"),
        ("RULE", "rule"),
        ("NODE", "node"),
        ("SINCE", "since"),
        ("SILENCED", "silenced_until"),
        ("WHAT", "summary"),
    ],
    empty: "nothing is firing",
};

/// The rules that alerts go by.
pub(super) const RULES: Table = Table {
    rows: "rules",
    columns: &[
        ("RULE", "rule"),
        ("SEVERITY", "severity"),
        ("FIRING", "firing"),
        ("SILENCED", "silenced_until"),
        ("SECONDS", "for_seconds"),
        ("WATCHES FOR", "condition"),
    ],
    empty: "no rule",
};

/// Limits of a question, and whether an item passes.
pub(super) const WHY_LIMITS: Table = Table {
    rows: "limits",
    columns: &[("LIMIT", "limit"), ("PASSES", "passes"), ("THE ITEM STATES", "values"), ("ASKED OF", "properties")],
    empty: "the question has no limits",
};

/// Words of a question that an item has.
pub(super) const WHY_WORDS: Table = Table {
    rows: "matched",
    columns: &[("WORD", "word"), ("WHERE", "field"), ("ADDS", "adds")],
    empty: "it has none of the words",
};

/// Other ways to ask.
pub(super) const WHY_WAYS: Table =
    Table { rows: "ways", columns: &[("ASKED OTHERWISE", "asks"), ("PLACE", "rank")], empty: "" };

/// What is found first.
pub(super) const WHY_FIRST: Table = Table {
    rows: "first",
    columns: &[("PLACE", "rank"), ("NAME", "name"), ("SCORE", "score"), ("ID", "id")],
    empty: "nothing is found",
};

/// What is called almost so.
pub(super) const WHY_NEAREST: Table = Table {
    rows: "nearest",
    columns: &[("CALLED ALMOST SO", "name"), ("ID", "id")],
    empty: "nothing is called almost so",
};

/// Certificates, with the days that are left.
pub(super) const CERTIFICATES: Table = Table {
    rows: "certificates",
    columns: &[("NAMES", "names"), ("BY", "issuer"), ("UNTIL", "not_after"), ("DAYS LEFT", "days_left")],
    empty: "no certificate",
};

/// What operators did.
pub(super) const ACTIONS: Table = Table {
    rows: "actions",
    columns: &[
        ("WHEN", "at"),
        ("WHO", "by"),
        ("WHAT", "action"),
        ("TO", "target"),
        ("OUTCOME", "outcome"),
        ("WHY", "reason"),
    ],
    empty: "nothing was done yet",
};

/// Budgets, and how far they last.
pub(super) const BUDGETS: Table = Table {
    rows: "budgets",
    columns: &[
        ("AGENT", "agent"),
        ("BUDGET", "budget"),
        ("UNIT", "unit"),
        ("MOST", "most"),
        ("USED", "used"),
        ("LEFT", "left"),
        ("ENDS", "ends_at"),
        ("AT THE END", "at_the_end"),
        ("USED UP", "used_up_at"),
    ],
    empty: "no agent has a budget: `[budget]` in its file sets one",
};

/// What agents cost and were paid.
pub(super) const AGENT_MONEY: Table = Table {
    rows: "agents",
    columns: &[
        ("AGENT, 30 DAYS", "agent"),
        ("MODELS COST", "cost"),
        ("TOKENS", "tokens"),
        ("PAID", "paid"),
        ("GIVEN BACK", "given_back"),
    ],
    empty: "no model was asked and nothing was paid",
};

/// What models cost.
pub(super) const MODEL_MONEY: Table = Table {
    rows: "models",
    columns: &[("MODEL, 30 DAYS", "model"), ("COST", "cost"), ("TOKENS", "tokens")],
    empty: "no model was asked",
};

/// What callers cost.
pub(super) const CALLER_MONEY: Table = Table {
    rows: "callers",
    columns: &[("CALLER", "who"), ("ANSWERS", "answers"), ("COST", "cost"), ("TOKENS", "tokens")],
    empty: "no model was asked for anybody",
};

/// Files that may be changed.
pub(super) const FILES: Table = Table { rows: "files", columns: &[("FILE", "name")], empty: "no files" };

/// What was served, the last first.
pub(super) const VERSIONS: Table = Table {
    rows: "versions",
    columns: &[("VERSION", "number"), ("SERVED FROM", "at"), ("BY", "by"), ("WHY", "reason"), ("CHANGED", "changed")],
    empty: "no versions are kept",
};
