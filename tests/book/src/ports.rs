//! Ports of the text, replaced by free ones: other tests and other servers run on this machine.

use std::collections::BTreeMap;
use std::sync::Mutex;

use testkit::free_port;

/// The ports that the book names for servers on the reader's machine.
const KNOWN: [u16; 26] = [
    4222, 4223, 4224, 4225, 4226, 4227, 5001, 5002, 5003, 5004, 5011, 5012, 5013, 5432, 5433, 6222,
    6223, 6224, 6225, 6226, 7225, 7226, 7425, 7426, 8222, 9090,
];

/// A free port for each known one.
pub(crate) struct Ports(BTreeMap<u16, u16>);

impl Ports {
    pub(crate) fn new() -> Self {
        let mut ports = BTreeMap::new();
        for known in KNOWN {
            let is_taken = |port: u16| ports.values().any(|taken| *taken == port);
            let mut port = free_port();
            while is_taken(port) {
                port = free_port();
            }
            ports.insert(known, port);
        }
        Self(ports)
    }

    /// The port in the place of this one.
    pub(crate) fn of(&self, known: u16) -> u16 {
        self.0[&known]
    }

    /// The text with other ports: each known number that stands alone is replaced.
    pub(crate) fn replaced(&self, text: &str) -> String {
        let mut out = String::new();
        let mut digits = String::new();
        for c in text.chars().chain([' ']) {
            if c.is_ascii_digit() {
                digits.push(c);
                continue;
            }
            let known = digits.parse().ok().and_then(|number: u16| self.0.get(&number));
            match known {
                Some(port) => out.push_str(&port.to_string()),
                None => out.push_str(&digits),
            }
            digits.clear();
            out.push(c);
        }
        out.pop();
        out
    }
}

/// The ports of the pages that run at the same time. A page binds some of its ports only after half a
/// minute, and there are too few free ones to give each page its own: those of a page that has ended go
/// to the next one.
pub(crate) struct Pool(Mutex<Vec<Ports>>);

impl Pool {
    pub(crate) fn new(pages: usize) -> Self {
        Self(Mutex::new((0..pages).map(|_| Ports::new()).collect()))
    }

    /// # Panics
    /// When more pages run than the pool was made for.
    pub(crate) fn take(&self) -> Ports {
        self.0.lock().unwrap().pop().unwrap()
    }

    pub(crate) fn give_back(&self, ports: Ports) {
        self.0.lock().unwrap().push(ports);
    }
}

#[test]
fn no_page_has_a_port_of_another_that_runs() {
    let pool = Pool::new(2);
    let long = pool.take();
    for _ in 0..20 {
        let short = pool.take();
        assert!(short.0.values().all(|port| !long.0.values().any(|one| one == port)));
        pool.give_back(short);
    }
}

#[test]
fn only_whole_numbers_are_replaced() {
    let ports = Ports::new();
    let (api, nats) = (ports.of(5001), ports.of(4222));
    for (text, expected) in [
        ("http://127.0.0.1:5001/x", format!("http://127.0.0.1:{api}/x")),
        ("15001 50011 x5001", format!("15001 50011 x{api}")),
        ("nats:4222,5001", format!("nats:{nats},{api}")),
        ("nothing", "nothing".to_owned()),
    ] {
        assert_eq!(ports.replaced(text), expected);
    }
}
