//! Names by number, so that sums have small keys.

use std::collections::HashMap;

#[derive(Default)]
pub(crate) struct Names {
    ids: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

impl Names {
    /// `None` for a new one beyond the limit.
    pub(crate) fn id_within(&mut self, limit: usize, name: &str) -> Option<u32> {
        match self.ids.get(name) {
            Some(id) => Some(*id),
            None if self.names.len() >= limit => None,
            None => Some(self.id(name)),
        }
    }

    pub(crate) fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.ids.insert(name.into(), id);
        self.names.push(name.into());
        id
    }

    pub(crate) fn name(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or("", |name| name)
    }
}
