//! The settings of the gateway that are more than a text: networks and rates.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use ipnet::IpNet;

use super::amount::TIME;
use super::form::{Form, IPV4, ipv6};
use super::value::Parse;

/// The largest number of networks in one setting.
const NETWORKS_MAX: usize = 256;
/// The longest time of a rate: a counter is kept for as long.
const RATE_TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

const RATE: &str =
    "must be a number of requests and a time, such as 100/1s or 5000/1h; at most 24h";
const HOSTS: &str = "must be like order=api.example.com|*.example.org: an id of a definition, or * \
    for the others, and hosts without a scheme or a port; several with commas between them";
const SUBJECTS: &str = "must be like order=orders.>|stock.*: an id of a definition, or * for the \
    others, and subjects of NATS, none of them of Staunch or of NATS itself (staunch., $, _); \
    several with commas between them";
const BUCKETS: &str = "must be like order=config|uploads: an id of a definition, or * for the \
    others, and names of buckets, none of them of Staunch (staunch_); several with commas between \
    them";

/// Networks of IP addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// True if one of them has the address. An IPv4 address in IPv6 form is that IPv4 address.
    #[must_use]
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// True if there is no network.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::str::FromStr for Networks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

impl Parse for Networks {
    fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let networks = items.map(network).collect::<Result<Vec<_>, _>>()?;
        if networks.len() > NETWORKS_MAX {
            return Err(format!("must be at most {NETWORKS_MAX} networks"));
        }
        Ok(Self(networks))
    }

    fn form() -> Form {
        let must = "must be an address or a network, such as 10.1.2.3, 10.0.0.0/8 or fd00::/8, or \
                    several with commas between them; none with every address";
        let prefixes = ["[1-9]|[12][0-9]|3[0-2]", "[1-9]|[1-9][0-9]|1[01][0-9]|12[0-8]"];
        let item = format!("{IPV4}(?:/(?:{}))?|{}(?:/(?:{}))?", prefixes[0], ipv6(), prefixes[1]);
        Form::list(must, &item)
    }
}

fn network(text: &str) -> Result<IpNet, String> {
    let wrong = || {
        format!(
            "{text:?} is neither an address nor a network: write 10.1.2.3, 10.0.0.0/8 or fd00::/8"
        )
    };
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(IpNet::from(address.to_canonical()));
    }
    let Ok(network) = text.parse::<IpNet>() else { return Err(wrong()) };
    if network.prefix_len() == 0 {
        return Err(format!(
            "{text:?} has every address: anyone could then choose the address that is believed"
        ));
    }
    if matches!(network.addr(), IpAddr::V6(address) if address.to_ipv4_mapped().is_some()) {
        return Err(format!("{text:?} has IPv4 addresses in IPv6 form: write them as IPv4"));
    }
    // 10.1.2.3/8 would silently be all of 10.0.0.0/8.
    if network.trunc() != network {
        return Err(format!("{text:?} has bits behind its prefix: write {}", network.trunc()));
    }
    Ok(network)
}

/// A number of requests within a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The number, which may also come all at once.
    pub count: NonZeroU32,
    /// The time in which as many become free again.
    pub time: Duration,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests in {:?}", self.count, self.time)
    }
}

impl Parse for Rate {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || RATE.to_owned();
        let (count, time) = text.split_once('/').ok_or_else(wrong)?;
        let count = count.trim();
        if !count.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(wrong());
        }
        let Ok(count) = count.parse() else { return Err(wrong()) };
        let Ok(time) = Duration::parse(time.trim()) else { return Err(wrong()) };
        if time > RATE_TIME_MAX || time.as_nanos() < u128::from(u32::from(count)) {
            return Err(wrong());
        }
        Ok(Self { count, time })
    }

    fn form() -> Form {
        let form = Form::of(RATE, &format!("\\s*0*[1-9][0-9]{{0,9}}\\s*/\\s*{TIME}\\s*"));
        Form { least: Some("1ms"), most: Some("24h"), ..form }
    }
}

/// Hosts that may be called, by the id of a workflow definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostLists(pub BTreeMap<String, Vec<String>>);

