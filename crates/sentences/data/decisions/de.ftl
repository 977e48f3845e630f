# What the pages say on which people decide: consents, payments, refusals and signing in. Values are plain text.

decision-asks-agreement = { $name } bittet um Ihre Zustimmung
decision-do-you-agree = Stimmen Sie zu?
decision-what-you-agree-to = Dem stimmen Sie zu
decision-who-asks = Wer fragt
decision-how-long = Wie lange
decision-no-end = Ohne Enddatum
decision-only-who-asked = Nur wer gefragt hat, kann entscheiden.
decision-sign-in-first = Melden Sie sich zuerst als diese Person an.
decision-signed-in-as = Sie sind als { $name } angemeldet.
decision-agree = Ich stimme zu
decision-disagree = Nein, ich stimme nicht zu
decision-after-consent = Wenn Sie zustimmen, kommen Sie zu { $name } zurück und Ihre Frage wird beantwortet. Wenn nicht, geschieht nichts. Sie können noch { $time } lang entscheiden.
decision-terms-too-long = Diese Bedingungen sind zu lang, um hier gezeigt zu werden; deshalb können Sie ihnen auf dieser Seite nicht zustimmen.
decision-asks-payment = { $name } bittet um eine Zahlung
decision-has-price = Diese Antwort hat einen Preis
decision-costs = Diese Antwort kostet { $price }
decision-not-taken = Diese Zahlung wurde nicht angenommen.
decision-not-charged = Ihnen wurde nichts berechnet, und Sie können es noch einmal versuchen.
decision-what-it-costs = Was es kostet
decision-price = Preis
decision-price-below = Wie in den Einzelheiten unten
decision-who-gets-it = Wer das Geld bekommt
decision-pays-for = Wofür gezahlt wird
decision-when-taken = Wann gezahlt wird
decision-before-answer = Vor der Antwort
decision-when-complete = Wenn die Antwort vollständig ist; bis dahin wird sie nur vorgemerkt
decision-how-to-pay = So zahlen Sie
decision-pay-by-program = Geben Sie diese Adresse einem Programm, das mit x402 zahlt, etwa einer Wallet oder Ihrem Assistenten. Es zahlt den Preis oben, einmal:
decision-paste = Ich möchte eine signierte Zahlung einfügen
decision-signed-payment = Die signierte Zahlung, wie Ihr Programm sie geschrieben hat
decision-payment-form = JSON, oder dasselbe in Base64 wie im Feld X-PAYMENT.
decision-pay = { $price } zahlen
decision-cannot-pay-here = Diese Zahlung kann hier nicht auf einer Seite angenommen werden. Vielleicht kann es das Programm, mit dem Sie gefragt haben.
decision-way-details = { $way }: die Einzelheiten
decision-no-thanks = Nein, danke
decision-after-payment = Sobald die Zahlung da ist, beantwortet { $name } Ihre Frage. Ihnen wird höchstens einmal etwas berechnet, und Sie können noch { $time } lang entscheiden.
decision-after-check = Sobald die Zahlung geprüft ist, beantwortet { $name } Ihre Frage. Berechnet wird sie, wenn die Antwort vollständig ist, und höchstens einmal. Sie können noch { $time } lang entscheiden.
decision-covers-turn = Die Antwort auf diese eine Frage
decision-covers-period = Alle Ihre Fragen, { $time } lang
decision-covers-credit = Ihre Fragen, bis es aufgebraucht ist: Was Sie über den Preis hinaus zahlen, bleibt als Guthaben
decision-agreed = Sie haben zugestimmt
decision-can-answer = { $name } kann Ihre Frage jetzt beantworten.
decision-paid = Bezahlt
decision-arrived = Die Zahlung ist angekommen.
decision-reserved = Vorgemerkt
decision-taken-later = Die Zahlung ist geprüft, und es wurde noch nichts genommen: Das geschieht, wenn die Antwort vollständig ist.
decision-get-answer = Zur Antwort
decision-go-back = Gehen Sie dorthin zurück, wo Sie gefragt haben, und stellen Sie Ihre Frage noch einmal.
decision-said-no = Sie haben Nein gesagt
decision-nothing-agreed = Es wurde nichts zugestimmt, und Ihre Frage wurde nicht beantwortet.
decision-nothing-paid = Es wurde nichts bezahlt, und Ihre Frage wurde nicht beantwortet.
decision-changed-mind = Wenn Sie es sich anders überlegen, fragen Sie { $name } noch einmal.
decision-back-to = Zurück zu { $name }
decision-being-confirmed = Ihre Zahlung wird bestätigt
decision-no-word-yet = Sie wurde gesendet, und es ist noch nicht bekannt, ob sie angekommen ist. Bitte zahlen Sie nicht noch einmal: Auf dieser Seite wird höchstens einmal etwas berechnet.
decision-look-again = Noch einmal nachsehen
decision-the-terms = Die Bedingungen
decision-too-many-messages = Sie haben so viel gefragt, wie eine Person innerhalb einer Stunde fragen darf. Bitte versuchen Sie es später noch einmal.
decision-auto-deduct = Wird ohne Rückfrage von Ihrem Guthaben abgezogen
decision-per-turn-max = Höchstens je Frage, in US-Dollar
decision-per-period-max = Höchstens je Zeitraum, in US-Dollar
decision-pay-to = Gezahlt an
decision-amount = Betrag, in der kleinsten Einheit
decision-settled-within = Sekunden, in denen gezahlt sein muss

