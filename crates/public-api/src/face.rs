//! The walk over the items that can be named from outside.

use std::{collections::BTreeMap, fmt::Write};

use syn::{Item, ItemImpl, ItemMacro, Path, Type, Visibility};

use crate::{
    resolve::{Meaning, brought, defined},
    said,
    tree::{ModulePath, Tree},
};

/// The lines of each public path, in the order of paths.
type FaceLines = BTreeMap<String, Vec<String>>;

pub(crate) fn face(tree: &Tree, root: &str) -> String {
    let mut walk =
        Walk { tree, blocks: blocks(tree), lines: FaceLines::new(), shown: BTreeMap::new() };
    walk.module(&vec![root.to_owned()], root);
    walk.macros();
    let mut text = String::new();
    for (path, mut lines) in walk.lines {
        let first = lines.remove(0);
        lines.sort();
        lines.dedup();
        let _ = writeln!(text, "{path}\n    {first}");
        lines.iter().for_each(|line| text.extend(["        ", line, "\n"]));
    }
    text
}

/// The `impl`s of each item of ours.
fn blocks(tree: &Tree) -> BTreeMap<Meaning, Vec<&ItemImpl>> {
    let mut blocks: BTreeMap<Meaning, Vec<&ItemImpl>> = BTreeMap::new();
    for (module, items) in &tree.modules {
        for item in items {
            let Item::Impl(block) = item else { continue };
            if let Some(path) = path_of(&block.self_ty) {
                blocks.entry(tree.meaning(module, &names(path))).or_default().push(block);
            }
        }
    }
    blocks
}

fn path_of(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(ty) => Some(&ty.path),
        _ => None,
    }
}

fn names(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

struct Walk<'tree> {
    tree: &'tree Tree,
    blocks: BTreeMap<Meaning, Vec<&'tree ItemImpl>>,
    lines: FaceLines,
    /// The path under which each item has been shown already.
    shown: BTreeMap<Meaning, String>,
}

impl Walk<'_> {
    /// Shows the items of the module itself before its submodules, so that each item is shown under
    /// its shortest path.
    fn module(&mut self, module: &ModulePath, path: &str) {
        let tree = self.tree;
        let Some(items) = tree.modules.get(module) else { return };
        items.iter().for_each(|item| self.own(module, item, path));
        items.iter().for_each(|item| self.passed_on(module, item, path, false));
        items.iter().for_each(|item| self.passed_on(module, item, path, true));
        items.iter().for_each(|item| self.within(module, item, path));
    }

    fn own(&mut self, module: &ModulePath, item: &Item, path: &str) {
        if let (Some(name), true) = (defined(item), is_shown(item)) {
            self.item(&Meaning::Item(module.clone(), name.clone()), &format!("{path}::{name}"));
        }
    }

    /// Shows the items that a `pub use` brings, or, if `modules` is set, the whole modules.
    fn passed_on(&mut self, module: &ModulePath, item: &Item, path: &str, modules: bool) {
        let Item::Use(item) = item else { return };
        if !said::is_public(&item.vis) {
            return;
        }
        for one in brought(item) {
            let meaning = self.tree.meaning(module, &one.path);
            if matches!(meaning, Meaning::Module(_)) != modules {
                continue;
            }
            match (one.name, meaning) {
                (None, Meaning::Module(all)) => self.module(&all, path),
                (None, other) => self.line(path, format!("pub use {other:?}::*")),
                (Some(name), meaning) => self.item(&meaning, &format!("{path}::{name}")),
            }
        }
    }

    fn within(&mut self, module: &ModulePath, item: &Item, path: &str) {
        let Item::Mod(item) = item else { return };
        if said::is_public(&item.vis) {
            let name = item.ident.to_string();
            let meaning = Meaning::Module([module.clone(), vec![name.clone()]].concat());
            self.item(&meaning, &format!("{path}::{name}"));
        }
    }

    fn item(&mut self, meaning: &Meaning, path: &str) {
        if let Some(before) = self.shown.get(meaning).filter(|before| *before != path) {
            let line = format!("pub use {before}");
            return self.line(path, line);
        }
        if self.shown.insert(meaning.clone(), path.to_owned()).is_some() {
            return;
        }
        match meaning {
            Meaning::Module(module) => {
                self.line(path, self.head_of_module(module));
                self.module(module, path);
            }
            Meaning::Item(module, name) => self.defined(module, name, meaning, path),
            Meaning::Foreign(of) => self.line(path, format!("pub use {of}")),
        }
    }

    /// `pub mod`, with the `cfg` under which the module exists.
    fn head_of_module(&self, module: &ModulePath) -> String {
        let (name, parent) = module.split_last().expect("a module has a name");
        let items = self.tree.modules.get(parent).into_iter().flatten();
        let mut declared = items.filter_map(|item| match item {
            Item::Mod(item) if item.ident == name => Some(said::gated(&item.attrs, "pub mod")),
            _ => None,
        });
        declared.next_back().unwrap_or_else(|| "pub mod".to_owned())
    }

    fn defined(&mut self, module: &ModulePath, name: &str, meaning: &Meaning, path: &str) {
        let items = self.tree.modules[module].iter();
        let named = items.filter(|item| defined(item).as_deref() == Some(name));
        let lines: Vec<String> = named.flat_map(said::item).collect();
        let blocks = self.blocks.get(meaning).into_iter().flatten();
        let members: Vec<String> = blocks.flat_map(|block| said::implementation(block)).collect();
        lines.into_iter().chain(members).for_each(|line| self.line(path, line));
    }

    /// Shows our macros that write items, and their calls, because those items may be public.
    fn macros(&mut self) {
        let tree = self.tree;
        for (module, items) in &tree.modules {
            let rules = items.iter().filter_map(as_macro).filter(|item| item.ident.is_some());
            for rule in rules {
                let name = rule.ident.as_ref().expect("it has a name").to_string();
                let calls = calls_of(tree, &module[0], &name);
                let path = format!("{}::{name}!", module.join("::"));
                for call in calls
                    .iter()
                    .take(1)
                    .map(|_| Item::Macro(rule.clone()))
                    .chain(calls.iter().cloned())
                {
                    said::item(&call).into_iter().for_each(|line| self.line(&path, line));
                }
            }
        }
    }

    fn line(&mut self, path: &str, line: String) {
        self.lines.entry(path.to_owned()).or_default().push(line);
    }
}

/// The items of a crate that are calls of its macro of this name.
fn calls_of(tree: &Tree, of: &str, name: &str) -> Vec<Item> {
    let modules = tree.modules.iter().filter(|(module, _)| module[0] == of);
    let items = modules.flat_map(|(_, items)| items);
    let is_call = |item: &&Item| {
        as_macro(item).is_some_and(|item| item.ident.is_none() && item.mac.path.is_ident(name))
    };
    items.filter(is_call).cloned().collect()
}

fn as_macro(item: &Item) -> Option<&ItemMacro> {
    match item {
        Item::Macro(item) => Some(item),
        _ => None,
    }
}

fn is_shown(item: &Item) -> bool {
    let visibility: &Visibility = match item {
        Item::Const(item) => &item.vis,
        Item::Enum(item) => &item.vis,
        Item::Fn(item) => &item.vis,
        Item::Static(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        Item::Type(item) => &item.vis,
        Item::Union(item) => &item.vis,
        _ => return false,
    };
    said::is_public(visibility)
}
