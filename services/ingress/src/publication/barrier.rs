//! The cache barrier: asks cache-notifier to inform every node, and waits for its answer.

use std::collections::BTreeSet;
use std::time::Duration;

use model::Definition;
use protocol::{ContentType, Headers, Message, Noticed, decode_body, encode_body, header, subject};

use crate::app::App;

/// Longest wait for the answer of one notifier.
const BARRIER_TIME_MAX: Duration = Duration::from_secs(6);
/// Tries to reach a notifier.
const BARRIER_TRIES: u32 = 3;
/// Notifiers that are asked one after the other where one is silent: NATS gives a request to any of them, and
/// to one that hangs for as long as its connection lasts.
const BARRIER_ASKED: u32 = 2;
const BARRIER_PAUSE: Duration = Duration::from_millis(500);

/// Informs every node that this version is published, or no longer is, and waits until all have it.
/// Never fails: without an answer, the notifier's reconciliation informs the nodes later,
/// `everywhere` is false, and `missing` has every node that keeps definitions, for none of them has
/// confirmed it, and every notifier, for none of them has answered.
pub(super) async fn announce(
    app: &App,
    definition: &Definition,
    is_published: bool,
) -> Option<Noticed> {
    let news = Noticed {
        definition_id: definition.definition_id.clone(),
        version_id: is_published.then(|| definition.id.clone()),
        version: definition.version,
        revision: 0,
        everywhere: false,
        missing: Vec::new(),
    };
    let mut missing = concerned(app);
    match ask(app, &news).await {
        Ok(noticed) => Some(noticed),
        Err(error) => {
            tracing::warn!(error, definition = %news.definition_id, "the cache barrier did not answer");
            // A node may have come meanwhile, or gone: a notifier that is frozen counts as gone soon.
            missing.extend(concerned(app));
            Some(Noticed { missing: missing.into_iter().collect(), ..news })
        }
    }
}

/// The live nodes that keep published definitions, and the notifiers, as this node knows them.
fn concerned(app: &App) -> BTreeSet<String> {
    let live = app.cx.presence.live().into_iter();
    let is_concerned =
        |role: &String| matches!(role.as_str(), "ingress" | "executor" | "cache-notifier");
    live.filter(|member| member.roles.iter().any(is_concerned)).map(|member| member.node).collect()
}

/// Announces a published version, and the versions that were published with it. The answer is
/// about all of them.
pub(super) async fn announce_all(
    app: &App,
    definition: &Definition,
    others: &[Definition],
) -> Option<Noticed> {
    let mut all = announce(app, definition, true).await?;
    for other in others {
        let told = announce(app, other, true).await?;
        all.everywhere &= told.everywhere;
        let missing = told.missing.into_iter().filter(|node| !all.missing.contains(node));
        all.missing.extend(missing.collect::<Vec<_>>());
    }
    Some(all)
}

async fn ask(app: &App, news: &Noticed) -> Result<Noticed, String> {
    let payload = encode_body(ContentType::Json, news).map_err(|error| error.to_string())?;
    let headers = Headers::from([(header::CONTENT_TYPE.to_owned(), "application/json".to_owned())]);
    let message = Message { subject: subject::CACHE_CHANGED.to_owned(), headers, payload };
    let (mut tries, mut asked) = (1, 1);
    loop {
        match app.cx.bus.request(message.clone(), BARRIER_TIME_MAX).await {
            Ok(answer) => {
                let noticed = decode_body(answer.content_type(), &answer.payload);
                return noticed.map_err(|error| error.to_string());
            }
            // No notifier is subscribed; perhaps one is being replaced.
            Err(bus::Error::Unavailable(_)) if tries < BARRIER_TRIES => tries += 1,
            // It hangs, perhaps; another one writes the same again.
            Err(bus::Error::Unknown(_)) if asked < BARRIER_ASKED => {
                asked += 1;
                continue;
            }
            Err(error) => return Err(error.to_string()),
        }
        tokio::time::sleep(BARRIER_PAUSE).await;
    }
}
