//! The reasons why a command fails, and their exit codes.

use std::process::ExitCode;

pub(crate) use api_client::{Failure, Kind};

/// The exit codes, as `staunch --help` shows them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the command failed or was interrupted, or a check did not pass
  2    the command line, a setting or a named file is wrong
  3    not found
  4    conflict: another change came first
  5    a server, a broker or a database does not answer; a retry may help
  6    credentials are missing, wrong or insufficient
  130  stopped by a second signal, without finishing the work in progress
  141  the reader of standard output was gone before its end, as behind `| head`";

/// The exit code of the process for this reason. Each has its own, so that scripts can tell them apart.
pub(crate) fn exit_code(kind: Kind) -> ExitCode {
    ExitCode::from(number(kind))
}

fn number(kind: Kind) -> u8 {
    match kind {
        Kind::Failed => 1,
        Kind::Usage => 2,
        Kind::NotFound => 3,
        Kind::Conflict => 4,
        Kind::Unavailable => 5,
        Kind::Forbidden => 6,
        // As if by the signal that other programs end with: 128 and SIGPIPE.
        Kind::Closed => 141,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_code_of_its_own_and_help_shows_it() {
        use Kind::{Conflict, Failed, Forbidden, NotFound, Unavailable, Usage};
        let kinds = [Failed, Usage, NotFound, Conflict, Unavailable, Forbidden];
        for (index, kind) in kinds.into_iter().enumerate() {
            assert_eq!(usize::from(number(kind)), index + 1);
            assert!(EXIT_CODES.contains(&format!("\n  {}    ", number(kind))), "{kind:?}");
        }
        assert!(EXIT_CODES.contains(&format!("\n  {}  ", number(Kind::Closed))));
    }
}
