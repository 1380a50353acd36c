//! AWS for tests: its keys, moto where it is installed, and requests as a server reads them. The
//! tests of the whole program use it too.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use load::sagemaker::{Client, Variables};

pub(crate) const REGION: &str = "us-east-1";
pub(crate) const ROLE: &str = "arn:aws:iam::123456789012:role/bench";
/// Everything allowed, percent-encoded.
const POLICY: &str = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22%2A%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D";

/// Of a session, as every role gives them.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) token: String,
}

impl Keys {
    pub(crate) fn made_up() -> Self {
        Keys {
            id: "AKIDEXAMPLE".to_owned(),
            secret: "hidden-secret-key".to_owned(),
            token: "hidden-session-token".to_owned(),
        }
    }

    /// What a program that calls AWS finds in its environment.
    pub(crate) fn variables(&self, url: &str) -> [(&'static str, String); 5] {
        [
            ("AWS_ACCESS_KEY_ID", self.id.clone()),
            ("AWS_SECRET_ACCESS_KEY", self.secret.clone()),
            ("AWS_SESSION_TOKEN", self.token.clone()),
            ("AWS_ENDPOINT_URL", url.to_owned()),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
        ]
    }

    pub(crate) fn client(&self, url: &str) -> Client {
        let variables = self.variables(url);
        let pairs = variables
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        Client::new(Variables::from(pairs), Some(REGION)).unwrap()
    }
}

pub(crate) struct Moto {
    process: Child,
    pub(crate) url: String,
    pub(crate) keys: Keys,
}

impl Drop for Moto {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl Moto {
    /// The `moto_server` that BANCADA_MOTO names. It refuses what is not signed by its keys.
    pub(crate) fn start() -> Moto {
        let program = env::var_os("BANCADA_MOTO").unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let process = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut moto = Moto {
            process,
            url: format!("http://127.0.0.1:{port}"),
            keys: Keys::made_up(),
        };
        moto.wait();
        moto.keys = moto.strict_keys();
        moto
    }

    fn wait(&self) {
        let begin = Instant::now();
        let address = self.url.trim_start_matches("http://");
        while TcpStream::connect(address).is_err() {
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "moto did not start"
            );
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn strict_keys(&self) -> Keys {
        self.query("iam", &format!("Action=CreateRole&Version=2010-05-08&RoleName=bench&AssumeRolePolicyDocument={POLICY}"));
        self.query("iam", &format!("Action=PutRolePolicy&Version=2010-05-08&RoleName=bench&PolicyName=all&PolicyDocument={POLICY}"));
        let answer = self.query(
            "sts",
            &format!("Action=AssumeRole&Version=2011-06-15&RoleArn={ROLE}&RoleSessionName=test"),
        );
        self.tell("reset-auth", "0");
        let element = |name: &str| {
            let begin = answer.split_once(&format!("<{name}>")).unwrap().1;
            begin.split_once('<').unwrap().0.to_owned()
        };
        Keys {
            id: element("AccessKeyId"),
            secret: element("SecretAccessKey"),
            token: element("SessionToken"),
        }
    }

    /// An operation of AWS's XML services, unsigned: before signatures are asked for.
    fn query(&self, service: &str, form: &str) -> String {
        let headers = format!(
            "authorization: AWS4-HMAC-SHA256 Credential=x/20260101/{REGION}/{service}/aws4_request, SignedHeaders=host, Signature=x\r\n\
             content-type: application/x-www-form-urlencoded\r\n"
        );
        self.post("/", &headers, form)
    }

    /// Moto's own interface beside AWS's.
    pub(crate) fn tell(&self, path: &str, body: &str) {
        self.post(&format!("/moto-api/{path}"), "", body);
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> String {
        let address = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 20"), "{path}: {answer}");
        answer
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// `POST /path`
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(given, _)| given == name);
        found.map_or("", |(_, value)| value)
    }

    /// `DeleteEndpoint`, or nothing of an invocation.
    pub(crate) fn operation(&self) -> &str {
        let target = self.header("x-amz-target");
        target.rsplit('.').next().unwrap_or_default()
    }
}

/// `None` where the client has gone.
pub(crate) fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut asked = Asked {
        line: line.trim_end_matches(" HTTP/1.1\r\n").to_owned(),
        headers,
        body: Vec::new(),
    };
    let length = asked.header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    asked.body = body;
    Some(asked)
}
