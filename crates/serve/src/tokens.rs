//! The file of tokens, which gives each visitor a role.

use std::{
    fmt, fs, io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

use rustix::process::geteuid;

/// The shortest token, in characters.
const LEAST_TOKEN: usize = 16;
/// The bits of a file's mode that give rights to others than its owner.
const OTHERS: u32 = 0o077;
/// The bit that lets the file's group read.
const GROUP_READS: u32 = 0o040;

/// The rights of a visitor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// May look.
    Read,
    /// May look, and take permits and items by HTTP if the API is on.
    Use,
    /// May do all that [`Role::Use`] may, and make changes if actions are allowed.
    Operate,
}

/// The tokens that the pages accept.
#[derive(Clone)]
pub struct Tokens(Vec<Token>);

#[derive(Clone)]
pub(crate) struct Token {
    pub(crate) role: Role,
    text: String,
    pub(crate) who: String,
}

/// The place of a token among the tokens. It tells one visitor from another, which a name does not.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct TokenNumber(usize);

/// Leaves out the tokens.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.0.len())
    }
}

/// A file of tokens that cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum BadTokens {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// Others can read or write it.
    Exposed,
    /// A line is not `read TOKEN [WHO]`, `use TOKEN [WHO]` or `operate TOKEN [WHO]`.
    Line(usize),
    /// A token has fewer than 16 characters.
    Short(usize),
    /// The file has no token in it.
    Empty,
}

impl fmt::Display for BadTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Self::Exposed => f.write_str("others can read it: chmod 600 it"),
            Self::Line(line) => {
                write!(
                    f,
                    "line {line} is not `read TOKEN [WHO]`, `use TOKEN [WHO]` or `operate TOKEN [WHO]`"
                )
            }
            Self::Short(line) => write!(
                f,
                "the token in line {line} has fewer than {LEAST_TOKEN} characters; `openssl rand -hex 16` makes a good one"
            ),
            Self::Empty => f.write_str("there is no token in it"),
        }
    }
}

impl std::error::Error for BadTokens {}

impl Tokens {
    /// Reads a file. Each line is `read TOKEN [WHO]`, `use TOKEN [WHO]` or `operate TOKEN [WHO]`,
    /// or begins with `#`. Nobody but the owner may have rights to the file. Exception: the group
    /// may read a file of root, unless this process is root.
    ///
    /// # Errors
    /// [`BadTokens`] says what is wrong. It never contains a token.
    pub fn read(path: &Path) -> Result<Self, BadTokens> {
        let file = fs::metadata(path).map_err(BadTokens::Unreadable)?;
        let others = others(file.uid(), geteuid().as_raw());
        if tells_who_reads(&file) && file.mode() & others != 0 {
            return Err(BadTokens::Exposed);
        }
        Self::parse(&fs::read_to_string(path).map_err(BadTokens::Unreadable)?)
    }

    fn parse(text: &str) -> Result<Self, BadTokens> {
        let lines = text.lines().map(str::trim).zip(1..);
        let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let tokens =
            lines.map(|(line, at)| Token::parse(line, at)).collect::<Result<Vec<_>, _>>()?;
        if tokens.is_empty() { Err(BadTokens::Empty) } else { Ok(Self(tokens)) }
    }

    /// Returns the token with this text, and its place.
    pub(crate) fn find(&self, text: &str) -> Option<(TokenNumber, &Token)> {
        // All tokens are compared, so that the time does not show which one came near.
        self.0.iter().enumerate().fold(None, |found, (number, token)| {
            if is_same(&token.text, text) { Some((TokenNumber(number), token)) } else { found }
        })
    }
}

/// Returns whether the mode of such a file says who can read the tokens. That is so for a file and
/// for a named pipe. On Linux, an unnamed pipe, as a shell's `<(command)` makes it, has the mode
/// 600. The mode of a device says who may use the device: `/dev/stdin` can be a terminal, which a
/// group may write to, although nobody else can read the keys that are typed there.
fn tells_who_reads(file: &fs::Metadata) -> bool {
    file.is_file() || file.file_type().is_fifo()
}

