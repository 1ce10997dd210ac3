import type { CardSkipReason } from "../card-holders.ts";

export type CardLanguage = "de" | "en";

type CardWords = {
  title: string;
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
