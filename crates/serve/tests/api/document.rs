//! Tests of the document of the API.

use seinpaal::Seinpaal;
use serde_json::Value;

use super::{
    Outcome,
    support::{object, programs},
};

/// Returns the descriptions of the fields of bodies and answers: `SCHEMA.FIELD` and the text.
fn described_fields(document: &Value) -> Vec<(String, String)> {
    let schemas = document["components"]["schemas"].as_object().into_iter().flatten();
    let fields = schemas.flat_map(|(schema, body)| {
        let fields = body["properties"].as_object().into_iter().flatten();
        fields.map(move |(field, body)| (format!("{schema}.{field}"), text_of(body)))
    });
    fields.collect()
}

/// Returns the descriptions of the parameters of addresses.
fn described_parameters(document: &Value) -> Vec<(String, String)> {
    let operations = document["paths"].as_object().into_iter().flatten();
    let operations = operations.flat_map(|(_, at)| at.as_object().into_iter().flatten());
    let parameters =
        operations.flat_map(|(_, at)| at["parameters"].as_array().into_iter().flatten());
    let parameters = parameters.map(|it| (it["name"].to_string(), text_of(it)));
    parameters.collect()
}

/// Returns the description of a field. A field that may be null has it beside the schema of its
/// other values.
fn text_of(described: &Value) -> String {
    let others = described["oneOf"].as_array().into_iter().flatten();
    let texts = [described].into_iter().chain(others).map(|it| it["description"].as_str());
    texts.flatten().next().unwrap_or_default().replace('\n', " ")
}

/// A phrase of two words leaves a reader to guess what a number counts, and in which unit.
#[tokio::test(flavor = "multi_thread")]
async fn the_document_describes_each_field_and_parameter_in_sentences_with_its_unit() -> Outcome {
    let site = programs(&Seinpaal::in_memory()).await?;
    let document = object(&site.get("/v1/openapi.json").await?);
    let fields = described_fields(&document);
    assert!(fields.len() > 100, "{}", fields.len());
    let parameters = described_parameters(&document);
    let unclear: Vec<_> = fields.iter().chain(&parameters).filter(|it| !is_clear(it)).collect();
    assert!(unclear.is_empty(), "{unclear:#?}");
    Ok(())
}

fn is_clear((field, text): &(String, String)) -> bool {
    let is_sentence = text.starts_with(|first: char| first.is_uppercase() || first == '`')
        && text.ends_with('.')
        && text.split(' ').count() >= 4;
    is_sentence && (!field.ends_with("_ms") || text.contains("milliseconds"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_lists_every_address_and_every_status() -> Outcome {
    let site = programs(&Seinpaal::in_memory()).await?;
    let document = object(&site.get("/v1/openapi.json").await?);
    let paths = document["paths"].as_object().ok_or("no paths")?;
    let operations = paths.values().filter_map(Value::as_object).map(|at| at.len());
    assert_eq!((paths.len(), operations.sum::<usize>()), (29, 35));
    for (path, at) in paths {
        for (method, operation) in at.as_object().into_iter().flatten() {
            let described = operation["responses"].as_object().ok_or("no responses")?;
            assert!(
                ["400", "401", "429", "503"].iter().all(|status| described.contains_key(*status)),
                "{method} {path}"
            );
            assert!(
                operation["summary"].is_string() || operation["description"].is_string(),
                "{method} {path}"
            );
        }
    }
    Ok(())
}
