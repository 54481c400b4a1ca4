"""Lines with made-up secrets, put together when the tests run.

Nothing in this file looks like a secret by itself: prefixes, separators and values only meet in
`secret_lines`. Values come from one seeded generator, so every run sees the same lines.
"""

import base64
import random
import string
from collections.abc import Iterator
from uuid import UUID

import attrs

LOWER_DIGITS = string.ascii_lowercase + string.digits
ALPHANUMERIC = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


@attrs.frozen
class SecretLine:
    """A line, the part of it that must go, its kind, and a part that must stay."""

    kind: str
    text: str
    secret: str
    keep: str = ""


class Maker:
    """Makes up values."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def run(self, alphabet: str, size: int) -> str:
        """A run that has a lower-case letter, an upper-case one and a digit where it can."""
        while True:
            value = "".join(self._random.choice(alphabet) for _ in range(size))
            classes = (str.islower, str.isupper, str.isdigit)
            if all(any(map(is_one, value)) or not any(map(is_one, alphabet)) for is_one in classes):
                return value

    def uuid(self) -> str:
        """A random UUID in the usual spelling."""
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def password(self) -> str:
        """A word with digits and a sign, as people make them."""
        word = self._random.choice(("heron", "willow", "Copper", "lantern", "Tundra"))
        return f"{word}{self._random.randrange(100, 9999)}{self._random.choice('!#$_')}"


def join(*pieces: str) -> str:
    """Pieces of a prefix that shouldn't stand whole in a source file."""
    return "".join(pieces)


def secret_lines(seed: int = 11) -> Iterator[SecretLine]:
    """At least one line for every form that the redactor knows."""
    make = Maker(seed)
    yield from _capabilities(make)
    yield from _tokens(make)
    yield from _access(make)
    yield from _told(make)
    yield from _numbers_and_blobs(make)


def _capabilities(make: Maker) -> Iterator[SecretLine]:
    key = make.uuid()
    yield SecretLine("cap", f"seed http://grid.example:9000/CAPS/{key}0000/ ok", key, "seed")
    key = make.uuid()
    yield SecretLine("cap", f"GetTexture http://127.0.0.1:9000/{key} works", key, "works")
    key = make.uuid()
    host = "simhost-1.agni.secondlife.io:12043"
    yield SecretLine("cap", f"my cap https://{host}/cap/{key} is slow", key, "is slow")
    key = make.uuid()
    yield SecretLine("cap", f"queue at /CE/{key} died", key, "died")
    for form in ("lslhttp", "lslhttps"):
        key = make.uuid()
        yield SecretLine("cap", f"door http://h.example:9000/{form}/{key} open", key, "open")
    key = make.uuid()
    yield SecretLine("cap", f"https%3A%2F%2F{host}%2Fcap%2F{key}", key)
    key = make.uuid()
    yield SecretLine("cap", f"capability: {key}", key)
    key = make.uuid()
    yield SecretLine("session", f"secure_session_id: {key} leaked", key, "leaked")


def _tokens(make: Maker) -> Iterator[SecretLine]:
    for prefix, alphabet, size in (
        (join("gh", "p_"), ALPHANUMERIC, 36),
        (join("gl", "pat-"), ALPHANUMERIC, 20),
        (join("AK", "IA"), string.ascii_uppercase + "234567", 16),
        (join("sk", "-ant-api03-"), ALPHANUMERIC, 80),
        (join("xo", "xb-"), ALPHANUMERIC, 40),
        (join("s", "k_live_"), ALPHANUMERIC, 24),
        (join("h", "f_"), string.ascii_letters, 34),
        (join("sh", "pat_"), HEX, 32),
        (join("AI", "za"), ALPHANUMERIC, 35),
    ):
        value = make.run(alphabet, size)
        yield SecretLine("token", f"here: {prefix}{value} thanks", value, "thanks")
        yield SecretLine("token", f'"x": "{prefix}{value}",', value, '"x": ')
    value = make.run(ALPHANUMERIC, 32)
    yield SecretLine("token", f"api_key = {value}", value, "api_key")
    value = make.run(LOWER_DIGITS, 32)
    yield SecretLine("token", f"adafruit: {value}", value, "adafruit")
    value = make.run(ALPHANUMERIC, 44)
    yield SecretLine("token", f"I found {value} on a napkin", value, "napkin")
    value = make.run(LOWER_DIGITS, 32)
    spaced = " ".join(join("gh", "p_") + value[:8])
    yield SecretLine("token", f"read {spaced} aloud", " ".join(value[:8]))
    value = make.run(ALPHANUMERIC, 40)
    half = value[:20], value[20:]
    yield SecretLine("token", f"{join('gh', 'p_')}{half[0]}\n{half[1]}", half[1])
    parts = [
        base64.urlsafe_b64encode(part).decode().rstrip("=")
        for part in (b'{"alg":"HS256"}', b'{"sub":"1234567890"}')
    ]
    signature = make.run(ALPHANUMERIC, 43)
    yield SecretLine("jwt", ".".join([*parts, signature]), signature)


