"""Rules for tokens without a prefix of their own: random runs, and values that a name gives away."""

import re

from turnfold.events.redaction_prefixes import PREFIXES
from turnfold.events.redaction_rule import NOT_MASK, Rule, before, value_is
from turnfold.events.redaction_shapes import (
    UUID,
    decoded_text,
    has_uuid,
    is_binary_text,
    is_hex,
    is_one_case_random,
    is_random,
    is_secretlike,
    is_uuid,
    shape,
)

AI = re.ASCII | re.IGNORECASE
_STARTS = tuple(prefix.lower() for prefix in PREFIXES) + ("eyj",)


def continues_token(run: str) -> bool:
    """Whether the run after a line break looks like the rest of a token, not like a new one."""
    if run.lower().startswith(_STARTS):
        return False
    found = shape(run)
    size = found.size
    if found.digits and size >= 4 and (found.letters or size >= 10):
        return True
    return (found.lower > 1 and found.upper > 1 and found.changes >= 3) or size >= 30


# --- runs -------------------------------------------------------------------------------------

_SEPARATORS = re.compile(r"[_\-=.]+")
# Names before `_` that say the rest is a digest or an object's id, not a secret.
_ID_PREFIX = frozenset(
    "sha sha1 sha224 sha256 sha384 sha512 md5 md4 crc crc32 crc32c commit rev git hash etag blake2 "
    "blake2b blake3 uuid id img image file tex texture btih urn inv pi pm py ch cus sub prod price "
    "txn evt req acct card seti si src tok in ii il po tr re cs bps ba sku plan pyr trr".split()
)
_SRI = re.compile(
    r"\bsha(?:256-[A-Za-z0-9+/]{43}=|384-[A-Za-z0-9+/]{64}|512-[A-Za-z0-9+/]{86}==)", re.ASCII
)


def is_integrity_hash(match: re.Match[str]) -> bool:
    """Whether the match lies in a subresource-integrity hash (W3C SRI), which is public."""
    text, (start, end) = match.string, match.span()
    if "sha" not in text[max(0, start - 100) : end].lower():
        return False
    low, high = max(0, start - 100), min(len(text), end + 100)
    return any(m.start() <= start and end <= m.end() for m in _SRI.finditer(text, low, high))


def _is_public_id(run: str) -> bool:
    """`pi_1F…`, `cus_…`: an object's id at a payment provider, which it shows to everyone."""
    name, _, rest = run.partition("_")
    return name in _ID_PREFIX and "_" not in rest and len(rest) <= 28


def _random_run(match: re.Match[str]) -> bool:
    run = match.group()
    if has_uuid(run) or _is_public_id(run) or is_integrity_hash(match):
        return False
    found = shape(run)
    size = found.size
    if (
        min(found.lower, found.upper, found.digits) > 0
        and size >= 16
        and found.changes >= 0.33 * (size - 1)
        and len(set(run)) >= 10
    ):
        return True
    head, _, tail = run.replace("-", "_").rpartition("_")
    name = head.rpartition("_")[2].lower()
    if (
        head
        and len(tail) >= 32
        and found.digits >= 4
        and found.letters >= 4
        and found.changes >= 2
        and name not in _ID_PREFIX
        and not name.isdigit()
    ):
        return True
    return any(is_one_case_random(p) for p in _SEPARATORS.split(run) if len(p) >= 24)


def _encoded_text(match: re.Match[str]) -> bool:
    """Base64 of readable text: no word and no hash decodes to printable characters throughout."""
    run = match.group()
    return len(run) <= 4096 and not is_hex(run) and decoded_text(run) is not None


def _long_random(match: re.Match[str]) -> bool:
    return is_binary_text(match.group()[:4096]) and not is_integrity_hash(match)


RUN_RULES = (
    Rule(
        kind="token",
        source="shape: random run",
        cues=(),
        pattern=re.compile(
            r"(?<![A-Za-z0-9_\-])[A-Za-z0-9_\-]{24,}+={0,2}(?:\.[A-Za-z0-9_\-]{12,}+={0,2}){0,4}",
            re.ASCII,
        ),
        accept=_random_run,
        word=24,
        wrapped=True,
    ),
    Rule(
        kind="blob",
        source="shape: base64 of readable text",
        cues=(),
        pattern=re.compile(r"(?<![A-Za-z0-9+/_\-=])[A-Za-z0-9+/_\-]{20,}+={0,2}", re.ASCII),
        accept=_encoded_text,
        word=20,
        wrapped=True,
    ),
    Rule(
        kind="blob",
        source="shape: long base64",
        cues=(),
        pattern=re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{100,}+={0,2}", re.ASCII),
        accept=_long_random,
        word=100,
        wrapped=True,
    ),
    Rule(
        kind="blob",
        source="shape: long hexadecimal",
        cues=(),
        pattern=re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{129,}+", re.ASCII),
        accept=value_is(lambda run: len(set(run.lower())) >= 10),
        word=129,
        wrapped=True,
    ),
    Rule(
        kind="token",
        source="gitleaks: azure-ad-client-secret",
        cues=("q~",),
        before=4,
        pattern=re.compile(r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.\-]{30,36}+", re.ASCII),
        word=30,
        wrapped=True,
    ),
    Rule(
        kind="token",
        source="Telegram bot API: authorizing your bot",
        cues=(),
        pattern=re.compile(r"(?<!\d)\d{5,16}:A[A-Za-z0-9_\-]{32,36}+", re.ASCII),
        word=38,
        needs=":a",
        wrapped=True,
    ),
    Rule(
        kind="token",
        source="Discord: bot token",
        cues=(),
        pattern=re.compile(
            r"\b[MNO][A-Za-z0-9_\-]{22,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,45}+", re.ASCII
        ),
        word=58,
        wrapped=True,
    ),
    Rule(
        kind="token",
        source="gitleaks: mailchimp-api-key",
        cues=("-us",),
        before=32,
        pattern=re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{32}-us\d{1,2}\b", re.ASCII),
        word=35,
        wrapped=True,
    ),
)

