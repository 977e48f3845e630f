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
