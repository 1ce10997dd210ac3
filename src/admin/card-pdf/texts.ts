import type { CardSkipReason } from "../card-holders.ts";

export type CardLanguage = "de" | "en";

type CardWords = {
  title: string;
  letters: string;
  toParents: string;
  /** The default text of the letter to parents. */
  letter: string;
  file: string;
  class: string;
  username: string;
  password: string;
  secret: string;
  scan: string;
  signIn: string;
  list: string;
  name: string;
  nameless: string;
  noClass: string;
  leftOut: string;
  /** The number of cards and the page of a class. */
  count(cards: number): string;
  page(page: number, of: number): string;
  reasons: Record<CardSkipReason, string>;
  pictures: Record<string, string>;
};

export const cardWords: Record<CardLanguage, CardWords> = {
  de: {
    title: "Anmeldekarten",
    letters: "Elternbriefe",
    toParents: "An die Eltern von",
    letter: `Liebe Eltern,

{Name} hat an unserer Schule einen Zugang zu den Lern-Apps, die wir im Unterricht benutzen. Er gilt für alle diese Apps, in der Schule und zu Hause.

So klappt die Anmeldung: Öffnen Sie {Adresse} und geben Sie den Benutzernamen {Benutzername} und das Passwort ein. Steht auf der Karte unten ein Passwort, dann gilt nur noch dieses. Hat sie einen QR-Code, dann gilt nur noch diese Karte. Fehlt beides, dann bleibt alles, wie es war.

Bitte schneiden Sie die Karte aus und bewahren Sie sie gut auf. Wer sie hat, kann sich als Ihr Kind anmelden. Geht sie verloren oder gelingt die Anmeldung nicht, dann melden Sie sich bitte bei uns.

Mit freundlichen Grüßen
{Schule}`,
    file: "anmeldekarten",
    class: "Klasse",
    username: "Benutzername",
    password: "Passwort",
    secret: "Geheimzeichen",
    scan: "Mit der Kamera scannen",
    signIn: "Anmelden:",
    list: "Nur für die Lehrkraft: die Geheimzeichen zu den Karten",
    name: "Name",
    nameless: "Ohne Namen",
    noClass: "Ohne Klasse",
    leftOut: "Nicht dabei",
    count: (cards) => (cards === 1 ? "1 Karte" : `${cards} Karten`),
    page: (page, of) => `Seite ${page} von ${of}`,
    reasons: {
      NO_LOGIN: "hat keinen Benutzernamen",
      NOT_ACTIVE: "ist gesperrt oder hat die Schule verlassen",
      STAFF: "hat eine Rolle in der Verwaltung",
      GUEST: "ist Gast; zuständig ist die Stammschule",
    },
    pictures: {
      sun: "Sonne",
      house: "Haus",
      tree: "Baum",
      fish: "Fisch",
      star: "Stern",
      heart: "Herz",
      boat: "Boot",
      apple: "Apfel",
      moon: "Mond",
    },
  },
  en: {
    title: "Login cards",
    letters: "Letters to parents",
    toParents: "To the parents of",
    letter: `Dear parents,

{name} has an account at our school for the learning apps that we use in class. It works for all of these apps, at school and at home.

To sign in, open {address} and enter the username {username} and the password. If the card below shows a password, only this one works from now on. If it has a QR code, it replaces any earlier card. If it has neither, nothing has changed.

Please cut out the card and keep it safe. Anyone who has it can sign in as your child. If it is lost, or if signing in does not work, please contact us.

Kind regards,
{school}`,
    file: "login-cards",
    class: "Class",
    username: "Username",
    password: "Password",
    secret: "PIN or picture",
    scan: "Scan with the camera",
    signIn: "Sign in:",
    list: "For the teacher only: the PINs and pictures of the cards",
    name: "Name",
    nameless: "No name",
    noClass: "No class",
    leftOut: "Not included",
    count: (cards) => (cards === 1 ? "1 card" : `${cards} cards`),
    page: (page, of) => `Page ${page} of ${of}`,
    reasons: {
      NO_LOGIN: "no username",
      NOT_ACTIVE: "blocked or no longer at the school",
      STAFF: "has a staff role",
      GUEST: "is a guest; the home school is responsible",
    },
    pictures: {
      sun: "Sun",
      house: "House",
      tree: "Tree",
      fish: "Fish",
      star: "Star",
      heart: "Heart",
      boat: "Boat",
      apple: "Apple",
      moon: "Moon",
    },
  },
};

/** Schools call a class `7c` or `Klasse 7c`. */
export const bareClass = (name: string): string => name.replace(/^(klasse|class)\s+(?=\S)/i, "");

export const nameClass = (words: { class: string }, name: string): string => `${words.class} ${bareClass(name)}`;
