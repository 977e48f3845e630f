//! What every store must do: one suite, run on each of them. A case is an async function of a fresh
//! store; [`crate::store_suite!`] makes a test of each.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use forecourt_core::reply::CollectedReply;
use forecourt_core::store::{Account, ConversationAppend, TaskChange, Webhook};
use forecourt_core::{
    CallerBounds, Clock, Ending, Handle, Part, Role, Store, StoreError, Task, TaskId, TaskState, ThreadId, Timestamp,
    Turn,
};

use crate::{CountedEntropy, HandClock};

pub mod artifacts;
pub mod claims;
pub mod deliveries;
pub mod events;
pub mod expiry;
pub mod ledger;
pub mod quota;
pub mod routes;
pub mod tasks;
pub mod threads;

/// A test for each case of the suite. The argument is an expression for a fresh store and whatever
/// must live as long as it does: `(Arc<dyn Store>, guard)`.
#[macro_export]
macro_rules! store_suite {
    ($fresh:expr) => {
        $crate::store_suite! { @case $fresh;
            tasks::an_unknown_task_is_not_found
            tasks::an_id_that_exists_is_refused_and_the_first_task_stays
            tasks::a_task_that_its_run_makes_again_is_the_same_one
            tasks::an_expired_task_is_not_found
            tasks::a_move_from_another_state_changes_nothing
            tasks::a_task_reads_back_as_it_was
            tasks::a_move_sets_state_outcome_and_time
            tasks::of_64_moves_at_once_one_wins
            tasks::a_list_holds_only_what_was_asked_for
            tasks::a_list_is_newest_first_and_goes_on_behind_a_cursor
            tasks::a_list_loses_none_of_those_with_the_same_moment
            tasks::a_list_is_of_several_conversations_and_since_a_moment
            tasks::a_list_goes_on_while_tasks_come_and_move
            tasks::a_task_that_goes_on_keeps_what_was_said
            tasks::going_on_from_another_state_changes_nothing
            tasks::only_the_run_that_holds_a_task_ends_it
            tasks::a_task_begins_and_goes_on_with_its_webhooks
            tasks::orphans_are_unsettled_tasks_of_runs_that_are_not_alive
            tasks::a_task_is_taken_up_by_one_run
            tasks::a_run_is_ended_once_and_only_if_it_was_silent
            tasks::only_the_run_that_holds_a_task_writes_its_log_and_files
            events::a_gap_in_the_numbers_is_refused
            events::the_events_of_an_unknown_task_are_dropped
            events::appending_again_leaves_what_is_there
            events::an_ending_is_logged_with_the_move_that_it_caused
            events::every_kind_of_event_reads_back
            events::events_are_read_in_pages
            events::what_is_settled_takes_nothing_more_from_who_worked_on_it
            artifacts::an_unknown_artifact_is_not_found
            artifacts::tok_task_cross_an_artifact_belongs_to_its_task
            artifacts::the_first_artifact_of_an_id_stays
            artifacts::an_artifact_expires_with_its_task
            artifacts::an_artifact_has_a_bounded_size
            deliveries::a_webhook_needs_a_task
            deliveries::a_task_has_at_most_so_many_webhooks
            deliveries::a_webhook_of_the_same_id_is_replaced_in_its_place
            deliveries::a_task_that_ended_takes_no_webhook
            deliveries::of_a_webhook_and_an_end_at_once_none_is_lost
            deliveries::a_removed_webhook_is_not_told
            deliveries::what_was_claimed_and_not_settled_can_be_released
            deliveries::only_settling_queues_deliveries
            deliveries::settling_queues_a_delivery_for_each_webhook
            deliveries::a_claimed_delivery_is_hidden_until_its_lease
            deliveries::a_settled_delivery_is_gone_or_waits_for_its_retry
            deliveries::what_is_put_off_was_no_attempt
            deliveries::the_longest_due_come_first
            deliveries::a_delivery_shows_the_task_as_it_settled
            deliveries::of_16_claimers_at_once_each_delivery_meets_one
            deliveries::an_expired_task_is_not_delivered
            deliveries::a_webhook_of_an_ended_task_is_told_at_once
            deliveries::a_notice_is_due_without_a_task
            deliveries::an_expired_notice_is_removed
            threads::an_unknown_conversation_is_none
            threads::a_conversation_is_with_one_agent
            threads::the_newest_turns_are_kept_oldest_first
            threads::turns_read_back_as_they_were
            threads::each_addition_gives_a_conversation_another_version
            threads::a_conversation_is_its_first_owners
            threads::a_conversation_has_a_bounded_size
            threads::a_conversation_expires_unless_it_goes_on
            threads::a_name_of_two_owners_is_two_conversations
            routes::an_unknown_route_is_none
            routes::a_route_is_replaced
            routes::a_route_expires_unless_it_is_set_again
            claims::tok_state_replay
            claims::tok_state_race
            claims::tok_state_expired
            claims::a_key_can_be_claimed_again_once_its_claim_has_expired
            claims::keys_do_not_meet
            ledger::an_unknown_stream_is_empty
            ledger::entries_are_numbered_from_one_for_each_stream
            ledger::an_entry_reads_back_as_it_was
            ledger::entries_are_read_in_pages_from_either_end
            ledger::an_entry_after_another_one_than_the_last_is_not_written
            ledger::of_64_entries_after_the_same_one_one_is_written
            ledger::an_expired_entry_is_not_read_and_its_number_is_not_given_again
            ledger::a_stream_of_which_nothing_is_left_begins_anew
            ledger::an_entry_has_a_bounded_size
            quota::design_36_tasks_are_kept_up_to_the_bound_of_their_caller
            quota::design_36_all_that_hangs_on_a_task_counts
            quota::design_36_webhooks_that_come_with_a_task_count
            quota::design_36_a_notice_counts_while_it_waits
            quota::design_36_what_another_owner_would_add_costs_nothing
            quota::design_36_a_task_can_always_end
            quota::design_36_a_long_outcome_counts
            quota::design_36_a_task_under_way_has_room_for_its_answer_when_its_account_is_full
            quota::design_36_what_a_task_reserved_is_given_back_as_it_ends
            quota::design_36_of_200_tasks_at_once_each_acknowledged_one_has_its_answer
            quota::design_36_a_task_that_goes_on_reserves_anew
            quota::design_36_what_an_expired_task_reserved_is_given_back
            quota::design_36_conversations_routes_and_entries_count
            quota::design_36_a_conversation_belongs_to_who_wrote_to_it_last
            quota::design_36_what_expires_is_given_back
            quota::design_36_what_the_host_writes_is_nobodys
            quota::a_refused_write_changes_nothing
            quota::of_64_writers_at_once_none_gets_past_the_bound
            expiry::expiring_removes_at_most_the_limit
            expiry::expiring_takes_all_that_hangs_on_a_task
            expiry::the_living_stay
            expiry::a_fresh_store_is_ready
        }
    };
    (@case $fresh:expr; $($area:ident :: $case:ident)*) => {
        $(
            #[tokio::test]
            async fn $case() {
                let (store, _guard) = $fresh;
                $crate::store_suite::$area::$case(store).await;
            }
        )*
    };
}

