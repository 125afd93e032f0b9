//! An item in one line: its signature, without bodies and documentation.

use syn::{Attribute, Fields, File, ImplItem, Item, ItemImpl, ItemStruct, TraitItem, Visibility};

use crate::tree::conditions;

/// The attributes that are part of a promise.
const KEPT: [&str; 4] = ["non_exhaustive", "must_use", "deprecated", "repr"];

/// The line of an item, and a line for each trait that is derived.
pub(crate) fn item(item: &Item) -> Vec<String> {
    let attributes = crate::tree::attributes(item).to_vec();
    let line = match item {
        Item::Struct(item) => structure(item.clone()),
        other => text(bare(other.clone())),
    };
    let derived = derived(&attributes).into_iter().map(|name| format!("impl {name}"));
    let lines = std::iter::once(line).chain(derived);
    lines.map(|line| gated(&attributes, &line)).collect()
}

/// The lines of an `impl`: one for a trait, else one for each public method and constant.
pub(crate) fn implementation(block: &ItemImpl) -> Vec<String> {
    let lines = match &block.trait_ {
        Some(_) => vec![head_of(block)],
        None => block.items.iter().filter_map(public_member).collect(),
    };
    lines.iter().map(|line| gated(&block.attrs, line)).collect()
}

/// `impl Trait for Type where …`, with the types that it names.
fn head_of(block: &ItemImpl) -> String {
    let mut head = block.clone();
    head.attrs.clear();
    head.items.retain(|item| matches!(item, ImplItem::Type(_)));
    head.items.iter_mut().for_each(|item| {
        if let ImplItem::Type(item) = item {
            item.attrs.clear();
        }
    });
    without_empty_body(&text(Item::Impl(head)))
}

fn public_member(member: &ImplItem) -> Option<String> {
    let (attributes, line) = match member {
        ImplItem::Fn(item) if is_public(&item.vis) => {
            let mut item = item.clone();
            item.block.stmts.clear();
            let attributes = std::mem::take(&mut item.attrs);
            (attributes, in_impl(ImplItem::Fn(item)))
        }
        ImplItem::Const(item) if is_public(&item.vis) => {
            let mut item = item.clone();
            let attributes = std::mem::take(&mut item.attrs);
            (attributes, in_impl(ImplItem::Const(item)))
        }
        _ => return None,
    };
    Some(gated(&attributes, &without_empty_body(&line)))
}

/// The text of a member, which only an `impl` can hold.
fn in_impl(member: ImplItem) -> String {
    let mut block: ItemImpl = syn::parse_quote!(impl X {});
    block.items.push(member);
    let whole = text(Item::Impl(block));
    let inner = whole.strip_prefix("impl X {").and_then(|rest| rest.strip_suffix('}'));
    inner.unwrap_or(&whole).trim().replace("(mut self", "(self").replace(", mut ", ", ")
}

/// Private fields become one `_`, because users notice only whether a type has any.
fn structure(mut item: ItemStruct) -> String {
    item.attrs.retain(is_kept);
    let has_private = item.fields.iter().any(|field| !is_public(&field.vis));
    if let Fields::Named(fields) = &mut item.fields {
        let named = std::mem::take(&mut fields.named);
        fields.named = named.into_iter().filter(|field| is_public(&field.vis)).collect();
    }
    item.fields.iter_mut().for_each(|field| field.attrs.clear());
    let is_tuple = matches!(item.fields, Fields::Unnamed(_));
    let all_private = item.fields.iter().all(|field| !is_public(&field.vis));
    if is_tuple && all_private {
        item.fields = Fields::Unit;
    }
    let line = text(Item::Struct(item));
    match has_private {
        false => line,
        true if line.ends_with("{}") => line.replace("{}", "{ _ }"),
        true if line.ends_with('}') => format!("{}, _ }}", line.trim_end_matches('}').trim_end()),
        true => format!("{}(_);", line.trim_end_matches(';')),
    }
}

/// The item without bodies and documentation.
fn bare(mut item: Item) -> Item {
    match &mut item {
        Item::Fn(item) => {
            item.attrs.retain(is_kept);
            item.block.stmts.clear();
        }
        Item::Enum(item) => {
            item.attrs.retain(is_kept);
            for variant in &mut item.variants {
                variant.attrs.retain(is_kept);
                variant.fields.iter_mut().for_each(|field| field.attrs.clear());
            }
        }
        Item::Trait(item) => {
            item.attrs.retain(is_kept);
            item.items.iter_mut().for_each(bare_member);
        }
        Item::Const(item) => item.attrs.retain(is_kept),
        Item::Static(item) => item.attrs.retain(is_kept),
        Item::Type(item) => item.attrs.retain(is_kept),
        Item::Macro(item) => item.attrs.retain(is_kept),
        _ => {}
    }
    item
}

/// A method of a trait that has a body keeps an empty one, to show that implementations may leave
/// the method out.
fn bare_member(member: &mut TraitItem) {
    match member {
        TraitItem::Fn(item) => {
            item.attrs.retain(is_kept);
            if let Some(body) = &mut item.default {
                body.stmts.clear();
            }
        }
        TraitItem::Const(item) => item.attrs.clear(),
        TraitItem::Type(item) => item.attrs.clear(),
        _ => {}
    }
}

fn derived(attributes: &[Attribute]) -> Vec<String> {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let tokens =
        lists.filter_map(|attribute| Some(attribute.meta.require_list().ok()?.tokens.to_string()));
    tokens
        .flat_map(|text| text.split(',').map(|name| name.replace(' ', "")).collect::<Vec<_>>())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The line, after the `cfg` under which the item exists.
pub(crate) fn gated(attributes: &[Attribute], line: &str) -> String {
    let conditions =
        conditions(attributes).into_iter().map(|condition| format!("#[cfg({condition})] "));
    let hidden = attributes.iter().any(is_hidden).then(|| "#[doc(hidden)] ".to_owned());
    conditions.chain(hidden).chain([line.to_owned()]).collect()
}

pub(crate) fn is_hidden(attribute: &Attribute) -> bool {
    let list = attribute.path().is_ident("doc").then(|| attribute.meta.require_list().ok());
    list.flatten().is_some_and(|list| list.tokens.to_string() == "hidden")
}

fn is_kept(attribute: &Attribute) -> bool {
    KEPT.iter().any(|name| attribute.path().is_ident(name))
}

pub(crate) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The item in one line of any length.
fn text(item: Item) -> String {
    let file: File = File { items: vec![item], ..syn::parse_quote!() };
    let lines = prettyplease::unparse(&file);
    let line = lines.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("( ", "(")
        .replace(", )", ")")
        .replace(" )", ")")
        .replace("< ", "<")
        .replace(", >", ">")
        .replace(", }", " }")
}

fn without_empty_body(line: &str) -> String {
    line.trim_end_matches("{}").trim_end_matches(';').trim_end().to_owned()
}
