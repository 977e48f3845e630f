use forecourt_core::message::TurnState;
use forecourt_core::{Account, Question, Role};

use super::*;

const AGENT: &str = "bot";

fn minted(letter: &str) -> ConversationName {
    (ThreadId::parse(&letter.repeat(43)).unwrap(), Handle::parse(AGENT).unwrap())
}

fn named() -> ConversationName {
    (ThreadId::adopt_for("ann", "chat").unwrap(), Handle::parse(AGENT).unwrap())
}

fn far() -> Timestamp {
    Timestamp::from_second(1_000).unwrap()
}

fn said(words: usize, owner: Option<&str>) -> ConversationAppend {
    let turns = vec![Turn::text(Role::User, "x".repeat(words)), Turn::text(Role::Assistant, "y")];
    ConversationAppend { owner: owner.map(str::to_owned), account: Account::HOST, turns, keep: 200, expires_at: far() }
}

fn known(cache: &mut ConversationCache, name: &ConversationName, at: Instant) -> Option<usize> {
    match cache.look(name, Timestamp::UNIX_EPOCH, at) {
        CacheLookup::Known(known) => Some(known.turns.len()),
        _ => None,
    }
}

fn version(last_turn: u64) -> Option<ConversationVersion> {
    Some(ConversationVersion { last_turn, expires_at: far() })
}

fn stored(turns: usize) -> Conversation {
    let turns = vec![Turn::text(Role::User, "z"); turns];
    Conversation { owner: None, version: version(turns.len() as u64).unwrap(), turns }
}

#[tokio::test(start_paused = true)]
async fn only_the_first_exchange_of_a_minted_conversation_waits_for_the_second() {
    let now = Instant::now();
    let mut cache = ConversationCache::new(now, VALID_FOR);
    cache.append(&minted("a"), said(1, None), true, now);
    let first = cache.next_due().unwrap();
    let waits = first - now;
    assert!(waits <= CONVERSATION_FIRST_WRITE_AFTER && waits > CONVERSATION_FIRST_WRITE_AFTER - FIRST_WRITES_EVERY);
    cache.append(&minted("a"), said(1, None), false, now);
    assert_eq!(cache.next_due(), Some(now + CONVERSATION_WRITE_AFTER), "somebody goes on with it");
    assert_eq!(cache.take(WriteScope::All, 9).len(), 1);
    let mut asked = said(1, None);
    asked.turns[1].question = Some(Box::new(Question::new("Which one?")));
    let mut kept = said(1, None);
    kept.turns[1].state = Some(Box::new(TurnState { value: "mine".into(), is_renewed: false }));
    for (letter, goes_on) in [("c", asked), ("d", kept)] {
        cache.append(&minted(letter), goes_on, true, now);
        assert_eq!(cache.next_due(), Some(now + CONVERSATION_WRITE_AFTER), "{letter}");
        cache.take(WriteScope::All, 9);
    }
    for (name, begins) in [(named(), true), (minted("b"), false)] {
        cache.append(&name, said(1, None), begins, now);
        assert_eq!(cache.next_due(), Some(now + CONVERSATION_WRITE_AFTER));
        cache.take(WriteScope::All, 9);
    }
}

#[tokio::test(start_paused = true)]
async fn what_begins_here_is_known_before_during_and_after_its_write() {
    let now = Instant::now();
    let mut cache = ConversationCache::new(now, VALID_FOR);
    let name = minted("a");
    assert_eq!(known(&mut cache, &name, now), None);
    cache.append(&name, said(1, None), true, now);
    assert_eq!(known(&mut cache, &name, now), Some(2));
    let write = cache.take_one(&name).unwrap();
    assert_eq!(known(&mut cache, &name, now), Some(2));
    cache.append(&name, said(1, None), false, now);
    cache.written(&write, 2, version(2));
    assert_eq!(known(&mut cache, &name, now), Some(4));
    let write = cache.take_one(&name).unwrap();
    cache.written(&write, 2, version(4));
    assert_eq!(known(&mut cache, &name, now), Some(4));
    assert_eq!(cache.pending_bytes, 0);
    let later = now + VALID_FOR + Duration::from_nanos(1);
    assert!(
        matches!(cache.look(&name, Timestamp::UNIX_EPOCH, later), CacheLookup::Stale(is) if Some(is) == version(4))
    );
    cache.confirm(&name, version(4).unwrap(), later);
    assert_eq!(known(&mut cache, &name, later), Some(4));
}

