"""Word lists for passwords and codes told in prose. Data only.

Collected for this project from everyday chat in the languages named; lower case throughout.
"""

_DOORS = ("unlock ", "door ", "entry ")


def _after(heads: tuple[str, ...], word: str) -> str:
    """A pattern for `word` right after one of `heads`."""
    return "|".join(f"(?<={head}){word}" for head in heads)


PASSWORD_CUES: tuple[tuple[str, str], ...] = (
    # literal that must stand in the text, pattern from there on
    ("pass", r"pass(?:[ \-]?w(?:or|0r|ro|r)d|owrd|[ \-]?(?:wd|phrase|code|key|wort)|w)?s?"),
    ("p4ss", r"p4ss[ \-]?(?:w[o0]rd|wd|phrase|code)?"),
    ("p@ss", r"p@ss[ \-]?(?:w[o0]rd|wd|phrase|code)?"),
    ("pa55", r"pa55[ \-]?(?:w[o0]rd|wd|phrase|code)?"),
    ("pa$$", r"pa\$\$[ \-]?(?:w[o0]rd|wd|phrase|code)?"),
    ("p4$$", r"p4\$\$[ \-]?(?:w[o0]rd|wd|phrase|code)?"),
    ("p@$$", r"p@\$\$[ \-]?(?:w[o0]rd|wd|phrase|code)?"),
    ("pw", r"pwd?s?|pword|pwrd"),
    ("psw", r"pswd|pswrd|psword|psw"),
    ("paswo", r"pasword"),
    ("psk", r"psk"),
    ("wpa", r"wpa[23]?[ \-]?(?:key|code)"),
    ("wifi", r"wifi[ \-]?(?:key|code)"),
    ("wi-fi", r"wi-fi[ \-]?(?:key|code)"),
    ("identif", r"(?<=nickserv )identify"),
    ("kennwort", r"kennwort"),  # German
    ("losungswort", r"losungswort"),
    ("mot de passe", r"mot de passe"),  # French
    ("mdp", r"mdp"),
    ("contrase", r"contrase(?:ñ|n|ny)a"),  # Spanish, Catalan
    ("clave", r"clave"),
    ("senha", r"senha"),  # Portuguese
    ("palavra-passe", r"palavra-passe"),
    ("wachtwoord", r"wachtwoord"),  # Dutch
    ("has", r"has[lł][oa]"),  # Polish
    ("parol", r"parola(?: d['’]ordine)?|parolam|parool"),  # Italian, Romanian, Turkish, Estonian
    ("lösenord", r"lösenord(?:et)?"),  # Swedish
    ("losenord", r"losenord"),
    ("passord", r"passord(?:et)?"),  # Norwegian
    ("adgangskode", r"adgangskoden?|kodeord(?:et)?"),  # Danish
    ("kodeord", r"kodeord(?:et)?"),
    ("salasana", r"salasana(?:ni|si|n)?"),  # Finnish
    ("heslo", r"hesl[oa]"),  # Czech, Slovak
    ("jelsz", r"jelsz[óo](?:m|a)?"),  # Hungarian
    ("şifre", r"şifre(?:m|si)?"),  # Turkish
    ("sifre", r"sifre(?:m|si)?"),
    ("lozink", r"lozink[aue]"),  # Croatian, Serbian
    ("geslo", r"geslo"),  # Slovenian
    ("парол", r"парол(?:ь|і|я|ем|ю|и)"),  # Russian, Ukrainian, Bulgarian
    ("пасворд", r"пасворд"),
    ("пассворд", r"пассворд"),
    ("κωδικ", r"κωδικ[όο]ς"),  # Greek
    ("mật khẩu", r"mật khẩu"),  # Vietnamese
    ("kata sandi", r"kata sandi"),  # Indonesian
    ("word", _after(("secret ", "code ", "code", "magic ", "key", "handshake ", *_DOORS), "word")),
    ("phrase", _after(("secret ", "code ", "magic ", "key ", *_DOORS), "phrase")),
    ("psk", r"psk"),
    ("wpa", r"wpa[23]?[ \-]?(?:key|code)"),
    ("wifi", r"wifi[ \-]?(?:key|code)"),
    ("wi-fi", r"wi-fi[ \-]?(?:key|code)"),
    ("identif", r"(?<=nickserv )identify"),
    ("kennwort", r"kennwort"),  # German
    ("losungswort", r"losungswort"),
    ("mot de passe", r"mot de passe"),  # French
    ("mdp", r"mdp"),
    ("contrase", r"contrase(?:ñ|n|ny)a"),  # Spanish, Catalan
    ("clave", r"clave"),
    ("senha", r"senha"),  # Portuguese
    ("palavra-passe", r"palavra-passe"),
    ("wachtwoord", r"wachtwoord"),  # Dutch
    ("has", r"has[lł][oa]"),  # Polish
    ("parol", r"parola(?: d['’]ordine)?|parolam|parool"),  # Italian, Romanian, Turkish, Estonian
    ("lösenord", r"lösenord(?:et)?"),  # Swedish
    ("losenord", r"losenord"),
    ("passord", r"passord(?:et)?"),  # Norwegian
    ("adgangskode", r"adgangskoden?|kodeord(?:et)?"),  # Danish
    ("kodeord", r"kodeord(?:et)?"),
    ("salasana", r"salasana(?:ni|si|n)?"),  # Finnish
    ("heslo", r"hesl[oa]"),  # Czech, Slovak
    ("jelsz", r"jelsz[óo](?:m|a)?"),  # Hungarian
    ("şifre", r"şifre(?:m|si)?"),  # Turkish
    ("sifre", r"sifre(?:m|si)?"),
    ("lozink", r"lozink[aue]"),  # Croatian, Serbian
    ("geslo", r"geslo"),  # Slovenian
    ("парол", r"парол(?:ь|і|я|ем|ю|и)"),  # Russian, Ukrainian, Bulgarian
    ("пасворд", r"пасворд"),
    ("пассворд", r"пассворд"),
    ("κωδικ", r"κωδικ[όο]ς"),  # Greek
    ("mật khẩu", r"mật khẩu"),  # Vietnamese
    ("kata sandi", r"kata sandi"),  # Indonesian
    (
        "word",
        r"(?<=secret )word|(?<=code )word|(?<=code)word|(?<=magic )word|(?<=handshake )word|"
        r"(?<=unlock )word|(?<=door )word|(?<=entry )word|(?<=key)word",
    ),
    (
        "phrase",
        r"(?<=key )phrase|(?<=secret )phrase|(?<=code )phrase|(?<=unlock )phrase|"
        r"(?<=door )phrase|(?<=entry )phrase|(?<=magic )phrase",
    ),
)

