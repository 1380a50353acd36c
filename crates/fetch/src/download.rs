//! A file from the web: resumed where it was interrupted, tried a bounded number of times.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use ureq::http::{Response, header};
use ureq::{Agent, Body};

use crate::error::FetchError;

/// How long, how often and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub connect: Duration,
    /// Until an answer begins.
    pub answer: Duration,
    /// Until an answer is through. When it is not, the rest is requested anew, and may then take
    /// twice as long: that helps on a slow line with a server that cannot resume.
    pub body: Duration,
    /// Before the second try; doubled every time.
    pub pause: Duration,
    /// Tries in a row that bring nothing new.
    pub fruitless_tries: u32,
    pub tries: u32,
    /// A package's program.
    pub program: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_secs(15),
            answer: Duration::from_secs(30),
            body: Duration::from_secs(60),
            pause: Duration::from_secs(1),
            fruitless_tries: 4,
            tries: 40,
            program: Duration::from_secs(900),
        }
    }
}

const LONGEST_BODY: Duration = Duration::from_secs(1800);
const MOST_REDIRECTS: u32 = 10;
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A server that wants more time than this is asked another day.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// What has come so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub received_bytes: u64,
    pub total_bytes: Option<u64>,
}

#[derive(Debug)]
pub struct Download<'d> {
    pub url: &'d str,
    /// Appears only when complete; until then `.part` is added to its name.
    pub to: &'d Path,
    /// More is not what is wanted.
    pub most_bytes: u64,
    pub limits: Limits,
    /// Sent with every request; a key belongs here, not in an address that messages show.
    pub headers: &'d [Header<'d>],
}

#[derive(Clone, Copy)]
pub struct Header<'h> {
    pub name: &'h str,
    pub value: &'h str,
}

/// Values may be secret.
impl std::fmt::Debug for Header<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: …", self.name)
    }
}

/// Why one try did not bring the whole file.
enum Failed {
    /// Another try may bring more, after this time at least.
    Retry {
        problem: String,
        wait: Duration,
    },
    Hopeless(FetchError),
}

impl Failed {
    fn retry(problem: impl ToString) -> Self {
        Failed::Retry {
            problem: problem.to_string(),
            wait: Duration::ZERO,
        }
    }

    fn hopeless(sentence: String) -> Self {
        Failed::Hopeless(FetchError::new(sentence))
    }

    fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Failed::Hopeless(FetchError::io(path)(error))
    }
}

impl Download<'_> {
    pub fn run(&self, told: &mut dyn FnMut(Progress)) -> Result<(), FetchError> {
        if self.to.is_file() {
            return Ok(());
        }
        let part = self.to.with_added_extension("part");
        let length = || fs::metadata(&part).map_or(0, |metadata| metadata.len());
        let mut limits = self.limits;
        let mut fruitless = 0;
        let mut problem = String::new();
        let mut wait = Duration::ZERO;
        // Which version of the file the part is of, as far as this run has seen it.
        let mut version = None;
        for number in 0..self.limits.tries {
            if number > 0 {
                thread::sleep(limits.pause.max(wait));
                limits.pause = (2 * limits.pause).min(LONGEST_PAUSE);
            }
            let before = length();
            match self.once(&part, limits, &mut version, told) {
                Ok(()) => return fs::rename(&part, self.to).map_err(FetchError::io(self.to)),
                Err(Failed::Hopeless(error)) => return Err(error),
                Err(Failed::Retry {
                    problem: why,
                    wait: asked,
                }) => (problem, wait) = (why, asked),
            }
            fruitless = if length() > before { 0 } else { fruitless + 1 };
            if fruitless >= limits.fruitless_tries {
                break;
            }
            limits.body = (2 * limits.body).min(LONGEST_BODY);
        }
        Err(FetchError::new(format!(
            "{} was interrupted every time ({problem})",
            self.url
        )))
    }

    fn once(
        &self,
        part: &Path,
        limits: Limits,
        version: &mut Option<String>,
        told: &mut dyn FnMut(Progress),
    ) -> Result<(), Failed> {
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true);
        let mut file = options.open(part).map_err(Failed::io(part))?;
        let here = file.seek(SeekFrom::End(0)).map_err(Failed::io(part))?;
        let response = self.ask(here, limits, version.as_deref()).map_err(judge)?;
        let begin = match response.status().as_u16() {
            200 => 0,
            206 if begin_of_range(&response) == Some(here) => here,
            // The part belongs to another file, or to none.
            206 | 416 => {
                let _ = file.set_len(0);
                return Err(Failed::retry("the partial file on disk does not match"));
            }
            status @ (408 | 429 | 500..=599) => return Err(later(status, &response, self.url)),
            status => {
                let problem = format!("returned {status} for {}", self.url);
                return Err(Failed::hopeless(problem));
            }
        };
        *version = text(&response, header::ETAG).filter(|tag| !tag.starts_with("W/"));
        file.set_len(begin)
            .and_then(|()| file.seek(SeekFrom::Start(begin)))
            .map_err(Failed::io(part))?;
        self.receive(response, &mut file, begin, told)
    }

    fn ask(
        &self,
        here: u64,
        limits: Limits,
        version: Option<&str>,
    ) -> Result<Response<Body>, ureq::Error> {
        let agent: Agent = Agent::config_builder()
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_recv_response(Some(limits.answer))
            .timeout_recv_body(Some(limits.body))
            .http_status_as_error(false)
            // A key is for the host that it was given for, not for whoever that one points to.
            .max_redirects(match self.headers {
                [] => MOST_REDIRECTS,
                _ => 0,
            })
            .user_agent(concat!("bancada/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let mut request = agent.get(self.url);
        for Header { name, value } in self.headers {
            request = request.header(*name, *value);
        }
        if here > 0 {
            request = request.header(header::RANGE, format!("bytes={here}-"));
            // A file that has changed meanwhile comes anew and whole.
            if let Some(version) = version {
                request = request.header(header::IF_RANGE, version);
            }
        }
        request.call()
    }

    fn receive(
        &self,
        response: Response<Body>,
        file: &mut File,
        begin: u64,
        told: &mut dyn FnMut(Progress),
    ) -> Result<(), Failed> {
        let length = number(&response, header::CONTENT_LENGTH);
        let total_bytes = length.map(|length| begin.saturating_add(length));
        let mut received_bytes = begin;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            told(Progress {
                received_bytes,
                total_bytes,
            });
            let count = body.read(&mut buffer).map_err(Failed::retry)?;
            if count == 0 {
                break;
            }
            received_bytes += count as u64;
            if received_bytes > self.most_bytes {
                return Err(Failed::hopeless(format!(
                    "{} is larger than {} bytes: not the expected file",
                    self.url, self.most_bytes
                )));
            }
            file.write_all(&buffer[..count])
                .map_err(Failed::io(self.to))?;
        }
        match total_bytes {
            Some(total) if received_bytes < total => {
                let problem = format!("after {received_bytes} of {total} bytes");
                Err(Failed::retry(problem))
            }
            _ => Ok(()),
        }
    }
}