/// Bytes that a caller may store in the stores of the suite: [`crate::store_suite!`] is given stores with
/// this bound.
pub const CALLER_BYTES: u64 = 256 * 1024;
/// Bytes that a task at work reserves of them.
pub const ANSWER_BYTES: u64 = 4 * 1024;

/// Both bounds of the suite.
pub const CALLERS: CallerBounds = CallerBounds { caller: CALLER_BYTES, answer_wanted: ANSWER_BYTES, strangers: None };

/// What a case is given.
pub type Fresh = Arc<dyn Store>;

// One for all cases, so that no two tasks of a process have the same id.
static ENTROPY: LazyLock<CountedEntropy> = LazyLock::new(CountedEntropy::default);

/// The moment at which all tasks of the suite begin.
pub fn start() -> Timestamp {
    HandClock::new().now()
}

/// So many seconds after [`start`].
pub fn after(seconds: u64) -> Timestamp {
    start() + Duration::from_secs(seconds)
}

/// A task that nobody else has: of agent `chef`, working, in run `run-1`, readable for an hour.
pub fn some_task() -> Task {
    Task {
        id: TaskId::mint(&*ENTROPY),
        agent: chef(),
        thread: None,
        owner: None,
        account: Account::HOST,
        received_via: "rest".to_owned(),
        trace: None,
        turns: vec![Turn::text(Role::User, "What is for dinner?")],
        state: TaskState::Working,
        outcome: None,
        run: "run-1".to_owned(),
        created_at: start(),
        updated_at: start(),
        expires_at: after(3600),
    }
}

/// A conversation that nobody else has.
pub fn some_thread() -> ThreadId {
    ThreadId::mint(&*ENTROPY)
}

/// The agent of [`some_task`].
pub fn chef() -> Handle {
    handle("chef")
}

/// A handle, from text that is one.
pub fn handle(text: &str) -> Handle {
    Handle::parse(text).expect("a handle")
}

/// An answer of one part.
pub fn outcome(text: &str) -> CollectedReply {
    CollectedReply::new(vec![Part::markdown(text)], Ending::Complete)
}

/// The move from working to completed, a second after [`start`].
pub fn completed() -> TaskChange {
    TaskChange::settle(&some_task(), outcome("Soup."), after(1))
}

/// A webhook of this address, which is also its id.
pub fn webhook(url: &str) -> Webhook {
    let (protocol, secret) = ("rest".to_owned(), Some("s3cret".to_owned()));
    let (id, url) = (url.to_owned(), url.to_owned());
    Webhook { id, protocol, url, secret, callback: false, retries: 2, details: serde_json::Map::new() }
}

/// What is added to a conversation of nobody in particular.
pub fn addition(turns: Vec<Turn>, keep: usize, expires_at: Timestamp) -> ConversationAppend {
    ConversationAppend { owner: None, account: Account::HOST, turns, keep, expires_at }
}

/// Keeps `task` and gives back its id.
pub async fn created(store: &Fresh, task: Task) -> TaskId {
    let id = task.id.clone();
    store.create_task(task, Vec::new()).await.expect("a new task is kept");
    id
}

/// Whether a result says that the data is wrong.
pub fn is_corrupt<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Corrupt(_)))
}

/// Whether a result says that trying again may work.
pub fn is_unavailable<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unavailable(_)))
}
