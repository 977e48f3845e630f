//! A browser without an account keeps its consents by a secret that is good for nothing else, and takes them back.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::policy::PaidFor;
use forecourt_core::store::Span;
use forecourt_core::{Clock, ConsentToken, Handle, Message};
use forecourt_host::{LimitSettings, Rate};
use forecourt_issuance::{HOLDINGS_LISTED_MAX, HOLDINGS_LOOKED_AT_MAX, HoldingFilter, HoldingStatus, HoldingsOf};
use forecourt_testkit::{CountedEntropy, ScriptedAgent};

use super::support::{Till, Wants, ask, coins, consent, payment, setup, stores, submitting};
use crate::support::{Setup, message, signed_in};

const YEAR: u64 = 365 * 24 * 60 * 60;

fn from_browser(token: &ConsentToken) -> Message {
    Message { consents: Some(token.clone()), ..message("Dinner?") }
}

fn tokens() -> [ConsentToken; 2] {
    let entropy = CountedEntropy::default();
    [ConsentToken::mint(&entropy), ConsentToken::mint(&entropy)]
}

#[tokio::test]
async fn a_consent_holds_for_its_browser_its_agent_and_its_scope() {
    for (store, _folder) in stores() {
        let rule = Wants::this(consent("1", Some(YEAR)));
        let setup = setup(&store, &rule, &Arc::default());
        let host = setup.host_of_two(ScriptedAgent::saying(["Soup."])).await;
        let [mine, other] = tokens();
        let state = ask(&host, from_browser(&mine)).await.state();
        host.accept_consent_with(&state, &mine, &Default::default()).await.unwrap();
        setup.clock.advance(Duration::from_secs(YEAR - 1));
        assert!(ask(&host, from_browser(&mine)).await.is_answer());
        assert!(!ask(&host, from_browser(&other)).await.is_answer(), "another browser");
        assert!(!ask(&host, message("Dinner?")).await.is_answer(), "no browser");
        let elsewhere = Message { recipient: Handle::parse("other").unwrap(), ..from_browser(&mine) };
        assert!(!ask(&host, elsewhere).await.is_answer(), "another agent");
        let person = Message { sender: signed_in("@ada@example.org"), ..from_browser(&mine) };
        assert!(!ask(&host, person).await.is_answer(), "who signs in there is somebody");
        *rule.0.lock() = Some(consent("2", Some(YEAR)));
        assert!(!ask(&host, from_browser(&mine)).await.is_answer(), "another scope");
        *rule.0.lock() = Some(consent("1", Some(YEAR)));
        setup.clock.advance(Duration::from_secs(1));
        assert!(!ask(&host, from_browser(&mine)).await.is_answer(), "at its end");
        // A period that is paid for, in its conversation, is nothing of the browser.
        *rule.0.lock() = Some(payment("5", PaidFor::Period { seconds: 60 }));
        let offered = ask(&host, from_browser(&mine)).await;
        host.pay(&offered.state(), &coins("5", "n1"), &Default::default()).await.unwrap();
        assert!(!ask(&host, from_browser(&mine)).await.is_answer(), "paid elsewhere");
        assert!(ask(&host, Message { thread: offered.thread.clone(), ..from_browser(&mine) }).await.is_answer());
    }
}

#[tokio::test]
async fn what_is_taken_back_is_asked_for_again_also_where_it_was_not_used_yet() {
    for is_used in [false, true] {
        for (store, _folder) in stores() {
            let rule = Wants::this(consent("1", None));
            let host = setup(&store, &rule, &Arc::default()).host(ScriptedAgent::saying(["Soup."])).await;
            let token = ConsentToken::parse(&if is_used { "B" } else { "A" }.repeat(43)).unwrap();
            let of = HoldingsOf::Browser(&token);
            let refused = ask(&host, from_browser(&token)).await;
            host.accept_consent_with(&refused.state(), &token, &Default::default()).await.unwrap();
            let in_thread = || Message { thread: refused.thread.clone(), ..from_browser(&token) };
            if is_used {
                assert!(ask(&host, in_thread()).await.is_answer());
            }
            let held = host.holdings(of).await.unwrap().entries;
            let [held] = &held[..] else { panic!("{held:?}") };
            assert_eq!((held.status, held.requirement.message.as_str()), (HoldingStatus::Holds, "First this."));
            let (agent, origin) = (Handle::parse("bot").unwrap(), Default::default());
            let foreign = host.withdraw(HoldingsOf::Subject("oidc:x#y"), &agent, &held.name, &origin).await;
            assert!(!foreign.unwrap(), "somebody else's");
            assert!(!host.withdraw(of, &agent, "", &origin).await.unwrap());
            assert!(!host.withdraw(of, &Handle::parse("other").unwrap(), &held.name, &origin).await.unwrap());
            assert!(host.withdraw(of, &agent, &held.name, &origin).await.unwrap());
            assert!(!host.withdraw(of, &agent, &held.name, &origin).await.unwrap(), "once");
            assert_eq!(host.holdings(of).await.unwrap().entries[0].status, HoldingStatus::Ended);
            for again in [from_browser(&token), in_thread()] {
                assert!(!ask(&host, again).await.is_answer(), "is_used: {is_used}");
            }
        }
    }
}

