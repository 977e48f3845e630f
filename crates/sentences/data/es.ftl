language-name = español
language-unavailable = Esta respuesta no está disponible en { $language }.
items-generic = resultados

intro-name = Soy **{ $name }**.
intro-examples = Puede preguntar, por ejemplo:
intro-limits = Diga los límites con palabras sencillas, como { $limits }.
intro-limit-time = menos de 30 minutos
intro-limit-without = sin nueces
intro-limit-diet = vegetariano
intro-limit-year = de 1999
intro-more = Diga *más* para ver otros { $items }, o precise una respuesta con *solo …*. Conozco { $count }.
quoted = «{ $text }»

page-of-items = { $items } { $first } a { $last }, en el orden en que coinciden.
answer-is-no = No, { $item } no lo cumple: { $limit }.
one-match = Un resultado: { $best }.
several-match = { $items }: { $count }; el mejor es { $best }.
best-match = Mejor resultado: { $best }.
closest-match = Lo más parecido: { $best }.
with-time = { $item } ({ $time })
limits-applied = Límites: { $limits }.
limits-unknown = No se aplica, porque ningún elemento lo tiene: { $limits }.
not-understood = No entendido, y por eso no aplicado: { $limits }.
broader-shown = Nada aquí menciona «{ $asked }»; se muestra lo que menciona «{ $broader }».
says-nothing-of = Ninguno de estos dice nada de «{ $feature }».
searched-instead = Se buscó { $word } en lugar de { $written }.
left-out = { $count ->
    [one] Se dejó fuera 1 elemento, porque no indica nada sobre este límite: { $limit }.
   *[other] Se dejaron fuera { $count } elementos, porque no indican nada sobre este límite: { $limit }.
}
contradiction = Nada aquí cumple ambos límites: { $first } y { $second }.
reading-without = Sin «{ $limit }»: { $best }
say-more = Diga *más* para ver los siguientes.
item-mentions = Con { $entries }
item-fits = Cumple: { $limits }
promised-by-name = { $limit } (según su nombre)
promised-by-source = { $limit } (según su fuente)
item-why = Por qué: { $why }

nothing-further = Eso es todo: no hay más { $items } para esta pregunta.
nothing-found = No encontré { $items } para esto.
sold-out-beside = Agotado: { $items }.
nothing-available = Nada de esto está disponible ahora. Agotado: { $items }.
nothing-words = Ninguna de estas palabras aparece; pruebe con otras.
nothing-single-limit = Quitar uno solo de los límites no ayudaría; pruebe con otras palabras.
nothing-relaxed = Funciona con un límite menos:
nothing-about = No encontré nada aquí sobre eso.

ask-which = { $items } posibles: { $count }. { $question } Por ejemplo { $options }. Nombre uno, o diga *todos*.
which-kind = ¿De qué tipo?
which-diet = ¿Qué dieta?
which-dish = ¿Qué tipo de plato?
which-cuisine = ¿Qué cocina?
which-genre = ¿Qué género?
which-category = ¿Qué categoría?
which-section = ¿Qué sección?
which-brand = ¿Qué marca?
which-color = ¿Qué color?
which-size = ¿Qué talla?
which-place = ¿Qué lugar?
which-level = ¿Qué nivel?
which-topic = ¿Qué tema?

### What properties are called over their values
facet-kind = tipo
facet-diet = dieta
facet-dish = tipo de plato
facet-cuisine = cocina
facet-genre = género
facet-category = categoría
facet-section = sección
facet-brand = marca
facet-color = color
facet-size = talla
facet-place = lugar
facet-level = nivel
facet-topic = tema
facet-price = precio
facet-rating = valoración
facet-when = cuándo
facet-year = año

search-failed = La búsqueda de este agente falló.
still-reading = Todavía estoy leyendo mis { $items }. Pregunte de nuevo en un momento.

model-not-all-ranked = El modelo de lenguaje no ordenó todos los elementos.
model-question-as-it-stands = La pregunta se tomó tal como está.
model-summary-cut = El resumen no es, o no del todo, del modelo de lenguaje.
model-summary-groundless = El modelo de lenguaje no dio un resumen que cite los elementos.

