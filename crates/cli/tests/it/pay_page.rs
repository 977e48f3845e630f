//! People pay on the page of a payment, with wallets in Chromium: a real chain, a real facilitator, and a wallet that
//! signs what it is given with a library of others. Its owner is the test, which answers each of its questions.

use serde_json::{Value, json};

use crate::browser::{Browser, View};
use crate::pages::{assert_fits, assert_quiet};
use crate::payment::{Chain, PAID, PRICE};
use crate::support::{Deployment, Served, within};

const QUESTION: &str = "How long do I cook rice?";
/// A wallet as EIP-6963 wants it, which puts what it is asked where the test finds it, and one that would break out.
const WALLETS: &str = r#"
(() => {
  const asked = (window.walletAsked = []);
  const provider = { request: ({ method, params }) => new Promise((done, failed) => asked.push({ method, params, done, failed })) };
  const icon = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1H0z"/></svg>';
  const hostile = '\u202e<img src=x onerror="window.broken=1">' + 'x'.repeat(200);
  const all = [
    { info: { uuid: '1', name: 'Test wallet', icon, rdns: 'example.test' }, provider },
    { info: { uuid: '2', name: hostile, icon: 'https://tracker.example/x.png', rdns: 'example.bad' }, provider: { request: async () => [] } },
    { info: { uuid: '3', name: 'No wallet at all' }, provider: null },
  ];
  const announce = () => all.forEach((detail) => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze(detail) })));
  addEventListener('eip6963:requestProvider', announce);
})();
"#;
/// A wallet that is found at `window.ethereum` alone.
const OLD_WALLET: &str = r#"
window.walletAsked = [];
window.ethereum = { request: ({ method, params }) => new Promise((done, failed) => window.walletAsked.push({ method, params, done, failed })) };
"#;

/// Somebody at a page of a payment, with their wallet.
struct Payer {
    chain: Chain,
    served: Served,
    browser: Browser,
}

impl Payer {
    /// `None` where there is no browser, or no chain.
    fn begin(view: View, wallets: &str) -> Option<Self> {
        Self::of(view, wallets, PAID, |deployment| deployment)
    }

    fn of(view: View, wallets: &str, agent: &str, changed: impl FnOnce(Deployment) -> Deployment) -> Option<Self> {
        let (chain, browser) = (Chain::start()?, Browser::open(view)?);
        let deployment = changed(chain.deployment());
        deployment.write("agents/paid.toml", agent);
        browser.on_new_pages(wallets);
        let payer = Self { served: deployment.serve(), chain, browser };
        payer.ask();
        Some(payer)
    }

    /// Asks, is refused, and opens the page; its address.
    fn ask(&self) -> String {
        let question = QUESTION.replace(' ', "%20").replace('?', "%3F");
        self.browser.go(&self.served.https_url(&format!("/~paid?user={question}")));
        self.browser.find(".notice a.button").click();
        within("the page opens", || self.browser.url().contains("/pay/").then(|| self.browser.url()))
    }

    fn choose(&self) {
        within("a wallet can be chosen", || self.browser.click_if_there("#choice button:enabled").then_some(()));
    }

    /// What the wallet is asked next.
    #[track_caller]
    fn asked(&self, method: &str) -> Value {
        let first =
            "(window.walletAsked || []).length ? {method: walletAsked[0].method, params: walletAsked[0].params} : null";
        let asked = within(&format!("the wallet is asked for {method}"), || {
            Some(self.browser.value(first)).filter(|asked| !asked.is_null())
        });
        assert_eq!(asked["method"], method, "{}", self.told());
        asked
    }

    /// The wallet answers what it was asked.
    fn answers(&self, value: &Value) {
        self.browser.value(&format!("walletAsked.shift().done({value})"));
    }

    fn fails(&self, code: i64) {
        self.browser.value(&format!("walletAsked.shift().failed({{code: {code}, message: 'no'}})"));
    }

    /// The owner of the wallet agrees to what it was asked.
    #[track_caller]
    fn agrees(&self, method: &str) {
        let asked = self.asked(method);
        self.answers(&self.chain.wallet(&asked));
    }

    /// Agrees to everything until there is something to sign.
    #[track_caller]
    fn agrees_until_it_signs(&self) {
        for method in ["eth_requestAccounts", "eth_chainId", "eth_call"] {
            self.agrees(method);
        }
    }