# --- name = value -----------------------------------------------------------------------------

_SEPARATOR = (
    r"[a-z]{0,3}(?:[_\-.][a-z0-9]{1,16}){0,3}[\"'`\]]{0,2}"
    r"(?:\s{0,3}(?:=>|->|→|:{0,3}=|\?=|\|\||[:=>]=?|,)\s{0,3}|\s{1,3}(?:is|to|was)\s{1,3}|\s{1,3})"
    r"[\"'`=]{0,3}(?:0x)?"
)
_VALUE = rf"(?P<v>[^\s{NOT_MASK}\"'`,;<>(){{}}&]{{8,256}}+)"
_TELLING_KEY = re.compile(
    r"(?:api|secret|access|private|encryption|signing|master|account|shared|storage|auth|client|app"
    r"|licen[cs]e|service|admin|deploy|webhook|subscription|rest|server)[_ \-.]?$",
    AI,
)
_WORDS_ONLY = re.compile(r"[A-Za-z_.\[\]]+", re.ASCII)
_LONG_HEX = re.compile(r"[0-9a-fA-F]{32,}", re.ASCII)
_PUNCTUATED = re.compile(r"(?:[:=>,→]|\|\|)\s*$")
_VERB = re.compile(r"\b(?:is|to|was)\s*$", AI)


def _assigned(match: re.Match[str]) -> bool:
    """Whether what stands behind a telling name is its value."""
    text, start, value = match.string, match.start(), match["v"]
    if value[0] in "$[%=" or "://" in value or text[match.end() : match.end() + 1] == "(":
        return False
    between = text[start : match.start("v")]
    bare = between.rstrip("\"'`=").removesuffix("0x").rstrip("\"'`")
    punctuated = between.endswith("=") or _PUNCTUATED.search(bare) is not None
    if "," in bare and "'" not in between and '"' not in between:
        return False
    if not punctuated and not _VERB.search(bare):
        mixed_path = "/" in value and len(value) >= 30 and shape(value).changes > 0.3 * len(value)
        return len(value) >= 16 and (
            is_random(value) or _LONG_HEX.fullmatch(value) is not None or mixed_path
        )
    name = between.lower()
    if name.startswith(("key", "login", "auth")) and not _TELLING_KEY.search(before(match, 16)):
        ahead = text[start - 1 : start]
        if ahead.isalpha() and not (ahead.islower() and text[start].isupper()):
            return False
        return not has_uuid(value) and is_secretlike(value, 12) and (punctuated or len(value) >= 20)
    if _WORDS_ONLY.fullmatch(value) and not is_random(value) and not is_secretlike(value, 20):
        return False
    return is_secretlike(value, 8) or (len(value) >= 16 and is_hex(value))


# Names whose 32 hexadecimal digits are a digest or an id.
_DIGEST_NAME = re.compile(
    r"(?:sha-?\d{0,3}|md[45](?:sum)?|crc\w{0,4}|commit|rev(?:ision)?|hash|checksum|digest|etag"
    r"|fingerprint|blake\w{0,3}|btih|xt|base|parent|head|tree|blob|merge|tag|ref|version|build|sum"
    r"|u?uid|guid|id|texture|asset|item|object|sound|anim(?:ation)?|creator|owner|group|gist|xml"
    r"|file|image|img|track|release|disc|photo|video|page|post|topic|thread|share|node|key)"
    r"[\"'\]]{0,2}\s{0,2}$",
    AI,
)
_IN_QUERY = re.compile(r"[?&][\w.\-]{0,24}$", re.ASCII)


def _hex_value(match: re.Match[str]) -> bool:
    name = before(match, 28)
    if _DIGEST_NAME.search(name) or _IN_QUERY.search(name):
        return False
    return len(set(match["v"])) >= 8


