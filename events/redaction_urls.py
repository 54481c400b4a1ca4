"""URLs are parsed, not matched: userinfo, capability paths, signed or secret parameters, hooks."""

import re
from collections.abc import Iterator

from turnfold.events.redaction_access import CAPABILITY_PATH
from turnfold.events.redaction_rule import NOT_MASK, Span
from turnfold.events.redaction_shapes import (
    UUID,
    UUID_OR_HEX,
    has_digit,
    is_random,
    is_secretlike,
    is_uuid,
)
from turnfold.events.redaction_views import MASK

AI = re.ASCII | re.IGNORECASE

_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]{0,20}$", AI)
_REST = re.compile(rf"[^\s{NOT_MASK}\"'<>|\\^`{{}}\u3000-\u303f\uff00-\uffef]+")
_TRAILING = ".,;:!?)]}>*_~'\""

_SECRET_NAMES = frozenset(
    """access_token accesstoken refresh_token refreshtoken id_token idtoken auth_token authtoken
    token tok tk apikey api_key api-key apitoken api_token x-api-key client_secret clientsecret
    secret secretkey secret_key password passwd pwd pass passcode passphrase pw sig signature hmac
    x-amz-signature x-amz-security-token x-amz-credential x-goog-signature x-goog-credential
    awsaccesskeyid ossaccesskeyid policy jwt bearer session_token sessiontoken sessionid session_id
    sid phpsessid jsessionid private_token privatetoken reset_token resettoken verify_token
    invite_token otp authkey auth_key accesskey access_key subscription-key
    ocp-apim-subscription-key sas skey webhook_token csrf csrf_token xsrf _token oauth_token
    oauth_verifier ticket credential credentials assertion samlresponse tkn magic authorization
    userkey user_key app_key appkey license_key""".split()
)
_SECRET_ENDINGS = ("token", "secret", "password", "signature", "apikey", "api_key", "passwd")
_PASSWORD_NAMES = frozenset(("password", "passwd", "pwd", "pass", "pw"))
# Names that hold a secret or something else: only a value that looks like a secret counts.
_DOUBTFUL_NAMES = frozenset(
    "key code auth session state hm k t s hash nonce secret_id share invite link pk u r".split()
)
_PLAIN_VALUES = frozenset(
    "none null true false open closed yes no on off required optional bearer basic".split()
)

_CAPABILITY = re.compile(CAPABILITY_PATH, AI)
_FIRST_IS_UUID = re.compile(rf"/{UUID}(?:0000)?(?:[/?#]|$)")
_EARLY_UUID = re.compile(rf"(?:/[A-Za-z0-9_\-]{{1,24}}){{0,2}}/{UUID_OR_HEX}(?:0000)?(?:[/?#]|$)")
_HOOK = re.compile(
    r"(?:discord(?:app)?\.com/api/(?:v\d{1,3}/)?webhooks/"
    r"|hooks\.slack\.com/|hooks\.zapier\.com/|maker\.ifttt\.com/trigger/"
    r"|api\.telegram\.org/(?:file/)?bot\d|t\.me/(?:joinchat/|\+)"
    r"|chat\.whatsapp\.com/[A-Za-z0-9]{16}"
    r"|signal\.group/#|(?:webhook|outlook)\.office\.com/webhook|\.tines\.com/webhook/"
    r"|thingsboard\.cloud/api/v1/[a-z0-9]{20}|discord\.gg/(?=\w*\d)\w|discord"
    r"(?:app)?\.com/invite/(?=\w*\d)\w"
    r"|open\.feishu\.cn/open-apis/bot|oapi\.dingtalk\.com/robot"
    r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook)",
    AI,
)
_SECRET_SEGMENT = re.compile(
    r"/(?:magic|magic-link|reset|verify|confirm|activate|invite|unsubscribe|share|token|auth|sso"
    r"|login|s|d)/[A-Za-z0-9_\-]{20,}",
    AI,
)
_SEGMENTS = re.compile(r"[/?#]")
_PAIRS = re.compile(r"[&;]")
_PORT = re.compile(r":\d{2,5}$", re.ASCII)
_HIGH_PORT = re.compile(r":\d{4,5}$", re.ASCII)
_PORT_FIRST = re.compile(r"\d{1,5}(?:[/?#]|$)", re.ASCII)


