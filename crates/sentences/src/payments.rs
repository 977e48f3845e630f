//! Every sentence of the page on which people pay, and of its script, with the values that it takes.

use fluent_bundle::FluentArgs;

use crate::sentences::{Sentences, sentences};

sentences! { PAYMENT_METHODS;
    /// “… on …”
    pay_price_on = "pay-price-on" (price: &str, networks: &str);
    /// “… or …”
    pay_either = "pay-either" (one: &str, other: &str);
    /// “Can be paid for another”
    pay_time_left = "pay-time-left" ();
    /// “Pay with a wallet”
    pay_with_wallet = "pay-with-wallet" ();
    /// “Your wallet shows what you sign, and asks you first. You sign that the …”
    pay_wallet_about = "pay-wallet-about" ();
    /// “Choose your wallet”
    pay_choose_wallet = "pay-choose-wallet" ();
    /// “Choose the network”
    pay_choose_network = "pay-choose-network" ();
    /// “Choose how much”
    pay_choose_amount = "pay-choose-amount" ();
    /// An amount, and how many questions it pays for.
    pay_amount = "pay-amount" (count: usize, price: &str, others: usize);
    /// “Wallets in this browser need the script of this page. Without it, the ways …”
    pay_needs_script = "pay-needs-script" ();
    /// “Looking for wallets in this browser …”
    pay_looking = "pay-looking" ();
    /// “There is no wallet in this browser. Open this page in the browser of a …”
    pay_no_wallet = "pay-no-wallet" ();
    /// “The wallet of this browser”
    pay_browser_wallet = "pay-browser-wallet" ();
    /// “… asks you whether this page may see your account.”
    pay_connecting = "pay-connecting" (wallet: &str);
    /// “… asks you whether to switch to ….”
    pay_switching = "pay-switching" (wallet: &str, network: &str);
    /// “… asks you whether to add ….”
    pay_adding = "pay-adding" (wallet: &str, network: &str);
    /// “Looking up what the account has …”
    pay_checking = "pay-checking" ();
    /// “… asks you to sign that … may go to …, until ….”
    pay_signing = "pay-signing" (wallet: &str, price: &str, payee: &str, time: &str);
    /// “Signed. The payment is being checked …”
    pay_sending = "pay-sending" ();
    /// “There is no word from … yet. It may be locked, or wait for you in a window …”
    pay_silent = "pay-silent" (wallet: &str);
    /// “Cancel”
    pay_cancel = "pay-cancel" ();
    /// “Try again”
    pay_try_again = "pay-try-again" ();
    /// “Send it again”
    pay_send_again = "pay-send-again" ();
    /// “You said no in the wallet. Nothing was signed, and nothing was paid.”
    pay_declined = "pay-declined" ();
    /// “You cancelled. If the wallet still asks, say no there: what is signed now …”
    pay_cancelled = "pay-cancelled" ();
    /// “The wallet has a question open already. Answer it there, then try again.”
    pay_busy = "pay-busy" ();
    /// “The wallet shows no account to this page. Unlock it, then try again.”
    pay_locked = "pay-locked" ();
    /// “The wallet is on another network. Switch it to …, then try again.”
    pay_wrong_network = "pay-wrong-network" (network: &str);
    /// “The wallet does not know …. Add it there, then try again.”
    pay_unknown_network = "pay-unknown-network" (network: &str);
    /// “The account has …, and … is asked for. Choose another account in the …”
    pay_too_little = "pay-too-little" (has: &str, price: &str);
    /// “The signature came when its time was over, and is not used. Nothing was …”
    pay_too_late = "pay-too-late" ();
    /// “The wallet could not do this. Nothing was paid.”
    pay_wallet_failed = "pay-wallet-failed" ();
    /// “The signed payment did not get here. Send it again: it is taken once at most.”
    pay_unsent = "pay-unsent" ();
    /// “This host did not take it just now. Send it again: it is taken once at most.”
    pay_unanswered = "pay-unanswered" ();
    /// Why a payment was not taken, by its code.
    pay_refused = "pay-refused" (code: &str);
    /// “Paid. Here comes the answer …”
    pay_paid_now = "pay-paid-now" ();
    /// “Reserved. Here comes the answer, and the money is taken when it is complete …”
    pay_reserved_now = "pay-reserved-now" ();
    /// “It was paid already, in another tab or window. There is nothing more to pay.”
    pay_paid_elsewhere = "pay-paid-elsewhere" ();
    /// “A payment was sent in another tab or window, and is being confirmed. Please …”
    pay_pending_elsewhere = "pay-pending-elsewhere" ();
    /// “The time in which this could be paid is over. Nothing was paid: ask again …”
    pay_over = "pay-over" ();
    /// “Ask again”
    pay_ask_again = "pay-ask-again" ();
    /// “Pay with a phone”
    pay_with_phone = "pay-with-phone" ();
    /// “Scan this with a wallet app, or with the camera and open it in the browser …”
    pay_phone_about = "pay-phone-about" ();
    /// “QR code with the address of this page”
    pay_qr = "pay-qr" ();
    /// “Pay with a program”
    pay_by_program = "pay-by-program" ();
    /// “Your credit”
    pay_credit_left = "pay-credit-left" ();
    /// “Pay by card”
    pay_with_card = "pay-with-card" ();
    /// “Pay … by card”
    pay_by_card = "pay-by-card" (price: &str);
    /// “You pay on a page of our payment provider, and come back here. This site …”
    pay_card_about = "pay-card-about" ();
    /// The same, where it is taken once the answer is complete.
    pay_card_after = "pay-card-after" ();
    /// “You began to pay by card, and nothing was paid there so far.”
    pay_card_begun = "pay-card-begun" ();
    /// “Go on to the card payment”
    pay_card_on = "pay-card-on" ();
}
