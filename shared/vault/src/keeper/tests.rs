use engine::Vault as _;
use store::Secrets as _;
use store::memory::MemoryStore;

use super::*;
use crate::{check_start, is_encrypted_key};

const NOW: i64 = 1_000;

fn master(bytes: &[u8]) -> Master {
    let key = |byte: &u8| format!("{byte:02x}").repeat(32);
    Master::parse(&bytes.iter().map(key).collect::<Vec<_>>().join("\n")).unwrap()
}

fn about(name: &str) -> Secret {
    let now = Timestamp::from_millis(NOW);
    Secret {
        name: name.to_owned(),
        id: "id".to_owned(),
        display_name: name.to_owned(),
        description: None,
        type_name: "Text".to_owned(),
        scope: None,
        tags: Vec::new(),
        is_revoked: false,
        version: 0,
        created_at: now,
        updated_at: None,
        expires_at: None,
        wrapped_key: String::new(),
        ciphertext: String::new(),
    }
}

fn store() -> MemoryStore {
    MemoryStore::new(Arc::new(|| Timestamp::from_millis(NOW)))
}

async fn opened(keeper: &Keeper, millis: i64) -> Opened {
    keeper.open(Timestamp::from_millis(millis)).await.unwrap()
}

#[tokio::test]
async fn a_value_is_read_by_its_name_in_any_case() {
    let store = store();
    let keeper = Keeper::new(Arc::new(store.clone()), master(&[1]));
    keeper.create(about("Pay.Key"), "hunter2").await.unwrap();
    assert_eq!(opened(&keeper, NOW).await.read(" PAY.key").unwrap(), "hunter2");
    let rows = format!("{:?}", store.secrets().await.unwrap());
    assert!(!rows.contains("hunter2"), "{rows}");
    let taken = keeper.create(about("pay.key"), "other").await.unwrap_err();
    assert!(matches!(taken, Error::Taken(_)), "{taken}");
    for (name, value) in [("x", "v"), ("1ab", "v"), ("a b", "v"), (".sealing", "v"), ("ab", "")] {
        assert!(
            matches!(keeper.create(about(name), value).await, Err(Error::Invalid(_))),
            "{name}"
        );
    }
    keeper.rotate("pay.key", "hunter3", |_| ()).await.unwrap();
    assert_eq!(opened(&keeper, NOW).await.read("pay.key").unwrap(), "hunter3");
}

