//! `cargo run -p seinpaal-public-api > crates/seinpaal/public-api.txt`

fn main() -> std::io::Result<()> {
    print!("{}", seinpaal_public_api::of_this_workspace()?);
    Ok(())
}
