//! Compares locks: hand-over, eight contenders, and a single one. All sides run in turn.

use std::time::Duration;

use anyhow::Context as _;

use crate::chance::name;
use crate::lock::{self, Fairness, lease, postgres, redis};
use crate::parts::Parts;
use crate::samples::Samples;
use crate::table;

const HELD: Duration = Duration::from_millis(2);
const CONTENDERS: usize = 8;
/// The number of pairs that hand over at the same time, each with its own lock. They mostly wait,
/// so they do not disturb each other.
const PAIRS: usize = 4;
/// How long a waiter sleeps between two tries: the value of the first comparison, and Medallion's
/// default.
const SLEEPS: [(&str, u64, u64); 2] =
    [("Redis, waits 100 to 500 ms", 100, 500), ("Redis, waits 10 to 800 ms", 10, 800)];

#[derive(Default)]
struct Side {
    name: String,
    hand_over: Samples,
    contend: Samples,
    turns: Vec<Fairness>,
    alone: Samples,
}

/// Measures everything in rounds, and prints it.
pub(crate) async fn compare(parts: &Parts, rounds: u32, length: Duration) -> anyhow::Result<()> {
    table::title("locks");
    let redis = redis::Server::start().await?;
    match &redis {
        Some(redis) => table::note(&format!("Redis {}, no persistence", redis.version)),
        None => table::note("SKIPPED: Redis is not installed (apt install redis-server)"),
    }
    let mut names = vec!["Staunch lease".to_owned(), "PostgreSQL advisory lock".to_owned()];
    if redis.is_some() {
        names.extend(SLEEPS.map(|(name, ..)| name.to_owned()));
    }
    let mut sides: Vec<_> =
        names.into_iter().map(|name| Side { name, ..Side::default() }).collect();
    for _ in 0..rounds {
        for (number, side) in sides.iter_mut().enumerate() {
            match number {
                0 => {
                    let make =
                        async |count| lease::Node::several(&parts.nats_url(), &name(), count).await;
                    measure(side, length, make).await?;
                }
                1 => {
                    let make = async |count| {
                        let key = rand::random::<i64>();
                        postgres::Session::several(&parts.postgres_url("raw"), key, count).await
                    };
                    measure(side, length, make).await?;
                }
                number => {
                    let redis = redis.as_ref().context("Redis runs")?;
                    let (_, least, most) = SLEEPS[number - 2];
                    let sleep = (Duration::from_millis(least), Duration::from_millis(most));
                    measure(side, length, async |count| redis.several(&name(), count, sleep).await)
                        .await?;
                }
            }
        }
    }
    print(&sides);
    Ok(())
}

async fn measure<C: lock::Contender>(
    side: &mut Side,
    length: Duration,
    make: impl AsyncFn(usize) -> anyhow::Result<Vec<C>>,
) -> anyhow::Result<()> {
    let mut pairs = Vec::new();
    for _ in 0..PAIRS {
        let pair: [C; 2] = make(2).await?.try_into().ok().context("two contenders")?;
        pairs.push(pair);
    }
    side.hand_over.then(lock::hand_over(pairs, length).await?);
    let (contend, turns) = lock::contend(make(CONTENDERS).await?, HELD, length).await?;
    side.contend.then(contend);
    side.turns.push(turns);
    let one = make(1).await?.pop().context("one contender")?;
    side.alone.then(lock::alone(one, length / 2).await?);
    Ok(())
}

fn print(sides: &[Side]) {
    table::head("hand-over to the one waiter");
    for side in sides {
        table::row(&side.name, &side.hand_over.figure(), "");
    }
    table::head("8 contenders, held for 2 ms: wait");
    for side in sides {
        let turns = side
            .turns
            .iter()
            .fold((usize::MAX, 0), |all, it| (all.0.min(it.turns.0), all.1.max(it.turns.1)));
        let remark = format!("turns of one contender: {} to {}", turns.0, turns.1);
        table::row(&side.name, &side.contend.figure(), &remark);
    }
    table::head("alone: taken and given back");
    for side in sides {
        table::row(&side.name, &side.alone.figure(), "");
    }
}
