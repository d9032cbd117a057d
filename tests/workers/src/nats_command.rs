//! A language without a library: the command `nats`, as a worker (`nats/worker.sh`) and as a client.

use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use staunch_client::token;
use testkit::{eventually, find_program, skip, within};
use tokio::process::{Child, Command};
use tokio::time::{Duration, Instant};

use crate::scenario::LARGE;
use crate::suite::TURN;
use crate::world::{PATIENCE, World};

const WORKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/nats/worker.sh");
const ACK_WAIT: Duration = Duration::from_millis(1_500);

/// The command, and how it finds the broker.
struct Shell {
    path: String,
    url: String,
}

impl Shell {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("PATH", &self.path).env("NATS_URL", &self.url).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// Takes one task of this type; the handler is a line of shell.
    fn worker(&self, kind: &str, handler: &str, crash: bool) -> Child {
        let mut command = self.command("bash");
        command.args([WORKER, &token(kind), "1", "bash", "-c", handler]).env("BEAT", "0.4");
        if crash {
            command.env("CRASH", "1");
        }
        command.process_group(0).spawn().unwrap()
    }

    async fn nats(&self, arguments: &[&str]) -> String {
        let ran = self.command("nats").args(arguments).output().await.unwrap();
        assert!(
            ran.status.success(),
            "nats {arguments:?}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    async fn ask(&self, subject: &str, body: Value) -> Value {
        let said =
            self.nats(&["req", subject, &body.to_string(), "--raw", "--timeout", "20s"]).await;
        serde_json::from_str(&said).unwrap()
    }
}

async fn ended(worker: Child) -> Output {
    let group = format!("-{}", worker.id().unwrap());
    let ran = within("the worker has ended", PATIENCE, worker.wait_with_output()).await.unwrap();
    // A worker that was killed leaves its listeners.
    Command::new("kill").args(["-KILL", "--", &group]).output().await.unwrap();
    ran
}

/// The work of the worker is over, and it was this.
async fn code(worker: Child, expected: Option<i32>) {
    let ran = ended(worker).await;
    assert_eq!(ran.status.code(), expected, "{}", String::from_utf8_lossy(&ran.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_nats_is_a_worker_and_a_client() {
    let Some(program) = find_program("nats") else {
        return skip("nats", "a worker of the command nats", "the program nats is not installed");
    };
    let _turn = TURN.acquire().await.unwrap();
    let begun = Instant::now();
    let world = World::new("sh").await;
    let folder = program.parent().map(Path::display).unwrap();
    let path = format!("{folder}:{}", std::env::var_os("PATH").unwrap().display());
    let shell = Shell { path, url: world.cluster.nats_url() };
    let mut passed = 0;
    macro_rules! run {
        ($($name:ident),+ $(,)?) => {$(
            $name(&world, &shell).await;
            println!("nats: {}", stringify!($name));
            passed += 1;
        )+};
    }
    run!(
        it_starts_asks_signals_and_follows,
        it_works,
        its_failures_are_tried_again,
        it_reads_a_large_value_of_an_input,
        a_large_result_is_an_object,
        a_result_that_cannot_be_read_fails_the_attempt,
        a_crash_before_the_result_repeats_the_task,
        a_crash_after_the_result_changes_nothing,
        a_task_that_is_handed_out_no_more_fails_its_attempt,
        a_cancelled_task_ends,
        a_long_task_is_not_delivered_again,
        what_is_no_task_is_removed,
    );
    println!("nats: {passed} scenarios passed in {:.1} s", begun.elapsed().as_secs_f64());
    world.stop().await;
}

async fn it_starts_asks_signals_and_follows(world: &World, shell: &Shell) {
    let started = shell.ask("staunch.api.start.sh-waits", json!({"instanceId": "sh-1"})).await;
    assert_eq!(started["subStatus"], "Suspended");
    let again = shell.ask("staunch.api.start.sh-waits", json!({"instanceId": "sh-1"})).await;
    assert_eq!(again["refusal"], "alreadyDone");
    let kept =
        shell.ask("staunch.cmd.event.go.on", json!({"payload": 1, "instanceId": "sh-1"})).await;
    assert!(kept["seq"].is_u64(), "{kept}");
    world.over("sh-1", "Finished").await;
    let found = shell.ask("staunch.api.get.sh-1", json!({})).await;
    assert_eq!(found["output"]["By"], 1);
    let events = ["sub", "staunch.event.*.sh-1.*", "--all", "--raw", "--count", "3"];
    let heard = shell.nats(&events).await;
    assert!(heard.contains(r#""subStatus":"Finished""#), "{heard}");
    shell.ask("staunch.api.start.sh-waits", json!({"instanceId": "sh-2"})).await;
    let cancelled = shell.ask("staunch.api.cancel.sh-2", json!({})).await;
    assert_eq!(cancelled["subStatus"], "Cancelled");
}

async fn it_works(world: &World, shell: &Shell) {
    let (_, instance) = world.hand_out("sh echo.ü", json!({"n": 1})).await;
    code(shell.worker("sh echo.ü", "cat", false), Some(0)).await;
    assert_eq!(world.over(&instance, "Finished").await.output["Result"]["n"], 1);
    world.nothing_left("sh echo.ü").await;
}

async fn its_failures_are_tried_again(world: &World, shell: &Shell) {
    let (task, instance) = world.hand_out("sh fails", json!({})).await;
    code(shell.worker("sh fails", "echo broken >&2; exit 1", false), Some(0)).await;
    code(shell.worker("sh fails", "cat", false), Some(0)).await;
    world.over(&instance, "Finished").await;
    let results = world.sent(&task, 2).await;
    assert_eq!(
        (&results[0]["error"]["detail"], &results[1]["attempt"]),
        (&json!("broken\n"), &json!(2))
    );
}

async fn it_reads_a_large_value_of_an_input(world: &World, shell: &Shell) {
    let asked = json!({"characters": 700_000});
    let (_, instance) = world.hand_out_as("long", "sh length", 1, asked).await;
    // The command puts the end of a line after each part, which the shell takes away.
    let part = r#"nats req staunch.api.payload.$HASH "{\"part\": $PART}" --raw 2>/dev/null"#;
    let handler = format!(
        "HASH=$(grep -o 'sha256-[0-9a-f]*'); FILE=$(mktemp); trap 'rm $FILE' EXIT; \
         for PART in 0 1 2; do printf %s \"$({part})\"; done > $FILE; \
         sha256sum $FILE | grep -q ${{HASH#sha256-}} && wc -c < $FILE"
    );
    code(shell.worker("sh length", &handler, false), Some(0)).await;
    // The text as JSON has two quotation marks.
    assert_eq!(world.over(&instance, "Finished").await.output["Result"], 700_002);
}

async fn a_large_result_is_an_object(world: &World, shell: &Shell) {
    let (task, instance) = world.hand_out_as("measured", "sh big", 1, json!({})).await;
    let text = format!("head -c {LARGE} /dev/zero | tr '\\0' x");
    let handler = format!("printf '\"'; {text}; printf '\"'");
    code(shell.worker("sh big", &handler, false), Some(0)).await;
    let json = world.large_result(&task, &instance, LARGE).await;
    assert!(json == format!("\"{}\"", "x".repeat(LARGE)).into_bytes(), "all of it");
    world.nothing_left("sh big").await;
}

async fn a_result_that_cannot_be_read_fails_the_attempt(world: &World, shell: &Shell) {
    let (_, instance) = world.hand_out("sh unfit", json!({})).await;
    code(shell.worker("sh unfit", "echo oops", false), Some(0)).await;
    let said = world.over(&instance, "Faulted").await.incidents.join("; ");
    assert!(said.contains("the result cannot be read: the body is not the JSON"), "{said}");
    world.nothing_left("sh unfit").await;
}

async fn a_crash_before_the_result_repeats_the_task(world: &World, shell: &Shell) {
    world.limit("sh before", ACK_WAIT).await;
    let (task, instance) = world.hand_out("sh before", json!({})).await;
    // The handler ends its worker.
    code(shell.worker("sh before", "kill -9 $PPID; sleep 0.1", false), None).await;
    assert_eq!(world.left("sh before").await, 1);
    code(shell.worker("sh before", "cat", false), Some(0)).await;
    world.over(&instance, "Finished").await;
    world.nothing_left("sh before").await;
    assert_eq!(world.sent(&task, 1).await.len(), 1);
}

async fn a_crash_after_the_result_changes_nothing(world: &World, shell: &Shell) {
    world.limit("sh after", ACK_WAIT).await;
    let (task, instance) = world.hand_out("sh after", json!({"n": 1})).await;
    code(shell.worker("sh after", "cat", true), None).await;
    let found = world.over(&instance, "Finished").await;
    assert_eq!(world.left("sh after").await, 1);
    code(shell.worker("sh after", "echo 2", false), Some(0)).await;
    world.nothing_left("sh after").await;
    let results = world.sent(&task, 2).await;
    assert_eq!((results.len(), &results[0]["id"]), (2, &results[1]["id"]));
    assert_eq!(world.client.query(&instance).await.unwrap().version, found.version);
}

/// An operator has limited the deliveries. The second worker makes the server see that the limit is reached,
/// and gets the next attempt.
async fn a_task_that_is_handed_out_no_more_fails_its_attempt(world: &World, shell: &Shell) {
    world.limit_deliveries("sh deadly", ACK_WAIT, 1).await;
    let (task, instance) = world.hand_out("sh deadly", json!({"n": 1})).await;
    code(shell.worker("sh deadly", "kill -9 $PPID; sleep 0.1", false), None).await;
    code(shell.worker("sh deadly", "cat", false), Some(0)).await;
    world.over(&instance, "Finished").await;
    let results = world.sent(&task, 2).await;
    assert_eq!(results[1]["attempt"], 2, "the first was failed by the sweep");
    let tasks = world.js.get_stream(crate::world::TASKS).await.unwrap();
    eventually("the task is taken away", PATIENCE, async || {
        let mut tasks = tasks.clone();
        let info = tasks.info().await.unwrap();
        info.state.messages == 0
    })
    .await;
}

async fn a_cancelled_task_ends(world: &World, shell: &Shell) {
    let (task, instance) = world.hand_out("sh cancel", json!({})).await;
    let worker = shell.worker("sh cancel", "exec sleep 60", false);
    // It listens before it works, and there is a sign of life soon after.
    let sign = world.nats.subscribe("$JS.ACK.STAUNCH_TASKS.task-sh=20cancel-1.>").await.unwrap();
    let mut sign = sign;
    within("a sign of life", PATIENCE, futures::StreamExt::next(&mut sign)).await.unwrap();
    world.client.cancel(&instance, None).await.unwrap();
    code(worker, Some(5)).await;
    world.nothing_left("sh cancel").await;
    assert_eq!(world.results(&task), Vec::<Value>::new());
}

async fn a_long_task_is_not_delivered_again(world: &World, shell: &Shell) {
    world.limit("sh long", ACK_WAIT).await;
    let (_, instance) = world.hand_out("sh long", json!({"n": 1})).await;
    code(shell.worker("sh long", "sleep 4; cat", false), Some(0)).await;
    world.over(&instance, "Finished").await;
    let consumer =
        world.js.get_consumer_from_stream::<async_nats::jetstream::consumer::pull::Config, _, _>(
            "task-sh=20long-1",
            "STAUNCH_TASKS",
        );
    assert_eq!(consumer.await.unwrap().cached_info().delivered.consumer_sequence, 1);
}

async fn what_is_no_task_is_removed(world: &World, shell: &Shell) {
    world.limit("sh poison", ACK_WAIT).await;
    let poison = world.js.publish("staunch.task.sh=20poison.1", "no task".into()).await.unwrap();
    poison.await.unwrap();
    code(shell.worker("sh poison", "cat", false), Some(4)).await;
    eventually("it is removed", PATIENCE, async || world.left("sh poison").await == 0).await;
}
