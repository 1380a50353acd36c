//! Do all frameworks compute the same network?

use std::fmt::Write as _;
use std::path::Path;

use frameworks::{Home, Kind, Machine, Spec};
use model::{Asked, Order};
use runner::OrderBuilder;
use serde_json::json;
use worker::Context;
use worker::agreement::{Agreement, FIRST_LOSS_TOLERANCE};
use worker::verification::{self, Answer, Compared, Question, StudyQuestion};

use super::network::input_words;
use crate::args::VerifyArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::signals::{self, STOP};

pub(super) fn verify(args: &VerifyArgs, printer: &Printer) -> CommandResult {
    let home = Home::find().map_err(Failure::trouble)?;
    let program = workbench::own_program()?;
    let opened = match &args.study {
        Some(path) => Some(workbench::open_study(
            path,
            args.scale.as_deref(),
            &printer.teller(),
        )?),
        None => None,
    };
    let context = Context {
        bancada: &program,
        files: opened.as_ref().map_or(Path::new("."), |o| &o.folder),
        home: &home,
        container: None,
    };
    let questions = match &opened {
        Some(opened) => of_study(opened, &home)?,
        None => vec![one_question(args, &home)?],
    };
    signals::listen();
    let mut all_agree = true;
    for mut asked in questions {
        leave_caffe_out(&mut asked, printer);
        let answers = ask(args, &asked, context, printer)?;
        all_agree &= answers.iter().all(agrees);
        match args.json {
            true => printer.data(&as_json(&asked, &answers).to_string()),
            false => printer.data(&table(&asked, &answers, args)),
        }
    }
    Ok(if STOP.asked() != Asked::Nothing {
        Exit::Interrupted
    } else if all_agree {
        Exit::Ok
    } else {
        Exit::FailedRuns
    })
}

/// Every network that a study trains, at every size.
fn of_study(opened: &workbench::Opened, home: &Home) -> Result<Vec<StudyQuestion>, Failure> {
    let builder = OrderBuilder::new(&opened.study, &opened.folder, home.path());
    let built = builder.of_runs(&opened.plan, &opened.plan.runs);
    let orders: Vec<Order> = built
        .map_err(Failure::trouble)?
        .into_values()
        .map(|built| built.order)
        .collect();
    verification::questions(&orders).map_err(Failure::trouble)
}

/// A network that Caffe has no layers for: it could only answer that, and would seem to have failed.
fn leave_caffe_out(asked: &mut StudyQuestion, printer: &Printer) {
    let is_caffe = |spec: &Spec| spec.framework.kind == Kind::Caffe;
    if !asked.specs.iter().any(is_caffe) {
        return;
    }
    if let Err(why) = workloads::caffe::can_train(&asked.graph) {
        asked.specs.retain(|spec| !is_caffe(spec));
        printer.talk(&format!("caffe is skipped: {why}"));
    }
}

fn one_question(args: &VerifyArgs, home: &Home) -> Result<StudyQuestion, Failure> {
    let network = args.network.clone().unwrap_or_default();
    let specs = match args.framework.is_empty() {
        true => set_up(home),
        false => {
            let parsed = args.framework.iter().map(|text| Spec::parse(text));
            let parsed: Result<Vec<Spec>, _> = parsed.collect();
            parsed.map_err(|e| Failure::new(Exit::BadStudy, e))?
        }
    };
    Ok(StudyQuestion {
        graph: workloads::models::instantiate(&network, args.input.wish())?,
        network,
        specs,
    })
}

/// Every framework that has an environment here, and Caffe where the machine has it.
fn set_up(home: &Home) -> Vec<Spec> {
    let has_caffe = Machine::here().caffe.is_some();
    let specs = frameworks::all().filter_map(|f| Spec::parse(&f.name).ok());
    specs
        .filter(|spec| match spec.framework.kind {
            Kind::Python => home.interpreter(spec).is_ok(),
            Kind::Caffe => has_caffe,
            Kind::Engine | Kind::Serving | Kind::Stack => false,
        })
        .collect()
}

fn ask(
    args: &VerifyArgs,
    asked: &StudyQuestion,
    context: Context<'_>,
    printer: &Printer,
) -> Result<Vec<Answer>, Failure> {
    let question = Question {
        network: asked.network.clone(),
        graph: asked.graph.clone(),
        batch: args.batch,
        steps: args.steps,
        seed: args.seed,
        timeout_seconds: f64::from(args.timeout),
    };
    let scratch = workbench::scratch(context.home)?;
    let answers = verification::verify(
        &question,
        &asked.specs,
        context,
        scratch.path(),
        &STOP,
        &mut |framework| {
            if printer.talk_is_terminal {
                eprint!(
                    "\r\x1b[2K  {} in {framework} …",
                    diagnostics::screen::safe(&asked.network)
                );
            }
        },
    );
    if printer.talk_is_terminal {
        eprint!("\r\x1b[2K");
    }
    answers.map_err(Failure::trouble)
}

