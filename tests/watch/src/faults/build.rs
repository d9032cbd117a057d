//! A node of another build, as Prometheus sees it: the tests have one build only.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Metrics of a build that is no real one.
const METRICS: &str =
    "staunch_build_info{version=\"0.0.1\",commit=\"another\",node=\"another\"} 1\n";
const PATIENCE: Duration = Duration::from_secs(5);

/// An address with metrics, on a thread of its own that ends with the process. They are empty until
/// the node runs.
pub(super) struct OtherBuild {
    pub(super) address: String,
    is_running: Arc<AtomicBool>,
}

impl OtherBuild {
    pub(super) fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let is_running = Arc::new(AtomicBool::new(false));
        let shown = Arc::clone(&is_running);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let metrics = if shown.load(Ordering::Relaxed) { METRICS } else { "" };
                // Prometheus asks again where one scrape fails.
                answer(&stream, metrics).unwrap_or_default();
            }
        });
        Self { address, is_running }
    }

    /// The node runs from now on, or does not.
    pub(super) fn run(&self, is_running: bool) {
        self.is_running.store(is_running, Ordering::Relaxed);
    }
}

fn answer(mut stream: &TcpStream, metrics: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    for line in BufReader::new(stream).lines() {
        if line?.is_empty() {
            break;
        }
    }
    let size = metrics.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\
         Content-Length: {size}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{metrics}").as_bytes())
}
