//! A load of signed requests. A signature lasts minutes and a connection may last longer: a load
//! runs in parts, each with fresh signatures.

use std::time::{Duration, Instant};

use crate::sagemaker::{Invoker, SIGNATURE_LASTS};
use crate::{Arrivals, Closed, End, Extent, Load, Open, Outcome, Request, Series};
use jiff::Timestamp;
use model::LoadShape;
use model::run::phase;

use super::{ClientError, LoadClient, answered, shape, unix_seconds, wait};

/// Of a signature's life; the rest is for clocks that differ.
const SIGNED_FOR: f64 = 0.8;

/// An endpoint and what it is asked.
pub(crate) struct Signed<'a> {
    pub(crate) invoker: Invoker<'a>,
    pub(crate) bodies: Vec<Vec<u8>>,
    /// How long a signature is used.
    pub(crate) lasts: Duration,
}

impl LoadClient<'_, '_, '_> {
    pub(crate) fn send_signed_load(&mut self, signed: &mut Signed<'_>) -> Result<(), ClientError> {
        let shape = self.job.load.shape;
        if shape == LoadShape::Search {
            return Err(ClientError::failed(
                "a SageMaker endpoint is billed per request, so the load `search` is not available",
            ));
        }
        let load = shape::load(&self.job.load)?;
        check_length(&load)?;
        if !matches!(shape, LoadShape::Cold | LoadShape::RealTime) {
            self.phase(phase::COLD, None);
            let first = self.send_signed(signed, &Load::Series(super::FIRST))?;
            let is_refused = first.singles.iter().any(|single| is_refusal(single.end));
            let first = answered(first).map_err(|error| match is_refused {
                true => signed.with_reason(error),
                false => error,
            })?;
            self.sent_before = first.counts.total();
        }
        let name = match shape {
            LoadShape::Cold => phase::COLD,
            _ => phase::WARM,
        };
        self.phase(name, None);
        if let (Load::Series(series), true) = (&load, self.sent_before > 0) {
            // The pause after the request that was not counted.
            wait::pause(series.pause, self.context.stop);
        }
        self.outcome = self.send_in_parts(signed, load)?;
        Ok(())
    }

    fn send_in_parts(
        &mut self,
        signed: &mut Signed<'_>,
        load: Load,
    ) -> Result<Outcome, ClientError> {
        let mut all = Outcome::default();
        let mut next = Some(load);
        while let Some(part) = next {
            let outcome = self.send_signed(signed, &part)?;
            next = rest(&part, &outcome);
            if let (Some(_), Load::Series(series)) = (&next, &part) {
                let next = last_end_unix_seconds(&outcome) + series.pause.as_secs_f64();
                let left = (next - unix_seconds()).max(0.0);
                wait::pause(shape::duration(left), self.context.stop);
            }
            // Bodies go on in turn, too.
            let sent = outcome.counts.total() + outcome.uncounted.total();
            let bodies = signed.bodies.len();
            signed.bodies.rotate_left(sent as usize % bodies.max(1));
            all.append(outcome);
        }
        Ok(all)
    }

    /// As much of the load as the signatures last.
    fn send_signed(&self, signed: &Signed<'_>, load: &Load) -> Result<Outcome, ClientError> {
        let until = Instant::now() + signed.lasts;
        let request = signed.request()?;
        self.run_until(&request, load, Some(until))
    }
}

impl Signed<'_> {
    /// A load keeps no answers: for the words of a refusal it is asked once more.
    fn with_reason(&self, error: ClientError) -> ClientError {
        let body = self.bodies.first().map_or(&[][..], Vec::as_slice);
        match (error, self.invoker.invoke(body)) {
            (ClientError::NoAnswer(why), Err(reason)) => {
                ClientError::NoAnswer(format!("{why}; tried once more: {reason}"))
            }
            (error, _) => error,
        }
    }

    fn request(&self) -> Result<Request, ClientError> {
        let now = Timestamp::now();
        let target = self.invoker.url().parse().map_err(ClientError::failed)?;
        let mut request = Request::post(target, self.invoker.content_type(), Vec::new());
        for body in &self.bodies {
            let signed = self.invoker.sign(body, now).map_err(ClientError::failed)?;
            request.own_headers.push(signed);
            request.bodies.push(body.clone());
        }
        Ok(request)
    }
}

