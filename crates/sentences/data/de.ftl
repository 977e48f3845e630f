language-name = Deutsch
language-unavailable = Diese Antwort gibt es nicht auf { $language }.
items-generic = Treffer

intro-name = Ich bin **{ $name }**.
intro-examples = Fragen Sie zum Beispiel:
intro-limits = Einschränkungen verstehe ich in einfachen Worten, etwa { $limits }.
intro-limit-time = unter 30 Minuten
intro-limit-without = ohne Nüsse
intro-limit-diet = vegetarisch
intro-limit-year = von 1999
intro-more = Mit *mehr* kommen weitere { $items }, mit *nur …* wird eine Antwort enger. Ich kenne { $count } davon.
quoted = „{ $text }“

page-of-items = { $items } { $first } bis { $last }, in der Reihenfolge, in der sie passen.
answer-is-no = Nein, für { $item } gilt das nicht: { $limit }.
one-match = Ein Treffer: { $best }.
several-match = { $count } { $items } passen; am besten { $best }.
best-match = Bester Treffer: { $best }.
closest-match = Am nächsten kommt: { $best }.
with-time = { $item } ({ $time })
limits-applied = Einschränkungen: { $limits }.
limits-unknown = Nicht angewandt, weil kein Eintrag es hat: { $limits }.
not-understood = Nicht verstanden und darum nicht angewandt: { $limits }.
broader-shown = Nichts hier nennt „{ $asked }“; gezeigt wird, was „{ $broader }“ nennt.
says-nothing-of = Keines davon sagt etwas von „{ $feature }“.
searched-instead = Gesucht wurde nach { $word } statt { $written }.
left-out = { $count ->
    [one] Ein Eintrag wurde ausgelassen, weil er nichts zu dieser Einschränkung angibt: { $limit }.
   *[other] { $count } Einträge wurden ausgelassen, weil sie nichts zu dieser Einschränkung angeben: { $limit }.
}
contradiction = Hier hält nichts beides ein: { $first } und { $second }.
reading-without = Ohne „{ $limit }“: { $best }
say-more = Mit *mehr* kommen die nächsten.
item-mentions = Mit { $entries }
item-fits = Passt: { $limits }
promised-by-name = { $limit } (laut seinem Namen)
promised-by-source = { $limit } (laut seiner Quelle)
item-why = Warum: { $why }

nothing-further = Das war alles: Zu dieser Frage gibt es keine weiteren { $items }.
nothing-found = Dazu habe ich keine { $items } gefunden.
sold-out-beside = Ausverkauft: { $items }.
nothing-available = Nichts davon ist im Moment zu haben. Ausverkauft: { $items }.
nothing-words = Keines dieser Wörter kommt vor; versuchen Sie es mit anderen.
nothing-single-limit = Eine einzelne Einschränkung wegzulassen hilft nicht; versuchen Sie es mit anderen Wörtern.
nothing-relaxed = Mit einer Einschränkung weniger geht es:
nothing-about = Dazu habe ich hier nichts gefunden.

ask-which = { $count } { $items } könnten passen. { $question } Zum Beispiel { $options }. Nennen Sie eines, oder sagen Sie *alle*.
which-kind = Welche Art?
which-diet = Welche Ernährungsweise?
which-dish = Welche Art von Gericht?
which-cuisine = Welche Küche?
which-genre = Welches Genre?
which-category = Welche Kategorie?
which-section = Welcher Bereich?
which-brand = Welche Marke?
which-color = Welche Farbe?
which-size = Welche Größe?
which-place = Welcher Ort?
which-level = Welche Stufe?
which-topic = Welches Thema?

### What properties are called over their values
facet-kind = Art
facet-diet = Ernährung
facet-dish = Art des Gerichts
facet-cuisine = Küche
facet-genre = Genre
facet-category = Kategorie
facet-section = Rubrik
facet-brand = Marke
facet-color = Farbe
facet-size = Größe
facet-place = Ort
facet-level = Niveau
facet-topic = Thema
facet-price = Preis
facet-rating = Bewertung
facet-when = Wann
facet-year = Jahr

search-failed = Die Suche hinter diesem Agenten ist fehlgeschlagen.
still-reading = Ich lese meine { $items } noch ein. Bitte fragen Sie gleich noch einmal.

model-not-all-ranked = Das Sprachmodell hat nicht alle Einträge geordnet.
model-question-as-it-stands = Die Frage wurde so genommen, wie sie dasteht.
model-summary-cut = Die Zusammenfassung ist nicht oder nicht ganz vom Sprachmodell.
model-summary-groundless = Das Sprachmodell gab keine Zusammenfassung, die sich auf die Einträge beruft.

