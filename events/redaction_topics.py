"""What messages speak of when they tell a password or a code without saying so. Data only.

Phrases in lower case, parted by commas, in the spelling that stands in the text;
apostrophes are ignored. Collected for this project from everyday English, and the short words for
codes and passwords from German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian,
Turkish and the Nordic languages.
"""

PIN = 1 << 0  # a number that is always secret
CODE = 1 << 1  # one that may be
PLACE = 1 << 2  # a thing that has a lock
OTP = 1 << 3  # one-time codes
SECRET = 1 << 4  # passwords
WORD = 1 << 5  # secret words
PHRASE = 1 << 6  # secret phrases, of several words
FOREIGN = 1 << 7  # secret words in languages that put the word right behind
ACCESS = 1 << 8  # accounts, networks, devices
ENTRY = 1 << 9  # getting in, being asked
OPENED = 1 << 10  # the same, with success
SPELL = 1 << 11  # spelling aloud
HUSH = 1 << 12  # between ourselves; how one remembers it
DIAL = 1 << 13  # pressing digits
ANSWER = 1 << 14  # answers to security questions
THING = 1 << 15  # things that may have a key
NETWORK = 1 << 16  # networks, whose key is a password
TOLD = 1 << 17  # words that only introduce something
SECRETS = SECRET | WORD  # what is told to get in, of either sort
NOTHING = 0  # phrases that only look like one of the others

