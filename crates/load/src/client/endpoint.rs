//! A SageMaker endpoint: created, loaded with signed requests, deleted, and its metrics read
//! when it no longer costs money.

use std::path::Path;
use std::sync::atomic::Ordering;

use crate::sagemaker::{
    Client, Endpoint, EndpointSpec, Kind, Patience, TornDown, Variables, set_up, tear_down,
};
use jiff::Timestamp;
use model::run::{metric, phase};
use model::serving::{EndpointRecord, SageMaker};
use model::{LoadClientJob, Service};

use super::figures::Figures;
use super::signed::{Signed, signed_for};
use super::{ClientError, Context, LoadClient, shape, write_json};

pub(crate) fn run(
    job: &LoadClientJob,
    service: &Service,
    name: &str,
    bodies: Vec<Vec<u8>>,
    context: &mut Context<'_>,
) -> Result<(), ClientError> {
    let planned =
        PlannedEndpoint::of(service, name).ok_or_else(|| ClientError::incomplete("endpoint"))?;
    let region = &planned.sagemaker.region;
    let aws = Client::new(Variables::of_process(), Some(region)).map_err(ClientError::failed)?;
    let mut client = LoadClient::new(job, context);
    client.is_elsewhere = true;
    client.service = Some(format!("{} in {region}", planned.words()));
    let mut kept = Kept::begin(&job.endpoint, name, region)?;
    let endpoint = client.make(&aws, &planned, &mut kept)?;
    let begin = Timestamp::now();
    let mut signed = Signed {
        invoker: aws.invoker(&endpoint.name, &job.content_type),
        bodies,
        lasts: signed_for(),
    };
    let asked = client.send_signed_load(&mut signed);
    let end = Timestamp::now();
    client.phase(phase::SHUTDOWN, None);
    // Whatever came of it: an endpoint that stays is paid for.
    kept.end(&tear_down(&aws, &endpoint.name, &Patience::default()));
    asked?;
    let answers = client.outcome.counts.ok + client.outcome.uncounted.ok + client.sent_before;
    client.report_outcome(None)?;
    client.phase(phase::FIGURES, None);
    let figures = Figures {
        client: &aws,
        endpoint: &endpoint.name,
        begin,
        end,
        patience: shape::duration(planned.sagemaker.figures_seconds),
        bills_requests: matches!(planned.spec.kind, Kind::Serverless { .. }),
    };
    if !figures.patience.is_zero() {
        client.report_figures(&figures, answers);
    }
    Ok(())
}

impl LoadClient<'_, '_, '_> {
    fn make(
        &mut self,
        aws: &Client,
        planned: &PlannedEndpoint<'_>,
        kept: &mut Kept<'_>,
    ) -> Result<Endpoint, ClientError> {
        self.phase(phase::SETUP, None);
        let stop = self.context.stop;
        let mut go_on = || !stop.load(Ordering::Relaxed);
        let made = set_up(aws, &planned.spec, &Patience::default(), &mut go_on);
        let endpoint = made.map_err(|error| {
            kept.end(&error.torn_down);
            ClientError::failed(error)
        })?;
        self.metric(metric::ENDPOINT_SECONDS, endpoint.set_up.as_secs_f64(), "s");
        Ok(endpoint)
    }
}

struct PlannedEndpoint<'a> {
    spec: EndpointSpec,
    sagemaker: &'a SageMaker,
}

impl<'a> PlannedEndpoint<'a> {
    fn of(service: &'a Service, name: &str) -> Option<Self> {
        let (kind, sagemaker) = match service {
            Service::Serverless(serverless) => (
                Kind::Serverless {
                    memory_mb: serverless.memory_mb,
                    max_concurrency: serverless.concurrency,
                },
                serverless.sagemaker.as_ref()?,
            ),
            Service::RealTime(real_time) => (
                Kind::RealTime {
                    instance_type: real_time.instance.clone(),
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
            tags: [("bancada".to_owned(), name.to_owned())].into(),
            kind,
        };
        Some(PlannedEndpoint { spec, sagemaker })
    }

    fn words(&self) -> String {
        match &self.spec.kind {
            Kind::Serverless { memory_mb, .. } => {
                format!("a SageMaker serverless endpoint with {memory_mb} MB")
            }
            Kind::RealTime { instance_type } => {
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
    fn begin(path: &'a Path, name: &str, region: &str) -> Result<Self, ClientError> {
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
