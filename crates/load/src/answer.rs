//! One HTTP/1.1 answer, read from bytes as they come.

use std::mem::MaybeUninit;

use crate::complaint::Complaint;
use crate::prediction::{Finder, PREDICTION_HEADER, SETUP_HEADER, ServerTimes, parse_ms};

/// Heads longer than this are broken: memory stays bounded whatever a server sends.
const LONGEST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 100;
/// The longest line that gives a chunk's size, and the longest trailer line.
const LONGEST_LINE: usize = 8 * 1024;

/// What the bytes given so far amount to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    More,
    /// The answer is whole; so many of the bytes given came after its end.
    Whole {
        surplus: usize,
    },
}

/// The bytes are no answer; the sentence says why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) &'static str);

pub(crate) struct AnswerReader {
    stage: Stage,
    /// Bytes of a head or line whose end has not come yet.
    partial: Vec<u8>,
    begun: bool,
    status: u16,
    keep_alive: bool,
    header_ms: Option<f64>,
    setup_ms: Option<f64>,
    finder: Finder,
    complaint: Complaint,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    Head,
    Sized(u64),
    UntilClose,
    ChunkSize,
    Chunk(u64),
    /// The line break after a chunk's bytes.
    ChunkEnd,
    Trailers,
}

impl AnswerReader {
    pub(crate) fn new() -> Self {
        AnswerReader {
            stage: Stage::Head,
            partial: Vec::new(),
            begun: false,
            status: 0,
            keep_alive: true,
            header_ms: None,
            setup_ms: None,
            finder: Finder::new(),
            complaint: Complaint::default(),
        }
    }

    /// Ready for the next answer.
    pub(crate) fn clear(&mut self) {
        self.stage = Stage::Head;
        self.partial.clear();
        self.begun = false;
        self.header_ms = None;
        self.setup_ms = None;
        self.finder.clear();
        self.complaint.clear();
    }