fn is_refusal(end: End) -> bool {
    matches!(end, End::Answered(_)) && !end.is_ok()
}

pub(crate) fn signed_for() -> Duration {
    SIGNATURE_LASTS.mul_f64(SIGNED_FOR)
}

/// What is left of a load of which only a part was run.
fn rest(load: &Load, outcome: &Outcome) -> Option<Load> {
    let left = |count: u64| {
        let left = count.saturating_sub(outcome.counts.total());
        (left > 0).then_some(left)
    };
    match load {
        Load::Series(series) => Some(Load::Series(Series {
            count: left(series.count)?,
            ..*series
        })),
        Load::Closed(Closed {
            clients,
            counted: Extent::Requests(count),
            ..
        }) => Some(Load::Closed(Closed {
            clients: *clients,
            warm_up: Extent::NONE,
            counted: Extent::Requests(left(*count)?),
        })),
        // Short enough for one part, as was checked.
        Load::Closed(_) | Load::Open(_) => None,
    }
}

fn last_end_unix_seconds(outcome: &Outcome) -> f64 {
    let last = outcome.singles.last();
    let seconds = last.map_or(0.0, |last| last.started_seconds + last.latency_seconds);
    outcome.began_unix_seconds + seconds
}

/// A load with times of its own cannot go on in parts: it must end before its signatures do.
fn check_length(load: &Load) -> Result<(), ClientError> {
    let seconds = match load {
        Load::Series(_) => 0.0,
        Load::Closed(closed) => [closed.warm_up, closed.counted].map(timed).iter().sum(),
        Load::Open(open) => open_seconds(open),
    };
    match seconds <= signed_for().as_secs_f64() {
        true => Ok(()),
        false => Err(ClientError::failed(
            "a SageMaker endpoint accepts a signature for five minutes: send requests for at most four, or in series",
        )),
    }
}

fn timed(extent: Extent) -> f64 {
    match extent {
        Extent::Time(time) => time.as_secs_f64(),
        Extent::Requests(_) => 0.0,
    }
}

