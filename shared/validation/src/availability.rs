//! Part 5, high availability: every node is restarted in turn behind a load balancer that learns
//! late, no execution fails, and no request is refused.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use api_client::Failure;
use futures::FutureExt as _;
use futures::future::join_all;
use serde_json::json;

use crate::Arena;
use crate::figure::{Times, many};
use crate::load::{Load, STEADY, Tally};
use crate::report::Report;
use crate::runtime::count_of;
use crate::site::Site;
use crate::workflow;

const CALLERS: usize = 16;
/// The time between two questions of the load balancer.
const LEARNS_EVERY: Duration = Duration::from_secs(1);
/// Executions between two restarts.
const BETWEEN: usize = 60;
/// Executions on a running cluster, whose nodes are not restarted.
const ALL: usize = 500;

pub(crate) async fn run(
    site: &Arc<Site>,
    arena: Option<&mut (dyn Arena + 'static)>,
    report: &mut Report,
) -> Result<(), Failure> {
    let definition = site.name("availability");
    site.publish(site.any(0), &workflow::quick(&definition, 1)).await?;
    let Some(arena) = arena else {
        report.skip(
            "a rolling restart fails nothing",
            "nodes that others started are not restarted: use --local",
        );
        report.doing(&format!("{CALLERS} callers over all nodes"));
        let load = Load::begin(site, &definition, CALLERS, STEADY);
        load.more(ALL).await?;
        let name = "load over all nodes fails nothing";
        return judge(name, site, load, usize::MAX, report).await;
    };
    report.doing(&format!("{CALLERS} callers while each node is restarted in turn"));
    let load = Load::begin(site, &definition, CALLERS, STEADY);
    load.more(BETWEEN).await?;
    let restarts = tokio::select! {
        restarts = restart_each(site, arena, &load) => restarts?,
        never = balance(site) => match never {},
    };
    judge("a rolling restart fails nothing", site, load, 0, report).await?;
    let Restarts { stops, starts, bad } = restarts;
    let wrong = bad.join(", ");
    let figures = format!(
        "{} in order; stops {stops}; starts {starts} {wrong}",
        many(stops.len() - bad.len(), "node")
    );
    let data = json!({"stops": stops.json(), "starts": starts.json()});
    report.check(
        "every node ends in order and comes back",
        bad.is_empty(),
        figures.trim_end(),
        data,
    );
    Ok(())
}

struct Restarts {
    stops: Times,
    starts: Times,
    bad: Vec<String>,
}

/// Asks every node from time to time whether it is ready, as a load balancer does: requests go to
/// the nodes that said so.
async fn balance(site: &Site) -> Infallible {
    loop {
        tokio::time::sleep(LEARNS_EVERY).await;
        let asked = site.members.iter().map(|member| member.client.is_ready().boxed());
        for (number, is_ready) in join_all(asked.collect::<Vec<_>>()).await.into_iter().enumerate()
        {
            site.set_out(number, !is_ready);
        }
    }
}

/// Restarts each node as a platform does: sends SIGTERM, waits for the end, and starts it. Nobody
/// informs the load balancer.
async fn restart_each(
    site: &Site,
    arena: &mut dyn Arena,
    load: &Load,
) -> Result<Restarts, Failure> {
    let (mut stops, mut starts, mut bad) = (Vec::<Duration>::new(), Vec::new(), Vec::new());
    for (number, member) in site.members.iter().enumerate() {
        let ending = arena.stop(number).await?;
        stops.push(ending.took);
        if let Some(status) = ending.wrong {
            bad.push(format!("{} ended with {status}", member.node));
        }
        load.more(BETWEEN).await?;
        let began = tokio::time::Instant::now();
        arena.restart(number).await?;
        starts.push(began.elapsed());
        while site.is_out(number) {
            load.more(1).await?;
        }
        load.more(BETWEEN).await?;
    }
    Ok(Restarts { stops: stops.into_iter().collect(), starts: starts.into_iter().collect(), bad })
}

async fn judge(
    name: &str,
    site: &Site,
    load: Load,
    moved_max: usize,
    report: &mut Report,
) -> Result<(), Failure> {
    let tally = load.end().await;
    let mut wrong = tally.failures.clone();
    if tally.moved > moved_max {
        wrong.push(format!("{} requests were refused: {}", tally.moved, tally.refusals.join(", ")));
    }
    for (id, journal) in tally.ids.iter().zip(site.journals(&tally.ids).await?) {
        let lines = count_of(&journal, "Line");
        if lines != 1 {
            wrong.push(format!("{id} ran {lines} times"));
        }
    }
    let Tally { ids, moved, .. } = &tally;
    let times = tally.times();
    let figures = format!(
        "{} executions, {} failed, {} asked again elsewhere; {times} {}",
        ids.len(),
        wrong.len(),
        moved,
        wrong.join(", ")
    );
    report.check(name, wrong.is_empty(), figures.trim_end(), times.json());
    Ok(())
}