reduced = { $price } statt { $usual }
serves = für { $count } Personen
minutes = { $count ->
    [one] 1 Minute
   *[other] { $count } Minuten
}
hours = { $count ->
    [one] 1 Stunde
   *[other] { $count } Stunden
}
days = { $count ->
    [one] 1 Tag
   *[other] { $count } Tage
}
fact-unstated = Bei { $item } ist nicht angegeben, { $what }.
fact-quoted = { $item } hat keine Angabe dazu, { $what }. Der Text sagt: „{ $quote }“
fact-others = Andere dieses Namens: { $others }.
fact-time = { $item } dauert { $value }.
fact-time-what = wie lange es dauert
fact-cook-time = { $item } kocht { $value }.
fact-cook-time-what = wie lange es kocht
fact-prep-time = Die Vorbereitung von { $item } dauert { $value }.
fact-prep-time-what = wie lange die Vorbereitung dauert
fact-length = { $item } dauert { $value }.
fact-length-what = wie lange es dauert
fact-yield = { $item } ergibt: { $value }.
fact-yield-what = wie viel es ergibt
fact-calories = { $item } hat { $value }.
fact-calories-what = wie viele Kalorien es hat
fact-price = { $item } kostet { $value }.
fact-price-what = was es kostet
fact-availability = { $item }: { $value }.
fact-availability-what = ob es verfügbar ist
fact-director = Regie bei { $item }: { $value }.
fact-director-what = wer Regie führte
fact-author = { $item } ist von { $value }.
fact-author-what = von wem es ist
fact-cast = In { $item }: { $value }.
fact-cast-what = wer mitspielt
fact-year = { $item } ist von { $value }.
fact-year-what = aus welchem Jahr es ist
fact-date = { $item } ist am { $value }.
fact-date-what = wann es stattfindet
fact-ingredients = { $item } besteht aus: { $value }.
fact-ingredients-what = woraus es besteht
fact-place = { $item } ist hier: { $value }.
fact-place-what = wo es ist
fact-hours = { $item } ist geöffnet: { $value }.
fact-hours-what = wann geöffnet ist
fact-phone = Die Telefonnummer von { $item } ist { $value }.
fact-phone-what = wie die Telefonnummer lautet
fact-rating = { $item } ist mit { $value } bewertet.
fact-rating-what = wie es bewertet ist
fact-category = { $item } gehört zu: { $value }.
fact-category-what = wozu es gehört
fact-difficulty = Schwierigkeit von { $item }: { $value }.
fact-difficulty-what = wie schwierig es ist
fact-brand = { $item } ist von { $value }.
fact-brand-what = wer es herstellt
fact-color = Farbe von { $item }: { $value }.
fact-color-what = welche Farbe es hat
contains-yes = Ja: { $item } nennt { $entries }.
contains-no = { $count ->
    [one] { $item } nennt 1 Zutat, und darunter nichts davon: { $what }. Was sie selbst enthält, ist nicht angegeben.
   *[other] { $item } nennt { $count } Zutaten, und darunter nichts davon: { $what }. Was sie selbst enthalten, ist nicht angegeben.
}
suits-yes = { $item } gibt an: { $diet }.
suits-no = Nicht { $diet }, nach den Angaben: { $item } hat { $entries }.
suits-unstated = { $item } gibt weder an, ob es { $diet } ist, noch, woraus es besteht.
suits-unlisted = { $count ->
    [one] { $item } gibt nicht an, ob es { $diet } ist. Die 1 genannte Zutat steht dem nicht entgegen.
   *[other] { $item } gibt nicht an, ob es { $diet } ist. Keine der { $count } genannten Zutaten steht dem entgegen.
}
rating-of = { $value } von { $best }
rating-count = { $count ->
    [one] 1 Bewertung
   *[other] { $count } Bewertungen
}
fact-available-in-stock = auf Lager
fact-available-out-of-stock = nicht auf Lager
fact-available-limited = nur noch wenige da
fact-available-preorder = vorbestellbar
fact-available-backorder = nachbestellt
fact-available-discontinued = nicht mehr im Angebot
fact-available-sold-out = ausverkauft
fact-available-online-only = nur online erhältlich
fact-available-in-store-only = nur im Laden erhältlich

document-closest = Das ist der Abschnitt, der am nächsten kommt; vielleicht beantwortet er die Frage nicht.
document-source = Aus { $section }.
document-continue = … weiter: { $link }
document-near = Daneben: { $sections }.
document-others = Siehe auch: { $sections }.

failure-too-much = `{ $field }` ist mehr, als hier gelesen wird: höchstens { $bound }
failure-too-large = die Anfrage ist größer, als hier gelesen wird: höchstens { $bytes } Bytes
failure-format = `{ $asked }` ist kein Format dieses Hosts; er schreibt conversational_search und chatgpt_app
failure-mode = `{ $asked }` ist kein Modus dieses Hosts; er kennt list und summarize
failure-no-site = hier gibt es keine Site `{ $named }`; es gibt { $known }
failure-no-agent = hier gibt es keinen Agenten dieses Namens; es gibt { $known }
failure-no-promise = diese Zusage gibt es nicht: Ihr Token ist unbekannt, abgelaufen oder gehört jemand anderem; fragen Sie neu
failure-busy = dieser Host hat gerade zu viel zu tun; versuchen Sie es später noch einmal
failure-internal = auf dieser Seite ist etwas schiefgegangen
failure-cancelled = diese Frage wurde abgebrochen
results-none = Es gibt nichts zu zeigen.
results-named = { $count ->
    [one] 1 Treffer: { $names }.
   *[other] { $count } Treffer: { $names }.
}
results-such-as = { $count } Treffer, etwa { $names }.
result-unnamed = einer ohne Namen
answer-takes-longer = Das dauert etwas länger. Die Antwort folgt hier.
answer-whole = Die ganze Antwort
