//! Mandates of AP2: carts that are signed, mandates that are verified, and what settles them.

mod refused;
mod settled;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::clock::Clock;
use forecourt_core::policy::{
    AcceptedPayment, OfferBuilder, OfferContext, PaymentScheme, PaymentSubmission, PresentedTerms,
};
use forecourt_core::{Handle, Timestamp, json as strict};
use forecourt_jose::encoding::{sha256, to_base64url};
use forecourt_jose::{SigningKey, jws};
use forecourt_payments::ap2::{Ap2, Ap2Offers, INTENT_KEY, PAYMENT_KEY, submission};
use forecourt_payments::{PaymentsSettings, X402};
use forecourt_testkit::{CountedEntropy, HandClock, PROCESSOR_SECRET, PaymentProcessor};
use serde_json::{Map, Value, json};

use crate::facilitator::{Scripted, opened};

const ISSUER: &str = "https://wallet.example";
const BASE: &str = "https://demo.example";

/// A host that takes mandates, its processor or facilitator, and a payer.
pub(super) struct Market {
    pub(super) ap2: Ap2,
    pub(super) clock: Arc<HandClock>,
    pub(super) processor: PaymentProcessor,
    pub(super) facilitator: Scripted,
    pub(super) host_key: SigningKey,
    pub(super) issuer_key: SigningKey,
    pub(super) holder_key: SigningKey,
    offers: Ap2Offers,
    price: &'static str,
    /// The file of the issuer's keys, as long as this lives.
    _files: tempfile::TempDir,
}

/// What a payer signs, to be changed by a test before it is.
pub(super) struct Draft {
    /// The payment mandate's contents.
    pub(super) contents: Value,
    /// What is sent beside the payment mandate.
    pub(super) beside: Map<String, Value>,
    /// The claims of the credential.
    pub(super) credential: Value,
    /// The claims of the key binding; `None`: the credential signs by itself.
    pub(super) binding: Option<Value>,
    /// Members of the binding that are no matter of the mandates are set after `transaction_data` was.
    pub(super) overruled: Map<String, Value>,
    pub(super) issuer: SigningKey,
    pub(super) holder: SigningKey,
    /// Between the credential and the binding.
    pub(super) disclosures: String,
    pub(super) binding_type: &'static str,
}

pub(super) fn key(seed: u8) -> SigningKey {
    let entropy = CountedEntropy::default();
    for _ in 0..seed {
        forecourt_core::Entropy::fill(&entropy, &mut [0; 32]);
    }
    SigningKey::generate(&entropy)
}

pub(super) fn hash(value: &Value) -> String {
    to_base64url(&sha256(&strict::canonical(value).unwrap()))
}

impl Market {
    pub(super) async fn with_processor() -> Self {
        let processor = PaymentProcessor::default();
        let url = format!("http://{}/", processor.start().await);
        let ap2 = format!("settle = \"processor\"\nprocessor = \"{url}\"\nprocessor_secret = \"{PROCESSOR_SECRET}\"");
        Self::open("", &ap2, "0.50 EUR", processor, Scripted::default())
    }

    /// The same, where signatures of this algorithm alone count.
    pub(super) fn with_algorithm(name: &str) -> Self {
        let ap2 = format!("settle = \"processor\"\nprocessor = \"https://psp.example\"\nalgorithms = [\"{name}\"]");
        Self::open("", &ap2, "0.50 EUR", PaymentProcessor::default(), Scripted::default())
    }

    pub(super) async fn with_x402() -> Self {
        let facilitator = Scripted::default();
        let url = format!("http://{}", facilitator.start().await);
        let top = format!("facilitator = \"{url}\"\npay_to = \"{}\"", crate::scheme::PAYEE);
        Self::open(&top, "settle = \"x402\"", "0.01 USDC", PaymentProcessor::default(), facilitator)
    }

    fn open(top: &str, ap2: &str, price: &'static str, processor: PaymentProcessor, facilitator: Scripted) -> Self {
        let files = tempfile::tempdir().unwrap();
        let (host_key, issuer_key, holder_key) = (key(0), key(1), key(2));
        let jwks = files.path().join("wallet.json");
        std::fs::write(&jwks, json!({"keys": [issuer_key.public().to_jwk()]}).to_string()).unwrap();
        let text = format!(
            "{top}\n[ap2]\nmerchant_name = \"Demo Shop\"\n{ap2}\n[[ap2.issuers]]\nissuer = \"{ISSUER}\"\njwks_file = {jwks:?}\n\
             [networks.base-sepolia]\n"
        );
        let settings: PaymentsSettings = toml::from_str(&text).unwrap();
        let clock = Arc::new(HandClock::new());
        let x402 = settings.facilitator.is_some().then(|| X402::new(&settings, opened(), clock.clone()).unwrap());
        let ap2 = Ap2::new(&settings, x402.map(Arc::new), &opened(), clock.clone()).unwrap();
        let signer = host_key.clone();
        ap2.sign_with(Arc::new(move || signer.clone()));
        let offers = Ap2Offers::new(settings);
        Self { ap2, clock, processor, facilitator, host_key, issuer_key, holder_key, offers, price, _files: files }
    }

