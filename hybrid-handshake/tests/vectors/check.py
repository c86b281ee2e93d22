#!/usr/bin/env python3
"""A second implementation of HKM1's symmetric half, written from docs/protocol.md, against the vector files beside it.

Everything in a file is computed again from its inputs and the KEMs' ciphertexts and shared secrets, which are taken as they
stand. `python3 check.py` checks all files; the only package it needs is `cryptography`.
"""

import hashlib
import hmac
import json
import pathlib
import sys
import zlib

from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ascon import seal as ascon_seal

ZERO = bytes(32)
PSK, KEM, ANONYMOUS, RESUME = 2, 1, 3, 4
KEMS = {1: "mlkem512", 2: "mlkem768", 3: "mlkem1024", 0x10: "ctrulight", 0x19: "ctrulightsha3"}
MLKEM = {1, 2, 3}
CTRULIGHT = {0x10, 0x19}


def main():
    folder = pathlib.Path(__file__).parent
    files = sorted(folder.glob("*.json"))
    checked = 0
    for path in files:
        try:
            content = json.loads(path.read_text())
            checked += parts(content) if path.name == "parts.json" else suite(content)
        except AssertionError as error:
            sys.exit(f"{path.name}: {error}")
        print(f"{path.name}: ok")
    if len(files) != 4 or checked < 500:
        sys.exit(f"only {checked} values in {len(files)} files: something is missing")
    print(f"{checked} values checked")


def suite(file):
    """One file: every mode of one suite, the session of mode 4 last."""
    checked, rms = 0, {}
    kem, low = bytes.fromhex(file["suite"])
    usual = "-p2" if low & 15 == 1 and low >> 4 in (2, 6) else "-p1" if low & 15 == 2 and low >> 4 in (1, 5) else ""
    group, aead = "x25519" if low >> 4 < 5 else "p256", "ascon" if low & 15 == 1 else "chacha20poly1305"
    assert file["name"] == f"{group}-{KEMS[kem]}-{aead}{usual}", "name"
    for session in file["sessions"]:
        try:
            checked += Session(file, session, rms).check()
        except AssertionError as error:
            raise AssertionError(f"mode {session['mode']}: {error}") from None
    modes = [session["mode"] for session in file["sessions"]]
    profile = int(file["suite"], 16) >> 4 & 0xF
    assert modes == ([1, 2, 3, 4] if profile in (2, 6) else [1, 2, 4]), f"modes {modes}"
    return checked


