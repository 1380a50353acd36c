use serde_json::{Value, json};
pub fn schema() -> Value {
    json!({})
}
