//! Payloads in a database in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use model::Timestamp;
use store::Payloads as _;
use store::memory::MemoryStore;

use super::*;

struct Edge(AtomicU64);

impl Clock for Edge {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1)
    }
}

impl Chance for Edge {
    fn new_id(&self) -> String {
        self.0.fetch_add(1, Ordering::Relaxed).to_string()
    }

    fn seed(&self) -> [u8; 32] {
        [0; 32]
    }
}

pub(crate) fn payloads(bytes_max: u64) -> (MemoryStore, Payloads) {
    let store = MemoryStore::new(Arc::new(|| Timestamp::from_millis(1)));
    let edge = Arc::new(Edge(AtomicU64::new(0)));
    let of = Arc::new(store.clone());
    (store, Payloads::new(of, Arc::clone(&edge) as _, edge, bytes_max))
}

#[tokio::test]
async fn what_is_kept_is_read_in_parts() {
    let (_, payloads) = payloads(limits::PAYLOAD_BYTES_MAX);
    for size in [0, 1, limits::PAYLOAD_CHUNK_BYTES, 3 * limits::PAYLOAD_CHUNK_BYTES + 7] {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        let pieces = bytes.chunks(1_000).map(|piece| Ok::<_, Error>(Bytes::copy_from_slice(piece)));
        let kept = payloads.keep(stream::iter(pieces.collect::<Vec<_>>())).await.unwrap();
        assert_eq!(kept, Kept { hash: PayloadHash::of(&bytes), size: size as u64 });
        assert_eq!(payloads.size(&kept.hash).await.unwrap(), size as u64);
        assert_eq!(payloads.read(&kept.hash, u64::MAX).await.unwrap(), bytes);
        let (_, parts) = payloads.open(&kept.hash).await.unwrap();
        let parts: Vec<_> = parts.collect().await;
        assert_eq!(parts.len(), size.div_ceil(limits::PAYLOAD_CHUNK_BYTES));
    }
}

#[tokio::test]
async fn one_part_is_read_by_its_number() {
    const FULL: usize = limits::PAYLOAD_CHUNK_BYTES;
    let (_, payloads) = payloads(limits::PAYLOAD_BYTES_MAX);
    for (size, parts) in [(0, 1), (1, 1), (FULL, 1), (FULL + 1, 2), (3 * FULL, 3)] {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        let hash = payloads.keep_bytes(bytes.clone()).await.unwrap().hash;
        let mut whole = Vec::new();
        for number in 0..parts {
            let part = payloads.part(&hash, number).await.unwrap();
            assert_eq!((part.size, part.parts), (size as u64, u64::from(parts)));
            whole.extend_from_slice(&part.bytes.unwrap());
        }
        assert_eq!(whole, bytes);
        for number in [parts, u32::MAX] {
            let part = payloads.part(&hash, number).await.unwrap();
            assert_eq!((part.bytes, part.parts), (None, u64::from(parts)), "part {number}");
        }
    }
    let absent = payloads.part(&PayloadHash::of(b"?"), 0).await;
    assert!(matches!(absent, Err(Error::Absent(_))), "{absent:?}");
}

#[tokio::test]
async fn what_is_too_large_is_not_kept_and_not_read() {
    let (_, payloads) = payloads(10);
    let refused = payloads.keep_bytes(vec![0; 11]).await.unwrap_err();
    assert!(matches!(refused, Error::TooLarge(10)), "{refused}");
    let kept = payloads.keep_bytes(vec![0; 10]).await.unwrap();
    assert!(matches!(payloads.read(&kept.hash, 9).await, Err(Error::TooLargeToLoad(9))));
    let absent = PayloadHash::of(b"?");
    assert!(matches!(payloads.read(&absent, 9).await, Err(Error::Absent(_))));
    let broken = stream::iter([Ok(Bytes::from_static(b"a")), Err("broken off")]);
    assert!(matches!(payloads.keep(broken).await, Err(Error::Source(_))));
}

#[tokio::test]
async fn values_are_whole_where_there_is_room() {
    let (_, payloads) = payloads(limits::PAYLOAD_BYTES_MAX);
    let json = format!("\"{}\"", "x".repeat(1_000));
    let kept = payloads.keep_bytes(json.into_bytes()).await.unwrap();
    let stand_in = large::stand_in(&kept.hash, kept.size);
    let values = Map::from_iter([("a".to_owned(), stand_in), ("b".to_owned(), 1.into())]);
    let whole = payloads.whole(&values, 2_000).await.unwrap();
    assert_eq!((whole["a"].as_str().map(str::len), &whole["b"]), (Some(1_000), &1.into()));
    assert_eq!(payloads.whole(&whole, 2_000).await, None, "it is whole");
    assert_eq!(payloads.whole(&values, 1_000).await, None, "no room");
    let twice = Map::from_iter([("a".to_owned(), vec![values["a"].clone(); 2].into())]);
    assert_eq!(payloads.whole(&twice, 2_000).await, None, "no room for both");
    assert_eq!(payloads.whole(&twice, 3_000).await.unwrap()["a"][1], whole["a"]);
    let gone = large::stand_in(&PayloadHash::of(b"?"), 1);
    let gone = Map::from_iter([("a".to_owned(), gone)]);
    assert_eq!(payloads.whole(&gone, 2_000).await, None, "it is gone");
}

#[tokio::test]
async fn damaged_bytes_are_noticed() {
    let (store, payloads) = payloads(10);
    let now = Timestamp::from_millis(1);
    let hash = PayloadHash::of(b"abc");
    for (id, parts) in [("other", vec![&b"abd"[..]]), ("short", vec![&b"ab"[..]])] {
        let store = store.clone();
        store.begin_payload(id, None, now).await.unwrap();
        for (number, part) in (0..).zip(parts) {
            store.write_payload(id, number, part.to_vec()).await.unwrap();
        }
        store.complete_payload(id, &hash, 3, now).await.unwrap();
        assert!(matches!(payloads.read(&hash, 9).await, Err(Error::Damaged(_))), "{id}");
        assert!(matches!(payloads.part(&hash, 0).await, Err(Error::Damaged(_))), "{id}");
        store.clear_payloads(Timestamp::from_millis(9), now, 9).await.unwrap();
    }
}
