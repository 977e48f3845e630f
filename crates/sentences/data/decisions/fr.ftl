# What the pages say on which people decide: consents, payments, refusals and signing in. Values are plain text.

decision-asks-agreement = { $name } demande votre accord
decision-do-you-agree = Êtes-vous d’accord ?
decision-what-you-agree-to = Ce que vous acceptez
decision-who-asks = Qui demande
decision-how-long = Durée
decision-no-end = Sans date de fin
decision-only-who-asked = Seule la personne qui a posé la question peut décider.
decision-sign-in-first = Connectez-vous d’abord sous son nom.
decision-signed-in-as = Vous êtes connecté en tant que { $name }.
decision-agree = J’accepte
decision-disagree = Non, je refuse
decision-after-consent = Si vous acceptez, vous revenez à { $name }, qui répond à votre question. Sinon, il ne se passe rien. Il vous reste { $time } pour décider.
decision-terms-too-long = Ces conditions sont trop longues pour être affichées ici : vous ne pouvez donc pas les accepter sur cette page.
decision-asks-payment = { $name } demande un paiement
decision-has-price = Cette réponse est payante
decision-costs = Cette réponse coûte { $price }
decision-not-taken = Ce paiement n’a pas été accepté.
decision-not-charged = Rien ne vous a été débité, et vous pouvez réessayer.
decision-what-it-costs = Ce que cela coûte
decision-price = Prix
decision-price-below = Selon les détails ci-dessous
decision-who-gets-it = Qui le reçoit
decision-pays-for = Ce que cela paie
decision-when-taken = Quand il est prélevé
decision-before-answer = Avant la réponse
decision-when-complete = Quand la réponse est complète ; d’ici là, la somme est seulement réservée
decision-how-to-pay = Comment payer
decision-pay-by-program = Donnez cette adresse à un programme qui paie avec x402, comme un portefeuille ou votre assistant. Il paie le prix ci-dessus, une fois :
decision-paste = J’ai un paiement signé à coller
decision-signed-payment = Le paiement signé, tel que votre programme l’a écrit
decision-payment-form = En JSON, ou le même en base64 comme dans l’en-tête X-PAYMENT.
decision-pay = Payer { $price }
decision-cannot-pay-here = Ce paiement ne peut pas être accepté sur une page ici. Le programme avec lequel vous avez posé la question le pourra peut-être.
decision-way-details = { $way } : les détails
decision-no-thanks = Non, merci
decision-after-payment = Dès que le paiement est arrivé, { $name } répond à votre question. Vous êtes débité une fois au plus, et il vous reste { $time } pour décider.
decision-after-check = Dès que le paiement est vérifié, { $name } répond à votre question. Vous êtes débité quand la réponse est complète, une fois au plus, et il vous reste { $time } pour décider.
decision-covers-turn = La réponse à cette seule question
decision-covers-period = Toutes vos questions pendant { $time }
decision-covers-credit = Vos questions jusqu’à épuisement : ce que vous payez en plus du prix reste en crédit
decision-agreed = Vous avez accepté
decision-can-answer = { $name } peut maintenant répondre à votre question.
decision-paid = Payé
decision-arrived = Le paiement est arrivé.
decision-reserved = Réservé
decision-taken-later = Le paiement est vérifié et rien n’est encore prélevé : il l’est quand la réponse est complète.
decision-get-answer = Voir la réponse
decision-go-back = Retournez là où vous avez posé la question, et envoyez-la de nouveau.
decision-said-no = Vous avez refusé
decision-nothing-agreed = Rien n’a été accepté, et votre question n’a pas reçu de réponse.
decision-nothing-paid = Rien n’a été payé, et votre question n’a pas reçu de réponse.
decision-changed-mind = Si vous changez d’avis, demandez de nouveau à { $name }.
decision-back-to = Retour à { $name }
decision-being-confirmed = Votre paiement est en cours de confirmation
decision-no-word-yet = Il a été envoyé, et on ne sait pas encore s’il est arrivé. Ne payez pas une seconde fois : cette page est débitée une fois au plus.
decision-look-again = Vérifier de nouveau
decision-the-terms = Les conditions
decision-too-many-messages = Vous avez posé autant de questions qu’une personne peut en poser en une heure. Veuillez réessayer plus tard.
decision-auto-deduct = Prélevé sur votre crédit sans nouvelle demande
decision-per-turn-max = Au plus par question, en dollars américains
decision-per-period-max = Au plus par période, en dollars américains
decision-pay-to = Payé à
decision-amount = Montant, dans la plus petite unité
decision-settled-within = Secondes pour effectuer le règlement

span-seconds = { $count ->
    [one] { $count } seconde
   *[other] { $count } secondes
}
span-minutes = { $count ->
    [one] { $count } minute
   *[other] { $count } minutes
}
span-hours = { $count ->
    [one] { $count } heure
   *[other] { $count } heures
}
span-days = { $count ->
    [one] { $count } jour
   *[other] { $count } jours
}

