//! This module has what a search reports about its answer besides the items: summary, filters, facets, scores.
//! Protocols render it in their own words, or not at all.

use serde::{Deserialize, Serialize};

/// What our own protocol crate asks of an agent that searches. It travels on [`crate::Message::search`], which only our
/// own code sets: nothing that callers write into extensions, metadata or parts becomes one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchOptions {
    /// How much of [`Findings`] is to be told.
    pub findings: FindingsDetail,
    /// Whether items alone are wanted: no summary that takes long to make.
    pub list_only: bool,
    /// Whether the wire shows items and no words about them: an agent that found some need not say so.
    pub wordless: bool,
    /// Filters that a person clicked instead of writing them.
    pub narrowing: SearchRefinement,
    /// Whether the text is the beginning of a question, and [`Findings::suggestions`] are all that is wanted.
    pub completes: bool,
    /// Whether other agents are asked the same at once, by somebody who has chosen none of them.
    #[serde(default)]
    pub asks_several: bool,
}

impl SearchOptions {
    /// Whether nobody has asked this one agent a whole question yet. Such a message uses up, pays and is asked for
    /// nothing: it passes where the rules want nothing, or what was granted for a time.
    pub fn is_tentative(&self) -> bool {
        self.completes || self.asks_several
    }

    /// What of it holds for another agent that is asked in order to answer: what uses up nothing causes nothing that
    /// does.
    #[must_use]
    pub fn handed_on(&self) -> Self {
        Self { asks_several: self.is_tentative(), ..Self::default() }
    }
}

/// How much a search tells about its answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingsDetail {
    /// Nothing: the answer stands for itself.
    #[default]
    None,
    /// [`Findings`], but for what takes a look at many more items.
    Summary,
    /// [`Findings::total`], [`Findings::facets`] and [`ItemFindings::reason`] as well.
    Facets,
}

impl FindingsDetail {
    /// Whether anything is to be told.
    pub fn is_wanted(self) -> bool {
        self != Self::None
    }

    /// Whether it is to be told how the items differ as well.
    pub fn with_facets(self) -> bool {
        self == Self::Facets
    }
}

/// What a search reports about its answer, besides the items: [`crate::Event::Findings`]. Sent before the items, and
/// again whenever more is known, such as a model's summary; the last one replaces the others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The answer in a sentence or two, in markdown, without a list of the items. Empty: it follows.
    pub summary: String,
    /// What should be known of the answer, in sentences of markdown: its limits, what could not be judged by them, what
    /// was looked for instead.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caveats: String,
    /// Items in this answer. None is an honest "nothing found", and the summary says what might help.
    pub count: usize,
    /// Whether there are more behind them.
    #[serde(default)]
    // Fields with a `default` came later: answers of tasks that an earlier version stored are read without them.
    pub more: bool,
    /// The limits that hold for every item, in words: those of the question, and those that are known of
    /// the caller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<AppliedLimit>,
    /// Filters by name that meant nothing to the content, and so were left out.
    #[serde(default)]
    pub ignored: Vec<String>,
    /// Limits of the question that were not understood or can't be checked here, in the caller's words: the
    /// items may break them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<String>,
    /// Items that were left out because they don't state what a limit asks about, by that limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Words of the question that no item has, and what was looked for instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<SpellingCorrection>,
    /// The question as it was searched for, with what earlier turns said. `None`: as it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decontextualized: Option<String>,
    /// The findings about each item, in the order of the items given so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ItemFindings>,
    /// What the caller should know about how the answer was made, such as what had to be left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Items that fit in all. Told with [`FindingsDetail::Facets`] alone, as the facets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// The best of them, in which values were counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counted: usize,
    /// Properties by which they can be narrowed down, the most telling first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<Facet>,
    /// Orders in which the items can be asked for, as [`SearchRefinement::order`] names them. Told with the facets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<ItemOrder>,
    /// What a question that is being typed may become. Told with [`SearchOptions::completes`] alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
}

/// What a question that is being typed may become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// The question.
    pub text: String,
    /// What it is.
    pub kind: SuggestionKind,
}