impl Parse for HostLists {
    fn parse(text: &str) -> Result<Self, String> {
        lists(text, "order=api.example.com|*.example.org", |host| {
            let host = host.to_lowercase();
            if is_host(&host) {
                // The dot of a name that is written to its root.
                return Ok(host.strip_suffix('.').unwrap_or(&host).to_owned());
            }
            Err(format!(
                "{host:?} is not a host: write a name, an address or *.example.com, without a \
                 scheme or a port, and a name with other letters as xn--…"
            ))
        })
        .map(Self)
    }

    fn form() -> Form {
        let label = "[A-Za-z0-9_-]+";
        let host = format!("(?:\\*\\.)?{label}(?:\\.{label})*\\.?|{}", ipv6());
        Form::list(HOSTS, &list_of(&host))
    }
}

/// Patterns of subjects of NATS that may be used, by the id of a workflow definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameLists(pub BTreeMap<String, Vec<String>>);

impl NameLists {
    /// Every definition may use every subject that is not Staunch's.
    #[must_use]
    pub fn everything() -> Self {
        Self(BTreeMap::from([("*".to_owned(), vec![">".to_owned()])]))
    }
}

impl Parse for NameLists {
    fn parse(text: &str) -> Result<Self, String> {
        lists(text, "order=orders.>|stock.*", |pattern| {
            let is_bad = |byte: u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
            if pattern.split('.').any(str::is_empty) || pattern.bytes().any(is_bad) {
                return Err(format!(
                    "{pattern:?} is not a pattern: write tokens with dots between, * for one and > \
                     for the rest"
                ));
            }
            let first = pattern.split_once('.').map(|(first, _)| first);
            if first.is_some_and(|first| first == "staunch" || first.starts_with(['$', '_'])) {
                return Err(format!(
                    "{pattern:?} allows nothing: subjects of Staunch and of NATS (`staunch.`, `$`, `_`) \
                     are never allowed; leave it out"
                ));
            }
            Ok(pattern.to_owned())
        })
        .map(Self)
    }

    fn form() -> Form {
        let token = "[^\\x00-\\x20\\x7F.,|]+";
        let own = "[=|]\\s*(?:staunch|[$_][^.,|]*)\\.";
        Form::list(SUBJECTS, &list_of(&format!("{token}(?:\\.{token})*"))).without(own)
    }
}

/// Buckets and object stores of NATS that may be used, by the id of a workflow definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BucketLists(pub BTreeMap<String, Vec<String>>);

impl BucketLists {
    /// Every definition may use every bucket that is not Staunch's.
    #[must_use]
    pub fn everything() -> Self {
        Self(BTreeMap::from([("*".to_owned(), vec![">".to_owned()])]))
    }
}

impl Parse for BucketLists {
    fn parse(text: &str) -> Result<Self, String> {
        lists(text, "order=config|uploads", |name| {
            let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            if !matches!(name, "*" | ">") && (name.is_empty() || !name.bytes().all(is_of_name)) {
                return Err(format!(
                    "{name:?} is not the name of a bucket: write A-Z, a-z, 0-9, _ and -, or * alone \
                     for any"
                ));
            }
            if name.to_ascii_lowercase().starts_with("staunch_") {
                return Err(format!(
                    "{name:?} allows nothing: buckets of Staunch (`staunch_`) are never allowed; leave \
                     it out"
                ));
            }
            Ok(name.to_owned())
        })
        .map(Self)
    }

    fn form() -> Form {
        let names = list_of("[A-Za-z0-9_-]+|\\*|>");
        Form::list(BUCKETS, &names).without("(?i:[=|]\\s*staunch_)")
    }
}

/// Lists by name, as `name=item|item,name=item`.
fn lists(
    text: &str,
    example: &str,
    read: impl Fn(&str) -> Result<String, String>,
) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut lists = BTreeMap::new();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let Some((id, items)) = item.split_once('=') else {
            return Err(format!("{item:?} is not like {example}"));
        };
        let id = id.trim();
        if id.is_empty() {
            return Err(format!(
                "{item:?} has no id before the `=`: write one, or *, as in {example}"
            ));
        }
        let items = items.split('|').map(|item| read(item.trim())).collect::<Result<_, _>>()?;
        if lists.insert(id.to_owned(), items).is_some() {
            return Err(format!("{id:?} has two lists"));
        }
    }
    Ok(lists)
}

