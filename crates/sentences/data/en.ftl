# What the host says in its own words. Values come from elsewhere; they are markdown that is ready to be shown.

language-name = English
language-unavailable = This answer is not available in { $language }.
items-generic = results

### The introduction of a search
intro-name = I am **{ $name }**.
intro-examples = You could ask:
intro-limits = Put limits in plain words, such as { $limits }.
intro-limit-time = under 30 minutes
intro-limit-without = no nuts
intro-limit-diet = vegetarian
intro-limit-year = from 1999
intro-more = Say *more* for further { $items }, or narrow an answer down with *only …*. I know { $count } of them.
quoted = “{ $text }”

### What was found
page-of-items = { $items } { $first } to { $last }, in the order in which they match.
answer-is-no = No, { $item } does not keep this: { $limit }.
one-match = One match: { $best }.
several-match = { $count } { $items } match; the best is { $best }.
best-match = Best match: { $best }.
closest-match = The closest: { $best }.
with-time = { $item } ({ $time })
limits-applied = Limits: { $limits }.
limits-unknown = Not applied, since no item has it: { $limits }.
not-understood = Not understood, and so not applied: { $limits }.
broader-shown = Nothing here says “{ $asked }”; shown is what says “{ $broader }”.
says-nothing-of = None of these says anything of “{ $feature }”.
searched-instead = Searched for { $word } instead of { $written }.
left-out = { $count ->
    [one] One item was left out, since it doesn't state what this limit asks about: { $limit }.
   *[other] { $count } items were left out, since they don't state what this limit asks about: { $limit }.
}
contradiction = None here keeps both limits: { $first } and { $second }.
reading-without = Without “{ $limit }”: { $best }
say-more = Say *more* for the next ones.
item-mentions = With { $entries }
item-fits = Fits: { $limits }
promised-by-name = { $limit } (by its name)
promised-by-source = { $limit } (as its source states)
item-why = Why: { $why }

### Nothing was found
nothing-further = That was all: there are no further { $items } for this question.
nothing-found = I found no { $items } for this.
sold-out-beside = Sold out: { $items }.
nothing-available = Nothing of this can be had at the moment. Sold out: { $items }.
nothing-words = None of them mentions any of these words; try others.
nothing-single-limit = Leaving out a single one of the limits would not help; try other words.
nothing-relaxed = It works with one limit less:
nothing-about = I found nothing about that here.

### Questions back
ask-which = { $count } { $items } could fit. { $question } For example { $options }. Name one, or say *all of them*.
which-kind = Which kind?
which-diet = Which diet?
which-dish = Which kind of dish?
which-cuisine = Which cuisine?
which-genre = Which genre?
which-category = Which category?
which-section = Which section?
which-brand = Which brand?
which-color = Which color?
which-size = Which size?
which-place = Which place?
which-level = Which level?
which-topic = Which topic?

### What properties are called over their values
facet-kind = kind
facet-diet = diet
facet-dish = kind of dish
facet-cuisine = cuisine
facet-genre = genre
facet-category = category
facet-section = section
facet-brand = brand
facet-color = color
facet-size = size
facet-place = place
facet-level = level
facet-topic = topic
facet-price = price
facet-rating = rating
facet-when = when
facet-year = year

### Failures
search-failed = The search behind this agent failed.
still-reading = I am still reading my { $items }. Please ask again in a moment.

### With a language model
model-not-all-ranked = Not all items were ranked by the language model.
model-question-as-it-stands = The question was taken as it stands.
model-summary-cut = The summary is not that of the language model, or not all of it.
model-summary-groundless = The language model gave no summary that cites the items.