def _access(make: Maker) -> Iterator[SecretLine]:
    body = "\n".join(make.run(ALPHANUMERIC, 64) for _ in range(3))
    name = join("PRIV", "ATE KEY")
    pem = f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"
    yield SecretLine("pem", f"key:\n{pem}\nbye", body.splitlines()[1], "bye")
    value = make.run(ALPHANUMERIC, 40)
    yield SecretLine("auth", f"Authorization: Bearer {value}", value)
    value = base64.b64encode(b"ada:" + make.password().encode()).decode()
    yield SecretLine("auth", f"Authorization: Basic {value}", value)
    value = make.run(ALPHANUMERIC, 32)
    yield SecretLine("cookie", f"Cookie: theme=dark; sid={value}", value)
    value = make.run(ALPHANUMERIC, 24)
    yield SecretLine("url", f"see https://x.example/a?b=1&access_token={value} now", value, "now")
    value = make.run(HEX, 64)
    yield SecretLine("url", f"https://x.example/o.png?X-Amz-Signature={value}", value)
    value = make.run(ALPHANUMERIC, 16)
    yield SecretLine("url", f"join https://t.me/+{value} all", value, "all")
    value = make.password()
    yield SecretLine("credential", f"clone https://ada:{value}@git.example/r now", value, "now")


def _told(make: Maker) -> Iterator[SecretLine]:
    for before, after in (
        ("my password is ", " ok?"),
        ("PASSWORD: ", ""),
        ("use ", " as the password"),
        ("pwd=", ";"),
        ("Das Passwort lautet ", ""),
        ("mot de passe : ", ""),
        ("la contraseña es ", ""),
        ("пароль ", ""),
        ("密码是", ""),
        ("my p\u200bass\u00adword is ", ""),
        ("my \uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44 is ", ""),
        ("my p\u0430ssw\u043erd is ", ""),
        ("--password=", ""),
    ):
        value = make.password()
        yield SecretLine("credential", f"{before}{value}{after}", value[:-1])
    for template in ("password is %s", "passphrase: %s"):
        yield SecretLine("credential", template % "correct horse battery staple", "battery")
    yield SecretLine("code", "my 2fa code is 172745", "172745")
    yield SecretLine("code", "the alarm code is 90417", "90417")
    yield SecretLine("code", "my PIN is 4821", "4821")
    words = "ripple canyon oyster velvet hammer pigeon"
    yield SecretLine("seed", f"my seed phrase is {words}", "velvet")


def _numbers_and_blobs(make: Maker) -> Iterator[SecretLine]:
    card = " ".join(["4111", *["1111"] * 3])
    yield SecretLine("card", f"card {card} thanks", card, "thanks")
    value = make.run(ALPHANUMERIC, 160)
    yield SecretLine("blob", f"data:image/png;base64,{value}", value)
    yield SecretLine("blob", f"asset {value} end", value, "end")
    value = base64.b64encode(b"http://grid.example/cap/1234").decode()
    yield SecretLine("token", f"look: {value}", value, "look")


ORDINARY_LINES: tuple[str, ...] = (
    "hi all, how are you today?",
    "I forgot my password again",
    "the password is wrong, try again",
    "password: ********",
    "the secret is to stir slowly",
    "Cookie Monster: me want cookie!",
    "my avatar key is 89556747-24cb-43ed-920b-47caed15465f",
    "key: 89556747-24cb-43ed-920b-47caed15465f",
    "the session is at 5, session 2 of 5",
    "secondlife:///app/teleport/Violet/10/20/30",
    "http://maps.secondlife.com/secondlife/Ahern/128/128/22",
    "hop://hg.osgrid.example:80/Wright%20Plaza/128/128/25",
    "http://world.secondlife.com/resident/89556747-24cb-43ed-920b-47caed15465f",
    "fixed in 777be4382c0b55a1063c73ea9b1eeb0e4a6a2e39",
    "git checkout v1.2.3-rc4",
    "Firestorm 7.1.9.74745 (64bit)",
    "llSay(0, \"Hello, Avatar!\"); key owner = llGetOwner();",
    "password = getpass.getpass()",
    "你好，今天天气怎么样？ 密码错误",
    "привет, как дела? مرحبا، كيف حالك اليوم؟",
    "می‌خواهم بروم خانه",
    "👩‍👩‍👧‍👦 family night! 🏳️‍🌈",
    "error code 1045, exit code 139, zip code 90210",
    "order #1234567890123456 shipped",
    "use ext4 as filesystem for the drive",
    "the box key is under the mat, pin 12 is ground",
)  # fmt: skip
"""Lines of ordinary chat that must come through unchanged."""