reduced = { $price } en lugar de { $usual }
serves = { $count ->
    [one] para 1 persona
   *[other] para { $count } personas
}
minutes = { $count ->
    [one] 1 minuto
   *[other] { $count } minutos
}
hours = { $count ->
    [one] 1 hora
   *[other] { $count } horas
}
days = { $count ->
    [one] 1 día
   *[other] { $count } días
}
fact-unstated = { $item } no indica { $what }.
fact-quoted = { $item } no indica { $what } por separado. Su texto dice: «{ $quote }»
fact-others = Otros con ese nombre: { $others }.
fact-time = { $item } tarda { $value }.
fact-time-what = cuánto tarda
fact-cook-time = { $item } se cocina durante { $value }.
fact-cook-time-what = el tiempo de cocción
fact-prep-time = Preparar { $item } lleva { $value }.
fact-prep-time-what = el tiempo de preparación
fact-length = { $item } dura { $value }.
fact-length-what = cuánto dura
fact-yield = { $item } rinde: { $value }.
fact-yield-what = cuánto rinde
fact-calories = { $item } tiene { $value }.
fact-calories-what = cuántas calorías tiene
fact-price = { $item } cuesta { $value }.
fact-price-what = cuánto cuesta
fact-availability = { $item }: { $value }.
fact-availability-what = si está disponible
fact-director = { $item } fue dirigida por { $value }.
fact-director-what = quién la dirigió
fact-author = { $item } es de { $value }.
fact-author-what = de quién es
fact-cast = En { $item }: { $value }.
fact-cast-what = quién actúa
fact-year = { $item } es de { $value }.
fact-year-what = de qué año es
fact-date = { $item } es el { $value }.
fact-date-what = cuándo tiene lugar
fact-ingredients = { $item } se hace con: { $value }.
fact-ingredients-what = los ingredientes
fact-place = { $item } está aquí: { $value }.
fact-place-what = dónde está
fact-hours = { $item } abre: { $value }.
fact-hours-what = cuándo abre
fact-phone = El teléfono de { $item } es { $value }.
fact-phone-what = el teléfono
fact-rating = { $item } tiene una valoración de { $value }.
fact-rating-what = la valoración
fact-category = { $item } pertenece a: { $value }.
fact-category-what = a qué pertenece
fact-difficulty = Dificultad de { $item }: { $value }.
fact-difficulty-what = la dificultad
fact-brand = { $item } es de la marca { $value }.
fact-brand-what = la marca
fact-color = Color de { $item }: { $value }.
fact-color-what = el color
contains-yes = Sí: { $item } indica { $entries }.
contains-no = { $count ->
    [one] { $item } indica 1 ingrediente, y nada de esto: { $what }. Lo que contiene a su vez no se indica.
   *[other] { $item } indica { $count } ingredientes, y nada de esto: { $what }. Lo que contienen a su vez no se indica.
}
suits-yes = { $item } indica: { $diet }.
suits-no = No es { $diet }, según lo que indica: { $item } tiene { $entries }.
suits-unstated = { $item } no indica si es { $diet } ni los ingredientes.
suits-unlisted = { $count ->
    [one] { $item } no indica si es { $diet }. El 1 ingrediente indicado no se opone.
   *[other] { $item } no indica si es { $diet }. Ninguno de los { $count } ingredientes indicados se opone.
}
rating-of = { $value } de { $best }
rating-count = { $count ->
    [one] 1 valoración
   *[other] { $count } valoraciones
}
fact-available-in-stock = en existencia
fact-available-out-of-stock = sin existencias
fact-available-limited = quedan pocas unidades
fact-available-preorder = se puede reservar
fact-available-backorder = pendiente de reposición
fact-available-discontinued = ya no se vende
fact-available-sold-out = agotado
fact-available-online-only = solo en línea
fact-available-in-store-only = solo en tienda

document-closest = Esta es la sección más cercana; quizá no responda a la pregunta.
document-source = De { $section }.
document-continue = … sigue: { $link }
document-near = Al lado: { $sections }.
document-others = Véase también: { $sections }.

failure-too-much = `{ $field }` es más de lo que se lee aquí: como mucho { $bound }
failure-too-large = la petición es más de lo que se lee aquí: como mucho { $bytes } bytes
failure-format = `{ $asked }` no es un formato de este servidor; escribe conversational_search y chatgpt_app
failure-mode = `{ $asked }` no es un modo de este servidor; conoce list y summarize
failure-no-site = aquí no hay ningún sitio `{ $named }`; hay { $known }
failure-no-agent = aquí no hay ningún agente con ese nombre; hay { $known }
failure-no-promise = esa promesa no existe: su token es desconocido, ha caducado o no es suyo; pregunte de nuevo
failure-busy = este servidor tiene demasiado que hacer en este momento; inténtelo más tarde
failure-internal = algo salió mal en este lado
failure-cancelled = esta pregunta se canceló
results-none = No hay nada que mostrar.
results-named = { $count ->
    [one] 1 resultado: { $names }.
   *[other] { $count } resultados: { $names }.
}
results-such-as = { $count } resultados, como { $names }.
result-unnamed = uno sin nombre
answer-takes-longer = Esto tarda un poco más. La respuesta llegará aquí.
answer-whole = La respuesta completa
