# What the page says on which people pay, and its script. Values are plain text.

pay-price-on = { $price } en { $networks }
pay-either = { $one } o { $other }
pay-time-left = Se puede pagar durante
pay-with-wallet = Pagar con un monedero
pay-wallet-about = Su monedero muestra lo que firma y le pregunta antes. Usted firma que el precio puede ir a esta cuenta, una sola vez, y nada más. Firmar no cuesta comisión:
pay-choose-wallet = Elija su monedero
pay-choose-network = Elija la red
pay-choose-amount = Elija cuánto
pay-amount = { $count ->
    [one] { $price }: esta pregunta
   *[other] { $price }: esta pregunta y { $others } más
}
pay-needs-script = Los monederos de este navegador necesitan el script de esta página. Sin él, le quedan los caminos de abajo.
pay-looking = Buscando monederos en este navegador…
pay-no-wallet = No hay ningún monedero en este navegador. Abra esta página en el navegador de una aplicación de monedero, por ejemplo en su teléfono.
pay-browser-wallet = El monedero de este navegador
pay-connecting = { $wallet } le pregunta si esta página puede ver su cuenta.
pay-switching = { $wallet } le pregunta si cambiar a { $network }.
pay-adding = { $wallet } le pregunta si añadir { $network }.
pay-checking = Mirando cuánto hay en la cuenta…
pay-signing = { $wallet } le pide que firme que { $price } pueden ir a { $payee }, hasta las { $time }.
pay-sending = Firmado. Se está comprobando el pago…
pay-silent = { $wallet } aún no ha contestado. Quizá esté bloqueado, o le espere en una ventana propia; con un monedero físico esto tarda minutos. Esta página espera.
pay-cancel = Cancelar
pay-try-again = Intentarlo de nuevo
pay-send-again = Enviarlo de nuevo
pay-declined = Ha dicho que no en el monedero. No se firmó ni se pagó nada.
pay-cancelled = Ha cancelado. Si el monedero aún pregunta, diga que no: lo que se firme ahora no se usa.
pay-busy = El monedero ya tiene una pregunta abierta. Contéstela allí e inténtelo de nuevo.
pay-locked = El monedero no muestra ninguna cuenta a esta página. Desbloquéelo e inténtelo de nuevo.
pay-wrong-network = El monedero está en otra red. Cámbielo a { $network } e inténtelo de nuevo.
pay-unknown-network = El monedero no conoce { $network }. Añádala allí e inténtelo de nuevo.
pay-too-little = La cuenta tiene { $has }, y se piden { $price }. Elija otra cuenta en el monedero o recárguela. No se pagó nada.
pay-too-late = La firma llegó cuando su tiempo había pasado, y no se usa. No se pagó nada: firme de nuevo.
pay-wallet-failed = El monedero no pudo hacerlo. No se pagó nada.
pay-unsent = El pago firmado no llegó aquí. Envíelo de nuevo: se toma una vez como máximo.
pay-unanswered = El pago no se tomó ahora mismo. Envíelo de nuevo: se toma una vez como máximo.
pay-refused = { $code ->
    [INSUFFICIENT_FUNDS] La cuenta tiene demasiado poco. No se tomó nada.
    [INVALID_SIGNATURE] La firma no es la de la cuenta. No se tomó nada.
    [EXPIRED_PAYMENT] El tiempo de la firma ha pasado. No se tomó nada: firme de nuevo.
    [DUPLICATE_NONCE] Este pago ya se usó. Ahora no se tomó nada.
   *[other] El pago no se pudo comprobar. No se tomó nada.
}
pay-paid-now = Pagado. Aquí llega la respuesta…
pay-reserved-now = Reservado. Aquí llega la respuesta, y el dinero se toma cuando esté completa…
pay-paid-elsewhere = Ya se pagó, en otra pestaña o ventana. No hay nada más que pagar.
pay-pending-elsewhere = Se envió un pago en otra pestaña o ventana, y se está confirmando. No pague otra vez.
pay-over = El tiempo para pagar aquí ha pasado. No se pagó nada: pregunte de nuevo y tendrá una oferta nueva.
pay-ask-again = Preguntar de nuevo
pay-with-phone = Pagar con un teléfono
pay-phone-about = Escanee esto con una aplicación de monedero, o con la cámara y ábralo en el navegador de una. Es la dirección de esta página, y quien la tiene puede pagar aquí.
pay-qr = Código QR con la dirección de esta página
pay-by-program = Pagar con un programa
pay-credit-left = Su crédito
pay-with-card = Pagar con tarjeta
pay-by-card = Pagar { $price } con tarjeta
pay-card-about = Usted paga en una página de nuestro proveedor de pagos y vuelve aquí. Este sitio nunca ve su tarjeta.
pay-card-after = Usted paga en una página de nuestro proveedor de pagos y vuelve aquí. Este sitio nunca ve su tarjeta. El importe se reserva en ella y se cobra cuando la respuesta está completa.
pay-card-begun = Usted empezó a pagar con tarjeta; hasta ahora no se ha pagado nada allí.
pay-card-on = Continuar con el pago con tarjeta

