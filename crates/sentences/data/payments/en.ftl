# What the page says on which people pay, and its script. Values are plain text.

pay-price-on = { $price } on { $networks }
pay-either = { $one } or { $other }
pay-time-left = Can be paid for another
pay-with-wallet = Pay with a wallet
pay-wallet-about = Your wallet shows what you sign, and asks you first. You sign that the price may go to this account, once, and nothing else. Signing costs no fee:
pay-choose-wallet = Choose your wallet
pay-choose-network = Choose the network
pay-choose-amount = Choose how much
pay-amount = { $count ->
    [one] { $price }: this question
   *[other] { $price }: this question and { $others } more
}
pay-needs-script = Wallets in this browser need the script of this page. Without it, the ways below are open to you.
pay-looking = Looking for wallets in this browser …
pay-no-wallet = There is no wallet in this browser. Open this page in the browser of a wallet app, on your phone for example.
pay-browser-wallet = The wallet of this browser
pay-connecting = { $wallet } asks you whether this page may see your account.
pay-switching = { $wallet } asks you whether to switch to { $network }.
pay-adding = { $wallet } asks you whether to add { $network }.
pay-checking = Looking up what the account has …
pay-signing = { $wallet } asks you to sign that { $price } may go to { $payee }, until { $time }.
pay-sending = Signed. The payment is being checked …
pay-silent = There is no word from { $wallet } yet. It may be locked, or wait for you in a window of its own; with a hardware wallet this takes minutes. This page waits.
pay-cancel = Cancel
pay-try-again = Try again
pay-send-again = Send it again
pay-declined = You said no in the wallet. Nothing was signed, and nothing was paid.
pay-cancelled = You cancelled. If the wallet still asks, say no there: what is signed now is not used.
pay-busy = The wallet has a question open already. Answer it there, then try again.
pay-locked = The wallet shows no account to this page. Unlock it, then try again.
pay-wrong-network = The wallet is on another network. Switch it to { $network }, then try again.
pay-unknown-network = The wallet does not know { $network }. Add it there, then try again.
pay-too-little = The account has { $has }, and { $price } is asked for. Choose another account in the wallet, or top it up. Nothing was paid.
pay-too-late = The signature came when its time was over, and is not used. Nothing was paid: sign anew.
pay-wallet-failed = The wallet could not do this. Nothing was paid.
pay-unsent = The signed payment did not get here. Send it again: it is taken once at most.
pay-unanswered = This host did not take it just now. Send it again: it is taken once at most.
pay-refused = { $code ->
    [INSUFFICIENT_FUNDS] The account has too little of the token. Nothing was taken.
    [INVALID_SIGNATURE] The signature is not that of the account. Nothing was taken.
    [EXPIRED_PAYMENT] The time of the signature is over. Nothing was taken: sign anew.
    [DUPLICATE_NONCE] This payment was used before. Nothing was taken now.
   *[other] The payment could not be checked. Nothing was taken.
}
pay-paid-now = Paid. Here comes the answer …
pay-reserved-now = Reserved. Here comes the answer, and the money is taken when it is complete …
pay-paid-elsewhere = It was paid already, in another tab or window. There is nothing more to pay.
pay-pending-elsewhere = A payment was sent in another tab or window, and is being confirmed. Please don’t pay again.
pay-over = The time in which this could be paid is over. Nothing was paid: ask again for a fresh offer.
pay-ask-again = Ask again
pay-with-phone = Pay with a phone
pay-phone-about = Scan this with a wallet app, or with the camera and open it in the browser of a wallet app. It is the address of this page, and whoever has it can pay here.
pay-qr = QR code with the address of this page
pay-by-program = Pay with a program
pay-credit-left = Your credit
pay-with-card = Pay by card
pay-by-card = Pay { $price } by card
pay-card-about = You pay on a page of our payment provider, and come back here. This site never sees your card.
pay-card-after = You pay on a page of our payment provider, and come back here. This site never sees your card. The amount is reserved on it, and taken once the answer is complete.
pay-card-begun = You began to pay by card, and nothing was paid there so far.
pay-card-on = Go on to the card payment

# Why a mandate of AP2 was refused, by its code.

payment-fault-mandate-unreadable = This is no payment mandate of AP2 that can be read.
payment-fault-authorization-missing = The payment mandate is not signed by its payer.
payment-fault-authorization-unreadable = The signature of the payment mandate can’t be read.
payment-fault-issuer-unknown = Whoever vouches for the payer is not trusted here.
payment-fault-key-unknown = The payment mandate is signed with a key that its issuer does not have.
payment-fault-keys-unavailable = The keys of whoever vouches for the payer can’t be had at the moment. Nothing was taken: try again in a minute.
payment-fault-algorithm-refused = The payment mandate is signed with an algorithm that is not taken here.
payment-fault-issuer-signature = The credential of the payer is not signed by its issuer.
payment-fault-credential-expired = The credential or the signature of the payer has expired. Sign a new mandate.
payment-fault-credential-early = The credential or the signature of the payer is not valid yet.
payment-fault-credential-status = The credential of the payer can be revoked, and whether it was can’t be found out here. Show one without `status`.
payment-fault-holder-missing = The credential of the payer was not shown with the payer’s own key.
payment-fault-holder-signature = The payment mandate is not signed by its payer’s key.
payment-fault-credential-swapped = The payer signed for another credential than came along.
payment-fault-mandate-audience = The payment mandate was signed for somebody else.
payment-fault-mandate-nonce = The signature is not for this cart: its nonce must be the cart’s id.
payment-fault-mandate-time = The payment mandate was signed at another time than this cart was offered. Sign a new one.
payment-fault-cart-unsigned = The payer’s signature does not cover this cart.
payment-fault-payment-unsigned = The payer’s signature does not cover this payment mandate.
payment-fault-signed-unknown = The payer’s signature covers something that did not come along.
payment-fault-other-cart = The payment mandate is for another cart.
payment-fault-cart-altered = The cart that came along is not the one that was offered.
payment-fault-cart-expired = The time in which this cart could be paid is over. Ask again for a new one.
payment-fault-cart-outdated = The cart was made for another way to settle than is used here now. Ask again for a new one.
payment-fault-mandate-amount = The payment mandate is of another amount than the cart.
payment-fault-mandate-currency = The payment mandate is in another currency than the cart.
payment-fault-amount-pending = The total of the payment mandate may still change, and is not taken.
payment-fault-mandate-payee = The payment mandate pays somebody else.
payment-fault-mandate-refund = The payment mandate counts on a longer time for refunds than the cart has.
payment-fault-mandate-method = The payment mandate pays by a method that the cart does not offer.
payment-fault-intent-unsigned = The payer’s signature does not cover the intent mandate.
payment-fault-intent-expired = The intent mandate has expired.
payment-fault-intent-merchant = The intent mandate allows other merchants.
payment-fault-intent-item = The intent mandate allows other things than the cart has.
payment-fault-intent-refund = The intent mandate wants what can be given back, and an answer can’t.
payment-fault-intent-limit = The intent mandate has a limit that can’t be judged here, or can’t be read.
payment-fault-x402-missing = The payment mandate holds no payment of x402.
payment-fault-processor-declined = The payment was declined, and nothing was taken. Pay in another way.
payment-fault-processor-unavailable = The payment can’t be made at the moment, and nothing was taken. Sign a new mandate for the cart that is offered now, or pay in another way.
payment-fault-hold-timed-out = The payment could not be reserved in time, and nothing was taken. Sign a new one for what is offered now.
