"""Vendors' token prefixes: what a key of that vendor starts with, and what may follow.

Facts, collected from the vendors' documentation and checked against the public rule sets of
gitleaks and kingfisher (used as review lists in development only). A row is: prefix, alphabet of
the rest, least length of the rest. Prefixes are matched in their exact case at a word boundary.
"""

import re

from turnfold.events.redaction_rule import Accept, Lazy, Rule
from turnfold.events.redaction_shapes import JUDGED_MAX, VALUE_MAX, shape

ALPHABETS = {
    "h": "0-9a-fA-F",
    "u": "0-9A-Z",
    "a": "0-9A-Za-z",
    "w": "0-9A-Za-z_",
    "d": "0-9A-Za-z_\\-",
    "b": "0-9A-Za-z+/=_\\-",
    "p": "0-9A-Za-z_.=\\-",
    "x": "0-9A-Za-z_.=+/%~:\\-",
}
"""Letters for alphabets: hexadecimal, upper case, alphanumeric, word, dashed, base64, dotted,
anything that a token may hold."""

_ROWS = """
AKIA u 16|ASIA u 16|ABIA u 16|ACCA u 16|A3T u 17|ABSK b 60|bedrock-api-key- b 20|LTAI a 16
AIza d 30|ya29. p 20|GOCSPX- d 20|1//0 d 40|AQ.Ab d 30|ghp_ a 30|gho_ a 30|ghu_ a 30|ghs_ a 30
ghr_ a 30|github_pat_ w 40|glpat- p 16|gldt- d 16|glrt- p 16|glptt- d 16|glsoat- d 16|gloas- d 16
glcbt- d 16|glimt- d 16|glagent- d 16|glft- d 16|glffct- d 16|glrtr- d 16|GR1348941 d 16|npm_ a 30
pypi-AgE d 40|hf_ a 30|api_org_ a 30|dckr_pat_ d 20|dckr_oat_ d 20|sk- d 20|gsk_ a 30
sk_live_ w 10|sk_test_ w 10|sk_prod_ w 10|rk_live_ w 10|rk_test_ w 10|rk_prod_ w 10|whsec_ b 20
pk_live_ w 10|pk_test_ w 10|SG. p 50|dop_v1_ h 40|doo_v1_ h 40|dor_v1_ h 40|DOP_V1_ h 40
shpat_ h 32|shpca_ h 32|shppa_ h 32|shpss_ h 32|lin_api_ a 30|lin_oauth_ a 30|hvs. d 24|hvb. d 24
hvr. d 24|glc_ b 32|glsa_ w 40|dapi h 32|PMAK- d 40|PMAT- a 26|ntn_ a 40|secret_ a 40|xai- a 60
pplx- a 32|r8_ a 30|nvapi- d 40|tvly- d 24|sbp_ h 40|sb_secret_ d 20|sb_publishable_ d 20
ATATT3 b 40|ATCTT3 b 40|ATBB a 28|FlyV1 x 40|fo1_ d 40|fm1a_ b 80|fm1r_ b 80|fm2_ b 80|NRAK- u 24
NRJS- h 19|NRII- d 28|NRRA- h 40|NRAA- h 27|NRSP- d 28|sntrys_ b 40|sntryu_ h 40|pscale_tkn_ p 30
pscale_pw_ p 30|pscale_oauth_ p 30|pscale_ p 30|oauth: a 28|key- h 32|pubkey- h 32|sq0atp- d 22
sq0csp- d 22|sq0idp- d 22|EAAA d 40|EAAC a 60|EAAM a 60|EAA a 90|SK h 32|figd_ d 30|xkeysib- d 40
xsmtpsib- d 40|EZAK a 40|EZTK a 40|AGE-SECRET-KEY-1 u 40|ops_eyJ b 80|A3- d 30|p8e- d 30
AKCp a 60|cmVmd a 50|CLOJARS_ a 40|clojars_ a 40|dnkey- p 60|dp.pt. a 40|dp.st. p 40|dp.sa. a 40
dp.ct. a 40|dp.scim. a 40|dp.audit. a 40|duffel_test_ b 40|duffel_live_ b 40|dt0c01. p 60
dt0s01. p 60|dt0s16. p 60|FLWSECK_TEST- h 12|FLWPUBK_TEST- d 12|FLWSECK- d 12|FLWPUBK- d 30
fio-u- b 40|live_ b 40|eyJrIjoi b 40|4b1d a 38|v1.0- d 100|CCIPAT_ w 20|CCIPRJ_ w 20|pnu_ a 30
pnb_ a 30|pul- h 40|rdme_ a 60|rubygems_ h 40|tk-us- d 40|sm_aat_ a 16|sm_pat_ a 16|sm_sat_ a 16
shippo_live_ h 30|shippo_test_ h 30|sgp_ w 40|sgd_ w 40|slk_ a 40|sha256~ d 40|tfp_ p 40
s. a 24|HRKU- d 30|AQVN d 35|YC d 38|t1. p 80|squ_ h 40|sqp_ h 40|sqa_ h 40|PSK a 37|gocspx- d 20
API- u 26|hsp_ a 30|lsv2_pt_ w 40|lsv2_sk_ w 40|pcsk_ w 40|tgp_v1_ d 30|fw_ a 22|jina_ a 40
sk-lf- d 30|pk-lf- d 30|ls__ a 30|e2b_ a 30|nfp_ a 30|nfc_ a 30|vercel_ a 24|vcp_ a 24|vck_ a 24
rnd_ a 24|railway_ d 30|phc_ a 30|phx_ a 30|phs_ a 30|ak_ a 30|re_ w 30|mlsn. h 40|dsapi d 32
csk- a 40|cfut_ w 40|cfat_ w 40|cfk_ w 40|v1.public. b 40|PRIVATE- a 40|tskey- d 16|nkey- a 40
tok_ a 40|wakatime_ d 30|waka_ d 30|patatt3 b 40|ddp_ a 30|ddapi_ a 30|bkua_ a 30|bkpat_ a 30
bkaj_ a 30|crx_ a 30|cio_ a 30|hapi_ a 30|pat-na1- d 30|pat-na2- d 30|pat-eu1- d 30
apify_api_ a 30|apify_proxy_ a 30|ory_at_ d 30|ory_ac_ d 30|ory_rt_ d 30|AWSSK a 30|aio_ a 24
xoxb- d 10|xoxp- d 10|xoxa- d 8|xoxr- d 8|xoxs- d 10|xoxo- d 10|xoxd- x 10|xoxc- d 10|xoxe- d 10
xoxe.xoxp- d 10|xoxe.xoxb- d 10|xapp- d 14|xwfp- d 20|cal_live_ h 24|cal_test_ h 24|tr_dev_ a 20
ZXlK b 40|CFPAT- d 30|flb_live_ a 16|flb_test_ a 16|ak_live_ a 24|ak_test_ a 24|NF- a 32
VF.DM. p 30|VF.WS. p 30|pub-c- d 36|sub-c- d 36|sec-c- b 36|_gitlab_session= a 30|na1. b 60
tr_prod_ a 20|uptr_ a 20|frp_ a 20|trpat a 30|ctx7sk- d 20|fc- h 30|exa_ d 30|gpat_ d 30
"""

