import type { ClientId } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import { hmac } from "../platform/crypto/seal.ts";

// German words that read well in English too: no insults, nothing about people, bodies, origins, beliefs or jobs, no
// endings that tell a gender. Never change the lists: most people would get another pseudonym.

const firstWords = `
  Abend Abenteuer Achat Ahorn Akkord Allegro Alpen Alphabet Ananas Anis Anker Apfel Aprikosen Archiv Argon Arktis
  Astern Astro Atelier Atlantik Atoll Avocado Azur Bahnhof Balkon Ballett Ballon Bambus Banjo Basalt Basilikum
  Bastel Beeren Berg Bibliothek Bingo Birken Birnen Bravo Brezel Brise Brokkoli Brombeer Bronze Brunnen Canyon
  Cello Comic Cyan Dahlien Dattel Delta Digital Domino Donau Echo Efeu Eichen Elbe Enzian Epos Erdbeer Expeditions
  Fabel Farn Feder Federball Fels Fenchel Fiesta Filz Finale Fjord Fluss Formel Freuden Frost Funkel Galaxie
  Garten Geysir Ginkgo Girlanden Gitarren Glas Gletscher Glitzer Gold Gondel Granit Hafen Harfen Harz Heidelbeer
  Helium Herbst Himbeer Hockey Holunder Honig Horizont Indigo Insel Jade Jazz Jupiter Kaleidoskop Kamillen
  Karneval Karton Kastanien Keks Keramik Kiefern Kiesel Kino Kiwi Klarinetten Klee Klingel Klippen Knister Knobel
  Kobalt Kohlrabi Komet Kompass Konfetti Konzert Kosmos Kristall Krokus Kuchen Kupfer Labor Lagunen Lampion
  Laternen Lavendel Leinen Lila Lilien Limbo Limetten Limo Linden Logo Lotto Lunar Magenta Magie Magnet Mambo
  Mango Marathon Marmor Medaillen Mega Melodie Merkur Meteor Mint Minze Mond Monsun Moos Morgen Mosaik Murmel
  Museum Nebel Nelken Neon Neptun Nickel Nordsee Nova Nudel Oasen Oboe Ocker Oliven Opal Opern Optik Orangen Orbit
  Origami Orion Ostsee Palmen Panorama Papaya Papier Paprika Park Parkour Passat Pavillon Pazifik Pendel Perlen
  Petrol Pfirsich Piano Piccolo Pingpong Pistazien Pixel Planet Platin Pokal Polar Polka Polo Popcorn Porzellan
  Pralinen Presto Prisma Propeller Purpur Purzel Quarz Quellen Quitten Radar Radieschen Rallye Refrain Regen
  Regenbogen Retro Rhythmus Riff Robo Rodel Roman Rosmarin Rubin Rumba Safari Safran Saga Salbei Salsa Salto Samba
  Samt Sand Saphir Saturn Savannen Saxofon Schimmer Schnee Segel Seiden Siesta Silben Silber Sirup Slalom Smaragd
  Solar Sommer Sonaten Sonnen Sorbet Spinat Spiral Sprint Steppen Stern Strand Studio Super Suppen Surf Symphonie
  Taiga Tango Tannen Tee Tempo Tennis Terrassen Theater Thymian Titan Tomaten Topas Torten Trampolin Trauben Traum
  Trommel Trompeten Tropen Tuba Tulpen Tundra Turbo Turm Ufer Ukulele Ulmen Ultra Vektor Vulkan Waffel Wald Walzer
  Weiden Weser Wiesen Wimpel Winter Wirbel Wolken Wunder Xenon Zahlen Zauber Zedern Zenit Zephir Zeppelin Zickzack
  Ziegel Ziffer Zimt Zink Zitronen Zucchini
`
  .trim()
  .split(/\s+/);