#[tokio::test]
async fn a_subject_sees_and_takes_back_its_own() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(consent("1", None)), Arc::<Till>::default());
        let setup = setup(&store, &rule, &till);
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let asks = || Message { sender: signed_in("@ada@example.org"), ..message("Dinner?") };
        let state = ask(&host, asks()).await.state();
        host.accept_consent(&state, &Default::default()).await.unwrap();
        assert!(ask(&host, asks()).await.is_answer());
        setup.clock.advance(Duration::from_secs(1));
        *rule.0.lock() = Some(payment("5", PaidFor::Turn));
        let state = ask(&host, asks()).await.state();
        host.pay(&state, &coins("5", "n1"), &Default::default()).await.unwrap();
        let subject = asks().sender.owner().unwrap_or_default().to_owned();
        let of = HoldingsOf::Subject(&subject);
        let held = host.holdings(of).await.unwrap().entries;
        let [paid, agreed] = &held[..] else { panic!("{held:?}") };
        assert_eq!((paid.status, agreed.status), (HoldingStatus::Holds, HoldingStatus::Holds));
        assert!(paid.receipt.is_some() && paid.name.is_empty());
        assert_eq!(host.withdraw_all(of, &Default::default()).await.unwrap(), 1, "money is not taken back");
        *rule.0.lock() = Some(consent("1", None));
        assert!(!ask(&host, asks()).await.is_answer());
    }
}

#[tokio::test]
async fn the_newest_are_listed() {
    let (store, _folder) = stores().remove(0);
    let rule = Wants::this(consent("0", None));
    let host = setup(&store, &rule, &Arc::default()).host(ScriptedAgent::saying(["Soup."])).await;
    let [token, _] = tokens();
    for n in 0..=HOLDINGS_LISTED_MAX {
        *rule.0.lock() = Some(consent(&n.to_string(), None));
        let state = ask(&host, from_browser(&token)).await.state();
        host.accept_consent_with(&state, &token, &Default::default()).await.unwrap();
        let listed = host.holdings(HoldingsOf::Browser(&token)).await.unwrap().entries.len();
        assert_eq!(listed, (n + 1).min(HOLDINGS_LISTED_MAX));
    }
}

#[tokio::test]
async fn many_payments_push_no_consent_out_of_sight() {
    let (store, _folder) = stores().remove(0);
    let (rule, till) = (Wants::this(consent("1", None)), Arc::<Till>::default());
    let rate = Rate { per_second: 1_000.try_into().unwrap(), burst: 1_000.try_into().unwrap() };
    let limits = LimitSettings { per_address: rate, per_session: rate, ..Default::default() };
    let setup = Setup { limits, ..setup(&store, &rule, &till) };
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let asks = || Message { sender: signed_in("@ada@example.org"), ..message("Dinner?") };
    let state = ask(&host, asks()).await.state();
    host.accept_consent(&state, &Default::default()).await.unwrap();
    *rule.0.lock() = Some(payment("5", PaidFor::Turn));
    for n in 0..=HOLDINGS_LISTED_MAX {
        let state = ask(&host, asks()).await.state();
        host.pay(&state, &coins("5", &format!("n{n}")), &Default::default()).await.unwrap();
        assert!(ask(&host, asks()).await.is_answer(), "{n}");
    }
    let subject = asks().sender.owner().unwrap_or_default().to_owned();
    let held = host.holdings(HoldingsOf::Subject(&subject)).await.unwrap().entries;
    let paid = held.iter().filter(|one| one.name.is_empty()).count();
    assert_eq!((paid, held.len() - paid), (HOLDINGS_LISTED_MAX, 1), "and the consent");
}

