//! Part 3, cache invalidation: after a publication has answered `everywhere`, every node starts the
//! new version.

use api_client::Failure;
use futures::FutureExt as _;
use futures::future::join_all;
use serde_json::json;
use tokio::time::Instant;

use crate::figure::Times;
use crate::report::Report;
use crate::site::Site;
use crate::workflow;

/// The number of versions that are published, each at the next node.
const VERSIONS: u32 = 10;

pub(crate) async fn run(site: &Site, report: &mut Report) -> Result<(), Failure> {
    let definition = site.name("changing");
    report.doing(&format!("{VERSIONS} versions, each started at once at every node"));
    let (mut times, mut missing, mut stale) = (Vec::new(), Vec::new(), Vec::new());
    let mut starts = 0;
    for version in 1..=VERSIONS {
        let publisher = site.any(version as usize);
        let began = Instant::now();
        let unaware = site.publish(publisher, &workflow::quick(&definition, version)).await?;
        times.push(began.elapsed());
        missing.extend(unaware);
        let runs = site.members.iter().enumerate().map(|(number, member)| {
            let id = format!("{definition}-{version}-{number}");
            let definition = &definition;
            let run = async move {
                let ended = site.execute(&member.client, definition, &id).await?;
                Ok::<_, Failure>((member, ended))
            };
            run.boxed()
        });
        for ran in join_all(runs.collect::<Vec<_>>()).await {
            let (member, ended) = ran?;
            starts += 1;
            if ended.result != version {
                stale.push(format!("{} started {} after {version}", member.node, ended.result));
            }
        }
    }
    let times: Times = times.into_iter().collect();
    let is_known = missing.is_empty();
    let wrong = if is_known { String::new() } else { format!("; missing: {}", missing.join(", ")) };
    let figures = format!("{VERSIONS} of {VERSIONS} versions; {times}{wrong}");
    report.check("a publication is known everywhere", is_known, &figures, times.json());
    let figures = format!("{starts} starts, {} stale {}", stale.len(), stale.join(", "));
    let data = json!({"starts": starts, "stale": stale});
    report.check("no node starts an old version", stale.is_empty(), figures.trim_end(), data);
    Ok(())
}