_MIN_WORD = 12


def _pattern(prefix: str, alphabet: str, least: int) -> Lazy:
    letters = ALPHABETS[alphabet]
    gap = " ?" if prefix == "FlyV1" else ""
    return Lazy(
        rf"(?<![A-Za-z0-9]){re.escape(prefix)}{gap}[{letters}]{{{least},{VALUE_MAX}}}+", re.ASCII
    )


def _accept(prefix: str, alphabet: str) -> Accept | None:
    """Alphabets with separators also spell identifiers and hyphenated prose: look closer."""
    if alphabet in "hua":
        return None

    def accept(match: re.Match[str]) -> bool:
        body = match.group()[len(prefix) :][:JUDGED_MAX]
        found = shape(body)
        if found.digits >= 8 and found.digits >= 0.25 * found.size:
            return True
        random = found.changes >= 0.25 * found.size
        return found.changes >= 2 and (found.digits > 1 or random)

    return accept


def _rows() -> list[tuple[str, str, int]]:
    rows: list[tuple[str, str, int]] = []
    for cell in _ROWS.replace("\n", "|").split("|"):
        if cell:
            prefix, alphabet, least = cell.rsplit(" ", 2)
            rows.append((prefix, alphabet, int(least)))
    return rows


PREFIX_RULES: tuple[Rule, ...] = tuple(
    Rule(
        kind="token",
        source="vendor prefix",
        cues=(prefix.lower(),),
        pattern=_pattern(prefix, alphabet, least),
        accept=_accept(prefix, alphabet),
        word=_MIN_WORD,
        wrapped=True,
        attached=prefix not in ("oauth:", "FlyV1"),
    )
    for prefix, alphabet, least in _rows()
)

PREFIXES: tuple[str, ...] = tuple(row[0] for row in _rows() if len(row[0]) > 2)
"""The prefixes alone: a run that starts with one starts a new token."""

SPACED_PREFIX = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|xox[bpars]-|sk-|sk_live_|hf_|npm_|pypi-"
    r"|AKIA|AIza)"
    r"[A-Za-z0-9_\-]{2,}+",
    re.ASCII,
)
"""Prefixes that nobody spells out letter by letter, even before a few characters."""