/// What a suggestion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionKind {
    /// A question that several people have asked.
    Question,
    /// A kind of items, such as a category.
    Category,
    /// The name of an item.
    Item,
}

/// An order of items that a person can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemOrder {
    /// The cheapest first.
    Cheapest,
    /// The dearest first.
    Dearest,
    /// The best rated first.
    BestRated,
    /// What takes place or came out last first.
    Newest,
    /// What takes place or came out first.
    Earliest,
}

impl ItemOrder {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Cheapest, Self::Dearest, Self::BestRated, Self::Newest, Self::Earliest];

    /// Its name in an address, such as `cheapest`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cheapest => "cheapest",
            Self::Dearest => "dearest",
            Self::BestRated => "best_rated",
            Self::Newest => "newest",
            Self::Earliest => "earliest",
        }
    }

    /// The order of this name. `None`: there is none.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }
}

/// A limit that holds for every item of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredLimit")]
pub struct AppliedLimit {
    /// The limit in words: `30 minutes or less`.
    pub words: String,
    /// The words of the question that say it, as they are written there. `None`: an earlier question said it, a filter, or
    /// the caller of himself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

impl AppliedLimit {
    /// A limit that the question does not say.
    pub fn unsaid(words: impl Into<String>) -> Self {
        Self { words: words.into(), said: None }
    }
}

/// A limit as it is stored: earlier versions kept its words alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredLimit {
    Words(String),
    Limit { words: String, said: Option<String> },
}

impl From<StoredLimit> for AppliedLimit {
    fn from(stored: StoredLimit) -> Self {
        match stored {
            StoredLimit::Words(words) => Self::unsaid(words),
            StoredLimit::Limit { words, said } => Self { words, said },
        }
    }
}

/// A word that was taken for a misspelled one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpellingCorrection {
    /// The word of the question.
    pub written: String,
    /// The word or value that was searched for instead.
    pub read_as: String,
}

/// Items that can't be judged by a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The limit, in the words of [`Findings::applied`].
    pub limit: String,
    /// How many items that otherwise fit don't state what it asks about.
    pub items: usize,
}

/// A search's findings about one item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemFindings {
    /// How well it fits. Comparable within one answer only.
    pub score: f32,
    /// Why it is here. Told with [`FindingsDetail::Facets`], and where somebody judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<MatchReason>,
}

impl ItemFindings {
    /// An item that fits so well, of which nothing else is known.
    pub fn scored(score: f32) -> Self {
        Self { score, ..Self::default() }
    }

    /// The same with why it is here.
    #[must_use]
    pub fn because(self, reason: MatchReason) -> Self {
        Self { reason: Some(reason), ..self }
    }
}

/// How items differ in one property.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facet {
    /// Names it to [`SearchRefinement::exactly`]: a dot path.
    pub field: String,
    /// Its name for people, such as `cuisine`.
    pub label: String,
    /// Values as they are written with how many items have each, the most frequent first.
    pub values: Vec<(String, usize)>,
    /// Whether the values are ranges of a quantity, such as `20..50` and `4+`: one at a time is chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ranges: bool,
}

/// Why an item is in an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchReason {
    /// The sentence of its text that says most about the question. May be empty.
    pub snippet: String,
    /// The limits of the question that it keeps, and with what.
    pub fits: Vec<String>,
    /// The one of them that says how far away the item is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<String>,
    /// Why it stands where it does, in a sentence of plain text, when somebody judged it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The property that says which host of the web an item is from, for [`SearchRefinement::exactly`].
pub const URL_HOST: &str = "url.host";

/// How a search is narrowed down or widened without further words: what a person clicks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchRefinement {
    /// Properties and the values they shall have; all of them hold.
    pub exactly: Vec<(String, String)>,
    /// Items wanted in the answer. An agent may give fewer.
    pub results: Option<usize>,
    /// Whether a question back is unwanted.
    pub decided: bool,
    /// The order of the items. Without it, by how well they fit. What does not state the quantity is left out.
    pub order: Option<ItemOrder>,
}

