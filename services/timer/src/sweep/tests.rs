use bus::{Bus as _, Queue as _, Stream, Tasks as _};
use chassis::Clock as _;
use model::{SubStatus, Token, TokenTarget, limits};
use protocol::Start;
use store::{
    Burst, Inbox as _, Instances as _, NewInstance, OutboxRow, Payloads as _, Timers as _,
    Tokens as _,
};

use super::*;
use crate::world::{World, seconds};

/// How long payloads are kept here.
const KEPT: Duration = Duration::from_secs(600);

async fn sweep(world: &World) -> (Sweep, Mended) {
    let mut sweep = Sweep::new(world.replica("timer-1").await);
    let mended = sweep.run_once().await.unwrap();
    (sweep, mended)
}

fn start_of(world: &World, id: &str) -> NewInstance {
    let instance = world.instance(&InstanceId::new(id), 0, SubStatus::Pending);
    let body = Start { definition_id: "wait".into(), ..Start::default() };
    let command = Command::new(CommandId::new(id), Body::Start(body)).encode().unwrap();
    NewInstance { instance, command, activation_key: None }
}

fn resume_of(world: &World, id: &str, instance: &str, waiting: bool) -> PendingCommand {
    let resume = protocol::Resume { instance_id: instance.into(), ..protocol::Resume::default() };
    PendingCommand {
        id: id.into(),
        instance_id: Some(instance.into()),
        bookmark_id: None,
        hash: None,
        correlation_id: None,
        command: Command::new(id.into(), Body::Resume(resume)).encode().unwrap(),
        accepted_at: world.clock.now(),
        expires_at: Some(world.clock.now().after(seconds(60))),
        waiting,
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_mended_where_nothing_is_broken() {
    let world = World::new();
    world.store.accept(start_of(&world, "fresh")).await.unwrap();
    world.store.accept_command(resume_of(&world, "c", "fresh", false)).await.unwrap();
    world.waits(&"suspended".into(), None).await;
    let (_, mended) = sweep(&world).await;
    assert!(mended.is_empty(), "{mended:?}");
    assert_eq!(world.commands().await, []);
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_dead_executor_is_published_after_its_consumer_is_made() {
    let world = World::new();
    let suspended = world.instance(&"i".into(), 1, SubStatus::Suspended);
    let mut burst = Burst::new(suspended, store::Expected::Absent);
    burst.outbox.push(OutboxRow {
        id: "t.1".to_owned(),
        instance_id: "i".into(),
        message: Message {
            subject: subject::task("Ship", 1),
            headers: [(header::MESSAGE_ID.to_owned(), "t.1".to_owned())].into(),
            payload: Vec::new(),
        },
        created_at: world.clock.now(),
    });
    world.store.commit(burst).await.unwrap();
    tokio::time::advance(seconds(60)).await;
    let (_, mended) = sweep(&world).await;
    assert_eq!(mended.published, 1);
    let pools: Vec<_> = world.bus.pools().into_keys().collect();
    assert_eq!(pools, ["task-Ship-1"]);
    assert_eq!(world.bus.stored(Stream::Tasks).len(), 1);
}

/// Commits messages that no executor publishes, oldest first.
async fn leaves(world: &World, messages: impl IntoIterator<Item = (String, String, usize)>) {
    let suspended = world.instance(&"i".into(), 1, SubStatus::Suspended);
    let mut burst = Burst::new(suspended, store::Expected::Absent);
    for (number, (id, subject, bytes)) in messages.into_iter().enumerate() {
        let headers = [(header::MESSAGE_ID.to_owned(), id.clone())].into();
        let message = Message { subject, headers, payload: vec![b' '; bytes] };
        let created_at = world.clock.now().after(Duration::from_millis(number as u64));
        burst.outbox.push(OutboxRow { id, instance_id: "i".into(), message, created_at });
    }
    world.commit(burst).await;
}

fn tasks_of(world: &World, task_type: &str) -> usize {
    let subject = subject::task(task_type, 1);
    let stored = world.bus.stored(Stream::Tasks);
    stored.iter().filter(|(_, message)| message.subject == subject).count()
}

/// Two types have more tasks than there is room for; behind their rows are those of others.
#[tokio::test(start_paused = true)]
async fn rows_of_types_without_room_keep_no_others_back() {
    let world = World::new();
    world.bus.limit_tasks(65_536);
    let fat = |task_type: &'static str| {
        (0..40).map(move |n| (format!("{task_type}.{n}"), subject::task(task_type, 1), 4_096))
    };
    let events = ["started", "suspended", "resumed", "finished"]
        .map(|what| (what.to_owned(), subject::lifecycle(&"wait".into(), &"i".into(), what), 10));
    let thin = ("thin".to_owned(), subject::task("Thin", 1), 10);
    leaves(&world, fat("Fat").chain(fat("Huge")).chain(events).chain([thin])).await;
    tokio::time::advance(seconds(60)).await;
    let presence = world.join("timer-1").await;
    // Several parts, of which the first have nothing but tasks that are held back.
    let config = crate::Config { sweep_rows: 10, ..crate::Config::default() };
    let mut sweep = Sweep::new(world.replica_with("timer-1", presence, config));

    let mended = sweep.run_once().await.unwrap();
    let (fat, huge) = (tasks_of(&world, "Fat"), tasks_of(&world, "Huge"));
    assert!((8..=9).contains(&fat), "{fat} of the stream's 16");
    assert_eq!((huge, tasks_of(&world, "Thin")), (1, 1));
    let events = world.bus.stored(Stream::Events);
    let events: Vec<_> = events.iter().filter_map(|(_, message)| message.id()).collect();
    assert_eq!(events, ["started", "suspended", "resumed", "finished"]);
    assert_eq!(mended.published, (fat + huge + 1 + 4) as u64);

    // Nothing is lost, and each sweep publishes as much as there is room for.
    let mut done = 0;
    for sweeps in 1.. {
        assert!(sweeps < 20, "{done} tasks are done");
        for task_type in ["Fat", "Huge", "Thin"] {
            let kind = [(task_type.to_owned(), 1)];
            for task in world.bus.take_tasks(&kind, 100, Duration::ZERO).await.unwrap() {
                world.bus.answer_task(&task.address, bus::TaskAnswer::Done).await.unwrap();
                done += 1;
            }
        }
        if done == 81 {
            break;
        }
        tokio::time::advance(seconds(5)).await;
        let left: u64 = 81 - done;
        assert!(sweep.run_once().await.unwrap().published >= left.min(8), "{left} are left");
    }
    assert!(sweep.run_once().await.unwrap().is_empty());
    assert_eq!(world.store.sizes().outbox, 0);
}

#[tokio::test(start_paused = true)]
async fn the_outbox_of_a_dead_executor_is_published() {
    let world = World::new();
    let finished = world.instance(&"i".into(), 1, SubStatus::Finished);
    let mut burst = Burst::new(finished, store::Expected::Absent);
    for id in ["a", "b"] {
        let subject = subject::lifecycle(&"wait".into(), &"i".into(), "finished");
        let message = Message {
            subject,
            headers: [(header::MESSAGE_ID.to_owned(), id.to_owned())].into(),
            payload: Vec::new(),
        };
        let created_at = world.clock.now();
        burst.outbox.push(OutboxRow {
            id: id.into(),
            instance_id: "i".into(),
            message,
            created_at,
        });
    }
    world.commit(burst).await;
    tokio::time::advance(seconds(6)).await;
    let (mut sweep, mended) = sweep(&world).await;
    assert_eq!(mended, Mended { published: 2, ..Mended::default() });
    assert_eq!(world.bus.stored(Stream::Events).len(), 2);
    assert!(sweep.run_once().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn accepted_commands_that_nobody_took_go_out_again_under_their_own_id() {
    let world = World::new();
    world.store.accept(start_of(&world, "s")).await.unwrap();
    world.store.accept_command(resume_of(&world, "r", "other", false)).await.unwrap();
    tokio::time::advance(seconds(11)).await;
    let (mut sweep, mended) = sweep(&world).await;
    assert_eq!(mended, Mended { started: 1, applied: 1, ..Mended::default() });
    let ids: Vec<_> = world.commands().await.into_iter().map(|(_, c)| c.id.to_string()).collect();
    assert_eq!(ids, ["s", "r"]);
    // Not again at once, but after a while, in case the broker has lost it.
    assert!(sweep.run_once().await.unwrap().is_empty());
    world.bus.wipe();
    tokio::time::advance(seconds(31)).await;
    assert_eq!(sweep.run_once().await.unwrap().started, 1);
    assert_eq!(world.commands().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_command_whose_bookmark_is_there_is_woken_under_a_new_message_id() {
    let world = World::new();
    world.bus.publish(resume_of(&world, "early", "i", true).command).await.unwrap();
    world.store.wait(resume_of(&world, "early", "i", true)).await.unwrap();
    world.waits(&"i".into(), None).await;
    tokio::time::advance(seconds(6)).await;
    let (_, mended) = sweep(&world).await;
    assert_eq!(mended, Mended { woken: 1, ..Mended::default() });
    let commands = world.commands().await;
    assert_eq!(commands.len(), 2, "the duplicate window does not swallow it");
    assert_eq!(commands[0].1.id, commands[1].1.id);
    let stored = world.bus.stored(Stream::Commands);
    assert_eq!(stored[1].1.id(), Some("early.w1"));
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_stopped_in_the_middle_is_told_to_go_on() {
    let world = World::new();
    let stopped = world.instance(&"i".into(), 4, SubStatus::Executing);
    world.commit(Burst::new(stopped, store::Expected::Absent)).await;
    tokio::time::advance(seconds(31)).await;
    let (_, mended) = sweep(&world).await;
    assert_eq!(mended, Mended { performed: 1, ..Mended::default() });
    let commands = world.commands().await;
    assert!(
        matches!(&commands[0].1.body, Body::Perform(perform) if perform.instance_id.as_str() == "i")
    );
}

#[tokio::test(start_paused = true)]
async fn a_command_that_waited_in_vain_is_among_the_dead_with_the_reason() {
    let world = World::new();
    world.store.wait(resume_of(&world, "late", "i", true)).await.unwrap();
    tokio::time::advance(seconds(61)).await;
    let (mut sweep, mended) = sweep(&world).await;
    assert_eq!(mended, Mended { expired: 1, ..Mended::default() });
    let dead = world.bus.stored(Stream::Dead);
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].1.subject, "staunch.dead.cmd.resume.i");
    assert_eq!(dead[0].1.header(header::REASON), Some("expired"));
    assert!(sweep.run_once().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn only_one_replica_sweeps() {
    let world = World::new();
    let first = world.replica("timer-1").await;
    let second = world.replica("timer-2").await;
    tokio::time::sleep(seconds(1)).await;
    let sweeping: Vec<_> =
        [&first, &second].iter().map(|cx| shards::is_first(&cx.presence, &cx.node)).collect();
    assert_eq!(sweeping.iter().filter(|is| **is).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_timer_whose_instance_is_gone_is_fired_no_more() {
    let world = World::new();
    let live = world.waits(&"live".into(), Some(world.clock.now())).await;
    let mut burst = Burst::new(
        world.instance(&"other".into(), 1, SubStatus::Suspended),
        store::Expected::Absent,
    );
    let mut orphan = live.clone();
    orphan.instance_id = "gone".into();
    orphan.bookmark.id = "orphan".into();
    burst.created = vec![orphan];
    world.commit(burst).await;
    let shards: Vec<i32> = (0..limits::TIMER_SHARDS).collect();
    let due = async || {
        let found = world.store.due_timers(&shards, world.clock.now(), 9).await.unwrap();
        found.into_iter().map(|due| due.instance_id.to_string()).collect::<Vec<_>>()
    };
    tokio::time::advance(seconds(31)).await;
    assert_eq!(due().await, ["gone", "live"]);
    let (_, mended) = sweep(&world).await;
    assert_eq!(mended, Mended { cleared: 1, ..Mended::default() });
    assert_eq!(due().await, ["live"]);
}

#[tokio::test(start_paused = true)]
async fn expired_tokens_are_removed_from_time_to_time() {
    let world = World::new();
    let grant = async |hash: &str, lives: u64| {
        let token = Token {
            hash: hash.to_owned(),
            instance_id: "i".into(),
            target: TokenTarget::Event("E".to_owned()),
            created_at: world.clock.now(),
            expires_at: world.clock.now().after(seconds(lives)),
        };
        world.store.grant(token).await.unwrap();
    };
    grant("first", 10).await;
    grant("good", 1_000).await;
    tokio::time::advance(seconds(11)).await;
    let (mut sweep, mended) = sweep(&world).await;
    assert_eq!((mended.cleared, world.store.sizes().tokens), (1, 1));
    grant("second", 10).await;
    tokio::time::advance(seconds(30)).await;
    assert!(sweep.run_once().await.unwrap().is_empty(), "not at every sweep");
    tokio::time::advance(seconds(31)).await;
    assert_eq!(sweep.run_once().await.unwrap().cleared, 1);
    assert_eq!(world.store.sizes().tokens, 1);
}

/// Fails where the row of a payload is to be forgotten: the process ends once its parts are gone.
struct NothingIsForgotten;

#[async_trait::async_trait]
impl store::memory::Faults for NothingIsForgotten {
    async fn before(&self, operation: store::memory::Operation) -> Result<(), store::Error> {
        match operation {
            store::memory::Operation::ForgetPayload => {
                Err(store::Error::Unavailable("the process ended".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

/// Payloads of which the parts rest in an object store of NATS.
fn resting_in_nats(world: &World, of: &Context) -> payloads::Payloads {
    let store = Arc::new(world.store.clone());
    let chance = Arc::new(chassis::SeededChance::new(7));
    payloads::Payloads::new(store, Arc::new(world.clock), chance, 1 << 20)
        .resting(of.shelves.clone())
}

fn keeping(payload_places: payloads::Places) -> crate::Config {
    crate::Config { payload_places, payload_kept: KEPT, ..crate::Config::default() }
}

fn in_nats() -> crate::Config {
    keeping(payloads::Places::open(&["nats".to_owned()]).unwrap())
}

/// G4: a node dies after any step with which the sweep removes a payload, and the next one goes on.
#[tokio::test(start_paused = true)]
async fn the_parts_of_an_unused_payload_go_wherever_a_sweep_is_cut_off() {
    for step in 0..4 {
        let world = World::new();
        let presence = world.join("timer-1").await;
        let cx = world.replica_with("timer-1", presence.clone(), in_nats());
        let payloads = resting_in_nats(&world, &cx);
        let unused = payloads.keep_bytes(vec![7; 300_000]).await.unwrap().hash;
        let row = world.store.payload(&unused).await.unwrap().unwrap();
        let outside = world.bus.outside();
        let part = |number: u32| {
            let (outside, name) = (Arc::clone(&outside), format!("{}/{number}", row.id));
            async move {
                outside.object("staunch_payload_parts", &name, 1 << 20).await.unwrap().is_some()
            }
        };
        assert!(part(0).await && part(1).await && !part(2).await);
        tokio::time::advance(KEPT + seconds(1)).await;
        let now = world.clock.now();
        let before = now.before(KEPT);
        match step {
            // It dies before it begins.
            0 => {}
            // The payload has lost its name.
            1 => drop(world.store.clear_payloads(before, now, 9).await.unwrap()),
            // A part of it is gone, too.
            2 => {
                drop(world.store.clear_payloads(before, now, 9).await.unwrap());
                let name = format!("{}/1", row.id);
                outside.remove_object("staunch_payload_parts", &name).await.unwrap();
            }
            // All parts are gone, and its row is not.
            _ => {
                let store = world.store.with_faults(Arc::new(NothingIsForgotten));
                let dies = Context { store: Arc::new(store), ..cx.clone() };
                let failed = Sweep::new(dies).run_once().await.unwrap_err();
                assert!(matches!(failed, Error::Payloads(_)), "{failed}");
                assert!(!part(0).await && !part(1).await);
            }
        }
        tokio::time::advance(seconds(1)).await;
        let mended = Sweep::new(cx.clone()).run_once().await.unwrap();
        assert_eq!(mended.cleared, 1, "after step {step}");
        assert!(!part(0).await && !part(1).await, "after step {step}");
        assert!(matches!(payloads.open(&unused).await, Err(payloads::Error::Absent(_))));
        tokio::time::advance(seconds(61)).await;
        assert!(Sweep::new(cx).run_once().await.unwrap().is_empty(), "after step {step}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_place_that_is_not_configured_holds_no_other_garbage_up() {
    let world = World::new();
    let presence = world.join("timer-1").await;
    let with = world.replica_with("timer-1", presence.clone(), in_nats());
    let without = world.replica_with("timer-1", presence, keeping(payloads::Places::default()));
    let outside = resting_in_nats(&world, &with).keep_bytes(vec![1]).await.unwrap().hash;
    world.store.begin_payload("broken", None, world.clock.now()).await.unwrap();
    tokio::time::advance(KEPT + seconds(1)).await;
    let failed = Sweep::new(without).run_once().await.unwrap_err().to_string();
    assert!(failed.contains("add this place to the setting payload-store"), "{failed}");
    assert!(world.store.payload(&outside).await.unwrap().is_none());
    tokio::time::advance(seconds(61)).await;
    // The other one is gone already.
    assert_eq!(Sweep::new(with).run_once().await.unwrap().cleared, 1);
}
