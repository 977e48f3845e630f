//! What leads from each page to all the others.

/// The navigation: groups of pages.
pub(super) const NAV: &[(&str, &[(&str, &str)])] = &[
    (
        "Now",
        &[
            ("/console", "Overview"),
            ("/console/agents", "Agents"),
            ("/console/tasks", "Tasks"),
            ("/console/servers", "Servers"),
            ("/console/hubs", "Hubs"),
            ("/console/queue", "Questions to you"),
        ],
    ),
    (
        "Callers",
        &[
            ("/console/refusals", "Refusals"),
            ("/console/consents", "Consents"),
            ("/console/payments", "Payments"),
            ("/console/limits", "Limits hit"),
            ("/console/sessions", "Sessions"),
            ("/console/questions", "What people ask"),
            ("/console/usage", "Model usage"),
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
