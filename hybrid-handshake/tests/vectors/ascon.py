"""Ascon-AEAD128 (NIST SP 800-232), sealing only."""

MASK = (1 << 64) - 1
IV = 0x00001000808C0001
RATE = 16


def seal(key, nonce, ad, text):
    """Ciphertext and tag (sections 4.1.1 and 4.1.2)."""
    k0, k1 = words(key)
    s = [IV, k0, k1, *words(nonce)]
    permute(s, 12)
    s[3] ^= k0
    s[4] ^= k1
    if ad:
        for block in blocks(ad):
            absorb(s, block)
            permute(s, 8)
    s[4] ^= 1 << 63  # domain separation
    out = b""
    *whole, last = blocks(text)
    for block in whole:
        absorb(s, block)
        out += squeeze(s)
        permute(s, 8)
    absorb(s, last)
    out += squeeze(s)[: len(text) % RATE]
    s[2] ^= k0
    s[3] ^= k1
    permute(s, 12)
    return out + (s[3] ^ k0).to_bytes(8, "little") + (s[4] ^ k1).to_bytes(8, "little")


def blocks(data):
    """Blocks of the rate; the last one is padded by a one and zeros, and never whole before."""
    data += b"\x01" + bytes(-(len(data) + 1) % RATE)
    return [data[at : at + RATE] for at in range(0, len(data), RATE)]


def words(block):
    return int.from_bytes(block[:8], "little"), int.from_bytes(block[8:], "little")


def absorb(s, block):
    a, b = words(block)
    s[0] ^= a
    s[1] ^= b


def squeeze(s):
    return s[0].to_bytes(8, "little") + s[1].to_bytes(8, "little")


def permute(s, rounds):
    """Ascon-p (section 3)."""
    for i in range(12 - rounds, 12):
        s[2] ^= 0xF0 - 15 * i
        s[0] ^= s[4]
        s[4] ^= s[3]
        s[2] ^= s[1]
        t = [~s[j] & MASK & s[(j + 1) % 5] for j in range(5)]
        for j in range(5):
            s[j] ^= t[(j + 1) % 5]
        s[1] ^= s[0]
        s[0] ^= s[4]
        s[3] ^= s[2]
        s[2] ^= MASK
        for j, (a, b) in enumerate([(19, 28), (61, 39), (1, 6), (10, 17), (7, 41)]):
            s[j] ^= rotate(s[j], a) ^ rotate(s[j], b)


def rotate(word, by):
    return (word >> by | word << (64 - by)) & MASK


# The first test of NIST's known answers: key and nonce 00 01 .. 0f, nothing to authenticate or to encrypt.
assert seal(bytes(range(16)), bytes(range(16)), b"", b"").hex() == "4427d64b8e1e1451fc445960f0839bb0"
