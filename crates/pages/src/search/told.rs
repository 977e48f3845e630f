//! An answer into pieces of the page, as it comes.

use askama::Template;
use forecourt_core::{CollectedReply, Ending, Event, Findings, Part};
use forecourt_sentences::Sentences;

use super::card::{CardWords, card};
use super::citation::cited;
use super::facets::{self, FacetView, OrderView};
use super::limits_told::LimitsTold;
use super::link::Place;
use crate::branding::BrandView;
use crate::front::AgentView;
use crate::highlight::Words;
use crate::item::{self, ItemView};
use crate::limits::{RESULTS_COUNTED_MAX, RESULTS_SHOWN_MAX, RESULTS_STEP};
use crate::part::PartView;
use crate::question::{Kind, QuestionView};
use crate::refusal::RefusalView;
use crate::reply::failure;
use crate::{clean, escape, feedback_path, markdown, template};

/// An answer on its way into a [`super::SearchPage`].
pub struct SearchAnswer {
    place: Place,
    agent: AgentView,
    page: AnswerPage,
    findings: Option<Findings>,
    /// What was said in words. Shown as it is where nothing was told of what was found.
    words: String,
    /// Items on the page.
    shown: usize,
    /// Whether the list of results is open.
    is_listing: bool,
    has_facets: bool,
    /// Whether a summary is waited for.
    is_waiting: bool,
    /// Parts that are no items.
    others: Vec<Part>,
}

/// What the page goes by, beside the answer.
pub(super) struct AnswerPage {
    pub(super) brand: BrandView,
    /// The page's own words.
    pub(super) say: Sentences,
    /// The words that are marked.
    pub(super) words: Words,
}

#[derive(Template)]
#[template(path = "search/summary.html")]
struct Summary {
    html: String,
    /// What should be known of the answer, and is no part of it.
    caveats: String,
    say: Sentences,
    /// The limits that hold, and those that don't.
    limits: LimitsTold,
    /// What the reader should know about how it was made.
    notes: Vec<String>,
    /// Whether nothing was found.
    is_empty: bool,
    /// The page with nothing chosen, where that might help.
    all: Option<String>,
    /// The thumbs, where they are counted.
    rating: Option<RatingForm>,
}

/// The form of a thumb up and a thumb down.
struct RatingForm {
    /// Where it is sent.
    action: String,
    /// The question that was answered.
    question: String,
}

/// Stands where the summary will be.
fn waiting(say: Sentences) -> String {
    format!("<p class=\"summary waiting\">{}</p>\n", escape::text(&say.page_reading()))
}

/// Takes the place of [`waiting`] when no summary came.
const NOT_WAITING: &str = "<span class=\"summary\" hidden></span>\n";

#[derive(Template)]
#[template(path = "search/facets.html")]
struct FacetsTemplate {
    say: Sentences,
    facets: Vec<FacetView>,
    orders: Vec<OrderView>,
    chosen: usize,
    /// How many items were counted, when these are not all.
    of_best: Option<usize>,
}

#[derive(Template)]
#[template(path = "search/results.html")]
struct Results {
    say: Sentences,
    /// The number of the next result.
    from: usize,
    shown: usize,
    /// Items that fit, when these are more.
    total: Option<String>,
}

#[derive(Template)]
#[template(path = "search/more.html")]
struct More {
    say: Sentences,
    /// `None` when the page holds as many as it may.
    url: Option<String>,
}

#[derive(Template)]
#[template(path = "search/ended.html")]
struct EndedTemplate {
    say: Sentences,
    question: Option<QuestionView>,
    skip: String,
    refusal: Option<RefusalView>,
    failure: Option<String>,
}

#[derive(Template)]
#[template(path = "search/end.html")]
struct End {
    say: Sentences,
    agent: AgentView,
    parts: PartView,
    brand: BrandView,
    has_script: bool,
    words: Option<String>,
    session_link: Option<String>,
    /// The conversation that the chat of this page begins with: none.
    session: Option<String>,
}