/// The regular expression of one such list.
fn list_of(item: &str) -> String {
    format!("[^=,]*[^=,\\s][^=,]*=\\s*(?:{item})\\s*(?:\\|\\s*(?:{item})\\s*)*")
}

/// A name, an address, or `*.` before a name.
fn is_host(text: &str) -> bool {
    if text.parse::<IpAddr>().is_ok() {
        return true;
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    // A URL has a name with other letters in its form of these.
    let mut labels = name.strip_suffix('.').unwrap_or(name).split('.');
    labels.all(|label| !label.is_empty() && label.chars().all(is_of_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_exact() {
        let networks = Networks::parse("10.0.0.0/8, 192.0.2.7,fd00::/8 ,::1").unwrap();
        for (address, expected) in [
            ("10.255.0.1", true),
            ("11.0.0.1", false),
            ("192.0.2.7", true),
            ("192.0.2.8", false),
            ("::ffff:10.1.2.3", true),
            ("fd12::1", true),
            ("::1", true),
            ("::2", false),
        ] {
            assert_eq!(networks.contain(address.parse().unwrap()), expected, "{address}");
        }
        assert!(Networks::parse("").unwrap().is_empty());
        for (text, expected) in [
            ("10.1.2.3/8", "write 10.0.0.0/8"),
            ("0.0.0.0/0", "every address"),
            ("::/0", "every address"),
            ("::ffff:10.0.0.0/104", "write them as IPv4"),
            ("proxy.example", "neither an address nor a network"),
            ("10.0.0.0/33", "neither an address nor a network"),
            ("fe80::1%eth0", "neither an address nor a network"),
        ] {
            let error = Networks::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn hosts_belong_to_definitions() {
        let HostLists(lists) =
            HostLists::parse("order = A.example. | *.b.example, *=::1,").unwrap();
        assert_eq!(lists["order"], ["a.example", "*.b.example"]);
        assert_eq!(lists["*"], ["::1"]);
        for text in
            ["order", "order=", "order=https://a", "order=a:80", "order=a,order=b", "a=*", "a=a.*"]
                .into_iter()
                .chain(["=a", " = a", "a=a..b", "a=...", "a=bücher.example", "a=*.::1"])
        {
            assert!(HostLists::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_have_a_number_and_a_time() {
        let rate = Rate::parse("100 / 1m").unwrap();
        assert_eq!((rate.count.get(), rate.time), (100, Duration::from_secs(60)));
        for text in ["", "100", "0/1s", "-1/1s", "+1/1s", "1/0s", "1/25h", "1/2d", "4294967295/1ms"]
        {
            assert!(Rate::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn buckets_that_are_never_allowed_are_refused() {
        let BucketLists(lists) = BucketLists::parse("order = config | up-loads, *=*").unwrap();
        assert_eq!(lists["order"], ["config", "up-loads"]);
        for good in ["*=>", "*=staunch|KV_config", ""] {
            BucketLists::parse(good).unwrap();
        }
        for (wrong, says) in [
            ("staunch_leases", "never allowed"),
            ("STAUNCH_X", "never allowed"),
            ("$KV", "not the name of a bucket"),
            ("config.a", "not the name of a bucket"),
            ("up*", "not the name of a bucket"),
            ("", "not the name of a bucket"),
        ] {
            let refused = BucketLists::parse(&format!("*=config|{wrong}")).unwrap_err();
            assert!(refused.contains(wrong) && refused.contains(says), "{refused}");
        }
        let nameless = BucketLists::parse("*=config,=a").unwrap_err();
        assert!(nameless.contains("\"=a\" has no id before the `=`"), "{nameless}");
    }

    #[test]
    fn subjects_that_are_never_allowed_are_refused() {
        for good in ["*=orders.>|>", "order=staunchly.>", "*=staunch|_config"] {
            NameLists::parse(good).unwrap();
        }
        for never in ["staunch.>", "$KV.>", "$JS.API.>", "_INBOX.>"] {
            let refused = NameLists::parse(&format!("*=orders.>|{never}")).unwrap_err();
            assert!(refused.contains(never) && refused.contains("never allowed"), "{refused}");
        }
    }
}
