language-name = français
language-unavailable = Cette réponse n'est pas disponible en { $language }.
items-generic = résultats

intro-name = Je suis **{ $name }**.
intro-examples = Vous pouvez demander, par exemple :
intro-limits = Dites vos limites en mots simples, comme { $limits }.
intro-limit-time = moins de 30 minutes
intro-limit-without = sans noix
intro-limit-diet = végétarien
intro-limit-year = de 1999
intro-more = Dites *encore* pour avoir plus de { $items }, ou précisez une réponse avec *seulement …*. J'en connais { $count }.
quoted = « { $text } »

page-of-items = { $items } { $first } à { $last }, dans l'ordre de pertinence.
answer-is-no = Non, ce n’est pas le cas de { $item } : { $limit }.
one-match = Un seul résultat : { $best }.
several-match = { $items } : { $count } ; le meilleur est { $best }.
best-match = Meilleur résultat : { $best }.
closest-match = Le plus proche : { $best }.
with-time = { $item } ({ $time })
limits-applied = Limites : { $limits }.
limits-unknown = Pas appliqué, car aucun élément ne l'a : { $limits }.
not-understood = Pas compris, donc pas appliqué : { $limits }.
broader-shown = Rien ici ne mentionne « { $asked } » ; voici ce qui mentionne « { $broader } ».
says-nothing-of = Aucun de ces résultats ne parle de « { $feature } ».
searched-instead = Recherche faite pour { $word } au lieu de { $written }.
left-out = { $count ->
    [one] { $count } élément a été écarté, car il n'indique rien sur cette limite : { $limit }.
   *[other] { $count } éléments ont été écartés, car ils n'indiquent rien sur cette limite : { $limit }.
}
contradiction = Rien ici ne respecte les deux limites : { $first } et { $second }.
reading-without = Sans « { $limit } » : { $best }
say-more = Dites *encore* pour voir la suite.
item-mentions = Avec { $entries }
item-fits = Respecte : { $limits }
promised-by-name = { $limit } (d'après son nom)
promised-by-source = { $limit } (d'après sa source)
item-why = Pourquoi : { $why }

nothing-further = C'est tout : il n'y a pas d'autres { $items } pour cette question.
nothing-found = Je n'ai pas trouvé de { $items } pour cette question.
sold-out-beside = Épuisé : { $items }.
nothing-available = Rien de cela n'est disponible en ce moment. Épuisé : { $items }.
nothing-words = Aucun de ces mots n'y figure ; essayez-en d'autres.
nothing-single-limit = Enlever une seule des limites ne suffirait pas ; essayez d'autres mots.
nothing-relaxed = Cela marche avec une limite de moins :
nothing-about = Je n'ai rien trouvé ici à ce sujet.

ask-which = { $items } possibles : { $count }. { $question } Par exemple { $options }. Nommez-en un, ou dites *tous*.
which-kind = Quel genre ?
which-diet = Quel régime ?
which-dish = Quel type de plat ?
which-cuisine = Quelle cuisine ?
which-genre = Quel genre ?
which-category = Quelle catégorie ?
which-section = Quelle rubrique ?
which-brand = Quelle marque ?
which-color = Quelle couleur ?
which-size = Quelle taille ?
which-place = Quel lieu ?
which-level = Quel niveau ?
which-topic = Quel thème ?

### What properties are called over their values
facet-kind = type
facet-diet = régime
facet-dish = type de plat
facet-cuisine = cuisine
facet-genre = genre
facet-category = catégorie
facet-section = rubrique
facet-brand = marque
facet-color = couleur
facet-size = taille
facet-place = lieu
facet-level = niveau
facet-topic = sujet
facet-price = prix
facet-rating = note
facet-when = quand
facet-year = année

search-failed = La recherche de cet agent a échoué.
still-reading = Je suis encore en train de lire mes { $items }. Reposez la question dans un instant.

model-not-all-ranked = Le modèle de langage n'a pas classé tous les éléments.
model-question-as-it-stands = La question a été prise telle quelle.
model-summary-cut = Le résumé n'est pas, ou pas entièrement, celui du modèle de langage.
model-summary-groundless = Le modèle de langage n'a donné aucun résumé qui cite les éléments.

reduced = { $price } au lieu de { $usual }
serves = { $count ->
    [one] pour { $count } personne
   *[other] pour { $count } personnes
}
minutes = { $count ->
    [one] { $count } minute
   *[other] { $count } minutes
}
hours = { $count ->
    [one] { $count } heure
   *[other] { $count } heures
}
days = { $count ->
    [one] { $count } jour
   *[other] { $count } jours
}
fact-unstated = { $item } n'indique pas { $what }.
fact-quoted = { $item } n'indique pas { $what } dans un champ à part. Son texte dit : « { $quote } »
fact-others = Autres du même nom : { $others }.
fact-time = { $item } : il faut { $value }.
fact-time-what = combien de temps il faut
fact-cook-time = { $item } cuit { $value }.
fact-cook-time-what = le temps de cuisson
fact-prep-time = La préparation de { $item } prend { $value }.
fact-prep-time-what = le temps de préparation
fact-length = { $item } dure { $value }.
fact-length-what = sa durée
fact-yield = { $item } donne : { $value }.
fact-yield-what = la quantité obtenue
fact-calories = { $item } a { $value }.
fact-calories-what = les calories
fact-price = { $item } coûte { $value }.
fact-price-what = le prix
fact-availability = { $item } : { $value }.
fact-availability-what = la disponibilité
fact-director = { $item } a été réalisé par { $value }.
fact-director-what = qui l'a réalisé
fact-author = { $item } est de { $value }.
fact-author-what = l'auteur
fact-cast = Dans { $item } : { $value }.
fact-cast-what = qui y joue
fact-year = { $item } date de { $value }.
fact-year-what = l'année
fact-date = { $item } a lieu le { $value }.
fact-date-what = quand cela a lieu
fact-ingredients = { $item } se compose de : { $value }.
fact-ingredients-what = les ingrédients
fact-place = { $item } se trouve ici : { $value }.
fact-place-what = le lieu
fact-hours = { $item } est ouvert : { $value }.
fact-hours-what = les horaires
fact-phone = Le numéro de téléphone de { $item } est { $value }.
fact-phone-what = le numéro de téléphone
fact-rating = { $item } est noté { $value }.
fact-rating-what = la note
fact-category = { $item } appartient à : { $value }.
fact-category-what = la catégorie
fact-difficulty = Difficulté de { $item } : { $value }.
fact-difficulty-what = la difficulté
fact-brand = { $item } est de la marque { $value }.
fact-brand-what = la marque
fact-color = Couleur de { $item } : { $value }.
fact-color-what = la couleur
contains-yes = Oui : { $item } indique { $entries }.
contains-no = { $count ->
    [one] { $item } indique { $count } ingrédient, et rien de cela : { $what }. Ce qu'il contient lui-même n'est pas indiqué.
   *[other] { $item } indique { $count } ingrédients, et rien de cela : { $what }. Ce qu'ils contiennent eux-mêmes n'est pas indiqué.
}
suits-yes = { $item } indique : { $diet }.
suits-no = Pas { $diet }, d'après ce qui est indiqué : { $item } a { $entries }.
suits-unstated = { $item } n'indique ni si c'est { $diet }, ni les ingrédients.
suits-unlisted = { $count ->
    [one] { $item } n'indique pas si c'est { $diet }. Le { $count } ingrédient indiqué ne s'y oppose pas.
   *[other] { $item } n'indique pas si c'est { $diet }. Aucun des { $count } ingrédients indiqués ne s'y oppose.
}
rating-of = { $value } sur { $best }
rating-count = { $count ->
    [one] { $count } avis
   *[other] { $count } avis
}
fact-available-in-stock = en stock
fact-available-out-of-stock = pas en stock
fact-available-limited = plus que quelques-uns
fact-available-preorder = en précommande
fact-available-backorder = en réapprovisionnement
fact-available-discontinued = n'est plus vendu
fact-available-sold-out = épuisé
fact-available-online-only = en ligne uniquement
fact-available-in-store-only = en magasin uniquement

document-closest = C'est la section la plus proche ; elle ne répond peut-être pas à la question.
document-source = Tiré de { $section }.
document-continue = … suite : { $link }
document-near = À côté : { $sections }.
document-others = Voir aussi : { $sections }.

failure-too-much = `{ $field }` dépasse ce qui est lu ici : au plus { $bound }
failure-too-large = la requête dépasse ce qui est lu ici : au plus { $bytes } octets
failure-format = `{ $asked }` n'est pas un format de cet hôte ; il écrit conversational_search et chatgpt_app
failure-mode = `{ $asked }` n'est pas un mode de cet hôte ; il connaît list et summarize
failure-no-site = il n'y a pas de site `{ $named }` ici ; il y a { $known }
failure-no-agent = il n'y a pas d'agent de ce nom ici ; il y a { $known }
failure-no-promise = cette promesse n'existe pas : son jeton est inconnu, expiré, ou appartient à quelqu'un d'autre ; reposez la question
failure-busy = cet hôte a trop à faire en ce moment ; réessayez plus tard
failure-internal = une erreur s'est produite de ce côté
failure-cancelled = cette question a été annulée
results-none = Il n'y a rien à montrer.
results-named = { $count ->
    [one] { $count } résultat : { $names }.
   *[other] { $count } résultats : { $names }.
}
results-such-as = { $count } résultats, par exemple { $names }.
result-unnamed = un sans nom
answer-takes-longer = Cela prend un peu plus de temps. La réponse suivra ici.
answer-whole = La réponse entière