impl SearchAnswer {
    pub(super) fn new(place: Place, agent: AgentView, page: AnswerPage) -> Self {
        Self {
            place,
            agent,
            page,
            findings: None,
            words: String::new(),
            shown: 0,
            is_listing: false,
            has_facets: false,
            is_waiting: false,
            others: Vec::new(),
        }
    }

    /// What one event adds to the page. Steps on the way have no place on it.
    pub fn take(&mut self, event: Event) -> String {
        match event {
            Event::Text(text) => {
                self.words.push_str(&text);
                String::new()
            }
            Event::Part(part) => self.part(part),
            Event::Findings(findings) => self.found(*findings),
            Event::Ending(ending) => self.ended(ending),
            Event::ToolCall(_) | Event::Progress(_) | Event::Task(_) => String::new(),
        }
    }

    /// The end of the page. In the conversation `session` it can be asked on in words.
    pub fn end(mut self, session: Option<&str>) -> String {
        let mut html = self.close();
        let has_words = !self.words.trim().is_empty();
        html.push_str(&template::finish(&End {
            say: self.page.say,
            agent: self.agent,
            brand: self.page.brand,
            has_script: false,
            parts: PartView::of(&CollectedReply::new(self.others, Ending::Complete), None, self.page.say),
            words: (has_words && self.findings.is_some()).then(|| markdown::to_html_below(&self.words)),
            session_link: session.and_then(|session| clean::href(&format!("{}#session={session}", self.place.path))),
            session: None,
        }));
        html
    }

    /// What is told of the answer; told again, it takes the place of what was told before.
    fn found(&mut self, findings: Findings) -> String {
        let mut html = self.summary(&findings);
        let facets = facets::views(&findings, &self.place, self.page.say);
        let orders = facets::orders(&findings, &self.place, self.page.say);
        let has_some = !facets.is_empty() || !orders.is_empty();
        if has_some && !self.has_facets {
            self.has_facets = true;
            let of_best = findings.total.filter(|total| *total > findings.counted).map(|_| findings.counted);
            let chosen = self.place.narrowing.exactly.len();
            html.push_str(&self.aside(&FacetsTemplate { say: self.page.say, facets, orders, chosen, of_best }));
        }
        self.findings = Some(findings);
        html
    }

    /// The summary, when it says something else than before.
    fn summary(&mut self, findings: &Findings) -> String {
        if findings.summary.is_empty() {
            let begins = findings.count > 0 && !std::mem::replace(&mut self.is_waiting, true);
            return if begins { self.close() + &waiting(self.page.say) } else { String::new() };
        }
        let limits = |findings: &Findings| LimitsTold::of(findings, &self.place, self.page.say);
        let said = |findings: &Findings| (findings.whole_summary(), findings.notes.clone(), limits(findings));
        // Findings are told again when ranks or reasons change; the same summary twice would make the page jump.
        if self.findings.as_ref().map(said) == Some(said(findings)) {
            return String::new();
        }
        self.is_waiting = false;
        let is_empty = findings.count == 0;
        let all = (is_empty && !self.place.narrowing.exactly.is_empty()).then(|| self.place.widest());
        let notes = findings.notes.iter().map(|note| clean::line(note)).collect();
        let (limits, say) = (limits(findings), self.page.say);
        let html = cited(&markdown::to_html_below(&findings.summary), findings.count);
        let caveats = markdown::to_html_below(&findings.caveats);
        let rating = self.rating();
        self.aside(&Summary { html, caveats, say, limits, notes, is_empty, all, rating })
    }

    /// The thumbs under the answer, where this site counts them.
    fn rating(&self) -> Option<RatingForm> {
        let action = clean::href(&feedback_path(&self.place.path))?;
        self.page.brand.is_rated.then(|| RatingForm { action, question: self.place.question.clone() })
    }