def _is_secret_pair(pair: str) -> bool:
    name, equals, value = pair.partition("=")
    if not equals or not value or MASK in value or value.lower() in _PLAIN_VALUES:
        return False
    name = name.rsplit("?", 1)[-1].rsplit("/", 1)[-1].lower()
    if name in _SECRET_NAMES or name.endswith(_SECRET_ENDINGS):
        return len(value) >= 4 and (len(value) >= 12 or has_digit(value) or name in _PASSWORD_NAMES)
    return (
        name in _DOUBTFUL_NAMES
        and len(value) >= 16
        and not is_uuid(value)
        and is_secretlike(value[:256])
    )


def has_secret_parameter(query: str) -> bool:
    """Whether a name=value pair of a query or fragment carries a secret."""
    return "=" in query and any(map(_is_secret_pair, _PAIRS.split(query)))


def _split(url: str, begin: int) -> tuple[str, str]:
    """Authority and rest (path, query, fragment) of a URL whose authority starts at `begin`."""
    end = min((at for char in "/?#" if (at := url.find(char, begin)) >= 0), default=len(url))
    return url[begin:end], url[end:]


def _is_login(authority: str, url: str, rest: str, begin: int) -> bool:
    """Whether user information with a password (or a token) stands before the host."""
    if "@" not in authority:
        if "@" not in rest or ":" not in authority:
            return False
        # A '/' or '#' inside the password ends what a parser takes for the authority.
        password = url[url.find(":", begin) + 1 : url.rfind("@")]
        return not _PORT_FIRST.match(password)
    info = authority[: authority.rfind("@")]
    password = info.partition(":")[2]
    if password:
        return password.lower() not in ("x-oauth-basic", "***", "xxx") and MASK not in password
    return is_secretlike(info[:256], 20)


def _is_capability(authority: str, rest: str) -> bool:
    """A UUID as the path, at a port: how OpenSimulator names its capabilities."""
    if _EARLY_UUID.match(rest) and _HIGH_PORT.search(authority):
        return True
    return _FIRST_IS_UUID.match(rest) is not None and (
        _PORT.search(authority) is not None or rest.rstrip("/").count("/") == 1
    )


def _judge(url: str, begin: int) -> tuple[int, str] | None:
    """From which offset on the URL has to go, and its kind; None where it can stay."""
    if _CAPABILITY.search(url):
        return 0, "cap"
    if _HOOK.search(url):
        return 0, "url"
    authority, rest = _split(url, begin)
    if _is_login(authority, url, rest, begin):
        return 0, "credential"
    if _is_capability(authority, rest):
        return 0, "cap"
    if _SECRET_SEGMENT.search(rest):
        longest = max(_SEGMENTS.split(rest), key=len)
        if is_random(longest[:256], 0.25):
            return 0, "url"
    question, sharp = rest.find("?"), rest.find("#")
    query_end = sharp if sharp > question else len(rest)
    if question >= 0 and has_secret_parameter(rest[question + 1 : query_end]):
        return begin + len(authority) + question, "url"
    if sharp >= 0:
        fragment = rest[sharp + 1 :]
        bare = fragment.lstrip("!/")[:256]
        if has_secret_parameter(fragment) or (
            len(bare) >= 32 and "%" not in bare and "=" not in bare and is_random(bare)
        ):
            return begin + len(authority) + sharp, "url"
    return None


def url_spans(text: str) -> Iterator[Span]:
    """What has to go of the URLs in `text`. Each URL is judged once; linear in the text."""
    at = text.find("://")
    while at >= 0:
        scheme = _SCHEME.search(text, max(0, at - 21), at)
        rest = _REST.match(text, at + 3) if scheme is not None else None
        if scheme is None or rest is None:
            at = text.find("://", at + 3)
            continue
        start, end = scheme.start(), rest.end()
        while end > at + 3 and text[end - 1] in _TRAILING:
            if text[end - 1] == "]" and "[" in rest.group():
                break
            end -= 1
        url = text[start:end]
        begin = at + 3 - start
        while begin < len(url) and url[begin] == "/":
            begin += 1
        verdict = _judge(url, begin)
        if verdict is not None:
            yield start + verdict[0], end, verdict[1]
        at = text.find("://", rest.end())
