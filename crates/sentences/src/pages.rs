//! Every sentence of the host's pages with the values that it takes.

use fluent_bundle::FluentArgs;

use crate::sentences::{Sentences, sentences};

sentences! { PAGE_METHODS;
    /// What a box's button says.
    page_ask = "page-ask" ();
    /// What the button of a search says.
    page_search = "page-search" ();
    /// What a box says before anything is written.
    page_ask_agent = "page-ask-agent" (name: &str);
    /// What the box of the front page says.
    page_ask_site = "page-ask-site" (name: &str);
    /// The choice of an agent beside the box.
    page_whom_to_ask = "page-whom-to-ask" ();
    /// The label of a message.
    page_your_message = "page-your-message" (name: &str);
    /// The list of questions to try.
    page_examples = "page-examples" ();
    /// Before an example of a question.
    page_try_it = "page-try-it" ();
    /// The list of agents.
    page_agents_here = "page-agents-here" ();
    /// There is no agent.
    page_no_agents = "page-no-agents" ();
    /// The link to the front page.
    page_all_agents = "page-all-agents" ();
    /// The link to the agents before these.
    page_previous_agents = "page-previous-agents" ();
    /// The link to the agents behind these.
    page_more_agents = "page-more-agents" ();
    /// The part of a page that is about protocols.
    page_for_developers = "page-for-developers" ();
    /// What that part holds.
    page_developers_lead = "page-developers-lead" ();
    /// About an agent.
    page_about_agent = "page-about-agent" (name: &str);
    /// The conversation with an agent.
    page_conversation_with = "page-conversation-with" (name: &str);
    /// The button that adds files.
    page_add_files = "page-add-files" ();
    /// The files that go with a message.
    page_files_to_send = "page-files-to-send" ();
    /// The button that stops an answer.
    page_stop = "page-stop" ();
    /// The button that begins anew.
    page_new_conversation = "page-new-conversation" ();
    /// Before the name of who is signed in.
    page_signed_in_as = "page-signed-in-as" ();
    /// The link that signs in.
    page_sign_in = "page-sign-in" ();
    /// The button that signs out.
    page_sign_out = "page-sign-out" ();
    /// The link to the manual.
    page_manual = "page-manual" ();
    /// The link to who is responsible.
    page_imprint = "page-imprint" ();
    /// The link to what becomes of personal data.
    page_privacy = "page-privacy" ();
    /// What a page is made with.
    page_made_with = "page-made-with" (name: &str);
    /// Over a question.
    page_you_asked = "page-you-asked" ();
    /// What came with a question.
    page_came_along = "page-came-along" (count: &usize);
    /// The heading of an answer without a question.
    page_answer_of = "page-answer-of" (name: &str);
    /// The label of the box under an answer.
    page_follow_up = "page-follow-up" ();
    /// The label of the box where there was no answer.
    page_ask_again = "page-ask-again" ();
    /// The same without a conversation.
    page_ask_else = "page-ask-else" ();
    /// An answer did not come to its end.
    page_answer_cut = "page-answer-cut" ();
    /// An answer was cancelled.
    page_cancelled = "page-cancelled" ();
    /// The link that goes on in the chat.
    page_in_chat = "page-in-chat" ();
    /// An agent asks back.
    page_question_back = "page-question-back" ();
    /// The button that answers questions.
    page_answer_it = "page-answer-it" ();
    /// The link that asks for everything at once.
    page_skip = "page-skip" ();
    /// The heading over results.
    page_results = "page-results" ();
    /// How many results there are.
    page_results_count = "page-results-count" (count: &usize);
    /// How many results are shown of all.
    page_results_of = "page-results-of" (shown: &usize, total: &str);
    /// The fold with results that were told.
    page_results_detail = "page-results-detail" ();
    /// The heading over links.
    page_links = "page-links" ();
    /// The heading over files.
    page_files = "page-files" ();
    /// The fold with data.
    page_data = "page-data" ();
    /// The heading over calls of tools.
    page_steps = "page-steps" ();
    /// A call that is not at its end.
    page_step_running = "page-step-running" ();
    /// A call that is at its end.
    page_step_done = "page-step-done" ();
    /// A call that failed.
    page_step_failed = "page-step-failed" ();
    /// The link that begins anew.
    page_new_search = "page-new-search" ();
    /// The list of limits that were understood.
    page_understood = "page-understood" ();
    /// The link that takes a limit away.
    page_remove = "page-remove" (what: &str);
    /// The link that takes all of them away.
    page_remove_all = "page-remove-all" ();
    /// A summary is waited for.
    page_reading = "page-reading" ();
    /// Before the question as it was searched for.
    page_searched_for = "page-searched-for" ();
    /// The link that searches without earlier questions.
    page_last_words = "page-last-words" ();
    /// Before limits that were not understood.
    page_not_checked = "page-not-checked" ();
    /// Why they were not.
    page_not_checked_why = "page-not-checked-why" ();
    /// Items that don't state what a limit asks about.
    page_left_out_short = "page-left-out-short" (count: &usize, limit: &str);
    /// The fold with what one should know about an answer.
    page_about_answer = "page-about-answer" ();
    /// Nothing was found.
    page_nothing_found = "page-nothing-found" ();
    /// The link that searches without what was chosen.
    page_search_wider = "page-search-wider" ();
    /// What narrows results down.
    page_narrow_down = "page-narrow-down" ();
    /// Before the orders of results.
    page_sort_by = "page-sort-by" ();
    /// By how well they fit.
    page_sort_best = "page-sort-best" ();
    /// The cheapest first.
    page_sort_cheapest = "page-sort-cheapest" ();
    /// The dearest first.
    page_sort_dearest = "page-sort-dearest" ();
    /// The best rated first.
    page_sort_rating = "page-sort-rating" ();
    /// The newest first.
    page_sort_newest = "page-sort-newest" ();
    /// The earliest first.
    page_sort_earliest = "page-sort-earliest" ();
    /// How many values were chosen.
    page_chosen_count = "page-chosen-count" (count: &usize);
    /// How many values are folded.
    page_folded_more = "page-folded-more" (count: &usize);
    /// In how many results values were counted.
    page_counted_in = "page-counted-in" (count: &usize);
    /// The link to more results.
    page_show_more = "page-show-more" ();
    /// There are no more results on a page.
    page_these_are_best = "page-these-are-best" ();
    /// The link that talks about results.
    page_talk_about = "page-talk-about" ();
    /// The fold with results as text.
    page_as_text = "page-as-text" ();
    /// Something failed.
    page_did_not_work = "page-did-not-work" ();
    /// The button that asks again.
    page_try_again = "page-try-again" ();
    /// Before entries of an item that hold a word of the question.
    page_with_entries = "page-with-entries" ();
    /// A yes.
    page_yes = "page-yes" ();
    /// A no.
    page_no = "page-no" ();
    /// The button that copies.
    page_copy = "page-copy" ();
    /// It was copied.
    page_copied = "page-copied" ();
    /// The button that copies the address of an answer.
    page_share = "page-share" ();
    /// A search is under way.
    page_searching = "page-searching" ();
    /// An answer is under way.
    page_answering = "page-answering" ();
    /// An answer was stopped.
    page_stopped = "page-stopped" ();
    /// An answer was empty.
    page_no_reply = "page-no-reply" ();
    /// An agent can't be reached.
    page_away = "page-away" ();
    /// An answer broke off.
    page_broken = "page-broken" ();
    /// The link to the page before.
    page_previous_page = "page-previous-page" ();
    /// The link to the page behind.
    page_next_page = "page-next-page" ();
    /// The button that takes a file out of a message.
    page_leave_out = "page-leave-out" (name: &str);
    /// A message has as many files as it may.
    page_files_max = "page-files-max" (count: &str);
    /// A file is more than a message may have.
    page_file_too_large = "page-file-too-large" (name: &str, size: &str);
    /// A file without a name.
    page_file = "page-file" ();
    /// An answer did not come to its end, and why.
    page_answer_cut_why = "page-answer-cut-why" (why: &str);
    /// Before the thumbs under an answer.
    page_was_helpful = "page-was-helpful" ();
    /// The thumb up.
    page_helpful = "page-helpful" ();
    /// The thumb down.
    page_not_helpful = "page-not-helpful" ();
    /// A thumb was counted.
    page_thanks = "page-thanks" ();
    /// A thumb for a question that nobody counts any more.
    page_unrated = "page-unrated" ();
    /// More thumbs than are counted at once.
    page_rate_later = "page-rate-later" ();
    /// Over the questions that were asked with this browser.
    page_recent = "page-recent" ();
    /// The button that forgets them.
    page_clear = "page-clear" ();
    /// The button that copies what a result says, and where it is from.
    page_copy_quote = "page-copy-quote" ();
    /// The choice of all agents beside the box.
    page_all_of_them = "page-all-of-them" ();
    /// The list of the agents that were asked.
    page_who_was_asked = "page-who-was-asked" ();
    /// The link that asks one of several agents alone.
    page_go_on_with = "page-go-on-with" (name: &str);
    /// One of several agents asks back.
    page_asks_first = "page-asks-first" (name: &str);
    /// One of several agents wants something first.
    page_needs_own_question = "page-needs-own-question" (name: &str);
    /// One of several agents takes too long.
    page_too_slow = "page-too-slow" (name: &str);
    /// Values of a list, and how many more there are.
    page_and_more = "page-and-more" (values: &str, count: &usize);
    /// A mean of ratings.
    page_rated = "page-rated" (mean: &str, count: &str);
    /// The label of the box in which a question of an agent is answered.
    page_your_answer = "page-your-answer" ();
}