fn open_seconds(open: &Open) -> f64 {
    let per_second = match &open.arrivals {
        Arrivals::Trace(times) => return times.last().map_or(0.0, Duration::as_secs_f64),
        Arrivals::Constant { per_second } | Arrivals::Poisson { per_second, .. } => *per_second,
    };
    let seconds = |extent: Extent| match extent {
        Extent::Time(time) => time.as_secs_f64(),
        Extent::Requests(count) => count as f64 / per_second,
    };
    seconds(open.warm_up) + seconds(open.counted)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::path::PathBuf;
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, Mutex};
    use std::thread;

    use crate::sagemaker::{Client, Variables};
    use model::job::{JOB_PROTOCOL, LoadJob, LoadTarget};
    use model::serving::UrlService;
    use model::{LoadClientJob, Service};

    use super::*;
    use crate::client::Context;

    #[derive(Default)]
    struct Seen {
        connections: usize,
        bodies: Vec<u8>,
    }

    /// Bodies are one byte long.
    fn converse(stream: TcpStream, seen: &Mutex<Seen>) -> Option<()> {
        let mut writer = stream.try_clone().ok()?;
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = String::new();
            while line != "\r\n" {
                line.clear();
                if reader.read_line(&mut line).ok()? == 0 {
                    return None;
                }
            }
            let mut body = [0];
            reader.read_exact(&mut body).ok()?;
            seen.lock().ok()?.bodies.push(body[0]);
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
            writer.write_all(answer).ok()?;
        }
    }

    fn job() -> LoadClientJob {
        let (requests, outcome) = (PathBuf::new(), PathBuf::new());
        let (record, endpoint) = (PathBuf::new(), PathBuf::new());
        LoadClientJob {
            protocol: JOB_PROTOCOL,
            target: LoadTarget::Service {
                service: Service::Url(UrlService {
                    url: String::new(),
                    headers: Default::default(),
                }),
                name: "n".to_owned(),
            },
            bodies: Vec::new(),
            content_type: "text/plain".to_owned(),
            load: LoadJob {
                shape: LoadShape::RealTime,
                clients: 1,
                rate: None,
                requests: Some(9),
                pause_seconds: Some(0.04),
                seconds: 1.0,
                under_seconds: None,
                timeout_seconds: 60.0,
                trace: None,
                seed: 1,
            },
            requests,
            outcome,
            record,
            endpoint,
        }
    }

    #[test]
    fn a_series_longer_than_its_signatures_goes_on_with_others() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let kept = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                kept.lock().unwrap().connections += 1;
                let kept = Arc::clone(&kept);
                thread::spawn(move || converse(stream, &kept));
            }
        });
        let variables = Variables::from([
            ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "hidden-key"),
            ("AWS_ENDPOINT_URL", url.as_str()),
        ]);
        let aws = Client::new(variables, Some("us-east-1")).unwrap();
        let mut signed = Signed {
            invoker: aws.invoker("retina", "text/plain"),
            bodies: vec![b"a".to_vec(), b"b".to_vec()],
            // Shorter than the pauses of the whole series.
            lasts: Duration::from_millis(60),
        };
        let job = job();
        let mut context = Context {
            server_started_unix_seconds: None,
            stop: &AtomicBool::new(false),
            roots_pem: String::new(),
            emit: &mut |_, _| (),
        };
        let mut client = LoadClient::new(&job, &mut context);
        client.send_signed_load(&mut signed).unwrap();
        assert_eq!(client.outcome.counts.ok, 9);
        assert_eq!(client.outcome.singles.len(), 9);
        let seen = seen.lock().unwrap();
        assert_eq!(seen.bodies, b"ababababa");
        assert!(seen.connections > 1);
    }

    fn outcome(ok: u64) -> Outcome {
        let mut outcome = Outcome::default();
        outcome.counts.ok = ok;
        outcome
    }

    #[test]
    fn a_load_goes_on_where_it_was_left() {
        let series = |count| {
            Load::Series(Series {
                count,
                ..Series::cold()
            })
        };
        assert_eq!(rest(&series(10), &outcome(1)), Some(series(9)));
        assert_eq!(rest(&series(10), &outcome(10)), None);
        let closed = |warm_up, count| {
            Load::Closed(Closed {
                clients: 4,
                warm_up: Extent::Requests(warm_up),
                counted: Extent::Requests(count),
            })
        };
        assert_eq!(rest(&closed(5, 50), &outcome(20)), Some(closed(0, 30)));
        assert_eq!(rest(&closed(5, 50), &outcome(50)), None);
    }

    #[test]
    fn a_load_with_times_of_its_own_ends_before_its_signatures() {
        let open = |per_second, counted| {
            Load::Open(Open {
                arrivals: Arrivals::Constant { per_second },
                warm_up: Extent::NONE,
                counted,
                max_connections: 1,
            })
        };
        let check = |load: Load, is_ok: bool| {
            assert_eq!(check_length(&load).is_ok(), is_ok, "{load:?}");
        };
        let minutes = |minutes: u64| Extent::Time(Duration::from_secs(60 * minutes));
        check(open(1.0, minutes(4)), true);
        check(open(1.0, minutes(5)), false);
        check(open(1.0, Extent::Requests(240)), true);
        check(open(1.0, Extent::Requests(250)), false);
        check(Load::Series(Series::cold()), true);
    }
}
