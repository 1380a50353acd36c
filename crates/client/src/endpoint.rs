//! A SageMaker endpoint: created, loaded with signed requests, deleted, and its metrics read
//! when it no longer costs money.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

use aws_endpoint::{
    Client, Endpoint, EndpointSpec, Kind, Patience, TornDown, Variables, set_up, tear_down,
};
use jiff::Timestamp;
use model::run::{metric, phase};
use model::serving::{EndpointRecord, SageMaker};
use model::{AskJob, Service};

use crate::figures::Figures;
use crate::signed::{Signed, signed_for};
use crate::{AskError, Asking, Surroundings, shape, write_json};

pub(crate) fn ask(
    job: &AskJob,
    service: &Service,
    name: &str,
    bodies: Vec<Vec<u8>>,
    world: &mut Surroundings<'_>,
) -> Result<(), AskError> {
    let wanted = Wanted::of(service, name).ok_or(AskError::Incomplete("endpoint"))?;
    let region = &wanted.sagemaker.region;
    let client = Client::new(Variables::of_process(), Some(region)).map_err(AskError::Aws)?;
    let mut asking = Asking::new(job, world);
    asking.is_elsewhere = true;
    asking.service = Some(format!("{} in {region}", wanted.words()));
    let mut kept = Kept::begin(&job.endpoint, name, region)?;
    let endpoint = asking.make(&client, &wanted, &mut kept)?;
    let begin = Timestamp::now();
    let mut signed = Signed {
        invoker: client.invoker(&endpoint.name, &job.content_type),
        bodies,
        lasts: signed_for(),
    };
    let asked = asking.ask_signed(&mut signed);
    let end = Timestamp::now();
    asking.phase(phase::SHUTDOWN, None);
    // Whatever came of it: an endpoint that stays is paid for.
    kept.end(&tear_down(&client, &endpoint.name, &Patience::default()));
    asked?;
    let answers = asking.outcome.counts.ok + asking.outcome.uncounted.ok + asking.sent_before;
    asking.tell_outcome(None)?;
    asking.phase(phase::FIGURES, None);
    let figures = Figures {
        client: &client,
        endpoint: &endpoint.name,
        begin,
        end,
        patience: shape::duration(wanted.sagemaker.figures_seconds),
        bills_requests: matches!(wanted.spec.kind, Kind::Serverless { .. }),
    };
    if !figures.patience.is_zero() {
        asking.tell_figures(&figures, answers);
    }
    Ok(())
}

impl Asking<'_, '_, '_> {
    fn make(
        &mut self,
        client: &Client,
        wanted: &Wanted<'_>,
        kept: &mut Kept<'_>,
    ) -> Result<Endpoint, AskError> {
        self.phase(phase::SETUP, None);
        let stop = self.world.stop;
        let go_on = || match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let made = set_up(client, &wanted.spec, &Patience::default(), &mut |_| go_on());
        let endpoint = made.map_err(|error| {
            kept.end(&error.torn_down);
            AskError::SetUp(error)
        })?;
        self.tell(metric::ENDPOINT_SECONDS, endpoint.set_up.as_secs_f64(), "s");
        Ok(endpoint)
    }
}

struct Wanted<'a> {
    spec: EndpointSpec,
    sagemaker: &'a SageMaker,
}

impl<'a> Wanted<'a> {
    fn of(service: &'a Service, name: &str) -> Option<Self> {
        let (kind, sagemaker) = match service {
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
        let spec = EndpointSpec {
            name: name.to_owned(),
            image: sagemaker.image.clone(),
            model_data: sagemaker.model_data.clone(),
            role_arn: sagemaker.role.clone(),
            environment: Default::default(),
            tags: [("bancada".to_owned(), name.to_owned())].into(),
            kind,
        };
        Some(Wanted { spec, sagemaker })
    }

    fn words(&self) -> String {
        match &self.spec.kind {
            Kind::Serverless { memory_mb, .. } => {
                format!("a SageMaker serverless endpoint with {memory_mb} MB")
            }
            Kind::RealTime { instance_type, .. } => {
                format!("a SageMaker endpoint on {instance_type}")
            }
        }
    }
}

/// What is known of the endpoint, in the run's folder at every moment.
struct Kept<'a> {
    path: &'a Path,
    record: EndpointRecord,
}

impl<'a> Kept<'a> {
    fn begin(path: &'a Path, name: &str, region: &str) -> Result<Self, AskError> {
        let record = EndpointRecord {
            name: name.to_owned(),
            region: region.to_owned(),
            is_gone: false,
            detail: "its client was killed before deleting it".to_owned(),
        };
        write_json(path, &record)?;
        Ok(Kept { path, record })
    }

    fn end(&mut self, torn_down: &TornDown) {
        self.record.is_gone = torn_down.is_clean();
        self.record.detail = torn_down.to_string();
        // What stands there already is the worse news, and the folder may be gone.
        _ = write_json(self.path, &self.record);
    }
}
