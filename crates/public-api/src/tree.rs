//! The modules of some crates, read from their source files.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use syn::{Attribute, Expr, ExprLit, ImplItem, Item, Lit};

/// The path of a module: its crate, and the modules down to it.
pub(crate) type ModulePath = Vec<String>;

#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) modules: BTreeMap<ModulePath, Vec<Item>>,
}

impl Tree {
    /// Reads the crate whose `lib.rs` lies in `sources`.
    pub(crate) fn read(&mut self, name: &str, sources: &Path) -> io::Result<()> {
        let items = items_of(&sources.join("lib.rs"))?;
        self.add(vec![name.to_owned()], items, sources)
    }

    /// Adds a module and its submodules. `folder` has the files of the submodules.
    fn add(&mut self, path: ModulePath, items: Vec<Item>, folder: &Path) -> io::Result<()> {
        let items: Vec<Item> = items.into_iter().filter(|item| !is_of_tests(item)).collect();
        for item in &items {
            let Item::Mod(module) = item else { continue };
            let name = module.ident.to_string();
            let within = folder.join(&name);
            let theirs = match &module.content {
                Some((_, theirs)) => theirs.clone(),
                None => items_of(
                    &named_file(&module.attrs, folder).unwrap_or_else(|| file_of(folder, &name)),
                )?,
            };
            let mut path = path.clone();
            path.push(name);
            self.add(path, under_conditions(&module.attrs, theirs), &within)?;
        }
        self.modules.insert(path, items);
        Ok(())
    }
}

/// The items of a module that has these attributes. Each item gets the conditions of the module.
fn under_conditions(attributes: &[Attribute], mut items: Vec<Item>) -> Vec<Item> {
    let inherited: Vec<Attribute> =
        attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect();
    for item in &mut items {
        for own in attributes_of_all(item) {
            own.splice(0..0, inherited.iter().cloned());
        }
    }
    items
}

/// The attributes of an item that decide what the list shows. For an `impl` these are the
/// attributes of its functions.
fn attributes_of_all(item: &mut Item) -> Vec<&mut Vec<Attribute>> {
    match item {
        Item::Enum(item) => vec![&mut item.attrs],
        Item::Fn(item) => vec![&mut item.attrs],
        Item::Impl(item) if item.trait_.is_none() => {
            let functions = item.items.iter_mut().filter_map(|item| match item {
                ImplItem::Fn(function) => Some(&mut function.attrs),
                _ => None,
            });
            functions.collect()
        }
        Item::Struct(item) => vec![&mut item.attrs],
        Item::Trait(item) => vec![&mut item.attrs],
        Item::Mod(item) => vec![&mut item.attrs],
        _ => Vec::new(),
    }
}

/// The file that `#[path = "…"]` names: relative to the directory of the file that has the
/// attribute, which is the directory of `lib.rs` or the parent of the folder of its submodules.
fn named_file(attributes: &[Attribute], folder: &Path) -> Option<PathBuf> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let Expr::Lit(ExprLit { lit: Lit::Str(named), .. }) =
        &attribute.meta.require_name_value().ok()?.value
    else {
        return None;
    };
    let places = [folder.parent()?.join(named.value()), folder.join(named.value())];
    places.into_iter().find(|place| place.exists())
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    let beside = folder.join(format!("{name}.rs"));
    if beside.exists() { beside } else { folder.join(name).join("mod.rs") }
}

fn items_of(file: &Path) -> io::Result<Vec<Item>> {
    let of_file = |said: String| io::Error::other(format!("{}: {said}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| of_file(error.to_string()))?;
    Ok(syn::parse_file(&text).map_err(|error| of_file(error.to_string()))?.items)
}

fn is_of_tests(item: &Item) -> bool {
    conditions(attributes(item))
        .iter()
        .any(|condition| condition == "test" || condition == "doctest")
}

/// The conditions in an item's `#[cfg(…)]`.
pub(crate) fn conditions(attributes: &[Attribute]) -> Vec<String> {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    lists
        .filter_map(|attribute| Some(attribute.meta.require_list().ok()?.tokens.to_string()))
        .collect()
}

pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