    fn part(&mut self, part: Part) -> String {
        let Part::Data(data) = &part else {
            self.others.push(part);
            return String::new();
        };
        let mut html = String::new();
        let mut is_shown = true;
        for shown in item::views(&data.data, self.page.say) {
            match shown {
                ItemView::Item(item) => html.push_str(&self.item(&item)),
                ItemView::Json(_) => is_shown = false,
            }
        }
        if !is_shown {
            self.others.push(part);
        }
        html
    }

    fn item(&mut self, item: &item::Item) -> String {
        let mut html = String::new();
        if !self.is_listing {
            self.is_listing = true;
            let findings = self.findings.as_ref();
            let shown = findings.map_or(0, |findings| findings.count);
            let total = findings.and_then(|findings| findings.total);
            let total = total.filter(|total| *total > shown).map(grouped);
            html.push_str(&template::finish(&Results { say: self.page.say, from: self.shown + 1, shown, total }));
        }
        let reason = self.findings.as_ref().and_then(|findings| findings.items.get(self.shown)?.reason.as_ref());
        self.shown += 1;
        let applied = self.findings.as_ref().map(|findings| findings.applied.as_slice()).unwrap_or_default();
        let first = self.shown <= RESULTS_COUNTED_MAX;
        let counts_clicks = self.page.brand.is_rated && first;
        let marking = CardWords { words: &self.page.words, say: self.page.say, counts_clicks };
        html.push_str(&card(self.shown, item, reason, &self.place, applied, marking));
        html
    }

    fn ended(&mut self, ending: Ending) -> String {
        let mut html = String::new();
        if let Ending::Message(text) = &ending {
            self.words.push_str(text);
        }
        if self.findings.is_none() && !self.words.trim().is_empty() {
            let said = markdown::to_html_below(&self.words);
            let limits = LimitsTold::default();
            let (caveats, say) = (String::new(), self.page.say);
            let (notes, rating) = (Vec::new(), self.rating());
            let summary = Summary { html: said, caveats, say, limits, notes, is_empty: false, all: None, rating };
            html.push_str(&self.aside(&summary));
        }
        html.push_str(&self.close());
        if self.is_waiting {
            html.push_str(NOT_WAITING);
        }
        html.push_str(&self.more());
        let failure = failure(&ending, self.page.say);
        let Place { path, question, earlier, narrowing } = &self.place;
        let question = QuestionView::filters(&ending, path, question, earlier, narrowing, self.page.say);
        let refusal = match &ending {
            Ending::Refused(part) => Some(RefusalView::new(part, None, self.page.say)),
            _ => None,
        };
        html.push_str(&template::finish(&EndedTemplate {
            say: self.page.say,
            question,
            skip: self.place.decided(),
            refusal,
            failure,
        }));
        html
    }

    /// Something beside the list of results, which it closes.
    fn aside(&mut self, template: &impl Template) -> String {
        self.close() + &template::finish(template)
    }

    /// Ends the list of results, if it is open.
    fn close(&mut self) -> String {
        match std::mem::take(&mut self.is_listing) {
            true => "</ol></section>\n".to_owned(),
            false => String::new(),
        }
    }

    /// How to see more results, when there are more.
    fn more(&self) -> String {
        if !self.findings.as_ref().is_some_and(|findings| findings.more) {
            return String::new();
        }
        let wanted = (self.shown + RESULTS_STEP).min(RESULTS_SHOWN_MAX);
        let further = wanted > self.shown;
        // The anchor is the first new result, so that the reader goes on where the page ended.
        let url = format!("{}#result-{}", self.place.with_results(wanted), self.shown + 1);
        template::finish(&More { say: self.page.say, url: further.then_some(url) })
    }
}

/// A number for people: `1,161`.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut said = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            said.push(',');
        }
        said.push(digit);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let said: Vec<_> = [0, 999, 1_000, 12_345, 1_234_567].map(grouped).into();
        assert_eq!(said, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }
}