# Por qué se rechazó un mandato de AP2, por su código.

payment-fault-mandate-unreadable = No es un mandato de pago de AP2 que se pueda leer.
payment-fault-authorization-missing = El mandato de pago no está firmado por quien paga.
payment-fault-authorization-unreadable = La firma del mandato de pago no se puede leer.
payment-fault-issuer-unknown = Quien responde por el pagador no es de confianza aquí.
payment-fault-key-unknown = El mandato de pago está firmado con una clave que su emisor no tiene.
payment-fault-keys-unavailable = Las claves de quien responde por el pagador no están disponibles ahora. No se ha cobrado nada: inténtelo de nuevo en un minuto.
payment-fault-algorithm-refused = El mandato de pago está firmado con un algoritmo que aquí no se acepta.
payment-fault-issuer-signature = La credencial del pagador no está firmada por su emisor.
payment-fault-credential-expired = La credencial o la firma del pagador ha caducado. Firme un nuevo mandato.
payment-fault-credential-early = La credencial o la firma del pagador aún no es válida.
payment-fault-credential-status = La credencial del pagador se puede revocar, y aquí no se puede saber si lo fue. Muestre una sin `status`.
payment-fault-holder-missing = La credencial no se mostró con la clave del propio pagador.
payment-fault-holder-signature = El mandato de pago no está firmado con la clave de quien paga.
payment-fault-credential-swapped = El pagador firmó para otra credencial que la que se adjunta.
payment-fault-mandate-audience = El mandato de pago se firmó para otra persona.
payment-fault-mandate-nonce = La firma no es para este carrito: su nonce debe ser el identificador del carrito.
payment-fault-mandate-time = El mandato de pago se firmó en otro momento que la oferta de este carrito. Firme uno nuevo.
payment-fault-cart-unsigned = La firma del pagador no cubre este carrito.
payment-fault-payment-unsigned = La firma del pagador no cubre este mandato de pago.
payment-fault-signed-unknown = La firma del pagador cubre algo que no se adjunta.
payment-fault-other-cart = El mandato de pago es para otro carrito.
payment-fault-cart-altered = El carrito adjunto no es el que se ofreció.
payment-fault-cart-expired = El plazo para pagar este carrito ha terminado. Pida uno nuevo.
payment-fault-cart-outdated = El carrito se hizo para otra forma de liquidar que la que se usa aquí ahora. Pida uno nuevo.
payment-fault-mandate-amount = El mandato de pago es de otro importe que el carrito.
payment-fault-mandate-currency = El mandato de pago está en otra moneda que el carrito.
payment-fault-amount-pending = El total del mandato de pago aún puede cambiar y no se acepta.
payment-fault-mandate-payee = El mandato de pago paga a otra persona.
payment-fault-mandate-refund = El mandato de pago cuenta con un plazo de reembolso más largo que el del carrito.
payment-fault-mandate-method = El mandato de pago usa un método que el carrito no ofrece.
payment-fault-intent-unsigned = La firma del pagador no cubre el mandato de intención.
payment-fault-intent-expired = El mandato de intención ha caducado.
payment-fault-intent-merchant = El mandato de intención permite otros comerciantes.
payment-fault-intent-item = El mandato de intención permite otras cosas que las del carrito.
payment-fault-intent-refund = El mandato de intención exige que se pueda devolver, y una respuesta no se puede.
payment-fault-intent-limit = El mandato de intención tiene un límite que aquí no se puede juzgar, o no se puede leer.
payment-fault-x402-missing = El mandato de pago no contiene un pago de x402.
payment-fault-processor-declined = El pago fue rechazado y no se ha cobrado nada. Pague de otra manera.
payment-fault-processor-unavailable = El pago no es posible en este momento y no se ha cobrado nada. Firme un nuevo mandato para el carrito que se ofrece ahora, o pague de otra forma.
payment-fault-hold-timed-out = El pago no se pudo reservar a tiempo y no se ha cobrado nada. Firme uno nuevo para lo que se ofrece ahora.
