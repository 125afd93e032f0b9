//! Links the library that unwinds a panic into the program, if the compiler has it as a static
//! library. Otherwise each start of the program finds and maps the shared library, which then asks
//! the processor for its features. On a virtual machine that takes longer than all other work in
//! user space (docs/decisions/run.md).

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |what: &str, value: &str| env::var(what).is_ok_and(|it| it == value);
    let is_for_here = env::var("TARGET").ok() == env::var("HOST").ok();
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is_for_here {
        link_unwinder();
    }
}

/// Does nothing if there is no such file. The program then needs the shared library, as other
/// programs do.
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
