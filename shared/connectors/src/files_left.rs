//! Whether a call failed because this process may open no more files or connections: nothing was done
//! or sent, and the other side has no part in it.

use std::error::Error;

/// EMFILE and ENFILE: the process, or the machine, has no descriptor left.
const NUMBERS: [i32; 2] = [24, 23];

/// Whether the lack of a descriptor is the error, or among its causes.
pub(crate) fn is_lack(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    let number = io.and_then(std::io::Error::raw_os_error);
    number.is_some_and(|number| NUMBERS.contains(&number)) || error.source().is_some_and(is_lack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_descriptors_is_found_behind_other_errors() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] std::io::Error);
        let behind = |number| Outer(std::io::Error::from_raw_os_error(number));
        assert!(is_lack(&behind(24)) && is_lack(&behind(23)));
        assert!(!is_lack(&behind(111)));
    }
}