class Session:
    """One session. Names are those of the protocol; `given` are the file's values, each used or compared once."""

    def __init__(self, file, session, tickets):
        self.file, self.session, self.tickets = file, session, tickets
        self.mode, self.inputs = session["mode"], session["inputs"]
        self.suite = bytes.fromhex(file["suite"])
        self.kem, low = self.suite
        self.group = {1: X25519, 2: X25519, 5: P256, 6: P256}[low >> 4]
        self.has_es = low >> 4 in (2, 6) and self.mode != RESUME
        self.aead = {1: Ascon, 2: ChaCha20}[low & 15]
        self.id = b"" if self.mode == ANONYMOUS else file["id"].encode()
        self.broker_key = bytes.fromhex(file["broker"]["key"])
        self.device_key = bytes.fromhex(file["device"]["key"])
        self.gx_b = self.broker_key[-self.group.share_len :]
        self.client = Generator(self.input("client os bytes"))
        self.broker = Generator(self.input("broker os bytes"))
        self.given, self.checked = {}, 0

    def check(self):
        self.resumed = self.open_ticket(self.input("ticket")) if self.mode == RESUME else None
        if self.resumed and not self.resumed["id"].strip(b"\0"):
            self.id = b""
        self.given = dict(self.session["values"])
        self.handshake()
        self.packets()
        self.exporter()
        ticket = self.ticket()
        self.ends("values")
        up, down = Stream(self, self.c), Stream(self, self.b)
        down.counter = 1  # box4 was 0
        flow = [("broker", "control", b"\x01" + u16(128) + u32(self.session["ticket"]["lifetime"]) + ticket)]
        if self.mode != RESUME:
            flow.append(("broker", "control", b"\x03" + u16(32) + self.input("successor")))
        flow += [("client", "data", PUBLISH), ("broker", "data", PINGRESP)]
        records = iter(self.session["records"])
        self.records(records, flow, up, down)
        if self.id:
            self.given = dict(self.session["reauth"])
            messages = self.reauthentication()
            self.ends("reauth")
            self.records(records, list(zip(["client", "broker"] * 2, ["control"] * 4, messages)), up, down)
            up.rekey(self.c)
            down.rekey(self.b)
            flow = [("client", "control", b""), ("broker", "data", PINGRESP), ("client", "data", PUBLISH)]
            self.records(records, flow, up, down)
        assert next(records, None) is None, "records left over"
        assert "reauth" in self.session or not self.id
        self.equal("draws", self.client.draws, [bytes.fromhex(d) for d in self.session["draws"]["client"]])
        self.equal("draws", self.broker.draws, [bytes.fromhex(d) for d in self.session["draws"]["broker"]])
        return self.checked

    # The handshake: sections 2 and 3.

    def handshake(self):
        kem_b = self.broker_key[0]
        h0 = self.value("h0", sha(b"HKM1 broker key", self.broker_key))
        self.kid = h0[:8]

        n_p = self.client.draw(16)
        x_e = self.group.draw(self.client)
        e_p = self.value("e_P", self.group.share(x_e))
        record, packet = self.inputs["client limits"]
        m1 = b"\x01" + self.suite + bytes([self.mode, 0]) + u16(record) + u16(packet) + self.kid + n_p + e_p
        if self.mode == RESUME:
            m1 += self.input("ticket")
            ikm = self.resumed["rms"]
        else:
            assert kem_b in MLKEM
            self.client.draw(32)  # coins of ct_B
            m1 += self.take("ct_B")
            ikm = self.take("ss_B")
            if self.has_es:
                ikm += self.value("es", self.group.agree(bytes.fromhex(self.file["broker"]["x"]), e_p))
        h1 = self.value("h1", sha(b"HKM1", h0, m1))
        ck1, k1 = self.mix(ZERO, ikm, h1)
        self.value("ck1", ck1)
        self.value("k1", k1)
        box1 = self.value("box1 plaintext", self.id.ljust(32, b"\0") + u16(self.inputs["capabilities"]))
        box1 = self.aead.seal(k1, self.aead.zero, h1, box1)
        self.flight("M1", m1 + box1)

        self.broker.stir(h1)
        options = self.inputs["capabilities"] & self.inputs["broker options"]
        if not self.id:
            options &= ~4
        n_b, y_e, e_b, ct_p, pk_v, s, ss_p = self.offer(self.mode)
        record, connect = self.inputs["broker limits"]
        m2 = n_b + u64(self.inputs["time"]) + u16(record) + u16(connect) + u16(options) + e_b + ct_p + pk_v
        self.value("H(cred)", sha(self.credential()))
        h2 = self.value("h2", sha(h1, box1, sha(self.credential()), m2))
        self.value("s", s)
        ck2, k2 = self.mix(ck1, s, h2)
        self.value("ck2", ck2)
        self.value("k2", k2)
        box2 = self.aead.seal(k2, self.aead.zero, h2, b"")
        self.flight("M2", m2 + box2)

        self.client.stir(h2)
        ct_v, ikm = self.answer(x_e, y_e, e_p, e_b, ss_p)
        h3 = self.value("h3", sha(h2, box2, ct_v))
        ck3, k3 = self.mix(ck2, ikm, h3)
        self.value("ck3", ck3)
        self.value("k3", k3)
        box3 = self.aead.seal(k3, self.aead.zero, h3, self.input("CONNECT"))
        self.flight("M3", ct_v + box3)

        self.th = self.value("th", sha(h3, box3))
        self.secrets(ck3, self.th, ["c", "b", "rms", "exp", "reauth"])
        self.tickets[self.session["ticket"]["sealed"]] = self.rms
        key, iv = self.aead.keys(self.b)
        self.flight("M4", self.aead.seal(key, iv, b"", self.input("CONNACK")))

    def offer(self, mode):
        """The broker's fresh part of M2 and of a re-authentication, and what goes into Mix with it."""
        n_b = self.broker.draw(16)
        y_e = self.group.draw(self.broker)
        e_b = self.value("e_B", self.group.share(y_e))
        self.keygen_draws()
        pk_v = self.take("pk_v")
        ct_p = ss_p = b""
        s = ZERO
        if mode == KEM:
            self.broker.draw(32)  # coins of ct_P
            ct_p, ss_p = self.take("ct_P"), self.take("ss_P")
            s = self.group.agree(bytes.fromhex(self.file["device"]["x"]), self.gx_b)
        elif mode == PSK:
            s = bytes.fromhex(self.file["psk"])
        return n_b, y_e, e_b, ct_p, pk_v, s, ss_p

    def answer(self, x_e, y_e, e_p, e_b, ss_p):
        """ct_v, and the input of the last Mix."""
        self.client.draw(32)  # coins of ct_v
        ee = self.value("ee", self.group.agree(x_e, e_b))
        assert ee == self.group.agree(y_e, e_p)
        return self.take("ct_v"), self.take("ss_v") + ee + ss_p

    def keygen_draws(self):
        """How often CTRU-Light had to draw d again, only the KEM knows; what comes next is never 16 bytes in between."""
        if self.kem in MLKEM:
            self.broker.draw(64)
            return
        assert self.kem in CTRULIGHT
        recorded = self.session["draws"]["broker"][len(self.broker.draws) :]
        until_16 = next((at for at, draw in enumerate(recorded) if len(draw) == 32), len(recorded))
        credential = self.mode if self.resumed is None else self.resumed["mode"]
        mode_of_offer = self.mode if "h2" in self.given else credential
        draws = until_16 - (1 if mode_of_offer == KEM else 0)
        assert draws >= 2, "d at least once, then z"
        for _ in range(draws):
            self.broker.draw(32)

    def credential(self):
        cred = bytes([self.mode, len(self.id)]) + self.id
        if self.mode == KEM:
            cred += self.device_key[:1] + self.device_key[2:]
        return cred

    # Section 4.1.

    def reauthentication(self):
        mode = self.mode if self.resumed is None else self.resumed["mode"]

        def message(reason, fields):
            return b"\x04" + u16(1 + len(fields)) + bytes([reason]) + fields

        n_p = self.client.draw(16)
        x_e = self.group.draw(self.client)
        e_p = self.value("e_P", self.group.share(x_e))
        request = message(0x19, n_p + e_p)
        n_b, y_e, e_b, ct_p, pk_v, s, ss_p = self.offer(mode)
        self.value("s", s)
        offer = message(0x18, n_b + e_b + ct_p + pk_v)
        ct_v, ikm = self.answer(x_e, y_e, e_p, e_b, ss_p)
        answer = message(0x18, ct_v)
        hr = self.value("hr", sha(self.th, request, offer, answer))
        ck2 = self.value("ck2", self.mix(self.reauth, s, hr)[0])
        ck3 = self.value("ck3", self.mix(ck2, ikm, hr)[0])
        self.secrets(ck3, hr, ["c", "b", "exp", "reauth"])
        return [request, offer, answer, message(0x00, b"")]

    # Section 3.1.

    def packets(self):
        _, limit = self.inputs["client limits"]
        flights = {name: bytes.fromhex(flight) for name, flight in self.session["flights"].items()}

        def properties(data):
            fields = b"\x15\x00\x04HKM1" + (b"" if data is None else b"\x16" + u16(len(data)) + data)
            return varint(len(fields)) + fields

        def packet(first, body):
            return bytes([first]) + varint(len(body)) + body

        def auth(data):
            return packet(0xF0, b"\x18" + properties(data))

        expected = [packet(0x10, b"\x00\x04MQTT\x05\x02\x00\x00" + properties(flights["M1"]) + b"\x00\x00")]
        size = limit - 18
        pieces = [flights["M2"][at : at + size] for at in range(0, len(flights["M2"]), size)]
        for at, piece in enumerate(pieces):
            expected.append(auth(piece))
            assert len(expected[-1]) <= limit, "a piece above the packet limit"
            if at + 1 < len(pieces):
                expected.append(auth(None))
        expected.append(auth(flights["M3"]))
        expected.append(packet(0x20, b"\x00\x00" + properties(flights["M4"])))
        self.equal("packets", expected, [bytes.fromhex(p["packet"]) for p in self.session["packets"]])
        senders = ["client", "broker"] * (len(expected) // 2)
        self.equal("senders", senders, [p["from"] for p in self.session["packets"]])

    # Sections 2 and 5.

    def exporter(self):
        given = self.session["exporter"]
        secret = expand(self.exp, given["label"].encode(), sha(bytes.fromhex(given["context"])), 32)
        self.equal("exporter", secret.hex(), given["secret"])

    def ticket(self):
        """The ticket that the broker sends in this session."""
        given, time = self.session["ticket"], self.inputs["time"]
        last = self.resumed
        fields = {
            "mode": last["mode"] if last else self.mode,
            "id padded": self.id.ljust(32, b"\0").hex(),
            "credential generation": given["credential generation"],
            "issued": time,
            "full handshake": last["full handshake"] if last else time,
            "resumptions": last["resumptions"] + 1 if last else 0,
        }
        fields["lifetime"] = fields["full handshake"] + 86400 - time
        salt = self.broker.draw(16)
        text = self.suite + bytes([fields["mode"]]) + self.id.ljust(32, b"\0") + u32(fields["credential generation"])
        text += u64(time) + u64(fields["full handshake"]) + bytes([fields["resumptions"]]) + self.rms
        assert len(text) == 88
        key_id = self.ticket_key_id()
        sealed = key_id + salt + ChaCha20.seal(self.ticket_key(salt), ChaCha20.zero, self.kid + key_id + salt, text)
        fields["sealed"] = sealed.hex()
        self.equal("ticket", fields, given)
        return sealed

    def open_ticket(self, ticket):
        """What the broker finds in the ticket that the client came with."""
        key_id, salt = ticket[:4], ticket[4:20]
        kid = sha(b"HKM1 broker key", self.broker_key)[:8]
        assert key_id == self.ticket_key_id(), "ticket of another key"
        text = ChaCha20Poly1305(self.ticket_key(salt)).decrypt(bytes(12), ticket[20:], kid + key_id + salt)
        assert text[:2] == self.suite and len(text) == 88
        rms = text[56:]
        assert self.tickets[ticket.hex()] == rms, "rms of another session"
        number = lambda a, b: int.from_bytes(text[a:b], "big")
        return {
            "mode": text[2],
            "id": text[3:35],
            "full handshake": number(47, 55),
            "resumptions": text[55],
            "rms": rms,
        }

    def ticket_key_id(self):
        return sha(b"HKM1 ticket key", bytes.fromhex(self.file["ticket key"]))[:4]

    def ticket_key(self, salt):
        return expand(bytes.fromhex(self.file["ticket key"]), b"ticket", salt, 32)

    # Section 4.

    def records(self, given, flow, up, down):
        for sender, content, plaintext in flow:
            stream, limit = (down, self.inputs["client limits"][0]) if sender == "broker" else (up, self.inputs["broker limits"][0])
            pieces = [plaintext[at : at + limit] for at in range(0, len(plaintext), limit)] or [b""]
            for piece in pieces:
                expected = {
                    "from": sender,
                    "content": content,
                    "plaintext": piece.hex(),
                    "record": stream.seal(content == "control", piece).hex(),
                }
                self.equal("record", expected, next(given))

    # Values.

    def mix(self, ck, ikm, h):
        x = hmac_sha(ck, ikm)
        return expand(x, b"ck", h, 32), expand(x, b"k", h, self.aead.key_len)

    def secrets(self, ck3, h, labels):
        for label in labels:
            setattr(self, label, self.value(label, expand(ck3, label.encode(), h, 32)))

    def input(self, name):
        return bytes.fromhex(self.inputs[name])

    def take(self, name):
        return bytes.fromhex(self.given.pop(name))

    def value(self, name, computed):
        assert name in self.given, f"{name}: not in the file"
        self.equal(name, computed.hex(), self.given.pop(name))
        return computed

    def flight(self, name, computed):
        self.equal(name, computed.hex(), self.session["flights"][name])

    def equal(self, name, computed, given):
        assert computed == given, f"{name}: computed {computed}, the file has {given}"
        self.checked += 1

    def ends(self, name):
        assert not self.given, f"{name}: not checked: {list(self.given)}"


class Stream:
    """The records of one direction."""

    def __init__(self, session, secret):
        self.aead, self.phase = session.aead, 0
        self.start(secret)

    def start(self, secret):
        self.secret, self.counter = secret, 0
        self.key, self.iv = self.aead.keys(secret)

    def rekey(self, secret):
        self.start(secret)
        self.phase ^= 1

    def seal(self, control, plaintext):
        head = bytes([control << 1 | self.phase]) + varint(len(plaintext) + 16)
        counter = self.counter.to_bytes(len(self.iv), "big")
        nonce = bytes(a ^ b for a, b in zip(self.iv, counter))
        record = head + self.aead.seal(self.key, nonce, head, plaintext)
        self.counter += 1
        if self.counter == 65536:
            self.start(expand(self.secret, b"up", b"", 32))
        return record


class Generator:
    """Section 6."""

    def __init__(self, os_bytes, k=None):
        self.k = k or sha(b"HKM1 drbg", os_bytes)
        self.draws = []

    def draw(self, length):
        out = expand(self.k, b"draw", b"", length)
        self.k = expand(self.k, b"next", b"", 32)
        self.draws.append(out)
        return out

    def stir(self, x):
        self.k = sha(b"HKM1 stir", self.k, x)


def parts(file):
    """What no handshake between honest sides shows."""

    def equal(name, computed, given):
        assert computed == given, f"{name}: computed {computed}, the file has {given}"

    unhex = bytes.fromhex
    decoy, reject, device = file["decoy"], file["reject"], file["device"]
    equal("decoy", hmac_sha(unhex(decoy["D"]), b"HKM1 decoy" + decoy["id"].encode().ljust(32, b"\0")).hex(), decoy["s"])
    equal("reject", sha(b"HKM1 reject", unhex(reject["z"]), unhex(reject["ct"])).hex(), reject["ss"])

    def slot(seed, generation):
        body = seed + u32(generation)
        return body + u32(zlib.crc32(body))

    seeds = [unhex(device["seed"])]
    for _ in range(2):
        seeds.append(sha(b"HKM1 seed", seeds[-1]))
    expected = [["", ""] for _ in seeds]
    for generation, seed in enumerate(seeds):
        expected[generation][generation % 2] = slot(seed, generation).hex()
    equal("slots", expected, device["slots after provisioning and each boot"])
    rng_bytes = unhex(device["rng bytes of the second boot"])
    drbg = Generator(None, sha(b"HKM1 drbg", seeds[1], device["id"].encode().ljust(32, b"\0"), rng_bytes))
    for given in map(unhex, device["draws, each stirred in"]):
        equal("draw", drbg.draw(len(given)), given)
        drbg.stir(given)

    class Direction:
        pass

    for ratchet in file["ratchet"]:
        Direction.aead = {"ascon": Ascon, "chacha20poly1305": ChaCha20}[ratchet["aead"]]
        stream = Stream(Direction, unhex(ratchet["secret"]))
        stream.counter = 65535
        for counter in (65535, 65536):
            name = f"empty control record {counter}"
            equal(name, stream.seal(True, b"").hex(), ratchet[name])
    return 2 + 1 + len(drbg.draws) + 2 * len(file["ratchet"])


class X25519:
    share_len = 32

    @staticmethod
    def draw(generator):
        return generator.draw(32)

    @staticmethod
    def share(secret):
        public = x25519.X25519PrivateKey.from_private_bytes(secret).public_key()
        return public.public_bytes(Encoding.Raw, PublicFormat.Raw)

    @staticmethod
    def agree(secret, share):
        public = x25519.X25519PublicKey.from_public_bytes(share)
        return x25519.X25519PrivateKey.from_private_bytes(secret).exchange(public)


class P256:
    share_len = 65
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

    @classmethod
    def draw(cls, generator):
        while True:
            secret = generator.draw(32)
            if 0 < int.from_bytes(secret, "big") < cls.order:
                return secret

    @staticmethod
    def key(secret):
        return ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256R1())

    @classmethod
    def share(cls, secret):
        return cls.key(secret).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @classmethod
    def agree(cls, secret, share):
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), share)
        return cls.key(secret).exchange(ec.ECDH(), public)