# Scripts without word spaces, or with other joints: the value may follow at once.
SCRIPT_PASSWORD_CUES: tuple[str, ...] = (
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "パス",
    "暗証番号",
    "비밀번호",
    "비번",
    "암호",
    "كلمة المرور",
    "كلمة السر",
    "סיסמה",
    "รหัสผ่าน",
    "पासवर्ड",
    "رمز عبور",
)

# Secret words and passwords that are told in quotes.
SCRIPT_WORD_CUES: tuple[str, ...] = (
    "合言葉",
    "合い言葉",
    "パスワード",
    "秘密の言葉",
    "暗号",
    "口令",
    "暗语",
    "暗語",
    "密码",
    "密碼",
    "암호",
    "비밀번호",
)

NOT_A_VALUE = frozenset(
    """
    a an the this that these those it its my your his her our their not no never none null nil nan
    undefined true false yes is are was were be been being has have had will would can could may
    might must shall should do does did don't doesn't didn't isn't wasn't won't can't
    in on at to from of for with without within by as and or but if than then too very so also just
    only still again always ever now soon here there where when what which who why how whether
    wrong right correct incorrect invalid valid required needed optional missing empty blank
    hidden secret private public safe unsafe secure insecure strong weak good bad better best worse
    long short longer shorter old new older newer same different unique random default
    case-sensitive case sensitive reset changed change changing set unset updated saved stored sent
    lost forgotten forgot stolen leaked compromised protected expired expiring locked unlocked
    disabled enabled rejected refused accepted denied allowed unknown known okay ok fine done ready
    working broken kept encrypted hashed salted masked redacted removed deleted given asked shared
    written typed shown displayed printed asking asks ask prompt prompts prompted prompting
    easy hard simple complex annoying stupid silly important necessary mandatory useless pointless
    about after before between because since until unless while though although
    mine yours ours theirs someone something nothing anything everything everyone nobody somebody
    tbd tba n/a idk wiki notecard unknown
    please thanks thank sorry brb afk omg wtf gtg ttyl imo idc yep nope yeah
    lol haha hehe hmm oh ah well hey hi hello
    str string bytes int bool text object self field fields input type value name pass password
    passwords passwd passphrase passcode pwd username user users login account
    minimum maximum min max must-be at-least being-changed over under up down out off gone
    available unavailable expires some any all each every both either neither one two three four
    five six seven eight nine ten first second last next another other others
    going getting gonna supposed probably maybe perhaps actually basically already really
    authentication auth authenticated protection manager managers policy policies hash hashes hint
    hints generator recovery reuse file files entry entries box boxes screen dialog page pages
    form forms button link line lines list lists database db check checks checking checker
    cracking cracker less free only based change changes you i we he she they them me him us
    need needs want wants work works worked use uses used using try tries tried enter entered
    think know knew see seen look looks looking find found get got gets give gives gave tell tells
    told say says said make makes made let lets put keep keeps remember remembered guess guessed
    like likes via per plus minus there's that's it's he's she's what's let's i'm you're
    stuff thing things ones problem problems issue issues question error errors failed fails fail
    falsch richtig erforderlich vergessen geheim leer nicht kein ungültig incorrecta incorrecto
    errónea correcta obligatoria secreta incorrect oublié requis invalide errata errada incorreta
    obrigatória onjuist vereist vergeten verkeerd zapomniane błędne sbagliata scaduta dimenticata
    未设定 未設定
    """.split()
)
"""Words that follow «password is» or «password:» in talk about passwords."""

