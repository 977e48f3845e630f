# What the pages say on which people decide: consents, payments, refusals and signing in. Values are plain text.

decision-asks-agreement = { $name } asks for your agreement
decision-do-you-agree = Do you agree?
decision-what-you-agree-to = What you agree to
decision-who-asks = Who asks
decision-how-long = For how long
decision-no-end = No end date
decision-only-who-asked = Only the person who asked can decide.
decision-sign-in-first = Sign in as that person first.
decision-signed-in-as = You are signed in as { $name }.
decision-agree = I agree
decision-disagree = No, I don’t
decision-after-consent = If you agree, you go back to { $name }, which answers your question. If you don’t, nothing happens. You can decide for another { $time }.
decision-terms-too-long = These terms are too long to be shown here, so you can’t agree to them on this page.
decision-asks-payment = { $name } asks for a payment
decision-has-price = This answer has a price
decision-costs = This answer costs { $price }
decision-not-taken = That payment was not taken.
decision-not-charged = You were not charged, and can try again.
decision-what-it-costs = What it costs
decision-price = Price
decision-price-below = As the details below say
decision-who-gets-it = Who gets it
decision-pays-for = What it pays for
decision-when-taken = When it is taken
decision-before-answer = Before the answer
decision-when-complete = When the answer is complete; until then it is only reserved
decision-how-to-pay = How to pay
decision-pay-by-program = Give this address to a program that pays with x402, such as a wallet or an assistant of yours. It pays the price above, once:
decision-paste = I have a signed payment to paste
decision-signed-payment = The signed payment, as your program wrote it
decision-payment-form = JSON, or the same in base64 as an X-PAYMENT header has it.
decision-pay = Pay { $price }
decision-cannot-pay-here = This host can’t take this payment on a page. The program that you asked with may be able to.
decision-way-details = { $way }: the details
decision-no-thanks = No, thanks
decision-after-payment = Once the payment has arrived, { $name } answers your question. You are charged once at most, and can decide for another { $time }.
decision-after-check = Once the payment is checked, { $name } answers your question. You are charged when the answer is complete, once at most, and can decide for another { $time }.
decision-covers-turn = The answer to this one question
decision-covers-period = All your questions for { $time }
decision-covers-credit = Your questions until it is used up: what you pay above the price stays as credit
decision-agreed = You agreed
decision-can-answer = { $name } can answer your question now.
decision-paid = Paid
decision-arrived = The payment arrived.
decision-reserved = Reserved
decision-taken-later = The payment is checked, and nothing is taken yet: it is taken when the answer is complete.
decision-get-answer = Get the answer
decision-go-back = Go back to where you asked, and send your question again.
decision-said-no = You said no
decision-nothing-agreed = Nothing was agreed to, and your question was not answered.
decision-nothing-paid = Nothing was paid, and your question was not answered.
decision-changed-mind = If you change your mind, ask { $name } again.
decision-back-to = Back to { $name }
decision-being-confirmed = Your payment is being confirmed
decision-no-word-yet = It was sent, and there is no word yet whether it arrived. Please don’t pay again: this page is charged once at most.
decision-look-again = Look again
decision-the-terms = The terms
decision-too-many-messages = You have asked as much as one person may within an hour. Please try again later.
decision-auto-deduct = Taken from your credit without asking again
decision-per-turn-max = At most for each question, in US dollars
decision-per-period-max = At most in each period, in US dollars
decision-pay-to = Paid to
decision-amount = Amount, in the smallest unit
decision-settled-within = Seconds in which it must be settled

span-seconds = { $count ->
    [one] 1 second
   *[other] { $count } seconds
}
span-minutes = { $count ->
    [one] 1 minute
   *[other] { $count } minutes
}
span-hours = { $count ->
    [one] 1 hour
   *[other] { $count } hours
}
span-days = { $count ->
    [one] 1 day
   *[other] { $count } days
}

