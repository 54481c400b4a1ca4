"""Names of services whose keys have no prefix of their own. Data only.

Facts, collected from the public rule sets of gitleaks and kingfisher (review lists in development)
and from the services' own documentation. A name alone means nothing; it counts beside a word such
as «key» or a separator, before a value that looks made up.
"""

DISTINCT_VENDORS: tuple[str, ...] = tuple(
    """
    abuseipdb adafruit adobe agora airbrake airtable aiven alchemy algolia alibaba anthropic
    anypoint apifonica apify apilayer apimetrics apitemplate apollo appfollow appointedd
    appoptics appsynergy artifactory asana assemblyai atera atlassian audd auth0 autoklose
    autopilot avaza aviationstack axonaut ayrshare azure bannerbear baremetrics beamer beebole
    besnappy besttime betterstack bintray bitbar bitbucket bitcoinaverage bitly bittrex
    blazemeter blitapp blocknative blogger blynk bombbomb boostnote borgbase braintree
    brandfetch browshot bscscan buddyns budibase bugherd bugsnag buildkite bulbul buttercms
    caflou calendarific calendly calorieninja campayn cannyio capsulecrm carboninterface censys
    centralstationcrm chartmogul chatbot chatfule checklyhq cicero circleci clarifai clearbit
    clickup cliengo clockify clojars cloudconvert cloudflare cloudimage cloudmersive cloudplan
    cloudsight cloudsmith cloverly clustdoc codacy codeclimate codecov codemagic codequiry
    cohere coinapi coinbase coinlayer coinlib collect2 commercejs confluence confluent
    contribsys conversiontools convertapi convertkit countrylayer coveralls craftmypdf crowdin
    cryptocompare currencylayer currencyscoop currentsapi d7network dailyco dareboost databox
    databricks datadog datagov deepai deepgram deepseek dependency_track detectify
    detectlanguage dfuse diffbot diggernaut digitalocean disqus ditto django dockerhub docparser
    doppler dronahq droneci dropbox dynalist dynatrace dyspatch eagleeyenetworks easypost
    ecostruxureit edenai elasticemail elevenlabs envoy etherscan ethplorer etsy eventbrite
    everhour exchangerateapi exchangeratesapi extractorapi fastforex fastly feedier fetchrss
    financialmodelingprep findl finicity finnhub firebase fitbit fixerio flatio fleetbase
    flexport flickr flightapi flightlabs flutterwave formbucket formcraft formio foursquare
    frameio freshbooks fullstory fxmarket geckoboard geoapify geocodify geoipifi getemail
    getgeoapi getgist getresponse giphy gitter glassnode gocardless goodday gradle grafana
    graphhopper groovehq groq gtmetrix guardianapi gumroad gyazo happyscribe hellosign
    helpcrunch helpscout hereapi heroku hetzner hiveage holidayapi honeycomb html2pdf hubspot
    huggingface hybiscus iconfinder iexapis iexcloud imagekit imagga infracost infura insightly
    instabot interseller intrinio ionic ip2location ipapi ipgeolocation ipinfo ipinfodb
    ipquality ipstack jenkins jfrog jira jotform jumpcloud jupiterone karmacrm kickbox klaviyo
    klipfolio knapsackpro kraken kucoin kylas languagelayer launchdarkly leadfeeder lemlist
    lemonsqueezy lendflow lessannoyingcrm lexigram linenotify linkedin linkpreview linode
    livestorm loadmill loginradius logzio lokalise looker loyverse lunchmoney madkudu
    mailboxlayer mailchimp mailerlite mailgun mailjet mailmodo mailsac mandrill mapbox
    marketstack mattermost mavenlink maxmind mediastack meilisearch meistertask meraki
    messagebird metrilo mindmeister mistral mixmax mixpanel mockaroo mongodb monkeylearn
    moonclerk moosend moralis myintervals nasdaqdatalink netlify newrelic newsapi newscatcher
    newyorktimes nexmo nftport ngrok nicereply nightfall nuget numverify nvapi nylas nytimes
    oanda okta omdb omnisend onesignal onfleet openai opencagedata openuv openweather opsgenie
    optimizely overloop owlbot packagecloud pagarme pagerduty pandadoc pandascore paralleldots
    parseur partnerstack pastebin paydirtapp paymo paymongo paypal paystack pdflayer pdfshift
    peopledatalabs pepipost pinecone pipedream pipedrive pixabay planetscale pollsapi
    positionstack postageapp posthog postman postmark powrbot prefect privateai prodpad
    prospectcrm protocolsio proxycrawl pubnub pulumi pushbullet pypi qase qdrant qualaroo qubole
    rabbitmq rapidapi rawg razorpay reachmail reallysimplesystems rebrandly rentman replyio
    requestfinance restpack ritekit rocketreach rockset route4me rubygems runscope salesblink
    salescookie salesflare salesforce scaleway scrapeowl scraperapi scraperbox scrapestack
    scrapfly scrapingant scrapingbee screenshotapi screenshotlayer scrutinizerci securitytrails
    selectpdf sendbird sendgrid sendinblue serphouse serpstack sherpadesk shipday shippo shodan
    shopify shotstack shutterstock signupgenius sigopt simfin simplynoted simvoly skrappio
    smartsheets snipcart snowflake snyk sonarqube soundcloud sourcegraph sparkpost speechtextai
    spoonacular sportsmonk spotify squarespace squareup sslmate stackhawk statuscake statuspage
    stitchdata stockdata storecove stormboard stormglass storyblok storychief strava sumologic
    supabase supernotes surveybot surveysparrow survicate tailscale tallyfy tatum taxjar
    teamwork technicalanalysisapi tefter teletype telnyx terraform theoddsapi thingsboard
    ticketmaster tickettailor tiingo timecamp timezoneapi tines tmdb tmetric todoist toggl
    tomtom tradier transferwise travelpayouts trello truenas twelvedata twilio twitch tyntec
    typeform typesense ubidots uclassify unsplash upcdatabase uplead uptimerobot upwave urlscan
    userflow userstack vagrantcloud vatlayer vbout vercel veriphone versioneye viewneo vimeo
    virustotal visualcrossing voiceflow voicegain vonage voodoosms vpnapi vultr vyte wakatime
    walkscore wandb weatherbit weatherstack weaviate webex webflow webscraper webscraping whoxy
    wistia worksnaps workstack worldcoinindex worldweather wrike yandex yelp youneedabudget
    yousign zapier zendesk zenkit zenrows zenscrape zeplin zerobounce zerotier zipcodeapi
    zipcodebase zoho zonkafeedback
    """.split()
)
"""Made-up names: they count wherever they stand, also inside a longer identifier."""

PLAIN_VENDORS = frozenset(
    """
    algolia amplitude box canva close coda column contentful courier discord elastic facebook
    figma float front github gitlab google humanity hunter intercom intra42 kafka line linear
    linked-in linked_in lob magnetic message-bird message_bird miro monday new-relic new_relic
    notion npm particle plaid polygon privacy private-ai private_ai quay railway raven readme
    recaptcha refiner render replicate segment sentry shortcut signal slack sonar splunk square
    stability streak stripe sumo telegr travis twitter weather xray youtube zoom
    """.split()
)
"""Names that are also words of everyday talk: they count as a whole word before a random value."""

ASSIGNED_VENDORS: tuple[str, ...] = tuple(
    """
    contentful discord facebook figma github gitlab google intercom intra42 jira linear linked-in
    linked_in lob meraki message-bird message_bird new-relic new_relic new-york-times npm okta plaid
    private-ai private_ai readme sentry sonar square stripe sumo telegr travis twitter xray youtube
    zoom
    """.split()
)
"""Those of them that count inside an identifier too, where a separator and a value follow."""
