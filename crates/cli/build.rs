//! Links what unwinds a panic into the program, where the compiler has it to link. Otherwise each
//! start of the program looks for that library, maps it and lets it ask the processor what it can
//! do, which takes a virtual machine longer than anything else that happens in user space
//! (docs/decisions/0077-a-run-starts-what-it-needs.md).

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |what: &str, value: &str| env::var(what).is_ok_and(|it| it == value);
    let is_for_here = env::var("TARGET").ok() == env::var("HOST").ok();
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is_for_here {
        link_unwinder();
    }
}

/// Does nothing where there is no such file: then the program needs the library, as others do.
fn link_unwinder() {
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let answer = asked.map(|asked| asked.stdout).unwrap_or_default();
    let answer = String::from_utf8(answer).unwrap_or_default();
    let file = Path::new(answer.trim());
    if let Some(folder) = file.parent().filter(|_| file.is_absolute() && file.is_file()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}
