//! Known currencies: a price in any other is an error of its list.

use model::Currency;

/// ISO 4217, of places with money of their own (2024).
const CODES: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP \
BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD \
GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP \
LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN \
PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS \
TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG";

/// Every code takes this many bytes of [`CODES`], which are in order.
const WIDTH: usize = 4;

pub fn known_currency(code: &str) -> Result<Currency, String> {
    let currency: Currency = code.parse()?;
    let at = |place: usize| {
        CODES
            .get(place * WIDTH..place * WIDTH + 3)
            .unwrap_or_default()
    };
    let (mut low, mut high) = (0, CODES.len().div_ceil(WIDTH));
    while low < high {
        let middle = low.midpoint(high);
        match at(middle) < code {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    match at(low) == code {
        true => Ok(currency),
        false => Err(format!("`{code}` is not a known currency")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_are_found_and_others_not() {
        let codes: Vec<&str> = CODES.split(' ').collect();
        assert!(codes.is_sorted() && codes.iter().all(|code| code.len() == 3));
        assert!(codes.iter().all(|code| known_currency(code).is_ok()));
        for code in ["XYZ", "AAA", "ZZZ", "usd", "US", ""] {
            assert!(known_currency(code).is_err(), "{code}");
        }
    }
}
