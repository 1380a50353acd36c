//! Words for a shell: POSIX, csh or fish.

/// One word, whatever it contains: between single quotes nothing has a meaning but the quote itself.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

pub fn joined<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.into_iter().map(quoted).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_words_back() {
        let hostile = [
            "",
            "plain",
            "it's",
            "a b",
            "$(touch /tmp/x)",
            "`id`",
            "a\nb",
            "'; rm -rf /; '",
            "é~*?[x]",
            "--option",
            "\\",
            "a\"b",
            "#",
            "!x",
            "-n",
            "a;b",
            "&&",
        ];
        let script = format!("printf '%s\\0' {}", joined(hostile));
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        let read = String::from_utf8(output.stdout).unwrap();
        let read: Vec<&str> = read.split_terminator('\0').collect();
        assert_eq!(read, hostile);
        assert_eq!(quoted("/usr/bin/x-1.2"), "/usr/bin/x-1.2");
    }
}
