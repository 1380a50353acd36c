//! This machine, probed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use frameworks::{Home, Spec};
use model::profile::{HostRates, PROFILE_SCHEMA};
use model::{MachineProfile, Stop, Timestamp};
use worker::Context;
use worker::probe::{ProbeQuestion, Probed, Subject, probe};

use crate::Tell;
use crate::error::{Error, ErrorKind};
use crate::here::{own_program, scratch};

pub struct ProbeRequest<'a> {
    /// `None` names it after its host.
    pub name: Option<&'a str>,
    pub cores: Option<f64>,
    /// Beside the embedded engine.
    pub frameworks: &'a [Spec],
    /// Beside the networks of every probe.
    pub networks: Vec<Subject>,
    pub rounds: u32,
}

/// Tells what is measured before it is, and every framework that cannot be.
pub fn probe_machine(
    request: ProbeRequest<'_>,
    stop: &Stop,
    tell: Tell<'_>,
) -> Result<MachineProfile, Error> {
    let began = Instant::now();
    let usable = measure::usable_cores();
    if let Some(cores) = request.cores.filter(|cores| *cores > usable) {
        return Err(Error::bad_study(format!(
            "{cores} cores requested, but this machine has {usable}"
        )));
    }
    let home = Home::find().map_err(Error::other)?;
    let program = own_program()?;
    let folder = scratch(&home)?;
    let scene = Scene {
        context: Context {
            bancada: &program,
            files: Path::new("."),
            home: &home,
            container: None,
        },
        folder: folder.path(),
        stop,
    };
    let mut subjects = Subject::all();
    let engine = Spec::parse("engine").map_err(Error::other)?;
    let question = |spec, one_core| ProbeQuestion {
        spec,
        subjects: &[],
        cores: request.cores,
        one_core,
        rounds: request.rounds,
    };
    let cores = request.cores.unwrap_or(usable);
    let one_core = match cores > 1.0 {
        true => {
            let asked = ProbeQuestion {
                subjects: &subjects,
                ..question(&engine, true)
            };
            Some(scene.ask(&asked)?.map_err(Error::other)?.framework)
        }
        false => None,
    };
    subjects.extend(request.networks);
    let mut host = HostRates::default();
    let mut probes = Vec::new();
    for spec in [&engine].into_iter().chain(request.frameworks) {
        tell(&format!("probing with {spec} …"));
        let asked = ProbeQuestion {
            subjects: &subjects,
            ..question(spec, false)
        };
        match scene.ask(&asked)? {
            Ok(probed) if *spec == engine => {
                host = probed.host;
                probes.push(probed.framework);
            }
            Ok(probed) => probes.push(probed.framework),
            Err(why) if *spec == engine => return Err(Error::other(why)),
            Err(why) => tell(&format!("! {spec} is not part of the profile: {why}")),
        }
    }
    let machine = measure::inventory(BTreeMap::new());
    Ok(MachineProfile {
        schema: PROFILE_SCHEMA,
        name: request.name.map_or_else(
            || own_name(&machine.hostname, request.cores),
            ToOwned::to_owned,
        ),
        measured: Timestamp::now(),
        machine,
        cores,
        frameworks: probes,
        one_core,
        host,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// With fewer cores it is another machine.
fn own_name(host: &str, cores: Option<f64>) -> String {
    match cores {
        None => host.to_owned(),
        Some(1.0) => format!("{host}, 1 core"),
        Some(cores) => format!("{host}, {cores} cores"),
    }
}

struct Scene<'a> {
    context: Context<'a>,
    folder: &'a Path,
    stop: &'a Stop,
}

impl Scene<'_> {
    fn ask(&self, asked: &ProbeQuestion<'_>) -> Result<Result<Probed, String>, Error> {
        let answer = probe(asked, self.context, self.folder, self.stop).map_err(Error::other)?;
        match self.stop.asked() {
            model::Asked::Nothing => Ok(answer),
            _ => Err(Error::new(
                ErrorKind::Interrupted,
                "interrupted: nothing is stored",
            )),
        }
    }
}
