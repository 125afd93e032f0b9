//! The resolution of paths: which item a path means at a place in the source.

use syn::{Item, ItemUse, UseTree};

use crate::tree::{ModulePath, Tree};

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meaning {
    Module(ModulePath),
    /// The item of this name in that module.
    Item(ModulePath, String),
    /// An item of a crate that is not ours.
    Foreign(String),
}

/// One name that a `use` brings, or all names of a module.
pub(crate) struct Brought {
    pub(crate) path: Vec<String>,
    /// `None` stands for all names, by `*`.
    pub(crate) name: Option<String>,
}

/// The number of times that a name may lead to another. A longer chain counts as a circle.
const MOST_STEPS: u32 = 32;

impl Tree {
    pub(crate) fn meaning(&self, module: &ModulePath, path: &[String]) -> Meaning {
        self.follow(module, path, MOST_STEPS).unwrap_or_else(|| Meaning::Foreign(path.join("::")))
    }

    fn follow(&self, module: &ModulePath, path: &[String], steps: u32) -> Option<Meaning> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Meaning::Module(vec![module[0].clone()]),
            "self" => Meaning::Module(module.clone()),
            "super" => Meaning::Module(module[..module.len() - 1].to_vec()),
            name => self.named(module, name, steps).or_else(|| self.root(name))?,
        };
        rest.iter().try_fold(start, |at, name| match at {
            Meaning::Module(of) => self.named(&of, name, steps),
            Meaning::Item(..) | Meaning::Foreign(_) => None,
        })
    }

    fn root(&self, name: &str) -> Option<Meaning> {
        let root = vec![name.to_owned()];
        self.modules.contains_key(&root).then_some(Meaning::Module(root))
    }

    /// The meaning of `name` in a module: an item of the module, or an item that a `use` brings.
    fn named(&self, module: &ModulePath, name: &str, steps: u32) -> Option<Meaning> {
        let within: ModulePath = [module.clone(), vec![name.to_owned()]].concat();
        if self.modules.contains_key(&within) {
            return Some(Meaning::Module(within));
        }
        let items = self.modules.get(module)?;
        if items.iter().any(|item| defined(item).is_some_and(|own| own == name)) {
            return Some(Meaning::Item(module.clone(), name.to_owned()));
        }
        let brought = items.iter().filter_map(as_use).flat_map(brought);
        brought.into_iter().find_map(|one| self.through(module, &one, name, steps))
    }

    fn through(
        &self,
        module: &ModulePath,
        one: &Brought,
        name: &str,
        steps: u32,
    ) -> Option<Meaning> {
        match &one.name {
            Some(known) if known == name => self.follow(module, &one.path, steps),
            Some(_) => None,
            None => match self.follow(module, &one.path, steps)? {
                Meaning::Module(all) if all != *module => {
                    self.named(&all, name, steps.checked_sub(1)?)
                }
                _ => None,
            },
        }
    }
}

fn as_use(item: &Item) -> Option<&ItemUse> {
    match item {
        Item::Use(item) => Some(item),
        _ => None,
    }
}

/// The name that an item defines.
pub(crate) fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

pub(crate) fn brought(item: &ItemUse) -> Vec<Brought> {
    let mut all = Vec::new();
    unfold(&item.tree, &mut Vec::new(), &mut all);
    all
}

fn unfold(tree: &UseTree, path: &mut Vec<String>, all: &mut Vec<Brought>) {
    let mut bring = |last: Option<String>, name: Option<String>| {
        let path = path.iter().cloned().chain(last.filter(|last| last != "self")).collect();
        all.push(Brought { path, name });
    };
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            unfold(&step.tree, path, all);
            path.pop();
        }
        UseTree::Name(name) if name.ident == "self" => bring(None, path.last().cloned()),
        UseTree::Name(name) => bring(Some(name.ident.to_string()), Some(name.ident.to_string())),
        UseTree::Rename(name) => bring(Some(name.ident.to_string()), Some(name.rename.to_string())),
        UseTree::Glob(_) => bring(None, None),
        UseTree::Group(group) => group.items.iter().for_each(|tree| unfold(tree, path, all)),
    }
}
