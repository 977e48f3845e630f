# What the page says on which people pay, and its script. Values are plain text.

pay-price-on = { $price } sur { $networks }
pay-either = { $one } ou { $other }
pay-time-left = Peut être payé encore pendant
pay-with-wallet = Payer avec un portefeuille
pay-wallet-about = Votre portefeuille montre ce que vous signez et vous le demande d’abord. Vous signez que le prix peut aller à ce compte, une seule fois, et rien d’autre. Signer ne coûte pas de frais :
pay-choose-wallet = Choisissez votre portefeuille
pay-choose-network = Choisissez le réseau
pay-choose-amount = Choisissez le montant
pay-amount = { $count ->
    [one] { $price } : cette question
   *[other] { $price } : cette question et { $others } autres
}
pay-needs-script = Les portefeuilles de ce navigateur ont besoin du script de cette page. Sans lui, les moyens ci-dessous vous restent ouverts.
pay-looking = Recherche de portefeuilles dans ce navigateur…
pay-no-wallet = Il n’y a pas de portefeuille dans ce navigateur. Ouvrez cette page dans le navigateur d’une application de portefeuille, par exemple sur votre téléphone.
pay-browser-wallet = Le portefeuille de ce navigateur
pay-connecting = { $wallet } vous demande si cette page peut voir votre compte.
pay-switching = { $wallet } vous demande s’il faut passer à { $network }.
pay-adding = { $wallet } vous demande s’il faut ajouter { $network }.
pay-checking = Vérification du solde du compte…
pay-signing = { $wallet } vous demande de signer que { $price } peuvent aller à { $payee }, jusqu’à { $time }.
pay-sending = Signé. Le paiement est en cours de vérification…
pay-silent = { $wallet } n’a pas encore répondu. Il est peut-être verrouillé, ou vous attend dans une fenêtre à lui ; avec un portefeuille matériel, cela prend des minutes. Cette page attend.
pay-cancel = Annuler
pay-try-again = Réessayer
pay-send-again = Renvoyer
pay-declined = Vous avez refusé dans le portefeuille. Rien n’a été signé ni payé.
pay-cancelled = Vous avez annulé. Si le portefeuille demande encore, refusez : ce qui est signé maintenant n’est pas utilisé.
pay-busy = Le portefeuille a déjà une question ouverte. Répondez-y, puis réessayez.
pay-locked = Le portefeuille ne montre aucun compte à cette page. Déverrouillez-le, puis réessayez.
pay-wrong-network = Le portefeuille est sur un autre réseau. Passez à { $network }, puis réessayez.
pay-unknown-network = Le portefeuille ne connaît pas { $network }. Ajoutez-le, puis réessayez.
pay-too-little = Le compte a { $has }, et il faut { $price }. Choisissez un autre compte dans le portefeuille ou approvisionnez-le. Rien n’a été payé.
pay-too-late = La signature est arrivée après son délai et n’est pas utilisée. Rien n’a été payé : signez à nouveau.
pay-wallet-failed = Le portefeuille n’a pas pu le faire. Rien n’a été payé.
pay-unsent = Le paiement signé n’est pas arrivé ici. Renvoyez-le : il est pris une fois au plus.
pay-unanswered = Le paiement n’a pas été pris à l’instant. Renvoyez-le : il est pris une fois au plus.
pay-refused = { $code ->
    [INSUFFICIENT_FUNDS] Le compte n’a pas assez. Rien n’a été pris.
    [INVALID_SIGNATURE] La signature n’est pas celle du compte. Rien n’a été pris.
    [EXPIRED_PAYMENT] Le délai de la signature est passé. Rien n’a été pris : signez à nouveau.
    [DUPLICATE_NONCE] Ce paiement a déjà été utilisé. Rien n’a été pris maintenant.
   *[other] Le paiement n’a pas pu être vérifié. Rien n’a été pris.
}
pay-paid-now = Payé. Voici la réponse…
pay-reserved-now = Réservé. Voici la réponse ; l’argent est pris quand elle est complète…
pay-paid-elsewhere = C’est déjà payé, dans un autre onglet ou une autre fenêtre. Il n’y a plus rien à payer.
pay-pending-elsewhere = Un paiement a été envoyé dans un autre onglet ou une autre fenêtre, et il est en cours de confirmation. Ne payez pas une seconde fois.
pay-over = Le délai pour payer ici est passé. Rien n’a été payé : demandez à nouveau pour une nouvelle offre.
pay-ask-again = Demander à nouveau
pay-with-phone = Payer avec un téléphone
pay-phone-about = Scannez ceci avec une application de portefeuille, ou avec l’appareil photo et ouvrez-le dans le navigateur d’une telle application. C’est l’adresse de cette page, et qui l’a peut payer ici.
pay-qr = Code QR avec l’adresse de cette page
pay-by-program = Payer avec un programme
pay-credit-left = Votre crédit
pay-with-card = Payer par carte
pay-by-card = Payer { $price } par carte
pay-card-about = Vous payez sur une page de notre prestataire de paiement, puis vous revenez ici. Ce site ne voit jamais votre carte.
pay-card-after = Vous payez sur une page de notre prestataire de paiement, puis vous revenez ici. Ce site ne voit jamais votre carte. Le montant y est réservé, et prélevé une fois la réponse complète.
pay-card-begun = Vous avez commencé à payer par carte ; rien n’y a été payé jusqu’ici.
pay-card-on = Continuer vers le paiement par carte

