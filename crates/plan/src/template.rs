pub fn template() -> String {
    String::new()
}
