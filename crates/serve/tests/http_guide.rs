//! Runs the examples of docs/guide/http.md as their readers would: with a shell, curl and Python.

mod support;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use seinpaal::Seinpaal;
use seinpaal_serve::Options;
use support::{Site, until};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Returns the code blocks of the page in this language, in the order of the page.
fn blocks(language: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/http.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let opens = format!("```{language}\n");
    let after = page.split(&opens).skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    after.map(str::to_owned).collect()
}

/// Runs a program with this input, and returns its output.
fn run(program: &[&str], input: &str, port: u16) -> Result<String, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("input");
    fs::write(&file, input)?;
    let done = Command::new(program[0])
        .args(&program[1..])
        .arg(&file)
        .current_dir(&folder)
        .env("SEINPAAL", format!("http://127.0.0.1:{port}"))
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program:?}: {}\n{said}\n{error}\n{input}", done.status);
    Ok(said)
}

async fn site() -> Result<(Seinpaal, Site), Box<dyn std::error::Error>> {
    let seinpaal = Seinpaal::in_memory();
    let options = Options { api: true, allow_actions: true, ..Options::default() };
    let site = Site::open(seinpaal.clone(), options).await?;
    Ok((seinpaal, site))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_for_the_shell_do_what_the_page_says_and_leave_nothing() -> Outcome {
    let (seinpaal, site) = site().await?;
    let script = blocks("sh").concat();
    let port = site.port();
    let said = tokio::task::spawn_blocking(move || {
        run(&["bash", "-eu"], &script, port).map_err(|error| error.to_string())
    });
    let said = said.await??;
    assert!(said.contains("the work goes here"), "{said}");
    assert!(
        said.contains("\"payload\":\"to: ann\"") || said.contains("\"duplicate\":false"),
        "{said}"
    );
    let queue = seinpaal.queue("mails").snapshot().await?;
    assert_eq!((queue.ready, queue.delayed, queue.in_work), (0, 1, 0), "one was worked on");
    until(&seinpaal, "backups", 0, 0).await?;
    until(&seinpaal, "deploy", 0, 0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_in_python_hold_a_permit_and_give_it_back() -> Outcome {
    let (seinpaal, site) = site().await?;
    let script = blocks("python").concat();
    let port = site.port();
    let said = tokio::task::spawn_blocking(move || {
        run(&["python3"], &script, port).map_err(|error| error.to_string())
    });
    let said = said.await??;
    assert!(said.starts_with("on GPU 0 with fence "), "{said}");
    until(&seinpaal, "gpus", 0, 0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_of_a_job_holds_until_what_it_started_is_ended() -> Outcome {
    let (seinpaal, site) = site().await?;
    let step = blocks("yaml").concat();
    let (_, lines) = step.split_once("run: |\n").ok_or("the step runs something")?;
    // A runner goes on to the next step, and kills the remaining processes at the end of the job.
    let script = format!("{lines}\necho held; kill $!");
    let port = site.port();
    let said = tokio::task::spawn_blocking(move || {
        run(&["bash", "-eu"], &script, port).map_err(|error| error.to_string())
    });
    assert_eq!(said.await??, "held\n");
    until(&seinpaal, "staging", 0, 0).await
}
