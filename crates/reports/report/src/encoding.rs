//! From bytes to text, whatever wrote them: consoles on Windows redirect in UTF-16, old tools quote Latin-1 sources.

use std::borrow::Cow;

/// The text, and whether its bytes had to be taken for Latin-1 because they are not UTF-8.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8_or_latin1(rest),
        [0xff, 0xfe, rest @ ..] => (utf16(rest, u16::from_le_bytes).into(), false),
        [0xfe, 0xff, rest @ ..] => (utf16(rest, u16::from_be_bytes).into(), false),
        // Without its mark: reports begin with a sign of ASCII, and hold no zeroes.
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => {
            (utf16(bytes, u16::from_le_bytes).into(), false)
        }
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => {
            (utf16(bytes, u16::from_be_bytes).into(), false)
        }
        _ => utf8_or_latin1(bytes),
    }
}

fn utf8_or_latin1(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.into(), false),
        Err(_) => (bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(), true),
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn utf16_and_latin1_are_read() {
        assert_eq!(decode(b"\xff\xfea\0\xe4\0"), ("aä".into(), false));
        assert_eq!(decode(b"\xfe\xff\0a\0\xe4"), ("aä".into(), false));
        assert_eq!(decode(b"{\0\xe4\0}\0"), (String::from_utf16(&[0x7b, 0xe4, 0x7d]).unwrap().into(), false));
        assert_eq!(decode(b"\0{\0}"), ("{}".into(), false));
        assert_eq!(decode(b"gr\xfcn"), ("grün".into(), true));
        assert_eq!(decode(b"\xef\xbb\xbfgr\xc3\xbcn"), ("grün".into(), false));
    }
}
