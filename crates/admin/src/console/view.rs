//! What pages are made of: values, which one template each turns into HTML.

mod cell;
mod chart;
mod render;

use std::borrow::Cow;

use forecourt_pages::clean;

pub(crate) use cell::{Cell, Tone};
pub(crate) use chart::{ChartView, number};
pub(crate) use render::sentence;

use crate::api_error::ApiError;

/// A page.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) title: String,
    /// The page in the navigation that this one belongs to.
    pub(crate) at: &'static str,
    /// A sentence about it.
    pub(crate) lead: Option<String>,
    /// Something that must be seen first.
    pub(crate) alert: Option<String>,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// What leads to where one came from.
    pub(crate) crumb: Option<(String, String)>,
    /// The same page in other words, by links.
    pub(crate) tabs: Vec<Tab>,
    pub(crate) filters: Vec<Filter>,
    /// What the filters leave as it is.
    pub(crate) kept: Vec<(&'static str, String)>,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) facts: Vec<(&'static str, Cell)>,
    pub(crate) actions: Vec<Act>,
    pub(crate) sections: Vec<Section>,
    /// What follows.
    pub(crate) more: Option<String>,
    /// Whether it shows what changes by itself.
    pub(crate) is_live: bool,
    /// Where the events of a task come from that are shown as they happen.
    pub(crate) follow: Option<String>,
    pub(crate) trial: Option<Trial>,
    /// The domain that is shown: a daemon may have several.
    pub(crate) domain: String,
    /// What is firing, at the head of it.
    pub(crate) firing: Option<FiringLine>,
}

/// What is firing, on a line.
pub(crate) struct FiringLine {
    pub(crate) tone: Tone,
    /// How many alerts.
    pub(crate) count: String,
    /// The first of them.
    pub(crate) named: Vec<String>,
}

/// A number on the overview, which leads somewhere.
pub(crate) struct Tile {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) note: String,
    pub(crate) href: String,
    pub(crate) tone: Tone,
}

/// A link to the same page in other words.
pub(crate) struct Tab {
    pub(crate) href: String,
    pub(crate) label: &'static str,
    pub(crate) is_current: bool,
}

/// A choice of what a list shows.
pub(crate) struct Filter {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) value: String,
    /// What there is to choose from; anything when there is nothing.
    pub(crate) choices: Vec<String>,
}

/// A part of a page.
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) lead: Option<String>,
    pub(crate) body: Body,
}

/// What a part shows.
pub(crate) enum Body {
    Table {
        head: Vec<Cow<'static, str>>,
        rows: Vec<Vec<Cell>>,
    },
    Text(String),
    /// Lines of a unified diff, each with what it is marked by.
    Diff(Vec<(DiffMark, String)>),
    /// HTML that was made safe.
    Html(String),
    Log(Vec<ActivityLine>),
    List(Vec<String>),
    Charts(Vec<ChartView>),
    /// Nothing, and what to do about that.
    Empty(String),
}

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffMark {
    Same,
    Added,
    Gone,
    Place,
}

impl DiffMark {
    /// The lines of a unified diff. Each keeps its first character, so that it is understood without colours.
    pub(crate) fn lines(diff: &str) -> Vec<(Self, String)> {
        let mark = |line: &str| match line.as_bytes().first() {
            Some(b'+') => Self::Added,
            Some(b'-') => Self::Gone,
            Some(b'@') => Self::Place,
            _ => Self::Same,
        };
        diff.lines().map(|line| (mark(line), line.to_owned())).collect()
    }
}

/// A line of what happened.
pub(crate) struct ActivityLine {
    pub(crate) number: u64,
    pub(crate) kind: String,
    pub(crate) text: String,
}

/// Something that may be done: a form, folded away behind its button.
pub(crate) struct Act {
    /// Behind the base of the API.
    pub(crate) path: String,
    pub(crate) label: String,
    /// What it means, before it is done.
    pub(crate) about: String,
    pub(crate) is_dangerous: bool,
    /// What else is to be chosen: what it is called, a name, and what there is.
    pub(crate) choice: Option<(&'static str, &'static str, Vec<&'static str>)>,
    /// What is sent as it is shown, however it has changed: a name, and its value.
    pub(crate) shown: Option<(&'static str, String)>,
    pub(crate) takes_reason: bool,
}

impl Act {
    pub(crate) fn new(path: String, label: &str, about: &str) -> Self {
        Self {
            path,
            label: label.to_owned(),
            about: about.to_owned(),
            is_dangerous: false,
            choice: None,
            shown: None,
            takes_reason: true,
        }
    }

    pub(crate) fn dangerous(self) -> Self {
        Self { is_dangerous: true, ..self }
    }

    pub(crate) fn without_reason(self) -> Self {
        Self { takes_reason: false, ..self }
    }
}

/// Something to be tried out.
pub(crate) struct Trial {
    /// Where its form is sent.
    pub(crate) action: String,
    /// Where its script sends it to follow the answer; empty where nothing streams.
    pub(crate) stream: String,
    pub(crate) fields: Vec<TrialField>,
    /// Fields that are folded away, and what they are about.
    pub(crate) more: Option<(&'static str, Vec<TrialField>)>,
    /// What it is sent by, the first of which is meant by the key for a new line.
    pub(crate) buttons: Vec<TrialButton>,
}

impl Trial {
    /// Whether something is written into a field that is folded away.
    pub(crate) fn has_more(&self) -> bool {
        self.more.iter().flat_map(|(_, fields)| fields).any(|field| !field.value.is_empty())
    }
}

/// A button of a form.
pub(crate) struct TrialButton {
    pub(crate) label: &'static str,
    /// What `do` of the form says; nothing where there is one button alone.
    pub(crate) does: &'static str,
    pub(crate) is_main: bool,
}

impl TrialButton {
    /// The one button of a form.
    pub(crate) fn alone(label: &'static str) -> Vec<Self> {
        vec![Self { label, does: "", is_main: true }]
    }
}

/// A field of a form.
pub(crate) struct TrialField {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) about: String,
    pub(crate) is_required: bool,
    /// `text`, `number`, `area`, `code`, `file`, `choice` or `hidden`.
    pub(crate) kind: &'static str,
    pub(crate) choices: Vec<String>,
    pub(crate) value: String,
}

impl Section {
    pub(crate) fn new(heading: impl Into<String>, body: Body) -> Self {
        Self { heading: heading.into(), lead: None, body }
    }

    pub(crate) fn lead(self, lead: impl Into<String>) -> Self {
        Self { lead: Some(lead.into()), ..self }
    }

    /// A table; where it has no rows, what to do about that.
    pub(crate) fn table(
        heading: impl Into<String>,
        head: Vec<impl Into<Cow<'static, str>>>,
        rows: Vec<Vec<Cell>>,
        empty: &str,
    ) -> Self {
        let head = head.into_iter().map(Into::into).collect();
        let body = if rows.is_empty() { Body::Empty(empty.to_owned()) } else { Body::Table { head, rows } };
        Self::new(heading, body)
    }
}

impl Page {
    pub(crate) fn new(at: &'static str, title: impl Into<String>) -> Self {
        Self { at, title: clean::line(&title.into()), ..Self::default() }
    }

    /// What went wrong, as a page.
    pub(crate) fn of_error(error: &ApiError) -> Self {
        Self {
            alert: Some(sentence(&error.message)),
            hint: error.hint.as_deref().map(sentence),
            crumb: Some(("/console".to_owned(), "Overview".to_owned())),
            ..Self::new("", "That did not work")
        }
    }
}
