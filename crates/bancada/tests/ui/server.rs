//! The page's server and a client that sends what a browser would not.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::Bench;

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Ui {
    child: Child,
    /// `127.0.0.1:8000`.
    pub(crate) host: String,
    /// `/` and the token.
    pub(crate) root: String,
}

impl Drop for Ui {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Ui {
    pub(crate) fn of(bench: &Bench) -> Self {
        let mut command = bench.command(&["ui"]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().strip_prefix("http://").unwrap();
        let (host, token) = address.trim_end_matches('/').split_once('/').unwrap();
        Ui {
            child,
            host: host.to_owned(),
            root: format!("/{token}"),
        }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}{}/", self.host, self.root)
    }

    /// What the server answers to exactly this.
    pub(crate) fn raw(&self, head: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let end = format!("connection: close\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(format!("{head}{end}").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let Ui { host, root, .. } = self;
        self.raw(
            &format!("GET {root}{path} HTTP/1.1\r\nhost: {host}\r\n"),
            "",
        )
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        let Ui { host, root, .. } = self;
        let head = format!(
            "POST {root}{path} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\n\
             content-type: application/x-www-form-urlencoded\r\n"
        );
        self.raw(&head, body)
    }

    /// Behind the token, of the study of this name.
    pub(crate) fn study(&self, name: &str) -> String {
        let page = self.get("/").body;
        let mut links = page.split("href=\"").skip(1);
        let wanted = format!(">{name}</a>");
        let link = links.find(|link| {
            link.split_once('"')
                .is_some_and(|(_, rest)| rest.starts_with(&wanted))
        });
        let link = link.unwrap_or_else(|| panic!("no {name} in {page}"));
        link.split_once('"')
            .unwrap()
            .0
            .strip_prefix(&self.root)
            .unwrap()
            .to_owned()
    }

    /// Server-sent events until one has these words.
    pub(crate) fn events_until(&self, path: &str, words: &str) -> String {
        let Ui { host, root, .. } = self;
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!("GET {root}{path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let begun = Instant::now();
        let mut seen = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            assert!(begun.elapsed() < PATIENCE, "no {words} in {seen}");
            if line.starts_with("data: ") && line.contains(words) {
                return line;
            }
            seen += &line;
            seen.push('\n');
        }
        panic!("no {words} in {seen}");
    }

    pub(crate) fn wait_for(&self, path: &str, words: &str) -> Answer {
        let begun = Instant::now();
        loop {
            let answer = self.get(path);
            if answer.body.contains(words) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "no {words} in {}", answer.body);
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In small letters.
    pub(crate) head: String,
    pub(crate) body: String,
}
