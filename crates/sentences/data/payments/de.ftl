# What the page says on which people pay, and its script. Values are plain text.

pay-price-on = { $price } auf { $networks }
pay-either = { $one } oder { $other }
pay-time-left = Kann bezahlt werden noch
pay-with-wallet = Mit einer Wallet zahlen
pay-wallet-about = Ihre Wallet zeigt, was Sie signieren, und fragt Sie vorher. Sie signieren, dass der Preis einmal an dieses Konto gehen darf, und nichts anderes. Das Signieren kostet keine Gebühr:
pay-choose-wallet = Wählen Sie Ihre Wallet
pay-choose-network = Wählen Sie das Netzwerk
pay-choose-amount = Wählen Sie den Betrag
pay-amount = { $count ->
    [one] { $price }: diese Frage
   *[other] { $price }: diese Frage und { $others } weitere
}
pay-needs-script = Wallets in diesem Browser brauchen das Skript dieser Seite. Ohne es stehen Ihnen die Wege unten offen.
pay-looking = Wallets in diesem Browser werden gesucht …
pay-no-wallet = In diesem Browser ist keine Wallet. Öffnen Sie diese Seite im Browser einer Wallet-App, zum Beispiel auf Ihrem Telefon.
pay-browser-wallet = Die Wallet dieses Browsers
pay-connecting = { $wallet } fragt Sie, ob diese Seite Ihr Konto sehen darf.
pay-switching = { $wallet } fragt Sie, ob zu { $network } gewechselt werden soll.
pay-adding = { $wallet } fragt Sie, ob { $network } hinzugefügt werden soll.
pay-checking = Es wird nachgesehen, was auf dem Konto ist …
pay-signing = { $wallet } bittet Sie zu signieren, dass { $price } an { $payee } gehen dürfen, bis { $time }.
pay-sending = Signiert. Die Zahlung wird geprüft …
pay-silent = { $wallet } hat noch nicht geantwortet. Vielleicht ist sie gesperrt oder wartet in einem eigenen Fenster auf Sie; mit einer Hardware-Wallet dauert das Minuten. Diese Seite wartet.
pay-cancel = Abbrechen
pay-try-again = Noch einmal versuchen
pay-send-again = Noch einmal senden
pay-declined = Sie haben in der Wallet Nein gesagt. Es wurde nichts signiert und nichts bezahlt.
pay-cancelled = Sie haben abgebrochen. Fragt die Wallet noch, sagen Sie dort Nein: Was jetzt signiert wird, wird nicht verwendet.
pay-busy = In der Wallet ist schon eine Frage offen. Beantworten Sie sie dort und versuchen Sie es noch einmal.
pay-locked = Die Wallet zeigt dieser Seite kein Konto. Entsperren Sie sie und versuchen Sie es noch einmal.
pay-wrong-network = Die Wallet ist in einem anderen Netzwerk. Wechseln Sie dort zu { $network } und versuchen Sie es noch einmal.
pay-unknown-network = Die Wallet kennt { $network } nicht. Fügen Sie es dort hinzu und versuchen Sie es noch einmal.
pay-too-little = Auf dem Konto sind { $has }, gebraucht werden { $price }. Wählen Sie in der Wallet ein anderes Konto oder laden Sie es auf. Es wurde nichts bezahlt.
pay-too-late = Die Signatur kam, als ihre Zeit vorbei war, und wird nicht verwendet. Es wurde nichts bezahlt: Signieren Sie neu.
pay-wallet-failed = Die Wallet konnte das nicht tun. Es wurde nichts bezahlt.
pay-unsent = Die signierte Zahlung ist hier nicht angekommen. Senden Sie sie noch einmal: Sie wird höchstens einmal genommen.
pay-unanswered = Die Zahlung wurde gerade nicht angenommen. Senden Sie sie noch einmal: Sie wird höchstens einmal genommen.
pay-refused = { $code ->
    [INSUFFICIENT_FUNDS] Auf dem Konto ist zu wenig. Es wurde nichts genommen.
    [INVALID_SIGNATURE] Die Signatur ist nicht die des Kontos. Es wurde nichts genommen.
    [EXPIRED_PAYMENT] Die Zeit der Signatur ist vorbei. Es wurde nichts genommen: Signieren Sie neu.
    [DUPLICATE_NONCE] Diese Zahlung wurde schon verwendet. Jetzt wurde nichts genommen.
   *[other] Die Zahlung konnte nicht geprüft werden. Es wurde nichts genommen.
}
pay-paid-now = Bezahlt. Die Antwort kommt …
pay-reserved-now = Vorgemerkt. Die Antwort kommt, und genommen wird das Geld, wenn sie vollständig ist …
pay-paid-elsewhere = Es wurde schon bezahlt, in einem anderen Tab oder Fenster. Es ist nichts mehr zu zahlen.
pay-pending-elsewhere = In einem anderen Tab oder Fenster wurde eine Zahlung gesendet, die gerade bestätigt wird. Bitte zahlen Sie nicht noch einmal.
pay-over = Die Zeit, in der hier gezahlt werden konnte, ist vorbei. Es wurde nichts bezahlt: Fragen Sie noch einmal, dann gilt ein neues Angebot.
pay-ask-again = Noch einmal fragen
pay-with-phone = Mit dem Telefon zahlen
pay-phone-about = Scannen Sie das mit einer Wallet-App, oder mit der Kamera und öffnen Sie es im Browser einer Wallet-App. Es ist die Adresse dieser Seite, und wer sie hat, kann hier zahlen.
pay-qr = QR-Code mit der Adresse dieser Seite
pay-by-program = Mit einem Programm zahlen
pay-credit-left = Ihr Guthaben
pay-with-card = Mit Karte zahlen
pay-by-card = { $price } mit Karte zahlen
pay-card-about = Sie zahlen auf einer Seite unseres Zahlungsanbieters und kommen dann hierher zurück. Diese Website sieht Ihre Karte nie.
pay-card-after = Sie zahlen auf einer Seite unseres Zahlungsanbieters und kommen dann hierher zurück. Diese Website sieht Ihre Karte nie. Der Betrag wird auf ihr reserviert und erst abgebucht, wenn die Antwort vollständig ist.
pay-card-begun = Sie haben begonnen, mit Karte zu zahlen; bisher wurde dort nichts gezahlt.
pay-card-on = Weiter zur Kartenzahlung