### Single facts
reduced = { $price } instead of { $usual }
serves = serves { $count }
minutes = { $count ->
    [one] 1 minute
   *[other] { $count } minutes
}
hours = { $count ->
    [one] 1 hour
   *[other] { $count } hours
}
days = { $count ->
    [one] 1 day
   *[other] { $count } days
}
fact-unstated = { $item } doesn't state { $what }.
fact-quoted = { $item } has no entry for { $what }. Its text says: “{ $quote }”
fact-others = Others of that name: { $others }.
fact-time = { $item } takes { $value }.
fact-time-what = how long it takes
fact-cook-time = { $item } cooks for { $value }.
fact-cook-time-what = how long it cooks
fact-prep-time = { $item } takes { $value } to prepare.
fact-prep-time-what = how long it takes to prepare
fact-length = { $item } lasts { $value }.
fact-length-what = how long it lasts
fact-yield = { $item } yields: { $value }.
fact-yield-what = how much it yields
fact-calories = { $item } has { $value }.
fact-calories-what = how many calories it has
fact-price = { $item } costs { $value }.
fact-price-what = what it costs
fact-availability = { $item }: { $value }.
fact-availability-what = whether it is available
fact-director = { $item } was directed by { $value }.
fact-director-what = who directed it
fact-author = { $item } is by { $value }.
fact-author-what = who made it
fact-cast = In { $item }: { $value }.
fact-cast-what = who is in it
fact-year = { $item } is from { $value }.
fact-year-what = which year it is from
fact-date = { $item } is on { $value }.
fact-date-what = when it takes place
fact-ingredients = { $item } is made of: { $value }.
fact-ingredients-what = what it is made of
fact-place = { $item } is here: { $value }.
fact-place-what = where it is
fact-hours = { $item } is open: { $value }.
fact-hours-what = when it is open
fact-phone = The phone number of { $item } is { $value }.
fact-phone-what = a phone number
fact-rating = { $item } is rated { $value }.
fact-rating-what = how it is rated
fact-category = { $item } belongs to: { $value }.
fact-category-what = what it belongs to
fact-difficulty = The difficulty of { $item }: { $value }.
fact-difficulty-what = how difficult it is
fact-brand = { $item } is made by { $value }.
fact-brand-what = who makes it
fact-color = The color of { $item }: { $value }.
fact-color-what = which color it has
contains-yes = Yes: { $item } lists { $entries }.
contains-no = { $count ->
    [one] No { $what } is listed among its 1 ingredient: { $item }. What that itself contains is not stated.
   *[other] No { $what } is listed among the { $count } ingredients of { $item }. What those themselves contain is not stated.
}
suits-yes = { $item } states that it is { $diet }.
suits-no = Not { $diet }, by what it lists: { $item } has { $entries }.
suits-unstated = { $item } states neither whether it is { $diet } nor what it is made of.
suits-unlisted = { $count ->
    [one] { $item } doesn't state whether it is { $diet }. Its 1 ingredient is not listed as something that { $diet } leaves out.
   *[other] { $item } doesn't state whether it is { $diet }. None of its { $count } ingredients is listed as something that { $diet } leaves out.
}
rating-of = { $value } of { $best }
rating-count = { $count ->
    [one] 1 rating
   *[other] { $count } ratings
}
fact-available-in-stock = in stock
fact-available-out-of-stock = out of stock
fact-available-limited = only a few left
fact-available-preorder = can be ordered in advance
fact-available-backorder = on back order
fact-available-discontinued = no longer sold
fact-available-sold-out = sold out
fact-available-online-only = available online only
fact-available-in-store-only = available in stores only

### Documents
document-closest = This is the closest section; it may not answer the question.
document-source = From { $section }.
document-continue = … continue: { $link }
document-near = Next to it: { $sections }.
document-others = See also: { $sections }.

### Failures of requests
failure-too-much = `{ $field }` is more than is read here: at most { $bound }
failure-too-large = the request is more than is read here: at most { $bytes } bytes
failure-format = `{ $asked }` is no format of this host; it writes conversational_search and chatgpt_app
failure-mode = `{ $asked }` is no mode of this host; it knows list and summarize
failure-no-site = there is no site `{ $named }` here; there are { $known }
failure-no-agent = there is no agent of that name here; there are { $known }
failure-no-promise = there is no such promise: its token is unknown, it has expired, or it is not yours; ask again
failure-busy = this host has too much to do at the moment; try again later
failure-internal = something went wrong on this side
failure-cancelled = this question was cancelled
results-none = There is nothing to show.
results-named = { $count ->
    [one] 1 result: { $names }.
   *[other] { $count } results: { $names }.
}
results-such-as = { $count } results, such as { $names }.
result-unnamed = one without a name
answer-takes-longer = This takes a little longer. The answer will follow here.
answer-whole = The whole answer
