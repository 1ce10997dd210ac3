/** Short German words that children know; any two differ in more than one letter. */
export const friendlyWords: readonly string[] = `
  abend adler ahorn akkord album algebra alpaka ameise amsel ananas anker antwort apfel aprikose april arena
  arktis aroma artikel astern atelier atlas auge august ausflug auster auto bach bagger ballett ballon bambus
  banane band bassist bauer baum becher beere beet beifall berg besen besuch beutel biber biene bild birke bison
  blatt blech blitz block blume boden bohne boje bonbon boot brause bremse brezel brief brille brokkoli bronze
  bruder brunnen buche bude bumerang busch bussard butter cello chemie chor comic couch dachs daumen decke deich
  delfin diamant dino distel docht dolde domino donner dorf drache draht drei dreieck drossel duft dynamo ebbe
  echo efeu eiche eifel eimer einhorn elch elfe elster engel ente enzian erbse erdbeere erde erker espe etage
  eule euro fabel fackel faden fahne falke falter fanfare farbe farn fasan fass feder feige feld fenchel ferien
  ferne fichte figur film finale finger fink fisch flagge flamme flieder flocke flora flug fluss folie forelle
  forscher forum foto fregatte freitag freude freund frosch frucht fuchs funke galaxie galopp garage garten
  gazelle gebirge gecko gefieder gemse gepard geranie gerste gesang gesicht gewitter gips giraffe girlande
  gitarre glanz glas globus gold gondel graben granit griff gruppe gully gummi gurke habicht hafen hagel hahn
  halle halm hammer hamster harfe hase haus hecht heft heide heimat hemd herbst hering herz himbeere himmel
  hirsch hobby hobel holz honig hopfen hund hupe idee igel iglu ikone iltis imker impuls indigo inhalt insel
  iris jacke jaguar jasmin jeans joghurt jojo jolle journal jubel juli jupiter jura kachel kaffee kajak kakao
  kaktus kamera kamin kamm kanal kanne kanu kapelle kapitel kappe karamell karotte karte kasse kastanie kegel
  kekse kelle keramik kerze kessel kette kicker kiefer kies kinder kirsche kiste kiwi klammer klang klavier klee
  kleid klima klinke knete knopf knospe koala koch koffer kokos kolibri komet kompass kompott konzert koralle
  korb kordel korken krabbe kraft kran krapfen kreide kreis kreisel kresse kreuz krokus krone krug kubus kuchen
  kuckuck kunst kupfer kurier kurve kutsche lager lama lampe laterne laub lauch laufrad laune lavendel leguan
  lehm leine leiter lerche lexikon libelle licht lied lilie limo linde lineal lippe logo lorbeer lotse lotterie
  lotus luke luxus maestro magnet mais maler malve mandel manege mango marder marille markt marmor maske mast
  maulwurf medaille meer mehl melodie melone merkur messer mikado milch minze mispel mittag mitte mobil modell
  mohn mokka monat mond montag moos morgen mosaik motor muffin mulde murmel muschel museum musik mustang myrte
  nachbar nacht nadel narzisse nashorn natur nebel neffe nektar nelke neptun nest netz neun nickel niete nomade
  norden note notiz november nugat nuss obst ofen oktober oliven olymp onkel onyx opal oper optik orange orca
  orchidee ordner oregano orgel orient origami orkan osten otter ozean paar paddel paket palast palette palme
  panda panther papagei papier pappel paprika parcours park paste pastete pauke pedal pelikan perle perlmutt
  pfad pfanne pfeffer pfeife pfeil pferd pflaume pfote piano picknick pilot pilz pinguin pinie pirat pirol pizza
  plakat planet planke plastik platane podium poesie pokal polka pollen pony porree portal posaune post primel
  prinz prisma profi publikum pudding puder pult puma punkt puzzle pyramide quader quark quartett quirl quitte
  quiz rabe radar radio rahmen rakete ranzen rapunzel rasen rassel raster raupe regal regatta regen reifen reim
  reise rekord rentier rettich rezept rhythmus riese rikscha ritter robbe roboter rochen rock roggen roller
  rondo rosine route rubin rucksack rudel ruhe runde saal safran saft sage saite salat salbei salto salz samba
  sardine sattel saturn schach schalter schatz schaukel schaum schere scheune schiff schild schirm schlauch
  schleife schloss schmied schnabel schnecke schnee schnur schrank schrift schuh schule schwalbe schwamm schwan
  seestern seife seil sekunde senf serie sieb signal silber sirene sirup skizze smaragd socke sofa sohle solo
  sommer sonne sonntag spalt spange spargel spatz specht speise spiegel spiel spinat spitze sport sprung spule
  spur stadion stadt staffel stall stamm stapel star statue steg stein stelze steppe stiefel stift stille stimme
  stirn stoff stollen storch strand strauch streifen strom stube studio stuhl stunde sturm tablet tafel taktik
  talent tandem tante tanz tapete tapir tasche tasten tatze taube taucher teekanne teig teller tempel tempo
  tennis teppich termin text theater thron thymian tiger tipp titel toast tomate topas topf torte torwart
  tournee traktor traum treppe tresen triangel trikot trommel trompete tropfen tukan tulpe tunnel turbine turnen
  turnier ufer ulme umhang umriss umweg urlaub urwald vanille veilchen velo ventil venus vers vesper vier
  viertel villa violine vitamin vogel vorhang vulkan waage waffel wagen wald walnuss walze wappen wasser watte
  wecker weiher weisheit weizen welpe welt werk weste wetter wiege wiesel wimper winkel winter wipfel wirbel
  wissen witz woche woge wohnung wolf wolke wombat wort wunder wunsch wurm wurzel xylofon yeti yoga zahl zander
  zange zapfen zauber zaun zebra zehn zeile zeit zentrum zepter zettel ziegel ziel ziffer zikade zimmer zimt
  zinn zirkel zirkus zitrone zone zucker zwiebel zwilling zwirn zylinder
`
  .trim()
  .split(/\s+/);