/// Returns the bits of a mode by which others have rights to our tokens. Root can lend a file to
/// this process through the file's group: systemd passes on a credential in this way, and
/// Kubernetes a secret with a `defaultMode` of
/// 0440. Such a file is not ours to change.
fn others(owner: u32, we: u32) -> u32 {
    if owner == 0 && we != 0 { OTHERS & !GROUP_READS } else { OTHERS }
}

impl Token {
    fn parse(line: &str, at: usize) -> Result<Self, BadTokens> {
        let mut words = line.split_whitespace();
        let role = match words.next() {
            Some("read") => Role::Read,
            Some("use") => Role::Use,
            Some("operate") => Role::Operate,
            _ => return Err(BadTokens::Line(at)),
        };
        let text = words.next().ok_or(BadTokens::Line(at))?.to_owned();
        if text.chars().count() < LEAST_TOKEN {
            return Err(BadTokens::Short(at));
        }
        let who = words.collect::<Vec<_>>().join(" ");
        Ok(Self { role, text, who })
    }
}

/// Compares two texts to their ends, so that the time does not show how far they agree.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    let differ = a.bytes().zip(b.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
    a.len() == b.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_of_tokens_names_the_line_that_is_wrong() {
        let parse = |text| Tokens::parse(text).map(|tokens| tokens.0.len());
        assert!(matches!(parse("# none\n\n"), Err(BadTokens::Empty)));
        assert!(matches!(parse("read 0123456789abcdef\nwrite x"), Err(BadTokens::Line(2))));
        assert!(matches!(parse("read short"), Err(BadTokens::Short(1))));
        assert!(matches!(parse("read 0123456789abcdef ana k\noperate fedcba9876543210"), Ok(2)));
    }

    fn pipe_with_mode(dir: &Path, mode: u32) -> std::path::PathBuf {
        let path = dir.join(format!("{mode:o}"));
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn tokens_come_from_a_pipe_that_only_its_owner_can_read() {
        let dir = tempfile::tempdir().unwrap();
        // The pipe is refused before it is opened. Opening it would hang, because nobody writes to
        // it.
        let exposed = Tokens::read(&pipe_with_mode(dir.path(), 0o644));
        assert!(matches!(exposed, Err(BadTokens::Exposed)), "{exposed:?}");
        let path = pipe_with_mode(dir.path(), 0o600);
        let from = path.clone();
        let writer = std::thread::spawn(move || fs::write(from, "read 0123456789abcdef\n"));
        assert_eq!(Tokens::read(&path).unwrap().0.len(), 1);
        writer.join().unwrap().unwrap();
    }

    /// A shell passes the output of a command in this way.
    #[test]
    fn tokens_come_from_a_pipe_without_a_name() {
        use std::{io::Write as _, os::fd::AsRawFd as _};
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"operate 0123456789abcdef ana\n").unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(Tokens::read(Path::new(&path)).unwrap().0.len(), 1);
    }

    #[test]
    fn a_file_of_root_may_be_read_by_the_group_that_it_is_lent_to() {
        let is_exposed = |mode: u32, owner, we| mode & others(owner, we) != 0;
        assert!(!is_exposed(0o440, 0, 1000) && !is_exposed(0o640, 0, 1000));
        assert!(is_exposed(0o660, 0, 1000), "the group may write");
        assert!(is_exposed(0o444, 0, 1000), "everybody may read");
        assert!(is_exposed(0o440, 0, 0), "we are root");
        assert!(is_exposed(0o440, 1000, 1000), "the file is ours");
        assert!(is_exposed(0o440, 1001, 1000), "the file is somebody else's");
    }

    #[test]
    fn the_mode_of_a_device_is_not_that_of_what_is_read_from_it() {
        assert!(matches!(Tokens::read(Path::new("/dev/null")), Err(BadTokens::Empty)));
    }
}
