//! What is sold, as terms that a rule makes, and as the cart mandate that one payer is shown: with the state's name in it,
//! and signed by this host.

use forecourt_core::policy::{AcceptedPayment, PresentedTerms};
use forecourt_core::{Timestamp, json};
use forecourt_jose::encoding::{from_base64url, sha256, to_base64url};
use forecourt_jose::jws::{self, Jws};
use forecourt_jose::{SigningKey, claims};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::amount::{Amount, Item};
use super::{PROCESSOR_METHOD, SCHEME, X402_METHOD};

/// The member that holds the terms, in an offer that was not shown to anybody yet.
const TERMS: &str = "cart_terms";
/// The member of a way to pay that says which processor it is.
const PROCESSOR_URL: &str = "payment_processor_url";

/// What a cart is made of; the same for everybody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CartTerms {
    /// This host, by its URL.
    pub(super) merchant: String,
    /// What people call it.
    pub(super) merchant_name: String,
    /// The agent that answers, by its URL.
    pub(super) agent: String,
    /// What is sold, by the name that an intent may allow.
    pub(super) sku: String,
    /// The same for people.
    pub(super) label: String,
    /// What it costs.
    pub(super) price: Amount,
    /// How it may be paid.
    pub(super) method_data: Vec<MethodData>,
    /// Who is to read the signature of the cart: whoever moves the money.
    pub(super) audience: String,
}

/// A way to pay. W3C Payment Request 1.1, `PaymentMethodData`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MethodData {
    pub(super) supported_methods: String,
    pub(super) data: Map<String, Value>,
}

/// `CartContents` of AP2 v0.1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CartContents {
    id: String,
    user_cart_confirmation_required: bool,
    payment_request: PaymentRequest,
    cart_expiry: String,
    merchant_name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PaymentRequest {
    method_data: Vec<MethodData>,
    details: PaymentDetails,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PaymentDetails {
    id: String,
    display_items: Vec<Item>,
    total: Item,
}

/// A cart as it was shown.
#[derive(Debug, Clone)]
pub(super) struct Cart {
    contents: CartContents,
    /// The whole mandate, as it was made.
    mandate: Value,
    /// The host and its agent, as the cart's signature names them.
    merchant: String,
    agent: String,
    /// When it was signed.
    pub(super) signed_at: Timestamp,
    /// From when on it is of no use.
    pub(super) until: Timestamp,
}

impl CartTerms {
    /// The offer that stands in a rule.
    pub(super) fn into_offer(self) -> Option<AcceptedPayment> {
        let payload = Map::from_iter([(TERMS.to_owned(), serde_json::to_value(self).ok()?)]);
        Some(AcceptedPayment { scheme: SCHEME.to_owned(), payload })
    }

    /// The terms in an offer; `None` for one that brings its own mandate, such as an agent's.
    pub(super) fn read(offer: &AcceptedPayment) -> Option<Self> {
        Self::deserialize(offer.payload.get(TERMS)?).ok()
    }

    /// The cart mandate for a state, signed with `key`.
    pub(super) fn sign(self, made_for: &PresentedTerms<'_>, key: &SigningKey) -> Option<AcceptedPayment> {
        let PresentedTerms { reference, at, until } = *made_for;
        let item = |label: String, sku: Option<String>| Item {
            label,
            amount: self.price.clone(),
            pending: Some(false),
            // Left out, its readers take it for 30 days.
            refund_period: Some(0),
            sku,
        };
        let asks = |name: &str| (format!("request_{name}"), Value::from(false));
        let contents = CartContents {
            id: reference.to_owned(),
            user_cart_confirmation_required: true,
            payment_request: PaymentRequest {
                details: PaymentDetails {
                    id: reference.to_owned(),
                    display_items: vec![item(self.label.clone(), Some(self.sku.clone()))],
                    total: item("Total".to_owned(), None),
                },
                options: Some(["payer_name", "payer_email", "payer_phone", "shipping"].map(asks).into_iter().collect()),
                method_data: self.method_data,
            },
            cart_expiry: until.to_string(),
            merchant_name: self.merchant_name,
        };
        let contents = serde_json::to_value(contents).ok()?;
        let cart_hash = digest(&contents)?;
        let claims = json!({
            "iss": self.merchant, "sub": self.agent, "aud": self.audience,
            "iat": at.as_second(), "exp": until.as_second(),
            "jti": to_base64url(&sha256(format!("{reference} {at}").as_bytes())),
            "cart_hash": to_base64url(&cart_hash),
        });
        let signed = jws::sign(key, "JWT", claims.to_string().as_bytes());
        let payload = [("contents".to_owned(), contents), ("merchant_authorization".to_owned(), signed.into())];
        Some(AcceptedPayment { scheme: SCHEME.to_owned(), payload: payload.into_iter().collect() })
    }
}

impl Cart {
    /// The cart of an offer as it was shown. Its signature is this host's own, out of its own records, and not verified
    /// once more. `None` for another offer.
    pub(super) fn read(offer: &AcceptedPayment) -> Option<Self> {
        if offer.scheme != SCHEME {
            return None;
        }
        let contents = CartContents::deserialize(offer.payload.get("contents")?).ok()?;
        let signed = Jws::parse(offer.payload.get("merchant_authorization")?.as_str()?).ok()?;
        let claimed = claims::read(signed.unverified_payload()).ok()?;
        let text = |name: &str| claimed.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            until: contents.cart_expiry.parse().ok()?,
            contents,
            mandate: Value::Object(offer.payload.clone()),
            merchant: text("iss")?,
            agent: text("sub")?,
            signed_at: claims::moment(&claimed, "iat").ok().flatten()?,
        })
    }

    /// Its name, by which a payment means it.
    pub(super) fn id(&self) -> &str {
        &self.contents.id
    }

    /// The host that sells, by its URL: whoever else a signature is made for could show it here.
    pub(super) fn merchant(&self) -> &str {
        &self.merchant
    }

    /// What it costs.
    pub(super) fn total(&self) -> &Amount {
        &self.contents.payment_request.details.total.amount
    }

    /// Whether `name` is who sells: by its name, its URL, its domain, or the URL of its agent.
    pub(super) fn is_merchant(&self, name: &str) -> bool {
        let domain = self.merchant.split_once("://").map(|(_, domain)| domain);
        name == self.contents.merchant_name || name == self.merchant || name == self.agent || Some(name) == domain
    }

    /// Whether everything in it goes by `sku`.
    pub(super) fn sells(&self, sku: &str) -> bool {
        self.items().iter().all(|item| item.sku.as_deref() == Some(sku))
    }

    /// Whether everything in it can be given back.
    pub(super) fn is_refundable(&self) -> bool {
        self.items().iter().all(|item| item.refund_period.is_none_or(|days| days > 0))
    }

    fn items(&self) -> &[Item] {
        &self.contents.payment_request.details.display_items
    }

    /// Whether it can be paid by this method.
    pub(super) fn takes(&self, method: &str) -> bool {
        self.contents.payment_request.method_data.iter().any(|data| data.supported_methods == method)
    }

    /// What it asks of payers of x402: an offer for each version.
    pub(super) fn x402_offers(&self) -> Vec<AcceptedPayment> {
        x402_offers(&self.contents.payment_request.method_data)
    }

    /// The processor that settles it, by its URL; `None` where that is x402.
    pub(super) fn processor(&self) -> Option<&str> {
        let mut methods = self.contents.payment_request.method_data.iter();
        let by_processor = methods.find(|data| data.supported_methods == PROCESSOR_METHOD)?;
        by_processor.data.get(PROCESSOR_URL)?.as_str()
    }

    /// Days within which it is refunded.
    pub(super) fn refund_days(&self) -> Option<u32> {
        self.contents.payment_request.details.total.refund_period
    }

    /// Whether a payer's copy says the same: the contents, and the signature where it has one.
    pub(super) fn is_said_by(&self, copy: &Value) -> bool {
        let is_same = |key: &str| digest(&copy[key]).is_some() && digest(&copy[key]) == digest(&self.mandate[key]);
        let is_signed = copy.get("merchant_authorization").is_some_and(|signed| !signed.is_null());
        is_same("contents") && (!is_signed || is_same("merchant_authorization"))
    }

    /// Whether `hash` is that of the cart: of its contents, as the cart's own signature has it, or of the whole mandate.
    pub(super) fn is_hashed_as(&self, hash: &str) -> bool {
        is_hash_of(hash, &self.mandate["contents"]) || is_hash_of(hash, &self.mandate)
    }

    /// The hash of its contents, in base64url.
    pub(super) fn hash(&self) -> String {
        digest(&self.mandate["contents"]).map(|hash| to_base64url(&hash)).unwrap_or_default()
    }

    /// The whole mandate.
    pub(super) fn mandate(&self) -> &Value {
        &self.mandate
    }
}