class ChaCha20:
    key_len, zero = 32, bytes(12)

    @staticmethod
    def seal(key, nonce, ad, text):
        return ChaCha20Poly1305(key).encrypt(nonce, text, ad)

    @classmethod
    def keys(cls, secret):
        return expand(secret, b"key", b"", 32), expand(secret, b"iv", b"", 12)


class Ascon:
    key_len, zero = 16, bytes(16)
    seal = staticmethod(ascon_seal)

    @classmethod
    def keys(cls, secret):
        return expand(secret, b"key", b"", 16), expand(secret, b"iv", b"", 16)


def expand(prk, label, h, length):
    out = block = b""
    counter = 1
    while len(out) < length:
        block = hmac_sha(prk, block + b"HKM1 " + label + h + bytes([counter]))
        out += block
        counter += 1
    return out[:length]


def hmac_sha(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def u16(value):
    return value.to_bytes(2, "big")


def u32(value):
    return value.to_bytes(4, "big")


def u64(value):
    return value.to_bytes(8, "big")


def varint(value):
    out = b""
    while True:
        value, low = value >> 7, value & 0x7F
        if not value:
            return out + bytes([low])
        out += bytes([low | 0x80])


PUBLISH = b"\x30\x0b\x00\x05depth\x00\x311"
PINGRESP = b"\xd0\x00"

if __name__ == "__main__":
    main()
