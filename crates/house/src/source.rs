//! The files of one crate, and their uses of each other.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::paths::{self, FilePaths, PathIn};

/// A module: its names from the root of the crate. The root has no name.
pub type Module = Vec<String>;

/// Which file uses which: for each module the modules whose items it names.
pub type Arrows = BTreeMap<Module, BTreeSet<Module>>;

/// The files of one crate by their modules, without files of tests.
#[derive(Debug, Default)]
pub struct Crate {
    files: BTreeMap<Module, FilePaths>,
}

impl Crate {
    /// Reads the crate whose root is `lib.rs` or `main.rs` in this directory.
    #[must_use]
    pub fn read(src: &Path) -> Self {
        let mut read = Self::default();
        for root in ["lib.rs", "main.rs"] {
            if src.join(root).exists() {
                read.add(Module::new(), &src.join(root), src);
                break;
            }
        }
        read
    }

    fn add(&mut self, module: Module, file: &Path, children: &Path) {
        let text = fs::read_to_string(file)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        let said = paths::read(&text);
        for name in &said.modules {
            if let Some(found) = file_of(children, name) {
                let mut child = module.clone();
                child.push(name.clone());
                self.add(child, &found, &children.join(name));
            }
        }
        self.files.insert(module, said);
    }

    /// The number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns whether there is no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The uses of each file. A name that a file passes on with `pub use` leads to the file that
    /// defines it.
    #[must_use]
    pub fn arrows(&self) -> Arrows {
        let each = self.files.iter().map(|(module, said)| {
            let named = said.paths.iter().filter_map(|path| self.target(module, path));
            (module.clone(), named.filter(|target| target != module).collect())
        });
        each.collect()
    }

    /// The file that defines the item of this path, if the item is of this crate.
    fn target(&self, module: &Module, path: &PathIn) -> Option<Module> {
        let full = self.absolute(module, &path.names, path.depth)?;
        Some(self.home(full, 0))
    }

    /// The path from the root of the crate. `None` if the path leads to another crate or into the
    /// file itself.
    fn absolute(&self, module: &Module, names: &[String], depth: usize) -> Option<Vec<String>> {
        let mut base = match names.first()?.as_str() {
            "crate" => return Some(names[1..].to_vec()),
            "self" if depth == 0 => module.clone(),
            "super" => module.clone(),
            first => {
                let mut child = module.clone();
                child.push(first.to_owned());
                let is_child = depth == 0 && self.files.contains_key(&child);
                return is_child.then(|| [module.as_slice(), names].concat());
            }
        };
        let ups = names.iter().take_while(|name| *name == "super").count();
        for _ in 0..ups.saturating_sub(depth) {
            base.pop()?;
        }
        let rest = names.iter().skip_while(|name| *name == "super" || *name == "self");
        base.extend(rest.cloned());
        (ups == 0 || ups > depth).then_some(base)
    }

    /// The file that defines this item: the deepest module on the path, or the file from which that
    /// module imports the item.
    fn home(&self, path: Vec<String>, hops: usize) -> Module {
        let length =
            (0..=path.len()).rev().find(|&length| self.files.contains_key(&path[..length]));
        let (module, rest) = path.split_at(length.unwrap_or_default());
        let module = module.to_vec();
        let Some(item) = rest.first() else { return module };
        let Some(said) = self.files.get(&module) else { return module };
        let passed_on = said.uses.iter().find(|(name, _)| name == item);
        let from = passed_on.and_then(|(_, names)| self.absolute(&module, names, 0));
        match from {
            Some(from) if hops < 16 => self.home(from, hops + 1),
            _ => module,
        }
    }
}

fn file_of(directory: &Path, module: &str) -> Option<PathBuf> {
    let beside = directory.join(format!("{module}.rs"));
    let within = directory.join(module).join("mod.rs");
    [beside, within].into_iter().find(|path| path.exists())
}
