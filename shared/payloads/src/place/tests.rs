//! Payloads in each place: a folder, and an object store of NATS in memory.

use bus::MemoryBus;
use futures::stream;
use model::{PayloadHash, Timestamp, limits};
use store::Payloads as _;
use store::memory::MemoryStore;

use super::*;
use crate::Payloads;
use crate::payloads::tests::payloads;

const LARGE: usize = 3 * limits::PAYLOAD_CHUNK_BYTES + 7;

fn bus() -> Arc<dyn Outside> {
    Arc::new(MemoryBus::new(Arc::new(|| Timestamp::from_millis(1))))
}

fn places(texts: &[&str]) -> Places {
    Places::open(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
}

fn resting(bus: &Arc<dyn Outside>, texts: &[&str]) -> (MemoryStore, Payloads) {
    let (store, payloads) = payloads(LARGE as u64);
    (store, payloads.resting(places(texts).over(bus)))
}

fn large() -> Vec<u8> {
    (0..LARGE).map(|at| (at % 251) as u8).collect()
}

/// Each kind of place, with the texts of the setting.
async fn each(check: impl AsyncFn(Arc<dyn Outside>, &str)) {
    let folder = tempfile::tempdir().unwrap();
    check(bus(), folder.path().to_str().unwrap()).await;
    check(bus(), NATS).await;
}

/// Looks at everything that was touched before the second millisecond.
async fn cleared(store: &MemoryStore) -> Vec<Nameless> {
    let at = Timestamp::from_millis;
    store.clear_payloads(at(2), at(2), 9).await.unwrap().nameless
}

#[tokio::test]
async fn what_rests_outside_is_read_from_there_and_removed_there() {
    each(async |bus, place| {
        let (store, payloads) = resting(&bus, &[place]);
        let shelves = places(&[place]).over(&bus);
        let shelf = shelves.find(place).unwrap();
        for bytes in [Vec::new(), vec![1], large()] {
            let kept = payloads.keep_bytes(bytes.clone()).await.unwrap();
            assert_eq!(payloads.read(&kept.hash, u64::MAX).await.unwrap(), bytes);
            let row = store.payload(&kept.hash).await.unwrap().unwrap();
            assert_eq!(row.place.as_deref(), Some(place));
            assert_eq!(store.payload_part(&row.id, 0).await.unwrap(), None, "{place}");
            let nameless = cleared(&store).await;
            assert_eq!(nameless.len(), 1);
            for _ in 0..2 {
                shelves.remove(&store, &nameless[0]).await.unwrap();
            }
            assert_eq!(shelf.read(&row.id, 0).await, Ok(None), "{place}");
            assert!(matches!(payloads.open(&kept.hash).await, Err(Error::Absent(_))));
        }
    })
    .await;
}

#[tokio::test]
async fn the_same_bytes_and_what_is_not_kept_leave_nothing_behind() {
    each(async |bus, place| {
        let (store, payloads) = resting(&bus, &[place]);
        let shelves = places(&[place]).over(&bus);
        let shelf = shelves.find(place).unwrap();
        let kept = payloads.keep_bytes(large()).await.unwrap();
        assert_eq!(payloads.keep_bytes(large()).await.unwrap(), kept);
        let too_large = payloads.keep_bytes(vec![0; LARGE + 1]).await.unwrap_err();
        assert!(matches!(too_large, Error::TooLarge(_)), "{too_large}");
        let broken = stream::iter([Ok(Bytes::from(large())), Err("broken off")]);
        assert!(matches!(payloads.keep(broken).await, Err(Error::Source(_))));
        assert_eq!(payloads.read(&kept.hash, u64::MAX).await.unwrap(), large());
        // The ids of the writers are numbers.
        for (id, parts) in [("0", 4), ("1", 0), ("2", 0), ("3", 0)] {
            for number in 0..5 {
                let is_there = shelf.read(id, number).await.unwrap().is_some();
                assert_eq!(is_there, number < parts, "{place} {id}/{number}");
            }
        }
        assert_eq!(cleared(&store).await.len(), 1);
    })
    .await;
}

/// The process ends between any two parts that a removal takes away.
#[tokio::test]
async fn a_removal_that_is_cut_off_is_finished_by_the_next() {
    for parts in 0..9 {
        for left in 0..=parts {
            let bus = bus();
            let shelves = places(&[NATS]).over(&bus);
            let shelf = shelves.find(NATS).unwrap();
            for number in 0..parts {
                shelf.write("p", number, Bytes::from_static(b"x")).await.unwrap();
            }
            for number in (left..parts).rev() {
                let name = name("p", number);
                bus.remove_object("staunch_payload_parts", &name).await.unwrap();
            }
            shelf.remove("p").await.unwrap();
            for number in 0..parts {
                assert_eq!(shelf.read("p", number).await, Ok(None), "{parts} {left} {number}");
            }
        }
    }
}

#[tokio::test]
async fn earlier_places_are_read_and_unknown_ones_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let bus = bus();
    let (store, here) = payloads(LARGE as u64);
    let first = here.keep_bytes(vec![1]).await.unwrap().hash;
    let with = |texts: &[&str]| here.clone().resting(places(texts).over(&bus));
    let second = with(&[folder]).keep_bytes(vec![2]).await.unwrap().hash;
    let slashed = format!("{folder}/");
    let both = with(&[NATS, DATABASE, &slashed]);
    let third = both.keep_bytes(vec![3]).await.unwrap().hash;
    for (hash, byte) in [(&first, 1), (&second, 2), (&third, 3)] {
        assert_eq!(both.read(hash, 9).await.unwrap(), [byte]);
    }
    let fourth = with(&[DATABASE, NATS]).keep_bytes(vec![4]).await.unwrap().hash;
    assert_eq!(store.payload(&fourth).await.unwrap().unwrap().place, None);
    let unplaced = here.read(&third, 9).await.unwrap_err().to_string();
    assert!(unplaced.contains("is in \"nats\": add this place"), "{unplaced}");
    let nameless = Nameless { id: "x".to_owned(), place: "s3://gone".to_owned() };
    let unplaced = places(&[NATS]).over(&bus).remove(&store, &nameless).await.unwrap_err();
    assert!(matches!(unplaced, Error::Unplaced(..)), "{unplaced}");
}

