//! The headings that the documentation of a public item must have.

use syn::{Attribute, Expr, ImplItem, Item, Lit, ReturnType, Signature, Type};

use crate::{
    said::{is_hidden, is_public},
    tree::{ModulePath, Tree},
};

/// The headings that are missing in the documentation of public functions and requests, as lines
/// `path: heading`.
pub(crate) fn missing(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for (module, items) in &tree.modules {
        for item in items {
            match item {
                Item::Fn(item) if is_public(&item.vis) => {
                    found.extend(missing_of(module, &item.attrs, &item.sig));
                }
                Item::Impl(block) if block.trait_.is_none() => {
                    for member in &block.items {
                        if let ImplItem::Fn(item) = member
                            && is_public(&item.vis)
                        {
                            found.extend(missing_of(module, &item.attrs, &item.sig));
                        }
                    }
                }
                Item::Macro(call) if call.mac.path.is_ident("request") => {
                    found.extend(missing_of_request(module, items, &call.mac.tokens.to_string()));
                }
                _ => {}
            }
        }
    }
    found
}

fn missing_of(module: &ModulePath, attributes: &[Attribute], signature: &Signature) -> Vec<String> {
    if attributes.iter().any(is_hidden) {
        return Vec::new();
    }
    let is_async = signature.asyncness.is_some();
    let headings = [
        (is_async, "# Cancel safety"),
        (is_async, "# Examples"),
        (is_result(&signature.output), "# Errors"),
    ];
    let text = text_of(attributes);
    let missing =
        headings.into_iter().filter(|(is_due, heading)| *is_due && !text.contains(heading));
    missing
        .map(|(_, heading)| format!("{}::{}: {heading}", module.join("::"), signature.ident))
        .collect()
}

/// A request is a type that is awaited: `request!(Acquire => Result<…>)` makes it one. Its
/// documentation says what happens if the request is dropped, or names the request whose
/// documentation does.
fn missing_of_request(module: &ModulePath, items: &[Item], call: &str) -> Option<String> {
    let name = call.split_whitespace().next()?;
    let mut structs = items.iter().filter_map(|item| match item {
        Item::Struct(item) if item.ident == name => Some(text_of(&item.attrs)),
        _ => None,
    });
    let text = structs.next()?;
    let is_said = text.contains("# Cancel safety") || text.contains("for everything else");
    (!is_said).then(|| format!("{}::{name}: # Cancel safety", module.join("::")))
}

fn is_result(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let Type::Path(path) = ty.as_ref() else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Result")
}

fn text_of(attributes: &[Attribute]) -> String {
    let docs = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let lines = docs.filter_map(|doc| match &doc.meta.require_name_value().ok()?.value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(line) => Some(line.value()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}
