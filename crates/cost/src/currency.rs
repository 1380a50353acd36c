//! Known currencies: a price in any other is an error of its list.

use model::Currency;

/// ISO 4217, of places with money of their own (2024).
const CODES: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP \
BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD \
GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP \
LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN \
PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS \
TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG ";

pub fn known_currency(code: &str) -> Result<Currency, String> {
    let currency: Currency = code.parse()?;
    // A code and a space each, in order.
    let (codes, _) = CODES.as_bytes().as_chunks::<4>();
    match codes.binary_search_by(|known| known[..3].cmp(code.as_bytes())) {
        Ok(_) => Ok(currency),
        Err(_) => Err(format!("`{code}` is not a known currency")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_are_found_and_others_not() {
        let codes: Vec<&str> = CODES.split_terminator(' ').collect();
        assert!(codes.is_sorted() && codes.iter().all(|code| code.len() == 3));
        assert!(codes.iter().all(|code| known_currency(code).is_ok()));
        for code in ["XYZ", "AAA", "ZZZ", "usd", "US", ""] {
            assert!(known_currency(code).is_err(), "{code}");
        }
    }
}
