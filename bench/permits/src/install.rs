//! Installs peers with their own package managers, once. An error names a program that this machine
//! lacks.

use std::{
    fs, io,
    path::Path,
    process::{Command, Stdio},
};

/// Fails with the program's name if this machine lacks the program.
pub(crate) fn needs(program: &str) -> io::Result<()> {
    let found = Command::new("which").arg(program).stdout(Stdio::null()).status()?;
    if found.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{program} is not installed on this machine")))
}

pub(crate) fn npm(directory: &Path) -> io::Result<()> {
    needs("node")?;
    if directory.join("node_modules/.package-lock.json").exists() {
        return Ok(());
    }
    let install = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
    run("npm", Command::new("npm").args(install).current_dir(directory))
}

pub(crate) fn python(directory: &Path, environment: &Path) -> io::Result<()> {
    needs("python3")?;
    let done = environment.join("installed");
    if done.exists() {
        return Ok(());
    }
    run("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(environment))?;
    let mut pip = Command::new(environment.join("bin/pip"));
    run("pip", pip.args(["install", "--quiet", "-r", "requirements.txt"]).current_dir(directory))?;
    fs::write(done, "")
}

pub(crate) fn java(directory: &Path, classes: &Path) -> io::Result<()> {
    ["java", "javac", "mvn"].into_iter().try_for_each(needs)?;
    let copy = format!("-DoutputDirectory={}", classes.display());
    let copy = ["-q", "-B", "dependency:copy-dependencies", &copy];
    if !classes.join("Driver.class").exists() {
        run("mvn", Command::new("mvn").args(copy).current_dir(directory))?;
    }
    let path = format!("{}/*", classes.display());
    let mut javac = Command::new("javac");
    javac.args(["-cp", &path, "-d"]).arg(classes).arg(directory.join("Driver.java"));
    if is_older(&classes.join("Driver.class"), &directory.join("Driver.java")) {
        run("javac", &mut javac)?;
    }
    Ok(())
}

pub(crate) fn go(directory: &Path, program: &Path) -> io::Result<()> {
    needs("go")?;
    run("go", Command::new("go").args(["build", "-o"]).arg(program).arg(".").current_dir(directory))
}

/// Builds a program of this workspace or of the project's workspace.
pub(crate) fn cargo(workspace: &Path, package: &str) -> io::Result<()> {
    let build = ["build", "--release", "--locked", "--quiet", "-p", package];
    run("cargo", Command::new("cargo").args(build).current_dir(workspace))
}

fn is_older(file: &Path, source: &Path) -> bool {
    let changed = |path| fs::metadata(path).and_then(|data| data.modified()).ok();
    changed(file) < changed(source)
}

fn run(what: &str, command: &mut Command) -> io::Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{what}: {status}"))) }
}
