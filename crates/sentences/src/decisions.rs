//! Every sentence of the pages on which people decide: consents, payments, refusals and signing in, with the values that it takes.

use fluent_bundle::FluentArgs;

use crate::sentences::{Sentences, sentences};

sentences! { DECISION_METHODS;
    /// “… asks for your agreement”
    decision_asks_agreement = "decision-asks-agreement" (name: &str);
    /// “Do you agree?”
    decision_do_you_agree = "decision-do-you-agree" ();
    /// “What you agree to”
    decision_what_you_agree_to = "decision-what-you-agree-to" ();
    /// “Who asks”
    decision_who_asks = "decision-who-asks" ();
    /// “For how long”
    decision_how_long = "decision-how-long" ();
    /// “No end date”
    decision_no_end = "decision-no-end" ();
    /// “Only the person who asked can decide.”
    decision_only_who_asked = "decision-only-who-asked" ();
    /// “Sign in as that person first.”
    decision_sign_in_first = "decision-sign-in-first" ();
    /// “You are signed in as ….”
    decision_signed_in_as = "decision-signed-in-as" (name: &str);
    /// “I agree”
    decision_agree = "decision-agree" ();
    /// “No, I don’t”
    decision_disagree = "decision-disagree" ();
    /// “If you agree, you go back to …, which answers your question. If you don’t, nothing …”
    decision_after_consent = "decision-after-consent" (name: &str, time: &str);
    /// “These terms are too long to be shown here, so you can’t agree to them on this page.”
    decision_terms_too_long = "decision-terms-too-long" ();
    /// “… asks for a payment”
    decision_asks_payment = "decision-asks-payment" (name: &str);
    /// “This answer has a price”
    decision_has_price = "decision-has-price" ();
    /// “This answer costs …”
    decision_costs = "decision-costs" (price: &str);
    /// “That payment was not taken.”
    decision_not_taken = "decision-not-taken" ();
    /// “You were not charged, and can try again.”
    decision_not_charged = "decision-not-charged" ();
    /// “What it costs”
    decision_what_it_costs = "decision-what-it-costs" ();
    /// “Price”
    decision_price = "decision-price" ();
    /// “As the details below say”
    decision_price_below = "decision-price-below" ();
    /// “Who gets it”
    decision_who_gets_it = "decision-who-gets-it" ();
    /// “What it pays for”
    decision_pays_for = "decision-pays-for" ();
    /// “When it is taken”
    decision_when_taken = "decision-when-taken" ();
    /// “Before the answer”
    decision_before_answer = "decision-before-answer" ();
    /// “When the answer is complete; until then it is only reserved”
    decision_when_complete = "decision-when-complete" ();
    /// “How to pay”
    decision_how_to_pay = "decision-how-to-pay" ();
    /// “Give this address to a program that pays with x402, such as a wallet or an assistant of …”
    decision_pay_by_program = "decision-pay-by-program" ();
    /// “I have a signed payment to paste”
    decision_paste = "decision-paste" ();
    /// “The signed payment, as your program wrote it”
    decision_signed_payment = "decision-signed-payment" ();
    /// “JSON, or the same in base64 as an X-PAYMENT header has it.”
    decision_payment_form = "decision-payment-form" ();
    /// “Pay …”
    decision_pay = "decision-pay" (price: &str);
    /// “This host can’t take this payment on a page. The program that you asked with may be …”
    decision_cannot_pay_here = "decision-cannot-pay-here" ();
    /// “…: the details”
    decision_way_details = "decision-way-details" (way: &str);
    /// “No, thanks”
    decision_no_thanks = "decision-no-thanks" ();
    /// “Once the payment is checked, … answers your question. You are charged when the answer is complete, …”
    decision_after_check = "decision-after-check" (name: &str, time: &str);
    /// “Once the payment has arrived, … answers your question. You are charged once at most, …”
    decision_after_payment = "decision-after-payment" (name: &str, time: &str);
    /// “The answer to this one question”
    decision_covers_turn = "decision-covers-turn" ();
    /// “All your questions for …”
    decision_covers_period = "decision-covers-period" (time: &str);
    /// “Your questions until it is used up: what you pay above the price stays as credit”
    decision_covers_credit = "decision-covers-credit" ();
    /// “You agreed”
    decision_agreed = "decision-agreed" ();
    /// “… can answer your question now.”
    decision_can_answer = "decision-can-answer" (name: &str);
    /// “Paid”
    decision_paid = "decision-paid" ();
    /// “The payment arrived.”
    decision_arrived = "decision-arrived" ();
    /// “Reserved”
    decision_reserved = "decision-reserved" ();
    /// “The payment is checked, and nothing is taken yet: it is taken when the answer is complete.”
    decision_taken_later = "decision-taken-later" ();
    /// “Get the answer”
    decision_get_answer = "decision-get-answer" ();
    /// “Go back to where you asked, and send your question again.”
    decision_go_back = "decision-go-back" ();
    /// “You said no”
    decision_said_no = "decision-said-no" ();
    /// “Nothing was agreed to, and your question was not answered.”
    decision_nothing_agreed = "decision-nothing-agreed" ();
    /// “Nothing was paid, and your question was not answered.”
    decision_nothing_paid = "decision-nothing-paid" ();
    /// “If you change your mind, ask … again.”
    decision_changed_mind = "decision-changed-mind" (name: &str);
    /// “Back to …”
    decision_back_to = "decision-back-to" (name: &str);
    /// “Your payment is being confirmed”
    decision_being_confirmed = "decision-being-confirmed" ();
    /// “It was sent, and there is no word yet whether it arrived. Please don’t pay again: this …”
    decision_no_word_yet = "decision-no-word-yet" ();
    /// “Look again”
    decision_look_again = "decision-look-again" ();
    /// “The terms”
    decision_the_terms = "decision-the-terms" ();
    /// “You have asked as much as one person may within an hour. Please try again later.”
    decision_too_many_messages = "decision-too-many-messages" ();
    /// “Taken from your credit without asking again”
    decision_auto_deduct = "decision-auto-deduct" ();
    /// “At most for each question, in US dollars”
    decision_per_turn_max = "decision-per-turn-max" ();
    /// “At most in each period, in US dollars”
    decision_per_period_max = "decision-per-period-max" ();
    /// “Paid to”
    decision_pay_to = "decision-pay-to" ();
    /// “Amount, in the smallest unit”
    decision_amount = "decision-amount" ();
    /// “Seconds in which it must be settled”
    decision_settled_within = "decision-settled-within" ();
    /// A number of seconds.
    span_seconds = "span-seconds" (count: u64);
    /// A number of minutes.
    span_minutes = "span-minutes" (count: u64);
    /// A number of hours.
    span_hours = "span-hours" (count: u64);
    /// A number of days.
    span_days = "span-days" (count: u64);
    /// When a refusal may be over.
    refusal_try_again_in = "refusal-try-again-in" (time: &str);
    /// A caller asks faster than the host allows.
    refusal_too_fast = "refusal-too-fast" ();
    /// The heading over proofs that are taken.
    refusal_credentials = "refusal-credentials" ();
    /// The heading over what would be right.
    refusal_right = "refusal-right" ();
    /// A refusal that says nothing itself.
    refusal_declined = "refusal-declined" ();
    /// What a kind of refusal is called, by its name in Mentionable.
    refusal_title = "refusal-title" (kind: &str);
    /// The button of a kind of refusal.
    refusal_action = "refusal-action" (kind: &str);
    /// The title of the page that somebody is signed in.
    account_signed_in = "account-signed-in" ();
    /// The title of the page that nobody is any more.
    account_signed_out = "account-signed-out" ();
    /// That somebody is signed out here.
    account_signed_out_here = "account-signed-out-here" ();
    /// The link that signs in once more.
    account_sign_in_again = "account-sign-in-again" ();
    /// The link that signs out of the provider.
    account_sign_out_there = "account-sign-out-there" ();
    /// What a failure to sign in is called, by its name.
    account_failure_title = "account-failure-title" (kind: &str);
    /// Why somebody is not signed in, by the name of the failure.
    account_failure = "account-failure" (kind: &str);
    /// The title of the page of what somebody agreed to and paid for, and the link to it.
    held_title = "held-title" ();
    /// That a browser without an account keeps them.
    held_by_browser = "held-by-browser" ();
    /// That nobody is known here.
    held_by_nobody = "held-by-nobody" ();
    /// There is nothing to show.
    held_nothing = "held-nothing" ();
    /// The heading over consents.
    held_consents = "held-consents" ();
    /// The heading over payments.
    held_payments = "held-payments" ();
    /// The heading over what is left of what was paid ahead.
    held_credit = "held-credit" ();
    /// Before the day on which somebody agreed.
    held_given_on = "held-given-on" ();
    /// Before the day on which somebody paid.
    held_paid_on = "held-paid-on" ();
    /// Before the day on which it ends.
    held_until = "held-until" ();
    /// Before where it stands.
    held_status = "held-status" ();
    /// Where it stands, by name.
    held_state = "held-state" (state: &str);
    /// Before the transaction of a payment.
    held_transaction = "held-transaction" ();
    /// The button that takes a consent back.
    held_withdraw = "held-withdraw" ();
    /// The button that takes all of them back.
    held_withdraw_all = "held-withdraw-all" ();
    /// The link to the same as data.
    held_export = "held-export" ();
    /// That only the newest are listed.
    held_newest = "held-newest" (count: &usize);
    /// The button that ends all sessions of a person.
    held_sign_out_everywhere = "held-sign-out-everywhere" ();
    /// What went wrong, in a few words, by its code.
    page_failure_title = "page-failure-title" (code: &str);
    /// The same in a sentence, for the codes that have one; else that too much is going on.
    page_failure_message = "page-failure-message" (code: &str);
    /// “Agree”, as a button that opens the page of a consent
    decision_open_consent = "decision-open-consent" ();
    /// “Pay”, as a button that opens the page of a payment
    decision_open_payment = "decision-open-payment" ();
    /// “Sign in”, as a button that opens the page for that
    decision_open_sign_in = "decision-open-sign-in" ();
    /// That what was asked in a room is answered to one person alone.
    chat_told_directly = "chat-told-directly" ();
    /// That an encrypted room can't be read.
    chat_encrypted = "chat-encrypted" ();
    /// That a file of an answer is behind a link, and until when.
    file_by_link = "file-by-link" (file: &str, size: &str, url: &str, until: &str);
    /// That a file of an answer could not be sent.
    file_not_sent = "file-not-sent" (file: &str, size: &str);
    /// That so many more files of an answer were not sent.
    files_not_sent = "files-not-sent" (count: &usize);
    /// That a file that somebody sent is too large to be taken.
    file_not_taken = "file-not-taken" (file: &str, size: &str, max: &str);
}