refusal-try-again-in = Nouvel essai possible dans { $time }.
refusal-too-fast = Vous posez des questions plus vite que cet hôte ne le permet.
refusal-credentials = Justificatifs acceptés
refusal-right = Ce qui serait correct
refusal-declined = Cet agent a refusé.
refusal-title = { $kind ->
    [consent_required] Accord nécessaire
    [unauthorized] Connexion nécessaire
    [payment_required] Paiement nécessaire
    [forbidden] Non autorisé
    [too_many_requests] Trop de demandes
    [unavailable_for_legal_reasons] Indisponible pour des raisons légales
    [service_unavailable] Service indisponible
   *[other] Refusé
}
refusal-action = { $kind ->
    [unauthorized] Se connecter
    [payment_required] Payer maintenant
    [unavailable_for_legal_reasons] Qui bloque ceci
   *[other] Continuer
}

account-signed-in = Connecté
account-signed-out = Déconnecté
account-signed-out-here = Vous êtes déconnecté de ce site.
account-sign-in-again = Se reconnecter
account-sign-out-there = Se déconnecter aussi du service de connexion
account-failure-title = { $kind ->
    [not_offered] Cette page n’existe pas
    [unavailable] La connexion est indisponible
    [stale] Veuillez vous reconnecter
    [not_verified] Non connecté
    [not_allowed] Ce compte n’a pas accès
   *[other] Demande non valide
}
account-failure = { $kind ->
    [not_offered] On ne se connecte pas sur ce site.
    [return_to] L’adresse de retour n’est pas sur ce site.
    [unavailable] Le service de connexion est injoignable pour le moment. Votre question est conservée : réessayez dans un instant.
    [stale] Cette connexion a déjà servi, a pris trop de temps ou a été commencée dans un autre navigateur.
    [declined] Le service de connexion ne vous a pas connecté.
    [invalid] La réponse du service de connexion n’a pas pu être vérifiée ; vous n’avez donc pas été connecté.
    [not_allowed] Votre compte n’est pas de ceux qui peuvent se connecter ici.
    [foreign] Cette demande ne vient pas d’une page de ce site.
    [form] Ce formulaire est trop long ou n’est pas arrivé en entier.
   *[other] Impossible de se connecter ou de se déconnecter pour le moment. Réessayez dans un instant.
}

held-title = Accords et paiements
held-by-browser = Personne n’est connecté. Voici les accords que ce navigateur conserve, dans un cookie qui ne dit rien de vous.
held-by-nobody = Personne n’est connecté, et ce navigateur ne conserve ici aucun accord.
held-nothing = Rien n’a été accepté ni payé ici.
held-consents = Ce que vous avez accepté
held-payments = Ce que vous avez payé
held-credit = Crédit restant
held-given-on = Accepté le
held-paid-on = Payé le
held-until = Valable jusqu’au
held-status = État
held-state = { $state ->
    [holds] Valable
    [over] Terminé
    [unused] Payé, pas encore utilisé
    [pending] En cours de confirmation
    [given_back] Remboursé
   *[paid] Payé
}
held-transaction = Transaction
held-withdraw = Retirer
held-withdraw-all = Tout retirer
held-export = Télécharger en JSON
held-newest = Les { $count } plus récents sont affichés.
held-sign-out-everywhere = Se déconnecter partout

page-failure-title = { $code ->
    [agent-not-found] Cet agent n’existe pas
    [not-found] Introuvable
    [task-not-found] Cette tâche n’existe pas
    [already-answered] Déjà répondu
    [unavailable] Indisponible
    [forbidden] Non autorisé
    [too-large] Trop volumineux
    [agent-failed] L’agent n’a pas pu répondre
    [gone] N’est plus là
    [idempotency-unsettled] Déjà en cours
    [idempotency-key-reused] Clé déjà utilisée
    [state-conflict] Ne correspond pas à l’état actuel
    [bad-request] Cette requête est mal formée
    [method-not-allowed] Cette méthode n’existe pas ici
    [not-acceptable] Aucune réponse sous cette forme
    [unsupported-media-type] Ce type de contenu n’est pas lu ici
    [request-timeout] Trop lent
    [storage-quota-exceeded] Trop de données enregistrées
    [storage-full] Plus de place
    [sign-in-needed] Connectez-vous d’abord
    [declined] L’agent a refusé
    [server-error] Erreur de ce côté
   *[other] Cela n’a pas marché
}
page-failure-message = { $code ->
    [agent-not-found] Aucun agent de ce nom n’est ici.
    [not-found] Il n’y a rien à cette adresse, ou plus rien.
    [task-not-found] La tâche est introuvable, ou son délai est passé.
    [already-answered] Cette question a déjà reçu sa réponse, et ce qui a été fait pour elle est consommé.
   *[unavailable] Il y a trop d’activité ici pour le moment. Réessayez dans un instant.
}
decision-open-consent = Accepter
decision-open-payment = Payer
decision-open-sign-in = Se connecter
chat-told-directly = Je vous ai écrit directement : c’est pour vous seul.
chat-encrypted = Je ne peux pas lire ici, car ce salon est chiffré. Écrivez-moi dans un salon sans chiffrement.
file-by-link = Le fichier { $file } ({ $size }) s’ouvre par [ce lien]({ $url }), pour quiconque l’a, jusqu’à { $until }.
file-not-sent = Le fichier { $file } ({ $size }) n’a pas pu être envoyé.
files-not-sent = { $count ->
    [one] Un autre fichier n’a pas été envoyé.
   *[other] { $count } autres fichiers n’ont pas été envoyés.
}
file-not-taken = Votre fichier { $file } n’a pas été accepté : il fait { $size }, et { $max } au plus sont possibles.
