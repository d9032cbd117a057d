//! One file per story; each runs on every database.

use crate::world::{Database, World};

macro_rules! stories {
    ($($file:ident: $($story:ident)+;)+) => {
        $(mod $file;)+
        mod sqlite {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                super::run(super::Database::Sqlite, super::$file::$story).await;
            })+)+
        }
        mod postgres {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                super::run(super::Database::Postgres, super::$file::$story).await;
            })+)+
        }
    };
}

mod settings;

async fn run(database: Database, story: impl AsyncFnOnce(World)) {
    if let Some(world) = World::new(database).await {
        story(world).await;
    }
}

stories! {
    activation: of_a_thousand_simultaneous_starts_one_runs;
    contention: thirty_resumes_over_three_nodes_and_one_wins_g3;
    crash:
        a_killed_executor_loses_no_start_and_repeats_none_g1_g2_g7
        a_stopped_executor_drains_and_loses_nothing_g7
        a_stopped_node_answers_those_who_wait_g7;
    doors:
        a_start_comes_in_by_every_door
        a_value_is_64_deep_at_most_at_every_door;
    events: events_are_readable_json_in_order;
    leases: every_lease_is_in_the_log_and_in_the_figures;
    listening:
        each_message_of_a_stream_starts_one_instance_g1_g2
        messages_that_nobody_has_taken_are_a_lag
        those_that_wait_read_a_stream_from_its_beginning
        what_is_chosen_starts_once_and_in_order;
    payloads: objects_of_headers_are_inputs_while_executors_die_g1_g2;
    more: each_executor_that_joins_carries_as_much_as_the_first;
    publication: a_new_version_runs_everywhere_at_once_g10;
    refusals: bad_input_is_refused_at_every_door_with_a_reason;
    searchable: instances_are_found_by_the_values_of_their_variables;
    secrets:
        values_of_secrets_are_nowhere
        the_master_key_is_replaced_under_load;
    services:
        separate_binaries_make_a_cluster
        a_cluster_without_a_timer_says_what_it_lacks;
    tasks:
        a_worker_is_any_client_and_its_reports_count_once
        a_task_that_is_late_or_not_wanted_is_announced
        a_worker_without_nats_polls_and_any_node_answers_for_it
        tasks_that_the_broker_lost_are_done_once_g4;
    waiting:
        an_instance_waits_for_a_timer_and_for_a_resume
        two_hundred_timers_fire_once_and_not_early_after_their_node_died_g6;
    wiped: suspended_instances_go_on_after_the_broker_lost_everything_g4;
}

/// Stories for which the database makes no difference.
mod sqlite_only {
    use super::settings;
    use super::{Database, run};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_start_waits_for_nats_as_long_as_it_is_set_to() {
        run(Database::Sqlite, settings::a_start_waits_for_nats_as_long_as_it_is_set_to).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn longer_times_keep_a_lost_node_for_longer_and_its_work_goes_on() {
        let story = settings::longer_times_keep_a_lost_node_for_longer_and_its_work_goes_on;
        run(Database::Sqlite, story).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nodes_of_any_zone_and_without_zone_files_agree_about_times() {
        let story = settings::nodes_of_any_zone_and_without_zone_files_agree_about_times;
        run(Database::Sqlite, story).await;
    }
}

mod postgres_only {
    use super::crash::an_executor_that_slept_through_its_leases_changes_nothing_g3_g11 as slept;
    use super::{Database, run};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_executor_that_slept_through_its_leases_changes_nothing_g3_g11() {
        run(Database::Postgres, slept).await;
    }
}