_VENDORS = (
    "adafruit adobe airtable algolia alibaba asana atlassian confluence jira beamer bitbucket "
    "bittrex meraki codecov cohere coinbase confluent contentful datadog discord droneci dropbox "
    "etsy facebook fastly finicity finnhub flickr freshbooks gitter gocardless heroku hubspot "
    "infracost intercom intra42 jfrog artifactory bintray xray kraken kucoin launchdarkly linear "
    "linkedin linked_in linked-in lob looker mailchimp mailgun mapbox mattermost messagebird "
    "message_bird message-bird netlify newrelic new-relic new_relic nytimes newyorktimes okta "
    "plaid private_ai privateai private-ai rapidapi sendbird sentry snyk sonar squarespace sumo "
    "telegr travis twitch twitter typeform yandex zendesk cloudflare openai anthropic mistral "
    "deepseek elevenlabs deepgram assemblyai stability replicate pinecone weaviate qdrant twilio "
    "sendgrid vonage nexmo paypal braintree square shopify stripe salesforce firebase supabase "
    "pagerduty opsgenie grafana splunk elastic mongodb snowflake databricks vercel railway render "
    "digitalocean linode vultr hetzner scaleway ovh azure aws gcp google github gitlab circleci "
    "buildkite jenkins npm pypi rubygems nuget dockerhub quay clearbit mixpanel amplitude segment "
    "wakatime weather openweather giphy tmdb omdb ipstack shodan virustotal censys abuseipdb "
    "spotify soundcloud vimeo youtube flutterwave razorpay square mailjet postmark sparkpost zoom "
    "webex trello notion clickup monday figma miro canva typesense meilisearch strava fitbit "
    "contribsys clojars readme"
).split()


def _names_vendor(context: str) -> bool:
    return any(vendor in context for vendor in _VENDORS)


def _vendor_value(match: re.Match[str]) -> bool:
    """A made-up value, and a vendor's name in the 40 characters before the separator."""
    value = match["v"]
    found = shape(value)
    if found.letters == 0:
        secret = found.digits >= 15 and value.isdigit()
    elif _WORDS_ONLY.fullmatch(value):
        secret = is_random(value) or (found.size >= 14 and found.changes >= 0.3 * found.size)
    else:
        secret = found.digits >= 2 and found.changes >= 3 and len(set(value)) >= 7
    if not secret or "://" in value:
        return False
    context = before(match, 40).lower()
    line = context[context.rfind("\n") + 1 :]
    return _names_vendor(line) and not (is_hex(value) and _FORGE.search(line))


def _vendor_uuid(match: re.Match[str]) -> bool:
    context = before(match, 60).lower()
    return _SECRET_WORD.search(context) is not None and _names_vendor(context)


_FORGE = re.compile(r"github|gitlab|bitbucket|commit|rev")
_SECRET_WORD = re.compile(r"api|secret|key|token|auth")

NAME_RULES = (
    Rule(
        kind="token",
        source="assignment to a telling name",
        cues=("secret", "token", "tok", "key", "credential", "jwt", "login", "auth", "sharedacc"),
        pattern=re.compile(
            r"(?:secret(?:[_ ]?(?:access[_ ]?)?key)?|token|tok|key|credentials?|jwt|login|auth"
            r"|sharedaccess(?:key|signature))" + _SEPARATOR + _VALUE,
            AI,
        ),
        accept=_assigned,
    ),
    Rule(
        kind="token",
        source="gitleaks: rules of the form vendor name = value",
        cues=(),
        pattern=re.compile(
            r"[\w\])\"'`]\s{0,3}(?:=>|->|:{0,3}=|\?=|\|\||[:=>]=?|,)[\s\"'`=]{0,5}"
            r"(?P<v>[A-Za-z0-9][A-Za-z0-9_\-=.|%:]{11,255}+)",
            re.ASCII,
        ),
        accept=_vendor_value,
        word=12,
        digits=2,
    ),
    Rule(
        kind="token",
        source="any name = 32 or more hexadecimal digits",
        cues=("=", ":"),
        pattern=re.compile(
            r"(?:=>|[:=])[ \t]{0,3}[\"'`]{0,2}(?P<v>[0-9a-fA-F]{32,}+)(?![A-Za-z0-9\-])", re.ASCII
        ),
        accept=_hex_value,
        word=32,
    ),
    Rule(
        kind="url",
        source="signed parameters outside a URL",
        cues=("sig=", "signature="),
        pattern=re.compile(r"sig(?:nature)?=(?P<v>[A-Za-z0-9%+/_\-]{20,}+={0,2})", AI),
        word=20,
    ),
    Rule(
        kind="token",
        source="kucoin, squarespace and others: vendor's key that is a UUID",
        cues=(),
        pattern=re.compile(r"[\"'`=:>\s](?P<v>" + UUID + r")(?![0-9A-Za-z\-])"),
        accept=_vendor_uuid,
        word=36,
    ),
)
