//! Numbers packed for the page: variable-length integers, then base64, since a page can hold only text.

/// Adds a number, seven bits to the byte.
pub fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Adds a number that may be negative, so that small ones stay short.
pub fn signed(bytes: &mut Vec<u8>, value: i64) {
    number(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

/// Bytes as text.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_everybody_writes_base64() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn numbers() {
        let mut bytes = Vec::new();
        number(&mut bytes, 300);
        signed(&mut bytes, -1);
        signed(&mut bytes, 64);
        assert_eq!(bytes, [0xac, 0x02, 0x01, 0x80, 0x01]);
    }
}