    fn told(&self) -> String {
        self.browser.find("#told").text()
    }

    #[track_caller]
    fn is_told(&self, words: &str) {
        within(
            &format!(
                "it is told: {words}, and not {:?}",
                self.browser.value("document.querySelector('#told').textContent")
            ),
            || self.told().contains(words).then_some(()),
        );
    }

    #[track_caller]
    fn has_the_answer(&self) {
        within("the answer is there", || self.browser.url().contains("/~paid?state=").then_some(()));
        let page = self.browser.find("main").text();
        assert!(page.matches(QUESTION).count() == 2, "the question, and what echo says to it: {page}");
        assert!(page.contains("Transaction: 0x"), "its receipt: {page}");
    }
}

#[test]
fn a_person_pays_with_the_wallet_of_their_browser_and_has_the_answer() {
    let Some(payer) = Payer::begin(View::Desk, WALLETS) else { return };
    let (browser, chain) = (&payer.browser, &payer.chain);
    let refused = browser.url();
    let page = browser.find("main").text();
    for words in [QUESTION, "0.05 USDC on Base Sepolia", "Paid", "15 minutes", "When the answer is complete"] {
        assert!(page.contains(words), "no {words:?} in {page}");
    }
    for never in ["x402", "exact", "eip155", "84532", "base-sepolia"] {
        assert!(!page.contains(never), "{never:?} is no word for people: {page}");
    }
    // Two wallets, one of which is only what it may be.
    within("both are there", || (browser.all("#choice button").len() == 2).then_some(()));
    assert_eq!(browser.value("document.querySelectorAll('#choice img').length"), 1);
    assert_eq!(browser.value("window.broken ?? null"), Value::Null);
    assert!(browser.find("#choice").text().contains("Test wallet – Pay 0.05 USDC on Base Sepolia"));
    browser.picture("pay-wallet");
    payer.choose();
    payer.is_told("Test wallet asks you whether this page may see your account");
    payer.agrees_until_it_signs();
    payer.is_told("sign that 0.05 USDC on Base Sepolia may go to");
    let asked = payer.asked("eth_signTypedData_v4");
    let typed: Value = serde_json::from_str(asked["params"][1].as_str().unwrap()).unwrap();
    assert_eq!(typed["message"]["to"], chain.fact("paid"));
    assert_eq!((&typed["message"]["value"], &typed["domain"]["chainId"]), (&json!(PRICE.to_string()), &json!(84_532)));
    assert_eq!(
        (&typed["domain"]["verifyingContract"], &typed["domain"]["name"]),
        (&json!(chain.fact("token")), &json!("USDC"))
    );
    assert_eq!((chain.paid(), chain.asked("verify")), (0, 0));
    payer.agrees("eth_signTypedData_v4");
    payer.has_the_answer();
    assert_eq!((chain.paid(), chain.asked("settle")), (PRICE, 1));
    assert_quiet(browser, "status of 402");
    // The back button, and the address once more.
    browser.back();
    within("it is over", || browser.find("main").text().contains("Nothing can be decided here any more").then_some(()));
    browser.go(&refused);
    assert!(browser.find("main").text().contains("Nothing can be decided here any more"));
    assert_eq!(chain.paid(), PRICE);
}

#[test]
fn what_goes_wrong_in_a_wallet_is_told_and_nothing_is_lost() {
    let Some(payer) = Payer::begin(View::Phone, OLD_WALLET) else { return };
    assert_fits(&payer.browser);
    // Wallets that announce themselves have a moment to do so first.
    within("it is there", || payer.browser.find("#choice").text().contains("The wallet of this browser").then_some(()));
    for (code, said) in [
        (4001, "You said no in the wallet"),
        (-32002, "a question open already"),
        (4100, "Unlock it"),
        (-32603, "could not do this"),
    ] {
        payer.choose();
        payer.asked("eth_requestAccounts");
        payer.fails(code);
        payer.is_told(said);
    }
    payer.choose();
    payer.asked("eth_requestAccounts");
    payer.answers(&json!([]));
    payer.is_told("shows no account");
    // Another network, which the wallet does not know, and which it does not change to.
    for (code, said) in [(4902, "does not know Base Sepolia"), (4001, "You said no"), (-32601, "is on another network")]
    {
        payer.choose();
        payer.agrees("eth_requestAccounts");
        payer.asked("eth_chainId");
        payer.answers(&json!("0x1"));
        assert_eq!(payer.asked("wallet_switchEthereumChain")["params"][0]["chainId"], "0x14a34");
        payer.fails(code);
        payer.is_told(said);
    }
    payer.choose();
    payer.agrees_until_it_signs();
    payer.agrees("eth_signTypedData_v4");
    payer.has_the_answer();
}

