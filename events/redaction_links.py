"""The words that stand around told passwords and codes: links, verbs, what follows. Data only.

Lower case, without apostrophes. Collected for this project from everyday chat in the languages
that `redaction_topics` names.
"""

LINKS = frozenset(
    """
    default defaults unlocks med koodilla öppnas avautuu blev oldu olacak ora geworden veranderd
    changed cambió mudou cambiato took accepted accepts also fais faites hace haz marca faz mach
    machst gives shows showing reading slash mettere inserire digitare digitar inserisci digita
    poner escribir introducir teclear mettre saisir taper tapez eingeben eintippen invoeren
    intoetsen tik wpisać wpisz ввести набрать набирай набираешь artık yazıp yaz gir girin tippst
    nimmste zet zit hoort seria sería serait wäre being been will are do does need using comes
    goes op siendo mit immer bleibt reste sigue resta rimane blijft is its was be equals says
    reads takes needs wants uses try tried type types typed enter entered enters use put puts say
    said answer punch press dial key now then becomes remains stays meant means so thats got sends
    sent namely literally called follows told set to ist lautet war jetzt nun tippe drück nimm
    nimmst heißt cest est tape tapes mets compose es era ahora pon pones usa escribe é agora põe è
    adesso metti premi je jest teraz wpisujesz är er nu nyt voer toets теперь сейчас введи вводи
    набери это жми şimdi olan
    """.split()
)
"""Words that a told value stands right behind."""

ADVERBS = frozenset(
    """
    literally just now still probably simply actually maybe only always really anyway like
    currently presently obviously definitely never immer noch encore toujours siempre sempre nog
    """.split()
)
"""Words that may stand between a link and the value, or right before an aside."""

ADVERBS_BEHIND = ADVERBS | {"lol", "haha", "hahaha", "lmao", "btw", "yeah", "yes", "yep", "tho"}
"""Words that may stand between a value and what points back to it."""

POINTING = frozenset(
    """
    opens gets get lets let unlocks thats works worked öffnet ouvre abre apre opent otwiera
    откроет открывает
    """.split()
)
"""Words whose subject, right before them, is the value."""

AFTERWORDS = frozenset(
    """
    fyi tbh imo imho pal mum dad mom sis cheers ta x3 fam babe hun sweetie ja nein gut also dann
    nicht pas non aussi donc alors si no también luego entonces certo poi anche dopo niet ook wel
    goed tak nie już potem tylko так не уже только потом tamam sonra değil och men sen inte scharf
    schalten öffnen aufsperren off hold wait while pull push turn try go gogogo my hit yazıp
    basıyorsun yaz mettre prends tu il puis ensuite et eingeben drücken eintippen bis gilt geht ab
    seit heißt sagt den das die ya que hasta desde fino premi tot totdat żeby do od sobie как если
    u r ur im hes shes its twice once auf ein links rechts everywhere instead first second both
    got then and or but not for to like same please pls plz thx thanks ty hurry quick if when at
    on in with before after because cuz cos bc since until till again obviously lol lmao haha
    hahaha btw dont it thats that is will works worked still never just press star hash pound
    enter now right left as so ok okay k mate bro man dude love opens gets lets unlocks you i we
    she he they unless though although only always from your the this should isnt und aber bitte
    heb erst danach oder ist für y después pero e ma mais en daarna dan maar eerst ale и затем но
    ve ama por para pour per da na на для için xx xxx x smh rn asap ffs tho
    """.split()
)
"""Words that may follow a told number; any other may be what it counts."""

UNITS = frozenset(
    """
    digits characters chars numbers times tries attempts people euros dollars pounds bucks seconds
    minutes hours days weeks months years meters metres miles volts watts lines bytes items units
    stellen zeichen ziffern mal dígitos chiffres cifre cijfers cyfry цифр points steps users hrs
    mins secs pts reviews stars votes likes views copies pieces pcs stitches prims gold coins gems
    xp percent kg km mm cm ml lbs feet sq quid grand euro dollar pound credits rows calls hits
    """.split()
)
"""Words that a number counts, whatever stands before it."""

DIGIT_WORDS = frozenset(
    """
    zero oh one two three four five six seven eight nine double triple null eins zwei drei vier
    fünf sechs sieben acht neun cero uno dos tres cuatro cinco seis siete ocho nueve zéro un deux
    trois quatre cinq sept huit neuf um dois três quatro oito nove due tre quattro cinque sei
    sette otto een twee drie vijf zes zeven negen ноль один два три четыре пять шесть семь восемь
    девять jeden dwa trzy cztery pięć sześć siedem osiem dziewięć
    """.split()
)
"""Digits spelled out."""

WARY = frozenset(
    """
    error errors exit status http https zip post postal postcode area country response product
    source promo coupon discount colour color hex airport flight reservation booking iata route
    bar barcode qr swift sort tax dress morse cheat gpio header connector led arduino jumper
    socket solder chip bowling result return reason currency ascii unicode line lines port ports
    version build byte bytes kb mb gb mhz rpm error-code fehler erreur errore ошибка
    """.split()
)
"""Words beside which a code or a pin is something else."""

NAMED = frozenset(
    """
    user username users nick nickname name named called account login hi hey hello thanks thx ask
    tell cc from by of per via mr mrs room channel chan bus flat apt order ticket issue bug pr
    version model invoice extension ext page line port build unit route since in about around over
    under than least most nearly almost only another every each dear join file folder
    """.split()
)
"""Words behind which a made-up word or a number names something that is no secret."""

NAMES = frozenset(
    """
    user username users nick nickname name names handle userid id ids email mail address channel
    reservation booking flight ticket order host hostname domain server
    """.split()
)
"""Nouns that say, some words before a made-up word, that it is a name."""

SAYING = frozenset(
    """
    di dis sag sagst zeg zegt powiedz mówisz скажи говоришь говори söyle diga dici dicono säg si
    sano say says said whisper whispers mutter shout tell told answer answered reply type typed
    types enter entered put puts write wrote use uses used try tried spell mention yell speak
    """.split()
)
"""Verbs whose object is the word that opens something."""

NO_WORD = frozenset(
    """
    bitwarden keepass lastpass authenticator anything whoever whomever resets manager policy
    policies weird awful ugly lame bad hard soft nuts crazy insane bonkers odd strange normal
    common terrible horrible fantastic perfect fun funny rubbish garbage crap trash shit bullshit
    damn hell gone dead alive down busy away online offline pending limbo there yet mandatory
    obvious overrated underrated trivial famous popular special generic similar identical equal
    confusing confused somewhere nowhere upstairs downstairs inside outside private internal
    external temporary permanent current latest newest oldest original initial final total main
    real fake legit people folk idiot idiots thing ours bye night morning evening week month year
    day time minute hour second later earlier early late fast slow high low hot cold big small
    tiny huge buddy mate dude guys folks everyone everybody sweetie darling honey friend friends
    sir madam though again obviously anyway course really exactly enough either today tonight
    tomorrow yesterday somehow soon stuff sudo reboot root admin exit quit help man login ssh
    sorry thanks kidding seriously sweet great cool nice awesome lower upper case words word
    lowercase letters spaces capital capitals game games website server channel message chat
    admins person place email phone house number numbers digits whatever remember incorrecta
    correcta olvidada olvidé esqueci забыл забыла забыли неверный неправильный неверное
    zapomniałem vergessen oublié dimenticata vergeten unuttum yanlış falsch everywhere itself
    myself yourself himself herself themselves english french german spanish hold hmmm hmm wait
    what dunno forget forgot please pretty hidden question answer guess
    """.split()
)
"""Words that are talk where a secret word might stand."""
