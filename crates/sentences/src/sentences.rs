//! Every sentence with the values that it takes.

use fluent_bundle::FluentArgs;
use forecourt_core::Language;

use crate::say::message;
use crate::spoken::SpokenLanguage;

/// The host's own sentences in one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentences(SpokenLanguage);

impl Sentences {
    /// The sentences of a language.
    pub fn in_language(language: SpokenLanguage) -> Self {
        Self(language)
    }

    /// Those for a caller who asked for `wanted`, from an agent of the language `own`.
    pub fn for_caller(wanted: Option<&Language>, own: &Language) -> Self {
        Self(SpokenLanguage::for_caller(wanted, own))
    }

    /// The language that they are in.
    pub fn language(self) -> SpokenLanguage {
        self.0
    }

    /// The sentence of this id. Where a file has none of it, which its test does not let pass, the id.
    pub(crate) fn say(self, id: &str, values: &FluentArgs<'_>) -> String {
        // A sentence never fails: the id in an answer is wrong, and no answer would be worse.
        message(self.0, id, values).unwrap_or_else(|| id.to_owned())
    }
}

/// Methods that say a message of the data each, and the list of them, which tests compare with the data.
macro_rules! sentences {
    ($methods:ident; $($(#[$doc:meta])* $name:ident = $id:literal ($($value:ident: $kind:ty),*);)*) => {
        impl Sentences {
            $(
                $(#[$doc])*
                #[allow(clippy::too_many_arguments, reason = "a sentence takes as many values as it has")]
                pub fn $name(self, $($value: $kind),*) -> String {
                    #[allow(unused_mut, reason = "sentences without values")]
                    let mut values = FluentArgs::new();
                    $(values.set(stringify!($value), $value);)*
                    self.say($id, &values)
                }
            )*
        }

        /// The ids that methods say, with their values.
        #[cfg(test)]
        pub(crate) const $methods: &[(&str, &[&str])] = &[$(($id, &[$(stringify!($value)),*])),*];
    };
}

pub(crate) use sentences;

sentences! { METHODS;
    /// That there are no sentences in a language that was asked for.
    language_unavailable = "language-unavailable" (language: &str);
    /// What items are called where nothing better is known.
    items_generic = "items-generic" ();
    /// Who this is.
    intro_name = "intro-name" (name: &str);
    /// What stands before examples of questions.
    intro_examples = "intro-examples" ();
    /// How limits are said, with examples.
    intro_limits = "intro-limits" (limits: &str);
    /// An example of a limit on time.
    intro_limit_time = "intro-limit-time" ();
    /// An example of something to leave out.
    intro_limit_without = "intro-limit-without" ();
    /// An example of a diet.
    intro_limit_diet = "intro-limit-diet" ();
    /// An example of a limit on the year.
    intro_limit_year = "intro-limit-year" ();
    /// How to go on, and how many items there are.
    intro_more = "intro-more" (items: &str, count: u64);
    /// Words in quotation marks.
    quoted = "quoted" (text: &str);

    /// Which items of an answer follow, from the second page on.
    page_of_items = "page-of-items" (items: &str, first: usize, last: usize);
    /// That one item does not keep a limit, where somebody asked whether it does.
    answer_is_no = "answer-is-no" (item: &str, limit: &str);
    /// There is one item.
    one_match = "one-match" (best: &str);
    /// There are several items, and these are all.
    several_match = "several-match" (count: usize, items: &str, best: &str);
    /// There are more items than are shown.
    best_match = "best-match" (best: &str);
    /// What has most of what was asked for, where nothing is known to have all of it.
    closest_match = "closest-match" (best: &str);
    /// An item with how long it takes.
    with_time = "with-time" (item: &str, time: &str);
    /// The limits that hold for every item.
    limits_applied = "limits-applied" (limits: &str);
    /// Limits by name that no item could pass.
    limits_unknown = "limits-unknown" (limits: &str);
    /// Limits that were not understood.
    not_understood = "not-understood" (limits: &str);
    /// That a broader thing is shown than the one that was asked for.
    broader_shown = "broader-shown" (asked: &str, broader: &str);
    /// That nothing of what is shown says that it has something.
    says_nothing_of = "says-nothing-of" (feature: &str);
    /// What was looked for instead of a word that no item has.
    searched_instead = "searched-instead" (word: &str, written: &str);
    /// Items that can't be judged by a limit.
    left_out = "left-out" (count: usize, limit: &str);
    /// Two limits that no item can keep.
    contradiction = "contradiction" (first: &str, second: &str);
    /// What is found without a limit.
    reading_without = "reading-without" (limit: &str, best: &str);
    /// How to see more.
    say_more = "say-more" ();
    /// Entries of an item that the question mentions.
    item_mentions = "item-mentions" (entries: &str);
    /// Limits that an item keeps.
    item_fits = "item-fits" (limits: &str);
    /// A limit that an item keeps by what it is called.
    promised_by_name = "promised-by-name" (limit: &str);
    /// A limit that an item keeps by what is said of it.
    promised_by_source = "promised-by-source" (limit: &str);
    /// Why an item is here.
    item_why = "item-why" (why: &str);

    /// There is nothing behind what was shown.
    nothing_further = "nothing-further" (items: &str);
    /// Nothing was found.
    nothing_found = "nothing-found" (items: &str);
    /// What fits too and can't be had.
    sold_out_beside = "sold-out-beside" (items: &str);
    /// All that was found is sold out.
    nothing_available = "nothing-available" (items: &str);
    /// No word of the question occurs.
    nothing_words = "nothing-words" ();
    /// No single limit is to blame.
    nothing_single_limit = "nothing-single-limit" ();
    /// What stands before what is found with one limit less.
    nothing_relaxed = "nothing-relaxed" ();
    /// Nothing is about what was asked.
    nothing_about = "nothing-about" ();

    /// A question back. `question` is one of [`Sentences::which`].
    ask_which = "ask-which" (count: usize, items: &str, question: &str, options: &str);

    /// The index failed.
    search_failed = "search-failed" ();
    /// The index is not filled yet.
    still_reading = "still-reading" (items: &str);
    /// A model ranked some items only.
    model_not_all_ranked = "model-not-all-ranked" ();
    /// A model did not word the question anew.
    model_question_as_it_stands = "model-question-as-it-stands" ();
    /// A model did not finish its summary.
    model_summary_cut = "model-summary-cut" ();
    /// A model's summary cites nothing.
    model_summary_groundless = "model-summary-groundless" ();

    /// For how many people.
    serves = "serves" (count: &str);
    /// The price in a sale, and that of before.
    reduced = "reduced" (price: &str, usual: &str);
    /// A number of minutes.
    minutes = "minutes" (count: u64);
    /// A number of hours.
    hours = "hours" (count: u64);
    /// A number of days.
    days = "days" (count: u64);
    /// An item doesn't state something. `what` is one of [`Sentences::fact_name`].
    fact_unstated = "fact-unstated" (item: &str, what: &str);
    /// An item states something in its text alone.
    fact_quoted = "fact-quoted" (item: &str, what: &str, quote: &str);
    /// Other items of the same name.
    fact_others = "fact-others" (others: &str);
    /// An item lists what was asked about.
    contains_yes = "contains-yes" (item: &str, entries: &str);
    /// An item lists `count` ingredients, none of which is what was asked about.
    contains_no = "contains-no" (item: &str, what: &str, count: usize);
    /// An item states that it suits a diet.
    suits_yes = "suits-yes" (item: &str, diet: &str);
    /// An item lists what a diet leaves out.
    suits_no = "suits-no" (item: &str, diet: &str, entries: &str);
    /// An item says nothing by which a diet could be judged.
    suits_unstated = "suits-unstated" (item: &str, diet: &str);
    /// An item lists `count` ingredients, none of which a diet is known to leave out.
    suits_unlisted = "suits-unlisted" (item: &str, diet: &str, count: usize);
    /// A rating on its scale.
    rating_of = "rating-of" (value: &str, best: &str);
    /// How many ratings there are.
    rating_count = "rating-count" (count: u64);

    /// A section may not answer the question.
    document_closest = "document-closest" ();
    /// Where a passage is from.
    document_source = "document-source" (section: &str);
    /// A passage goes on elsewhere.
    document_continue = "document-continue" (link: &str);
    /// The sections beside one.
    document_near = "document-near" (sections: &str);
    /// Further sections that fit.
    document_others = "document-others" (sections: &str);

    /// A field of a request is more than is read.
    failure_too_much = "failure-too-much" (field: &str, bound: &str);
    /// A request is more than is read.
    failure_too_large = "failure-too-large" (bytes: usize);
    /// There is no such format.
    failure_format = "failure-format" (asked: &str);
    /// There is no such mode.
    failure_mode = "failure-mode" (asked: &str);
    /// There is no such site.
    failure_no_site = "failure-no-site" (named: &str, known: &str);
    /// There is no such agent.
    failure_no_agent = "failure-no-agent" (known: &str);
    /// There is no such promise of an answer.
    failure_no_promise = "failure-no-promise" ();
    /// The host has too much to do.
    failure_busy = "failure-busy" ();
    /// The host failed.
    failure_internal = "failure-internal" ();
    /// A question was given up.
    failure_cancelled = "failure-cancelled" ();
    /// There are no results.
    results_none = "results-none" ();
    /// How many results there are, and all of their names.
    results_named = "results-named" (count: usize, names: &str);
    /// How many results there are, and some of their names.
    results_such_as = "results-such-as" (count: usize, names: &str);
    /// A result that has no name.
    result_unnamed = "result-unnamed" ();
    /// An answer takes longer than whoever asked may expect, and follows.
    answer_takes_longer = "answer-takes-longer" ();
    /// The link to an answer that is too long for where it is told.
    answer_whole = "answer-whole" ();
}