#[tokio::test]
async fn lost_and_changed_parts_are_noticed() {
    let bus = bus();
    let (store, payloads) = resting(&bus, &[NATS]);
    let hash = payloads.keep_bytes(large()).await.unwrap().hash;
    let row = store.payload(&hash).await.unwrap().unwrap();
    let changed = |number, bytes: Bytes| {
        let name = name(&row.id, number);
        let bus = Arc::clone(&bus);
        async move { bus.set_object("staunch_payload_parts", &name, bytes.into()).await.unwrap() }
    };
    changed(3, Bytes::from_static(b"another")).await;
    assert!(matches!(payloads.read(&hash, u64::MAX).await, Err(Error::Damaged(_))));
    bus.remove_object("staunch_payload_parts", &name(&row.id, 1)).await.unwrap();
    assert!(matches!(payloads.read(&hash, u64::MAX).await, Err(Error::Damaged(_))));
    assert!(payloads.size(&PayloadHash::of(b"?")).await.is_err());
}

#[tokio::test]
async fn bytes_that_are_kept_again_can_be_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let bus = bus();
    let (store, here) = payloads(LARGE as u64);
    let with = |texts: &[&str]| here.clone().resting(places(texts).over(&bus));
    let (old, new) = (with(&[folder]), with(&[NATS]));
    let kept = old.keep_bytes(large()).await.unwrap();
    let id = async || store.payload(&kept.hash).await.unwrap().unwrap().id;
    let first = id().await;
    assert!(matches!(new.read(&kept.hash, u64::MAX).await, Err(Error::Unplaced(..))));
    // The place is not named any more, and then the database is the first place again.
    for payloads in [&new, &here] {
        let before = id().await;
        assert_eq!(payloads.keep_bytes(large()).await.unwrap(), kept);
        assert_eq!(payloads.read(&kept.hash, u64::MAX).await.unwrap(), large());
        assert_ne!(id().await, before);
    }
    let lost = cleared(&store).await;
    assert!(lost.iter().any(|nameless| nameless.id == first), "{lost:?}");

    let (store, damaged) = resting(&bus, &[NATS]);
    for bytes in [None, Some(Bytes::from_static(b"another"))] {
        let kept = damaged.keep_bytes(large()).await.unwrap();
        let name = name(&store.payload(&kept.hash).await.unwrap().unwrap().id, 3);
        match bytes {
            None => bus.remove_object("staunch_payload_parts", &name).await.unwrap(),
            Some(bytes) => {
                bus.set_object("staunch_payload_parts", &name, bytes.into()).await.unwrap()
            }
        }
        assert!(matches!(damaged.read(&kept.hash, u64::MAX).await, Err(Error::Damaged(_))));
        assert_eq!(damaged.keep_bytes(large()).await.unwrap(), kept);
        assert_eq!(damaged.read(&kept.hash, u64::MAX).await.unwrap(), large());
    }
}