    pub(super) fn until(&self) -> Timestamp {
        self.clock.now() + Duration::from_secs(900)
    }

    /// The offer of a rule, before anybody is shown it.
    pub(super) fn terms(&self) -> AcceptedPayment {
        let agent = Handle::parse("shop").unwrap();
        let context = OfferContext { agent: &agent, base: BASE, price: self.price, credit: None };
        self.offers.offers(&Map::new(), &context).unwrap().remove(0)
    }

    /// The same, as the payer of a state is shown it.
    pub(super) fn cart(&self, letter: char) -> AcceptedPayment {
        let reference = letter.to_string().repeat(64);
        let terms = PresentedTerms { reference: &reference, at: self.clock.now(), until: self.until() };
        self.ap2.present(&self.terms(), &terms)
    }

    /// What a payer agrees to who pays for `cart`.
    pub(super) fn draft(&self, cart: &AcceptedPayment) -> Draft {
        let details = &cart.payload["contents"]["payment_request"]["details"];
        let is_x402 = self.price.ends_with("USDC");
        let response = match is_x402 {
            true => json!({"method_name": "https://www.x402.org/", "details": crate::scheme::payment(2, 1)}),
            false => json!({"method_name": "CARD", "details": {"token": "tok_1"}}),
        };
        let mut contents = json!({
            "payment_mandate_id": "pm-1", "payment_details_id": details["id"],
            "payment_details_total": details["total"], "payment_response": response,
            "merchant_agent": cart.payload["contents"]["merchant_name"], "timestamp": self.clock.now().to_string(),
        });
        contents["payment_response"]["request_id"] = details["id"].clone();
        let now = self.clock.now().as_second();
        Draft {
            contents,
            beside: Map::new(),
            credential: json!({
                "iss": ISSUER, "sub": "payer-1", "vct": "https://wallet.example/payer", "iat": now - 86_400,
                "exp": now + 86_400, "cnf": {"jwk": self.holder_key.public().to_jwk()},
            }),
            binding: Some(json!({"aud": BASE, "nonce": details["id"], "iat": now})),
            overruled: Map::new(),
            issuer: self.issuer_key.clone(),
            holder: self.holder_key.clone(),
            disclosures: String::new(),
            binding_type: "kb+jwt",
        }
    }

    /// A whole payment for `cart`, changed on the way.
    pub(super) fn payment(&self, cart: &AcceptedPayment, change: impl FnOnce(&mut Draft)) -> PaymentSubmission {
        let mut draft = self.draft(cart);
        change(&mut draft);
        draft.sign(cart)
    }
}

impl Draft {
    pub(super) fn sign(self, cart: &AcceptedPayment) -> PaymentSubmission {
        let mut hashes = vec![hash(&cart.payload["contents"]), hash(&self.contents)];
        hashes.extend(self.beside.get(INTENT_KEY).filter(|intent| !intent.is_null()).map(hash));
        let covered = |mut claims: Value| {
            claims["transaction_data"] = hashes.clone().into();
            claims
        };
        let authorization = match self.binding {
            None => {
                let mut claims = covered(self.credential);
                claims.as_object_mut().unwrap().extend(self.overruled);
                jws::sign(&self.issuer, "JWT", claims.to_string().as_bytes())
            }
            Some(binding) => {
                let credential = jws::sign(&self.issuer, "dc+sd-jwt", self.credential.to_string().as_bytes());
                let shown = format!("{credential}~{}", self.disclosures);
                let mut claims = covered(binding);
                claims["sd_hash"] = to_base64url(&sha256(shown.as_bytes())).into();
                claims.as_object_mut().unwrap().extend(self.overruled);
                format!("{shown}{}", jws::sign(&self.holder, self.binding_type, claims.to_string().as_bytes()))
            }
        };
        let mut payload = self.beside;
        let mandate = json!({"payment_mandate_contents": self.contents, "user_authorization": authorization});
        payload.insert(PAYMENT_KEY.to_owned(), mandate);
        submission(payload)
    }
}
