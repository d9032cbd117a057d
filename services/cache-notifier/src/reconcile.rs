//! Compares the pointers with the database: a process may have ended after it wrote the database
//! and before it wrote the pointer.

use std::collections::{BTreeMap, BTreeSet};

use model::DefinitionId;
use tasks::Trouble;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::{Context, Error, pointer};

/// Compares at intervals until `stop`; one replica does it for all.
pub async fn serve(cx: &Context, stop: &CancellationToken) {
    let mut ticks = tokio::time::interval(cx.config.reconcile_every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut trouble = Trouble::default();
    let mut troubles = BTreeMap::new();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if !cx.is_first() || !cx.pointers.is_synced() {
            continue;
        }
        let compared = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            compared = compare(cx, &mut troubles) => compared,
        };
        match compared {
            Ok(_) if trouble.ends() => tracing::info!("pointers are compared again"),
            Err(error) if trouble.is_news(&error) => {
                tracing::warn!(%error, "pointers could not be compared, trying again");
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// Compares once; returns the definitions whose pointer was corrected. A definition that cannot be
/// read is reported, and does not keep the others from being corrected.
///
/// # Errors
/// When the database or the bus fails. Pointers that were corrected before that stay corrected.
pub async fn run_once(cx: &Context) -> Result<Vec<DefinitionId>, Error> {
    compare(cx, &mut BTreeMap::new()).await
}

/// Compares once. `troubles` has the definitions whose pointers could not be corrected last time.
async fn compare(
    cx: &Context,
    troubles: &mut BTreeMap<DefinitionId, Trouble>,
) -> Result<Vec<DefinitionId>, Error> {
    let published = cx.store.published_versions().await?;
    let published: BTreeMap<_, _> = published
        .into_iter()
        .map(|version| (version.definition_id, (version.version_id, version.version)))
        .collect();
    let pointed: BTreeMap<_, _> = cx.pointers.known().into_iter().collect();
    let ids: BTreeSet<_> = published.keys().chain(pointed.keys()).cloned().collect();
    let mut mended = Vec::new();
    troubles.retain(|id, _| ids.contains(id));
    for id in ids {
        let wanted = published.get(&id).map(|(version_id, _)| version_id);
        let is = pointed.get(&id).and_then(|pointer| pointer.version_id.as_ref());
        if wanted == is {
            troubles.remove(&id);
            continue;
        }
        let noticed = match pointer::write(cx, &id, 0).await {
            Ok(noticed) => noticed,
            Err(error @ (Error::Store(store::Error::Corrupt(_)) | Error::Diverging(_))) => {
                if troubles.entry(id.clone()).or_default().is_news(&error) {
                    tracing::warn!(%error, definition = %id, "a pointer could not be corrected");
                }
                continue;
            }
            Err(error) => return Err(error),
        };
        if noticed.version_id.as_ref() != is {
            tracing::warn!(definition = %id, version = noticed.version,
                revision = noticed.revision, "a pointer differed from the database: set right");
            cx.metrics.mended();
            mended.push(id);
        }
    }
    Ok(mended)
}
