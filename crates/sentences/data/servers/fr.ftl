# What is said about signing in at servers behind the host. Values are plain text.

server-sign-in-title = Se connecter à un serveur
server-sign-in-why = Les programmes qui posent des questions en votre nom par cet hôte peuvent utiliser le serveur « { $server } » en votre nom dès que vous vous y êtes connecté. Cet hôte conserve chiffré ce que le serveur lui donne, ne le montre qu’à ce serveur et l’oublie dès que vous le demandez ici.
server-sign-in = S’y connecter
server-signed-in-title = Vous y êtes connecté
server-signed-in-why = Cet hôte interroge le serveur « { $server } » en votre nom lorsque vos programmes l’appellent.
server-sign-in-anew = S’y reconnecter
server-forget = Oublier cette connexion
server-signed-in-now = Le serveur « { $server } » est désormais interrogé en votre nom. Vous pouvez fermer cette page et revenir au programme qui vous a envoyé ici.
server-see-sign-in = Voir ou terminer cette connexion
server-forgotten-title = Oubliée
server-forgotten-why = Cet hôte n’interroge plus le serveur « { $server } » en votre nom.
server-sign-in-again = S’y connecter à nouveau
server-none-title = Introuvable
server-none-why = Aucun serveur de ce nom ne demande de connexion.
server-begin-anew = Recommencer
server-failed-title = Non connecté
server-failure = { $kind ->
    [away] Le service de connexion de ce serveur est injoignable pour le moment. Veuillez réessayer plus tard.
    [invalid] Cette connexion n’est pas valide. Veuillez recommencer.
    [declined] Vous n’y avez pas été connecté.
    [stale] Cette connexion a expiré, a déjà servi ou a été commencée par quelqu’un d’autre. Veuillez recommencer.
    [foreign] Une page d’un autre site l’a demandé ; rien n’a été fait.
   *[other] Les connexions ne peuvent pas être enregistrées pour le moment. Veuillez réessayer plus tard.
}
server-asks-people = Le serveur `{ $server }` est interrogé au nom de personnes qui se connectent ici, et vous n’en faites pas partie.
server-asks-you = Le serveur `{ $server }` est interrogé en votre nom : connectez-vous d’abord ici.
server-asks-sign-in = Le serveur `{ $server }` derrière cet hôte répond à qui s’y est connecté. Faites-le une fois, en votre nom :
