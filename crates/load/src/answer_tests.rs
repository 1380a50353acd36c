use super::*;

/// What a server's bytes amount to, however they are cut: status, prediction, bytes after the end.
fn read(text: &str, size: usize) -> Result<Option<(u16, Option<f64>, usize)>, Broken> {
    let mut reader = AnswerReader::new();
    let mut left = text.len();
    for piece in text.as_bytes().chunks(size) {
        left -= piece.len();
        if let Fed::Whole { surplus } = reader.feed(piece)? {
            return Ok(Some((
                reader.status(),
                reader.told().prediction_ms,
                left + surplus,
            )));
        }
    }
    Ok(reader
        .end()
        .then(|| (reader.status(), reader.told().prediction_ms, 0)))
}

fn check(text: &str, expected: Result<Option<(u16, Option<f64>, usize)>, Broken>) {
    for size in 1..=text.len() {
        assert_eq!(read(text, size), expected, "{text:?} in pieces of {size}");
    }
}

#[test]
fn answers_end_where_they_say() {
    let ends = |text: &str, status, surplus| check(text, Ok(Some((status, None, surplus))));
    let head = "HTTP/1.1 200 OK\r\n";
    ends(&format!("{head}content-length: 5\r\n\r\nhello"), 200, 0);
    ends(&format!("{head}Content-Length: 0\r\n\r\nGARBAGE"), 200, 7);
    ends("HTTP/1.1 503 no\r\ncontent-length:0\r\n\r\n", 503, 0);
    ends("HTTP/1.1 204 No Content\r\n\r\n", 204, 0);
    ends("HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, 0);
    let after = format!("HTTP/1.1 100 Continue\r\n\r\n{head}content-length: 1\r\n\r\nx");
    ends(&after, 200, 0);
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    ends(&chunked, 200, 0);
}

#[test]
fn the_prediction_is_read() {
    let reads = |rest: &str, ms, surplus| {
        let text = format!("HTTP/1.1 200 OK\r\n{rest}");
        check(&text, Ok(Some((200, Some(ms), surplus))));
    };
    let body = "content-length: 21\r\n\r\n{\"prediction_ms\":3.5}";
    reads(body, 3.5, 0);
    reads(&format!("X-Prediction-Ms: 2\r\n{body}"), 2.0, 0);
    reads("\r\n{\"prediction_ms\":7", 7.0, 0);
    reads(
        "Transfer-Encoding: Chunked\r\n\r\n9;a=b\r\n{\"predict\r\nA\r\nion_ms\":4.\r\n2\r\n5}\r\n0\r\nx: y\r\n\r\nZZ",
        4.5,
        2,
    );
}

#[test]
fn cut_answers_are_not_whole() {
    check("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell", Ok(None));
    check("HTTP/1.1 200 OK\r\ncontent-le", Ok(None));
    check(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        Ok(None),
    );
    check(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
        Ok(None),
    );
}

#[test]
fn what_is_no_answer_is_broken() {
    let breaks = |rest: &str, why| {
        let text = format!("HTTP/1.1 200 OK\r\n{rest}");
        check(&text, Err(Broken(why)));
    };
    let length = "its length is not a number";
    breaks("content-length: -1\r\n\r\n", length);
    breaks("content-length: +1\r\n\r\n", length);
    breaks("content-length: 99999999999999999999\r\n\r\n", length);
    let two = "content-length: 1\r\ncontent-length: 2\r\n\r\n";
    breaks(two, "it states two different lengths");
    let chunked = "transfer-encoding: chunked\r\n\r\n";
    let size = "the size of a chunk is not a number";
    breaks(&format!("{chunked}xyz\r\n"), size);
    let long = "a chunk is longer than stated";
    breaks(&format!("{chunked}1\r\nab\r\n"), long);
    let other = "its transfer encoding is not chunked";
    breaks("transfer-encoding: gzip\r\n\r\n", other);
    let switch = Broken("it switches to a different protocol");
    check("HTTP/1.1 101 Switching\r\n\r\n", Err(switch));
    assert!(read("GARBAGE\r\n\r\n", 1000).is_err());
}

#[test]
fn endless_heads_and_lines_are_broken() {
    let head = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(100_000));
    assert_eq!(read(&head, 1000), Err(Broken("its head has no end")));
    let line = format!(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}",
        "1".repeat(10_000)
    );
    assert_eq!(
        read(&line, 100),
        Err(Broken("a line between its chunks has no end"))
    );
}

#[test]
fn connections_are_kept_or_not() {
    let keep = |head: &str| {
        let mut reader = AnswerReader::new();
        let fed = reader.feed(format!("{head}content-length: 0\r\n\r\n").as_bytes());
        assert_eq!(fed, Ok(Fed::Whole { surplus: 0 }));
        reader.keep_alive()
    };
    assert!(keep("HTTP/1.1 200 OK\r\n"));
    assert!(!keep("HTTP/1.1 200 OK\r\nConnection: Close\r\n"));
    assert!(!keep("HTTP/1.0 200 OK\r\n"));
    assert!(keep("HTTP/1.0 200 OK\r\nconnection: keep-alive, x\r\n"));
}

/// Answers with bytes changed, cut off and put in at random: no panic, and the same is read however
/// they are cut.
#[test]
fn damaged_answers_are_read_the_same_in_any_pieces() {
    let whole = [
        "HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n{\"prediction_ms\":3.5}",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\nx-prediction-ms: 4\r\n\r\nuntil the end",
    ];
    let mut random = seeded::SplitMix64::new(11);
    for _ in 0..5_000 {
        let mut bytes = whole[random.below(whole.len())].as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.next_u64() as u8,
                1 => bytes.insert(at, b"\r\n0:;fF"[random.below(7)]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let text: String = bytes.iter().map(|byte| char::from(byte & 0x7f)).collect();
        let at_once = read(&text, text.len());
        let size = 1 + random.below(text.len());
        let in_pieces = read(&text, size);
        // Whether a fault or the end is met first may depend on the pieces, not that there is no answer.
        match (&at_once, &in_pieces) {
            (Err(_) | Ok(None), Err(_) | Ok(None)) => {}
            _ => assert_eq!(at_once, in_pieces, "{text:?} in pieces of {size}"),
        }
    }
}

#[test]
fn how_long_a_worker_took_to_start_is_read() {
    let mut reader = AnswerReader::new();
    let cold = b"HTTP/1.1 200 OK\r\nx-bancada-setup-ms: 812.5\r\ncontent-length: 0\r\n\r\n";
    reader.feed(cold).unwrap();
    assert_eq!(reader.told().setup_ms, Some(812.5));
    reader.clear();
    reader
        .feed(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        .unwrap();
    assert_eq!(reader.told().setup_ms, None);
}