#[tokio::test]
async fn operators_see_everybodys_and_take_a_consent_back() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(consent("1", None)), Arc::<Till>::default());
        let setup = setup(&store, &rule, &till);
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let [token, _] = tokens();
        let asks = || Message { sender: signed_in("@ada@example.org"), ..message("Dinner?") };
        let state = ask(&host, asks()).await.state();
        host.accept_consent(&state, &Default::default()).await.unwrap();
        let state = ask(&host, from_browser(&token)).await.state();
        host.accept_consent_with(&state, &token, &Default::default()).await.unwrap();
        *rule.0.lock() = Some(payment("5", PaidFor::Turn));
        let state = ask(&host, message("Dinner?")).await.state();
        host.pay(&state, &coins("5", "n1"), &Default::default()).await.unwrap();
        let all = HoldingFilter::default();
        let page = host.listed_holdings(all, u64::MAX, 1).await.unwrap();
        let [browsers] = &page.listed[..] else { panic!("{page:?}") };
        let page = host.listed_holdings(all, page.next.unwrap(), 1).await.unwrap();
        let [adas] = &page.listed[..] else { panic!("{page:?}") };
        assert!(adas.who.contains("ada") && browsers.number > adas.number, "{page:?}");
        assert!(page.next.is_none_or(|next| next < adas.number));
        let paid = host.listed_holdings(HoldingFilter { payments: true, ..all }, u64::MAX, 9).await.unwrap().listed;
        let [paid] = &paid[..] else { panic!("{paid:?}") };
        assert!(paid.holding.receipt.is_some() && paid.holding.status == HoldingStatus::Holds);
        for (filter, count) in [
            (HoldingFilter { who: Some("ADA"), ..all }, 1),
            (HoldingFilter { who: Some("eve"), ..all }, 0),
            (HoldingFilter { agent: Some("bot"), ..all }, 2),
            (HoldingFilter { agent: Some("other"), ..all }, 0),
            (HoldingFilter { since: Some(adas.holding.at), ..all }, 2),
            (HoldingFilter { since: Some(forecourt_core::Timestamp::MAX), ..all }, 0),
        ] {
            assert_eq!(host.listed_holdings(filter, u64::MAX, 9).await.unwrap().listed.len(), count, "{filter:?}");
        }
        let origin = Default::default();
        assert_eq!(host.withdraw_listed(adas.number, &origin).await.unwrap(), Some(true));
        assert_eq!(host.withdraw_listed(adas.number, &origin).await.unwrap(), Some(false));
        assert_eq!(host.withdraw_listed(paid.number, &origin).await.unwrap(), None, "money is not taken back");
        assert_eq!(host.withdraw_listed(u64::MAX, &origin).await.unwrap(), None);
        *rule.0.lock() = Some(consent("1", None));
        assert!(!ask(&host, asks()).await.is_answer());
        assert!(ask(&host, from_browser(&token)).await.is_answer());
    }
}

#[tokio::test]
async fn a_list_that_fits_little_says_where_to_go_on() {
    for (others, is_found_at_once) in [(HOLDINGS_LOOKED_AT_MAX - 1, true), (HOLDINGS_LOOKED_AT_MAX, false)] {
        let (store, _folder) = stores().remove(0);
        let rule = Wants::this(consent("1", None));
        let setup = setup(&store, &rule, &Arc::default());
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let asks = Message { sender: signed_in("@ada@example.org"), ..message("Dinner?") };
        let state = ask(&host, asks).await.state();
        host.accept_consent(&state, &Default::default()).await.unwrap();
        let now = setup.clock.now();
        let (_, first) = store.entries("holdings-of-all", Span::After(0), 1, now).await.unwrap().pop().unwrap();
        for _ in 0..others {
            let mut other = first.clone();
            other.body["who"] = "eve".into();
            store.append_entry("holdings-of-all", other, None).await.unwrap();
        }
        let adas = HoldingFilter { who: Some("ada"), ..Default::default() };
        let page = host.listed_holdings(adas, u64::MAX, 9).await.unwrap();
        assert_eq!(page.listed.len(), usize::from(is_found_at_once), "{others}");
        let rest = host.listed_holdings(adas, page.next.unwrap(), 9).await.unwrap();
        assert_eq!((rest.listed.len(), rest.next), (usize::from(!is_found_at_once), None));
    }
}

#[tokio::test]
async fn what_was_taken_for_an_answer_is_listed_with_its_receipt() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
        let host = setup(&store, &rule, &till).host(ScriptedAgent::saying(["Soup."])).await;
        let sender = signed_in("@ada@example.org");
        let subject = sender.owner().unwrap_or_default().to_owned();
        let paying = submitting("Dinner?", None, None, Some(coins("5", "n1")));
        assert!(ask(&host, Message { sender, ..paying }).await.is_answer());
        let held = host.holdings(HoldingsOf::Subject(&subject)).await.unwrap().entries;
        let [paid] = &held[..] else { panic!("{held:?}") };
        assert!(paid.receipt.is_some() && paid.status == HoldingStatus::Ended, "{paid:?}");
    }
}