/// SHA-256 of the canonical form (RFC 8785); `None` where there is none.
pub(super) fn digest(value: &Value) -> Option<Vec<u8>> {
    json::canonical(value).ok().map(|bytes| sha256(&bytes))
}

/// Whether a text is the hash of `value`, in base64url or in hex: AP2 v0.1 says neither.
pub(super) fn is_hash_of(text: &str, value: &Value) -> bool {
    let Some(digest) = digest(value) else { return false };
    let hex = || digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    from_base64url(text).is_some_and(|bytes| bytes == digest) || text.eq_ignore_ascii_case(&hex())
}

/// What ways to pay ask of payers of x402: an offer for each that is one.
pub(super) fn x402_offers(methods: &[MethodData]) -> Vec<AcceptedPayment> {
    let x402 = methods.iter().filter(|data| data.supported_methods == X402_METHOD);
    let offer =
        |data: &MethodData| AcceptedPayment { scheme: crate::x402::SCHEME.to_owned(), payload: data.data.clone() };
    x402.map(offer).collect()
}

/// The way to pay by a processor, whose address a payer may want to know.
pub(super) fn processor_method(processor: &str) -> MethodData {
    let data = Map::from_iter([(PROCESSOR_URL.to_owned(), Value::from(processor))]);
    MethodData { supported_methods: PROCESSOR_METHOD.to_owned(), data }
}

/// The ways to pay by x402: its offers, a method for each.
pub(super) fn x402_methods(offers: Vec<AcceptedPayment>) -> Vec<MethodData> {
    let method = |offer: AcceptedPayment| MethodData { supported_methods: X402_METHOD.to_owned(), data: offer.payload };
    offers.into_iter().map(method).collect()
}
