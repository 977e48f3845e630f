//! What leads from each page to all the others.

/// The navigation: groups of pages.
pub(super) const NAV: &[(&str, &[(&str, &str)])] = &[
    (
        "Now",
        &[
            ("/console", "Overview"),
            ("/console/alerts", "Alerts"),
            ("/console/trends", "Trends"),
            ("/console/search", "Search"),
            ("/console/agents", "Agents"),
            ("/console/tasks", "Tasks"),
            ("/console/servers", "Servers"),
            ("/console/hubs", "Hubs"),
            ("/console/chats", "Chats"),
            ("/console/queue", "Questions to you"),
        ],
    ),
    (
        "Callers",
        &[
            ("/console/refusals", "Refusals"),
            ("/console/consents", "Consents"),
            ("/console/payments", "Payments"),
            ("/console/bots", "Crawlers"),
            ("/console/limits", "Limits hit"),
            ("/console/sessions", "Sessions"),
            ("/console/questions", "What people ask"),
            ("/console/usage", "Model usage"),
            ("/console/costs", "Costs"),
        ],
    ),
    (
        "Promises",
        &[
            ("/console/contracts", "Contracts"),
            ("/console/records", "Signed records"),
            ("/console/deliveries", "Deliveries"),
        ],
    ),
    (
        "House",
        &[
            ("/console/content", "Content"),
            ("/console/why", "Why not found?"),
            ("/console/nodes", "Nodes"),
            ("/console/certificates", "Certificates"),
            ("/console/deployment", "Deployment"),
            ("/console/config", "Settings"),
            ("/console/reload", "Reload"),
            ("/console/actions", "What operators did"),
        ],
    ),
    ("Try", &[("/console/playground", "Playground")]),
];
