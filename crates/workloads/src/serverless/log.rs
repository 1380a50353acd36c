//! The end of what a worker says, for the one who asks why it failed.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;

const KEPT_BYTES: usize = 8 << 10;
const TOLD_LINES: usize = 5;
/// What a worker wrote before its end is in the pipe already.
const LAST_WORDS: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct Log {
    end: Arc<Mutex<VecDeque<u8>>>,
    closed: watch::Receiver<bool>,
}

impl Log {
    /// Reads to the last word, so that no worker waits for a full pipe.
    pub(crate) fn follow(pipe: Receiver) -> Log {
        let end = Arc::new(Mutex::new(VecDeque::new()));
        let (close, closed) = watch::channel(false);
        let kept = Arc::clone(&end);
        tokio::spawn(async move {
            let mut part = vec![0; 4096];
            while pipe.readable().await.is_ok() {
                match pipe.try_read(&mut part) {
                    Ok(read @ 1..) => keep(&mut lock(&kept), &part[..read]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    _ => break,
                }
            }
            // Nobody may be waiting for it.
            let _ = close.send(true);
        });
        Log { end, closed }
    }

    /// The last lines of a worker that has ended.
    pub(crate) async fn last_words(&self) -> String {
        let mut closed = self.closed.clone();
        // What it started may live on and hold the pipe.
        let _ = tokio::time::timeout(LAST_WORDS, closed.wait_for(|closed| *closed)).await;
        last_lines(&self.text())
    }

    /// Whether any of these stands in what is kept: more than the last lines, for programs that
    /// end with a long trace.
    pub(crate) fn says(&self, any: &[&str]) -> bool {
        let text = self.text();
        any.iter().any(|words| text.contains(words))
    }

    fn text(&self) -> String {
        let mut end = lock(&self.end);
        String::from_utf8_lossy(end.make_contiguous()).into_owned()
    }
}

fn lock(end: &Mutex<VecDeque<u8>>) -> MutexGuard<'_, VecDeque<u8>> {
    end.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep(end: &mut VecDeque<u8>, part: &[u8]) {
    end.extend(part);
    let surplus = end.len().saturating_sub(KEPT_BYTES);
    end.drain(..surplus);
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(TOLD_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut end = VecDeque::new();
        for _ in 0..100 {
            keep(&mut end, &[b'a'; 1000]);
        }
        keep(&mut end, b"the end");
        assert_eq!(end.len(), KEPT_BYTES);
        assert!(end.make_contiguous().ends_with(b"the end"));
    }

    #[test]
    fn the_last_lines_that_say_something() {
        let check = |text, expected| assert_eq!(last_lines(text), expected);
        check("", "");
        check("one\n\n  \ntwo \n", "one\ntwo");
        check("1\n2\n3\n4\n5\n6\n7", "3\n4\n5\n6\n7");
    }
}