#[tokio::test]
async fn a_revoked_or_expired_secret_is_not_read() {
    let keeper = Keeper::new(Arc::new(store()), master(&[1]));
    keeper.create(about("pay.key"), "hunter2").await.unwrap();
    let at = Timestamp::from_millis(NOW + 1);
    keeper.describe("pay.key", |secret| secret.expires_at = Some(at)).await.unwrap();
    assert!(opened(&keeper, NOW).await.read("pay.key").is_ok());
    let late = opened(&keeper, NOW + 1).await.read("pay.key").unwrap_err();
    assert!(late.contains("expired"), "{late}");
    keeper.describe("pay.key", |secret| secret.is_revoked = true).await.unwrap();
    let gone = opened(&keeper, NOW).await.read("pay.key").unwrap_err();
    assert!(gone.contains("revoked") && !gone.contains("hunter2"), "{gone}");
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_was_just_made_is_there_for_every_turn_after_it() {
    let store = Arc::new(store());
    let now = Timestamp::from_millis(NOW);
    let keeper = Keeper::new(store.clone(), master(&[1]));
    let before = keeper.for_turn(now).await.unwrap();
    assert!(before.read("pay.key").is_err());
    assert!(!keeper.has_come(&before, now).await.unwrap(), "there is none");
    Keeper::new(store.clone(), master(&[1])).create(about("pay.key"), "hunter2").await.unwrap();
    let turn = keeper.for_turn(now).await.unwrap();
    assert!(turn.read("Pay.Key").is_err(), "what was read is a moment old");
    assert!(keeper.has_come(&turn, now).await.unwrap());
    let again = keeper.for_turn(now).await.unwrap();
    assert_eq!(again.read("Pay.Key").unwrap(), "hunter2");
    assert!(again.read("nobody").is_err());
    assert!(!keeper.has_come(&again, now).await.unwrap());
    // One that is there and cannot be read is not looked for.
    keeper.describe("pay.key", |secret| secret.is_revoked = true).await.unwrap();
    let revoked = Watched::new(keeper.fresh(now).await.unwrap(), Instant::now());
    assert!(revoked.read("pay.key").unwrap_err().contains("revoked"));
    assert!(revoked.missed().is_empty());
}

#[tokio::test(start_paused = true)]
async fn names_that_are_missing_are_looked_for_ten_times_a_second_at_most() {
    let keeper = Arc::new(Keeper::new(Arc::new(store()), master(&[1])));
    let misses = async |keeper: &Keeper, name: String| {
        let now = Timestamp::from_millis(NOW);
        let turn = keeper.for_turn(now).await.unwrap();
        assert!(turn.read(&name).is_err());
        assert!(!keeper.has_come(&turn, now).await.unwrap(), "{name}");
    };
    let began = Instant::now();
    for number in 0..20 {
        misses(keeper.as_ref(), format!("no.{number}")).await;
    }
    assert!(began.elapsed() >= READ_PAUSE * 20, "{:?}", began.elapsed());
    // Those that miss something at the same time share a read.
    let began = Instant::now();
    let mut all = tokio::task::JoinSet::new();
    for number in 0..50 {
        let keeper = Arc::clone(&keeper);
        all.spawn(async move {
            let turn = keeper.for_turn(Timestamp::from_millis(NOW)).await.unwrap();
            assert!(turn.read(&format!("no.{number}")).is_err());
            assert!(!keeper.has_come(&turn, Timestamp::from_millis(NOW)).await.unwrap());
        });
    }
    all.join_all().await;
    assert!(began.elapsed() <= READ_PAUSE * 2, "{:?}", began.elapsed());
    // A turn remembers so many names, and none that no secret can have.
    let turn = keeper.for_turn(Timestamp::from_millis(NOW)).await.unwrap();
    for number in 0..200 {
        assert!(turn.read(&format!("no.{number}")).is_err());
    }
    assert!(turn.read(&"n".repeat(NAME_CHARS_MAX + 1)).is_err());
    assert_eq!(turn.missed().len(), 100);
}

#[tokio::test]
async fn a_new_master_key_loses_nothing() {
    let store = Arc::new(store());
    let old = Keeper::new(store.clone(), master(&[1]));
    for name in ["one", "two"] {
        old.create(about(name), &format!("value {name}")).await.unwrap();
    }
    let sealed = opened(&old, NOW).await.seal("kept", "i", [9; 12]).unwrap();
    let both = Keeper::new(store.clone(), master(&[2, 1]));
    assert_eq!(opened(&both, NOW).await.read("two").unwrap(), "value two", "before the rekey");
    assert_eq!(both.rekey().await.unwrap(), 3, "two secrets and the key that seals");
    assert_eq!(both.rekey().await.unwrap(), 0);
    let new = Keeper::new(store.clone(), master(&[2]));
    assert_eq!(opened(&new, NOW).await.read("one").unwrap(), "value one");
    assert_eq!(opened(&new, NOW).await.open(&sealed, "i").unwrap(), "kept");
    assert_eq!(opened(&new, NOW).await.open(&sealed, "j"), None, "it is sealed for one instance");
    let locked = opened(&old, NOW).await;
    for why in [locked.read("one").unwrap_err(), locked.locked().unwrap()] {
        assert!(why.contains("no master key decrypts"), "{why}");
    }
    assert!(locked.seal("x", "i", [9; 12]).unwrap_err().contains("no master key decrypts"));
    assert!(matches!(old.create(about("three"), "v").await, Err(Error::Locked(_))));
}

#[tokio::test]
async fn a_node_starts_with_the_right_keys_alone() {
    let store = store();
    assert!(check_start(&store, None).await.is_ok(), "there are no secrets");
    assert!(check_start(&store, Some(&master(&[1]))).await.is_ok());
    let keeper = Keeper::new(Arc::new(store.clone()), master(&[1]));
    keeper.create(about("pay.key"), "hunter2").await.unwrap();
    assert!(check_start(&store, Some(&master(&[2, 1]))).await.is_ok());
    let keeps = |why: &str, how: &str| {
        let removes = why.find("Only if that key is lost for good: `staunch secret rm --all`");
        removes.zip(why.find(how)).is_some_and(|(removes, keeps)| keeps < removes)
    };
    let why = check_start(&store, Some(&master(&[2]))).await.unwrap_err().to_string();
    assert!(why.contains("no master key decrypts"), "{why}");
    assert!(keeps(&why, "give the key that it was written with, behind the newest one"), "{why}");
    let why = check_start(&store, None).await.unwrap_err().to_string();
    assert!(
        why.contains("1 secret") && keeps(&why, "To keep them, give it secrets-key-file"),
        "{why}"
    );
}

#[tokio::test]
async fn keys_of_others_are_encrypted_for_their_id() {
    let store = Arc::new(store());
    let now = Timestamp::from_millis(NOW);
    let keeper = Keeper::new(store.clone(), master(&[1]));
    let kept = keeper.encrypt_key("k1", &[5; 32], now).await.unwrap();
    assert!(is_encrypted_key(&kept) && !is_encrypted_key(&[5; 32]));
    assert!(!kept.windows(4).any(|part| part == [5; 4]));
    assert_eq!(keeper.decrypt_key("k1", &kept).await.unwrap(), [5; 32]);
    assert!(keeper.decrypt_key("k2", &kept).await.is_err(), "it is another key's");
    assert_eq!(keeper.decrypt_key("k2", &[6; 32]).await.unwrap(), [6; 32], "it is in clear");
    Keeper::new(store.clone(), master(&[2, 1])).rekey().await.unwrap();
    let new = Keeper::new(store.clone(), master(&[2]));
    assert_eq!(new.decrypt_key("k1", &kept).await.unwrap(), [5; 32], "after a rekey");
    assert!(matches!(keeper.decrypt_key("k1", &kept).await, Err(Error::Locked(_))));
}
