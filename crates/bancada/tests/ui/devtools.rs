//! A browser driven by its DevTools protocol: JSON over a WebSocket.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::PATIENCE;

/// One page of a browser without a screen.
pub(crate) struct Browser {
    child: Child,
    socket: BufReader<TcpStream>,
    session: String,
    last_id: u64,
    /// What the console said, and what went wrong in scripts.
    pub(crate) complaints: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Browser {
    pub(crate) fn open(folder: &Path) -> Self {
        let program = std::env::var("BANCADA_BROWSER").unwrap_or_else(|_| "chromium".to_owned());
        let mut child = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args([
                "--remote-debugging-port=0",
                "--window-size=1280,900",
                "about:blank",
            ])
            .arg(format!(
                "--user-data-dir={}",
                folder.join("browser").display()
            ))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // `DevTools listening on ws://127.0.0.1:40001/devtools/browser/…`
        let mut lines = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let address = lines
            .find_map(|line| Some(line.split_once("ws://")?.1.to_owned()))
            .unwrap();
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let (host, path) = address.split_once('/').unwrap();
        let mut browser = Browser {
            child,
            socket: BufReader::new(websocket(host, path)),
            session: String::new(),
            last_id: 0,
            complaints: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.send(message.to_string().as_bytes());
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.hear(&answer);
        }
    }

    fn hear(&mut self, event: &Value) {
        let parameters = &event["params"];
        let complaint = match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => &parameters["exceptionDetails"],
            "Runtime.consoleAPICalled" if parameters["type"] == "error" => &parameters["args"],
            "Log.entryAdded" if parameters["entry"]["level"] == "error" => &parameters["entry"],
            _ => return,
        };
        self.complaints.push(complaint.to_string());
    }

    pub(crate) fn visit(&mut self, address: &str) {
        self.call("Page.navigate", json!({ "url": address }));
        self.wait_for("document.readyState === 'complete'");
    }

    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let asked = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    #[track_caller]
    pub(crate) fn wait_for(&mut self, condition: &str) {
        let begun = Instant::now();
        let guarded = format!("Boolean(document.body && ({condition}))");
        while self.evaluate(&guarded) != true {
            let shown = || "no page".to_owned();
            if begun.elapsed() > PATIENCE {
                let text = self.evaluate("document.body.innerText");
                panic!(
                    "not {condition}: {}",
                    text.as_str().map_or_else(shown, str::to_owned)
                );
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// `Tab`, `Enter`, or a letter.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "End" => (35, ""),
            letter => (0, letter),
        };
        let mut event = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if !text.is_empty() {
            event["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", event);
        let up = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", up);
    }

    /// By the keyboard alone, to the first element that this holds for.
    #[track_caller]
    pub(crate) fn tab_to(&mut self, condition: &str) {
        for _ in 0..200 {
            self.press("Tab");
            let found = self.evaluate(&format!(
                "(e => Boolean({condition}))(document.activeElement)"
            ));
            if found == true {
                return;
            }
        }
        panic!("the keyboard does not reach {condition}");
    }

    fn send(&mut self, text: &[u8]) {
        // A text in one piece, masked as clients must (by zeros).
        let mut frame = vec![0x81];
        match text.len() {
            length @ 0..126 => frame.push(0x80 | length as u8),
            length @ 126..65_536 => {
                frame.push(0x80 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text);
        self.socket.get_mut().write_all(&frame).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut whole = Vec::new();
        loop {
            let [first, second] = self.bytes();
            let length = match second & 0x7f {
                126 => u64::from(u16::from_be_bytes(self.bytes())),
                127 => u64::from_be_bytes(self.bytes()),
                short => u64::from(short),
            };
            let mut part = vec![0; usize::try_from(length).unwrap()];
            self.socket.read_exact(&mut part).unwrap();
            match first & 0x0f {
                0 | 1 => whole.extend(part),
                8 => panic!("the browser has closed"),
                // A ping: the protocol asks for an answer, Chromium does not.
                _ => continue,
            }
            if first & 0x80 != 0 {
                return serde_json::from_slice(&whole).unwrap();
            }
        }
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.socket.read_exact(&mut bytes).unwrap();
        bytes
    }
}

fn websocket(host: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.extend(byte);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"));
    stream
}
