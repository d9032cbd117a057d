//! `staunch` with two extra switches for crash tests. The product itself has neither.
//!
//! `STAUNCH_FAILPOINT=<point>:<nth>` ends the process at once, without unwinding, when the point is
//! reached for the nth time. Points are those of `chassis::Point`.
//!
//! `STAUNCH_PANICS=<address>` makes the process listen there. Each line `<task>:<nth>` that it
//! receives makes the background task of this name panic at its nth poll from then on. It closes the
//! connection when all panics are planted. The metrics then name every task that has run.

use std::io::BufRead as _;
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use chassis::{Point, Points};

struct Failpoint {
    point: Point,
    left: AtomicUsize,
}

impl Failpoint {
    fn read(text: &str) -> Option<Self> {
        let (name, nth) = text.split_once(':')?;
        let point = Point::named(name)?;
        Some(Self { point, left: AtomicUsize::new(nth.parse().ok()?) })
    }
}

#[async_trait]
impl Points for Failpoint {
    async fn at(&self, _node: &str, point: Point) {
        if point == self.point && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
    }
}

/// Plants the panics that tests ask for, for as long as the process lives.
fn plant_panics(address: &str) -> std::io::Result<()> {
    let listener = TcpListener::bind(address)?;
    tasks::enter_all();
    std::thread::Builder::new().name("panics".to_owned()).spawn(move || {
        for asking in listener.incoming().flatten() {
            for line in std::io::BufReader::new(asking).lines().map_while(Result::ok) {
                if let Some((task, nth)) = line.rsplit_once(':')
                    && let Ok(nth) = nth.parse()
                {
                    tasks::plant(task, nth);
                }
            }
        }
    })?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the switches of a test program")]
#[expect(clippy::print_stderr, reason = "a wrong switch must be seen")]
fn main() -> ExitCode {
    if let Ok(address) = std::env::var("STAUNCH_PANICS")
        && let Err(error) = plant_panics(&address)
    {
        eprintln!("STAUNCH_PANICS={address}: {error}");
        return ExitCode::from(2);
    }
    if let Ok(text) = std::env::var("STAUNCH_FAILPOINT") {
        let Some(failpoint) = Failpoint::read(&text) else {
            eprintln!("STAUNCH_FAILPOINT={text}: use <point>:<nth>");
            return ExitCode::from(2);
        };
        staunch::listen(Arc::new(failpoint));
    }
    staunch::main()
}