/** Words that are never the first word. */
const secondWords = `
  Akkordeon Albatros Almanach Alpaka Ameise Amethyst Amsel Anekdote Anemone Antilope Aquamarin Aquarium Ara Arkade
  Aster Atlas Bagger Ball Ballade Begonie Bergkristall Birke Bison Bleistift Bolero Brandung Briefmarke Buche
  Bucht Buntstift Bus Butterblume Chinchilla Chronometer Dachs Dahlie Delfin Diagramm Diamant Distel Drachen
  Dreieck Drossel Eisvogel Elch Ellipse Emu Erle Esche Eukalyptus Faden Fahrrad Falke Fallschirm Falter Fanfare
  Fasan Flamenco Flamingo Flieder Flocke Fohlen Forelle Fresko Gazelle Gecko Gepard Geranie Ginster Gipfel Giraffe
  Globus Glocke Gnu Gong Granat Grille Guanako Habicht Hamster Handschuh Harmonika Hecht Heft Helikopter Hermelin
  Hirsch Hummel Hummer Hut Hyazinthe Ibis Igel Impala Jaguar Jojo Jolle Kajak Kakadu Kaktus Kalender Kalmar
  Kamelie Kanu Karakal Karibu Karpfen Karussell Kastagnette Kastanie Katamaran Kerze Knopf Koala Koffer Kolibri
  Komma Koralle Kormoran Kornblume Krabbe Kran Kranich Krater Kreisel Kubus Kudu Kutsche Lachs Lagune Lama
  Landkarte Laterne Laute Legende Leguan Leinwand Leopard Lerche Leuchtturm Lexikon Libelle Lichtung Lilie
  Limerick Lineal Lok Lorbeer Lotus Luchs Lupe Lupine Magnolie Makrele Malachit Malve Mantel Marder Marimba
  Menuett Metronom Mikroskop Milan Mimose Murmeltier Mustang Nandu Narzisse Nautilus Nebula Nelke Notenblatt
  Notizbuch Novelle Oase Odyssee Okapi Oktaeder Olive Opossum Orakel Orca Orchidee Oryx Otter Ozelot Pagode Palast
  Palette Palme Panda Pappel Parabel Pelikan Perle Petunie Pinguin Pinie Pinsel Pirol Planetarium Platane Pony
  Posaune Postkarte Primel Pulsar Puma Puzzle Pyramide Quadrat Quadrille Quelle Quokka Rakete Raumschiff
  Regenschirm Reiher Reim Rentier Riesenrad Rochen Roller Rucksack Rutsche Sage Salamander Sandale Sanduhr Sardine
  Satellit Schal Schaukel Schlitten Schmetterling Schneeflocke Schwalbe Schwan Sechseck Seehund Seepferd Seestern
  Segelboot Segelflieger Sequoia Serenade Serval Sextant Silbe Skizze Sonate Sonett Sonnenblume Sonnenstrahl
  Sperber Spieluhr Spirale Stadtplan Staffelei Statue Steinbock Stiefel Stieglitz Storch Tamburin Tandem Tapir
  Taxi Teleskop Terrasse Tetraeder Tiger Traktor Tram Triangel Tropfen Tukan Tulpe Turmalin Turnschuh Uhu Ulme
  Vase Vers Vikunja Wacholder Waggon Wallaby Wasserfall Wecker Wegweiser Welle Wiesel Windrad Windspiel Wippe
  Wisent Wolke Wombat Xylofon Zander Zebra Zeder Zeisig Zikade Zinnie Zirkel Zobel Zylinder Zypresse
`
  .trim()
  .split(/\s+/);

/** Makes a name such as `Kiesel Otter` that never changes; without the key nobody can link it to person or app. */
export function makePseudonym(key: Buffer, { clientId, personId }: { clientId: ClientId; personId: PersonId }): string {
  const drawn = hmac(key).update(`${clientId}\0${personId}`).digest();
  // 48 bits each: no word is noticeably more frequent than another.
  const pick = (words: readonly string[], at: number) => words[drawn.readUIntBE(at, 6) % words.length]!;
  return `${pick(firstWords, 0)} ${pick(secondWords, 6)}`;
}