/// When to come again, where the server says it in seconds; a date is not worth a calendar here.
fn later(status: u16, response: &Response<Body>, url: &str) -> Failed {
    let wait = number(response, header::RETRY_AFTER).map_or(Duration::ZERO, Duration::from_secs);
    match wait <= LONGEST_WAIT {
        true => Failed::Retry {
            problem: format!("status {status}"),
            wait,
        },
        false => Failed::hopeless(format!(
            "returned {status} for {url} and asks to retry in {} s",
            wait.as_secs()
        )),
    }
}

fn begin_of_range(response: &Response<Body>) -> Option<u64> {
    range_begin(&text(response, header::CONTENT_RANGE)?)
}

/// `bytes 100-199/200` begins at 100.
fn range_begin(value: &str) -> Option<u64> {
    let range = value.trim().strip_prefix("bytes")?.trim_start();
    range.split_once('-')?.0.trim().parse().ok()
}

fn number(response: &Response<Body>, name: header::HeaderName) -> Option<u64> {
    text(response, name)?.trim().parse().ok()
}

fn text(response: &Response<Body>, name: header::HeaderName) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

/// What cannot be reached now will hardly be reached in a second; what was interrupted may go on.
fn judge(error: ureq::Error) -> Failed {
    use ureq::Timeout;
    match &error {
        ureq::Error::Timeout(Timeout::RecvResponse | Timeout::RecvBody) => Failed::retry(error),
        ureq::Error::Io(io) if !is_nobody_there(io) => Failed::retry(error),
        ureq::Error::Protocol(_) => Failed::retry(error),
        _ => Failed::hopeless(format!("cannot be reached ({error})")),
    }
}

/// Refused, or a name that nobody knows; the library has no kind of its own for the latter.
fn is_nobody_there(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    let refused = matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable
    );
    refused || error.to_string().contains("failed to lookup address")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_not_tried_again() {
        let lookup = std::io::Error::other(
            "failed to lookup address information: Name or service not known",
        );
        assert!(is_nobody_there(&lookup));
        assert!(is_nobody_there(
            &std::io::ErrorKind::ConnectionRefused.into()
        ));
        assert!(!is_nobody_there(
            &std::io::ErrorKind::ConnectionReset.into()
        ));
    }

    #[test]
    fn ranges_are_read() {
        let check = |value: &str, expected| assert_eq!(range_begin(value), expected);
        check("bytes 100-199/200", Some(100));
        check("bytes 0-0/*", Some(0));
        check("bytes */200", None);
        check("lines 1-2/3", None);
        check("", None);
    }
}