refusal-try-again-in = Try again in { $time }.
refusal-too-fast = You ask faster than this host allows.
refusal-credentials = Accepted credentials
refusal-right = What would be right
refusal-declined = This agent declined.
refusal-title = { $kind ->
    [consent_required] Consent required
    [unauthorized] Sign-in required
    [payment_required] Payment required
    [forbidden] Not allowed
    [too_many_requests] Too many requests
    [unavailable_for_legal_reasons] Unavailable for legal reasons
    [service_unavailable] Service unavailable
   *[other] Declined
}
refusal-action = { $kind ->
    [unauthorized] Sign in
    [payment_required] Pay now
    [unavailable_for_legal_reasons] Who blocks this
   *[other] Continue
}

account-signed-in = Signed in
account-signed-out = Signed out
account-signed-out-here = You are signed out of this host.
account-sign-in-again = Sign in again
account-sign-out-there = Sign out of the sign-in service too
account-failure-title = { $kind ->
    [not_offered] No such page
    [unavailable] Sign-in is unavailable
    [stale] Please sign in again
    [not_verified] Not signed in
    [not_allowed] This account has no access
   *[other] Not a valid request
}
account-failure = { $kind ->
    [not_offered] People don’t sign in on this host.
    [return_to] The address to come back to is not on this host.
    [unavailable] The sign-in service can’t be reached at the moment. Your question is kept: try again in a moment.
    [stale] This sign-in was used before, took too long, or was begun in another browser.
    [declined] The sign-in service did not sign you in.
    [invalid] The answer of the sign-in service could not be verified, so you were not signed in.
    [not_allowed] Your account is not one that may sign in here.
    [foreign] This request does not come from a page of this host.
    [form] This form is too long, or did not arrive whole.
   *[other] You can’t be signed in or out at the moment. Try again in a moment.
}

held-title = Consents and payments
held-by-browser = Nobody is signed in. These are the consents that this browser keeps, in a cookie that says nothing about you.
held-by-nobody = Nobody is signed in, and this browser keeps no consents here.
held-nothing = Nothing was agreed to or paid here.
held-consents = What you agreed to
held-payments = What you paid
held-credit = Credit that is left
held-given-on = Agreed on
held-paid-on = Paid on
held-until = Holds until
held-status = Status
held-state = { $state ->
    [holds] Holds
    [over] Over
    [unused] Paid, and not used yet
    [pending] Being confirmed
    [given_back] Given back
   *[paid] Paid
}
held-transaction = Transaction
held-withdraw = Withdraw
held-withdraw-all = Withdraw everything
held-export = Download as JSON
held-newest = The newest { $count } are listed.
held-sign-out-everywhere = Sign out everywhere

page-failure-title = { $code ->
    [agent-not-found] No such agent
    [not-found] Not found
    [task-not-found] No such task
    [already-answered] Answered already
    [unavailable] Not available
    [forbidden] Not allowed
    [too-large] Too large
    [agent-failed] The agent failed
    [gone] Gone
    [idempotency-unsettled] Under way
    [idempotency-key-reused] Key used already
    [state-conflict] Conflict
    [bad-request] Bad request
    [method-not-allowed] Method not allowed
    [not-acceptable] Not acceptable
    [unsupported-media-type] Unsupported media type
    [request-timeout] Too slow
    [storage-quota-exceeded] Too much stored
    [storage-full] No room
    [sign-in-needed] Sign in first
    [declined] The agent declined
    [server-error] Internal error
   *[other] This did not work
}
page-failure-message = { $code ->
    [agent-not-found] No agent of that name lives here.
    [not-found] There is nothing at this address, or no longer.
    [task-not-found] The task was not found, or its time is over.
    [already-answered] This question was answered already, and what was done for it is used up.
   *[unavailable] Too much is going on here at the moment. Try again in a little while.
}
decision-open-consent = Agree
decision-open-payment = Pay
decision-open-sign-in = Sign in
chat-told-directly = I have written to you directly: that is for you alone.
chat-encrypted = I can’t read here, since this room is encrypted. Write to me in a room without encryption.
file-by-link = The file { $file } ({ $size }) opens by [this link]({ $url }), for anybody who has it, until { $until }.
file-not-sent = The file { $file } ({ $size }) could not be sent.
files-not-sent = { $count ->
    [one] One more file was not sent.
   *[other] { $count } more files were not sent.
}
file-not-taken = Your file { $file } was not taken: it has { $size }, and at most { $max } are possible.