span-seconds = { $count ->
    [one] 1 Sekunde
   *[other] { $count } Sekunden
}
span-minutes = { $count ->
    [one] 1 Minute
   *[other] { $count } Minuten
}
span-hours = { $count ->
    [one] 1 Stunde
   *[other] { $count } Stunden
}
span-days = { $count ->
    [one] 1 Tag
   *[other] { $count } Tage
}

refusal-try-again-in = Neuer Versuch möglich nach: { $time }.
refusal-too-fast = Sie fragen schneller, als dieser Host erlaubt.
refusal-credentials = Angenommene Nachweise
refusal-right = Richtig wäre
refusal-declined = Dieser Agent hat abgelehnt.
refusal-title = { $kind ->
    [consent_required] Zustimmung nötig
    [unauthorized] Anmeldung nötig
    [payment_required] Zahlung nötig
    [forbidden] Nicht erlaubt
    [too_many_requests] Zu viele Anfragen
    [unavailable_for_legal_reasons] Aus rechtlichen Gründen nicht verfügbar
    [service_unavailable] Dienst nicht verfügbar
   *[other] Abgelehnt
}
refusal-action = { $kind ->
    [unauthorized] Anmelden
    [payment_required] Jetzt zahlen
    [unavailable_for_legal_reasons] Wer das sperrt
   *[other] Weiter
}

account-signed-in = Angemeldet
account-signed-out = Abgemeldet
account-signed-out-here = Sie sind hier abgemeldet.
account-sign-in-again = Wieder anmelden
account-sign-out-there = Auch beim Anmeldedienst abmelden
account-failure-title = { $kind ->
    [not_offered] Diese Seite gibt es nicht
    [unavailable] Die Anmeldung ist nicht erreichbar
    [stale] Bitte melden Sie sich noch einmal an
    [not_verified] Nicht angemeldet
    [not_allowed] Dieses Konto hat keinen Zugang
   *[other] Keine gültige Anfrage
}
account-failure = { $kind ->
    [not_offered] Hier meldet man sich nicht an.
    [return_to] Die Adresse, zu der es zurückgehen soll, gehört nicht zu dieser Website.
    [unavailable] Der Anmeldedienst ist im Moment nicht erreichbar. Ihre Frage bleibt erhalten: Versuchen Sie es gleich noch einmal.
    [stale] Diese Anmeldung wurde schon benutzt, hat zu lange gedauert oder wurde in einem anderen Browser begonnen.
    [declined] Der Anmeldedienst hat Sie nicht angemeldet.
    [invalid] Die Antwort des Anmeldedienstes ließ sich nicht prüfen; deshalb wurden Sie nicht angemeldet.
    [not_allowed] Ihr Konto gehört nicht zu denen, die sich hier anmelden dürfen.
    [foreign] Diese Anfrage kommt nicht von einer Seite dieser Website.
    [form] Dieses Formular ist zu lang oder kam nicht ganz an.
   *[other] An- und Abmelden geht im Moment nicht. Versuchen Sie es gleich noch einmal.
}

