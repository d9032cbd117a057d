//! `staunch` with an extra switch for crash tests: `STAUNCH_FAILPOINT=<point>:<nth>` ends the
//! process at once, without unwinding, when the point is reached for the nth time. Points are those
//! of `chassis::Point`. The product itself has no such switch.

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

#[expect(clippy::disallowed_methods, reason = "the switch of a test program")]
#[expect(clippy::print_stderr, reason = "a wrong switch must be seen")]
fn main() -> ExitCode {
    if let Ok(text) = std::env::var("STAUNCH_FAILPOINT") {
        let Some(failpoint) = Failpoint::read(&text) else {
            eprintln!("STAUNCH_FAILPOINT={text}: use <point>:<nth>");
            return ExitCode::from(2);
        };
        staunch::listen(Arc::new(failpoint));
    }
    staunch::main()
}
