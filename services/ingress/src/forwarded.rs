//! The client of a request that came through a proxy: its address, and the URL that it used.
//!
//! Anyone can write `X-Forwarded-For`. So these headers count only on a connection from one of the
//! networks in `trusted-proxies`, and are read from the right: each proxy appends the address that
//! it saw, so what is left of the first address outside these networks is the client's own text,
//! and is not read. What a trusted proxy wrote and cannot be understood is refused, rather than
//! guessed at. From any other connection the headers mean nothing.

mod element;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode};
use chassis::Networks;
use chassis::http::{Encrypted, Peer};

use crate::{Config, Problem};
use element::Hop;

/// The largest number of proxies between a client and this server.
const PROXIES_MAX: usize = 16;
/// The largest length of a host, in bytes.
const HOST_BYTES_MAX: usize = 260;

/// The scheme and host with which the client reached this server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Site {
    /// The connection of the client is encrypted, to this server or to a trusted proxy.
    pub(crate) is_encrypted: bool,
    /// The host that a trusted proxy names.
    pub(crate) host: Option<String>,
}

impl Site {
    /// The beginning of URLs for the client, without a slash at the end: the configured one, else
    /// the one that the client used.
    pub(crate) fn base_url(&self, config: &Config) -> String {
        match &self.host {
            Some(host) if config.base_url.is_none() => {
                let scheme = if self.is_encrypted { "https" } else { "http" };
                let path = config.base_path.as_deref().unwrap_or_default();
                format!("{scheme}://{host}{path}")
            }
            _ => config.base_url(),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Site {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// True if the client is on this machine. A request that came by no port is from this process.
pub(crate) fn is_local(request: &Request) -> bool {
    let peer = request.extensions().get::<Peer>();
    peer.is_none_or(|Peer(address)| address.ip().to_canonical().is_loopback())
}

/// Notes the client's address as the [`Peer`] of the request, and its [`Site`].
///
/// # Errors
/// 400 when a trusted proxy sent headers that cannot be understood.
pub(crate) fn settle(trusted: &Networks, request: &mut Request) -> Result<(), Problem> {
    let is_encrypted = request.extensions().get::<Encrypted>().is_some();
    let mut site = Site { is_encrypted, host: None };
    let peer = request.extensions().get::<Peer>().map(|Peer(address)| *address);
    if let Some(peer) = peer.filter(|peer| trusted.contain(peer.ip())) {
        let told = read(trusted, peer, request.headers()).map_err(refused)?;
        if let Some(is_encrypted) = told.is_encrypted {
            site.is_encrypted = is_encrypted;
        }
        site.host = told.host;
        request.extensions_mut().insert(Peer(told.client));
    }
    request.extensions_mut().insert(site);
    Ok(())
}

fn refused(reason: String) -> Problem {
    let detail = format!(
        "{reason}: the proxy in front of this server has to overwrite the X-Forwarded-For, -Proto \
         and -Host headers of its clients, or to remove them"
    );
    Problem::new(StatusCode::BAD_REQUEST, "bad-forwarded-header", detail)
}

/// What trusted proxies say about a request.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    client: SocketAddr,
    is_encrypted: Option<bool>,
    host: Option<String>,
}

fn read(trusted: &Networks, peer: SocketAddr, headers: &HeaderMap) -> Result<Told, String> {
    let forwarded = lines(headers, "forwarded")?;
    let addresses = lines(headers, "x-forwarded-for")?;
    let schemes = lines(headers, "x-forwarded-proto")?;
    let hosts = lines(headers, "x-forwarded-host")?;
    let others = [&addresses, &schemes, &hosts];
    // A proxy writes one of both kinds, and passes the other on as its client sent it.
    if forwarded.is_some() && others.iter().any(|other| other.is_some()) {
        return Err("there are both Forwarded and X-Forwarded-… headers".to_owned());
    }
    let hops = match &forwarded {
        Some(text) => element::hops(text)?,
        None => listed(addresses.as_deref(), schemes.as_deref(), hosts.as_deref())?,
    };
    told(trusted, peer, &hops)
}

/// The values of all headers of this name, in order, as one list.
fn lines(headers: &HeaderMap, name: &str) -> Result<Option<String>, String> {
    let mut joined: Option<String> = None;
    for value in headers.get_all(name) {
        let text = value.to_str().map_err(|error| format!("the header {name}: {error}"))?;
        match &mut joined {
            None => joined = Some(text.to_owned()),
            Some(joined) => {
                joined.push(',');
                joined.push_str(text);
            }
        }
    }
    Ok(joined)
}

/// The hops that the X-Forwarded headers name. A scheme or host belongs to the address at its place
/// in the list; a single one belongs to the whole request.
fn listed<'a>(
    addresses: Option<&'a str>,
    schemes: Option<&'a str>,
    hosts: Option<&'a str>,
) -> Result<Vec<Hop<'a>>, String> {
    let split = |text: Option<&'a str>| -> Vec<&'a str> {
        text.map(|text| text.split(',').map(str::trim).collect()).unwrap_or_default()
    };
    let (addresses, schemes, hosts) = (split(addresses), split(schemes), split(hosts));
    let count = addresses.len().max(1);
    let of = |name: &str, values: &[&'a str], at: usize| match values {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        several if several.len() == count => Ok(several.get(at).copied()),
        several => Err(format!(
            "X-Forwarded-{name} has {} values, for {} addresses in X-Forwarded-For",
            several.len(),
            addresses.len()
        )),
    };
    let hop = |at: usize| -> Result<Hop<'a>, String> {
        Ok(Hop {
            address: addresses.get(at).copied(),
            scheme: of("Proto", &schemes, at)?,
            host: of("Host", &hosts, at)?,
        })
    };
    (0..count).map(hop).collect()
}