held-title = Zustimmungen und Zahlungen
held-by-browser = Niemand ist angemeldet. Dies sind die Zustimmungen, die dieser Browser behält, in einem Cookie, das nichts über Sie sagt.
held-by-nobody = Niemand ist angemeldet, und dieser Browser behält hier keine Zustimmungen.
held-nothing = Hier wurde nichts zugestimmt und nichts bezahlt.
held-consents = Dem haben Sie zugestimmt
held-payments = Das haben Sie bezahlt
held-credit = Verbleibendes Guthaben
held-given-on = Zugestimmt am
held-paid-on = Bezahlt am
held-until = Gilt bis
held-status = Stand
held-state = { $state ->
    [holds] Gilt
    [over] Beendet
    [unused] Bezahlt und noch nicht verwendet
    [pending] Wird bestätigt
    [given_back] Zurückgegeben
   *[paid] Bezahlt
}
held-transaction = Transaktion
held-withdraw = Widerrufen
held-withdraw-all = Alles widerrufen
held-export = Als JSON herunterladen
held-newest = Die neuesten { $count } sind aufgeführt.
held-sign-out-everywhere = Überall abmelden

page-failure-title = { $code ->
    [agent-not-found] Diesen Agenten gibt es nicht
    [not-found] Nicht gefunden
    [task-not-found] Diese Aufgabe gibt es nicht
    [already-answered] Schon beantwortet
    [unavailable] Nicht verfügbar
    [forbidden] Nicht erlaubt
    [too-large] Zu groß
    [agent-failed] Der Agent konnte nicht antworten
    [gone] Nicht mehr da
    [idempotency-unsettled] Wird schon bearbeitet
    [idempotency-key-reused] Schlüssel schon benutzt
    [state-conflict] Passt nicht zum jetzigen Stand
    [bad-request] Diese Anfrage ist nicht richtig geschrieben
    [method-not-allowed] Diese Methode gibt es hier nicht
    [not-acceptable] In dieser Form gibt es keine Antwort
    [unsupported-media-type] Diese Art von Inhalt wird nicht gelesen
    [request-timeout] Zu langsam
    [storage-quota-exceeded] Zu viel gespeichert
    [storage-full] Kein Platz mehr
    [sign-in-needed] Bitte erst anmelden
    [declined] Der Agent hat abgelehnt
    [server-error] Fehler auf dieser Seite
   *[other] Das hat nicht geklappt
}
page-failure-message = { $code ->
    [agent-not-found] Hier gibt es keinen Agenten dieses Namens.
    [not-found] Unter dieser Adresse gibt es nichts, oder nichts mehr.
    [task-not-found] Die Aufgabe wurde nicht gefunden, oder ihre Zeit ist vorbei.
    [already-answered] Diese Frage wurde schon beantwortet, und was dafür getan wurde, ist verbraucht.
   *[unavailable] Hier ist im Moment zu viel los. Versuchen Sie es gleich noch einmal.
}
decision-open-consent = Zustimmen
decision-open-payment = Bezahlen
decision-open-sign-in = Anmelden
chat-told-directly = Ich habe Ihnen direkt geschrieben: Das ist nur für Sie.
chat-encrypted = Ich kann hier nicht mitlesen, denn dieser Raum ist verschlüsselt. Schreiben Sie mir in einem Raum ohne Verschlüsselung.
file-by-link = Die Datei { $file } ({ $size }) öffnet sich über [diesen Link]({ $url }), für alle, die ihn haben, bis { $until }.
file-not-sent = Die Datei { $file } ({ $size }) konnte nicht gesendet werden.
files-not-sent = { $count ->
    [one] Eine weitere Datei wurde nicht gesendet.
   *[other] { $count } weitere Dateien wurden nicht gesendet.
}
file-not-taken = Ihre Datei { $file } wurde nicht angenommen: Sie hat { $size }, und höchstens { $max } sind möglich.
