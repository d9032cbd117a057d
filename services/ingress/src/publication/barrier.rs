//! The cache barrier: asks cache-notifier to inform every node, and waits for its answer.

use std::collections::BTreeSet;
use std::time::Duration;

use bus::Member;
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

/// Which nodes have a change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// Every live node has it.
    pub(crate) everywhere: bool,
    /// The live nodes that have not confirmed it.
    pub(crate) missing: Vec<String>,
    /// Why it is not known which nodes have it: then none is named as missing.
    pub(crate) unconfirmed: Option<String>,
    /// The revision of the pointer; 0 if it is not known.
    pub(crate) revision: u64,
}

impl From<Noticed> for Told {
    fn from(noticed: Noticed) -> Self {
        let Noticed { everywhere, missing, revision, .. } = noticed;
        Self { everywhere, missing, unconfirmed: None, revision }
    }
}

/// Informs every node that this version is published, or no longer is, and waits until all have it.
/// Never fails: without an answer, the reconciliation of a live notifier informs the nodes later,
/// `everywhere` is false, and `unconfirmed` says why no more is known: a node that has not been asked
/// is not said to lack it. `missing` has the notifiers that have ceased to be live meanwhile.
pub(super) async fn announce(
    app: &App,
    definition: &Definition,
    is_published: bool,
) -> Option<Told> {
    let news = Noticed {
        definition_id: definition.definition_id.clone(),
        version_id: is_published.then(|| definition.id.clone()),
        version: definition.version,
        revision: 0,
        everywhere: false,
        missing: Vec::new(),
    };
    let before = notifiers(app);
    match ask(app, &news).await {
        Ok(noticed) => Some(noticed.into()),
        Err(unconfirmed) => {
            let definition = &news.definition_id;
            tracing::warn!(error = unconfirmed, %definition, "the cache barrier did not answer");
            let missing = before.difference(&notifiers(app)).cloned().collect();
            Some(Told { missing, unconfirmed: Some(unconfirmed), ..Told::default() })
        }
    }
}

/// The live cache-notifiers, as this node knows them.
fn notifiers(app: &App) -> BTreeSet<String> {
    let live = app.cx.presence.live().into_iter();
    let notifies = |member: &Member| member.roles.iter().any(|role| role == "cache-notifier");
    live.filter(notifies).map(|member| member.node).collect()
}

/// Announces a published version, and the versions that were published with it. The answer is
/// about all of them.
pub(super) async fn announce_all(
    app: &App,
    definition: &Definition,
    others: &[Definition],
) -> Option<Told> {
    let mut all = announce(app, definition, true).await?;
    for other in others {
        let told = announce(app, other, true).await?;
        all.everywhere &= told.everywhere;
        let missing = told.missing.into_iter().filter(|node| !all.missing.contains(node));
        all.missing.extend(missing.collect::<Vec<_>>());
        all.unconfirmed = all.unconfirmed.or(told.unconfirmed);
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
            Err(bus::Error::Unknown(_)) => {
                return Err(format!(
                    "no cache-notifier has answered within {} s: one may hang, which is the process \
                     whose /health/live does not answer",
                    (BARRIER_TIME_MAX * BARRIER_ASKED).as_secs()
                ));
            }
            Err(error) => return Err(format!("no cache-notifier could be asked: {error}")),
        }
        tokio::time::sleep(BARRIER_PAUSE).await;
    }
}
