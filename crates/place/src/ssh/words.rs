//! What `ssh` prints.

/// Lines by which `ssh` says why it failed.
const REASONS: [&str; 12] = [
    "IDENTIFICATION HAS CHANGED",
    "Host key verification failed",
    "Permission denied",
    "Could not resolve",
    "Connection refused",
    "Connection timed out",
    "No route to host",
    "Too many authentication failures",
    "No space left on device",
    "Bad configuration option",
    "Connection closed",
    "Network is unreachable",
];

/// The one line that says it: among greetings, warnings and frames of `@`.
pub(super) fn choose(printed: &str) -> Option<&str> {
    let frame = |c: char| c == '@' || c.is_whitespace();
    let lines = || printed.lines().map(|line| line.trim_matches(frame));
    let has = |line: &&str, reason: &str| line.contains(reason);
    let known = REASONS
        .iter()
        .find_map(|reason| lines().find(|line| has(line, reason)));
    known.or_else(|| lines().rfind(|line| !line.is_empty()))
}

/// Waiting would not help.
pub(super) fn is_final(words: &str) -> bool {
    REASONS[..3].iter().any(|reason| words.contains(reason))
}

/// What to do about it.
pub(super) fn hint(words: &str, host: &str) -> String {
    if words.contains("IDENTIFICATION HAS CHANGED") {
        return format!("\n  = if that is expected, remove the old key: ssh-keygen -R {host}");
    }
    if words.contains("Host key verification failed") {
        return format!("\n  = connect once by hand and compare the host's key: ssh {host}");
    }
    if words.contains("Permission denied") {
        return format!(
            "\n  = nobody is asked for a password here: `ssh {host}` must work by a key"
        );
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_reason_is_chosen() {
        let changed = "@@@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n\
                       @@@@@@@@\nIT IS POSSIBLE\nHost key verification failed.\n";
        let chosen = choose(changed).unwrap();
        assert_eq!(chosen, "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!");
        assert!(is_final(chosen) && hint(chosen, "h1").contains("ssh-keygen -R h1"));
        let greeted = "Welcome\nu@h1: Permission denied (publickey).\n";
        assert_eq!(
            choose(greeted),
            Some("u@h1: Permission denied (publickey).")
        );
        assert_eq!(choose("a\n\nssh: strange\n"), Some("ssh: strange"));
        assert_eq!(choose("\n"), None);
        assert!(!is_final("Connection timed out"));
    }
}