#[tokio::test(start_paused = true)]
async fn what_another_process_wrote_in_between_has_it_read_anew() {
    let now = Instant::now();
    let mut cache = ConversationCache::new(now, VALID_FOR);
    let name = minted("a");
    assert!(cache.learn(&name, &mut stored(2), now));
    assert_eq!(known(&mut cache, &name, now), Some(2));
    cache.append(&name, said(1, None), false, now);
    let write = cache.take_one(&name).unwrap();
    cache.written(&write, 2, version(6));
    assert!(matches!(cache.look(&name, Timestamp::UNIX_EPOCH, now), CacheLookup::Absent));
    assert!((cache.known_bytes, cache.pending_bytes) == (0, 0) && cache.used.is_empty() && cache.due.is_empty());
}

#[tokio::test(start_paused = true)]
async fn turns_without_what_came_before_are_not_the_conversation() {
    let now = Instant::now();
    let mut cache = ConversationCache::new(now, VALID_FOR);
    let name = minted("a");
    cache.append(&name, said(1, None), false, now);
    assert!(matches!(cache.look(&name, Timestamp::UNIX_EPOCH, now), CacheLookup::Pending));
    assert!(!cache.learn(&name, &mut stored(2), now), "it may lack what waits");
    let write = cache.take_one(&name).unwrap();
    assert!(matches!(cache.look(&name, Timestamp::UNIX_EPOCH, now), CacheLookup::Pending));
    cache.written(&write, 2, version(4));
    assert!(matches!(cache.look(&name, Timestamp::UNIX_EPOCH, now), CacheLookup::Absent));
    assert!(cache.learn(&name, &mut stored(4), now));
}

#[tokio::test(start_paused = true)]
async fn turns_that_wait_belong_to_their_owner() {
    let now = Instant::now();
    for is_read in [false, true] {
        let mut cache = ConversationCache::new(now, VALID_FOR);
        let name = minted("a");
        cache.append(&name, said(1, None), true, now);
        if is_read {
            assert_eq!(known(&mut cache, &name, now), Some(2));
        }
        assert_eq!(cache.append(&name, said(1, Some("ann")), false, now), AppendOutcome::Pending);
        for other in [None, Some("bob")] {
            assert_eq!(cache.append(&name, said(1, other), false, now), AppendOutcome::Refused);
        }
        let CacheLookup::Known(known) = cache.look(&name, Timestamp::UNIX_EPOCH, now) else { panic!("it is known") };
        assert_eq!((known.owner.as_deref(), known.turns.len()), (Some("ann"), 4));
        let owners: Vec<_> = cache.take_one(&name).unwrap().appends.into_iter().map(|append| append.owner).collect();
        assert_eq!(owners, [None, Some("ann".to_owned())], "the store is told in the same order");
    }
}

#[tokio::test(start_paused = true)]
async fn what_expired_is_forgotten_with_what_waits_of_it() {
    let now = Instant::now();
    let mut cache = ConversationCache::new(now, VALID_FOR);
    cache.append(&minted("a"), said(1, None), true, now);
    assert!(matches!(cache.look(&minted("a"), far(), now), CacheLookup::Absent));
    assert_eq!((cache.pending_bytes, cache.known_bytes, cache.next_due()), (0, 0, None));
}

