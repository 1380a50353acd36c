//! TLS: trusted certificates, and the expected server name.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::LoadError;
use crate::target::{Scheme, Target};

/// Made once for a load; connections share its sessions, as those of a browser do.
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Tls {
    /// `None` for a target that speaks http.
    pub(crate) fn new(target: &Target, roots_pem: &str) -> Result<Option<Self>, LoadError> {
        if target.scheme == Scheme::Http {
            return Ok(None);
        }
        let name = ServerName::try_from(target.host.clone()).map_err(|_| {
            LoadError::Plan(format!(
                "`{}` cannot be the name in a certificate",
                target.host
            ))
        })?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(wrong)?
            .with_root_certificates(roots(roots_pem)?)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Some(Tls {
            config: Arc::new(config),
            name,
        }))
    }

    pub(crate) fn connection(&self) -> Result<ClientConnection, rustls::Error> {
        let mut connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone())?;
        // A request is handed over whole, whatever its size; it is in memory anyway.
        connection.set_buffer_limit(None);
        Ok(connection)
    }
}

/// The well-known authorities and those given.
fn roots(pem: &str) -> Result<RootCertStore, LoadError> {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|error| {
            LoadError::Plan(format!("the trusted certificates cannot be read: {error}"))
        })?;
        roots.add(certificate).map_err(wrong)?;
    }
    Ok(roots)
}

fn wrong(error: rustls::Error) -> LoadError {
    LoadError::Plan(format!("https is not available: {error}"))
}