_FAMILIES: dict[int, str] = {
    PIN: """
        vorhängeschloss, hänglås, hengelås, hængelås, riippulukko, number on the padlock, the
        padlock number, zahlencode, ziffernschloss, tastenfeld, pavé numérique, teclado, tastierino,
        klawiatura przy drzwiach, parental, boîte à clés, boite à clés, caja de llaves, caixa de
        chaves, schlüsselbox, schlüsselkasten, sleutelkluis, sleutelkastje, nyckelskåp, cassetta
        delle chiavi, skrzynka na klucze, ключница, spare key, door pad, neighbours pad, neighbors
        pad, code de carte, code de ma carte, code carte, code bancaire, code de la carte, card pin,
        bank pin, pin code, código de la tarjeta, clave de la tarjeta, senha do cartão, senha do
        cofre, pin della carta, bancomat, ec-karte, bankkarte, pinpas, kart şifresi, kart şifrem,
        pin do karty, пин от карты, код от двери, код от подъезда, код от домофона, код двери,
        türcode ist, code der tür, code für die tür, code vom tor, code für das tor, code van de
        deur, code van de poort, codice del cancello, codice del portone, código da porta, código
        del portal, código de la puerta, kod do drzwi, kod do furtki, kod do sejfu, kod do domofonu,
        portkoden, dörrkod, dörkod, ovikoodi, dørkoden, pin pad, pinpad, entry keypad, door keypad,
        voicemail, for the card, for my card, for dads card, mums card, moms card, for mums card,
        pini, numer pin, glovebox code, suitcase lock, luggage lock, bike chain, chain lock, cable
        lock, u-lock, d-lock, host key, the pad, entry pad, number pad, numpad, wall pad, alarm pad,
        pad by the, code on the door, code to the door, code on the gate, smart lock, number lock,
        combination lock, ipad number, tablet number, lock number, door number is, 4 digit, 5 digit,
        6 digit, four digit, five digit, six digit, 4-digit, 6-digit, cvv, atm, security number,
        entry number, kode på, parental lock, parental controls, parental pin, pairing, pin is, four
        digits, 4 digits, 6 digits, six digits, домофона, domofonu, code portail, code du portail,
        kod do bramy, код домофона, code de l'alarme, alarm number, alarm pin, unlock number, pin,
        pincode, pin-code, pin number, puk, passcode, pass code, keypad, key pad, keycode, key code,
        lockbox, lock box, key box, keybox, key safe, keysafe, padlock, bike lock, bicycle lock,
        door code, gate code, alarm code, entry code, access code, building code, garage code, lock
        code, safe code, unlock code, screen lock, unlock pattern, host pin, voicemail pin,
        digicode, pin-nummer, geheimzahl, türcode, tuercode, haustürcode, zugangscode, alarmcode,
        zahlenschloss, code pin, code secret, code porte, cadenas, candado, clave de acceso,
        cadeado, lucchetto, combinazione, combinación, combinaison, combinação, kombination, pincode
        van, hangslot, cijferslot, kłódka, szyfr, domofon, пин, пинкод, пин-код, домофон, pin kodu,
        kapı kodu, kapı şifresi, kod do, portkod, dørkode, door pin, gate pin, numeric code
    """,
    CODE: """
        combo, combination, combination lock, code, codes, kode, kod, kodu, koden, kody, codice,
        código, codigo, clave, koodi, код, кода, numbers are, digits are
    """,
    PLACE: """
        porta, portone esterno, hek, tor, hoftür, nebeneingang, gartenhaus, scheune, fach, truhe,
        spind, portier, grille, garde-meuble, casier, cabanon, abri, barrière, ascenseur, parking,
        ascensor, trasteros, cancela, sótano, azotea, taquillas, caseta, baúl, elevador, armário,
        depósito, cadeado do, ascensore, magazzino, deposito, soffitta, serranda, lift, schuur,
        berging, kelder, kluisje, loods, slagboom, strych, szopa, szlaban, winda, skrytka, лифт,
        склад, чердак, сарай, шкаф, тумбочка, шкафчика, ячейка, çekmece, kapısının, asma kilit,
        beeping, beeps, beep, disarm, disarms, disarmed, rearm, deactivate, deactivates,
        deactivated, till, glovebox, glove box, cash box, cashbox, cash register, playroom, pool
        gate, gym, barn, bunker, hatch, hallway, loft, terrace, archive room, copier, photocopier,
        safebox, money box, toolbox, gun safe, trunk, dispenser, kiosk, summer house, caravan,
        treehouse, tuck shop, tack room, wine cellar, darkroom, boiler room, meter box, bin store,
        bike store, bike room, cycle store, gatehouse, kennel, chicken coop, polytunnel, rooftop,
        bar cabinet, medicine cabinet, filing cabinet, shed, bike shed, little box, key cupboard,
        linen cupboard, dörr, dörren, porten, grind, grinden, larm, larmet, kassaskåp, dør, døren,
        døra, alarmen, ovi, oven, portti, hälytin, hoofdingang, achterdeur, rolluik, rolltor,
        kellertür, gartentor, cave, local à vélos, garagem, cancela, cochera, verja, box auto,
        cantina, piwnica, komórka, подвал, кладовка, depo, bodrum, doorbell, bell, button, bins,
        hut, shutter, shutters, turnstile, portacabin, greenhouse, cellar, attic, basement, laundry,
        changing room, bathroom, toilet, staff room, hek, poortje, furteczka, panel, entrance, front
        entrance, parcel box, parcel locker, mailbox, letterbox, barrier, storage unit, lodge,
        cottage, cupboard, fridge, drawer, cage, boat house, boathouse, warehouse, office,
        reception, eingang, hintertür, briefkasten, entrée, boîte aux lettres, entrada, buzón,
        ingresso, ingang, wejście, wejścia, вход, входа, шкафчик, шлагбаум, giriş, door, doors,
        gate, gates, garage, safe, alarm, locker, lockers, suitcase, luggage, briefcase, lock,
        locks, vault, elevator, lift, lobby, car park, parking, stairwell, building, back door,
        front door, side door, backdoor, cabinet, server room, storage, airbnb, key cabinet,
        intercom, buzzer, tür, haustür, garagentor, tresor, schließfach, schliessfach, koffer,
        alarmanlage, keller, hoftor, aufzug, fahrradschloss, porte, portail, portillon, immeuble,
        l'immeuble, coffre, coffre-fort, valise, alarme, interphone, puerta, portal, portón, caja
        fuerte, alarma, maleta, taquilla, garaje, trastero, portão, cofre, prédio, cancello,
        portone, cassaforte, allarme, valigia, armadietto, citofono, kluis, deur, voordeur, poort,
        fietsslot, brama, bramy, furtka, furtki, drzwi, sejf, sejfu, szafka, szafki, walizka,
        walizki, garaż, garażu, klatki, bramki, дверь, двери, подъезд, подъезда, сейф, сейфа,
        ворота, замок, замка, калитка, калитки, чемодан, гараж, гаража, сигнализация, kapı, kapının,
        kapısı, kasa, kasanın, bavul, garaj, dolap, alarmı, asansör
    """,
    OTP: """
        bank thing sent, thing sent me, app sent me, they texted me, text me the, bitlocker
        recovery, steam says, google says, authenticator says, app says, forward the code, read the
        code, to your phone, to ur phone, to my phone, sms, verification is, bitlocker, just sent
        me, sent me a text, sent you a text, google sent, is that you, was that you, that wasn't me,
        bank sent, just got a text, they sent me, number match, sent a code, sent me a code, texted
        a code, emailed a code, code by sms, sms says, text says, code in the text, the code
        expires, one-time passcode, temp code, temporary code, einmalcode, tan ist, tan lautet,
        código de un solo uso, code à usage unique, text from, from the bank, bank text, backup
        ones, verification thing, that verification, auth code, auth app, my authy, code generator,
        kod z smsa, sms kodu, sms-code, tan nummer, read out, read back, read it back, read me, bank
        wants, verify me, to verify, texted me, they texted, one time, onetime, 2-step, two-step,
        pairing code, activation code, the code they, code they sent, code came, backup codes,
        backup code, recovery codes, recovery code, runs out, 2fa, otp, totp, mfa, one-time code,
        one time code, one-time pin, one time pin, two-factor, two factor, authenticator, authy,
        steam guard, verification code, verify code, sms code, security code, confirmation code,
        login code, sign-in code, texted code, from the app, just texted, bestätigungscode, code par
        sms, código de verificación, código sms, codice di verifica, verificatiecode, kod sms, код
        из смс, смс, doğrulama kodu, sim, esim
    """,
    SECRET: """
        auth token, bot token, deploy token, temp password, first-time pw, got hacked, was hacked,
        hacked bc, hacked because, shared secret, preshared key, pre-shared key, shared key, vpn
        secret, group secret, ipsec secret, radius secret, filevault recovery, bitlocker recovery,
        keepass master, bitwarden master, lastpass master, 1password master, master is, wifi ww, ww
        is, ww van, lösen, la contra, tu contra, mi contra, u/n, channel key, chan key, group key,
        party key, lobby key, was reset, been reset, were reset, reset me, reset you, reset us,
        reset it to, reset to, security key, wep key, passkey, şifremiz, şifreniz, şifremizi,
        passwortes, passwörter, wachtwoorden, contraseñas, senhas, parole chiave, паролик, пас,
        salasanani, apssword, passwrod, passowrd, paswword, passsword, psasword, passwort, pasword,
        passwd, password's, pass word, pazzword, p/w, passcode's, pwrd, pswd, pswrd, schlüssel für
        wlan, wlan schlüssel, wlan-schlüssel, netzwerkschlüssel, clé wifi, clé wi-fi, chiave wifi,
        clave wifi, clave del wifi, passphrases, pw's, passwort ist, шифр, password, passwords,
        password field, passwrd, pssword, passord, pword, pass, pw, pwd, pws, passphrase, pssphrase,
        pass phrase, psk, kennwort, mot de passe, mdp, contraseña, contrasena, senha, palavra-passe,
        palavra passe, wachtwoord, hasło, haslo, hasła, hasłem, пароль, пароля, пароли, паролем,
        parola, şifre, şifresi, şifrem, sifre, sifresi, lösenord, lösenordet, passordet, kodeord,
        adgangskode, salasana, heslo, jelszó, lozinka, geslo, wpa key, network key, master pass
    """,
    WORD: """
        tonights word, say the words, wants the words, want the words, need the words, tonight's
        word, todays word, today's word, the word at the, this weeks word, word of the night, word
        for tonight, memorable word, memorable phrase, security phrase, the safeword, passing word,
        security word, challenge word, panic word, family word, pickup word, pick-up word, duress
        word, answer word, spell word, trigger word, activation word, passwort zum, wake word, knock
        word, the codeword, door phrase, club phrase, whats the word, what's the word, sekrit word,
        sekret word, secret wrod, the word is, the word was, the password word, club word, entry
        phrase, magic word, secret word, code word, codeword, safe word, safeword, watchword,
        countersign, secret handshake, magic words, secret words, code words, door word, unlock
        word, entry word, hasło do, haslo do
    """,
    WORD | PHRASE: """
        encryption phrase, backup phrase, unlock sentence, pass sentence, pass-phrase, secret
        sentence, brain wallet, twelve words, 12 words, 24 words, seed words are, mnemonic,
        passphrase, pssphrase, pass phrase, key phrase, keyphrase, secret phrase, code phrase,
        access phrase, unlock phrase, recovery phrase, seed phrase, wallet phrase, password phrase,
        the phrase for, the phrase to, door phrase, words in order, recovery words, seed words
    """,
    WORD | FOREIGN: """
        losungswort, losung, codewort, zauberwort, geheimwort, mot magique, mot secret, mot de code,
        palabra secreta, palabra mágica, palabra de paso, santo y seña, palavra secreta,
        palavra-chave, palavra mágica, parola d'ordine, parola magica, parola segreta, codewoord,
        toverwoord, tajne słowo, tajne hasło, magiczne słowo, кодовое слово, секретное слово,
        волшебное слово, тайное слово, gizli kelime, sihirli kelime, kodord, trylleord, taikasana
    """,
    ACCESS: """
        nas, the pi, raspberry, hulu, voucher, scratch card, scratched, borrow, zip is, excel,
        protected, backup drive, encrypted drive, external drive, hard drive password, log me in,
        log him in, log her in, decrypt, decrypts, unzip, the other one, apple id thing, sticker,
        the sheet, login, logins, log in, log on, logon, log into, logs u out, logs you out, logged
        out, sign in, sign-in, signin, account, acc, acct, creds, credentials, wifi, wi-fi, wlan,
        wireless, hotspot, network, guest network, router, vpn, ssid, wps, ssh, ftp, sftp, rdp,
        root, admin, username, user name, unlock, key for, key u, key under, recovery code, recovery
        codes, backup codes, activation code, redeem code, netflix, mailbox, icloud, apple id,
        portal, payroll, laptop, ipad, tablet, phone, the pdf, the zip, zip file, archive,
        encrypted, conto, konto, compte, cuenta, minha conta, tua conta, account van, konta,
        аккаунт, аккаунта, вайфай, вай-фай, логин, hesap, hesabı, hesabın, zugang, zugangsdaten,
        anmelden, einloggen, connecter, identifiants, accès, usuario, acceder, rede, inloggen,
        zaloguj, accesso, sieć, sieci, сеть, сети, ağ, usb stick, shared folder, lock screen,
        lockscreen, access key, master key, wifi key, stream key, game key, license key, serial key,
        activation key, product key, cd key, encryption key, room key, region key, the key to,
        recovery key, backup key, unlock key
    """,
    THING: """
        key, token
    """,
    TOLD: """
        its now, it's now, now its, temporary
    """,
    NETWORK: """
        wifi, wi-fi, wlan, wireless, hotspot, network, router, ssid, вайфай, вай-фай, rede, sieć,
        ağ, wpa, wpa2, wps
    """,
    ENTRY | OPENED: """
        and it opens, it slides, slides open, swings open, pops open, slides away, door appears,
        turn it off, turns it off, and youre in, and you're in, and ur in, will let u in, will open,
        open for, steps aside, lets you pass, lets ya in, lets ya through, let ya in, got you in,
        opens right up, unlocked the, unlocks everything, gets ya through, gets you through, work on
        the, worked on the, works on the, gets you in, gets u in, get you in, get u in, gets me in,
        got me in, gets us in, gets ya in, gets you into, gets you on, get you past, gets you past,
        lets you in, let me in, let you in, lets me in, lets u in, let us in, let me through, let
        you through, lets you through, opens it, opens up, opens the, opens for, opens with, opens
        when, opens if, unlocks it, unlocks the, unlocked it, opened it, and it worked, and it
        opened, to the guard, you're in, youre in, ur in, wpuszczą, пустят, откроется
    """,
    ENTRY: """
        by saying, by typing, by whispering, say to the, if they say, when they say, pool gate, pool
        door, roof door, roof terrace, chest code, touch the, bookcase, password is asked, must
        type, today's is, todays is, tonight's is, tonights is, this weeks is, must say, gotta type,
        gotta say, required to type, has to say, has to type, still use, still using, if that doesnt
        work, on channel, listens on, it forced us, it desk, temporary one, temp one, gave me a new
        one, got a new one, a fresh one, gotta change it, have to change it, change it asap, change
        it after, change it later, change it when, reset yours, reset ur, reset your, reset mine,
        reset his, reset her, reset their, it reset, only lets you, wont let you, say the word, type
        the word, text the word, from now on, if that doesn't work, if it doesnt work, if it doesn't
        work, ive used since, i've used since, always used, same as always, it prompts, prompts for,
        they'll ask, theyll ask, she'll ask, he'll ask, it'll ask, itll ask, you'll be asked, if it
        asks, when it asks, unlock it with, unlock with, log in as, logs in as, sign in as, my
        usual, the usual one, orb, sphinx, riddle, unlocks with, unlock with, other field, next
        field, bottom one, second one down, guard asks, guard will ask, pa entrar, pra entrar, zum
        reinkommen, um reinzukommen, to be let in, let in, gets in with, get in with, got in with,
        get thru, get through, to get thru, one pw for, same pw for, to get inside, second question,
        type exactly, exactly this, get past, use everywhere, what i use, i always use, always use,
        if anyone asks, if someone asks, wants you to say, wants the word, the doorman, doorman, who
        goes there, asks first, sent you, open it, to get on, to get in, to get into, to get past,
        to unlock, want on it, want on, want in, still works, it asks, they ask, he asks, she asks,
        wizard asks, asks for, asks you, asks u, will ask, when asked, if asked, prompt, prompts,
        prompted, what do i type, what to type, what you type, second box, bottom box, second field,
        bottom field, password field, past the, challenge you, knock, the guard, bouncer, fragt,
        gefragt, reinzukommen, kommst du rein, pour entrer, te connecter, para entrar, per entrare,
        om in te loggen, żeby wejść, чтобы войти, спросит, вводи, введи, girmek için, demande,
        pregunta, chiede, vraagt, pyta, sorarsa, for everything, same everywhere
    """,
    SPELL: """
        with a space, with the space, w/o the caps, without the caps, without caps, no capitals,
        first letter big, first letters, capital letter, capital d, capital r, with caps, in caps,
        with the hash, with the dot, with the dollar, with the bang, with no spaces, minus the
        spaces, all in caps, grandes, maiuscole, maiuscola, maiúscula, mayúsculas, maiúsculas,
        majuscule, majuscules, großbuchstaben, hoofdletters, gross geschrieben, wielkie litery,
        small letters, all small, big letters, with a 2, with a 1, with a 3, with an exclamation,
        with a hyphen, with a dot, with a capital, first letter, letter big, both capitals, no gaps,
        all together, joined up, all lowercase, all lower case, lowercase, lower case, all caps, no
        caps, uppercase, upper case, capital, capitals, caps matter, caps lock, the caps, no spaces,
        no space, without spaces, one word, all one word, two words, three words, four words, with a
        zero, with zero, zero instead, zeros, a zero for, with an underscore, underscore, with a
        dash, with dashes, with the dash, exclamation mark, exclamation point, exclamation, with a
        bang, dollar sign, dollar signs, at sign, hash at the end, at the end, without the quotes,
        no quotes, case sensitive, case matters, spelled, spelt, spell it, you spell, spelling,
        typo, i meant, backwards, kleingeschrieben, alles klein, groß geschrieben, zusammen,
        ausrufezeichen, ohne leerzeichen, tout attaché, en minuscules, en minuscule, sans espace,
        sans espaces, con mayúscula, minúsculas, sin espacios, todo junto, tudo junto, minúsculo,
        sem espaços, minuscolo, tutto attaccato, senza spazi, aan elkaar, hoofdletter, kleine
        letters, małymi, z małej, wielką literą, bez spacji, с маленькой, маленькими, слитно, без
        пробелов, с большой, bitişik, küçük harf, büyük harf
    """,
    HUSH: """
        write down, note down, save this, don't forget it, writing it down, your birthday, my
        birthday, ur birthday, our anniversary, mums birthday, moms birthday, dads birthday, like
        always, as always, as usual, same as ever, writing this down, last time, so u dont lose it,
        so you dont lose it, so you don't lose it, memorize, memorise, memorize it, i'll say it
        once, ill say it once, saying it once, repeat after me, only saying this once, still the
        default, mine is, mine is always, always the same, don't tell mom, wedding, his birthday,
        her birthday, same for, irl emergency, emergency only, friends only, only for you, just for
        you, you only, for your eyes, don't post this, dont post this, delete it, burn after, burn
        this, erase this, please forget, don't ask, dont ask, that is all, come at me, don't judge,
        dont judge, no judging, dont laugh, don't laugh, shame on me, psst, shh, shhh, between us,
        between you and me, don't tell, dont tell, don't share, dont share, don't pass it, don't
        give it, keep it to yourself, keep it secret, keep this, keep it safe, delete after, delete
        this, delete it after, not in chat, put it in chat, you didn't hear, u didnt hear, never
        told you, never told u, told ya, told you twice, told you already, told me, nobody else, no
        one else, write this down, write it down, jot this down, remember this, pm it, dm it, i'll
        pm, ill pm, i'll dm, ill dm, in case, just so you have it, sticky note, post-it, forget it
        lol, don't lose it, dont lose it, one use, single use, expires, expire, hurry, rotate it,
        nobody changed, secret, hint, wrong window, wrong chat, ignore pls, niemandem, nicht
        weitersagen, für dich, garde-le, ne le dis, no se lo digas, no se la digas, tua conta, não
        conte, non dirlo, niet doorsturen, nikomu, никому, kimseye, birthday, anniversary, pet's
        name, dogs name, dog's name, cats name, cat's name, grandmother, usual place, the usual,
        same one, server room, the other thing, for the rest, não conta pra, não conta para
    """,
    DIAL: """
        the star, the tick, the hash, the pound, the asterisk, tick, press ok, press star, press
        hash, press pound, press enter, hit hash, hit star, tap in, type in, twice, digits, digit,
        punch in, punch, dial, hash, pound, asterisk, panel, keys, buzz, drücken, raute, sternchen,
        appuie, étoile, dièse, pulsa, pulsas, almohadilla, cancelletto, asterisco, druk, hekje,
        sterretje, wciśnij, gwiazdka, нажми, решетка, решётка, звездочка, kare, yıldız, links
        draaien, twist, wheels, reset to, then hash, then star, then pound
    """,
    NOTHING: """
        word of advice, word of warning, word of mouth, word of the day, in other words, the words
        of, few words, key words, to get in touch, opens the door to, whats the phrase for, what's
        the phrase for, in case of, in case you, secret santa, zip code, password manager, password
        managers, password policy, password policies, password reset, password resets, key ring,
        keyring, account balance
    """,
    ANSWER: """
        pet one, the pet question, school question, security thing, security question, secret
        question, security answer, secret answer, security questions, recovery question, maiden
        name, answer for, sicherheitsfrage, question secrète, pregunta de seguridad, domanda di
        sicurezza
    """,
}
TOPICS: tuple[tuple[str, int], ...] = tuple(
    (" ".join(phrase.split()), family)
    for family, phrases in _FAMILIES.items()
    for phrase in phrases.split(",")
)
"""Phrase and family; a phrase may stand in several."""