#[test]
fn a_wallet_that_does_not_know_the_network_is_told_of_it_where_the_operator_says_how() {
    let told = |deployment: Deployment| {
        let settings = deployment.read("forecourt.toml");
        deployment
            .write("forecourt.toml", &settings.replace("\nrpc = ", "\nwallet_rpc = \"https://rpc.example\"\nrpc = "));
        deployment
    };
    let Some(payer) = Payer::of(View::Desk, WALLETS, PAID, told) else { return };
    assert!(!payer.browser.value("document.documentElement.outerHTML").to_string().contains(payer.chain.fact("rpc")));
    payer.choose();
    payer.agrees("eth_requestAccounts");
    payer.asked("eth_chainId");
    payer.answers(&json!("0x1"));
    payer.asked("wallet_switchEthereumChain");
    payer.fails(4902);
    let added = payer.asked("wallet_addEthereumChain")["params"][0].take();
    assert_eq!((&added["chainId"], &added["chainName"]), (&json!("0x14a34"), &json!("Base Sepolia")));
    assert_eq!(
        (&added["rpcUrls"], &added["nativeCurrency"]["symbol"]),
        (&json!(["https://rpc.example"]), &json!("ETH"))
    );
    payer.answers(&Value::Null);
    for method in ["eth_chainId", "eth_chainId", "eth_call", "eth_signTypedData_v4"] {
        payer.agrees(method);
    }
    payer.has_the_answer();
    assert_eq!(payer.chain.paid(), PRICE);
}

#[test]
fn what_is_not_enough_cancelled_or_declined_takes_nothing_and_the_page_goes_on() {
    let Some(payer) = Payer::begin(View::Dark, WALLETS) else { return };
    payer.choose();
    payer.agrees("eth_requestAccounts");
    payer.agrees("eth_chainId");
    payer.asked("eth_call");
    payer.answers(&json!("0xc34f"));
    payer.is_told("The account has 0.049999 USDC, and 0.05 USDC on Base Sepolia is asked for");
    // A wallet that can't say what is there keeps nobody from paying; one that signs too late is not used.
    payer.choose();
    payer.agrees("eth_requestAccounts");
    payer.agrees("eth_chainId");
    payer.asked("eth_call");
    payer.fails(-32601);
    let asked = payer.asked("eth_signTypedData_v4");
    payer.browser.find("#cancel").click();
    payer.is_told("You cancelled");
    payer.answers(&payer.chain.wallet(&asked));
    assert_eq!((payer.chain.asked("verify"), payer.chain.paid()), (0, 0));
    // A facilitator that declines, and one that is out of order: the same page goes on.
    for fault in [r#"{"verify":"no"}"#, r#"{"verify":"error"}"#] {
        payer.chain.fault(fault);
        payer.choose();
        payer.agrees_until_it_signs();
        payer.agrees("eth_signTypedData_v4");
        payer.is_told("Nothing was taken");
    }
    payer.choose();
    payer.agrees_until_it_signs();
    payer.agrees("eth_signTypedData_v4");
    payer.has_the_answer();
    assert_eq!(payer.chain.paid(), PRICE);
}

#[test]
fn a_signed_payment_that_did_not_arrive_is_sent_again_and_taken_once() {
    let Some(payer) = Payer::begin(View::Desk, WALLETS) else { return };
    payer.choose();
    payer.agrees_until_it_signs();
    let asked = payer.asked("eth_signTypedData_v4");
    payer.browser.offline(true);
    payer.answers(&payer.chain.wallet(&asked));
    payer.is_told("did not get here");
    assert!(payer.browser.all("#choice button:enabled").is_empty(), "nobody signs a second one meanwhile");
    payer.browser.offline(false);
    payer.browser.find("#again").click();
    payer.has_the_answer();
    assert_eq!((payer.chain.paid(), payer.chain.asked("settle")), (PRICE, 1));
}

