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
    nimmste zet zit hoort seria sería serait wäre being been will are do does need using comes goes
    op siendo mit immer bleibt reste sigue resta rimane blijft is its was be equals says reads takes
    needs wants uses try tried type types typed enter entered enters use put puts say said answer
    punch press dial key now then becomes remains stays meant means so thats got sends sent namely
    literally called follows told set to ist lautet war jetzt nun tippe drück nimm nimmst heißt cest
    est tape tapes mets compose es era ahora pon pones usa escribe é agora põe è adesso metti premi
    je jest teraz wpisujesz är er nu nyt voer toets теперь сейчас введи вводи набери это жми şimdi
    olan
    """.split()
)
"""Words that a told value stands right behind."""

ADVERBS = frozenset(
    """
    literally just now still probably simply actually maybe only always really anyway like currently
    presently obviously definitely never immer noch encore toujours siempre sempre nog
    """.split()
)
"""Words that may stand between a link and the value, or right before an aside."""

ADVERBS_BEHIND = ADVERBS | {"lol", "haha", "hahaha", "lmao", "btw", "yeah", "yes", "yep", "tho"}
"""Words that may stand between a value and what points back to it."""

PUTTING = frozenset("put key keyed type typed tap punch enter plug dial".split())
"""Verbs that with «in» say to enter a number."""

POINTING = frozenset(
    """
    turns kills silences shuts stops disarms disarmed rearms arms unlocks unlocked deactivates
    disables disabled entsperrt désarme desarma desactiva désactive disattiva opens gets get lets
    let unlocks thats works worked öffnet ouvre abre apre opent otwiera откроет открывает
    """.split()
)
"""Words whose subject, right before them, is the value."""

AFTERWORDS = frozenset(
    """
    hon honey darling sweetheart sir guys folks everyone kiddo grandma grandpa granny não kein keine
    no tell let give bring ring take keep make mind remember write lock close leave come call text
    watch use wiggle jiggle shove lift slide twist hold click beep beeps opens disarms arms nobody
    nadie niemand nessuno personne ninguém nikt никому avisa dile sag sagt dites di zeg premi pulsa
    prima antes vor avant voor przed перед appuie pousse pousses poussez tire tires lift apretas
    aprietas empuja empurra spingi drück zieh trek duw pchnij pociągnij нажми толкай тяни çek it fyi
    tbh imo imho pal mum dad mom sis cheers ta x3 fam babe hun sweetie ja nein gut also dann nicht
    pas non aussi donc alors si no también luego entonces certo poi anche dopo niet ook wel goed tak
    nie już potem tylko так не уже только потом tamam sonra değil och men sen inte scharf schalten
    öffnen aufsperren off hold wait while pull push turn try go gogogo my hit yazıp basıyorsun yaz
    mettre prends tu il puis ensuite et eingeben drücken eintippen bis gilt geht ab seit heißt sagt
    den das die ya que hasta desde fino premi tot totdat żeby do od sobie как если u r ur im hes
    shes its twice once auf ein links rechts everywhere instead first second both got then and or
    but not for to like same please pls plz thx thanks ty hurry quick if when at on in with before
    after because cuz cos bc since until till again obviously lol lmao haha hahaha btw dont it thats
    that is will works worked still never just press star hash pound enter now right left as so ok
    okay k mate bro man dude love opens gets lets unlocks you i we she he they unless though
    although only always from your the this should isnt und aber bitte heb erst danach oder ist für
    y después pero e ma mais en daarna dan maar eerst ale и затем но ve ama por para pour per da na
    на для için xx xxx x smh rn asap ffs tho
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
    zero oh one two three four five six seven eight nine double triple null eins zwei drei vier fünf
    sechs sieben acht neun cero uno dos tres cuatro cinco seis siete ocho nueve zéro un deux trois
    quatre cinq sept huit neuf um dois três quatro oito nove due tre quattro cinque sei sette otto
    een twee drie vijf zes zeven negen ноль один два три четыре пять шесть семь восемь девять jeden
    dwa trzy cztery pięć sześć siedem osiem dziewięć
    """.split()
)
"""Digits spelled out."""

WARY = frozenset(
    """
    error errors exit status http https zip post postal postcode area country response product
    source promo coupon discount colour color hex airport flight reservation booking iata route bar
    barcode qr swift sort tax dress morse cheat gpio header connector led arduino jumper socket
    solder chip bowling result return reason currency ascii unicode line lines port ports version
    build byte bytes kb mb gb mhz rpm error-code fehler erreur errore ошибка
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
    policies weird awful ugly lame bad hard soft nuts crazy insane bonkers odd strange normal common
    terrible horrible fantastic perfect fun funny rubbish garbage crap trash shit bullshit damn hell
    gone dead alive down busy away online offline pending limbo there yet mandatory obvious
    overrated underrated trivial famous popular special generic similar identical equal confusing
    confused somewhere nowhere upstairs downstairs inside outside private internal external
    temporary permanent current latest newest oldest original initial final total main real fake
    legit people folk idiot idiots thing ours bye night morning evening week month year day time
    minute hour second later earlier early late fast slow high low hot cold big small tiny huge
    buddy mate dude guys folks everyone everybody sweetie darling honey friend friends sir madam
    though again obviously anyway course really exactly enough either today tonight tomorrow
    yesterday somehow soon stuff sudo reboot root admin exit quit help man login ssh sorry thanks
    kidding seriously sweet great cool nice awesome lower upper case words word lowercase letters
    spaces capital capitals game games website server channel message chat admins person place email
    phone house number numbers digits whatever remember incorrecta correcta olvidada olvidé esqueci
    забыл забыла забыли неверный неправильный неверное zapomniałem vergessen oublié dimenticata
    vergeten unuttum yanlış falsch everywhere itself myself yourself himself herself themselves
    english french german spanish hold hmmm hmm wait what dunno forget forgot please pretty hidden
    question answer guess
    """.split()
)
"""Words that are talk where a secret word might stand."""

TRAILING = frozenset(
    """
    now today tonight tout todo tudo tutto alles geändert gesetzt gestellt zweimal last since
    yesterday so bc cause after until till because lol lmao haha hahaha hehe xd btw dont don't pls
    plz please thx thanks ty tho though rn ok okay and but if in case with w no not all one two
    lower lowercase uppercase caps capital capitals spelled spelt btw fyi now atm mate bro hun love
    sis mum mom dad just same like everywhere bitte danke merci gracias obrigado grazie dank dzięki
    spasibo спасибо пожалуйста sağol tack
    """.split()
)
"""Words that may follow a told word without punctuation between."""

TALKED_OF = frozenset(
    """
    shit crap settings anyone anybody advice smart clever silly dumb funny count processor document
    counter limit compound manager prompt dialog screen hashes cracker strength rules requirement
    requirements expiry breach leak leaks fatigue entropy rotation attempts attempt guesses spray
    attack dump sniffer stealer mismatch incorrect aging expiration history sharing keeper store
    storing column table dump complexity authentication authorization cracking wise less based only
    hashing encryption decryption salting salts resets recoveries prompting asks kept works fails
    resetting about above absent access accepted account against allowed already also alternate
    always amazing annoying another apparently around arriving attached automatic automatically
    available awful back backup basic because before beginning behind being below best better
    between beyond bigger blank both broken brute bugged business but bypass cached called card case
    certain changes character characters check clear clearly client close closed code coming common
    complicated computer confidential config content correctly could country crackable current
    currently custom daily data dead default different difficult directly display document doing
    done down during each easier easily easy either eight eighteen eleven email empty encoded
    encryption end english enough entire entirely entry epic equal especially eternal even
    eventually every exact exactly exposed extra extremely facebook fairly fake false family faster
    field file filled final finally first five fixed for four free from full fully further generated
    getting github given going gone good google great group guessable half happening harder having
    heavy her here hidden hints his history home however hours identical important impossible
    inactive inside instead internal invalid inactive issue its itself junk just kept kinda known
    last lastpass later legit length less letters like limited linked little local located login
    long longer lost lots low mainly making many master maybe mean microsoft might mine minimum
    missing mixed more most mostly much must need needed neither never next nine none nonsense
    normal normally nothing now number numbers obvious off often old once one online only open
    optional original otherwise ours over own part past paypal perfect permanent personal phone
    plain please plus pointless policy possible possibly power precisely preset pretty prior
    probably problem process produced proper properly protected provided public pure quite random
    rarely rather really reasonably recent regular related relevant remote reused right root rubbish
    safe same saved scary second security seldom sensitive separate server set seven several shall
    shared sharing short shorter should similar simple simpler simply since site six small some
    something sometimes somewhere soon sort special standard static steam still storage stored
    strict string strings strong stronger stupid such super supplied supposed sure symbols system
    taken temporary ten terrible than that the their them themselves then there therefore these they
    thing thirty this those three through time today together tomorrow tonight too total totally
    trash trivial true tuesday monday wednesday thursday friday saturday sunday twelve twenty twice
    twitter two typically ugly under understood unique unsafe until unusable up upper upset useful
    user username usually vague valid variable very via visible vulnerable waiting wanted was way
    weak weaker web website week weeks well were what when where which while whole why wide will
    with within without words working worse worth would written wrong yes yesterday yet your yours
    zero discord google apple amazon netflix spotify instagram uppercase lowercase alphanumeric
    plaintext hardcoded base64 memorable memorizable guessed january february march april june july
    august september october november december weird great rotating seconds minutes hour months
    years once twice thrice okay ready quick slow kaputt weg sicher unsicher lang kurz geheim neu
    alt gleich anders einfach schwer komisch perdu facile difficile trop long court changé nouveau
    ancien pareil faux bon simple larga corta fácil difícil nueva vieja igual diferente mala buena
    segura larga longa curta nova velha diferente errada certa segura boa lunga corta nuova vecchia
    uguale diversa sbagliata giusta sicura buona lang kort nieuw oud hetzelfde anders verkeerd goed
    veilig weg długie krótkie nowe stare inne takie złe dobre bezpieczne длинный короткий новый
    старый другой такой неправильный простой сложный uzun kısa yeni eski aynı farklı yanlış doğru
    """.split()
)
"""Words that messages say of passwords."""

MEANS = frozenset(
    """
    username usernames email emails mail password passwords passcode fingerprint fingerprints
    touchid faceid face touch thumb thumbprint biometrics google facebook apple discord github
    gitlab steam twitch twitter microsoft amazon paypal epic okta keycloak ldap kerberos oauth saml
    browser chrome firefox safari edge terminal putty winscp filezilla notepad gimp photoshop word
    excel acrobat phone mobile token tokens keys keycard badge card cards fob yubikey cookie cookies
    session api guest anonymous anyone everyone someone details credentials creds account accounts
    recovery reset protected protection protocol register signup signin logout register settings
    profile support ethernet bluetooth cable lan mobile data 4g 5g router modem internet
    """.split()
)
"""What one logs in with that is no password."""

TIMES = frozenset(
    """
    today tonight now heute jetzt ab oggi adesso hoy ahora hoje agora aujourdhui maintenant vandaag
    nu dzisiaj dziś teraz сегодня теперь сейчас bugün şimdi idag morgen tomorrow
    """.split()
)
"""Words for when a code is good, behind which it may stand at once."""
