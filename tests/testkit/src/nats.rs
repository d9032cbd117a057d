//! A real nats-server for tests, found or downloaded as `staunch dev` does.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use nats_server::{Binary, Find, Options, Server, find};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::free_port;

static BINARY: OnceCell<Binary> = OnceCell::const_new();
static SHARED: OnceCell<TestNats> = OnceCell::const_new();

/// A nats-server with JetStream on a free port and an empty store. It ends when this value is
/// dropped, and when the test process ends, in whatever way.
#[derive(Debug)]
pub struct TestNats {
    server: Server,
    // Removed after the server has ended.
    _directory: TempDir,
}

impl TestNats {
    /// The address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// The server: to kill, restart, suspend and resume it.
    pub fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Its log file.
    #[must_use]
    pub fn log(&self) -> &Path {
        self.server.log()
    }

    /// Kills it, wipes its store, and starts it again on the same port.
    #[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
    pub async fn wipe(&mut self) {
        self.server.kill().expect("nats-server can be killed");
        std::fs::remove_dir_all(self.server.store_dir()).expect("the store can be removed");
        std::fs::create_dir_all(self.server.store_dir()).expect("the store can be made");
        self.server.restart().await.expect("nats-server starts again");
    }
}

/// The nats-server binary that tests run, some of them as another user. A script on the PATH is passed over:
/// those of Python's version managers start a server in a folder that only its owner may read.
#[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
#[expect(clippy::print_stderr, reason = "a download takes its time, and should say so")]
pub async fn binary() -> PathBuf {
    let found = BINARY.get_or_init(|| async {
        let say = |text: &str| eprintln!("nats-server: {text}");
        let mut places = Find::from_environment();
        places.path.retain(|folder| !is_script(&folder.join("nats-server")));
        find(&places, &say).await.expect("tests need a nats-server")
    });
    found.await.path.clone()
}

fn is_script(path: &Path) -> bool {
    let mut begin = [0; 2];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
        && begin == *b"#!"
}

/// A separate server.
pub async fn nats() -> TestNats {
    nats_with(|_| {}).await
}

/// A separate server, with other options.
#[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
pub async fn nats_with(change: impl FnOnce(&mut Options)) -> TestNats {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let mut options = Options::new(&binary().await, &directory.path().join("store"));
    options.remove_if_killed = Some(directory.path().to_owned());
    change(&mut options);
    let server = Server::start(options).await.expect("nats-server starts");
    TestNats { server, _directory: directory }
}

/// Three servers that form one cluster, for replicas and elections. It takes some seconds until
/// JetStream has elected its leaders.
pub async fn nats_cluster() -> Vec<TestNats> {
    let ports = [free_port(), free_port(), free_port()];
    let routes: Vec<_> = ports.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
    let start = async |number: usize| {
        nats_with(|options| {
            options.arguments = [
                "--server_name",
                &format!("n{number}"),
                "--cluster_name",
                "test",
                "--cluster",
                &routes[number],
                "--routes",
                &routes.join(","),
            ]
            .map(str::to_owned)
            .to_vec();
        })
        .await
    };
    vec![start(0).await, start(1).await, start(2).await]
}

/// One server for all tests of this process, for tests that use different subjects.
pub async fn shared_nats() -> &'static TestNats {
    SHARED.get_or_init(nats).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_server_of_tests_is_a_program_that_any_user_can_run() {
        assert!(!is_script(&binary().await));
        let folder = tempfile::tempdir().unwrap();
        let (script, none) = (folder.path().join("script"), folder.path().join("none"));
        std::fs::write(&script, "#!/bin/sh\nexec nats-server \"$@\"\n").unwrap();
        assert!(is_script(&script) && !is_script(&none));
    }

    #[tokio::test]
    async fn a_wiped_server_comes_back_on_the_same_port() {
        let mut nats = nats().await;
        let url = nats.url();
        nats.wipe().await;
        assert_eq!(nats.url(), url);
        assert_ne!(shared_nats().await.url(), url);
        assert!(nats.log().is_file());
    }
}