fn agrees(answer: &Answer) -> bool {
    let compared = answer.result.as_ref();
    compared.is_ok_and(|c| c.agreement.differs_at.is_none())
}

fn table(asked: &StudyQuestion, answers: &[Answer], args: &VerifyArgs) -> String {
    let mut text = format!(
        "{} at {}: batch {}, {} steps of gradient descent, seed {}\n\n",
        asked.network,
        input_words(&asked.graph),
        args.batch,
        args.steps,
        args.seed
    );
    _ = writeln!(
        text,
        "  {:<20} {:<9} {:>11}  {:>10} {:>8}  {:>11} {:>8}  {:>8}  {:>9}",
        "framework",
        "version",
        "parameters",
        "first loss",
        "differs",
        "after steps",
        "differs",
        "layers",
        "gradients"
    );
    for answer in answers {
        match &answer.result {
            Ok(compared) => _ = writeln!(text, "{}", row(&answer.framework, compared)),
            Err(why) => _ = writeln!(text, "  {:<20} ! {why}", answer.framework),
        }
    }
    text.push('\n');
    text.push_str(&verdict(answers, args.steps));
    text
}

fn row(framework: &str, compared: &Compared) -> String {
    let Compared { report, agreement } = compared;
    let Agreement {
        first_loss,
        last_loss,
        layers,
        gradients,
        differs_at,
        ..
    } = agreement;
    let mut row = format!(
        "  {framework:<20} {:<9} {:>11}  {:>10.6} {:>8}  {:>11.6} {:>8}  {:>8}  {:>9}",
        report.version,
        report.parameters,
        report.losses.first().copied().unwrap_or(f64::NAN),
        exponent(*first_loss),
        report.last_loss,
        exponent(*last_loss),
        layers.map_or("unseen".to_owned(), exponent),
        exponent(*gradients),
    );
    if let Some(place) = differs_at {
        _ = write!(row, "  ! differs from {place} on");
    }
    row
}

fn exponent(difference: f64) -> String {
    match difference == 0.0 {
        true => "0".to_owned(),
        false => format!("{difference:.1e}"),
    }
}

fn verdict(answers: &[Answer], steps: u32) -> String {
    let compared = || answers.iter().filter_map(|a| a.result.as_ref().ok());
    let worst = |of: fn(&Agreement) -> f64| {
        let all = compared().map(|c| of(&c.agreement));
        all.fold(0.0, f64::max)
    };
    let others = compared().count().saturating_sub(1);
    let failed = answers.iter().filter(|a| a.result.is_err()).count();
    let differing: Vec<&str> = answers
        .iter()
        .filter(|a| a.result.is_ok() && !agrees(a))
        .map(|a| a.framework.as_str())
        .collect();
    let mut text = if !differing.is_empty() {
        format!("Different: {}.", differing.join(", "))
    } else if others == 0 {
        "Only the embedded engine ran: nothing was compared. Name frameworks that are set up (bancada doctor), or omit --framework for all of them."
            .to_owned()
    } else {
        format!(
            "The same in all {}: first loss within {} (allowed {FIRST_LOSS_TOLERANCE:.0e}), after {steps} steps within {}.",
            others + 1,
            exponent(worst(|a| a.first_loss)),
            exponent(worst(|a| a.last_loss)),
        )
    };
    if failed > 0 {
        _ = write!(text, " {failed} failed.");
    }
    text
}

fn as_json(asked: &StudyQuestion, answers: &[Answer]) -> serde_json::Value {
    let answers: Vec<serde_json::Value> = answers
        .iter()
        .map(|answer| match &answer.result {
            Ok(compared) => json!({
                "framework": answer.framework,
                "report": compared.report,
                "first_loss_difference": compared.agreement.first_loss,
                "last_loss_difference": compared.agreement.last_loss,
                "layers_difference": compared.agreement.layers,
                "gradients_difference": compared.agreement.gradients,
                "differs_at": compared.agreement.differs_at,
            }),
            Err(why) => json!({ "framework": answer.framework, "error": why }),
        })
        .collect();
    json!({ "network": asked.network, "answers": answers })
}