#[tokio::test]
async fn a_place_is_probed_and_a_wrong_one_refused() {
    each(async |bus, place| {
        let shelves = places(&[DATABASE, place]).over(&bus);
        assert_eq!(shelves.probe("n").await, [(place.to_owned(), Ok(()))]);
        assert_eq!(shelves.find(place).unwrap().read("staunch-doctor-n", 0).await, Ok(None));
    })
    .await;
    let refused = Places::open(&["gs://bucket".to_owned()]).unwrap_err().to_string();
    assert!(refused.contains("use a folder, or s3://"), "{refused}");
    for (texts, reason) in [
        (&["s3://"][..], "there is no bucket: use s3://bucket/prefix"),
        (&["s3:///x"][..], "there is no bucket"),
        (&["S3://pay"][..], "use a folder, or s3://"),
        (
            &["files:/x"][..],
            "`files:` is no kind of place that is known: use a folder, or s3://bucket/prefix, or \
             database, or nats",
        ),
        (&["nats:"][..], "`nats:` is no kind of place"),
        (&["nats", "nats"][..], "it is named twice"),
        (&["nats", "database", "nats/"][..], "it is named twice"),
    ] {
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        let refused = Places::open(&texts).unwrap_err().to_string();
        assert!(refused.contains(reason), "{texts:?}: {refused}");
        assert_eq!(Places::check(&texts).unwrap_err().to_string(), refused);
    }
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("parts");
    Places::check(&[folder.to_str().unwrap().to_owned(), NATS.to_owned()]).unwrap();
    assert!(!folder.exists(), "a check makes nothing");
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Places::open(&[file.path().to_str().unwrap().to_owned()]).is_err());
}

#[tokio::test]
async fn a_folder_that_is_gone_is_away_and_loses_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, aside) = (parent.path().join("parts"), parent.path().join("aside"));
    let place = folder.to_str().unwrap();
    let (store, payloads) = resting(&bus(), &[place]);
    let kept = payloads.keep_bytes(large()).await.unwrap();
    std::fs::rename(&folder, &aside).unwrap();
    let is_away = |error: Error| matches!(error, Error::Place(..));
    assert!(is_away(payloads.read(&kept.hash, u64::MAX).await.unwrap_err()));
    assert!(is_away(payloads.part(&kept.hash, 0).await.unwrap_err()));
    assert!(is_away(payloads.keep_bytes(vec![1; LARGE]).await.unwrap_err()));
    assert!(!folder.exists(), "another folder of this name would hide the first one");
    std::fs::rename(&aside, &folder).unwrap();
    assert_eq!(payloads.read(&kept.hash, u64::MAX).await.unwrap(), large());
    let shelves = places(&[place]).over(&bus());
    let nameless = cleared(&store).await;
    std::fs::rename(&folder, &aside).unwrap();
    assert!(is_away(shelves.remove(&store, &nameless[0]).await.unwrap_err()));
    std::fs::rename(&aside, &folder).unwrap();
    shelves.remove(&store, &nameless[0]).await.unwrap();
}