# Warum ein Mandat von AP2 abgelehnt wurde, nach seinem Code.

payment-fault-mandate-unreadable = Das ist kein Zahlungsmandat von AP2, das sich lesen lässt.
payment-fault-authorization-missing = Das Zahlungsmandat ist von niemandem unterschrieben.
payment-fault-authorization-unreadable = Die Unterschrift des Zahlungsmandats lässt sich nicht lesen.
payment-fault-issuer-unknown = Wer für den Zahlenden bürgt, dem wird hier nicht vertraut.
payment-fault-key-unknown = Das Zahlungsmandat ist mit einem Schlüssel unterschrieben, den sein Aussteller nicht hat.
payment-fault-keys-unavailable = Die Schlüssel dessen, der für den Zahlenden bürgt, sind gerade nicht zu bekommen. Es wurde nichts genommen: versuchen Sie es in einer Minute noch einmal.
payment-fault-algorithm-refused = Das Zahlungsmandat ist mit einem Verfahren unterschrieben, das hier nicht gilt.
payment-fault-issuer-signature = Der Nachweis des Zahlenden ist nicht von seinem Aussteller unterschrieben.
payment-fault-credential-expired = Der Nachweis oder die Unterschrift des Zahlenden ist abgelaufen. Unterschreiben Sie ein neues Mandat.
payment-fault-credential-early = Der Nachweis oder die Unterschrift des Zahlenden gilt noch nicht.
payment-fault-credential-status = Der Nachweis des Zahlenden kann widerrufen werden, und ob er es ist, lässt sich hier nicht feststellen. Zeigen Sie einen ohne `status`.
payment-fault-holder-missing = Der Nachweis wurde nicht mit dem eigenen Schlüssel des Zahlenden gezeigt.
payment-fault-holder-signature = Das Zahlungsmandat ist nicht mit dem Schlüssel des Zahlenden unterschrieben.
payment-fault-credential-swapped = Der Zahlende hat für einen anderen Nachweis unterschrieben, als mitkam.
payment-fault-mandate-audience = Das Zahlungsmandat wurde für jemand anderen unterschrieben.
payment-fault-mandate-nonce = Die Unterschrift gilt nicht diesem Warenkorb: ihre Nonce muss dessen Id sein.
payment-fault-mandate-time = Das Zahlungsmandat wurde zu einer anderen Zeit unterschrieben, als dieser Warenkorb angeboten war. Unterschreiben Sie ein neues.
payment-fault-cart-unsigned = Die Unterschrift des Zahlenden umfasst diesen Warenkorb nicht.
payment-fault-payment-unsigned = Die Unterschrift des Zahlenden umfasst dieses Zahlungsmandat nicht.
payment-fault-signed-unknown = Die Unterschrift des Zahlenden umfasst etwas, das nicht mitkam.
payment-fault-other-cart = Das Zahlungsmandat gilt einem anderen Warenkorb.
payment-fault-cart-altered = Der mitgeschickte Warenkorb ist nicht der, der angeboten wurde.
payment-fault-cart-expired = Die Zeit, in der dieser Warenkorb bezahlt werden konnte, ist vorbei. Fragen Sie noch einmal nach einem neuen.
payment-fault-cart-outdated = Der Warenkorb war für eine andere Abwicklung gemacht, als sie hier jetzt gilt. Fragen Sie noch einmal nach einem neuen.
payment-fault-mandate-amount = Das Zahlungsmandat lautet auf einen anderen Betrag als der Warenkorb.
payment-fault-mandate-currency = Das Zahlungsmandat lautet auf eine andere Währung als der Warenkorb.
payment-fault-amount-pending = Der Gesamtbetrag des Zahlungsmandats kann sich noch ändern und gilt nicht.
payment-fault-mandate-payee = Das Zahlungsmandat bezahlt jemand anderen.
payment-fault-mandate-refund = Das Zahlungsmandat rechnet mit einer längeren Frist für Erstattungen, als der Warenkorb sie hat.
payment-fault-mandate-method = Das Zahlungsmandat zahlt auf einem Weg, den der Warenkorb nicht anbietet.
payment-fault-intent-unsigned = Die Unterschrift des Zahlenden umfasst das Absichtsmandat nicht.
payment-fault-intent-expired = Das Absichtsmandat ist abgelaufen.
payment-fault-intent-merchant = Das Absichtsmandat erlaubt andere Händler.
payment-fault-intent-item = Das Absichtsmandat erlaubt anderes, als im Warenkorb ist.
payment-fault-intent-refund = Das Absichtsmandat verlangt, was sich zurückgeben lässt, und eine Antwort lässt sich das nicht.
payment-fault-intent-limit = Das Absichtsmandat hat eine Grenze, die sich hier nicht beurteilen lässt, oder ist nicht lesbar.
payment-fault-x402-missing = Das Zahlungsmandat enthält keine Zahlung von x402.
payment-fault-processor-declined = Die Zahlung wurde abgelehnt, und es wurde nichts genommen. Zahlen Sie auf einem anderen Weg.
payment-fault-processor-unavailable = Die Zahlung ist gerade nicht möglich, und es wurde nichts genommen. Unterschreiben Sie ein neues Mandat für den Warenkorb, der jetzt angeboten wird, oder zahlen Sie auf anderem Weg.
payment-fault-hold-timed-out = Die Zahlung konnte nicht rechtzeitig vorgemerkt werden, und es wurde nichts genommen. Unterschreiben Sie eine neue für das, was jetzt angeboten wird.
