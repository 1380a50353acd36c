//! Where the sources of the workspace use messages: `message!("id", argument, other = value)`,
//! `word!("id")` and `messages::named("family", …)`.

use std::path::Path;

#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub(crate) messages: Vec<Use>,
    pub(crate) families: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) file: String,
    pub(crate) id: String,
    pub(crate) arguments: Vec<String>,
}

pub(crate) fn in_sources() -> Uses {
    let mut uses = Uses::default();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        // Its own documentation has examples.
        if !folder.ends_with("messages") && folder.join("src").is_dir() {
            search(&folder.join("src"), &mut uses);
        }
    }
    uses
}

fn search(folder: &Path, uses: &mut Uses) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path, uses);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            read(&path.display().to_string(), &text, uses);
        }
    }
}

fn read(file: &str, text: &str, uses: &mut Uses) {
    let in_message = text.split("message!(").skip(1);
    for found in in_message.chain(text.split("word!(").skip(1)) {
        let parts = parts(found);
        let id = parts.first().and_then(|id| literal(id));
        let id = id.unwrap_or_else(|| panic!("{file}: the id of a message is a literal"));
        let name = |part: &String| part.split('=').next().unwrap_or_default().trim().to_owned();
        let arguments = parts[1..].iter().map(name);
        uses.messages.push(Use {
            file: file.to_owned(),
            id,
            arguments: arguments.filter(|name| !name.is_empty()).collect(),
        });
    }
    for found in text.split("messages::named(").skip(1) {
        let family = parts(found).first().and_then(|family| literal(family));
        uses.families
            .push(family.unwrap_or_else(|| panic!("{file}: a family is a literal")));
    }
}

/// What commas part, up to the bracket that ends the call.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    let mut in_text = false;
    let mut before = ' ';
    for letter in text.chars() {
        let is_end = depth == 0 && letter == ')';
        match letter {
            '"' if before != '\\' => in_text = !in_text,
            _ if in_text => {}
            _ if is_end => break,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        match letter {
            ',' if depth == 0 && !in_text => parts.push(String::new()),
            letter => parts.last_mut().unwrap().push(letter),
        }
        before = letter;
    }
    parts
}

fn literal(text: &str) -> Option<String> {
    let text = text.trim().strip_prefix('"')?.strip_suffix('"')?;
    Some(text.to_owned())
}