/// Goes from this server towards the client, as long as a trusted proxy wrote what is read.
fn told(trusted: &Networks, peer: SocketAddr, hops: &[Hop<'_>]) -> Result<Told, String> {
    let mut client = peer;
    let mut last = None;
    for (passed, hop) in hops.iter().rev().enumerate() {
        if passed >= PROXIES_MAX {
            return Err(format!("there are more than {PROXIES_MAX} proxies"));
        }
        last = Some(hop);
        let Some(address) = hop.address.map(node).transpose()?.flatten() else { break };
        client = address;
        if !trusted.contain(client.ip()) {
            break;
        }
    }
    let is_encrypted = last.and_then(|hop| hop.scheme).map(scheme).transpose()?;
    let host = last.and_then(|hop| hop.host).map(host).transpose()?;
    Ok(Told { client, is_encrypted, host })
}

/// The address in one entry; none if the proxy hides it.
fn node(text: &str) -> Result<Option<SocketAddr>, String> {
    if text.eq_ignore_ascii_case("unknown") || text.starts_with('_') {
        return Ok(None);
    }
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = match (bare.parse::<IpAddr>(), text.parse::<SocketAddr>()) {
        (Ok(address), _) => SocketAddr::new(address, 0),
        // A zone is of no use on another machine.
        (_, Ok(address)) if !text.contains('%') => address,
        _ => return Err(format!("{:?} is not the address of a client", shortened(text))),
    };
    Ok(Some(SocketAddr::new(address.ip().to_canonical(), address.port())))
}

fn scheme(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "https" | "wss" => Ok(true),
        "http" | "ws" => Ok(false),
        _ => Err(format!("{:?} is neither http nor https", shortened(text))),
    }
}

fn host(text: &str) -> Result<String, String> {
    let wrong = || format!("{:?} is not a host", shortened(text));
    if text.is_empty() || text.len() > HOST_BYTES_MAX || text.contains('@') {
        return Err(wrong());
    }
    match text.parse::<Authority>() {
        Ok(authority) if !authority.host().is_empty() => Ok(authority.as_str().to_owned()),
        _ => Err(wrong()),
    }
}

/// The beginning of a text, for an error.
fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod tests;
