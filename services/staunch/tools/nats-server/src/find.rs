//! The search for a nats-server, in this order: the given path, the PATH, the folder that comes with
//! this program, the cache, the internet.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::{MINIMUM, TESTED, Version, fetch};

/// The places to search.
#[derive(Clone, Debug)]
pub struct Find {
    /// Only this binary.
    pub explicit: Option<PathBuf>,
    /// Directories to search, first those of the PATH.
    pub path: Vec<PathBuf>,
    /// The folder of downloaded servers.
    pub cache_dir: PathBuf,
    /// Whether one may be downloaded.
    pub may_fetch: bool,
}

/// A nats-server that is new enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// Its path.
    pub path: PathBuf,
    /// Its version.
    pub version: Version,
}

impl Find {
    /// Searches `STAUNCH_NATS_SERVER`, the PATH, `../lib/staunch` beside this program (packages of npm
    /// and PyPI have a server there) and `~/.cache/staunch`, and may download.
    #[must_use]
    pub fn from_environment() -> Self {
        let cache = variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".cache")))
            .unwrap_or_else(std::env::temp_dir);
        let path = variable("PATH").unwrap_or_default();
        let program = std::env::current_exe().and_then(std::fs::canonicalize).ok();
        let carried = program.and_then(|program| carried(&program));
        Self {
            explicit: variable("STAUNCH_NATS_SERVER").map(PathBuf::from),
            path: std::env::split_paths(&path).chain(carried).collect(),
            cache_dir: cache.join("staunch"),
            may_fetch: true,
        }
    }
}

/// The folder of what comes with a program: `/usr/lib/staunch` for `/usr/bin/staunch`.
fn carried(program: &Path) -> Option<PathBuf> {
    Some(program.parent()?.parent()?.join("lib/staunch"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests and tools find the server without a configuration"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Finds a server of version [`MINIMUM`] or newer, or downloads [`TESTED`]. Calls `say` with each
/// step, in words for people. Several processes may do this at the same time.
///
/// # Errors
/// When there is none, and none can be downloaded: the text says how to install one.
pub async fn find(find: &Find, say: &(dyn Fn(&str) + Send + Sync)) -> anyhow::Result<Binary> {
    if let Some(path) = &find.explicit {
        let version = Version::of(path).await.context("STAUNCH_NATS_SERVER")?;
        if version < MINIMUM {
            bail!("{} is version {version}: Staunch needs {MINIMUM} or newer", path.display());
        }
        return Ok(Binary { path: path.clone(), version });
    }
    for directory in &find.path {
        let path = directory.join("nats-server");
        if !path.is_file() {
            continue;
        }
        match Version::of(&path).await {
            Ok(version) if version >= MINIMUM => return Ok(Binary { path, version }),
            Ok(version) => say(&format!(
                "passing over {}: it is version {version}, and Staunch needs {MINIMUM} or newer",
                path.display()
            )),
            Err(error) => say(&format!("passing over {}: {error:#}", path.display())),
        }
    }
    let path = fetch::cached(&find.cache_dir);
    if path.is_file() {
        return Ok(Binary { path, version: TESTED });
    }
    if !find.may_fetch {
        bail!("there is no nats-server {MINIMUM} or newer. {HELP}");
    }
    fetch::fetch(&find.cache_dir, say).await.context(HELP)?;
    Ok(Binary { path, version: Version::of(&fetch::cached(&find.cache_dir)).await? })
}

const HELP: &str = "Install nats-server from https://github.com/nats-io/nats-server/releases, put \
    it on the PATH or name it in STAUNCH_NATS_SERVER";

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn fake(directory: &Path, version: &str) -> PathBuf {
        let path = directory.join("nats-server");
        // Another process writes the script: a child that another test starts meanwhile would have
        // this one's open file, and a file that is open for writing cannot be run.
        let script =
            "printf '#!/bin/sh\\necho nats-server: v%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"";
        let mut writes = std::process::Command::new("sh");
        writes.args(["-c", script]).arg(&path).arg(version);
        assert!(writes.status().unwrap().success());
        path
    }

    #[tokio::test]
    async fn an_old_server_on_the_path_is_passed_over_with_a_notice() {
        let (old, new, cache) = (
            tempfile::tempdir().unwrap(),
            tempfile::tempdir().unwrap(),
            tempfile::tempdir().unwrap(),
        );
        fake(old.path(), "2.9.10");
        let wanted = fake(new.path(), "2.12.3");
        let mut looking = Find {
            explicit: None,
            path: vec![old.path().to_owned(), new.path().to_owned()],
            cache_dir: cache.path().to_owned(),
            may_fetch: false,
        };
        let said = Mutex::new(Vec::new());
        let say = |text: &str| said.lock().unwrap().push(text.to_owned());
        let found = find(&looking, &say).await.unwrap();
        assert_eq!(found, Binary { path: wanted, version: Version(2, 12, 3) });
        assert!(said.lock().unwrap()[0].contains("2.9.10"));

        looking.path.pop();
        let error = find(&looking, &say).await.unwrap_err();
        assert!(format!("{error:#}").contains("Install nats-server"), "{error:#}");
    }

    #[tokio::test]
    async fn a_server_that_comes_with_the_program_is_found() {
        let prefix = tempfile::tempdir().unwrap();
        let folder = carried(&prefix.path().join("bin/staunch")).unwrap();
        assert_eq!(folder, prefix.path().join("lib/staunch"));
        std::fs::create_dir_all(&folder).unwrap();
        let wanted = fake(&folder, "2.12.3");
        let looking = Find {
            explicit: None,
            path: vec![folder],
            cache_dir: prefix.path().to_owned(),
            may_fetch: false,
        };
        let found = find(&looking, &|_| {}).await.unwrap();
        assert_eq!(found.path, wanted);
        let searched = Find::from_environment().path;
        let program = std::env::current_exe().and_then(std::fs::canonicalize).unwrap();
        assert_eq!(searched.last(), carried(&program).as_ref());
    }

    #[tokio::test]
    async fn a_named_server_that_is_too_old_is_an_error() {
        let old = tempfile::tempdir().unwrap();
        let looking = Find {
            explicit: Some(fake(old.path(), "2.10.29")),
            path: Vec::new(),
            cache_dir: old.path().to_owned(),
            may_fetch: false,
        };
        let error = find(&looking, &|_| {}).await.unwrap_err();
        assert!(error.to_string().contains("2.10.29"), "{error}");
    }
}
