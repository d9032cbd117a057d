use model::{Entry as JournalEntry, Instance, SubStatus, What};
use serde_json::json;

use super::*;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000 + millis)
}

fn line(id: &str, version: i64) -> Line {
    let record = json!({"state": {"variables": {"v": "é"}}, "half": 0.5});
    let instance = Instance {
        version,
        status: SubStatus::Finished,
        finished_at: Some(at(version)),
        state: rmp_serde::to_vec_named(&record).unwrap(),
        ..Instance::new(id.into(), "order".into(), "order-1".into(), 1, at(0))
    };
    let entry = JournalEntry {
        sequence: 1,
        timestamp: at(0),
        activity_id: None,
        activity_instance_id: None,
        activity_type: None,
        activity_name: None,
        what: What::Line,
        message: Some("hello".to_owned()),
        payload: None,
        node: None,
        owner: None,
        recorded: None,
    };
    Line::new(instance, vec![entry]).unwrap()
}

fn opened() -> (tempfile::TempDir, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path().join("below/it").to_str().unwrap()).unwrap();
    (folder, archive)
}

async fn written(archive: &Archive, definition: &str, millis: i64, lines: Vec<Line>) -> Manifest {
    archive.write(&definition.into(), &lines, at(millis), "n").await.unwrap()
}

#[tokio::test]
async fn what_was_written_is_read() {
    let (_folder, archive) = opened();
    let batch = vec![line("a", 1), line("b", 2)];
    let manifest = written(&archive, "order", 5, batch.clone()).await;
    assert_eq!(archive.file(&manifest.file).await.unwrap(), batch);
    assert_eq!(archive.instance(&"b".into()).await.unwrap(), line("b", 2));
    assert_eq!(archive.instance(&"b".into()).await.unwrap().record["half"], json!(0.5));
    let missing = archive.instance(&"c".into()).await.unwrap_err();
    assert_eq!(missing.to_string(), "the archive has no instance c");
    assert!(matches!(archive.file("order/x.jsonl.zst").await, Err(Error::NotFound(_))));
    let outside = archive.file("../../x").await.unwrap_err();
    assert_eq!(outside.to_string(), "the archive has no file ../../x");
}

#[tokio::test]
async fn files_are_listed_in_order_and_by_definition() {
    let (_folder, archive) = opened();
    let odd = "a/b ../:é";
    written(&archive, odd, 9, vec![line("o", 1)]).await;
    written(&archive, "order", 5, vec![line("a", 1)]).await;
    let files = |manifests: Vec<Manifest>| -> Vec<String> {
        manifests.into_iter().map(|manifest| manifest.definition_id.to_string()).collect()
    };
    assert_eq!(files(archive.list(None).await.unwrap()), ["order", odd]);
    assert_eq!(files(archive.list(Some(&odd.into())).await.unwrap()), [odd]);
    assert_eq!(archive.instance(&"o".into()).await.unwrap(), line("o", 1));
}

#[tokio::test]
async fn of_several_copies_the_one_with_the_highest_version_counts() {
    let (_folder, archive) = opened();
    written(&archive, "order", 1, vec![line("a", 7)]).await;
    written(&archive, "order", 2, vec![line("a", 9)]).await;
    written(&archive, "order", 3, vec![line("a", 8)]).await;
    assert_eq!(archive.instance(&"a".into()).await.unwrap().instance.version, 9);
}

#[tokio::test]
async fn a_file_without_a_manifest_does_not_count_and_a_changed_one_is_refused() {
    let (folder, archive) = opened();
    let manifest = written(&archive, "order", 1, vec![line("a", 1)]).await;
    let root = folder.path().join("below/it");
    let file = root.join(&manifest.file);
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[7] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let error = archive.instance(&"a".into()).await.unwrap_err().to_string();
    assert!(error.contains(&manifest.file) && error.contains("its manifest"), "{error}");
    let beside = manifest.file.replace(FILE, MANIFEST);
    std::fs::write(root.join(&beside), b"{}").unwrap();
    let error = archive.list(None).await.unwrap_err().to_string();
    assert!(error.contains(&beside), "{error}");
    std::fs::remove_file(root.join(&beside)).unwrap();
    assert_eq!(archive.list(None).await.unwrap(), []);
}

#[test]
fn a_place_that_is_none_is_named() {
    for (place, part) in [
        ("gs://bucket", "use a folder, or s3://"),
        ("s3://", "there is no bucket"),
        ("/proc/nowhere", "/proc/nowhere"),
    ] {
        let error = Archive::open(place).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("archive-to"), "{place}: {error}");
    }
}

#[test]
fn a_state_that_cannot_be_read_is_no_line() {
    let broken = Instance { state: vec![0xc1], ..line("a", 1).instance };
    assert!(Line::new(broken, Vec::new()).unwrap_err().to_string().contains("instance a"));
}