#[tokio::test(start_paused = true)]
async fn at_the_bound_nobody_waits_and_one_byte_over_it_half_is_written() {
    let now = Instant::now();
    let mut cache = ConversationCache::new(now, VALID_FOR);
    // Two turns, and a letter of the answer.
    let beside = 2 * TURN_BYTES + 1;
    let half = CONVERSATIONS_PENDING_BYTES_MAX / 2 - beside;
    assert_eq!(cache.append(&minted("a"), said(half, None), true, now), AppendOutcome::Pending);
    assert_eq!(cache.append(&minted("b"), said(half - beside - 1, None), true, now), AppendOutcome::Pending);
    assert_eq!(cache.append(&minted("c"), said(1, None), true, now), AppendOutcome::Pending);
    assert_eq!(cache.pending_bytes, CONVERSATIONS_PENDING_BYTES_MAX);
    assert!(cache.take(WriteScope::Due(now), 9).is_empty());
    assert_eq!(cache.append(&minted("d"), said(0, None), true, now), AppendOutcome::Full);
    let taken = cache.take(WriteScope::Room, 9);
    assert_eq!(taken.iter().map(|write| &write.name).collect::<Vec<_>>(), [&minted("a"), &minted("b")], "the oldest");
    for write in &taken {
        cache.written(write, 2, version(2));
    }
    assert!(cache.take(WriteScope::Room, 9).is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_at_hand_is_bounded_and_what_waits_stays() {
    let now = Instant::now();
    let mut cache = ConversationCache::new(now, VALID_FOR);
    let mebibyte = 1024 * 1024;
    let letters: Vec<String> = ('a'..='z').chain('A'..='Z').chain('0'..='9').map(String::from).collect();
    cache.append(&named(), said(1, None), true, now);
    assert_eq!(known(&mut cache, &named(), now), Some(2));
    let big = || Conversation { turns: vec![Turn::text(Role::User, "x".repeat(2 * mebibyte))], ..stored(1) };
    for letter in &letters {
        assert!(cache.learn(&minted(letter), &mut big(), now));
        assert!(cache.known_bytes <= CONVERSATIONS_CACHED_BYTES_MAX);
    }
    assert!(matches!(cache.look(&minted("a"), Timestamp::UNIX_EPOCH, now), CacheLookup::Absent), "used for longest");
    assert_eq!(known(&mut cache, &minted("9"), now), Some(1));
    assert_eq!(known(&mut cache, &named(), now), Some(2));
}

#[tokio::test(start_paused = true)]
async fn only_the_newest_state_of_a_conversation_is_at_hand() {
    let now = Instant::now();
    let mut cache = ConversationCache::new(now, VALID_FOR);
    let state = |value: &str| Some(Box::new(TurnState { value: value.into(), is_renewed: false }));
    let with = |value: &str| {
        let mut addition = said(1, None);
        addition.turns[1].state = state(value);
        addition
    };
    let states = |cache: &mut ConversationCache| match cache.look(&named(), Timestamp::UNIX_EPOCH, now) {
        CacheLookup::Known(known) => known.turns.iter().map(|turn| turn.state.is_some()).collect::<Vec<_>>(),
        _ => panic!("it is known"),
    };
    let mut read = stored(3);
    (read.turns[0].state, read.turns[1].state) = (state("a"), state("b"));
    assert!(cache.learn(&named(), &mut read, now));
    assert_eq!(states(&mut cache), [false, true, false]);
    let before = cache.known_bytes;
    cache.append(&named(), with("c"), false, now);
    assert_eq!(states(&mut cache), [false, false, false, false, true]);
    cache.append(&named(), said(1, None), false, now);
    assert!(states(&mut cache)[4], "a turn that keeps nothing leaves it");
    let all = cache.entries[&named()].known.as_ref().unwrap().turns.iter().map(size).sum::<usize>();
    assert_eq!((cache.known_bytes, cache.entries[&named()].known_bytes), (all, all));
    assert!(cache.known_bytes > before);
}
