//! What a machine does at its first start, as a shell script: cloud-init runs one on every system that
//! has it, and Google's agent where it has not.

use host::shell::quoted;

/// The account on every machine, whatever the image calls its own.
pub(crate) const USER: &str = "bancada";

pub(crate) struct StartScript<'a> {
    pub(crate) time_limit_seconds: u64,
    pub(crate) host_private_key: &'a str,
    pub(crate) host_public_key: &'a str,
    pub(crate) client_public_key: &'a str,
}

impl StartScript<'_> {
    pub(crate) fn text(&self) -> String {
        let StartScript {
            time_limit_seconds,
            host_private_key,
            host_public_key,
            client_public_key,
        } = self;
        format!(
            "#!/bin/sh\n\
             TIME_LIMIT_SECONDS={time_limit_seconds}\n\
             MACHINE_USER={USER}\n\
             CLIENT_PUBLIC_KEY={}\n\
             HOST_PUBLIC_KEY={}\n\
             HOST_PRIVATE_KEY={}\n\n{}",
            quoted(client_public_key),
            quoted(host_public_key),
            quoted(host_private_key.trim_end()),
            include_str!("start.sh")
        )
    }
}