    /// Whether any byte of the answer has come.
    pub(crate) fn begun(&self) -> bool {
        self.begun
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Whether the connection may carry another request.
    pub(crate) fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    pub(crate) fn told(&self) -> ServerTimes {
        ServerTimes {
            prediction_ms: self.header_ms.or(self.finder.found()),
            setup_ms: self.setup_ms,
        }
    }

    /// What a server that fails a request says of it.
    pub(crate) fn complaint(&self) -> Option<String> {
        self.complaint.sentence()
    }

    fn take_body(&mut self, piece: &[u8], last: bool) {
        self.finder.feed(piece, last);
        if !(200..300).contains(&self.status) {
            self.complaint.feed(piece);
        }
    }

    /// The server closed its side: is the answer whole?
    pub(crate) fn end(&mut self) -> bool {
        let whole = matches!(self.stage, Stage::UntilClose);
        if whole {
            self.take_body(&[], true);
        }
        whole
    }

    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<Fed, Broken> {
        self.begun |= !bytes.is_empty();
        loop {
            match self.stage {
                Stage::Head => match self.head(bytes)? {
                    Some(rest) => bytes = rest,
                    None => return Ok(Fed::More),
                },
                Stage::Sized(left) => {
                    return Ok(match self.part(bytes, left, true) {
                        Some(after) => Fed::Whole {
                            surplus: after.len(),
                        },
                        None => Fed::More,
                    });
                }
                Stage::UntilClose => {
                    self.take_body(bytes, false);
                    return Ok(Fed::More);
                }
                Stage::ChunkSize | Stage::ChunkEnd | Stage::Trailers => match self.line(bytes)? {
                    Some(Line::Next(rest)) => bytes = rest,
                    Some(Line::Last(rest)) => {
                        self.take_body(&[], true);
                        return Ok(Fed::Whole {
                            surplus: rest.len(),
                        });
                    }
                    None => return Ok(Fed::More),
                },
                Stage::Chunk(left) => match self.part(bytes, left, false) {
                    Some(rest) => {
                        self.stage = Stage::ChunkEnd;
                        bytes = rest;
                    }
                    None => return Ok(Fed::More),
                },
            }
        }
    }

    /// Reads a head, and gives what comes after it once it is whole.
    fn head<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, Broken> {
        if self.partial.is_empty() {
            let used = self.parse_head(None, bytes)?;
            if used.is_none() {
                self.partial.extend_from_slice(bytes);
            }
            return Ok(used.map(|used| &bytes[used..]));
        }
        let before = self.partial.len();
        let mut partial = std::mem::take(&mut self.partial);
        partial.extend_from_slice(bytes);
        let used = self.parse_head(Some(before), &partial)?;
        match used {
            Some(used) => {
                // Its memory is kept for the next one.
                partial.clear();
                self.partial = partial;
                Ok(Some(&bytes[used - before..]))
            }
            None => {
                self.partial = partial;
                Ok(None)
            }
        }
    }

    /// The length of the head, `None` while it is not whole. `before` bytes alone were not.
    fn parse_head(&mut self, before: Option<usize>, bytes: &[u8]) -> Result<Option<usize>, Broken> {
        // Byte by byte, a head would be parsed as often as it has bytes: a line break must come first.
        if before.is_some_and(|before| !bytes[before..].contains(&b'\n')) {
            return within(bytes.len());
        }
        let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
        let mut answer = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default()
            .parse_response_with_uninit_headers(&mut answer, bytes, &mut headers)
            .map_err(|_| Broken("its head is not HTTP/1.1"))?;
        let httparse::Status::Complete(used) = parsed else {
            return within(bytes.len());
        };
        self.status = answer.code.unwrap_or(0);
        self.keep_alive = answer.version == Some(1);
        self.stage = self.framing(answer.headers)?;
        Ok(Some(used))
    }

    /// How the body ends, by RFC 9112 section 6.3.
    fn framing(&mut self, headers: &[httparse::Header<'_>]) -> Result<Stage, Broken> {
        let mut length = None;
        let mut chunked = false;
        for header in headers {
            let name = header.name;
            if name.eq_ignore_ascii_case("content-length") {
                let said = content_length(header.value)?;
                if length.is_some_and(|before| before != said) {
                    return Err(Broken("it states two different lengths"));
                }
                length = Some(said);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = header.value.trim_ascii().eq_ignore_ascii_case(b"chunked");
                if !chunked {
                    return Err(Broken("its transfer encoding is not chunked"));
                }
            } else if name.eq_ignore_ascii_case("connection") {
                self.connection(header.value);
            } else if name.eq_ignore_ascii_case(PREDICTION_HEADER) {
                self.header_ms = parse_ms(header.value);
            } else if name.eq_ignore_ascii_case(SETUP_HEADER) {
                self.setup_ms = parse_ms(header.value);
            }
        }
        match self.status {
            101 => Err(Broken("it switches to a different protocol")),
            // Go on, early hints: the answer itself is still to come.
            100..=199 => Ok(Stage::Head),
            204 | 304 => Ok(Stage::Sized(0)),
            _ if chunked => Ok(Stage::ChunkSize),
            _ => Ok(match length {
                Some(length) => Stage::Sized(length),
                None => {
                    self.keep_alive = false;
                    Stage::UntilClose
                }
            }),
        }
    }

    fn connection(&mut self, value: &[u8]) {
        for word in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            if word.eq_ignore_ascii_case(b"close") {
                self.keep_alive = false;
            } else if word.eq_ignore_ascii_case(b"keep-alive") {
                self.keep_alive = true;
            }
        }
    }

    /// Takes bytes of a body or chunk of which so many are `left`; what comes after it once it is whole.
    fn part<'a>(&mut self, bytes: &'a [u8], left: u64, last: bool) -> Option<&'a [u8]> {
        let have = bytes.len() as u64;
        if have < left {
            self.take_body(bytes, false);
            self.stage = match last {
                true => Stage::Sized(left - have),
                false => Stage::Chunk(left - have),
            };
            return None;
        }
        let (body, rest) = bytes.split_at(left as usize);
        self.take_body(body, last);
        Some(rest)
    }

    /// Reads one line of the chunked form, `None` while its end has not come.
    fn line<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<Line<'a>>, Broken> {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            self.partial.extend_from_slice(bytes);
            return match self.partial.len() > LONGEST_LINE {
                true => Err(Broken("a line between its chunks has no end")),
                false => Ok(None),
            };
        };
        let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
        let next = if self.partial.is_empty() {
            after_line(self.stage, line)?
        } else {
            self.partial.extend_from_slice(line);
            let next = after_line(self.stage, &self.partial)?;
            self.partial.clear();
            next
        };
        Ok(Some(match next {
            Some(stage) => {
                self.stage = stage;
                Line::Next(rest)
            }
            None => Line::Last(rest),
        }))
    }
}

enum Line<'a> {
    Next(&'a [u8]),
    Last(&'a [u8]),
}

fn within(length: usize) -> Result<Option<usize>, Broken> {
    match length > LONGEST_HEAD {
        true => Err(Broken("its head has no end")),
        false => Ok(None),
    }
}

/// The stage after a line of the chunked form, `None` after the last one.
fn after_line(stage: Stage, line: &[u8]) -> Result<Option<Stage>, Broken> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match stage {
        Stage::ChunkSize => Ok(Some(match chunk_size(line)? {
            0 => Stage::Trailers,
            size => Stage::Chunk(size),
        })),
        Stage::ChunkEnd if line.is_empty() => Ok(Some(Stage::ChunkSize)),
        Stage::ChunkEnd => Err(Broken("a chunk is longer than stated")),
        _ => Ok((!line.is_empty()).then_some(Stage::Trailers)),
    }
}

fn content_length(value: &[u8]) -> Result<u64, Broken> {
    number(value, 10).ok_or(Broken("its length is not a number"))
}

/// Hexadecimal digits before an extension, if there is one.
fn chunk_size(line: &[u8]) -> Result<u64, Broken> {
    let digits = line.split(|byte| *byte == b';').next();
    number(digits.unwrap_or_default(), 16).ok_or(Broken("the size of a chunk is not a number"))
}

/// Digits alone: a sign before them is not a number here.
fn number(text: &[u8], radix: u32) -> Option<u64> {
    let digits = std::str::from_utf8(text.trim_ascii()).ok()?;
    let is_plain = digits.chars().all(|c| c.is_digit(radix));
    u64::from_str_radix(digits, radix).ok().filter(|_| is_plain)
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
