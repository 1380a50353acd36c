//! An endpoint at SageMaker: set up, asked by signed requests, its own figures read, torn down.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use aws_endpoint::{
    Client, EndpointSpec, Invoker, Kind, Metric, Patience, SIGNATURE_LASTS, VARIANT, Variables,
    Window, set_up, tear_down,
};
use jiff::{SignedDuration, Timestamp};
use load::{Extent, Header, Load, Outcome, Request, Series};
use model::event::EventKind;
use model::run::{metric, phase};
use model::serving::SageMaker;
use model::{AskJob, LoadShape, Service};

use crate::{AskError, Asking, Surroundings, shape, wait};

/// Of a signature's life; the rest is for clocks that differ.
const SIGNED_FOR: f64 = 0.8;
/// CloudWatch shows a minute's figures some minutes later; it is asked so often, so far apart.
const CLOUDWATCH_TRIES: u32 = 10;
const CLOUDWATCH_BETWEEN: Duration = Duration::from_secs(30);

pub(crate) fn ask(
    job: &AskJob,
    service: &Service,
    name: &str,
    bodies: &[Vec<u8>],
    world: &mut Surroundings<'_>,
) -> Result<(), AskError> {
    let wanted = wanted(service, name).ok_or(AskError::Incomplete("endpoint"))?;
    let client =
        Client::new(Variables::of_process(), Some(&wanted.region)).map_err(AskError::Aws)?;
    let mut asking = Asking::new(job, world);
    asking.phase(phase::SETUP, None);
    let stop = asking.world.stop;
    let patience = Patience::default();
    let endpoint = set_up(&client, &wanted.spec, &patience, &mut |_| match stop
        .load(Ordering::Relaxed)
    {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
    .map_err(AskError::SetUp)?;
    asking.tell(metric::SETUP_SECONDS, endpoint.set_up.as_secs_f64(), "s");
    let begin = Timestamp::now();
    let invoker = client.invoker(&endpoint.name, &job.content_type);
    let asked = asking.ask_signed(&invoker, bodies);
    if asked.is_ok() {
        asking.tell_cloudwatch(&client, &endpoint.name, begin);
    }
    // Whatever came of it: an endpoint that stays is paid for.
    let torn_down = tear_down(&client, &endpoint.name, &patience);
    if !torn_down.is_clean() {
        let text = format!("the endpoint is not wholly gone, and may cost: {torn_down}");
        (asking.world.tell)(EventKind::Note { text: text.clone() }, None);
        eprintln!("{text}");
    }
    asked?;
    asking.conclude(None)
}

struct Wanted {
    spec: EndpointSpec,
    region: String,
}

fn wanted(service: &Service, name: &str) -> Option<Wanted> {
    let (kind, sagemaker): (Kind, &SageMaker) = match service {
        Service::Serverless(serverless) => (
            Kind::Serverless {
                memory_mb: serverless.memory_mb,
                max_concurrency: serverless.concurrency,
                provisioned: None,
            },
            serverless.sagemaker.as_ref()?,
        ),
        Service::RealTime(real_time) => (
            Kind::RealTime {
                instance_type: real_time.instance.clone(),
                instances: 1,
            },
            &real_time.sagemaker,
        ),
        Service::Url(_) => return None,
    };
    Some(Wanted {
        spec: EndpointSpec {
            name: name.to_owned(),
            image: sagemaker.image.clone(),
            model_data: sagemaker.model_data.clone(),
            role_arn: sagemaker.role.clone(),
            environment: Default::default(),
            tags: [("bancada".to_owned(), name.to_owned())].into(),
            kind,
        },
        region: sagemaker.region.clone(),
    })
}

impl Asking<'_, '_, '_> {
    /// A signature lasts minutes: a series is signed request by request, another load in parts.
    fn ask_signed(&mut self, invoker: &Invoker<'_>, bodies: &[Vec<u8>]) -> Result<(), AskError> {
        let shape = self.job.load.shape;
        if shape == LoadShape::Search {
            return Err(AskError::Incomplete(
                "way to search at an endpoint that is paid for",
            ));
        }
        if !matches!(shape, LoadShape::Cold | LoadShape::RealTime) {
            self.phase(phase::COLD, None);
            self.run_signed(invoker, &bodies[..1], &Load::Series(crate::FIRST))?;
        }
        let name = match shape {
            LoadShape::Cold => phase::COLD,
            _ => phase::WARM,
        };
        self.phase(name, None);
        let outcome = match shape::load(&self.job.load)? {
            Load::Series(series) => self.series_signed(invoker, bodies, &series)?,
            load => {
                check_length(&load)?;
                self.run_signed(invoker, bodies, &load)?
            }
        };
        self.keep(outcome);
        Ok(())
    }

    fn series_signed(
        &mut self,
        invoker: &Invoker<'_>,
        bodies: &[Vec<u8>],
        series: &Series,
    ) -> Result<Outcome, AskError> {
        let mut all = Outcome::default();
        for number in 0..series.count {
            if number > 0 {
                wait::pause(series.pause, self.world.stop);
            }
            if self.world.stop.load(Ordering::Relaxed) {
                return Err(AskError::Stopped);
            }
            let place = number as usize % bodies.len();
            let body = &bodies[place..=place];
            all.append(self.run_signed(invoker, body, &Load::Series(crate::FIRST))?);
        }
        Ok(all)
    }

    /// One signature for each body, so that a load of several sends the first alone.
    fn run_signed(
        &self,
        invoker: &Invoker<'_>,
        bodies: &[Vec<u8>],
        load: &Load,
    ) -> Result<Outcome, AskError> {
        let body = bodies.first().ok_or(AskError::Incomplete("body"))?;
        let signed = invoker
            .sign(body, Timestamp::now())
            .map_err(AskError::Aws)?;
        let target = signed.url.parse().map_err(AskError::Load)?;
        let mut request = Request::post(target, &signed.content_type, vec![body.clone()]);
        request.headers = signed
            .headers
            .iter()
            .filter(|header| !header.name.eq_ignore_ascii_case("host"))
            .map(|header| Header {
                name: header.name.clone(),
                value: header.value.clone(),
            })
            .collect();
        self.run(&request, load)
    }

    /// What the service itself counted: the cold part of cold starts, and what it bills.
    fn tell_cloudwatch(&mut self, client: &Client, endpoint: &str, begin: Timestamp) {
        let window = |end: Timestamp| Window {
            begin: begin
                .saturating_sub(SignedDuration::from_mins(1))
                .unwrap_or(begin),
            end: end
                .saturating_add(SignedDuration::from_mins(1))
                .unwrap_or(end),
            period_minutes: 1,
        };
        let last = Timestamp::now();
        let sum = |wanted: Metric| {
            let points = client
                .metric(wanted, endpoint, VARIANT, &window(last))
                .ok()?;
            let times = points.iter().filter_map(|p| p.as_time(p.sum));
            let samples: f64 = points.iter().map(|p| p.samples).sum();
            (samples > 0.0).then(|| (times.map(|t| t.as_secs_f64()).sum::<f64>(), samples))
        };
        for attempt in 0..CLOUDWATCH_TRIES {
            if let Some((seconds, _)) = sum(Metric::ModelLatency) {
                self.tell(metric::BILLED_SECONDS, seconds, "s");
                if let Some((seconds, samples)) = sum(Metric::ModelSetupTime) {
                    self.tell(metric::SETUP_SECONDS, seconds / samples, "s");
                    self.tell(metric::COLD_REQUESTS, samples, "");
                }
                return;
            }
            let more = attempt + 1 < CLOUDWATCH_TRIES;
            if !more || self.world.stop.load(Ordering::Relaxed) {
                break;
            }
            wait::pause(CLOUDWATCH_BETWEEN, self.world.stop);
        }
        let text = "CloudWatch showed no figures of this endpoint".to_owned();
        (self.world.tell)(EventKind::Note { text }, None);
    }
}

fn check_length(load: &Load) -> Result<(), AskError> {
    let seconds = |extent: &Extent| match extent {
        Extent::Time(time) => time.as_secs_f64(),
        Extent::Requests(_) => 0.0,
    };
    let length = match load {
        Load::Series(_) => 0.0,
        Load::Closed(closed) => seconds(&closed.warm_up) + seconds(&closed.counted),
        Load::Open(open) => seconds(&open.warm_up) + seconds(&open.counted),
    };
    match length <= SIGNED_FOR * SIGNATURE_LASTS.as_secs_f64() {
        true => Ok(()),
        false => Err(AskError::Incomplete(
            "duration that a signature lasts: at most four minutes at an endpoint of SageMaker",
        )),
    }
}