FUNCTION_WORDS = frozenset(
    """
    you your can could and but not the for with she her him they them when what who have has had
    was were are will would should must need needs than then about from into only just very too
    also that this there here it its our yours please again says said told asked is be been do does
    did if or so in on at to of by as a an i we he my me us no any some all how why which where
    because while until don't doesn't isn't won't can't didn't without
    """.split()
)
"""Words that prose is held together with; a made-up passphrase has hardly any."""

NUMBERED_NAMES = frozenset(
    """
    word excel gimp autocad visio outlook
    python ubuntu gnome windows debian fedora office kernel apache mysql sqlite vista level channel
    version chapter room line page step part section option number server admin player tester
    user root test guest
    lines class group item items object table image images photo video track song round floor gate
    house flight route channel region parcel prim prims layer slot stage phase week month year day
    hours minutes seconds january february march april june july august september october november
    december monday tuesday wednesday thursday friday saturday sunday build release update patch
    service pack directx opengl kubuntu xubuntu lubuntu mandriva redhat centos opensuse netbsd
    openbsd freebsd macos osxfuse libreoffice openoffice photoshop firefox chrome chromium opera
    safari internet explorer thunderbird nvidia geforce radeon intel pentium athlon core cores
    thread threads socket port ports users clients nodes hosts disks drive drives partition
    network networks interface device devices monitor display screen screens desktop laptop
    tutorial lesson exercise problem question answer figure article paragraph example examples
    keepass lastpass password passwords passwd
    angular react vuejs django laravel symfony typescript javascript ecmascript unicode
    """.split()
)
"""Words that a number follows without a space as a matter of course: `python3`, `channel5`."""