# Pourquoi un mandat AP2 a été refusé, par code.

payment-fault-mandate-unreadable = Ce n’est pas un mandat de paiement AP2 lisible.
payment-fault-authorization-missing = Le mandat de paiement n’est pas signé par son payeur.
payment-fault-authorization-unreadable = La signature du mandat de paiement est illisible.
payment-fault-issuer-unknown = Le garant du payeur n’est pas reconnu ici.
payment-fault-key-unknown = Le mandat de paiement est signé avec une clé que son émetteur n’a pas.
payment-fault-keys-unavailable = Les clés du garant du payeur sont indisponibles pour le moment. Rien n’a été prélevé : réessayez dans une minute.
payment-fault-algorithm-refused = Le mandat de paiement est signé avec un algorithme non accepté ici.
payment-fault-issuer-signature = Le justificatif du payeur n’est pas signé par son émetteur.
payment-fault-credential-expired = Le justificatif ou la signature du payeur a expiré. Signez un nouveau mandat.
payment-fault-credential-early = Le justificatif ou la signature du payeur n’est pas encore valable.
payment-fault-credential-status = Le justificatif du payeur est révocable, et on ne peut pas vérifier ici s’il l’a été. Présentez-en un sans `status`.
payment-fault-holder-missing = Le justificatif n’a pas été présenté avec la clé du payeur.
payment-fault-holder-signature = Le mandat de paiement n’est pas signé avec la clé de son payeur.
payment-fault-credential-swapped = Le payeur a signé pour un autre justificatif que celui qui est joint.
payment-fault-mandate-audience = Le mandat de paiement a été signé pour quelqu’un d’autre.
payment-fault-mandate-nonce = La signature n’est pas pour ce panier : son nonce doit être l’identifiant du panier.
payment-fault-mandate-time = Le mandat de paiement a été signé à un autre moment que l’offre de ce panier. Signez-en un nouveau.
payment-fault-cart-unsigned = La signature du payeur ne couvre pas ce panier.
payment-fault-payment-unsigned = La signature du payeur ne couvre pas ce mandat de paiement.
payment-fault-signed-unknown = La signature du payeur couvre un élément qui n’est pas joint.
payment-fault-other-cart = Le mandat de paiement concerne un autre panier.
payment-fault-cart-altered = Le panier joint n’est pas celui qui a été proposé.
payment-fault-cart-expired = Le délai de paiement de ce panier est dépassé. Redemandez-en un nouveau.
payment-fault-cart-outdated = Le panier a été fait pour un autre règlement que celui qui vaut ici maintenant. Redemandez-en un nouveau.
payment-fault-mandate-amount = Le mandat de paiement porte sur un autre montant que le panier.
payment-fault-mandate-currency = Le mandat de paiement est dans une autre devise que le panier.
payment-fault-amount-pending = Le total du mandat de paiement peut encore changer et n’est pas accepté.
payment-fault-mandate-payee = Le mandat de paiement paie quelqu’un d’autre.
payment-fault-mandate-refund = Le mandat de paiement compte sur un délai de remboursement plus long que celui du panier.
payment-fault-mandate-method = Le mandat de paiement utilise un moyen que le panier ne propose pas.
payment-fault-intent-unsigned = La signature du payeur ne couvre pas le mandat d’intention.
payment-fault-intent-expired = Le mandat d’intention a expiré.
payment-fault-intent-merchant = Le mandat d’intention autorise d’autres marchands.
payment-fault-intent-item = Le mandat d’intention autorise autre chose que le contenu du panier.
payment-fault-intent-refund = Le mandat d’intention exige un remboursement possible, ce qu’une réponse ne permet pas.
payment-fault-intent-limit = Le mandat d’intention contient une limite qu’on ne peut pas juger ici, ou il est illisible.
payment-fault-x402-missing = Le mandat de paiement ne contient pas de paiement x402.
payment-fault-processor-declined = Le paiement a été refusé, et rien n’a été prélevé. Payez autrement.
payment-fault-processor-unavailable = Le paiement est impossible pour le moment, et rien n’a été prélevé. Signez un nouveau mandat pour le panier proposé maintenant, ou payez autrement.
payment-fault-hold-timed-out = Le paiement n’a pas pu être réservé à temps, et rien n’a été prélevé. Signez-en un nouveau pour ce qui est proposé maintenant.
