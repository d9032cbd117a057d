use std::fs;
use std::path::Path;

use super::*;
use crate::depot::tests::depot;

fn saved(path: &str, text: &str, append: bool) -> FileAccess {
    FileAccess::Save { path: path.to_owned(), data: STANDARD.encode(text), payload: None, append }
}

async fn access(folder: &Path, access: FileAccess, key: &str) -> Map {
    Files::new(Some(folder.to_owned()), Depot::default()).access(&access, key).await.into_input()
}

fn open(path: &str) -> FileAccess {
    FileAccess::Open { path: path.to_owned() }
}

#[tokio::test]
async fn what_is_saved_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let end = access(folder.path(), saved("a/b/c.txt", "hello", false), "k").await;
    assert_eq!(end["size"], 5, "{end:?}");
    let end = access(folder.path(), open("a/./b/c.txt"), "k").await;
    assert_eq!((&end["fileName"], &end["content"]), (&json!("c.txt"), &json!("aGVsbG8=")));
    let left: Vec<_> = fs::read_dir(folder.path().join("a/b")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[tokio::test]
async fn nothing_outside_of_the_folder_is_reached() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("own");
    fs::create_dir(&folder).unwrap();
    fs::write(outer.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(outer.path().join("secret"), folder.join("link")).unwrap();
    std::os::unix::fs::symlink(outer.path(), folder.join("up")).unwrap();
    for path in
        ["../secret", "/etc/passwd", "a/../../secret", "link", "up/secret", "", "a/", "x\\y", "."]
    {
        let read = access(&folder, open(path), "k").await;
        assert!(read.contains_key("error"), "{path}: {read:?}");
        let written = access(&folder, saved(path, "mine", false), "k").await;
        assert!(written.contains_key("error") || path == "link", "{path}: {written:?}");
    }
    assert_eq!(fs::read_to_string(outer.path().join("secret")).unwrap(), "secret");
    let end = access(&folder, saved(".staunch-x", "mine", false), "k").await;
    assert_eq!(end["error"], "refused");
    let end = Files::new(None, Depot::default()).access(&open("a"), "k").await.into_input();
    assert!(end["message"].as_str().unwrap().contains("files-folder"), "{end:?}");
}

#[tokio::test]
async fn a_repeated_append_appends_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    fs::write(&file, "0").unwrap();
    for (text, key) in [("a", "k1"), ("a", "k1"), ("b", "k2"), ("a", "k1"), ("b", "k2")] {
        let end = access(folder.path(), saved("log", text, true), key).await;
        assert!(!end.contains_key("error"), "{end:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "0ab");
}

#[tokio::test]
async fn an_append_that_was_cut_short_is_made_whole_or_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    for next in ["k1", "k2"] {
        fs::write(&file, "0").unwrap();
        let log = folder.path().join(".staunch-log.appended");
        fs::write(&log, "k1 1 6\n").unwrap();
        fs::write(&file, "0hel").unwrap();
        let end = access(folder.path(), saved("log", "hello!", true), next).await;
        assert_eq!(end["size"], 7, "{end:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "0hello!");
    }
}

#[tokio::test]
async fn what_is_no_file_or_too_large_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    let large = vec![0; limits::FILE_BYTES_MAX + 1];
    fs::write(folder.path().join("large"), &large).unwrap();
    for path in ["d", "large"] {
        let end = access(folder.path(), open(path), "k").await;
        assert_eq!(end["error"], "refused", "{end:?}");
    }
    let missing = access(folder.path(), open("none"), "k").await;
    assert_eq!((&missing["error"], &missing["code"]), (&json!("failed"), &json!("NotFound")));
}

#[tokio::test]
async fn large_files_rest_in_payloads_and_come_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new(Some(folder.path().to_owned()), depot());
    let bytes = vec![7; 3 * limits::PAYLOAD_ABOVE_BYTES];
    fs::write(folder.path().join("in"), &bytes).unwrap();
    let read = files.access(&open("in"), "k").await.into_input();
    let hash: model::PayloadHash = read["payload"].as_str().unwrap().parse().unwrap();
    assert_eq!((&read["size"], read.get("content")), (&json!(bytes.len()), None));
    assert_eq!(hash, model::PayloadHash::of(&bytes));
    let save = |path: &str, payload: &model::PayloadHash, append: bool| {
        let (path, payload) = (path.to_owned(), Some(payload.clone()));
        FileAccess::Save { path, data: String::new(), payload, append }
    };
    let written = files.access(&save("a/out", &hash, false), "k").await.into_input();
    assert_eq!((&written["path"], &written["size"]), (&json!("a/out"), &json!(bytes.len())));
    assert!(fs::read(folder.path().join("a/out")).unwrap() == bytes);
    let added = files.access(&save("a/out", &hash, true), "k2").await.into_input();
    assert_eq!(added["size"], 2 * bytes.len(), "{added:?}");
    let left: Vec<_> = fs::read_dir(folder.path().join("a")).unwrap().collect();
    assert_eq!(left.len(), 2, "the file, and what was appended to it: {left:?}");
    let absent = files.access(&save("x", &model::PayloadHash::of(b"?"), false), "k").await;
    assert_eq!(absent.into_input()["error"], "refused");
    assert!(!folder.path().join("x").exists());
}

#[test]
fn a_folder_that_is_none_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(check(folder.path()), Ok(()));
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = check(&file).unwrap_err();
    assert_eq!(refused.setting, "files-folder");
    assert!(refused.reason.starts_with("it is no folder"), "{}", refused.reason);
    let missing = check(&folder.path().join("nope")).unwrap_err().reason;
    assert!(missing.starts_with("it cannot be read, so make it first: No such"), "{missing}");
}