#[test]
fn two_tabs_pay_once_and_the_other_one_says_so() {
    let Some(payer) = Payer::begin(View::Desk, WALLETS) else { return };
    let page = payer.browser.url();
    payer.choose();
    payer.agrees_until_it_signs();
    let first: Value = payer.asked("eth_signTypedData_v4");
    let tab = payer.browser.open_tab();
    payer.browser.on_new_pages(WALLETS);
    payer.browser.go(&page);
    payer.choose();
    payer.agrees_until_it_signs();
    let second = payer.asked("eth_signTypedData_v4");
    let nonce = |asked: &Value| -> Value {
        serde_json::from_str::<Value>(asked["params"][1].as_str().unwrap()).unwrap()["message"]["nonce"].take()
    };
    assert_eq!(nonce(&first), nonce(&second), "the token itself lets one of the two move money");
    payer.agrees("eth_signTypedData_v4");
    payer.has_the_answer();
    payer.browser.look_at(&tab);
    payer.is_told("There is nothing more to pay");
    // Its wallet answers all the same.
    payer.agrees("eth_signTypedData_v4");
    payer.is_told("There is nothing more to pay");
    assert_eq!((payer.chain.paid(), payer.chain.asked("settle")), (PRICE, 1));
    assert!(payer.browser.all("#choice button:enabled").is_empty());
}

#[test]
fn an_offer_whose_time_is_over_is_told_and_asked_for_anew() {
    let limits = |deployment: Deployment| deployment.with("limits", "payment_wait_seconds = 12");
    let Some(payer) = Payer::of(View::Desk, WALLETS, PAID, limits) else { return };
    payer.choose();
    payer.agrees("eth_requestAccounts");
    payer.agrees("eth_chainId");
    payer.asked("eth_call");
    within("its time is over", || {
        let seen = "fetch(location.pathname, {headers: {accept: 'application/json'}}).then((it) => it.status)";
        (payer.browser.value(seen) == 404).then_some(())
    });
    payer.agrees("eth_call");
    payer.is_told("ask again for a fresh offer");
    payer.browser.find("#onward").click();
    within("it is asked again", || payer.browser.url().contains("/~paid?user=").then_some(()));
    assert!(payer.browser.find(".notice a.button").property("href").contains("/pay/"));
    assert_eq!((payer.chain.asked("verify"), payer.chain.paid()), (0, 0));
}

#[test]
fn without_a_script_the_page_says_what_to_do() {
    let Some(payer) = Payer::begin(View::NoScript, "") else { return };
    let page = payer.browser.find("main").text();
    for words in ["0.05 USDC on Base Sepolia", "need the script of this page", "Pay with a phone", "Pay with a program"]
    {
        assert!(page.contains(words), "no {words:?} in {page}");
    }
    payer.browser.find("#phone summary").click();
    let address = payer.browser.url();
    assert!(payer.browser.find("#phone").text().contains(&address));
    payer.browser.find("#program summary").click();
    assert!(payer.browser.find("#program code").text() == address);
    payer.browser.picture("pay-no-script");
}

#[test]
fn credit_is_bought_ahead_and_pays_for_the_next_question() {
    let agent = PAID.replace(
        "offers =",
        "per = \"credit\"\ncredit = { per_turn = \"0.05\", unit = \"USDC\", decimals = 6 }\noffers =",
    );
    let Some(payer) = Payer::of(View::Desk, WALLETS, &agent, |deployment| deployment) else { return };
    let page = payer.browser.find("main").text();
    for words in ["Your credit", "0 USDC", "0.25 USDC: this question and 4 more"] {
        assert!(page.contains(words), "no {words:?} in {page}");
    }
    payer.browser.picture("pay-credit");
    payer.browser.find("input[name=times][value='5']").click();
    within("the button says it", || {
        payer.browser.find("#choice").text().contains("Pay 0.25 USDC on Base Sepolia").then_some(())
    });
    payer.choose();
    payer.agrees_until_it_signs();
    payer.agrees("eth_signTypedData_v4");
    payer.has_the_answer();
    assert_eq!(payer.chain.paid(), 5 * PRICE);
    payer.browser.find(".ask-on input[name=user]").r#type("And pasta?\u{e007}");
    within("it is answered from credit", || payer.browser.find("main").text().contains("And pasta?").then_some(()));
    assert!(!payer.browser.url().contains("/pay/") && payer.browser.all(".notice a.button").is_empty());
    assert_eq!(payer.chain.paid(), 5 * PRICE, "nothing is paid for it");
}
