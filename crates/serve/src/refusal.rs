//! What is answered when a request cannot be fulfilled.

/// A status, and a sentence for the one who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Refusal {
        Refusal {
            status,
            message: message.into(),
        }
    }

    pub(crate) fn unprocessable(message: impl Into<String>) -> Refusal {
        Refusal::new(400, message)
    }

    pub(crate) fn too_large(limit: usize) -> Refusal {
        Refusal::new(413, format!("the body has more than {limit} bytes"))
    }

    pub(crate) fn unsupported(content_type: &str) -> Refusal {
        Refusal::new(
            415,
            format!(
                "the content type `{content_type}` is not supported: use image/jpeg, image/png, application/json or \
                 application/x-npy"
            ),
        )
    }

    pub(crate) fn busy(message: impl Into<String>) -> Refusal {
        Refusal::new(503, message)
    }

    /// Whether it may work in a second.
    pub(crate) fn is_busy(&self) -> bool {
        self.status == 503
    }
}
