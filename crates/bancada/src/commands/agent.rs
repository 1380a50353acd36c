//! The far end of a place on another machine: answers a coordinator over stdin and stdout.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use frameworks::Home;
use infra::notice::Provider;
use model::Order;
use model::location::Within;
use place::agent::{Stock, serve};
use place::runs::Launcher;
use place::{Detached, Lack, Lacking, Runs, Sbatch, Timed};
use workbench::Lacks;

use crate::args::AgentArgs;
use crate::exit::{CommandResult, Exit, Failure};

/// A coordinator that is silent for so long is gone, and its connection does not know yet.
const SILENCE: Duration = Duration::from_secs(900);

pub(super) fn agent(args: &AgentArgs) -> CommandResult {
    let within = match &args.within {
        None => Within::Process,
        Some(json) => serde_json::from_str(json)
            .map_err(|e| Failure::new(Exit::WrongArguments, format!("--within: {e}")))?,
    };
    let program = workbench::own_program()?;
    for folder in [&args.root, &args.files] {
        host::create_private_folder(folder)
            .map_err(|e| Failure::trouble(format!("cannot use {}: {e}", folder.display())))?;
    }
    let [root, files] = [&args.root, &args.files].map(std::path::absolute);
    let [root, files] = [root, files].map(|path| path.map_err(Failure::trouble));
    let (root, files) = (root?, files?);
    let stock = MachineStock {
        home: Home::find().map_err(Failure::trouble)?,
        program,
        files,
    };
    if let Some(provider) = args.notices_of.as_deref() {
        wait_for_notice(provider);
    }
    place::old_programs::remove_old(&stock.program);
    let runs = |launcher| Runs::new(&stock.program, &stock.files, &root, launcher);
    // Every kind of `within` is one arm: a launcher, or a specification that workers get.
    match within {
        Within::Process => answer(&runs(Detached::new(&stock.program)), &stock),
        Within::Container(container) => {
            let runs = runs(Detached::new(&stock.program)).in_container(container);
            answer(&runs, &stock)
        }
        Within::Slurm(slurm) => {
            let launcher = Sbatch::new(&stock.program, &slurm);
            // Below a folder of the user's, studies and environments stay apart as well.
            let name = root.file_name().unwrap_or_default();
            let shared = slurm.folder.as_ref().map(|folder| folder.join(name));
            if let Some(shared) = &shared {
                place::old_programs::note_orders(&root, shared).map_err(Failure::trouble)?;
            }
            let root = shared.as_deref().unwrap_or(&root);
            let runs = Runs::new(&stock.program, &stock.files, root, launcher);
            answer(&runs, &stock)
        }
    }
}

/// In a thread that ends with the agent: whoever comes next waits again. Without a provider that is
/// known there are no notices.
fn wait_for_notice(provider: &str) {
    let (Some(provider), Some(file)) = (Provider::named(provider), notice_file()) else {
        return;
    };
    let endpoint = std::env::var("BANCADA_NOTICE_ENDPOINT");
    std::thread::spawn(move || {
        let endpoint = endpoint.as_deref().unwrap_or(provider.endpoint());
        // A notice that cannot be kept is seen as the end of the machine.
        _ = provider.watch(endpoint, &file);
    });
}

fn notice_file() -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    Some(Path::new(&home).join(infra::notice::NOTICE_FILE))
}

fn answer<L: Launcher>(runs: &Runs<L>, stock: &MachineStock) -> CommandResult {
    // Without the standard library's buffer, whose content a wait for the pipe does not see.
    let input = io::stdin().as_fd().try_clone_to_owned();
    let input = Timed::new(File::from(input.map_err(Failure::trouble)?), SILENCE);
    let output = io::stdout().as_fd().try_clone_to_owned();
    let mut output = File::from(output.map_err(Failure::trouble)?);
    let served = serve(runs, stock, &mut BufReader::new(input), &mut output);
    // Whoever hears of it is gone.
    Ok(match served {
        Ok(()) => Exit::Ok,
        Err(_) => Exit::Trouble,
    })
}

struct MachineStock {
    program: PathBuf,
    home: Home,
    files: PathBuf,
}

impl Stock for MachineStock {
    fn lacking(&self, orders: &[Order]) -> Lacking {
        let lacks = Lacks::of_orders(orders, &self.files, &self.home);
        let environments = lacks.environments.iter().map(|(name, missing)| {
            let name = name.clone();
            let gpu = missing.gpu;
            Lack::Environment { name, gpu }
        });
        let datasets = lacks.datasets.iter().cloned();
        let datasets = datasets.map(|name| Lack::Dataset { name });
        Lacking {
            can_be_brought: environments.chain(datasets).collect(),
            own: lacks.cannot_be_brought(),
        }
    }

    fn bring(&self, lack: &Lack) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        match lack {
            Lack::Environment { name, gpu } => {
                command.args(["setup", name]).args(gpu.then_some("--gpu"));
            }
            Lack::Dataset { name } => {
                command.args(["data", "fetch", name]);
            }
        }
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|e| format!("cannot start bancada there: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        let complaint = complaint
            .lines()
            .find_map(|line| line.strip_prefix("error: "));
        Err(complaint.unwrap_or("it could not be set up").to_owned())
    }

    fn notice(&self) -> Option<String> {
        infra::notice::written(&notice_file()?).map(|notice| notice.reason())
    }

    fn cache(&self) -> &Path {
        self.home.path()
    }
}
