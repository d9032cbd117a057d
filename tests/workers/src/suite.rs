//! The suite of one language, and its figures.

use testkit::within;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::language::{Program, go, python, rust, typescript};
use crate::process::Place;
use crate::scenario::{self, Scene};
use crate::world::World;
use crate::{permissions, progress, watch};

/// Suites measure time, so no more than two of them run at once.
pub(crate) static TURN: Semaphore = Semaphore::const_new(2);
/// The libraries of NATS of these languages tell their users what is refused.
const SAY_WHAT_IS_REFUSED: [&str; 2] = ["Python", "TypeScript"];
const SCENARIO_MAX: std::time::Duration = std::time::Duration::from_secs(90);

/// Runs one scenario after the other. `$prefix` is that of its types of tasks.
macro_rules! run {
    ($scene:expr, $counts:expr, $($name:ident),+ $(,)?) => {
        $(
            let begun = Instant::now();
            let what = format!("{}: {}", $scene.program.name, stringify!($name));
            within(&what, SCENARIO_MAX, scenario::$name(&$scene)).await;
            println!("{what}: {:.1} s", begun.elapsed().as_secs_f64());
            $counts += 1;
        )+
    };
}

async fn conforms(program: Option<Program>, prefix: &'static str) {
    let Some(program) = program else { return };
    let _turn = TURN.acquire().await.unwrap();
    let begun = Instant::now();
    let world = World::new(prefix).await;
    let place = Place::new(world.folder());
    let scene = Scene { world, program, place, prefix };
    let mut passed = 0;
    run!(
        scene,
        passed,
        a_client_starts_asks_signals_follows_resumes_and_cancels,
        a_task_of_a_type_that_nobody_works_waits,
        whoever_asks_is_told_who_works,
        values_arrive_as_they_were_sent,
        failures_are_what_the_handler_means,
        large_values_pass_and_larger_ones_fail_for_good,
        a_large_result_is_an_object,
        a_result_that_cannot_be_read_fails_the_attempt,
        no_more_tasks_at_once_than_the_handler_takes,
        a_cancelled_task_ends,
        a_task_ends_at_its_deadline,
        a_long_task_is_not_delivered_again,
        what_is_no_task_is_removed,
        a_crash_before_the_result_repeats_the_task,
        a_crash_after_the_result_changes_nothing,
        a_frozen_worker_loses_its_task,
        a_result_that_is_not_stored_is_sent_again,
        a_stopped_worker_finishes_what_is_in_hand,
        a_stopped_worker_gives_back_what_takes_too_long,
    );
    progress::the_progress_of_a_task_is_heard_in_order(&scene).await;
    progress::the_log_tells_which_progress_is_lost(&scene).await;
    permissions::a_worker_needs_its_own_permissions_alone(&scene.program).await;
    if SAY_WHAT_IS_REFUSED.contains(&scene.program.name) {
        permissions::a_refused_object_is_said(&scene.program).await;
        passed += 1;
    }
    watch::a_watch_outlasts_those_who_answer(&scene.program).await;
    passed += 4;
    let name = scene.program.name;
    println!("{name}: {passed} scenarios passed in {:.1} s", begun.elapsed().as_secs_f64());
    scene.world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_in_python_conform() {
    conforms(python(), "py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_in_typescript_conform() {
    conforms(typescript(), "ts").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_in_go_conform() {
    conforms(go(), "go").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_in_rust_conform() {
    conforms(rust(), "rs").await;
}
