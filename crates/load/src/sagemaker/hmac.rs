//! HMAC-SHA-256.

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

pub(crate) fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    // Only codes whose keys have one length refuse others.
    let code = Hmac::<Sha256>::new_from_slice(key);
    code.map_or([0; 32], |code| {
        code.chain_update(message).finalize().into_bytes().into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::hex;

    fn check(key: &[u8], message: &[u8], expected: &str) {
        assert_eq!(hex(&hmac_sha256(key, message)), expected);
    }

    #[test]
    fn rfc_4231() {
        check(
            &[0x0b; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        );
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(
            &[0xaa; 20],
            &[0xdd; 50],
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
        );
        check(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
    }
}
