//! Money is decimal with a currency. Never `f64`.

mod bill;
mod price;
mod rule;

use std::fmt;
use std::str::FromStr;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

pub use bill::{Bill, BillLine, ConvertedTotal, Counted, LineKind};
pub use price::{OwnMachine, Price, PriceChange, PricedShape};
pub use rule::{
    AroundRun, BillingRule, Charge, Discount, DiscountTerms, Interruptions, MonthOfUse, PaidPhases,
    RentalScope, RuleOrigin, SustainedTier, Unit,
};

/// An ISO 4217 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

impl Currency {
    pub const USD: Currency = Currency(*b"USD");
    pub const BRL: Currency = Currency(*b"BRL");
    pub const EUR: Currency = Currency(*b"EUR");

    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("???")
    }

    /// How people of the place write it before an amount.
    pub fn symbol(&self) -> &str {
        match self.code() {
            "USD" => "US$",
            "BRL" => "R$",
            "EUR" => "€",
            "GBP" => "£",
            code => code,
        }
    }
}

impl FromStr for Currency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.as_bytes() {
            &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_uppercase) => Ok(Currency([a, b, c])),
            _ => Err(format!(
                "`{text}` is not a currency code such as USD, EUR or BRL"
            )),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl Serialize for Currency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    #[serde(with = "rust_decimal::serde::str")]
    pub amount: Decimal,
    pub currency: Currency,
}

impl Money {
    pub fn new(amount: Decimal, currency: Currency) -> Self {
        Money { amount, currency }
    }

    pub fn zero(currency: Currency) -> Self {
        Money {
            amount: Decimal::ZERO,
            currency,
        }
    }
}

/// `200 USD`.
impl FromStr for Money {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("`{text}` is not an amount with a currency, such as \"200 USD\"");
        let (amount, currency) = text
            .trim()
            .split_once(char::is_whitespace)
            .ok_or_else(expected)?;
        Ok(Money {
            amount: amount.parse().map_err(|_| expected())?,
            currency: currency.trim().parse()?,
        })
    }
}

/// `US$ 0.0052`: two decimals from a hundredth up, otherwise enough for two significant digits.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut places = 2;
        let magnitude = self.amount.abs();
        let mut limit = Decimal::new(1, 1);
        while !magnitude.is_zero() && magnitude < limit && places < 10 {
            limit /= Decimal::TEN;
            places += 1;
        }
        let text = format!(
            "{} {:.*}",
            self.currency.symbol(),
            places,
            self.amount.round_dp(places as u32)
        );
        f.pad(&text)
    }
}

/// So many of `to` for one of `from`, on a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExchangeRate {
    pub from: Currency,
    pub to: Currency,
    #[serde(with = "rust_decimal::serde::str")]
    pub rate: Decimal,
    pub date: String,
    pub source: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_write_them() {
        let check = |text: &str, expected: &str| {
            let shown = text.parse::<Money>().map_or_else(|e| e, |m| m.to_string());
            assert_eq!(shown, expected, "{text}");
        };
        check("200 USD", "US$ 200.00");
        check("0.0052 USD", "US$ 0.0052");
        check("0.000091234 USD", "US$ 0.000091");
        check("1.005 EUR", "€ 1.00");
        check("-3.5 BRL", "R$ -3.50");
        check("0 CHF", "CHF 0.00");
        check(
            "200",
            "`200` is not an amount with a currency, such as \"200 USD\"",
        );
        check(
            "x USD",
            "`x USD` is not an amount with a currency, such as \"200 USD\"",
        );
        check(
            "1 usd",
            "`usd` is not a currency code such as USD, EUR or BRL",
        );
    }

    #[test]
    fn money_keeps_its_digits_in_files() {
        let money: Money = "0.1000000000000000000000000001 USD".parse().unwrap();
        let json = serde_json::to_string(&money).unwrap();
        assert_eq!(serde_json::from_str::<Money>(&json).unwrap(), money);
    }
}