impl SearchRefinement {
    /// Whether nothing is narrowed down.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Findings {
    /// The answer and what should be known of it, for whoever shows both as one.
    pub fn whole_summary(&self) -> String {
        match self.caveats.is_empty() || self.summary.is_empty() {
            true => self.summary.clone(),
            // A section of a document is a paragraph of its own.
            false if self.summary.contains('\n') => format!("{}\n\n{}", self.summary, self.caveats),
            false => format!("{} {}", self.summary, self.caveats),
        }
    }

    /// An estimate of the bytes that it holds, for [`crate::reply::ReplyLimits::bytes`].
    pub(crate) fn weight(&self) -> usize {
        let texts = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        let reason = |reason: &MatchReason| reason.snippet.len() + reason.why.len() + texts(&reason.fits);
        let facet = |facet: &Facet| {
            let values: usize = facet.values.iter().map(|(value, _)| value.len() + size_of::<usize>()).sum();
            facet.field.len() + facet.label.len() + values
        };
        let limits: usize = self.applied.iter().map(|limit| size_of::<AppliedLimit>() + limit.words.len()).sum();
        let lists = limits + texts(&self.ignored) + texts(&self.notes) + texts(&self.not_understood);
        let left_out: usize = self.left_out.iter().map(|left| size_of::<LeftOut>() + left.limit.len()).sum();
        let spelling =
            |one: &SpellingCorrection| one.written.len() + one.read_as.len() + size_of::<SpellingCorrection>();
        let lists = lists + self.corrections.iter().map(spelling).sum::<usize>();
        let question = self.decontextualized.as_ref().map_or(0, String::len);
        let lists = lists + left_out + question;
        let suggestions = self.suggestions.iter().map(|one| size_of::<Suggestion>() + one.text.len()).sum::<usize>();
        let lists = lists + suggestions;
        let item = |item: &ItemFindings| size_of::<ItemFindings>() + item.reason.as_ref().map_or(0, reason);
        let items: usize = self.items.iter().map(item).sum();
        size_of::<Self>()
            + size_of_val(self.orders.as_slice())
            + self.summary.len()
            + self.caveats.len()
            + lists
            + items
            + self.facets.iter().map(facet).sum::<usize>()
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_stored_is_read_again() {
        let told = Findings {
            summary: "Two soups.".to_owned(),
            count: 2,
            items: vec![
                ItemFindings::scored(2.5).because(MatchReason { snippet: "Hot.".to_owned(), ..MatchReason::default() }),
            ],
            ..Findings::default()
        };
        let event = crate::Event::Findings(Box::new(told));
        assert_eq!(serde_json::from_value::<crate::Event>(json!(event)).unwrap(), event);
        let old = json!({"summary": "x", "count": 1, "something": "new"});
        assert_eq!(serde_json::from_value::<Findings>(old).unwrap().count, 1);
        let old = json!({"summary": "x", "count": 1, "applied": ["no nuts", {"words": "vegan"}]});
        let applied = serde_json::from_value::<Findings>(old).unwrap().applied;
        assert_eq!(applied, [AppliedLimit::unsaid("no nuts"), AppliedLimit::unsaid("vegan")]);
    }

    #[test]
    fn a_summary_is_the_answer_and_its_caveats() {
        let told = |summary: &str, caveats: &str| Findings {
            summary: summary.to_owned(),
            caveats: caveats.to_owned(),
            ..Findings::default()
        };
        assert_eq!(told("Soup.", "Limits: vegan.").whole_summary(), "Soup. Limits: vegan.");
        assert_eq!(
            (told("Soup.", "").whole_summary(), told("", "x").whole_summary()),
            ("Soup.".to_owned(), String::new())
        );
    }

    #[test]
    fn orders_are_known_by_their_names() {
        for order in ItemOrder::ALL {
            assert_eq!(ItemOrder::of_name(order.name()), Some(order));
            assert_eq!(json!(order), json!(order.name()));
        }
        assert_eq!(ItemOrder::of_name("x"), None);
    }

    #[test]
    fn what_weighs_on_a_reply_is_counted() {
        let of = |count: usize| Findings { notes: vec!["x".repeat(10); count], ..Findings::default() };
        assert_eq!(of(3).weight() - of(2).weight(), 10);
    }
}
